#include "passes/raises.h"

#include <string.h>

#include "ir/file.h"
#include "passes/choice_check.h"
#include "passes/choice_legal.h"
#include "passes/greedy.h"

/* What is raised together, and the way to the next level of it. */
typedef struct Lane {
	ChoiceField field;
	int step;          /* the first of them */
	const bool *steps;
	int to;            /* 0: it is at the top, or may not be raised */
	double gain;       /* noise less */
	Choice *choices;   /* of all steps then */
	int64_t time;
	bool fits;
	int seen;          /* time and choices are from when so many had been raised; -1: never */
} Lane;

typedef struct Walk {
	Accuracy *accuracy;
	const Planned *p;
	const RaiseOptions *o;
	Arena *arena;
	Lane *lanes;
	int nlanes;
	Choice *choices;   /* where the path has come to */
	int64_t time;
	double noise;
	int raised;
	Raise *path;       /* so many raises */
	int64_t *cost;     /* what each took when it was taken */
} Walk;

/* ---- levels ---- */

static int next_type(int now, DevTypes allowed)
{
	static const DevTypes finer[] = { DEV_BFP8_B, DEV_BF16, DEV_F32 };
	bool behind = false;
	for (size_t i = 0; i < sizeof finer / sizeof *finer; i++) {
		if (behind && allowed & finer[i])
			return (int)finer[i];
		behind |= now == (int)finer[i];
	}
	return 0;
}

/* Formats that all tensors of the lane may have. */
static DevTypes types_of(const Plan *bare, const bool *steps)
{
	DevTypes all = DEV_BF16 | DEV_BFP8_B | DEV_F32;
	for (int i = 0; i < bare->nsteps; i++)
		if (steps[i] && bare->steps[i].out->born == i)
			all &= choice_types(bare, bare->steps[i].out);
	return all;
}

static int next_level(const Walk *w, const Lane *l)
{
	const Plan *bare = w->p->bare;
	const int now = choice_get(&w->choices[l->step], l->field);
	if (l->field == CHOICE_type)
		return next_type(now, types_of(bare, l->steps));
	if (l->field == CHOICE_weights)
		return next_type(now, choice_weights(&bare->steps[l->step]));
	const int most = w->o->most_phases, above = choice_word_above(l->field, now);
	return most && above > most ? 0 : above;
}

/* ---- lanes ---- */

/* Steps that make the tensor which begins with this one, or one of the same format
 * (PlanTensor.wide); NULL: one of those begins earlier. */
static const bool *type_steps(const Walk *w, int step)
{
	const Plan *bare = w->p->bare;
	const int wide = bare->steps[step].out->wide;
	bool *steps = arena_array(w->arena, bool, bare->nsteps + 1);
	for (int i = 0; i < bare->nsteps; i++) {
		const PlanTensor *t = bare->steps[i].out;
		steps[i] = t && t->wide == wide;
		if (steps[i] && t->born < step)
			return NULL;
	}
	return steps;
}

static bool is_held(const Walk *w, ChoiceField f, const bool *steps)
{
	bool held = f == CHOICE_weights && w->p->bare->graph->all_weights;
	for (int i = 0; i < w->p->bare->nsteps && w->o->held; i++)
		held |= steps[i] && w->o->held[i].fixed >> f & 1;
	return held;
}

static void add_lane(Walk *w, ChoiceField f, int step, const bool *steps)
{
	const bool closed = w->o->closed && w->o->closed[step] >> f & 1;
	if (closed || is_held(w, f, steps))
		return;
	Lane *l = &w->lanes[w->nlanes++];
	*l = (Lane){ .field = f, .step = step, .steps = steps, .seen = -1 };
	l->choices = arena_array(w->arena, Choice, w->p->bare->nsteps + 1);
	l->to = next_level(w, l);
	w->nlanes -= l->to == 0;
}

static void find_lanes(Walk *w)
{
	const Plan *bare = w->p->bare;
	w->lanes = arena_array(w->arena, Lane, 3 * bare->nsteps + 1);
	for (int i = 0; i < bare->nsteps; i++) {
		const Step *s = &bare->steps[i];
		const bool *made = s->out && s->out->born == i ? type_steps(w, i) : NULL;
		bool *one = arena_array(w->arena, bool, bare->nsteps + 1);
		one[i] = true;
		if (made)
			add_lane(w, CHOICE_type, i, made);
		if (choice_has(s, CHOICE_weights))
			add_lane(w, CHOICE_weights, i, one);
		if (choice_has(s, CHOICE_phases))
			add_lane(w, CHOICE_phases, i, one);
	}
}

/* ---- what a raise brings and takes ---- */

static void set_level(const Walk *w, const Lane *l, Choice *choices)
{
	for (int i = 0; i < w->p->bare->nsteps; i++)
		if (l->steps[i])
			choice_set(&choices[i], l->field, l->to);
}

static void start_from_here(const Walk *w, const Lane *l, Choice *choices)
{
	memcpy(choices, w->choices, (size_t)w->p->bare->nsteps * sizeof *choices);
	set_level(w, l, choices);
}

static void see_gain(const Walk *w, Lane *l, Choice *scratch)
{
	start_from_here(w, l, scratch);
	l->gain = w->noise - accuracy_noise(w->accuracy, w->p->bare, scratch);
}

static bool is_legal(const Plan *bare, const Choice *choices)
{
	TextFile unread;
	text_open(&unread);
	Diag d = { .to = unread.f };
	const bool ok = choice_check(bare, choices, NULL, &d);
	text_take(&unread, bare->graph->arena);
	return ok;
}

/* The plan of these choices if it fits; its time, or -1. */
static int64_t time_if_fits(const Plan *bare, const Choice *choices, int64_t room)
{
	int64_t end;
	Range blame;
	if (!is_legal(bare, choices))
		return -1;
	Plan *p = plan_apply(bare, choices);
	const bool fits = place_buffers(p, &end, &blame) && p->peak <= room;
	return fits ? plan_time(p).all.total : -1;
}

/* With larger weights pages may be none any more that weights can come in. */
static void forget_pages(const Walk *w, const Lane *l, Choice *choices)
{
	for (int i = 0; i < w->p->bare->nsteps && l->field == CHOICE_weights; i++)
		if (l->steps[i])
			choices[i].k_block = choices[i].ring = choices[i].act_block = 0;
}

/* In memory of its own. */
static int64_t time_of(const Walk *w, const Choice *choices)
{
	Graph graph = *w->p->bare->graph;
	Plan bare = *w->p->bare;
	graph.arena = arena_create();
	bare.graph = &graph;
	const int64_t room = planner_room(bare.target, w->p->request);
	const int64_t time = time_if_fits(&bare, choices, room);
	arena_destroy(graph.arena);
	return time;
}

static void see_time(Walk *w, Lane *l)
{
	const int64_t room = planner_room(w->p->bare->target, w->p->request);
	Graph graph = *w->p->bare->graph;
	Plan bare = *w->p->bare;
	graph.arena = arena_create();
	bare.graph = &graph;
	start_from_here(w, l, l->choices);
	l->time = time_if_fits(&bare, l->choices, room);
	if (l->time < 0) {
		forget_pages(w, l, l->choices);
		if (greedy_repair(&bare, w->p->pins, room, l->choices))
			l->time = time_if_fits(&bare, l->choices, room);
	}
	l->fits = l->time >= 0;
	l->seen = w->raised;
	arena_destroy(graph.arena);
}

/* ---- the path ---- */

/* Time for noise: what brings something for nothing comes first, what brings nothing late,
 * what does not fit last; the order is the same everywhere. */
static bool is_better(const Walk *w, const Lane *a, const Lane *b)
{
	if (a->fits != b->fits)
		return a->fits;
	if ((a->gain > 0) != (b->gain > 0))
		return a->gain > 0;
	const double ca = a->time > w->time ? (double)(a->time - w->time) : 0;
	const double cb = b->time > w->time ? (double)(b->time - w->time) : 0;
	const double pa = a->gain > 0 ? ca * b->gain : ca, pb = a->gain > 0 ? cb * a->gain : cb;
	if (pa != pb)
		return pa < pb;
	if (a->gain != b->gain)
		return a->gain > b->gain;
	return a->step != b->step ? a->step < b->step : a->field < b->field;
}

/* Prices of some raises ago will do for those that are too dear at them. */
static Lane *cheapest(Walk *w)
{
	for (;;) {
		Lane *best = NULL;
		for (int i = 0; i < w->nlanes; i++) {
			Lane *l = &w->lanes[i];
			if (!l->to)
				continue;
			if (l->seen < 0)
				see_time(w, l);
			if (!best || is_better(w, l, best))
				best = l;
		}
		if (!best || best->seen == w->raised)
			return best;
		see_time(w, best);
	}
}

/* What weights come with, unless somebody said so. */
static int kept_phases(const Walk *w, const Lane *l)
{
	const bool held = w->o->held && w->o->held[l->step].fixed >> CHOICE_phases & 1;
	return l->field == CHOICE_weights && !held ? w->choices[l->step].phases : 0;
}

static void go(Walk *w, Lane *l)
{
	const Raise r = {
		.field = l->field, .step = l->step, .steps = l->steps,
		.was = choice_get(&w->choices[l->step], l->field), .to = l->to,
		.phases = kept_phases(w, l),
		.fits = l->fits, .noise = w->noise - l->gain, .time = l->time,
	};
	const int64_t more = l->time - w->time;
	memcpy(w->choices, l->choices, (size_t)w->p->bare->nsteps * sizeof *w->choices);
	w->noise = r.noise;
	w->time = r.time;
	w->path[w->raised] = r;
	w->cost[w->raised++] = more;
	for (int i = 0; i < w->nlanes; i++)
		w->lanes[i].time += more;
	l->seen = -1;
	l->to = next_level(w, l);
}

/* ---- back ---- */

/* Is it the highest level of its field on the path? */
static bool is_last(const Walk *w, int i)
{
	bool last = true;
	for (int k = i + 1; k < w->raised; k++)
		last &= w->path[k].field != w->path[i].field || w->path[k].step != w->path[i].step;
	return last;
}

/* The choices without a raise, and the noise then. */
static double without(const Walk *w, int i, Choice *choices)
{
	const Raise *r = &w->path[i];
	const Lane l = { .field = r->field, .steps = r->steps, .to = r->was };
	start_from_here(w, &l, choices);
	return accuracy_noise(w->accuracy, w->p->bare, choices);
}

/* The one whose time is the most for the noise that comes back, if there is room for
 * that; -1: none. */
static int dearest(const Walk *w, const bool *kept, Choice *scratch)
{
	int best = -1;
	double most = 0;
	for (int i = 0; i < w->raised; i++) {
		if (kept[i] || w->cost[i] <= 0 || !is_last(w, i))
			continue;
		const double noise = without(w, i, scratch), more = noise - w->noise;
		const double price = (double)w->cost[i] / (more > 0 ? more : 1e-12);
		if (noise <= w->o->noise && (best < 0 || price > most)) {
			best = i;
			most = price;
		}
	}
	return best;
}

static void take_off(Walk *w, int i, bool *kept, const Choice *choices, double noise, int64_t time)
{
	const double more = noise - w->noise;
	const int64_t less = w->time - time;
	memcpy(w->choices, choices, (size_t)w->p->bare->nsteps * sizeof *choices);
	w->noise = noise;
	w->time = time;
	w->raised--;
	for (int k = i; k < w->raised; k++) {
		w->path[k] = w->path[k + 1];
		w->cost[k] = w->cost[k + 1];
		kept[k] = kept[k + 1];
		w->path[k].noise += more;
		w->path[k].time -= less;
	}
}

/* What came late, as there was no room for it before, may bring more than was wanted: then
 * others are not needed any more. */
static void give_back(Walk *w, Choice *scratch)
{
	bool *kept = arena_array(w->arena, bool, w->raised + 1);
	for (int i; (i = dearest(w, kept, scratch)) >= 0;) {
		const double noise = without(w, i, scratch);
		const int64_t time = time_of(w, scratch);
		if (time >= 0 && time < w->time)
			take_off(w, i, kept, scratch, noise, time);
		else
			kept[i] = true;
	}
}

static Walk begin(Accuracy *a, const Planned *p, const RaiseOptions *o)
{
	Walk w = { .accuracy = a, .p = p, .o = o, .arena = p->bare->graph->arena };
	w.choices = arena_array(w.arena, Choice, p->bare->nsteps + 1);
	memcpy(w.choices, p->choices, (size_t)p->bare->nsteps * sizeof *w.choices);
	w.time = plan_time(plan_apply(p->bare, w.choices)).all.total;
	w.noise = accuracy_noise(a, p->bare, w.choices);
	find_lanes(&w);
	return w;
}

Raise *raise_path(Accuracy *a, const Planned *p, const RaiseOptions *o, int *n)
{
	enum { MOST_LEVELS = 4 };
	Walk w = begin(a, p, o);
	const int most = MOST_LEVELS * w.nlanes;
	w.path = arena_array(w.arena, Raise, most + 1);
	w.cost = arena_array(w.arena, int64_t, most + 1);
	Choice *scratch = arena_array(w.arena, Choice, p->bare->nsteps + 1);
	while (w.raised < most && w.noise > o->noise) {
		for (int i = 0; i < w.nlanes; i++)
			if (w.lanes[i].to)
				see_gain(&w, &w.lanes[i], scratch);
		Lane *l = cheapest(&w);
		if (!l || (!l->fits && w.raised))
			break;
		const bool fits = l->fits;
		go(&w, l);
		if (!fits)
			break;
	}
	if (w.noise <= o->noise)
		give_back(&w, scratch);
	*n = w.raised;
	return w.path;
}

/* Who makes a tensor later follows who began it. */
static void pin(const Plan *bare, int step, ChoiceField f, int value, Pins *pins)
{
	const PlanTensor *t = bare->steps[step].out;
	if (f == CHOICE_type && t->born != step)
		return;
	choice_set(&pins[step].value, f, value);
	pins[step].fixed |= 1u << f;
}

void raise_pin(const Plan *bare, const Raise *r, Pins *pins)
{
	for (int i = r->step; i < bare->nsteps; i++) {
		if (!r->steps[i])
			continue;
		pin(bare, i, r->field, r->to, pins);
		if (r->phases)
			pin(bare, i, CHOICE_phases, r->phases, pins);
	}
}
