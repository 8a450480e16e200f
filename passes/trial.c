#include "passes/trial.h"

#include "ir/file.h"
#include "passes/choice_check.h"
#include "passes/choice_legal.h"
#include "passes/greedy.h"
#include "passes/plan_dram.h"

/* A bare plan that a search may write to, in memory of its own. */
typedef struct Bench {
	Graph graph;
	Target target;
	Diag diag;
	TextFile unread;
	Plan bare;
} Bench;

static PlanTensor *same(const Plan *p, const PlanTensor *t) { return t ? p->tensors[t->id] : NULL; }

static void copy_plan(Bench *b, const Plan *from)
{
	Arena *a = b->graph.arena;
	Plan *p = &b->bare;
	*p = *from;
	p->graph = &b->graph;
	p->target = &b->target;
	p->tensors = arena_array(a, PlanTensor *, from->ntensors + 1);
	for (int i = 0; i < from->ntensors; i++) {
		p->tensors[i] = arena_new(a, PlanTensor);
		*p->tensors[i] = *from->tensors[i];
	}
	p->steps = arena_array(a, Step, from->nsteps + 1);
	for (int i = 0; i < from->nsteps; i++) {
		Step *s = &p->steps[i];
		*s = from->steps[i];
		s->out = same(p, s->out);
		s->in = arena_array(a, Part, s->nin + 1);
		for (int k = 0; k < s->nin; k++) {
			s->in[k] = from->steps[i].in[k];
			s->in[k].tensor = same(p, s->in[k].tensor);
		}
	}
}

/* For so much L1 and so many cores, 0: as the plan has it. */
static void begin(Bench *b, const Planned *p, int64_t room, int cores)
{
	const Target *t = p->bare->target;
	b->graph = *p->bare->graph;
	b->graph.arena = arena_create();
	text_open(&b->unread);
	b->diag = (Diag){ .to = b->unread.f };
	b->graph.diag = &b->diag;
	b->target = *t;
	const int64_t all = planner_room(t, &(PlanRequest){ 0 });
	if (room > all)
		b->target.l1_end += room - all;
	copy_plan(b, p->bare);
	if (cores)
		plan_grid(&b->bare, cores);
}

static void finish(Bench *b)
{
	text_take(&b->unread, b->graph.arena);
	diag_finish(&b->diag);
	arena_destroy(b->graph.arena);
}

/* What is found for a step goes to `found`, if that is not NULL. */
static Trial run(Trials *t, const Pins *pins, int64_t room, int cores, const char *what, int step,
		 Choice *found)
{
	Bench b;
	Planned other;
	PlanRequest r = *t->p->request;
	Trial x = { .what = what };
	if (room)
		r.room = room;
	begin(&b, t->p, r.room, cores);
	x.how = planner_again(&b.bare, plan_pins_merge(&b.bare, pins, NULL), &r, &other);
	if (x.how == PLANNED) {
		x.time = other.time.all.total;
		x.bound = other.found.bound;
		if (found)
			*found = other.choices[step];
	}
	finish(&b);
	t->count++;
	return x;
}

static Pins *nothing(const Trials *t)
{
	return arena_array(t->p->bare->graph->arena, Pins, t->p->bare->nsteps + 1);
}

const char *trial_spelling(const Planned *p, ChoiceField f, int value)
{
	TextFile t;
	text_open(&t);
	fprintf(t.f, "%s=", choice_info[f].key);
	choice_write(t.f, f, value);
	return text_take(&t, p->bare->graph->arena);
}

static void fix(Pins *p, ChoiceField f, int value)
{
	p->fixed |= 1u << f;
	choice_set(&p->value, f, value);
}

/* All other tensors stay where they are; who works in slices has no early weights. */
static void hold_places(const Planned *p, int step, Pins *above)
{
	const Plan *bare = p->bare;
	const PlanTensor *moved = bare->steps[step].out;
	for (int i = 0; i < bare->nsteps; i++) {
		const Step *s = &bare->steps[i];
		if (s->out && s->out != moved)
			fix(&above[i], CHOICE_place, p->choices[s->out->born].place);
		if (choice_has(s, CHOICE_prefetch)
		    && (s->out == moved || plan_reads(s, moved)
			|| choice_is_sliced(bare, p->choices, i)))
			fix(&above[i], CHOICE_prefetch, 0);
	}
}

Trial trial_field(Trials *t, int step, ChoiceField f, int value)
{
	Pins *above = nothing(t);
	if (f == CHOICE_place && value == PLACE_DRAM)
		hold_places(t->p, step, above);
	fix(&above[step], f, value);
	return run(t, plan_pins_merge(t->p->bare, t->p->pins, above), 0, 0,
		   trial_spelling(t->p, f, value), 0, NULL);
}

/* What of a result's value differs. */
static const char *difference(const Planned *p, const Choice *is, const Choice *was)
{
	static const ChoiceField fields[] = { CHOICE_bands, CHOICE_splits, CHOICE_type,
					      CHOICE_place };
	const char *all = "";
	for (int i = 0; i < (int)(sizeof fields / sizeof *fields); i++)
		if (choice_get(is, fields[i]) != choice_get(was, fields[i]))
			all = arena_printf(p->bare->graph->arena, "%s%s%s", all, *all ? " " : "",
				trial_spelling(p, fields[i], choice_get(is, fields[i])));
	return all;
}

Trial trial_other(Trials *t, int step)
{
	Pins *above = nothing(t);
	above[step].barred = &t->p->choices[step];
	Choice found;
	Trial x = run(t, plan_pins_merge(t->p->bare, t->p->pins, above), 0, 0, "another", step,
		      &found);
	if (x.how == PLANNED)
		x.what = difference(t->p, &found, &t->p->choices[step]);
	return x;
}

Trial trial_pins(Trials *t, const Pins *pins, const char *what)
{
	return run(t, pins, 0, 0, what, 0, NULL);
}

Trial trial_room(Trials *t, int64_t room, int cores)
{
	Arena *a = t->p->bare->graph->arena;
	const char *what = !cores ? arena_printf(a, "l1=%lld", (long long)room)
		: !room ? arena_printf(a, "cores=%d", cores)
			: arena_printf(a, "l1=%lld cores=%d", (long long)room, cores);
	return run(t, t->p->pins, room, cores, what, 0, NULL);
}

Trial trial_choices(Trials *t, const Choice *choices, bool placed)
{
	Bench b;
	Trial x = { .how = PLAN_WRONG };
	int64_t end;
	Range blame;
	begin(&b, t->p, 0, 0);
	if (choice_check(&b.bare, choices, NULL, &b.diag)) {
		Plan *p = plan_apply(&b.bare, choices);
		x.how = !placed || place_buffers(p, &end, &blame) ? PLANNED : PLAN_NONE;
		x.time = x.bound = plan_time(p).all.total;
	}
	finish(&b);
	t->count++;
	return x;
}

bool trial_fits(const Trials *t, const Pins *pins, int64_t room, int cores)
{
	Bench b;
	begin(&b, t->p, room, cores);
	Choice *c = arena_array(b.graph.arena, Choice, b.bare.nsteps + 1);
	const bool fits = greedy_choices(&b.bare, pins, room, c);
	finish(&b);
	return fits;
}
