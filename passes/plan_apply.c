/*
 * From decisions to a plan: moves, shards, buffers and their sizes follow from
 * what was chosen for each step.
 *
 * A part that is parked is spilled behind its last use before and refilled into
 * a buffer that is cut as the step's result is, which later steps read too. A
 * part that is resharded is copied for this step alone.
 */
#include "passes/plan_dram.h"

#include "ir/weight_block.h"

typedef struct Applying {
	const Plan *bare;
	const Choice *choices;
	Plan *p;           /* as far as it is made */
	PlanTensor **at;   /* by id of a bare tensor: which buffer readers find it in now, */
	PlanTensor **dram; /* and where it waits once it was spilled */
	Step **before;     /* moves of each bare step: those in front of it, */
	int *nbefore;
	Step **behind;     /* and those behind it */
	int *nbehind;
	PlanTensor *(*reads)[MAX_STEP_PARTS]; /* what each step reads, part by part */
} Applying;

void plan_set_product(Step *s, const Choice *c)
{
	const int tiles = (int)weight_tiles_of((uint32_t)s->out->channels);
	if (s->kind == STEP_CONV) {
		s->held = c->cout_block;
		s->groups = tiles / s->held;
	}
	s->weights = (DevTypes)c->weights;
	s->phases = c->phases;
	s->stream = (Stream){ .chunk_tiles = c->k_block, .ring = c->ring,
			      .positions = c->act_block, .fetchers = c->fetchers,
			      .early = c->prefetch };
}

/* The first of those that make a tensor says how it is cut. */
static void set_step(Step *s, const Choice *c, bool first)
{
	s->slice = c->slice;
	s->single = c->slice_buffer == SLICE_SINGLE;
	if (!s->out)
		return;
	s->out->cut = (Cut){ c->bands, c->splits };
	s->out->layout.type = (DevTypes)c->type;
	s->out->layout.place = (Place)c->place;
	if (choice_has(s, CHOICE_k_block))
		plan_set_product(s, c);
	if (first && s->kind == STEP_CONV && s->channel_groups == 1)
		s->out->plane_unit = 2 * s->held;
}

/* Bare steps and tensors of their own, with what was chosen. */
static void copy(Applying *a)
{
	const Plan *bare = a->bare;
	Plan *p = a->p;
	p->tensors = NULL;
	p->ntensors = 0;
	for (int i = 0; i < bare->ntensors; i++)
		a->at[i] = plan_add_tensor(p, bare->tensors[i]);
	p->steps = arena_array(p->graph->arena, Step, bare->nsteps + 1);
	for (int i = 0; i < bare->nsteps; i++) {
		p->steps[i] = bare->steps[i];
		if (p->steps[i].out)
			p->steps[i].out = a->at[p->steps[i].out->id];
		const PlanTensor *made = bare->steps[i].out;
		set_step(&p->steps[i], &a->choices[i], made && made->born == i);
	}
}

/* The last step before `step` that makes or reads the tensor. */
static int last_use(const Plan *bare, const PlanTensor *t, int step)
{
	while (--step >= 0)
		if (bare->steps[step].out == t || plan_reads(&bare->steps[step], t))
			break;
	return step;
}

int plan_gap(const Plan *bare, int step, int part)
{
	return step - last_use(bare, bare->steps[step].in[part].tensor, step);
}

bool plan_can_beside(const Plan *bare, int step, int part)
{
	return plan_gap(bare, step, part) >= BESIDE_GAP;
}

bool plan_came_back(const Plan *bare, const Choice *c, int step, const PlanTensor *t)
{
	bool any = false;
	for (int i = t->born; i < step; i++)
		for (int k = 0; k < bare->steps[i].nin; k++)
			any |= bare->steps[i].in[k].tensor == t && c[i].park >> k & 1;
	return any;
}

/* Does choice k of step j spill something right behind step i? */
static bool spills_behind(const Plan *bare, const Choice *c, int i)
{
	for (int j = i + 1; j < bare->nsteps; j++)
		for (int k = 0; k < bare->steps[j].nin; k++)
			if ((c[j].park & ~c[j].beside) >> k & 1
			    && last_use(bare, bare->steps[j].in[k].tensor, j) == i
			    && !plan_came_back(bare, c, j, bare->steps[j].in[k].tensor))
				return true;
	return false;
}

bool plan_can_prefetch(const Plan *bare, const Choice *c, int i)
{
	return i > 0 && !c[i].reshard && !(c[i].park & ~c[i].beside) && !c[i].slice
		&& !spills_behind(bare, c, i - 1);
}

static void add_move(Applying *a, Step **list, int *n, StepKind kind, PlanTensor *from,
		     PlanTensor *to, bool beside)
{
	const Step s = plan_move(a->p, kind, from, to, beside);
	plan_append(a->p, list, n, &s);
}

static PlanTensor *copy_of(Applying *a, const PlanTensor *t, const char *what, Place place)
{
	PlanTensor *x = plan_add_tensor(a->p, t);
	x->name = arena_printf(a->p->graph->arena, "%s.%s%d", t->name, what, x->id);
	x->layout.place = place;
	return x;
}

void plan_recut(PlanTensor *copy, Cut cut)
{
	copy->cut = cut;
	copy->row_unit = 1;
	copy->plane_unit = 2;
}

static void park(Applying *a, int step, const PlanTensor *bare, bool beside)
{
	const int id = bare->id, use = last_use(a->bare, bare, step);
	PlanTensor *t = a->at[id];
	if (!a->dram[id]) {
		a->dram[id] = copy_of(a, t, "dram", PLACE_DRAM);
		Step **list = beside ? &a->before[use + 1] : &a->behind[use];
		int *n = beside ? &a->nbefore[use + 1] : &a->nbehind[use];
		add_move(a, list, n, STEP_SPILL, t, a->dram[id], beside);
	}
	a->at[id] = copy_of(a, t, "back", PLACE_L1);
	plan_recut(a->at[id], a->p->steps[step].out->cut);
	const int at = beside ? step - 1 : step;
	add_move(a, &a->before[at], &a->nbefore[at], STEP_REFILL, a->dram[id], a->at[id], beside);
}

/* What step i reads, and what has to move for that. A tensor it reads twice moves
 * once. */
static void read_parts(Applying *a, int i)
{
	const Step *s = &a->bare->steps[i];
	const Choice *c = &a->choices[i];
	for (int k = 0; k < s->nin; k++) {
		const PlanTensor *t = s->in[k].tensor;
		int same = 0;
		while (s->in[same].tensor != t)
			same++;
		if (same < k) {
			a->reads[i][k] = a->reads[i][same];
			continue;
		}
		if (c->park >> k & 1)
			park(a, i, t, c->beside >> k & 1);
		a->reads[i][k] = a->at[t->id];
		if (!(c->reshard >> k & 1))
			continue;
		PlanTensor *cut = copy_of(a, a->at[t->id], "cut", PLACE_L1);
		plan_recut(cut, a->p->steps[i].out->cut);
		add_move(a, &a->before[i], &a->nbefore[i], STEP_RESHARD, a->at[t->id], cut, false);
		a->reads[i][k] = cut;
	}
}

/* All steps with their moves around them. */
static void string_together(Applying *a)
{
	Plan *p = a->p;
	Step *list = NULL;
	int n = 0;
	for (int i = 0; i < a->bare->nsteps; i++) {
		for (int k = 0; k < a->nbefore[i]; k++)
			plan_append(p, &list, &n, &a->before[i][k]);
		Step s = p->steps[i];
		s.in = arena_array(p->graph->arena, Part, s.nin + 1);
		for (int k = 0; k < s.nin; k++) {
			s.in[k] = a->bare->steps[i].in[k];
			s.in[k].tensor = a->reads[i][k];
		}
		plan_append(p, &list, &n, &s);
		for (int k = 0; k < a->nbehind[i]; k++)
			plan_append(p, &list, &n, &a->behind[i][k]);
	}
	p->steps = list;
	p->nsteps = n;
}

Plan *plan_apply(const Plan *bare, const Choice *choices)
{
	Arena *arena = bare->graph->arena;
	const int n = bare->nsteps;
	Applying a = { .bare = bare, .choices = choices, .p = arena_new(arena, Plan) };
	*a.p = *bare;
	a.at = arena_array(arena, PlanTensor *, bare->ntensors + 1);
	a.dram = arena_array(arena, PlanTensor *, bare->ntensors + 1);
	a.before = arena_array(arena, Step *, n + 1);
	a.behind = arena_array(arena, Step *, n + 1);
	a.nbefore = arena_array(arena, int, n + 1);
	a.nbehind = arena_array(arena, int, n + 1);
	a.reads = arena_alloc(arena, sizeof *a.reads * (size_t)(n + 1));
	copy(&a);
	for (int i = 0; i < n; i++)
		read_parts(&a, i);
	string_together(&a);
	plan_lives(a.p);
	plan_shards(a.p);
	for (int i = 0; i < a.p->nsteps; i++)
		if (plan_is_sliced(&a.p->steps[i]))
			plan_slice_buffers(a.p, i);
	return a.p;
}
