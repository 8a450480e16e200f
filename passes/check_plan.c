#include "passes/check_plan.h"

#include <stdarg.h>
#include <string.h>

void check_tensor_wrong(const Checker *c, const PlanTensor *t, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_error(c->d, t->op->loc, "tensor '%s': %s", t->name, text);
}

void check_step_wrong(const Checker *c, const Step *s, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_error(c->d, s->op->loc, "step %d, %s '%s': %s", (int)(s - c->p->steps),
		   step_names[s->kind], s->op->name, text);
}

const PlanTensor *check_worked_on(const Step *s) { return s->out ? s->out : s->in[0].tensor; }

const Step *check_slices_of(const Checker *c, const PlanTensor *t)
{
	for (int i = 0; i < c->p->nsteps; i++) {
		const Step *s = &c->p->steps[i];
		for (int k = 0; s->slice && k <= s->nin; k++)
			if (s->slices[k] == t)
				return s;
	}
	return NULL;
}

int check_runs_in(const Plan *p, int i)
{
	while (p->steps[i].beside && i + 1 < p->nsteps)
		i++;
	return i;
}

int check_before(const Plan *p, int i)
{
	int last = i - 1;
	while (last >= 0 && p->steps[last].beside)
		last--;
	return last;
}

static Loc anywhere(const Checker *c) { return (Loc){ .file = c->p->graph->name }; }

static void check_grid(const Checker *c)
{
	const Plan *p = c->p;
	const Target *t = p->target;
	if (p->cores < 1 || p->cols < 1 || p->rows < 1 || p->cols > t->grid_cols
	    || p->rows > t->grid_rows || p->cores > p->cols * p->rows
	    || p->cores <= p->cols * (p->rows - 1))
		diag_error(c->d, anywhere(c), "%d cores in a rectangle of %dx%d, %s has %dx%d", p->cores,
			   p->cols, p->rows, t->name, (int)t->grid_cols, (int)t->grid_rows);
	if (p->nsteps < 1)
		diag_error(c->d, anywhere(c), "the plan has no steps");
}

static bool in_plan(const Checker *c, const PlanTensor *t)
{
	bool any = false;
	for (int i = 0; i < c->p->ntensors; i++)
		any |= c->p->tensors[i] == t;
	return any;
}

static void check_tensor_fields(const Checker *c, int index)
{
	const PlanTensor *t = c->p->tensors[index];
	const Layout *l = &t->layout;
	for (int i = 0; i < index; i++)
		TENSOR_RULE(c, t, strcmp(c->p->tensors[i]->name, t->name) != 0,
			    "tensors %d and %d have this name", i, index);
	TENSOR_RULE(c, t, t->channels > 0 && t->height > 0 && t->images > 0 && l->cols > 0,
		    "%d channels of %d x %d, %d images", t->channels, t->height, l->cols, t->images);
	TENSOR_RULE(c, t, l->phases > 0, "%d column phases", l->phases);
	TENSOR_RULE(c, t, l->planes == check_div_up(t->channels, PLANE),
		    "%d planes for %d channels", l->planes, t->channels);
	TENSOR_RULE(c, t, t->row_unit > 0 && t->plane_unit > 0,
		    "bands in units of %d rows, splits of %d planes", t->row_unit, t->plane_unit);
	TENSOR_RULE(c, t, t->cut.bands > 0 && t->cut.splits > 0, "%d bands times %d splits",
		    t->cut.bands, t->cut.splits);
	TENSOR_RULE(c, t, t->shard, "it has no shards");
	TENSOR_RULE(c, t, t->id == index, "it is number %d and says %d", index, t->id);
}

/* How many inputs a kind of step has. */
static Range inputs_of(StepKind kind)
{
	switch (kind) {
	case STEP_EDGE_IN:
	case STEP_CONSTANT:
		return (Range){ 0, 0 };
	case STEP_CONV:
	case STEP_DECONV2:
		return (Range){ 1, MAX_STEP_PARTS };
	case STEP_REDUCE:
		return (Range){ 1, 2 };
	case STEP_BINARY:
	case STEP_PAIR:
		return (Range){ 2, 2 };
	case STEP_NORM:
		return (Range){ 3, 3 };
	case STEP_EDGE_OUT:
	case STEP_MAX_POOL:
	case STEP_LANES:
	case STEP_MIX:
	case STEP_UNARY:
	case STEP_CHANNEL:
	case STEP_SPILL:
	case STEP_REFILL:
	case STEP_RESHARD:
	case STEP_COUNT:
		break;
	}
	return (Range){ 1, 1 };
}

static void check_parts(const Checker *c, const Step *s)
{
	for (int k = 0; k < s->nin; k++) {
		const Part *in = &s->in[k];
		const PlanTensor *t = in->tensor;
		if (!t || !in_plan(c, t)) {
			check_step_wrong(c, s, "part %d is no tensor of the plan", k);
			continue;
		}
		STEP_RULE(c, s, in->plane >= 0 && in->channels > 0
			  && in->plane * PLANE + in->channels <= t->layout.planes * PLANE,
			  "reads channels %d to %d of '%s', which has %d", in->plane * PLANE,
			  in->plane * PLANE + in->channels, t->name, t->channels);
	}
}

static void check_step_fields(const Checker *c, const Step *s)
{
	const Range inputs = inputs_of(s->kind);
	STEP_RULE(c, s, s->nin >= inputs.first && s->nin <= inputs.end,
		  "%d inputs, not %d to %d", s->nin, inputs.first, inputs.end);
	STEP_RULE(c, s, !s->out == (s->kind == STEP_EDGE_OUT), "%s result",
		  s->out ? "it has a" : "it has no");
	STEP_RULE(c, s, !s->out || in_plan(c, s->out), "its result is no tensor of the plan");
	if (s->nin >= 0 && s->nin <= MAX_STEP_PARTS)
		check_parts(c, s);
	for (int axis = 0; axis < 2; axis++) {
		const Window w = s->window[axis];
		STEP_RULE(c, s, w.size > 0 && w.stride > 0 && w.dilation > 0,
			  "a window of %d, stride %d, dilation %d", w.size, w.stride, w.dilation);
	}
	STEP_RULE(c, s, s->row_step > 0 && s->row >= 0 && s->row < s->row_step,
		  "makes row %d of every %d", s->row, s->row_step);
	STEP_RULE(c, s, !s->out || (s->column_phase >= 0
				    && s->column_phase < s->out->layout.phases),
		  "makes column phase %d of %d", s->column_phase,
		  s->out ? s->out->layout.phases : 0);
	STEP_RULE(c, s, s->kind != STEP_MIX || (s->mix && s->row_map), "it has no tables");
	STEP_RULE(c, s, s->kind != STEP_REDUCE || s->row_map, "it has no map of rows");
	STEP_RULE(c, s, s->slice >= 0 && (!s->slice || s->slices), "slices of %d rows", s->slice);
	for (int k = 0; s->slice && s->slices && k <= s->nin; k++)
		STEP_RULE(c, s, !s->slices[k] || in_plan(c, s->slices[k]),
			  "its slice %d is no tensor of the plan", k);
}

void check_fields(const Checker *c)
{
	check_grid(c);
	for (int i = 0; i < c->p->ntensors; i++)
		check_tensor_fields(c, i);
	for (int i = 0; i < c->p->nsteps; i++)
		check_step_fields(c, &c->p->steps[i]);
}

bool check_plan(const Plan *p, Diag *d)
{
	const int before = d->errors;
	const Checker c = { p, d };
	check_fields(&c);
	if (d->errors != before)
		return false;
	check_tensors(&c);
	check_reads(&c);
	check_weights(&c);
	check_types(&c);
	check_order(&c);
	check_memory(&c);
	return d->errors == before;
}
