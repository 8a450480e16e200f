/* What each kind of op becomes in strict NNEF. */
#include "frontend/nnef_write.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Operations that take the op's inputs as they are and nothing else. */
static const char *const plain[OP_COUNT] = {
	[OP_ADD] = "add",         [OP_SUB] = "sub",           [OP_MUL] = "mul",
	[OP_DIV] = "div",         [OP_POW] = "pow",           [OP_MIN] = "min",
	[OP_MAX] = "max",         [OP_EQUAL] = "eq",          [OP_LESS] = "lt",
	[OP_GREATER] = "gt",      [OP_AND] = "and",           [OP_OR] = "or",
	[OP_WHERE] = "select",    [OP_PRELU] = "prelu",       [OP_RELU] = "relu",
	[OP_SIGMOID] = "sigmoid", [OP_TANH] = "tanh",         [OP_SILU] = "silu",
	[OP_GELU] = "gelu",       [OP_SOFTPLUS] = "softplus", [OP_EXP] = "exp",
	[OP_LOG] = "log",         [OP_SQRT] = "sqrt",         [OP_RECIPROCAL] = "rcp",
	[OP_FLOOR] = "floor",     [OP_CEIL] = "ceil",         [OP_ROUND] = "round",
	[OP_NEG] = "neg",         [OP_ABS] = "abs",           [OP_SIGN] = "sign",
	[OP_NOT] = "not",         [OP_IDENTITY] = "copy",     [OP_DROPOUT] = "copy",
};

static const char *const reductions[OP_COUNT] = {
	[OP_REDUCE_SUM] = "sum_reduce", [OP_REDUCE_MEAN] = "mean_reduce",
	[OP_REDUCE_MAX] = "max_reduce", [OP_REDUCE_MIN] = "min_reduce",
	[OP_ARGMAX] = "argmax_reduce",  [OP_ARGMIN] = "argmin_reduce",
};

/* Element-wise: operands have the result's number of dims. */
static void write_plain(Writer *w, const Op *op, const char *id)
{
	const char *list = "";
	for (int i = 0; i < op->nin; i++)
		list = arena_printf(w->arena, "%s%s%s", list, i ? ", " : "",
				    op->nin == 1 ? writer_ref(w, op_in(op, i))
						 : writer_operand(w, op_in(op, i), op->shape.rank));
	writer_say(w, id, "%s(%s)", plain[op->kind], list);
}

static void write_clip(Writer *w, const char *id, const char *x, float low, float high)
{
	bool has_low = isfinite(low), has_high = isfinite(high);
	if (isnan(low) || isnan(high) || low == INFINITY || high == -INFINITY)
		writer_refuse(w, "bounds are %g and %g", (double)low, (double)high);
	else if (has_low && has_high)
		writer_say(w, id, "clamp(%s, %s, %s)", x, writer_scalar(w, low),
			   writer_scalar(w, high));
	else if (has_low || has_high)
		writer_say(w, id, "%s(%s, %s)", has_low ? "max" : "min", x,
			   writer_scalar(w, has_low ? low : high));
	else
		writer_say(w, id, "copy(%s)", x);
}

/* x * clamp(x / 6 + 0.5, 0, 1), or clamp(alpha * x + beta, 0, 1) */
static void write_hard(Writer *w, const char *id, const char *x, float alpha, float beta,
		       bool swish)
{
	const char *a = writer_part(w, id, "scaled"), *b = writer_part(w, id, "shifted");
	const char *gate = swish ? writer_part(w, id, "gate") : id;
	if (swish)
		writer_say(w, a, "div(%s, 6.0)", x);
	else
		writer_say(w, a, "mul(%s, %s)", x, writer_scalar(w, alpha));
	writer_say(w, b, "add(%s, %s)", a, writer_scalar(w, swish ? 0.5 : beta));
	writer_say(w, gate, "clamp(%s, 0.0, 1.0)", b);
	if (swish)
		writer_say(w, id, "mul(%s, %s)", x, gate);
}

/* x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) */
static void write_gelu_tanh(Writer *w, const char *id, const char *x)
{
	const char *a = writer_part(w, id, "cube"), *b = writer_part(w, id, "part");
	const char *c = writer_part(w, id, "sum"), *d = writer_part(w, id, "arg");
	const char *e = writer_part(w, id, "tanh"), *f = writer_part(w, id, "gate");
	const char *h = writer_part(w, id, "half");
	writer_say(w, a, "pow(%s, 3.0)", x);
	writer_say(w, b, "mul(%s, 0.044715)", a);
	writer_say(w, c, "add(%s, %s)", x, b);
	writer_say(w, d, "mul(%s, 0.7978845608)", c);
	writer_say(w, e, "tanh(%s)", d);
	writer_say(w, f, "add(%s, 1.0)", e);
	writer_say(w, h, "mul(%s, 0.5)", x);
	writer_say(w, id, "mul(%s, %s)", h, f);
}

static void write_softsign(Writer *w, const char *id, const char *x)
{
	const char *a = writer_part(w, id, "abs"), *b = writer_part(w, id, "sum");
	writer_say(w, a, "abs(%s)", x);
	writer_say(w, b, "add(%s, 1.0)", a);
	writer_say(w, id, "div(%s, %s)", x, b);
}

/* An activation of `x`, fused or not; p are the kind's attributes by name. */
static void write_act(Writer *w, OpKind kind, const float p[2], const char *id, const char *x)
{
	if (plain[kind])
		writer_say(w, id, "%s(%s)", plain[kind], x);
	else if (kind == OP_CLIP)
		write_clip(w, id, x, p[1], p[0]); /* max stands before min */
	else if (kind == OP_HARD_SWISH || kind == OP_HARD_SIGMOID)
		write_hard(w, id, x, p[0], p[1], kind == OP_HARD_SWISH);
	else if (kind == OP_GELU_TANH)
		write_gelu_tanh(w, id, x);
	else if (kind == OP_SOFTSIGN)
		write_softsign(w, id, x);
	else if (kind == OP_SELU)
		writer_say(w, id, "selu(%s, alpha = %s, lambda = %s)", x, writer_scalar(w, p[0]),
			   writer_scalar(w, p[1]));
	else
		writer_say(w, id, "%s(%s, alpha = %s)", op_info[kind].name, x, writer_scalar(w, p[0]));
}

static void write_act_op(Writer *w, const Op *op, const char *id)
{
	const OpInfo *info = &op_info[op->kind];
	float p[2] = { 0, 0 };
	for (int i = 0; i < info->nfields; i++) {
		p[i] = *ATTR_AT_CONST(&op->attr, &info->fields[i], float);
		if (op->kind != OP_CLIP && !isfinite(p[i])) {
			writer_refuse(w, "%s is %g", info->fields[i].name, (double)p[i]);
			return;
		}
	}
	write_act(w, op->kind, p, id, writer_ref(w, op_in(op, 0)));
}

/* Reductions keep their dims in NNEF; what drops them squeezes. A mean is
 * written as a normalized sum: mean_reduce over all positions reads back as a
 * global pool. */
static void write_reduce(Writer *w, const Op *op, const char *id)
{
	const Op *x = op_in(op, 0);
	bool arg = op->kind == OP_ARGMAX || op->kind == OP_ARGMIN;
	bool keep = arg ? op->attr.arg.keepdims : op->attr.reduce.keepdims;
	Ints axes = arg ? (Ints){ 1, &op->attr.arg.axis } : op->attr.reduce.axes;
	int64_t all[MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
	const char *name = reductions[op->kind];
	if (!axes.n)
		axes = (Ints){ x->shape.rank, all };
	if (arg && op->attr.arg.last) {
		writer_refuse(w, "NNEF takes the first of equal elements");
		return;
	}
	if (x->dtype == TYPE_BOOL)
		name = op->kind == OP_REDUCE_MAX ? "any_reduce" : "all_reduce";
	const char *kept = keep || !axes.n ? id : writer_part(w, id, "kept");
	const char *list = writer_ints(w, axes.v, axes.n);
	if (op->kind == OP_REDUCE_MEAN)
		writer_say(w, kept, "sum_reduce(%s, axes = %s, normalize = true)", writer_ref(w, x), list);
	else
		writer_say(w, kept, "%s(%s, axes = %s)", name, writer_ref(w, x), list);
	if (kept != id)
		writer_say(w, id, "squeeze(%s, axes = %s)", kept, list);
}

static void write_global_pool(Writer *w, const Op *op, const char *id)
{
	int64_t axes[MAX_RANK];
	int n = op->shape.rank - 2;
	for (int i = 0; i < n; i++)
		axes[i] = i + 2;
	writer_say(w, id, "%s_reduce(%s, axes = %s)", op->kind == OP_GLOBAL_AVG_POOL ? "mean" : "max",
		   writer_ref(w, op_in(op, 0)), writer_ints(w, axes, n));
}

/* (x - mean) / sqrt(variance + epsilon) over `axes` of x */
static void write_centred(Writer *w, const char *id, const char *x, const char *axes, float epsilon)
{
	const char *mean = writer_part(w, id, "mean"), *variance = writer_part(w, id, "variance");
	const char *centred = writer_part(w, id, "centred"), *sum = writer_part(w, id, "sum");
	const char *scale = writer_part(w, id, "rsqrt");
	writer_say(w, arena_printf(w->arena, "%s, %s", mean, variance), "moments(%s, axes = %s)", x, axes);
	writer_say(w, centred, "sub(%s, %s)", x, mean);
	writer_say(w, sum, "add(%s, %s)", variance, writer_scalar(w, epsilon));
	writer_say(w, scale, "rsqrt(%s)", sum);
	writer_say(w, id, "mul(%s, %s)", centred, scale);
}

/* Instance, group and layer norm, then scale and, if there is one, bias. */
static void write_norm(Writer *w, const Op *op, const char *id)
{
	const Op *x = op_in(op, 0);
	const char *in = writer_ref(w, x), *normal = writer_part(w, id, "normal");
	bool layer = op->kind == OP_LAYER_NORM;
	int rank = x->shape.rank;
	if (layer) {
		int64_t axes[MAX_RANK];
		int n = 0;
		for (int i = (int)op->attr.norm.axis; i < rank; i++)
			axes[n++] = i;
		write_centred(w, normal, in, writer_ints(w, axes, n), op->attr.norm.epsilon);
	} else {
		int64_t groups = op->kind == OP_GROUP_NORM ? op->attr.norm.groups : x->shape.dim[1];
		const char *flat = writer_part(w, id, "flat"), *part = writer_part(w, id, "part");
		writer_say(w, flat, "reshape(%s, shape = [%" PRId64 ", %" PRId64 ", -1])", in,
			   x->shape.dim[0], groups);
		write_centred(w, part, flat, "[2]", op->attr.norm.epsilon);
		writer_say(w, normal, "reshape(%s, shape = %s)", part,
			   writer_ints(w, x->shape.dim, rank));
	}
	const char *scaled = op->nin > 2 ? writer_part(w, id, "scaled") : id;
	for (int i = 1; i < op->nin; i++) {
		const Op *v = op_in(op, i);
		const char *term = layer ? writer_operand(w, v, rank)
					 : writer_ref_as(w, v, SHAPE(1, v->shape.dim[0]));
		writer_say(w, i == 1 ? scaled : id, "%s(%s, %s)", i == 1 ? "mul" : "add",
			   i == 1 ? normal : scaled, term);
	}
}

static void write_batch_norm(Writer *w, const Op *op, const char *id)
{
	const char *v[5];
	for (int i = 1; i < 5; i++)
		v[i] = writer_ref_as(w, op_in(op, i), SHAPE(1, op_in(op, i)->shape.dim[0]));
	writer_say(w, id, "batch_normalization(%s, %s, %s, %s, %s, epsilon = %s)",
		   writer_ref(w, op_in(op, 0)), v[3], v[4], v[2], v[1],
		   writer_scalar(w, op->attr.norm.epsilon));
}

static void write_lrn(Writer *w, const Op *op, const char *id)
{
	const lrnAttr *a = &op->attr.lrn;
	int64_t size[MAX_RANK];
	for (int i = 0; i < op->shape.rank; i++)
		size[i] = i == 1 ? a->size : 1;
	writer_say(w, id,
		   "local_response_normalization(%s, size = %s, alpha = %s, beta = %s, bias = %s)",
		   writer_ref(w, op_in(op, 0)), writer_ints(w, size, op->shape.rank),
		   writer_scalar(w, a->alpha), writer_scalar(w, a->beta),
		   writer_scalar(w, a->bias));
}

/* x - max - log(sum(exp(x - max))) */
static void write_log_softmax(Writer *w, const Op *op, const char *id)
{
	const char *x = writer_ref(w, op_in(op, 0)), *top = writer_part(w, id, "max");
	const char *low = writer_part(w, id, "shifted"), *e = writer_part(w, id, "exp");
	const char *sum = writer_part(w, id, "sum"), *log = writer_part(w, id, "log");
	writer_say(w, top, "max_reduce(%s, axes = [%" PRId64 "])", x, op->attr.axis.axis);
	writer_say(w, low, "sub(%s, %s)", x, top);
	writer_say(w, e, "exp(%s)", low);
	writer_say(w, sum, "sum_reduce(%s, axes = [%" PRId64 "])", e, op->attr.axis.axis);
	writer_say(w, log, "log(%s)", sum);
	writer_say(w, id, "sub(%s, %s)", low, log);
}

static void write_linear(Writer *w, const Op *op, const char *id)
{
	const char *x = writer_ref(w, op_in(op, 0)), *filter = writer_ref(w, op_in(op, 1));
	if (op->nin == 2)
		writer_say(w, id, "linear(%s, %s)", x, filter);
	else
		writer_say(w, id, "linear(%s, %s, %s)", x, filter,
			   writer_ref_as(w, op_in(op, 2), SHAPE(1, op->shape.dim[1])));
}

/* Both sides get the same number of dims, vectors become matrices. */
static void write_matmul(Writer *w, const Op *op, const char *id)
{
	Shape a = op_in(op, 0)->shape, b = op_in(op, 1)->shape, wide[2];
	int rank = a.rank > b.rank ? a.rank : b.rank;
	rank = rank < 2 ? 2 : rank;
	Shape from[2] = { a.rank == 1 ? SHAPE(1, a.dim[0]) : a,
			  b.rank == 1 ? SHAPE(b.dim[0], 1) : b };
	for (int i = 0; i < 2; i++) {
		int more = rank - from[i].rank;
		wide[i] = (Shape){ .rank = rank };
		for (int k = 0; k < rank; k++)
			wide[i].dim[k] = k < more ? 1 : from[i].dim[k - more];
	}
	bool vector = a.rank == 1 || b.rank == 1;
	const char *left = writer_ref_as(w, op_in(op, 0), wide[0]);
	const char *right = writer_ref_as(w, op_in(op, 1), wide[1]);
	const char *product = vector ? writer_part(w, id, "product") : id;
	writer_say(w, product, "matmul(%s, %s)", left, right);
	if (vector)
		writer_say(w, id, "reshape(%s, shape = %s)", product,
			   writer_ints(w, op->shape.dim, op->shape.rank));
}

static void write_cast(Writer *w, const Op *op, const char *id)
{
	const char *type = op->dtype == TYPE_F32 ? "scalar"
		: op->dtype == TYPE_I64 ? "integer" : "logical";
	writer_say(w, id, "cast<%s>(%s)", type, writer_ref(w, op_in(op, 0)));
}

static void write_concat(Writer *w, const Op *op, const char *id)
{
	const char *list = "";
	for (int i = 0; i < op->nin; i++)
		list = arena_printf(w->arena, "%s%s%s", list, i ? ", " : "", writer_ref(w, op_in(op, i)));
	writer_say(w, id, "concat([%s], axis = %" PRId64 ")", list, op->attr.axis.axis);
}

static void write_softmax(Writer *w, const Op *op, const char *id)
{
	writer_say(w, id, "softmax(%s, axes = [%" PRId64 "])", writer_ref(w, op_in(op, 0)),
		   op->attr.axis.axis);
}

static void write_reshape(Writer *w, const Op *op, const char *id)
{
	writer_say(w, id, "reshape(%s, shape = %s)", writer_ref(w, op_in(op, 0)),
		   writer_ints(w, op->shape.dim, op->shape.rank));
}

static void write_transpose(Writer *w, const Op *op, const char *id)
{
	writer_say(w, id, "transpose(%s, axes = %s)", writer_ref(w, op_in(op, 0)),
		   writer_ints(w, op->attr.perm.perm.v, op->attr.perm.perm.n));
}

/* Kinds that are more than a name; the others are `plain`. */
static void (*const special[OP_COUNT])(Writer *w, const Op *op, const char *id) = {
	[OP_CONV] = writer_conv,
	[OP_CONV_TRANSPOSE] = writer_deconv,
	[OP_LINEAR] = write_linear,
	[OP_MATMUL] = write_matmul,
	[OP_MAX_POOL] = writer_pool,
	[OP_MAX_POOL_INDEX] = writer_pool,
	[OP_AVG_POOL] = writer_pool,
	[OP_GLOBAL_AVG_POOL] = write_global_pool,
	[OP_GLOBAL_MAX_POOL] = write_global_pool,
	[OP_RESIZE] = writer_resize,
	[OP_LEAKY_RELU] = write_act_op,
	[OP_CLIP] = write_act_op,
	[OP_HARD_SWISH] = write_act_op,
	[OP_HARD_SIGMOID] = write_act_op,
	[OP_GELU_TANH] = write_act_op,
	[OP_ELU] = write_act_op,
	[OP_SELU] = write_act_op,
	[OP_SOFTSIGN] = write_act_op,
	[OP_CAST] = write_cast,
	[OP_BATCH_NORM] = write_batch_norm,
	[OP_INSTANCE_NORM] = write_norm,
	[OP_GROUP_NORM] = write_norm,
	[OP_LAYER_NORM] = write_norm,
	[OP_LRN] = write_lrn,
	[OP_SOFTMAX] = write_softmax,
	[OP_LOG_SOFTMAX] = write_log_softmax,
	[OP_REDUCE_MEAN] = write_reduce,
	[OP_REDUCE_SUM] = write_reduce,
	[OP_REDUCE_MAX] = write_reduce,
	[OP_REDUCE_MIN] = write_reduce,
	[OP_ARGMAX] = write_reduce,
	[OP_ARGMIN] = write_reduce,
	[OP_RESHAPE] = write_reshape,
	[OP_TRANSPOSE] = write_transpose,
	[OP_EXPAND] = writer_expand,
	[OP_CONCAT] = write_concat,
	[OP_SLICE] = writer_slice,
	[OP_PAD] = writer_pad,
	[OP_GATHER] = writer_gather,
	[OP_SELECT_CHANNELS] = writer_gather,
	[OP_DEPTH_TO_SPACE] = writer_blocks,
	[OP_SPACE_TO_DEPTH] = writer_blocks,
	[OP_VIEW] = writer_view,
};

/* NNEF's arithmetic is on scalars; only what moves, selects, casts or
 * reasons takes other elements. */
static bool takes(const Op *op, DType t)
{
	switch (op->kind) {
	case OP_AND:
	case OP_OR:
	case OP_NOT:
	case OP_REDUCE_MAX:
	case OP_REDUCE_MIN:
		return t == TYPE_F32 || t == TYPE_BOOL;
	case OP_PAD:
		return t == TYPE_F32;
	case OP_WHERE:
	case OP_CAST:
		return true;
	default:
		return t == TYPE_F32 || op_is(op, MOVES);
	}
}

static bool types_fit(Writer *w, const Op *op)
{
	for (int i = -1; i < op->nin; i++) {
		DType t = i < 0 ? op->dtype : op_in(op, i)->dtype;
		if (i == 1 && op->kind == OP_GATHER && op_value(op_in(op, 1)))
			continue; /* written as integers whatever they are */
		if (t != TYPE_F32 && t != TYPE_I64 && t != TYPE_BOOL) {
			writer_refuse(w, "NNEF has no %s", type_info[t].name);
			return false;
		}
		if (i >= 0 && !takes(op, t)) {
			writer_refuse(w, "input %d is %s, not f32", i, type_info[t].name);
			return false;
		}
		if (shape_count(i < 0 ? op->shape : op_in(op, i)->shape) == 0) {
			writer_refuse(w, i < 0 ? "it has no elements" : "an input has no elements");
			return false;
		}
	}
	return true;
}

void writer_op(Writer *w, const Op *op, const char *id)
{
	if (!types_fit(w, op))
		return;
	const char *core = op_has_act(op) ? writer_part(w, id, "linear") : id;
	if (special[op->kind])
		special[op->kind](w, op, core);
	else if (plain[op->kind])
		write_plain(w, op, core);
	else
		writer_refuse(w, "NNEF has no such operation");
	if (op_has_act(op))
		write_act(w, op->act.kind, op->act.param, id, core);
}
