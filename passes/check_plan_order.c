/*
 * The order of steps: what is read has been made, all of it, and every op of the
 * graph has its steps.
 */
#include "passes/check_plan.h"

static bool makes(const Step *s, const PlanTensor *t) { return s->out == t; }

/* The step that finishes a tensor; -1: none makes it. */
static int maker(const Plan *p, const PlanTensor *t)
{
	int last = -1;
	for (int i = 0; i < p->nsteps; i++)
		if (makes(&p->steps[i], t))
			last = i;
	return last;
}

/* Steps that run beside another one start and end with it. */
static void check_inputs(const Checker *c, int i)
{
	const Plan *p = c->p;
	const Step *s = &p->steps[i];
	for (int k = 0; k < s->nin; k++) {
		const PlanTensor *t = s->in[k].tensor;
		const int made = maker(p, t);
		if (made < 0)
			check_step_wrong(c, s, "reads '%s', which no step makes", t->name);
		else
			STEP_RULE(c, s, check_runs_in(p, made) < check_runs_in(p, i),
				  "reads '%s' during step %d, it is not done before the end of step %d",
				  t->name, check_runs_in(p, i), check_runs_in(p, made));
	}
}

static void check_places(const Checker *c, const Step *s)
{
	const char *const place[] = { [PLACE_L1] = "L1", [PLACE_DRAM] = "DRAM" };
	if (s->beside)
		STEP_RULE(c, s, s->kind == STEP_SPILL || s->kind == STEP_REFILL,
			  "only what goes to DRAM or comes from there goes on beside another step");
	if (!step_moves(s))
		return;
	const Place from = s->in[0].tensor->layout.place, to = s->out->layout.place;
	STEP_RULE(c, s, from == (s->kind == STEP_REFILL ? PLACE_DRAM : PLACE_L1)
		  && to == (s->kind == STEP_SPILL ? PLACE_DRAM : PLACE_L1),
		  "goes from %s to %s", place[from], place[to]);
}

/* Rows and column phases of a tensor, each made by one step. */
static void check_made(const Checker *c, const PlanTensor *t)
{
	const Plan *p = c->p;
	const int last = maker(p, t);
	if (last < 0) {
		if (!check_slices_of(c, t))
			check_tensor_wrong(c, t, "no step makes it");
		return;
	}
	const Step *one = &p->steps[last];
	const int rows = one->row_step < t->height ? one->row_step : t->height;
	int steps = 0;
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		if (!makes(s, t))
			continue;
		steps++;
		STEP_RULE(c, s, s->row_step == one->row_step, "makes every %d. row of '%s', step %d every %d.",
			  s->row_step, t->name, last, one->row_step);
		for (int k = 0; k < i; k++)
			STEP_RULE(c, s, !makes(&p->steps[k], t) || p->steps[k].row != s->row
				  || p->steps[k].column_phase != s->column_phase,
				  "makes row %d, column phase %d of '%s', as step %d does", s->row,
				  s->column_phase, t->name, k);
	}
	const int want = one->kind == STEP_CONV ? rows * t->layout.phases : 1;
	TENSOR_RULE(c, t, steps == want, "%d steps make it, its rows and column phases take %d", steps,
		    want);
	TENSOR_RULE(c, t, steps == 1 || !check_in_dram(t), "%d steps write it, and it is in DRAM",
		    steps);
	STEP_RULE(c, one, steps == 1 || !one->slice, "makes a part of '%s' in slices of %d rows",
		  t->name, one->slice);
}

/* Ops whose result is that of others, or some planes of it. */
static bool is_alias(const Op *op)
{
	return op->kind == OP_CAST || op->kind == OP_CONCAT || op->kind == OP_SLICE
		|| op->kind == OP_VIEW;
}

static bool reaches(const Op *op, const Op *from)
{
	for (int i = 0; i < op->nin; i++)
		if (op_in(op, i) == from || (is_alias(op_in(op, i)) && reaches(op_in(op, i), from)))
			return true;
	return false;
}

/* A step reads what its op does, or what other steps of the op made. */
static void check_reaches(const Checker *c, const Step *s)
{
	for (int k = 0; k < s->nin; k++) {
		const Op *from = s->in[k].tensor->op;
		STEP_RULE(c, s, from == s->op || reaches(s->op, from), "reads '%s', which is no input of it",
			  s->in[k].tensor->name);
	}
}

static int image_count(const Plan *p)
{
	int most = 0;
	for (int i = 0; i < p->nsteps; i++)
		most = p->steps[i].image > most ? p->steps[i].image : most;
	return most + 1;
}

static bool has_step(const Plan *p, const Op *op, int image)
{
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		if (s->op == op && s->image == image && !step_moves(s))
			return true;
	}
	return false;
}

/* The step that sends input `from` of an output from a channel on, or NULL. */
static const Step *sender(const Plan *p, const Op *op, int from, int image, int channel)
{
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		if (s->kind == STEP_EDGE_OUT && s->op == op && s->from == from && s->image == image
		    && s->channel == channel)
			return s;
	}
	return NULL;
}

static void check_sent(const Checker *c, const Op *op, int from, int image)
{
	const Op *x = op_in(op, from);
	if (x->kind == OP_VIEW)
		x = op_in(x, 0);
	const int channels = x->shape.rank > 1 ? (int)x->shape.dim[1] : 1;
	int at = 0;
	for (const Step *s; at < channels && (s = sender(c->p, op, from, image, at));)
		at += s->in[0].channels;
	if (at != channels)
		diag_error(c->d, op->loc, "output '%s': %d channels of '%s' are sent, image %d has %d",
			   op->name, at, x->name, image, channels);
}

static void check_ops(const Checker *c)
{
	const int images = image_count(c->p);
	for_each_op(op, c->p->graph) {
		if (op->kind == OP_CONSTANT || is_alias(op))
			continue;
		for (int image = 0; image < images; image++) {
			if (!has_step(c->p, op, image))
				diag_error(c->d, op->loc, "%s '%s': image %d of %d has no step",
					   op_info[op->kind].name, op->name, image, images);
			for (int i = 0; op->kind == OP_OUTPUT && i < op->nin; i++)
				check_sent(c, op, i, image);
		}
	}
}

/* Images that are looped over, times those of a tensor, are all there are. */
static void check_batch(const Checker *c, const Step *s)
{
	const int images = image_count(c->p);
	if (s->kind == STEP_EDGE_IN && s->op->shape.rank == 4)
		STEP_RULE(c, s, s->op->shape.dim[0] == (int64_t)images * s->out->images,
			  "%d times %d images of %d", images, s->out->images,
			  (int)s->op->shape.dim[0]);
}

void check_order(const Checker *c)
{
	for (int i = 0; i < c->p->nsteps; i++) {
		const Step *s = &c->p->steps[i];
		check_inputs(c, i);
		check_places(c, s);
		check_reaches(c, s);
		check_batch(c, s);
	}
	STEP_RULE(c, &c->p->steps[c->p->nsteps - 1], !c->p->steps[c->p->nsteps - 1].beside,
		  "goes on beside the next step, and is the last");
	for (int i = 0; i < c->p->ntensors; i++)
		check_made(c, c->p->tensors[i]);
	check_ops(c);
}
