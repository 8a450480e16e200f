/*
 * The time of a finished plan: the sum that cost_step.h says.
 */
#include "passes/cost_parts.h"

/* The step before that is not beside another; -1 if there is none. */
static int before(const Plan *p, int i)
{
	while (--i >= 0 && p->steps[i].beside)
		;
	return i;
}

static int64_t move_time(CostContext *x, const Plan *p, const Step *s)
{
	const bool out = s->kind == STEP_SPILL;
	return cost_move(x, p, out ? s->in[0].tensor : s->out, out);
}

/* A step by itself. */
static StepTime alone(CostContext *x, const Plan *p, const Step *s)
{
	StepTime t = { 0 };
	if (!step_moves(s))
		return cost_work(x, p, s);
	cost_charge(&t, CAUSE_launch, x->launch);
	if (s->kind == STEP_RESHARD)
		cost_charge(&t, CAUSE_halo, cost_halo(x, p, s->in[0].tensor, s->out));
	else
		cost_charge(&t, CAUSE_dram, move_time(x, p, s));
	return t;
}

/* Moves beside step i: what they take longer than its work, charged to the last. */
static void add_beside(CostContext *x, const Plan *p, int i, int64_t work, StepTime *steps)
{
	int64_t moves = 0;
	for (int k = i - 1; k >= 0 && p->steps[k].beside; k--)
		moves += move_time(x, p, &p->steps[k]);
	if (moves > work)
		cost_charge(&steps[i - 1], CAUSE_dram, moves - work);
}

PlanTime plan_time(const Plan *p)
{
	CostContext x = cost_context(p->target);
	PlanTime t = { .steps = arena_array(p->graph->arena, StepTime, p->nsteps + 1) };
	int64_t *work = arena_array(p->graph->arena, int64_t, p->nsteps + 1);
	for (int i = 0; i < p->nsteps; i++) {
		if (p->steps[i].beside)
			continue;
		t.steps[i] = alone(&x, p, &p->steps[i]);
		work[i] = t.steps[i].total;
	}
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		const int last = before(p, i);
		if (s->beside)
			continue;
		add_beside(&x, p, i, work[i], t.steps);
		if (!s->stream.early || last < 0)
			continue;
		const int64_t fetch = cost_fetch(&x, p, s);
		if (fetch > work[last])
			cost_charge(&t.steps[last], CAUSE_weights, fetch - work[last]);
	}
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *of = p->tensors[i];
		const Step *made = &p->steps[of->done];
		if (made->out == of && !step_moves(made))
			cost_charge(&t.steps[of->done], CAUSE_halo, cost_halo(&x, p, of, of));
	}
	for (int i = 0; i < p->nsteps; i++)
		cost_add(&t.all, &t.steps[i], 1);
	return t;
}
