#include "passes/explain.h"

#include <string.h>

#include "passes/choice_legal.h"

enum { MOST_VALUES = 128 };

int explain_find(const Planned *p, const char *name)
{
	const Plan *bare = p->bare;
	for (int i = 0; i < bare->nsteps; i++)
		if (strcmp(choice_step_spelling(bare, i), name) == 0)
			return i;
	for (int i = 0; i < bare->nsteps; i++)
		if (strcmp(bare->steps[i].op->name, name) == 0)
			return i;
	return -1;
}

int explain_names(const Planned *p, const char **names)
{
	for (int i = 0; i < p->bare->nsteps; i++)
		names[i] = choice_step_spelling(p->bare, i);
	return p->bare->nsteps;
}

int explain_step_of(const Plan *plan, int bare)
{
	int k = 0;
	for (;; k++)
		if (!step_moves(&plan->steps[k]) && bare-- == 0)
			return k;
}

/* ---- fields ---- */

/* Result fields of a tensor that several steps make are those of the first. */
static int owner(const Plan *bare, int step, ChoiceField f)
{
	const PlanTensor *t = bare->steps[step].out;
	return choice_info[f].who == CHOICE_RESULT && t ? t->born : step;
}

/* Those of a list beside `value`. */
static int beside(const int *values, int n, int value, int *near)
{
	int below = -1, above = -1, found = 0;
	for (int i = 0; i < n; i++) {
		if (values[i] < value && (below < 0 || values[i] > values[below]))
			below = i;
		if (values[i] > value && (above < 0 || values[i] < values[above]))
			above = i;
	}
	if (below >= 0)
		near[found++] = values[below];
	if (above >= 0)
		near[found++] = values[above];
	return found;
}

static int range(int from, int to, int *values)
{
	int n = 0;
	for (int v = from; v <= to && n < MOST_VALUES; v++)
		values[n++] = v;
	return n;
}

static int slices_near(const Planned *p, int step, int value, int *near)
{
	int values[MOST_VALUES];
	const Step *s = &p->bare->steps[step];
	const PlanTensor *t = s->out ? s->out : s->in[0].tensor;
	if (!value)
		return 0;
	const int n = choice_slices(t, p->choices[t->born].bands, values, MOST_VALUES);
	return beside(values, n, value, near);
}

/* Parts that are parked and may move beside others, or may not. */
static int besides_near(const Planned *p, int step, int value, int *near)
{
	int n = 0;
	for (int k = 0; k < p->bare->steps[step].nin; k++)
		if (p->choices[step].park >> k & 1
		    && choice_beside_ok(p->bare, p->choices, step, k))
			near[n++] = value ^ 1 << k;
	return n;
}

static int parts_near(const Planned *p, int step, ChoiceField f, int value, int *near)
{
	int n = 0;
	for (int k = 0; k < p->bare->steps[step].nin; k++)
		if (f == CHOICE_park ? choice_park_ok(p->bare, p->choices, step, k)
				     : choice_reshard_ok(p->bare, p->choices, step, k))
			near[n++] = value ^ 1 << k;
	return n;
}

static int formats(DevTypes set, int *values)
{
	int n = 0;
	for (int type = DEV_BF16; type <= DEV_F32; type <<= 1)
		if (set & (unsigned)type)
			values[n++] = type;
	return n;
}

static int rings(const Step *s, const Choice *c, int *values)
{
	int n = 0;
	for (int ring = 0; ring <= 2; ring++)
		if (choice_ring_ok(s, c, ring))
			values[n++] = ring;
	return n;
}

int explain_near(const Planned *p, int step, ChoiceField f, int near[MOST_NEAR])
{
	const Plan *bare = p->bare;
	const Step *s = &bare->steps[step];
	const Choice *c = &p->choices[step];
	const int value = choice_get(c, f);
	int values[MOST_VALUES] = { 0 }, n = 0, most;
	switch (f) {
	case CHOICE_bands:
		most = choice_most_cut(s, c->cout_block).bands;
		n = range(1, most < bare->cores ? most : bare->cores, values);
		break;
	case CHOICE_splits:
		most = choice_most_cut(s, c->cout_block).splits;
		n = range(1, most < bare->cores ? most : bare->cores, values);
		break;
	case CHOICE_type:
		n = formats(choice_types(bare, s->out), values);
		break;
	case CHOICE_place:
		n = range(PLACE_L1, choice_dram_ok(bare, s->out) ? PLACE_DRAM : PLACE_L1, values);
		break;
	case CHOICE_slice:
		return slices_near(p, step, value, near);
	case CHOICE_slice_buffer:
		n = range(SLICE_DOUBLE, c->slice ? SLICE_SINGLE : SLICE_DOUBLE, values);
		break;
	case CHOICE_cout_block:
		n = choice_cout_blocks(s, values, MOST_VALUES);
		break;
	case CHOICE_weights:
		n = formats(choice_weights(s), values);
		break;
	case CHOICE_phases:
		n = range(1, 4, values);
		break;
	case CHOICE_k_block:
		n = choice_k_blocks(s, c, values, MOST_VALUES);
		break;
	case CHOICE_ring:
		n = rings(s, c, values);
		break;
	case CHOICE_act_block:
		n = choice_act_blocks(s, c, values, MOST_VALUES);
		break;
	case CHOICE_fetchers:
		n = range(1, choice_most_fetchers(bare, c), values);
		break;
	case CHOICE_prefetch:
		n = range(0, plan_can_prefetch(bare, p->choices, step) ? 1 : 0, values);
		break;
	case CHOICE_beside:
		return besides_near(p, step, value, near);
	case CHOICE_reshard:
	case CHOICE_park:
		return parts_near(p, step, f, value, near);
	case CHOICE_COUNT:
		break;
	}
	return beside(values, n, value, near);
}

/* Trials that edges and skips have told already. */
static void add_told(ExplainField *x, const Explained *e)
{
	for (int i = 0; i < e->nedges && x->field == CHOICE_reshard; i++)
		if (e->edges[i].other.what && x->n < MOST_TRIALS)
			x->trials[x->n++] = e->edges[i].other;
	for (int i = 0; i < e->nskips && x->field == CHOICE_park; i++)
		if (e->skips[i].other.what && e->skips[i].step == e->step && x->n < MOST_TRIALS)
			x->trials[x->n++] = e->skips[i].other;
}

static void explain_fields(Trials *t, Explained *e)
{
	const Plan *bare = e->p->bare;
	for (int f = 0; f < CHOICE_COUNT; f++) {
		if (!choice_has(&bare->steps[e->step], f))
			continue;
		ExplainField *x = &e->fields[e->nfields++];
		const int step = owner(bare, e->step, f);
		const Pins *pins = &e->p->pins[step];
		int near[MOST_NEAR];
		*x = (ExplainField){ .field = f, .value = choice_get(&e->p->choices[step], f),
				     .pinned = pins->fixed >> f & 1 };
		const bool told = f == CHOICE_reshard || f == CHOICE_park; /* by edges and skips */
		const int n = told ? 0 : explain_near(e->p, step, f, near);
		for (int i = 0; i < n && x->n < MOST_TRIALS; i++)
			x->trials[x->n++] = trial_field(t, step, f, near[i]);
		add_told(x, e);
	}
}

void explain_step(const Planned *p, int step, Explained *e)
{
	Trials t = { .p = p };
	*e = (Explained){ .p = p, .step = step, .at = explain_step_of(p->plan, step) };
	explain_l1(e);
	explain_edges(&t, e);
	explain_skips(&t, e);
	explain_fields(&t, e);
	if (p->bare->steps[step].out)
		e->runner_up = trial_other(&t, p->bare->steps[step].out->born);
	e->more_room = trial_room(&t, e->limit + e->limit / 10 / ALIGN_DRAM * ALIGN_DRAM, 0);
	e->searches = t.count;
}
