/* Variables: where their values come from. */
#include "frontend/nnef_eval.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "frontend/nnef_lower.h"
#include "ir/file.h"

/* 4 GiB of random weights are not what anyone meant. */
enum { MAX_MADE_UP = 1 << 30 };

Value nnef_make_variable(Call *c, const char *label, Shape shape)
{
	Nnef *n = c->n;
	label = arena_printf(n->arena, "%s%s", c->label, label);
	if (!path_stays_inside(label))
		return call_error(c, "label '%s' leads out of the model's folder", label);
	Variable *v = strmap_get(&n->variables, label);
	if (v && !shape_equal(v->shape, shape))
		return call_error(c, "label '%s' is %s here, %s elsewhere", label,
				  shape_text(n->arena, shape), shape_text(n->arena, v->shape));
	if (!v) {
		v = arena_new(n->arena, Variable);
		*v = (Variable){ .label = label, .name = c->want.base, .loc = c->loc,
				 .dtype = c->type, .shape = shape };
		strmap_put(&n->variables, v->label, v);
	}
	return value_variable(v);
}

bool variable_close(Call *c, Variable *v, Shape want)
{
	for (int i = 0; i < v->shape.rank; i++) {
		if (v->shape.dim[i] >= 0)
			continue;
		if (i >= want.rank || want.dim[i] < 0) {
			call_error(c, "dim %d of variable '%s' does not follow from this use", i, v->name);
			v->shape.dim[i] = 1;
			return false;
		}
		v->shape.dim[i] = want.dim[i];
	}
	if (shape_count(v->shape) >= 0)
		return true;
	call_error(c, "variable '%s' has too many elements: %s", v->name,
		   shape_text(c->n->arena, v->shape));
	v->shape = (Shape){ 0 };
	return false;
}

/* The same but for dims of 1. */
static bool same_but_ones(Shape a, Shape b)
{
	int i = 0, k = 0;
	for (;;) {
		while (i < a.rank && a.dim[i] == 1)
			i++;
		while (k < b.rank && b.dim[k] == 1)
			k++;
		if (i == a.rank || k == b.rank)
			return i == a.rank && k == b.rank;
		if (a.dim[i++] != b.dim[k++])
			return false;
	}
}

/* Known only by name, for models read without their weights. */
static Tensor *elided(Nnef *n, const Variable *v)
{
	return weights_elided(n->arena, v->label, v->dtype, v->shape);
}

/* As the type the model declares. */
static Tensor *converted(Nnef *n, const Variable *v, Tensor *t)
{
	if (t->dtype == v->dtype)
		return t;
	if (v->dtype == TYPE_F32 && type_is_float(t->dtype))
		return tensor_to_f32(n->arena, t);
	if (type_is_float(t->dtype) != type_is_float(v->dtype)) {
		nnef_error(n, v->loc, "weight '%s' is %s, the variable is %s", v->label,
			   type_info[t->dtype].name, type_info[v->dtype].name);
		return elided(n, v);
	}
	Tensor *out = tensor_create(n->arena, v->dtype, t->shape);
	for (int64_t i = 0; i < tensor_count(t); i++)
		tensor_set_i64(out, i, tensor_i64(t, i));
	return out;
}

static WeightFile *weight_file(Nnef *n)
{
	if (!n->weights_tried && n->opt->weights)
		n->weights = weights_open(n->arena, n->diag, n->opt->weights);
	n->weights_tried = true;
	return n->weights;
}

/* What to do about it is said once. */
static void miss(Nnef *n, const Variable *v, const char *path)
{
	if (n->weights)
		nnef_error(n, v->loc, "no weight '%s': there is no '%s', and none in '%s'", v->label,
			   path, n->opt->weights);
	else
		nnef_error(n, v->loc, "no weight '%s': there is no '%s'", v->label, path);
	if (!n->weights_missed)
		diag_note(n->diag, (Loc){ .file = v->loc.file }, WEIGHTS_HELP);
	n->weights_missed = true;
}

/* From the file beside the model, the file --weights names, or the generator;
 * elided if it is nowhere, which is reported unless that is asked for. */
static Tensor *load(Nnef *n, const Variable *v, WeightRole role, int64_t fan_in)
{
	const char *path = path_join(n->arena, n->dir, arena_printf(n->arena, "%s.dat", v->label));
	bool own = access(path, F_OK) == 0;
	Tensor *t = NULL;
	if (own) {
		t = dat_read(n->arena, n->diag, v->loc, path);
		if (!t)
			return elided(n, v);
	} else if (weight_file(n)) {
		t = weights_find(n->weights, v->label);
	}
	if (t && !(own ? shape_equal : same_but_ones)(t->shape, v->shape)) {
		nnef_error(n, v->loc, "weight '%s' is %s, the variable is %s", v->label,
			   shape_text(n->arena, t->shape), shape_text(n->arena, v->shape));
		return elided(n, v);
	}
	if (t)
		return converted(n, v, tensor_reshaped(n->arena, t, v->shape));
	if (n->opt->random_weights && v->dtype == TYPE_F32) {
		n->made_up += shape_count(v->shape);
		if (n->made_up <= MAX_MADE_UP)
			return weights_random(n->arena, n->opt->seed, v->label, role, fan_in,
					      v->shape);
		nnef_error(n, v->loc, "random weights would have more than %d elements", MAX_MADE_UP);
		n->made_up = 0;
		return elided(n, v);
	}
	if (!n->opt->no_weights)
		miss(n, v, path);
	return elided(n, v);
}

Op *variable_op(Nnef *n, Variable *v, WeightRole role, int64_t fan_in, Shape shape)
{
	for (int i = 0; i < v->nmade; i++)
		if (shape_equal(v->made[i]->shape, shape))
			return v->made[i];
	if (!v->value)
		v->value = load(n, v, role, fan_in);
	Tensor *t = shape_equal(shape, v->shape) ? v->value
						 : tensor_reshaped(n->arena, v->value, shape);
	Op *op = graph_constant(n->g, NULL, v->name, t);
	op->loc = v->loc;
	op->node = v->label;
	v->made = nnef_grow(n->arena, v->made, v->nmade, &v->cap, sizeof *v->made);
	v->made[v->nmade++] = op;
	return op;
}
