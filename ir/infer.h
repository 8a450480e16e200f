/*
 * The type rules: what each kind of op yields, from its inputs and
 * attributes.
 *
 * A rule reads op->in and op->attr, reports what does not fit, and returns
 * the result's type. It is called only when every input has a type.
 */
#ifndef IR_INFER_H
#define IR_INFER_H

#include "ir/graph.h"

typedef struct Result {
	DType dtype; /* TYPE_NONE: the op is wrong and that was reported */
	Shape shape;
} Result;

/* Reports at op's location, starting with its spelling, and yields nothing. */
Result infer_fail(const Graph *g, const Op *op, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* What several rules ask. Each reports what is not so and then is false. */
bool infer_rank(const Graph *g, const Op *op, int least, int most); /* of input 0 */
bool infer_axis(const Graph *g, const Op *op, int64_t axis, int rank);
bool infer_number(const Graph *g, const Op *op, int i); /* input i is not bool */
bool infer_float(const Graph *g, const Op *op, int i);
bool infer_same_types(const Graph *g, const Op *op, int from); /* inputs from.. */

/* List `name` has n entries, none below `least`. */
bool infer_list(const Graph *g, const Op *op, const char *name, Ints list, int n,
		int64_t least);

/* One entry of list `name` per dim of a shape. */
bool infer_shape_list(const Graph *g, const Op *op, const char *name, Ints list,
		      Shape *out);

/* `a` broadcast with `b`. */
bool infer_broadcast(const Graph *g, const Op *op, Shape a, Shape b, Shape *out);

/* Input i is 1-D with n elements; `what` says what they are. */
bool infer_vector(const Graph *g, const Op *op, int i, int64_t n, const char *what);

/* One rule per name in the rule column of ops.def. */
Result infer_none(const Graph *g, const Op *op);
Result infer_output(const Graph *g, const Op *op);
Result infer_conv(const Graph *g, const Op *op);
Result infer_conv_transpose(const Graph *g, const Op *op);
Result infer_linear(const Graph *g, const Op *op);
Result infer_matmul(const Graph *g, const Op *op);
Result infer_pool(const Graph *g, const Op *op);
Result infer_pool_index(const Graph *g, const Op *op);
Result infer_global_pool(const Graph *g, const Op *op);
Result infer_resize(const Graph *g, const Op *op);
Result infer_arith(const Graph *g, const Op *op);
Result infer_compare(const Graph *g, const Op *op);
Result infer_logic(const Graph *g, const Op *op);
Result infer_where(const Graph *g, const Op *op);
Result infer_same(const Graph *g, const Op *op);
Result infer_same_float(const Graph *g, const Op *op);
Result infer_not(const Graph *g, const Op *op);
Result infer_cast(const Graph *g, const Op *op);
Result infer_batch_norm(const Graph *g, const Op *op);
Result infer_channel_norm(const Graph *g, const Op *op);
Result infer_layer_norm(const Graph *g, const Op *op);
Result infer_lrn(const Graph *g, const Op *op);
Result infer_softmax(const Graph *g, const Op *op);
Result infer_reduce(const Graph *g, const Op *op);
Result infer_arg(const Graph *g, const Op *op);
Result infer_reshape(const Graph *g, const Op *op);
Result infer_transpose(const Graph *g, const Op *op);
Result infer_expand(const Graph *g, const Op *op);
Result infer_concat(const Graph *g, const Op *op);
Result infer_slice(const Graph *g, const Op *op);
Result infer_pad(const Graph *g, const Op *op);
Result infer_gather(const Graph *g, const Op *op);
Result infer_select_channels(const Graph *g, const Op *op);
Result infer_depth_to_space(const Graph *g, const Op *op);
Result infer_space_to_depth(const Graph *g, const Op *op);
Result infer_view(const Graph *g, const Op *op);

#endif
