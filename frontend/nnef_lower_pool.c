/* Pooling and resampling. NNEF windows cover all dims of a tensor; those of
 * the IR only the spatial ones, so a window over channels makes the channels
 * a spatial dim for the time. */
#include "frontend/nnef_lower.h"

#include <inttypes.h>
#include <string.h>

/* Windows of all dims, from the call's arguments. */
static bool pool_windows(Call *c, Op *x, Window *w)
{
	Ints size = arg_ints(c, "size");
	if (size.n != x->shape.rank || size.n > MAX_RANK) {
		call_error(c, "'size' has %d items, input has %d dims", size.n, x->shape.rank);
		return false;
	}
	for (int i = 0; i < size.n; i++) {
		w[i].size = size.v[i];
		if (size.v[i] < 1 || size.v[i] > MAX_WINDOW) {
			call_error(c, "size[%d] is %" PRId64 ", not 1 to %d", i, size.v[i], MAX_WINDOW);
			return false;
		}
	}
	return window_read(c, size.n, w, x->shape.dim);
}

static bool is_idle(const Window *w)
{
	return w->size == 1 && w->stride == 1 && !w->begin && !w->end;
}

/* One of the IR's pools over dims 2 and on of x. */
static Op *emit_pool(Call *c, const char *suffix, OpKind kind, Op *x, const Window *w,
		     bool count_pad)
{
	Attrs attr = attrs_default(kind);
	int64_t kernel[MAX_RANK], stride[MAX_RANK], dilation[MAX_RANK], pads[2 * MAX_RANK];
	int n = x->shape.rank - 2;
	for (int i = 0; i < n; i++) {
		kernel[i] = w[i + 2].size;
		stride[i] = w[i + 2].stride;
		dilation[i] = w[i + 2].dilation;
		pads[i] = w[i + 2].begin;
		pads[n + i] = w[i + 2].end;
	}
	attr.pool.kernel = ints_copy(c->n->arena, kernel, n);
	attr.pool.strides = ints_copy(c->n->arena, stride, n);
	attr.pool.dilations = ints_copy(c->n->arena, dilation, n);
	attr.pool.pads = ints_copy(c->n->arena, pads, 2 * n);
	attr.pool.count_pad = count_pad && !ints_all(attr.pool.pads, 0);
	return emit(c, suffix, kind, &attr, 1, &x);
}

/* A pool over any dims but the first. `own`: the border is what the IR's pool
 * does at its padding; else it becomes a pad before it. */
static Op *pool_any(Call *c, const char *suffix, OpKind kind, Op *x, Window *w, const char *border,
		    bool own, bool count_pad)
{
	int rank = x->shape.rank;
	for (int i = 0; i < rank; i++)
		own = own && w[i].begin >= 0 && w[i].end >= 0;
	if (!own)
		x = window_pad(c, "pad", x, 0, rank, w, border);
	if (!x)
		return NULL;
	if (rank < 2 || !is_idle(&w[0])) {
		call_error(c, "windows over the batch are not supported");
		return NULL;
	}
	if (is_idle(&w[1]))
		return emit_pool(c, suffix, kind, x, w, count_pad);
	if (rank > 4 || rank < 3 || kind == OP_MAX_POOL_INDEX) {
		call_error(c, "windows over the channels of %d dims are not supported", rank);
		return NULL;
	}
	Shape split = { rank + 1, { x->shape.dim[0], 1 } };
	Window moved[MAX_RANK + 1] = { w[0], { 1, 1, 1, 0, 0 } };
	for (int i = 1; i < rank; i++) {
		split.dim[i + 1] = x->shape.dim[i];
		moved[i + 1] = w[i];
	}
	Op *y = emit_reshape(c, "split", x, split);
	y = y ? emit_pool(c, "pool", kind, y, moved, count_pad) : NULL;
	if (!y)
		return NULL;
	Shape out = { rank, { y->shape.dim[0] } };
	for (int i = 1; i < rank; i++)
		out.dim[i] = y->shape.dim[i + 1];
	return emit_reshape(c, suffix, y, out);
}

Value nnef_lower_max_pool(Call *c)
{
	const char *border = arg_string(c, "border");
	Op *x = arg_op(c, "input");
	Window w[MAX_RANK];
	if (!x || !pool_windows(c, x, w))
		return NO_VALUE;
	return value_tensor(pool_any(c, NULL, c->kind, x, w, border, strcmp(border, "ignore") == 0,
				     false));
}

Value nnef_lower_max_pool_index(Call *c)
{
	static const OpKind kinds[2] = { OP_MAX_POOL, OP_MAX_POOL_INDEX };
	Value *item = arena_array(c->n->arena, Value, 2), names = c->want.names;
	for (int i = 0; i < 2; i++) {
		Call part = *c;
		part.kind = kinds[i];
		part.want.base = names.kind == VALUE_TUPLE && i < names.n &&
				 names.item[i].kind == VALUE_STRING ? names.item[i].string
			: arena_printf(c->n->arena, "%s.%s", c->want.base, c->op->result[i].name);
		item[i] = nnef_lower_max_pool(&part);
		if (item[i].kind == VALUE_NONE)
			return NO_VALUE;
	}
	return value_list(VALUE_TUPLE, 2, item);
}

/* A sum is the mean with zeros counted, times the size of the window. */
Op *emit_box(Call *c, const char *suffix, Op *x, Window *w, const char *border, bool normalize)
{
	bool ignore = strcmp(border, "ignore") == 0;
	bool own = ignore || strcmp(border, "constant") == 0;
	double volume = 1;
	for (int i = 0; i < x->shape.rank; i++)
		volume *= (double)w[i].size;
	if (normalize || volume == 1)
		return pool_any(c, suffix, OP_AVG_POOL, x, w, border, own, !ignore);
	Op *mean = pool_any(c, "mean", OP_AVG_POOL, x, w, border, own, true);
	Tensor *t = tensor_create(c->n->arena, TYPE_F32, (Shape){ 0 });
	tensor_set_f64(t, 0, volume);
	return emit(c, suffix, OP_MUL, NULL, 2, (Op *[]){ mean, emit_constant(c, "volume", t) });
}

Value nnef_lower_box(Call *c)
{
	Op *x = arg_op(c, "input");
	Window w[MAX_RANK];
	if (!x || !pool_windows(c, x, w))
		return NO_VALUE;
	return value_tensor(emit_box(c, NULL, x, w, arg_string(c, "border"),
				     arg_logical(c, "normalize")));
}

Value nnef_lower_avg_pool(Call *c)
{
	Op *x = arg_op(c, "input");
	Window w[MAX_RANK];
	if (!x || !pool_windows(c, x, w))
		return NO_VALUE;
	return value_tensor(emit_box(c, NULL, x, w, arg_string(c, "border"), true));
}

/* One factor for each spatial dim; `divides`: they divide them. */
static bool arg_factor(Call *c, Op *x, bool divides, Ints *factor)
{
	if (!x)
		return false;
	*factor = arg_ints(c, "factor");
	if (x->shape.rank < 3 || factor->n != x->shape.rank - 2) {
		call_error(c, "'factor' has %d items, input has %d dims", factor->n, x->shape.rank);
		return false;
	}
	for (int i = 0; i < factor->n; i++) {
		int64_t dim = x->shape.dim[i + 2], f = factor->v[i];
		if (f < 1 || f > MAX_WINDOW || (divides && dim % f)) {
			call_error(c, "factor[%d] is %" PRId64 ", dim %d is %" PRId64, i, f, i + 2, dim);
			return false;
		}
	}
	return true;
}

static Op *emit_resize(Call *c, const char *suffix, Op *x, Ints factor, ResizeMode mode,
		       Coord coord)
{
	Attrs attr = attrs_default(OP_RESIZE);
	int64_t sizes[MAX_RANK];
	float scales[MAX_RANK];
	int rank = x->shape.rank;
	for (int i = 0; i < rank; i++) {
		int64_t f = i < 2 ? 1 : factor.v[i - 2];
		scales[i] = (float)f;
		if (__builtin_mul_overflow(x->shape.dim[i], f, &sizes[i]))
			sizes[i] = INT64_MAX; /* too many elements, says op_infer */
	}
	attr.resize.mode = mode;
	attr.resize.coord = coord;
	attr.resize.nearest = mode == RESIZE_NEAREST ? ROUND_FLOOR : attr.resize.nearest;
	attr.resize.sizes = ints_copy(c->n->arena, sizes, rank);
	attr.resize.scales = floats_copy(c->n->arena, scales, rank);
	return emit(c, suffix, OP_RESIZE, &attr, 1, &x);
}

Value nnef_lower_nearest_upsample(Call *c)
{
	Op *x = arg_op(c, "input");
	Ints factor;
	if (!arg_factor(c, x, false, &factor))
		return NO_VALUE;
	return value_tensor(emit_resize(c, NULL, x, factor, RESIZE_NEAREST, COORD_ASYMMETRIC));
}

/* Zeros around the input: pad by one, resize, cut the scaled padding off. */
static Op *resize_in_zeros(Call *c, Op *x, Ints factor, Coord coord)
{
	int64_t start[MAX_RANK] = { 0 }, step[MAX_RANK], count[MAX_RANK];
	Window w[MAX_RANK];
	for (int i = 0; i < x->shape.rank; i++) {
		int64_t f = i < 2 ? 1 : factor.v[i - 2];
		step[i] = 1;
		count[i] = x->shape.dim[i] * f;
		start[i] = i < 2 ? 0 : f;
		w[i] = (Window){ 1, 1, 1, i >= 2, i >= 2 };
	}
	Op *y = window_fill(c, "pad", x, 0, x->shape.rank, w, PAD_CONSTANT, 0);
	y = y ? emit_resize(c, "resize", y, factor, RESIZE_LINEAR, coord) : NULL;
	return y ? emit_slice(c, NULL, y, start, step, count) : NULL;
}

Value nnef_lower_linear_upsample(Call *c)
{
	static const struct {
		const char *method;
		Coord coord;
	} methods[] = {
		{ "symmetric", COORD_HALF_PIXEL },
		{ "asymmetric", COORD_ASYMMETRIC },
		{ "aligned", COORD_ALIGN_CORNERS },
	};
	const char *method = arg_string(c, "method"), *border = arg_string(c, "border");
	Op *x = arg_op(c, "input");
	Ints factor;
	int m = 0;
	if (!arg_factor(c, x, false, &factor))
		return NO_VALUE;
	while (m < 3 && strcmp(method, methods[m].method) != 0)
		m++;
	if (m == 3)
		return call_error(c, "no method '%s': it is 'symmetric', 'asymmetric' or 'aligned'", method);
	bool zeros = strcmp(border, "constant") == 0;
	if (!zeros && strcmp(border, "replicate") != 0)
		return call_error(c, "border '%s' is not supported, 'replicate' and 'constant' are", border);
	/* Aligned samples never leave the input. */
	if (zeros && methods[m].coord != COORD_ALIGN_CORNERS)
		return value_tensor(resize_in_zeros(c, x, factor, methods[m].coord));
	return value_tensor(emit_resize(c, NULL, x, factor, RESIZE_LINEAR, methods[m].coord));
}

Value nnef_lower_nearest_downsample(Call *c)
{
	int64_t start[MAX_RANK] = { 0 }, step[MAX_RANK], count[MAX_RANK];
	Op *x = arg_op(c, "input");
	Ints factor;
	if (!arg_factor(c, x, true, &factor))
		return NO_VALUE;
	for (int i = 0; i < x->shape.rank; i++) {
		step[i] = i < 2 ? 1 : factor.v[i - 2];
		count[i] = x->shape.dim[i] / step[i];
	}
	return value_tensor(emit_slice(c, NULL, x, start, step, count));
}

Value nnef_lower_area_downsample(Call *c)
{
	Op *x = arg_op(c, "input");
	Window w[MAX_RANK];
	Ints factor;
	if (!arg_factor(c, x, true, &factor))
		return NO_VALUE;
	for (int i = 0; i < x->shape.rank; i++) {
		int64_t f = i < 2 ? 1 : factor.v[i - 2];
		w[i] = (Window){ f, f, 1, 0, 0 };
	}
	return value_tensor(emit_box(c, NULL, x, w, "constant", true));
}
