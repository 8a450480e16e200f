/*
 * Graphs that are right but make no sense: any op on any operands its type
 * rule takes, whatever the ranks and types.
 *
 * Ops are tried at random and kept if op_infer takes them, so the generator
 * knows only enough of each kind to be refused less often.
 */
#include "tests/random_graph.h"

#include <math.h>
#include <string.h>

enum { MOST = 64 };

typedef struct Wild {
	Builder b;
	bool smooth;
	int n;
	Op *pool[MOST];
} Wild;

static int64_t pick(Wild *w, int64_t n)
{
	return rng_below(&w->b.rng, n);
}

static Ints list_of(Wild *w, int n, int64_t lo, int64_t hi)
{
	int64_t v[2 * MAX_RANK];
	for (int i = 0; i < n; i++)
		v[i] = lo + pick(w, hi - lo + 1);
	return ints_copy(w->b.g->arena, v, n);
}

static Ints permutation(Wild *w, int n)
{
	int64_t v[MAX_RANK];
	for (int i = 0; i < n; i++) {
		const int64_t k = pick(w, i + 1);
		v[i] = v[k];
		v[k] = i;
	}
	return ints_copy(w->b.g->arena, v, n);
}

static Ints subset(Wild *w, int n)
{
	int64_t v[MAX_RANK];
	int k = 0;
	for (int i = 0; i < n; i++)
		if (pick(w, 2))
			v[k++] = i;
	return ints_copy(w->b.g->arena, v, k);
}

/* The prime factors of the count, dealt out to a few dims. */
static Ints reshaped(Wild *w, Shape s)
{
	int64_t left = shape_count(s), v[MAX_RANK];
	const int rank = (int)pick(w, 7);
	for (int i = 0; i < rank; i++)
		v[i] = 1;
	for (int64_t p = 2; rank && left > 1;) {
		if (left % p) {
			p++;
			continue;
		}
		v[pick(w, rank)] *= p;
		left /= p;
	}
	if (left == 0 && rank)
		v[0] = 0;
	return ints_copy(w->b.g->arena, v, rank);
}

static sliceAttr random_slice(Wild *w, Shape s)
{
	int64_t starts[MAX_RANK], counts[MAX_RANK], steps[MAX_RANK];
	for (int i = 0; i < s.rank; i++) {
		const int64_t last = s.dim[i] ? s.dim[i] - 1 : 0, step = 1 + pick(w, 4) / 3;
		const bool back = pick(w, 6) == 0;
		steps[i] = back ? -step : step;
		starts[i] = pick(w, 2) ? pick(w, last + 1) : back ? last : 0;
		const int64_t room = back ? starts[i] + 1 : s.dim[i] - starts[i];
		const int64_t most = (room + step - 1) / step;
		counts[i] = pick(w, 2) || most < 1 ? most : 1 + pick(w, most);
	}
	Arena *a = w->b.g->arena;
	return (sliceAttr){ ints_copy(a, counts, s.rank), ints_copy(a, starts, s.rank),
			    ints_copy(a, steps, s.rank) };
}

static resizeAttr random_resize(Wild *w, Shape s)
{
	int64_t sizes[MAX_RANK];
	float scales[MAX_RANK];
	resizeAttr r = attrs_default(OP_RESIZE).resize;
	for (int i = 0; i < s.rank; i++) {
		sizes[i] = i < 2 || pick(w, 2) ? s.dim[i] : 2 * s.dim[i];
		scales[i] = s.dim[i] ? (float)sizes[i] / (float)s.dim[i] : 1;
	}
	r.mode = (ResizeMode)pick(w, 2);
	r.coord = pick(w, 2) ? COORD_HALF_PIXEL : COORD_ASYMMETRIC;
	r.sizes = ints_copy(w->b.g->arena, sizes, s.rank);
	r.scales = floats_copy(w->b.g->arena, scales, s.rank);
	return r;
}

static void window_attrs(Wild *w, OpKind kind, Shape x, Attrs *a)
{
	const int n = x.rank > 2 ? x.rank - 2 : 0;
	if (kind == OP_CONV || kind == OP_CONV_TRANSPOSE) {
		a->conv.strides = list_of(w, n, 1, 2);
		a->conv.dilations = list_of(w, n, 1, 1 + pick(w, 2));
		a->conv.pads = list_of(w, 2 * n, 0, 2 * pick(w, 2));
		a->conv.groups = pick(w, 3) ? 1 : pick(w, 2) || n == 0 || !x.dim[1] ? 2 : x.dim[1];
	} else if (kind == OP_RESIZE) {
		a->resize = random_resize(w, x);
	} else {
		a->pool.kernel = list_of(w, n, 1, 3);
		a->pool.strides = list_of(w, n, 1, 2);
		a->pool.dilations = list_of(w, n, 1, 1 + pick(w, 2));
		a->pool.pads = list_of(w, 2 * n, 0, 1);
		a->pool.ceil = pick(w, 4) == 0;
		a->pool.count_pad = pick(w, 2);
	}
}

static void number_attrs(Wild *w, OpKind kind, Shape x, Attrs *a)
{
	const int64_t axis = x.rank ? pick(w, x.rank) : 0;
	switch (kind) {
	case OP_LEAKY_RELU:
	case OP_ELU:
		a->alpha.alpha = (float)pick(w, 4) / 3;
		break;
	case OP_HARD_SIGMOID:
	case OP_SELU:
		a->alpha_beta = (alpha_betaAttr){ (float)(1 + pick(w, 4)) / 6, 0.5f };
		break;
	case OP_CLIP:
		a->clip.min = pick(w, 2) ? (float)(pick(w, 3) - 2) : a->clip.min;
		a->clip.max = pick(w, 2) ? (float)(1 + pick(w, 6)) : a->clip.max;
		break;
	case OP_BATCH_NORM:
	case OP_INSTANCE_NORM:
	case OP_GROUP_NORM:
	case OP_LAYER_NORM:
		a->norm.epsilon = 0.1f;
		a->norm.axis = axis;
		break;
	case OP_LRN:
		a->lrn = (lrnAttr){ .alpha = 1, .beta = 0.5f, .bias = 1, .size = 3 };
		break;
	case OP_ARGMAX:
	case OP_ARGMIN:
		a->arg = (argAttr){ .axis = axis, .keepdims = pick(w, 2) };
		break;
	case OP_REDUCE_MEAN:
	case OP_REDUCE_SUM:
	case OP_REDUCE_MAX:
	case OP_REDUCE_MIN:
	case OP_REDUCE_PROD:
		a->reduce = (reduceAttr){ .axes = subset(w, x.rank), .keepdims = pick(w, 2) };
		break;
	default:
		a->axis.axis = axis;
	}
}

static void move_attrs(Wild *w, OpKind kind, Shape x, Attrs *a)
{
	const bool smooth = w->smooth;
	switch (kind) {
	case OP_RESHAPE:
		a->shape.shape = reshaped(w, x);
		break;
	case OP_EXPAND:
		a->shape.shape = ints_of_shape(w->b.g->arena, w->pool[pick(w, w->n)]->shape);
		break;
	case OP_TRANSPOSE:
		a->perm.perm = permutation(w, x.rank);
		break;
	case OP_SLICE:
		a->slice = random_slice(w, x);
		break;
	case OP_PAD:
		a->pad.pads = list_of(w, 2 * x.rank, pick(w, 4) ? 0 : -1, 1);
		a->pad.mode = pick(w, 3) ? PAD_CONSTANT : (PadMode)pick(w, PadMode_COUNT);
		a->pad.value = (float)(pick(w, 3) / 2);
		break;
	case OP_SELECT_CHANNELS:
		if (x.rank > 1 && x.dim[1])
			a->channels.channels = list_of(w, 1 + (int)pick(w, 8), 0, x.dim[1] - 1);
		break;
	case OP_DEPTH_TO_SPACE:
	case OP_SPACE_TO_DEPTH:
		a->block.block = 1 + pick(w, 2);
		a->block.order = (BlockOrder)pick(w, 2);
		break;
	case OP_CAST:
		a->cast.to = smooth ? TYPE_F32 : (DType)(1 + pick(w, TYPE_COUNT - 1));
		break;
	default:
		break;
	}
}

static Attrs random_attrs(Wild *w, OpKind kind, Shape x)
{
	Attrs a = attrs_default(kind);
	switch (kind) {
	case OP_CONV:
	case OP_CONV_TRANSPOSE:
	case OP_MAX_POOL:
	case OP_MAX_POOL_INDEX:
	case OP_AVG_POOL:
	case OP_RESIZE:
		window_attrs(w, kind, x, &a);
		break;
	default:
		if (op_info[kind].traits & MOVES && kind != OP_CONCAT && kind != OP_GATHER)
			move_attrs(w, kind, x, &a);
		else if (kind == OP_CAST)
			move_attrs(w, kind, x, &a);
		else if (op_info[kind].nfields)
			number_attrs(w, kind, x, &a);
	}
	return a;
}

/* A shape that broadcasts to `s`. */
static Shape broadcasting(Wild *w, Shape s)
{
	const int drop = s.rank && pick(w, 2) ? (int)pick(w, s.rank) : 0;
	Shape out = { .rank = s.rank - drop };
	for (int i = 0; i < out.rank; i++)
		out.dim[i] = pick(w, 2) ? s.dim[i + drop] : 1;
	return out;
}

static Op *constant(Wild *w, DType dtype, Shape shape)
{
	Tensor *t = tensor_create(w->b.g->arena, dtype, shape);
	const bool same = pick(w, 3) == 0;
	double v = 0;
	for (int64_t i = 0; i < tensor_count(t); i++) {
		if (!i || !same)
			v = (double)(1 + pick(w, 8)) / 4 * (pick(w, 4) ? 1 : -1);
		tensor_set_f64(t, i, v);
	}
	return graph_constant(w->b.g, NULL, arena_printf(w->b.g->arena, "c%d", w->b.g->nops), t);
}

/* Weights (input 1) or a bias (input 2) for x. */
static Op *weights_for(Wild *w, OpKind kind, const Attrs *a, Op *const in[], int i)
{
	const bool transposed = kind == OP_CONV_TRANSPOSE;
	const int64_t groups = kind == OP_LINEAR ? 1 : a->conv.groups;
	const int64_t outputs = 2 * (1 + pick(w, 3));
	Shape s = in[0]->shape;
	if (s.rank < 2)
		return w->pool[0];
	if (i == 2)
		return constant(w, in[0]->dtype, SHAPE(in[1]->shape.dim[transposed]
						       * (transposed ? groups : 1)));
	const int64_t c = s.dim[1];
	s.dim[0] = transposed || groups == c ? c : outputs;
	s.dim[1] = transposed ? outputs : c / groups;
	for (int d = 2; d < s.rank; d++)
		s.dim[d] = 1 + pick(w, 3);
	return constant(w, in[0]->dtype, s);
}

/* An operand that stands a chance at input i. */
static Op *operand(Wild *w, OpKind kind, const Attrs *a, Op *const in[], int i)
{
	const Op *x = in[0];
	const Shape s = x->shape;
	const int64_t c = s.rank > 1 ? s.dim[1] : 1;
	switch (kind) {
	case OP_CONV:
	case OP_CONV_TRANSPOSE:
	case OP_LINEAR:
		return weights_for(w, kind, a, in, i);
	case OP_BATCH_NORM:
	case OP_INSTANCE_NORM:
	case OP_GROUP_NORM:
		return constant(w, x->dtype, SHAPE(c));
	case OP_MATMUL:
		return constant(w, x->dtype, s.rank ? SHAPE(s.dim[s.rank - 1], 1 + pick(w, 6)) : s);
	case OP_GATHER:
		return graph_constant(w->b.g, NULL, "index", tensor_of_ints(w->b.g->arena,
			(int64_t[]){ pick(w, 2), pick(w, 3), pick(w, 2) }, 1 + pick(w, 3)));
	default:
		return pick(w, 2) ? constant(w, x->dtype, broadcasting(w, s))
				  : w->pool[pick(w, w->n)];
	}
}

/* Not for comparison: tiny differences become large ones, or too large. */
static bool is_rough(OpKind kind)
{
	switch (kind) {
	case OP_POW:
	case OP_EQUAL:
	case OP_LESS:
	case OP_GREATER:
	case OP_EXP:
	case OP_LOG:
	case OP_SQRT:
	case OP_RECIPROCAL:
	case OP_FLOOR:
	case OP_CEIL:
	case OP_ROUND:
	case OP_SIGN:
	case OP_ARGMAX:
	case OP_ARGMIN:
	case OP_MAX_POOL_INDEX:
	case OP_REDUCE_PROD:
	case OP_LRN:
	case OP_DIV:
		return true;
	default:
		return false;
	}
}

/* Half of them are what passes look for most. */
static OpKind random_kind(Wild *w)
{
	const OpKind often[] = { OP_RESHAPE, OP_TRANSPOSE, OP_TRANSPOSE, OP_SLICE, OP_ADD, OP_MUL,
				 OP_RELU, OP_CONCAT, OP_SOFTMAX, OP_PAD, OP_REDUCE_MEAN, OP_GATHER,
				 OP_SELECT_CHANNELS, OP_CONV, OP_MATMUL };
	return pick(w, 2) ? often[pick(w, sizeof often / sizeof *often)]
			  : OP_CONV + (OpKind)pick(w, OP_VIEW - OP_CONV);
}

static void try_op(Wild *w)
{
	const OpKind kind = random_kind(w);
	const int64_t back = pick(w, 2) ? 1 : pick(w, 4) ? 1 + pick(w, 4) : 1 + pick(w, w->n);
	Op *in[5] = { w->pool[back > w->n ? 0 : w->n - back] };
	const int least = op_info[kind].min_in, most = op_info[kind].max_in;
	const int nin = least + (most > least ? (int)pick(w, 2) : 0);
	if (w->smooth && is_rough(kind))
		return;
	const Attrs attr = random_attrs(w, kind, in[0]->shape);
	for (int i = 1; i < nin; i++)
		in[i] = operand(w, kind, &attr, in, i);
	if (nin == 2 && op_info[kind].traits & COMMUTES && pick(w, 3) == 0) {
		Op *swap = in[0];
		in[0] = in[1];
		in[1] = swap;
	}
	Op *op = graph_insert(w->b.g, NULL, kind,
		arena_printf(w->b.g->arena, "%s%d", op_info[kind].name, w->b.g->nops), nin, in);
	op->attr = attr;
	const int64_t count = op_infer(w->b.g, op) ? shape_count(op->shape) : -1;
	if (count < 0 || count > 5000) {
		op_remove(w->b.g, op);
		return;
	}
	if (op_is(op, TAKES_ACT) && type_is_float(op->dtype) && pick(w, 8) == 0)
		op->act = (Act){ .kind = pick(w, 2) ? OP_RELU : OP_SIGMOID };
	w->pool[w->n++] = op;
}

Graph *wild_graph(Arena *a, Diag *d, uint64_t seed, bool smooth)
{
	/* what op_infer refuses is said to nobody */
	Diag quiet = { .to = fopen("/dev/null", "w") };
	Wild w = { .b = builder_create(a, &quiet, seed), .smooth = smooth };
	const Shape shapes[] = { SHAPE(1, 4, 5, 6), SHAPE(1, 8, 4, 4), SHAPE(2, 3, 4), SHAPE(4, 6),
				 SHAPE(1, 1, 6, 6), SHAPE(2, 1, 4, 1), SHAPE(1, 6, 6, 2) };
	const DType types[] = { TYPE_F32, TYPE_F32, TYPE_F32, TYPE_F64, TYPE_F16, TYPE_I64,
				TYPE_BOOL };
	const int64_t nshapes = sizeof shapes / sizeof *shapes;
	const int64_t ntypes = sizeof types / sizeof *types;
	const int64_t ninputs = 1 + pick(&w, 2), steps = 10 + pick(&w, 60);
	for (int64_t i = 0; i < ninputs; i++) {
		w.pool[w.n] = build_random_input(&w.b, shapes[pick(&w, nshapes)]);
		w.pool[w.n++]->dtype = types[smooth ? 0 : pick(&w, ntypes)];
	}
	for (int64_t i = 0; i < steps && w.n < MOST - 1; i++)
		try_op(&w);
	for (int i = 0; i < w.n; i++)
		if (!w.pool[i]->uses || pick(&w, 16) == 0)
			build_output(&w.b, w.pool[i]);
	fclose(quiet.to);
	w.b.g->diag = d;
	return w.b.g;
}
