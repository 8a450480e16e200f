#include "passes/planner.h"

#include <string.h>

#include "passes/check_plan.h"
#include "passes/choice_check.h"
#include "passes/choice_legal.h"
#include "passes/greedy.h"
#include "passes/plan_dram.h"

/* How often the search is asked again, each time for a hundredth of L1 less. */
enum { MOST_RESOLVED = 4 };

/* Of the way to the least L1 that is enough. */
enum { MOST_HALVES = 7 };

int64_t planner_room(const Target *t, const PlanRequest *r)
{
	const int64_t first = (t->l1_first + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	const int64_t all = (t->l1_end - first) / ALIGN_DRAM * ALIGN_DRAM;
	return r->room && r->room < all ? r->room : all;
}

/* The later level says where. */
static void place_pins(ChoicePlace *to, const Pins *p, const ChoicePlace *from)
{
	for (int f = 0; f < CHOICE_COUNT; f++)
		if (p->fixed >> f & 1)
			to->at[f] = from->at[f];
	if (p->shard != SHARD_ANY)
		to->shard = from->shard;
	if (from->op.file && p->fixed)
		to->op = from->op;
	if (from->tensor.file && p->fixed)
		to->tensor = from->tensor;
}

/* Adds the pins of a level, which may not contradict itself or ask for what cannot be. */
static bool add_level(Planned *p, const ChoiceText *t)
{
	const Plan *bare = p->bare;
	Diag *d = bare->graph->diag;
	if (!plan_pins_check(bare, t->pins, t->where, d))
		return false;
	p->pins = plan_pins_merge(bare, p->pins, t->pins);
	for (int i = 0; i < bare->nsteps; i++)
		place_pins(&p->where[i], &t->pins[i], &t->where[i]);
	return choice_check_pins(bare, p->pins, p->where, d);
}

static bool read_file(Planned *p, const PlanRequest *r)
{
	const Graph *g = p->bare->graph;
	if (!r->file)
		return true;
	p->file = choice_parse(p->bare, g->diag, r->file->name, r->file->text, r->file->size);
	if (!p->file)
		return false;
	p->marked = plan_pins_merge(p->bare, NULL, p->file->pins);
	if (r->whole)
		choice_pin_given(p->bare, p->file);
	if (!r->cores && p->file->cores)
		plan_grid(p->bare, p->file->cores);
	return true;
}

static bool read_line(Planned *p, const PlanRequest *r)
{
	const Graph *g = p->bare->graph;
	if (!r->line)
		return true;
	p->line_wrong = true;
	p->line = choice_parse_lines(p->bare, g->diag, r->line->name, r->line->text,
				     r->line->size);
	if (!p->line)
		return false;
	choice_pin_given(p->bare, p->line);
	p->marked = plan_pins_merge(p->bare, p->marked, p->line->pins);
	if (!add_level(p, p->line))
		return false;
	p->line_wrong = false;
	return true;
}

/* Hints of the model, then the file, then the command line. */
static bool read_pins(Planned *p, const PlanRequest *r)
{
	const Graph *g = p->bare->graph;
	p->where = arena_array(g->arena, ChoicePlace, p->bare->nsteps + 1);
	if (!read_file(p, r))
		return false;
	p->hints = p->pins = plan_pins(p->bare);
	return p->pins && choice_check_pins(p->bare, p->pins, NULL, g->diag)
		&& (!p->file || add_level(p, p->file)) && read_line(p, r);
}

PlanOutcome planner_pins(const Graph *g, const Target *t, const PlanRequest *r, Planned *p)
{
	*p = (Planned){ .request = r, .found.stuck = -1 };
	p->bare = plan_steps(g, t, false);
	if (!p->bare)
		return PLAN_WRONG;
	plan_grid(p->bare, r->cores ? r->cores : (int)(t->grid_cols * t->grid_rows));
	return read_pins(p, r) ? PLANNED : PLAN_WRONG;
}

/* A plan of what was found, with addresses: false if there is no way to pack it. */
static bool place(Planned *p)
{
	int64_t end;
	Range blame;
	p->plan = plan_apply(p->bare, p->choices);
	return place_buffers(p->plan, &end, &blame);
}

/* By local rules: nothing is known of how much better a plan could be. */
static PlanOutcome look_near(Planned *p, int64_t room)
{
	p->found = (Found){ .stuck = -1 };
	p->choices = arena_array(p->bare->graph->arena, Choice, p->bare->nsteps + 1);
	if (!greedy_choices(p->bare, p->pins, room, p->choices) || !place(p))
		return PLAN_NONE;
	p->found.choices = p->choices;
	p->found.time = plan_time(p->plan).all.total;
	return PLANNED;
}

/* The plan of least time in so much L1, with addresses. */
static PlanOutcome look_in(Planned *p, int64_t all)
{
	const PlanRequest *r = p->request;
	SearchOptions o = { .objective = r->objective, .effort = r->effort, .pins = p->pins,
			    .room = all, .dram = DRAM_IF_NEEDED };
	for (p->resolved = 0; p->resolved < MOST_RESOLVED; p->resolved++) {
		const int64_t bound = p->found.bound;
		o.room = (all - p->resolved * (all / 100)) / ALIGN_DRAM * ALIGN_DRAM;
		p->found = search(p->bare, &o);
		if (p->resolved)
			p->found.bound = bound;
		p->choices = p->found.choices;
		if (!p->choices)
			return PLAN_NONE;
		if (place(p))
			return PLANNED;
	}
	return PLAN_NONE;
}

/* In as little L1 as a plan was found for, by halves. */
static PlanOutcome look_small(Planned *p, int64_t all)
{
	Planned best = *p;
	int64_t enough = all, little = 0;
	if (look_in(&best, all) != PLANNED) {
		*p = best;
		return PLAN_NONE;
	}
	for (int i = 0; i < MOST_HALVES; i++) {
		Planned one = *p;
		enough = best.plan->peak < enough ? best.plan->peak : enough;
		const int64_t room = (little + enough) / 2 / ALIGN_DRAM * ALIGN_DRAM;
		if (look_in(&one, room) == PLANNED)
			best = one;
		else
			little = room;
	}
	best.found.bound = 0; /* of time: nothing is known */
	*p = best;
	return PLANNED;
}

static PlanOutcome look_as_it_is(Planned *p)
{
	const int64_t all = planner_room(p->bare->target, p->request);
	switch (p->request->objective) {
	case OBJECTIVE_GREEDY:
		return look_near(p, all);
	case OBJECTIVE_L1:
		return look_small(p, all);
	case OBJECTIVE_TIME:
	case OBJECTIVE_RESHARDS:
		break;
	}
	return look_in(p, all);
}

static bool sent_alone(const Plan *bare, const PlanTensor *t)
{
	bool alone = true;
	for (int i = t->born; i <= t->dies; i++)
		alone &= !plan_reads(&bare->steps[i], t) || !bare->steps[i].out;
	return alone;
}

/* It, or what has its format. */
static bool is_pinned(const Planned *p, const PlanTensor *t)
{
	bool pinned = false;
	for (int i = 0; i < p->bare->ntensors; i++) {
		const PlanTensor *o = p->bare->tensors[i];
		pinned |= o->wide == t->wide && pin_is_fixed(&p->pins[o->born], CHOICE_type);
	}
	return pinned;
}

/* The pins, and bf16 for results that the host alone reads, would be f32 and are not pinned;
 * NULL: there are none. */
static Pins *narrow(const Planned *p)
{
	const Plan *bare = p->bare;
	Pins *pins = arena_array(bare->graph->arena, Pins, bare->nsteps + 1);
	bool any = false;
	memcpy(pins, p->pins, (size_t)bare->nsteps * sizeof *pins);
	for (int i = 0; i < bare->nsteps; i++) {
		const PlanTensor *t = bare->steps[i].out;
		if (!t || t->born != i || choice_tried(bare, t, p->pins) != DEV_F32
		    || !(choice_types(bare, t) & DEV_BF16) || is_pinned(p, t)
		    || !sent_alone(bare, t))
			continue;
		choice_set(&pins[i].value, CHOICE_type, DEV_BF16);
		pins[i].fixed |= 1u << CHOICE_type;
		any = true;
	}
	return any ? pins : NULL;
}

static bool made_in_l1(const Planned *p)
{
	for (int i = 0; i < p->bare->nsteps; i++)
		if (p->bare->steps[i].out && p->choices[i].place == PLACE_DRAM)
			return false;
	return true;
}

/* Results in f32 are not worth tensors in DRAM, or no plan: then they are bf16. */
static PlanOutcome look(Planned *p)
{
	Planned other = *p;
	const PlanOutcome how = look_as_it_is(p);
	if (how == PLANNED && made_in_l1(p))
		return how;
	Pins *own = other.pins;
	other.pins = narrow(&other);
	if (!other.pins || look_as_it_is(&other) != PLANNED
	    || (how == PLANNED && other.found.time >= p->found.time))
		return how;
	other.pins = own;
	*p = other;
	return PLANNED;
}

/* Every field is pinned: nothing is looked for. */
static PlanOutcome settle(Planned *p)
{
	p->settled = true;
	if (!choice_check(p->bare, p->choices, p->where, p->bare->graph->diag))
		return PLAN_WRONG;
	return place(p) ? PLANNED : PLAN_NONE;
}

PlanOutcome planner_run(const Graph *g, const Target *t, const PlanRequest *r, Planned *p)
{
	PlanOutcome how = planner_pins(g, t, r, p);
	if (how != PLANNED)
		return how;
	p->choices = plan_pins_settle(p->bare, p->pins);
	how = p->choices ? settle(p) : look(p);
	if (how != PLANNED)
		return how;
	if (!choice_check(p->bare, p->choices, p->where, g->diag))
		die("what the search chose for '%s' is not legal", g->name);
	if (!plan_pins_kept(p->bare, p->pins, p->choices, p->where, g->diag))
		return PLAN_WRONG;
	p->time = plan_time(p->plan);
	if (p->settled)
		p->found.time = p->found.bound = p->time.all.total;
	if (!check_plan(p->plan, g->diag))
		die("the plan of '%s' breaks its own rules", g->name);
	return PLANNED;
}

PlanOutcome planner_again(Plan *bare, Pins *pins, const PlanRequest *r, Planned *out)
{
	*out = (Planned){ .request = r, .bare = bare, .pins = pins, .found.stuck = -1 };
	out->choices = plan_pins_settle(bare, pins);
	const PlanOutcome how = out->choices ? settle(out) : look(out);
	if (how != PLANNED)
		return how;
	if (!choice_check(bare, out->choices, NULL, bare->graph->diag))
		return PLAN_WRONG;
	out->time = plan_time(out->plan);
	if (out->settled)
		out->found.time = out->found.bound = out->time.all.total;
	return how;
}
