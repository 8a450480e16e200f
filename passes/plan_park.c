/*
 * Tensors that wait in DRAM between two of their uses.
 *
 * A step writes what every core owns to DRAM (spill), another one reads what
 * every core keeps into a new buffer (refill). Both may go on beside the step
 * that follows them, if that has nothing to do with the tensor.
 */
#include "passes/plan_dram.h"

static PlanTensor *another(Plan *p, const PlanTensor *t, const char *what, Place place)
{
	PlanTensor *x = plan_add_tensor(p, t);
	x->name = arena_printf(p->graph->arena, "%s.%s%d", t->name, what, x->id);
	x->layout.place = place;
	return x;
}

Step plan_move(Plan *p, StepKind kind, PlanTensor *from, PlanTensor *to, bool beside)
{
	static const Window none = { 1, 1, 1, 0 };
	Part *in = arena_new(p->graph->arena, Part);
	*in = (Part){ from, 0, from->channels };
	return (Step){ .kind = kind, .op = from->op, .in = in, .nin = 1, .out = to,
		       .window = { none, none }, .row_step = 1, .channel_groups = 1,
		       .beside = beside };
}

/* The step with every `from` it reads replaced; lists of parts may be shared. */
static Step reading(Plan *p, Step s, const PlanTensor *from, PlanTensor *to)
{
	Part *in = arena_array(p->graph->arena, Part, s.nin + 1);
	for (int k = 0; k < s.nin; k++) {
		in[k] = s.in[k];
		if (in[k].tensor == from)
			in[k].tensor = to;
	}
	s.in = in;
	return s;
}

bool plan_can_park(const Plan *p, const PlanTensor *t)
{
	return t->layout.place == PLACE_L1 && !t->partial
		&& p->steps[t->born].kind != STEP_CONSTANT;
}

bool plan_reads(const Step *s, const PlanTensor *t)
{
	bool any = false;
	for (int k = 0; k < s->nin; k++)
		any |= s->in[k].tensor == t;
	return any;
}

/* The step beside which one behind `i` goes on, or that is the last before it. */
static int next_real(const Plan *p, int i)
{
	do
		i++;
	while (i < p->nsteps && p->steps[i].beside);
	return i;
}

static int last_real(const Plan *p, int i)
{
	do
		i--;
	while (i >= 0 && p->steps[i].beside);
	return i;
}

PlanTensor *plan_park(Plan *p, PlanTensor *t, int after, int before, int free)
{
	const Step *made = &p->steps[t->born];
	PlanTensor *dram = made->kind == STEP_REFILL ? made->in[0].tensor : NULL;
	const int first = next_real(p, after), last = last_real(p, before);
	const bool beside = free >= 0 && first < free && free < last;
	const int refill = beside ? last : before;
	const bool spill = !dram;
	if (spill)
		dram = another(p, t, "dram", PLACE_DRAM);
	PlanTensor *back = another(p, t, "back", PLACE_L1);
	Step *list = NULL;
	int n = 0;
	for (int i = 0; i < p->nsteps; i++) {
		if (i == refill) {
			const Step s = plan_move(p, STEP_REFILL, dram, back, beside);
			plan_append(p, &list, &n, &s);
		}
		const Step s = i < before ? p->steps[i] : reading(p, p->steps[i], t, back);
		plan_append(p, &list, &n, &s);
		if (i == after && spill) {
			const Step x = plan_move(p, STEP_SPILL, t, dram, beside);
			plan_append(p, &list, &n, &x);
		}
	}
	p->steps = list;
	p->nsteps = n;
	plan_lives(p);
	return back;
}

static bool uses(const Step *s, const PlanTensor *t)
{
	bool any = s->out == t || plan_reads(s, t);
	for (int k = 0; s->slice && k <= s->nin; k++)
		any |= s->slices[k] == t;
	return any;
}

void plan_drop_unused(Plan *p)
{
	int n = 0;
	for (int i = 0; i < p->ntensors; i++) {
		PlanTensor *t = p->tensors[i];
		bool used = false;
		for (int k = 0; k < p->nsteps; k++)
			used |= uses(&p->steps[k], t);
		if (!used)
			continue;
		t->id = n;
		p->tensors[n++] = t;
	}
	p->ntensors = n;
}

void plan_to_dram(Plan *p, PlanTensor *t)
{
	const Step *made = &p->steps[t->born];
	const bool refilled = made->kind == STEP_REFILL;
	PlanTensor *dram = refilled ? made->in[0].tensor : t;
	Step *list = NULL;
	int n = 0;
	dram->layout.place = t->layout.place = PLACE_DRAM;
	for (int i = 0; i < p->nsteps; i++) {
		Step s = p->steps[i];
		if (s.kind == STEP_REFILL && s.out == t)
			continue;
		if (s.kind == STEP_SPILL && plan_reads(&s, t)) { /* it is there already */
			for (int k = i + 1; k < p->nsteps; k++)
				p->steps[k] = reading(p, p->steps[k], s.out, dram);
			continue;
		}
		s = reading(p, s, t, dram);
		plan_append(p, &list, &n, &s);
	}
	p->steps = list;
	p->nsteps = n;
	plan_lives(p);
}

void plan_park_all(Plan *p)
{
	const int all = p->ntensors;
	for (int i = 0; i < all; i++) {
		PlanTensor *t = p->tensors[i];
		if (!plan_can_park(p, t))
			continue;
		for (int after = t->done;;) {
			int use = after + 1;
			while (use < p->nsteps && !plan_reads(&p->steps[use], t))
				use++;
			if (use == p->nsteps)
				break;
			t = plan_park(p, t, after, use, (after + use) / 2);
			after = t->born + 1;
			while (!plan_reads(&p->steps[after], t))
				after++;
		}
	}
}
