/*
 * What a frame costs with every way of weights.
 *
 * Why one way may be left out for another that is no worse in bytes of its pages, bytes
 * of pages and sums, work, and time for pages to come, whatever the rest of the plan:
 *
 *  - Pages live in their own step and, if they come early, in the one before it; sums
 *    in their own. So no step has more bytes alive.
 *  - The time has these terms in it: work, max(0, fetch - work of the step before) if
 *    they come early, and max(0, fetch of the next - work) if those of the next step
 *    do. The first and third together are max(work, fetch of the next), so that the sum
 *    grows with work and with fetch.
 *
 * If moves go beside the step there is max(0, moves - work) as well, and the sum may
 * fall while work grows: in a frame with such moves the work has to be the same.
 */
#include <assert.h>
#include <string.h>

#include "passes/choice_check.h"
#include "passes/choice_legal.h"
#include "tests/every_plan.h"

enum { MOST_STEPS = 4 * EVERY_STEPS, CHECK_ONE_IN = 256 };

/* A way of the weights of a step; of the choice only fields of weights and prefetch count. */
typedef struct Local {
	Choice c;
	int64_t pages, all; /* bytes of its pages, with its sums */
	int64_t work, fetch;
} Local;

typedef struct Locals {
	Local *v;
	int n;
} Locals;

/* The plan of a frame, and what of it does not depend on the ways of weights. */
typedef struct Priced {
	EveryPlan *e;
	Plan *p;
	int64_t halos;
	int64_t alone[MOST_STEPS];  /* of each step that is not beside others */
	int64_t moves[MOST_STEPS];  /* beside it */
	int64_t bytes[MOST_STEPS];
	int before[MOST_STEPS];     /* the last step that is not beside others; -1 */
	int products[EVERY_STEPS], bare[EVERY_STEPS], nproducts; /* steps of both plans */
	const Locals *locals[EVERY_STEPS];
	const Local *chosen[EVERY_STEPS];
	bool beside;
} Priced;

static int64_t aligned(int64_t n) { return (n + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM; }

/* ---- ways of weights ---- */

static bool no_worse(const Local *a, const Local *b, bool beside)
{
	return a->pages <= b->pages && a->all <= b->all && a->fetch <= b->fetch
		&& (beside ? a->work == b->work : a->work <= b->work);
}

static void add_local(Priced *x, Locals *l, const Step *like, const Choice *c)
{
	EveryPlan *e = x->e;
	Step s = *like;
	plan_set_product(&s, c);
	plan_size_step(x->p, &s);
	Local one = { .c = *c, .pages = aligned(s.weight_bytes) };
	one.all = one.pages + aligned(s.stream.sums_bytes);
	one.work = cost_work(&e->cost, x->p, &s).total;
	one.fetch = cost_fetch(&e->cost, x->p, &s);
	for (int i = 0; i < l->n; i++)
		if (no_worse(&l->v[i], &one, x->beside))
			return;
	int n = 0;
	for (int i = 0; i < l->n; i++)
		if (!no_worse(&one, &l->v[i], x->beside))
			l->v[n++] = l->v[i];
	Local *v = arena_array(e->arena, Local, n + 1);
	if (n)
		memcpy(v, l->v, (size_t)n * sizeof *v);
	v[n] = one;
	*l = (Locals){ v, n + 1 };
}

static void add_locals(Priced *x, Locals *l, int step, const Step *like, int field)
{
	EveryPlan *e = x->e;
	int values[EVERY_VALUES];
	if (field == WEIGHT_FIELDS) {
		add_local(x, l, like, &e->choices[step]);
		return;
	}
	const Choice saved = e->choices[step];
	const int n = every_values(e, step, every_weight_fields[field], values);
	for (int i = 0; i < n; i++) {
		choice_set(&e->choices[step], every_weight_fields[field], values[i]);
		if (every_allows(e, step, every_weight_fields[field], values[i]))
			add_locals(x, l, step, like, field + 1);
	}
	e->choices[step] = saved;
}

static int form(const PlanTensor *t)
{
	return (int)t->layout.type | (int)t->layout.place << 4 | t->layout.lead << 5;
}

/* By all that cost_work and sizes of weights look at. */
static const Locals *locals_of(Priced *x, int step, const Step *s)
{
	EveryPlan *e = x->e;
	const Choice *c = &e->choices[step];
	enum { FIRST = 9 };
	int key[MAX_STEP_PARTS + FIRST] = { step, c->bands, c->splits, c->cout_block, c->slice,
					    c->slice_buffer, c->prefetch, x->beside,
					    form(s->out) };
	for (int k = 0; k < s->nin; k++)
		key[FIRST + k] = form(s->in[k].tensor);
	Locals *l = intmap_get(&e->locals, key, FIRST + s->nin);
	if (!l) {
		l = arena_new(e->arena, Locals);
		add_locals(x, l, step, s, 0);
		intmap_put(&e->locals, key, FIRST + s->nin, l);
	}
	return l;
}

/* ---- the rest ---- */

static void live(Priced *x, int64_t bytes, int born, int dies)
{
	for (int i = born; i <= dies; i++)
		x->bytes[i] += aligned(bytes);
}

static int64_t move_time(Priced *x, const Step *s)
{
	CostContext *cost = &x->e->cost;
	if (s->kind == STEP_RESHARD)
		return cost_halo(cost, x->p, s->in[0].tensor, s->out);
	if (s->kind == STEP_SPILL)
		return cost_move(cost, x->p, s->in[0].tensor, true);
	return cost_move(cost, x->p, s->out, false);
}

static void size(Priced *x)
{
	const Plan *p = x->p;
	for (int i = 0; i < p->ntensors; i++)
		live(x, p->tensors[i]->bytes, p->tensors[i]->born, p->tensors[i]->dies);
	for (int i = 0, step = -1, last = -1; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		x->before[i] = last;
		last = s->beside ? last : i;
		live(x, s->scratch_bytes, i, i);
		if (step_moves(s))
			continue;
		step++;
		if (choice_has(s, CHOICE_k_block)) {
			x->products[x->nproducts] = i;
			x->bare[x->nproducts++] = step;
		} else {
			live(x, s->weight_bytes, i, i);
			live(x, s->stream.sums_bytes, i, i);
		}
	}
}

static void charge(Priced *x)
{
	const Plan *p = x->p;
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		int to = i;
		while (p->steps[to].beside)
			to++;
		if (s->beside)
			x->moves[to] += move_time(x, s);
		else if (step_moves(s))
			x->alone[i] = x->e->cost.launch + move_time(x, s);
		else if (!choice_has(s, CHOICE_k_block))
			x->alone[i] = cost_work(&x->e->cost, p, s).total;
	}
	for (int i = 0; i < p->ntensors; i++) {
		const Step *made = &p->steps[p->tensors[i]->done];
		if (made->out == p->tensors[i] && !step_moves(made))
			x->halos += cost_halo(&x->e->cost, p, p->tensors[i], p->tensors[i]);
	}
}

/* ---- all together ---- */

static int64_t over(int64_t a, int64_t b) { return a > b ? a - b : 0; }

static int64_t total(const Priced *x)
{
	int64_t alone[MOST_STEPS], sum = x->halos;
	memcpy(alone, x->alone, sizeof alone);
	for (int k = 0; k < x->nproducts; k++)
		alone[x->products[k]] = x->chosen[k]->work;
	for (int i = 0; i < x->p->nsteps; i++)
		if (!x->p->steps[i].beside)
			sum += alone[i] + over(x->moves[i], alone[i]);
	for (int k = 0; k < x->nproducts; k++)
		if (x->chosen[k]->c.prefetch)
			sum += over(x->chosen[k]->fetch, alone[x->before[x->products[k]]]);
	return sum;
}

static int64_t peak(const Priced *x)
{
	int64_t bytes[MOST_STEPS], most = 0;
	memcpy(bytes, x->bytes, sizeof bytes);
	for (int k = 0; k < x->nproducts; k++) {
		const Local *l = x->chosen[k];
		bytes[x->products[k]] += l->all;
		for (int i = x->before[x->products[k]]; i < x->products[k] && l->c.prefetch; i++)
			bytes[i] += l->pages;
	}
	for (int i = 0; i < x->p->nsteps; i++)
		most = bytes[i] > most ? bytes[i] : most;
	return most;
}

static void complete(const Priced *x, Choice *choices)
{
	memcpy(choices, x->e->choices, (size_t)x->e->bare->nsteps * sizeof *choices);
	for (int k = 0; k < x->nproducts; k++)
		for (int f = 0; f < WEIGHT_FIELDS; f++)
			choice_set(&choices[x->bare[k]], every_weight_fields[f],
				   choice_get(&x->chosen[k]->c, every_weight_fields[f]));
}

/* Is it what a plan of these choices has? */
static void check(Priced *x, int64_t time, int64_t bytes)
{
	Choice choices[EVERY_STEPS];
	int64_t need;
	Range blame;
	complete(x, choices);
	assert(choice_check(x->e->bare, choices, NULL, &x->e->quiet));
	Plan *p = plan_apply(x->e->bare, choices);
	assert(plan_time(p).all.total == time);
	place_buffers(p, &need, &blame);
	assert(p->peak == bytes);
	x->e->checked++;
}

/* True if none known is as good. */
static bool remember(const Priced *x, int64_t time, int64_t bytes)
{
	EveryPlan *e = x->e;
	int at = 0, end;
	while (at < e->nbest && e->best[at].time <= time)
		if (e->best[at++].peak <= bytes)
			return false;
	for (end = at; end < e->nbest && e->best[end].peak >= bytes; end++)
		;
	if (e->nbest == e->room) {
		e->room = 2 * e->room + 16;
		e->best = xrealloc(e->best, (size_t)e->room * sizeof *e->best);
	}
	memmove(&e->best[at + 1], &e->best[end], (size_t)(e->nbest - end) * sizeof *e->best);
	e->nbest += at + 1 - end;
	e->best[at].time = time;
	e->best[at].peak = bytes;
	complete(x, e->best[at].choices);
	return true;
}

static void choose(Priced *x, int product)
{
	if (product < x->nproducts) {
		for (int i = 0; i < x->locals[product]->n; i++) {
			x->chosen[product] = &x->locals[product]->v[i];
			choose(x, product + 1);
		}
		return;
	}
	const int64_t time = total(x), bytes = peak(x);
	x->e->plans++;
	if (remember(x, time, bytes) || rng_below(&x->e->rng, CHECK_ONE_IN) == 0)
		check(x, time, bytes);
}

void every_price(EveryPlan *e)
{
	Arena *whole = e->g->arena;
	Priced x = { .e = e };
	e->g->arena = arena_create(); /* plans are many, and forgotten */
	if (choice_check(e->bare, e->choices, NULL, &e->quiet)) {
		x.p = plan_apply(e->bare, e->choices);
		assert(x.p->nsteps <= MOST_STEPS);
		for (int i = 0; i < e->bare->nsteps; i++)
			x.beside |= e->choices[i].beside != 0;
		size(&x);
		charge(&x);
		for (int k = 0; k < x.nproducts; k++)
			x.locals[k] = locals_of(&x, x.bare[k], &x.p->steps[x.products[k]]);
		choose(&x, 0);
	}
	arena_destroy(e->g->arena);
	e->g->arena = whole;
}
