#include "passes/what_if.h"

#include <stdlib.h>
#include <string.h>

#include "passes/choice_legal.h"

enum {
	MOST_OTHERS = CHOICE_COUNT * MOST_NEAR,
	MOST_PRICED = 5000000, /* steps of all plans together */
};

typedef struct Other {
	ChoiceField field;
	int value;
	int64_t time;
} Other;

typedef struct Pricing {
	Trials trials;
	Choice *choices; /* those of the plan but for what is tried */
	int most;        /* values to try of a step */
} Pricing;

/* Sets a field of a step, and of all who make the same tensor if it is the tensor's. */
static void set_field(Pricing *w, int step, ChoiceField f, int value)
{
	const Plan *bare = w->trials.p->bare;
	const PlanTensor *t = bare->steps[step].out;
	if (choice_info[f].who != CHOICE_RESULT || !t) {
		choice_set(&w->choices[step], f, value);
		return;
	}
	for (int i = t->born; i <= t->done; i++)
		if (bare->steps[i].out == t)
			choice_set(&w->choices[i], f, value);
}

/* The plan with another value; `placed`: it has to fit. */
static bool priced(Pricing *w, int step, Other *o, bool placed)
{
	const int was = choice_get(&w->choices[step], o->field);
	set_field(w, step, o->field, o->value);
	const Trial x = trial_choices(&w->trials, w->choices, placed);
	set_field(w, step, o->field, was);
	o->time = x.time;
	return x.how == PLANNED;
}

static int by_time(const void *a, const void *b)
{
	const Other *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->field != y->field)
		return x->field < y->field ? -1 : 1;
	return (x->value > y->value) - (x->value < y->value);
}

/* Fields the step decides itself, and those of the tensor it begins; what weights are
 * rounded to and fidelity are no matter of time alone. */
static bool decides(const Plan *bare, int step, ChoiceField f)
{
	const Step *s = &bare->steps[step];
	return f != CHOICE_phases && f != CHOICE_weights && choice_has(s, f)
		&& (choice_info[f].who != CHOICE_RESULT || s->out->born == step);
}

static WhatIf cheapest(Pricing *w, int step)
{
	const Planned *p = w->trials.p;
	Other v[MOST_OTHERS];
	int n = 0, tried = 0;
	for (int f = 0; f < CHOICE_COUNT; f++) {
		int near[MOST_NEAR];
		if (!decides(p->bare, step, f) || p->pins[step].fixed >> f & 1)
			continue;
		const int count = explain_near(p, step, f, near);
		for (int i = 0; i < count && tried < w->most; i++, tried++) {
			v[n] = (Other){ f, near[i], 0 };
			n += priced(w, step, &v[n], false);
		}
	}
	qsort(v, (size_t)n, sizeof *v, by_time);
	for (int i = 0; i < n; i++)
		if (priced(w, step, &v[i], true))
			return (WhatIf){ trial_spelling(p, v[i].field, v[i].value), v[i].field,
					 v[i].value, v[i].time };
	return (WhatIf){ 0 };
}

WhatIf *what_if(const Planned *p, int *tried)
{
	const int n = p->bare->nsteps;
	WhatIf *v = arena_array(p->bare->graph->arena, WhatIf, n + 1);
	Pricing w = { { .p = p }, arena_array(p->bare->graph->arena, Choice, n + 1),
		      MOST_PRICED / (n * n + 1) + 1 };
	memcpy(w.choices, p->choices, (size_t)n * sizeof *w.choices);
	for (int i = 0; i < n; i++)
		v[i] = cheapest(&w, i);
	*tried = w.trials.count;
	return v;
}
