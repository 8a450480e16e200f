#include "tests/every_plan.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "passes/choice_check.h"
#include "passes/choice_legal.h"

/* Each behind those that its values depend on. */
static const ChoiceField frame[] = {
	CHOICE_cout_block, CHOICE_bands,  CHOICE_splits, CHOICE_type,    CHOICE_place,
	CHOICE_slice,      CHOICE_slice_buffer,
	CHOICE_weights,    CHOICE_phases, CHOICE_park,
	CHOICE_beside,     CHOICE_reshard, CHOICE_prefetch,
};
const ChoiceField every_weight_fields[WEIGHT_FIELDS] = { CHOICE_k_block, CHOICE_ring,
							 CHOICE_act_block, CHOICE_fetchers };
enum {
	FRAME = sizeof frame / sizeof *frame,
	TRIES = 200, /* to find legal choices at random */
};

bool every_allows(const EveryPlan *e, int step, ChoiceField f, int value)
{
	const Pins *p = &e->pins[step];
	return !(p->fixed >> f & 1) || choice_get(&p->value, f) == value;
}

typedef bool PartRule(const Plan *bare, const Choice *choices, int step, int part);

/* All subsets of the parts that a rule takes and that are in `of`. */
static int subsets(const EveryPlan *e, int step, PartRule *rule, int of, int *values)
{
	int mask = 0, n = 0;
	for (int k = 0; k < e->bare->steps[step].nin; k++)
		if (of >> k & 1 && rule(e->bare, e->choices, step, k))
			mask |= 1 << k;
	for (int set = 0; set <= mask; set++)
		if ((set & ~mask) == 0)
			values[n++] = set;
	return n;
}

/* Those from `first` to `last` in steps of `by` that are legal. */
static int legal(const EveryPlan *e, int step, ChoiceField f, int first, int last, int by,
		 int *values)
{
	const Plan *p = e->bare;
	const Step *s = &p->steps[step];
	const Choice *c = &e->choices[step];
	const PlanTensor *t = s->out ? s->out : s->in[0].tensor;
	int n = 0;
	for (int v = first; v <= last && n < EVERY_VALUES; v += by) {
		bool ok = true;
		Choice with = *c;
		choice_set(&with, f, v);
		if (f == CHOICE_cout_block)
			ok = choice_cout_block_ok(s, v);
		else if (f == CHOICE_splits)
			ok = choice_cut_ok(p, s, (Cut){ c->bands, v }, c->cout_block);
		else if (f == CHOICE_type)
			ok = choice_tried(p, s->out, e->pins) & (unsigned)v;
		else if (f == CHOICE_place)
			ok = v == PLACE_L1 || (e->dram && choice_dram_ok(p, s->out));
		else if (f == CHOICE_slice)
			ok = choice_slice_ok(t, e->choices[t->born].bands, v);
		else if (f == CHOICE_k_block)
			ok = choice_k_block_ok(s, c, v) && choice_pages(s, &with) <= MOST_PAGES;
		else if (f == CHOICE_ring)
			ok = choice_ring_ok(s, c, v);
		else if (f == CHOICE_act_block)
			ok = choice_act_block_ok(s, c, v) && choice_pages(s, &with) <= MOST_PAGES;
		if (ok)
			values[n++] = v;
	}
	assert(n < EVERY_VALUES);
	return n;
}

static int most_k_block(const Step *s, const Choice *c)
{
	int most = 0;
	for (int k = 0; k <= 1 << 10; k++) {
		const Choice with = { .cout_block = c->cout_block, .k_block = k };
		const Step x = choice_product(s, &with);
		if (plan_deepest_block(&x) * step_block_count(&x) >= k)
			most = k;
	}
	return most;
}

static int types(const EveryPlan *e, int step, int *values)
{
	int n = 0;
	for (int type = DEV_BF16; type <= DEV_F32; type <<= 1)
		n += legal(e, step, CHOICE_type, type, type, 1, values + n);
	return n;
}

/* What no search varies. */
static int unvaried(const Step *s, const Pins *p, ChoiceField f)
{
	Choice c = { 0 };
	choice_set_product(s, p, &c);
	return choice_get(&c, f);
}

int every_values(const EveryPlan *e, int step, ChoiceField f, int *values)
{
	const Plan *p = e->bare;
	const Step *s = &p->steps[step];
	const Choice *c = &e->choices[step];
	const PlanTensor *t = s->out ? s->out : s->in[0].tensor;
	const bool shared = choice_info[f].who == CHOICE_RESULT || f == CHOICE_cout_block;
	const Units u = choice_has(s, CHOICE_k_block) ? choice_units(s, c) : (Units){ 0 };
	values[0] = 0;
	if (!choice_has(s, f) && f != CHOICE_slice)
		return 1;
	if (shared && t->born != step) {
		values[0] = choice_get(&e->choices[t->born], f);
		return 1;
	}
	switch (f) {
	case CHOICE_cout_block:
	case CHOICE_splits:
		return legal(e, step, f, 1, p->cores > 4 ? p->cores : 4, 1, values);
	case CHOICE_bands:
		return legal(e, step, f, 1, p->cores < choice_most_cut(s, c->cout_block).bands
			     ? p->cores : choice_most_cut(s, c->cout_block).bands, 1, values);
	case CHOICE_type:
		return types(e, step, values);
	case CHOICE_place:
		return legal(e, step, f, PLACE_L1, PLACE_DRAM, 1, values);
	case CHOICE_slice:
		if (!choice_is_sliced(p, e->choices, step))
			return 1;
		t = choice_sliced(t);
		return legal(e, step, f, t->row_unit, t->height + t->row_unit, t->row_unit, values);
	case CHOICE_slice_buffer:
		values[1] = SLICE_SINGLE;
		return 1 + choice_is_sliced(p, e->choices, step);
	case CHOICE_weights:
	case CHOICE_phases:
		values[0] = unvaried(s, &e->pins[step], f);
		return 1;
	case CHOICE_k_block:
		return legal(e, step, f, 0, most_k_block(s, c), 1, values);
	case CHOICE_ring:
		return legal(e, step, f, 0, 2, 1, values);
	case CHOICE_act_block:
		return legal(e, step, f, 0, u.count * u.hold * TILE, TILE, values);
	case CHOICE_fetchers:
		return legal(e, step, f, 1, choice_most_fetchers(p, c), 1, values);
	case CHOICE_park:
		return subsets(e, step, choice_park_ok, ~0, values);
	case CHOICE_beside:
		return subsets(e, step, choice_beside_ok, c->park, values);
	case CHOICE_reshard:
		return subsets(e, step, choice_reshard_ok, ~c->park, values);
	case CHOICE_prefetch:
		values[1] = 1;
		return 1 + plan_can_prefetch(p, e->choices, step);
	case CHOICE_COUNT:
		break;
	}
	return 0;
}

void every_plan_init(EveryPlan *e, Plan *bare, Graph *g, const Pins *pins, bool dram)
{
	*e = (EveryPlan){ .bare = bare, .g = g, .pins = pins, .dram = dram,
			  .cost = cost_context(bare->target), .arena = arena_create() };
	assert(bare->nsteps <= EVERY_STEPS);
	e->quiet.to = fopen("/dev/null", "w");
	e->rng.state = 1;
	intmap_init(&e->locals, e->arena);
}

void every_plan_finish(EveryPlan *e)
{
	fclose(e->quiet.to);
	arena_destroy(e->arena);
	free(e->best);
}

/* What is decided about weights while the frame is enumerated. */
static void begin_step(EveryPlan *e, int step)
{
	const bool product = choice_has(&e->bare->steps[step], CHOICE_k_block);
	memset(&e->choices[step], 0, (size_t)(e->bare->nsteps - step) * sizeof(Choice));
	e->choices[step].fetchers = product;
}

/* Field `i` of the frame of a step, and all behind it. */
static void enumerate(EveryPlan *e, int step, int i)
{
	if (e->frames > e->most_frames)
		return;
	if (step == e->bare->nsteps) {
		e->frames++;
		if (e->pricing)
			every_price(e);
		return;
	}
	if (i == 0)
		begin_step(e, step);
	if (i == FRAME) {
		enumerate(e, step + 1, 0);
		return;
	}
	int values[EVERY_VALUES];
	const int n = every_values(e, step, frame[i], values);
	const Choice saved = e->choices[step];
	for (int v = 0; v < n; v++) {
		if (!every_allows(e, step, frame[i], values[v]))
			continue;
		e->choices[step] = saved;
		choice_set(&e->choices[step], frame[i], values[v]);
		enumerate(e, step, i + 1);
	}
	e->choices[step] = saved;
	memset(&e->choices[step + 1], 0, (size_t)(EVERY_STEPS - step - 1) * sizeof(Choice));
}

int64_t every_plan_count(EveryPlan *e, int64_t most)
{
	e->frames = 0;
	e->most_frames = most;
	enumerate(e, 0, 0);
	return e->frames;
}

static bool pick(EveryPlan *e, Rng *r, int step, ChoiceField f)
{
	int values[EVERY_VALUES], n = 0;
	const int all = every_values(e, step, f, values);
	for (int i = 0; i < all; i++)
		if (every_allows(e, step, f, values[i]))
			values[n++] = values[i];
	if (n)
		choice_set(&e->choices[step], f, values[rng_below(r, n)]);
	return n > 0;
}

bool every_plan_some(EveryPlan *e, Rng *r, Choice *choices)
{
	for (int t = 0; t < TRIES; t++) {
		bool ok = true;
		for (int s = 0; s < e->bare->nsteps && ok; s++) {
			begin_step(e, s);
			for (int i = 0; i < FRAME; i++)
				ok = ok && pick(e, r, s, frame[i]);
			for (int i = 0; i < WEIGHT_FIELDS; i++)
				ok = ok && pick(e, r, s, every_weight_fields[i]);
		}
		memcpy(choices, e->choices, (size_t)e->bare->nsteps * sizeof *choices);
		if (ok && choice_check(e->bare, choices, NULL, &e->quiet))
			return true;
	}
	return false;
}

void every_plan_all(EveryPlan *e)
{
	e->frames = e->plans = e->checked = 0;
	e->most_frames = INT64_MAX - 1;
	e->nbest = 0;
	e->pricing = true;
	enumerate(e, 0, 0);
	e->pricing = false;
}

const EveryBest *every_plan_within(const EveryPlan *e, int64_t room)
{
	for (int i = 0; i < e->nbest; i++)
		if (e->best[i].peak <= room)
			return &e->best[i];
	return NULL;
}
