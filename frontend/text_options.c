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

void text_apply_options(Text *t)
{
	for (int i = 0; i < t->opt->nknown; i++)
		set_known(t, &t->opt->known[i]);
	check_shapes(t);
	if (t->opt->random_weights)
		weights_fill(t->g, t->opt->seed);
}
