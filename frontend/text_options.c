/*
 * What the options say about a graph that was read from text: known inputs,
 * shapes, and numbers for constants whose data was not found.
 */
#include "frontend/text.h"

/* --const: the input becomes a constant in its place. */
static void set_known(Text *t, const KnownInput *known)
{
	Graph *g = t->g;
	Op *op = graph_find(g, known->name);
	char is[TYPE_TEXT], given[TYPE_TEXT];

	if (!op || op->kind != OP_INPUT) {
		diag_error(g->diag, (Loc){ .file = t->file }, "--const: no input '%s'", known->name);
		return;
	}
	const Tensor *v = known->value;
	if (v->dtype != op->dtype || !shape_equal(v->shape, op->shape)) {
		diag_error(g->diag, op->loc, "input is %s, --const gives %s",
			   type_text(is, op->dtype, op->shape),
			   type_text(given, v->dtype, v->shape));
		return;
	}
	Op *constant = graph_constant(g, op, known->name, known->value);
	op_replace_uses(op, constant);
	op_remove(g, op);
	op_rename(g, constant, known->name);
}

/* A text says all its shapes itself: an option may repeat one, not change
 * it. */
static void check_shapes(Text *t)
{
	Diag *d = t->g->diag;
	char is[TYPE_TEXT];
	const Op *only = NULL;
	int inputs = 0;

	for_each_op(op, t->g)
		if (op->kind == OP_INPUT) {
			only = op;
			inputs++;
		}
	for (int i = 0; i < t->opt->nshapes; i++) {
		const ShapeOption *o = &t->opt->shapes[i];
		const Op *op = o->input ? graph_find(t->g, o->input) : inputs == 1 ? only : NULL;
		if (!op || op->kind != OP_INPUT)
			diag_error(d, (Loc){ .file = t->file }, "--input: no input '%s' among %d",
				   o->input ? o->input : "", inputs);
		else if (!shape_equal(op->shape, o->shape))
			diag_error(d, op->loc, "input is %s, which --input cannot make %s",
				   type_text(is, op->dtype, op->shape),
				   shape_text(t->g->arena, o->shape));
	}
	if (t->opt->ndims)
		diag_error(d, (Loc){ .file = t->file }, "no dim '%s': IR text has no named dims",
			   t->opt->dims[0].name);
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

/* --random-weights. A graph that has already been worked on need not show
 * what a constant once was, so this goes by who reads it now. */
static void fill_elided(Text *t)
{
	const int64_t most = INT64_C(1) << 31;
	int64_t total = 0;

	for_each_op(op, t->g) {
		const int64_t count = shape_count(op->shape);
		int64_t fan_in = 1;
		if (op->kind != OP_CONSTANT || op->value->data)
			continue;
		if (op->dtype != TYPE_F32) {
			diag_error(t->g->diag, op->loc, "constant: --random-weights makes f32, not %s",
				   type_info[op->dtype].name);
			return;
		}
		if (count > most - total) {
			diag_error(t->g->diag, op->loc, "constant: more than %lld random weights",
				   (long long)most);
			return;
		}
		total += count;
		WeightRole role = count && op->uses ? role_of(op->uses, &fan_in) : WEIGHT_BIAS;
		op->value = weights_random(t->g->arena, t->opt->seed, op->name, role, fan_in,
					   op->shape);
	}
}

void text_apply_options(Text *t)
{
	for (int i = 0; i < t->opt->nknown; i++)
		set_known(t, &t->opt->known[i]);
	check_shapes(t);
	if (t->opt->random_weights)
		fill_elided(t);
}
