/*
 * What does not fit in L1.
 *
 * A tensor with more rows on a core than routines can address lies in DRAM, and
 * its steps take it in slices (plan_slices.c). Then, until everything fits: of
 * the fullest step, the largest tensor that only waits for a later one waits in
 * DRAM (plan_park.c); if there is none, the largest that the step reads or
 * writes lies in DRAM for good.
 */
#include <string.h>

#include "ir/hint.h"
#include "passes/plan_dram.h"

/* A tensor is taken out of L1 at each turn. */
enum { MOST_TURNS = 1000 };

static bool uses(const Step *s, const PlanTensor *t) { return plan_reads(s, t) || s->out == t; }

/* The step nearest to `from` that uses t, going by `by`. */
static int nearest_use(const Plan *p, const PlanTensor *t, int from, int by)
{
	int i = from + by;
	while (i >= 0 && i < p->nsteps && !uses(&p->steps[i], t))
		i += by;
	return i;
}

static PlanTensor *largest(const Plan *p, int step, bool idle)
{
	PlanTensor *best = NULL;
	for (int i = 0; i < p->ntensors; i++) {
		PlanTensor *t = p->tensors[i];
		const bool lives = t->born <= step && step <= t->dies;
		if (!lives || !plan_can_park(p, t) || idle == uses(&p->steps[step], t)
		    || (!idle && !plan_can_slice(p, t)))
			continue;
		/* What has just come back, or is on its way out, is where it should be. */
		if (idle && (step < t->done || nearest_use(p, t, step, 1) == p->nsteps
			     || p->steps[nearest_use(p, t, step, -1)].kind == STEP_REFILL))
			continue;
		if (!best || t->bytes > best->bytes)
			best = t;
	}
	return best;
}

/* A tensor of which some core would keep more rows than routines can address. */
static PlanTensor *too_high(const Plan *p)
{
	for (int i = 0; i < p->ntensors; i++)
		if (p->tensors[i]->buffer_rows > MAX_BAND_ROWS && plan_can_slice(p, p->tensors[i]))
			return p->tensors[i];
	return NULL;
}

/* Takes one tensor out of L1: one that is too high, or during the fullest step. */
static bool relieve(Plan *p)
{
	const int step = p->peak_step;
	PlanTensor *t = too_high(p);
	if (t) {
		plan_to_dram(p, t);
		return true;
	}
	t = largest(p, step, true);
	if (t) {
		plan_park(p, t, nearest_use(p, t, step, -1), nearest_use(p, t, step, 1), step);
		return true;
	}
	t = largest(p, step, false);
	if (t)
		plan_to_dram(p, t);
	return t != NULL;
}

static bool is_pinned(const Op *op)
{
	const char *place = op_hint(op, "place"), *shard = op_hint(op, "shard");
	return (place && strcmp(place, "dram") == 0) || (shard && strcmp(shard, "dram") == 0);
}

/* Tensors that hints, or the caller, want in DRAM. */
static bool pin(Plan *p, const PlanOptions *o)
{
	bool ok = true;
	for (int i = 0; i < p->ntensors; i++) {
		PlanTensor *t = p->tensors[i];
		const bool hint = is_pinned(t->op);
		if (!hint && !o->slice)
			continue;
		if (plan_can_slice(p, t)) {
			plan_to_dram(p, t);
		} else if (hint) {
			diag_error(p->graph->diag, t->op->loc,
				   "%s '%s': who makes or reads it cannot take it from DRAM in slices",
				   op_info[t->op->kind].name, t->op->name);
			ok = false;
		}
	}
	if (o->park)
		plan_park_all(p);
	return ok;
}

bool plan_dram(Plan *p, int cores, const PlanOptions *o)
{
	if (!pin(p, o))
		return false;
	for (int turn = 0;; turn++) {
		plan_cut(p, cores, o->cut);
		const int whole = p->ntensors;
		plan_slices(p, o->slice, o->single);
		if ((plan_fits(p) && !too_high(p)) || turn == MOST_TURNS)
			break;
		p->ntensors = whole;
		if (!relieve(p)) {
			plan_slices(p, o->slice, o->single);
			break;
		}
	}
	plan_drop_unused(p);
	return plan_place(p);
}
