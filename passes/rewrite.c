#include "passes/rewrite.h"

#include <string.h>

#include "ir/hint.h"

static void inherit_hints(Graph *g, Op *keep, const Op *gone)
{
	if (!gone->nhints)
		return;
	Hint *all = arena_array(g->arena, Hint, keep->nhints + gone->nhints);
	int n = 0;
	for (int i = 0; i < keep->nhints; i++)
		all[n++] = keep->hints[i];
	for (int i = 0; i < gone->nhints; i++)
		if (!op_hint(keep, gone->hints[i].key))
			all[n++] = gone->hints[i];
	keep->hints = all;
	keep->nhints = n;
}

void rewrite_merge(Graph *g, Op *keep, Op *gone)
{
	op_absorb(g, keep, gone);
	inherit_hints(g, keep, gone);
	op_replace_uses(gone, keep);
	op_remove_dead(g, gone);
}

bool rewrite_repeat(Graph *g, bool (*sweep)(Graph *g))
{
	enum { MOST = 64 };
	bool changed = false;
	for (int i = 0; i < MOST && sweep(g); i++)
		changed = true;
	return changed;
}

void rewrite_become(Op *op, OpKind kind, Attrs attr)
{
	op->kind = kind;
	op->attr = attr;
	op->stored = op->weights = DEV_UNSET;
}

void rewrite_infer(Graph *g, Op *op)
{
	if (!op_infer(g, op))
		die("%%%s, a %s, has no type after a rewrite", op->name, op_info[op->kind].name);
}

Op *rewrite_insert(Graph *g, Op *at, OpKind kind, const char *name, Op *in, Attrs attr)
{
	Op *op = graph_insert(g, at, kind, name, 1, &in);
	op->attr = attr;
	rewrite_infer(g, op);
	return op;
}

Op *rewrite_after(Graph *g, Op *op, OpKind kind, const char *name, Attrs attr)
{
	Op *below = rewrite_insert(g, op->next, kind, name, op, attr);
	below->loc = op->loc;
	for_each_use(u, op)
		if (u->user != below)
			op_set_input(u->user, (int)(u - u->user->in), below);
	return below;
}

void rewrite_take_in(Graph *g, Op *op, Op *old)
{
	if (old->uses || old->kind == OP_INPUT)
		return;
	if (old->kind != OP_CONSTANT)
		op_absorb(g, op, old);
	while (old->nin) {
		Op *def = op_in(old, old->nin - 1);
		op_drop_inputs(old, old->nin - 1);
		rewrite_take_in(g, op, def);
	}
	op_remove(g, old);
}

void rewrite_succeed(Graph *g, Op *heir, Op *old)
{
	const char *name = old->name;
	for (int i = 0; i < old->absorbed.n; i++)
		op_absorb(g, heir, &(Op){ .name = old->absorbed.v[i] });
	inherit_hints(g, heir, old);
	heir->node = old->node;
	while (old->nin) {
		Op *def = op_in(old, old->nin - 1);
		op_drop_inputs(old, old->nin - 1);
		rewrite_take_in(g, heir, def);
	}
	op_remove(g, old);
	op_rename(g, heir, name);
}

Op *rewrite_reshape(Graph *g, Op *at, const char *name, Op *in, Shape shape)
{
	if (shape_equal(in->shape, shape))
		return in;
	return rewrite_insert(g, at, OP_RESHAPE, name, in,
			      (Attrs){ .shape.shape = ints_of_shape(g->arena, shape) });
}

Tensor *rewrite_value(Graph *g, const Op *op)
{
	if (op->kind == OP_CONSTANT && !op->value->data && !g->elided_told) {
		diag_warning(g->diag, op->loc,
			     "constant '%s' is elided, so what needs its data is left as it is; "
			     "--weights=FILE supplies it", op->name);
		g->elided_told = true;
	}
	return op_value(op);
}

Tensor *rewrite_reshaped(Graph *g, Tensor *t, Shape shape)
{
	t->owned = false;
	return tensor_reshaped(g->arena, t, shape);
}

/* True if the dims other than 1 keep their order. */
static bool keeps_order(Shape s, const int64_t *perm)
{
	int64_t last = -1;
	for (int i = 0; i < s.rank; i++) {
		if (s.dim[perm[i]] == 1)
			continue;
		if (perm[i] < last)
			return false;
		last = perm[i];
	}
	return true;
}

Tensor *rewrite_transposed(Graph *g, Tensor *t, const int64_t *perm)
{
	const size_t bytes = type_info[t->dtype].bytes;
	const int rank = t->shape.rank;
	Shape shape = { .rank = rank };
	int64_t strides[MAX_RANK], index[MAX_RANK] = { 0 }, from = 0;
	for (int i = 0; i < rank; i++)
		shape.dim[i] = t->shape.dim[perm[i]];
	if (t->splat || keeps_order(t->shape, perm))
		return rewrite_reshaped(g, t, shape);
	shape_strides(t->shape, strides);
	Tensor *out = tensor_create(g->arena, t->dtype, shape);
	for (int64_t to = 0, n = tensor_count(t); to < n; to++) {
		memcpy((char *)(uintptr_t)out->data + (size_t)to * bytes,
		       (const char *)t->data + (size_t)from * bytes, bytes);
		for (int i = rank - 1; i >= 0; i--) {
			from += strides[perm[i]];
			if (++index[i] < shape.dim[i])
				break;
			from -= strides[perm[i]] * shape.dim[i];
			index[i] = 0;
		}
	}
	return out;
}

void rewrite_constant(Graph *g, Op *op, int i, const char *name, Tensor *value)
{
	Op *old = op_in(op, i);
	if (op_has_one_use(old)) {
		old->value = value;
		old->dtype = value->dtype;
		old->shape = value->shape;
	} else {
		op_set_input(op, i, graph_constant(g, op, name, value));
	}
}

static Tensor *copy(Arena *a, const Tensor *t)
{
	Tensor *c = tensor_create(a, t->dtype, t->shape);
	if (t->splat)
		for (int64_t i = 0, n = tensor_count(t); i < n; i++)
			memcpy((char *)(uintptr_t)c->data + i * type_info[t->dtype].bytes,
			       t->data, type_info[t->dtype].bytes);
	else
		memcpy((void *)(uintptr_t)c->data, t->data, (size_t)tensor_bytes(t));
	return c;
}

Tensor *rewrite_writable(Graph *g, Op *op, int i, const char *name)
{
	Op *constant = op_in(op, i);
	Tensor *t = rewrite_value(g, constant);
	if (!t || (op_has_one_use(constant) && t->owned && !t->splat))
		return t;
	t = copy(g->arena, t);
	rewrite_constant(g, op, i, name, t);
	return t;
}

bool rewrite_scalar(Graph *g, const Op *op, double *v)
{
	/* A constant whose elements differ is soon seen; this bounds the rest. */
	enum { MOST = 1 << 16 };
	if (op->kind != OP_CONSTANT || !type_is_float(op->dtype))
		return false;
	const int64_t n = shape_count(op->shape);
	Tensor *t = n > 0 && n <= MOST ? rewrite_value(g, op) : NULL;
	if (!t)
		return false;
	*v = tensor_f64(t, 0);
	for (int64_t i = 1; !t->splat && i < n; i++)
		if (tensor_f64(t, i) != *v)
			return false;
	return true;
}

Act act_of(const Op *op)
{
	Act act = { .kind = op->kind };
	const OpInfo *info = &op_info[op->kind];
	for (int i = 0; i < info->nfields; i++)
		act.param[i] = *ATTR_AT_CONST(&op->attr, &info->fields[i], float);
	return act;
}

static bool act_not_negative(Act act)
{
	switch (act.kind) {
	case OP_RELU:
	case OP_SIGMOID:
	case OP_HARD_SIGMOID:
		return true;
	case OP_CLIP:
		return act.param[1] >= 0; /* max, min */
	default:
		return false;
	}
}

/* Has a window that begins at `first` a tap from 0 to before `size`? */
static bool has_tap(int64_t first, int64_t kernel, int64_t dilation, int64_t size)
{
	const int64_t before = first < 0 ? (-first + dilation - 1) / dilation : 0;
	return before < kernel && first + before * dilation < size;
}

bool pool_windows_reach(const Op *pool, Shape in, Ints pads)
{
	const poolAttr *a = &pool->attr.pool;
	for (int d = 0; d + 2 < in.rank; d++)
		for (int64_t i = 0; i < pool->shape.dim[2 + d]; i++)
			if (!has_tap(i * a->strides.v[d] - pads.v[d], a->kernel.v[d],
				     a->dilations.v[d], in.dim[2 + d]))
				return false;
	return true;
}

bool rewrite_not_negative(const Op *op)
{
	enum { FURTHEST = 8 };
	for (int i = 0; i < FURTHEST; i++) {
		if (op_has_act(op))
			return act_not_negative(op->act);
		switch (op->kind) {
		case OP_MAX_POOL: /* of padding alone is -inf */
			if (!pool_windows_reach(op, op_in(op, 0)->shape, op->attr.pool.pads))
				return false;
			op = op_in(op, 0);
			break;
		case OP_AVG_POOL:
		case OP_GLOBAL_AVG_POOL:
		case OP_GLOBAL_MAX_POOL:
		case OP_IDENTITY:
		case OP_DROPOUT:
		case OP_RESHAPE:
		case OP_TRANSPOSE:
		case OP_SLICE:
		case OP_SELECT_CHANNELS:
		case OP_DEPTH_TO_SPACE:
		case OP_SPACE_TO_DEPTH:
			op = op_in(op, 0);
			break;
		case OP_SOFTMAX:
		case OP_ABS:
		case OP_EXP:
			return true;
		default:
			return op_is(op, ACT) && act_not_negative(act_of(op));
		}
	}
	return false;
}
