#include "passes/planner.h"

#include "passes/check_plan.h"
#include "passes/choice_check.h"
#include "passes/greedy.h"

/* How often the search is asked again, each time for a hundredth of L1 less. */
enum { MOST_RESOLVED = 8 };

int64_t planner_room(const Target *t, const PlanRequest *r)
{
	const int64_t first = (t->l1_first + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	const int64_t all = (t->l1_end - first) / ALIGN_DRAM * ALIGN_DRAM;
	return r->room && r->room < all ? r->room : all;
}

static ChoiceText *read(const Planned *p, const PlanSource *from, bool all)
{
	ChoiceText *t = choice_parse(p->bare, p->bare->graph->diag, from->name, from->text,
				     from->size);
	if (t && all)
		choice_pin_given(p->bare, t);
	if (t && !plan_pins_check(p->bare, t->pins, t->where, p->bare->graph->diag))
		return NULL;
	return t;
}

/* Hints of the model, then the file, then the command line. */
static bool read_pins(Planned *p)
{
	const PlanRequest *r = p->request;
	p->pins = plan_pins(p->bare);
	if (!p->pins)
		return false;
	if (r->file) {
		p->file = read(p, r->file, r->whole);
		if (!p->file)
			return false;
		p->pins = plan_pins_merge(p->bare, p->pins, p->file->pins);
	}
	if (r->line) {
		const ChoiceText *t = read(p, r->line, true);
		if (!t)
			return false;
		p->pins = plan_pins_merge(p->bare, p->pins, t->pins);
	}
	return true;
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

static bool all_fixed(const Planned *p)
{
	for (int i = 0; i < p->bare->nsteps; i++)
		for (int f = 0; f < CHOICE_COUNT; f++)
			if (choice_has(&p->bare->steps[i], f) && !(p->pins[i].fixed >> f & 1))
				return false;
	return true;
}

/* The plan that pins leave nothing of to look for. */
static PlanOutcome take_pins(Planned *p, int64_t room)
{
	p->found = (Found){ .stuck = -1 };
	p->choices = arena_array(p->bare->graph->arena, Choice, p->bare->nsteps + 1);
	for (int i = 0; i < p->bare->nsteps; i++)
		p->choices[i] = p->pins[i].value;
	if (!choice_check(p->bare, p->choices, p->file ? p->file->where : NULL,
			  p->bare->graph->diag))
		return PLAN_WRONG;
	if (!place(p) || p->plan->peak > room)
		return PLAN_NONE;
	p->found.choices = p->choices;
	p->found.time = p->found.bound = plan_time(p->plan).all.total;
	return PLANNED;
}

static PlanOutcome look(Planned *p)
{
	const PlanRequest *r = p->request;
	const int64_t all = planner_room(p->bare->target, r);
	if (all_fixed(p))
		return take_pins(p, all);
	if (r->objective == OBJECTIVE_GREEDY)
		return look_near(p, all);
	SearchOptions o = { .objective = r->objective, .effort = r->effort, .pins = p->pins,
			    .room = all };
	for (p->resolved = 0; p->resolved < MOST_RESOLVED; p->resolved++) {
		const int64_t bound = p->found.bound;
		o.room = (all - p->resolved * (all / 100)) / ALIGN_DRAM * ALIGN_DRAM;
		p->found = search(p->bare, &o);
		if (!p->found.choices && !o.dram) {
			o.dram = true;
			p->found = search(p->bare, &o);
		}
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

static PlanOutcome plan(const Graph *g, const Target *t, const PlanRequest *r, bool stacked,
			Planned *p)
{
	*p = (Planned){ .request = r };
	p->bare = plan_steps(g, t, stacked);
	if (!p->bare)
		return PLAN_WRONG;
	const int all = (int)(t->grid_cols * t->grid_rows);
	plan_grid(p->bare, r->cores ? r->cores : all);
	if (!read_pins(p))
		return PLAN_WRONG;
	const PlanOutcome how = look(p);
	if (how != PLANNED)
		return how;
	if (!choice_check(p->bare, p->choices, p->file ? p->file->where : NULL, g->diag))
		return PLAN_WRONG;
	p->time = plan_time(p->plan);
	if (!check_plan(p->plan, g->diag))
		die("the plan of '%s' breaks its own rules", g->name);
	return PLANNED;
}

PlanOutcome planner_run(const Graph *g, const Target *t, const PlanRequest *r, Planned *out)
{
	return plan(g, t, r, false, out);
}

PlanOutcome planner_again(Plan *bare, Pins *pins, const PlanRequest *r, Planned *out)
{
	*out = (Planned){ .request = r, .bare = bare, .pins = pins };
	const PlanOutcome how = look(out);
	if (how != PLANNED)
		return how;
	if (!choice_check(bare, out->choices, NULL, bare->graph->diag))
		return PLAN_WRONG;
	out->time = plan_time(out->plan);
	return how;
}
