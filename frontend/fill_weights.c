/*
 * Constants whose data was not found: elided, and by --random-weights filled.
 *
 * A graph need not show what a constant was meant for, so that goes by who
 * reads it.
 */
#include "frontend/weights.h"

Tensor *weights_elided(Arena *a, const char *name, DType dtype, Shape shape)
{
	Tensor *t = arena_new(a, Tensor);
	*t = (Tensor){ .dtype = dtype, .shape = shape, .hash = 14695981039346656037u };
	for (const char *s = name; *s; s++)
		t->hash = (t->hash ^ (unsigned char)*s) * 1099511628211u; /* FNV-1a */
	return t;
}

/* Products that make one element of a transposed convolution's result. */
static int64_t transposed_fan_in(const Op *user, Shape w)
{
	const convAttr *c = &user->attr.conv;
	int64_t n = w.dim[0] / c->groups;
	for (int i = 2; i < w.rank; i++)
		n *= (w.dim[i] + c->strides.v[i - 2] - 1) / c->strides.v[i - 2];
	return n;
}

/* What the constant behind a use, which is not empty, is for. */
static WeightRole role_of(const Use *u, int64_t *fan_in)
{
	static const WeightRole norm[] = {
		WEIGHT_BIAS, WEIGHT_SCALE, WEIGHT_BIAS, WEIGHT_MEAN, WEIGHT_VARIANCE,
	};
	const Op *user = u->user;
	const int i = (int)(u - user->in);

	switch (user->kind) {
	case OP_CONV:
	case OP_LINEAR:
		*fan_in = shape_count(u->def->shape) / u->def->shape.dim[0];
		return i == 1 ? WEIGHT_KERNEL : WEIGHT_BIAS;
	case OP_CONV_TRANSPOSE:
		*fan_in = i == 1 ? transposed_fan_in(user, u->def->shape) : 1;
		return i == 1 ? WEIGHT_KERNEL : WEIGHT_BIAS;
	case OP_MATMUL:
		*fan_in = op_in(user, 0)->shape.dim[op_in(user, 0)->shape.rank - 1];
		return WEIGHT_KERNEL;
	case OP_BATCH_NORM:
	case OP_INSTANCE_NORM:
	case OP_GROUP_NORM:
	case OP_LAYER_NORM:
		return norm[i];
	case OP_MUL:
	case OP_DIV:
		return WEIGHT_SCALE;
	default:
		return WEIGHT_BIAS;
	}
}

void weights_fill(Graph *g, uint64_t seed)
{
	const int64_t most = INT64_C(1) << 31;
	int64_t total = 0;

	for_each_op(op, g) {
		const int64_t count = shape_count(op->shape);
		int64_t fan_in = 1;
		if (op->kind != OP_CONSTANT || op->value->data)
			continue;
		if (op->dtype != TYPE_F32) {
			diag_error(g->diag, op->loc, "constant: --random-weights makes f32, not %s",
				   type_info[op->dtype].name);
			return;
		}
		if (count > most - total) {
			diag_error(g->diag, op->loc, "constant: more than %lld random weights",
				   (long long)most);
			return;
		}
		total += count;
		WeightRole role = count && op->uses ? role_of(op->uses, &fan_in) : WEIGHT_BIAS;
		op->value = weights_random(g->arena, seed, op->name, role, fan_in, op->shape);
	}
}
