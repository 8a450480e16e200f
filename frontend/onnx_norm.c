/*
 * Normalisation, softmax, reductions, dropout.
 */
#include "frontend/onnx_import.h"

#include <inttypes.h>

/* --- batch norm and its kin */

static Op *reduce(Node *n, OpKind kind, const char *name, Op *x, Ints axes, bool keepdims)
{
	Attrs a = { .reduce = { axes, keepdims } };
	return node_op(n, kind, name, &a, 1, &x);
}

/* Every axis but the channels'. */
static Ints all_but_channels(Node *n)
{
	int64_t axes[MAX_RANK];
	int count = 0;
	for (int i = 0; i < n->in[0]->shape.rank; i++)
		if (i != 1)
			axes[count++] = i;
	return ints_copy(n->r->arena, axes, count);
}

static Op *squared(Node *n, const char *what, Op *x)
{
	return node_binary(n, OP_MUL, node_part(n, what), x, x);
}

/* old * momentum + now * (1 - momentum) */
static Op *running(Node *n, int out, Op *old, Op *now, float momentum)
{
	Op *keep = node_binary(n, OP_MUL, node_part(n, "old"), old,
			       node_scalar(n, "momentum", old, (double)momentum));
	Op *take = node_binary(n, OP_MUL, node_part(n, "new"), now,
			       node_scalar(n, "share", old, 1 - (double)momentum));
	return node_binary(n, OP_ADD, node_out(n, out), keep, take);
}

static Op *batch_norm(Node *n, float epsilon, Op *mean, Op *variance)
{
	Attrs a = attrs_default(OP_BATCH_NORM);
	a.norm.epsilon = epsilon;
	return node_op(n, OP_BATCH_NORM, node_out(n, 0), &a, 5,
		       (Op *[]){ n->in[0], n->in[1], n->in[2], mean, variance });
}

/* Statistics of the batch itself, from opset 14 on. */
static void batch_norm_training(Node *n, float epsilon, float momentum)
{
	Op *x = n->in[0];
	const Ints axes = all_but_channels(n);
	Op *kept = reduce(n, OP_REDUCE_MEAN, node_part(n, "mean"), x, axes, true);
	Op *off = node_binary(n, OP_SUB, node_part(n, "centred"), x, kept);
	Op *variance = reduce(n, OP_REDUCE_MEAN, node_part(n, "variance"), squared(n, "square", off), axes,
			      false);
	Op *mean = kept ? node_reshape(n, node_part(n, "flat_mean"), kept, SHAPE(x->shape.dim[1])) : NULL;

	n->out[0] = batch_norm(n, epsilon, mean, variance);
	if (node_wants(n, 1))
		n->out[1] = running(n, 1, n->in[3], mean, momentum);
	if (node_wants(n, 2))
		n->out[2] = running(n, 2, n->in[4], variance, momentum);
}

void onnx_build_batch_norm(Node *n)
{
	const float epsilon = attr_float(n, "epsilon", 1e-5f), momentum = attr_float(n, "momentum", 0.9f);
	const bool training = attr_int(n, "training_mode", 0) != 0;

	if (attr_int(n, "spatial", 1) != 1) {
		node_error(n, "spatial 0 is not supported");
		return;
	}
	if (n->opset < 7 && !attr_int(n, "is_test", 0)) {
		node_error(n, "is_test 0 is training, which is supported from opset 14 on");
		return;
	}
	if (n->in[0]->shape.rank < 2)
		node_error(n, "input must have at least 2 dims, but is %s",
			   shape_text(n->r->arena, n->in[0]->shape));
	else if (training)
		batch_norm_training(n, epsilon, momentum);
	else
		n->out[0] = batch_norm(n, epsilon, n->in[3], n->in[4]);
}

void onnx_build_instance_norm(Node *n)
{
	Attrs a = attrs_default(OP_INSTANCE_NORM);
	a.norm.epsilon = attr_float(n, "epsilon", 1e-5f);
	n->out[0] = node_op(n, OP_INSTANCE_NORM, node_out(n, 0), &a, 3, n->in);
}

/* Before opset 21 scale and bias have one value per group. */
static Op *per_channel(Node *n, Op *v, int64_t groups)
{
	const int64_t channels = n->in[0]->shape.rank > 1 ? n->in[0]->shape.dim[1] : 0;
	if (n->opset >= 21)
		return v;
	if (v->shape.rank != 1 || v->shape.dim[0] != groups || groups < 1 || channels % groups) {
		node_error(n, "scale and bias must have one value for each of %" PRId64 " groups, but are %s",
			   groups, shape_text(n->r->arena, v->shape));
		return NULL;
	}
	Op *column = node_reshape(n, node_part(n, "column"), v, SHAPE(groups, 1));
	Op *wide = node_expand(n, node_part(n, "wide"), column, SHAPE(groups, channels / groups));
	return node_reshape(n, node_part(n, "channels"), wide, SHAPE(channels));
}

void onnx_build_group_norm(Node *n)
{
	Attrs a = attrs_default(OP_GROUP_NORM);
	a.norm.epsilon = attr_float(n, "epsilon", 1e-5f);
	a.norm.groups = attr_int(n, "num_groups", 0);
	attr_ignore(n, "stash_type"); /* the precision inside; ours is never less */
	n->out[0] = node_op(n, OP_GROUP_NORM, node_out(n, 0), &a, 3,
			    (Op *[]){ n->in[0], per_channel(n, n->in[1], a.norm.groups),
				      per_channel(n, n->in[2], a.norm.groups) });
}

void onnx_build_layer_norm(Node *n)
{
	Op *x = n->in[0];
	const int rank = x->shape.rank;
	int64_t axis = attr_int(n, "axis", -1), tail[MAX_RANK];
	Attrs a = attrs_default(OP_LAYER_NORM);

	a.norm.epsilon = attr_float(n, "epsilon", 1e-5f);
	attr_ignore(n, "stash_type");
	if (!node_axis(n, &axis, rank))
		return;
	a.norm.axis = axis;
	n->out[0] = node_op(n, OP_LAYER_NORM, node_out(n, 0), &a, node_has(n, 2) ? 3 : 2, n->in);
	for (int i = (int)axis; i < rank; i++)
		tail[i - axis] = i;
	const Ints axes = ints_copy(n->r->arena, tail, rank - (int)axis);
	if (!node_wants(n, 1) && !node_wants(n, 2))
		return;
	Op *mean = reduce(n, OP_REDUCE_MEAN, node_out(n, 1), x, axes, true);
	n->out[1] = mean;
	if (!node_wants(n, 2))
		return;
	Op *off = node_binary(n, OP_SUB, node_part(n, "centred"), x, mean);
	Op *variance = reduce(n, OP_REDUCE_MEAN, node_part(n, "variance"), squared(n, "square", off), axes,
			      true);
	Op *sum = node_binary(n, OP_ADD, node_part(n, "steadied"), variance,
			      node_scalar(n, "epsilon", x, (double)a.norm.epsilon));
	Op *root = node_unary(n, OP_SQRT, node_part(n, "deviation"), sum);
	n->out[2] = node_unary(n, OP_RECIPROCAL, node_out(n, 2), root);
}

void onnx_build_lrn(Node *n)
{
	Attrs a = { .lrn = { attr_float(n, "alpha", 1e-4f), attr_float(n, "beta", 0.75f),
			     attr_float(n, "bias", 1), attr_int(n, "size", 0) } };
	n->out[0] = node_op(n, OP_LRN, node_out(n, 0), &a, 1, n->in);
}

/* --- softmax */

/* Before opset 13 all dims from the axis on count as one. */
void onnx_build_softmax(Node *n)
{
	Op *x = n->in[0];
	const Shape s = x->shape;
	const bool joins = n->opset < 13;
	Attrs a = { .axis.axis = attr_int(n, "axis", joins ? 1 : -1) };
	Shape rows = { 2, { 1, 1 } };

	if (!node_axis(n, &a.axis.axis, s.rank))
		return;
	for (int i = 0; i < s.rank; i++)
		rows.dim[i >= a.axis.axis] *= s.dim[i];
	if (!joins || rows.dim[1] == s.dim[a.axis.axis]) {
		n->out[0] = node_op(n, n->kind, node_out(n, 0), &a, 1, &x);
		return;
	}
	a.axis.axis = 1;
	x = node_reshape(n, node_part(n, "rows"), x, rows);
	x = node_op(n, n->kind, node_part(n, "softmax"), &a, 1, &x);
	n->out[0] = node_reshape(n, node_out(n, 0), x, s);
}

/* --- reductions */

typedef struct Reduction {
	Ints axes;
	bool keepdims, none; /* none: nothing is reduced */
} Reduction;

static bool read_reduction(Node *n, Reduction *r)
{
	const int rank = n->in[0]->shape.rank;
	const bool idle = attr_int(n, "noop_with_empty_axes", 0) != 0;
	int64_t all[MAX_RANK];

	*r = (Reduction){ .keepdims = attr_int(n, "keepdims", 1) != 0 };
	if (!attr_ints(n, "axes", &r->axes) && node_has(n, 1) && !node_ints(n, 1, "axes", &r->axes))
		return false;
	if (!node_axes(n, &r->axes, rank))
		return false;
	for (int i = 0; i < rank; i++)
		all[i] = i;
	if (!r->axes.n && !idle)
		r->axes = ints_copy(n->r->arena, all, rank);
	r->none = !r->axes.n;
	return true;
}

/* Reduces `x`; the op is called `name`. */
static Op *reduced(Node *n, const char *name, Op *x)
{
	Reduction r;
	if (!x || !read_reduction(n, &r))
		return NULL;
	return r.none ? node_unary(n, OP_IDENTITY, name, x)
		      : reduce(n, n->kind, name, x, r.axes, r.keepdims);
}

void onnx_build_reduce(Node *n)
{
	n->out[0] = reduced(n, node_out(n, 0), n->in[0]);
}

void onnx_build_reduce_l1(Node *n)
{
	n->out[0] = reduced(n, node_out(n, 0), node_unary(n, OP_ABS, node_part(n, "abs"), n->in[0]));
}

void onnx_build_reduce_sum_square(Node *n)
{
	n->out[0] = reduced(n, node_out(n, 0), squared(n, "square", n->in[0]));
}

void onnx_build_reduce_l2(Node *n)
{
	Op *sum = reduced(n, node_part(n, "sum"), squared(n, "square", n->in[0]));
	n->out[0] = node_unary(n, OP_SQRT, node_out(n, 0), sum);
}

void onnx_build_arg(Node *n)
{
	Attrs a = { .arg = { .axis = attr_int(n, "axis", 0),
			     .keepdims = attr_int(n, "keepdims", 1) != 0,
			     .last = attr_int(n, "select_last_index", 0) != 0 } };
	if (node_axis(n, &a.arg.axis, n->in[0]->shape.rank))
		n->out[0] = node_op(n, n->kind, node_out(n, 0), &a, 1, n->in);
}

/* --- dropout */

/* True if the node would drop anything; unknown operands are reported. */
static bool drops(Node *n)
{
	if (node_has(n, 2)) {
		Tensor *training = node_value(n, 2, "training_mode");
		if (!training || tensor_count(training) != 1 || !tensor_i64(training, 0))
			return false;
		Tensor *ratio = node_has(n, 1) ? node_value(n, 1, "ratio") : NULL;
		return !ratio || tensor_count(ratio) != 1 || tensor_f64(ratio, 0) != 0;
	}
	return n->opset < 7 && !attr_int(n, "is_test", 0);
}

void onnx_build_dropout(Node *n)
{
	Op *x = n->in[0];

	attr_ignore(n, "ratio");
	attr_ignore(n, "seed");
	attr_ignore(n, "is_test");
	if (drops(n)) {
		node_error(n, "is in training mode, which is not supported");
		return;
	}
	n->out[0] = node_unary(n, OP_DROPOUT, node_out(n, 0), x);
	/* The mask keeps everything. */
	const DType type = n->opset < 10 ? x->dtype : TYPE_BOOL;
	if (node_wants(n, 1))
		n->out[1] = node_constant(n, node_out(n, 1),
					  tensor_splat(n->r->arena, type, x->shape, 1, 1));
}
