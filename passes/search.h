/*
 * The best decisions for a plan under the cost model (cost_step.h): of all legal
 * choices (choice_legal.h) those of least predicted time that fit in L1 at every
 * step.
 *
 * How. Every tensor has a domain of values: cut, format and place. A step's work
 * depends on the value of its result and the formats of its inputs; a tensor's halo
 * and bytes on its own value and those of the steps that read it where it lies. So
 * the net is walked in the order of its steps, keeping for each combination of what
 * later steps will see (values and bytes of live tensors, values promised to readers)
 * the least time (search_walk.c). A lower bound for the rest comes from the tree of
 * main inputs, where L1 has rents instead of a limit (search_bound.c, search_rent.c)
 * and steps are told apart by whether their weights come early (search_shade.c); once
 * few values are left it looks at skips closely (search_side.h). So values and states
 * that cannot be part of anything better than the best plan known are dropped, and
 * nothing else is, unless the work limit is reached; then the best bound of what was
 * dropped is the gap that is reported. The first plans come from narrow walks over few
 * values, and from those near what they find.
 */
#ifndef PASSES_SEARCH_H
#define PASSES_SEARCH_H

#include "ir/choice.h"
#include "passes/plan.h"

typedef enum Objective {
	OBJECTIVE_TIME, OBJECTIVE_RESHARDS, OBJECTIVE_L1,
	OBJECTIVE_GREEDY, /* none: planner_run asks greedy.h instead of a search */
} Objective;

/* May tensors lie in DRAM for good, their steps in slices? If needed: only if nothing is
 * found that makes all of them in L1; what is proved then is proved of such plans. */
typedef enum SearchDram { DRAM_NEVER, DRAM_ALLOWED, DRAM_IF_NEEDED } SearchDram;

typedef struct SearchOptions {
	Objective objective;
	int effort;        /* states a walk looks at, in hundred thousands; 0: as is usual */
	const Pins *pins;  /* of each step, or NULL */
	bool unfiltered;   /* drop no value before the walk: for tests */
	SearchDram dram;
	int64_t room;      /* bytes of L1, or 0: the target's */
} SearchOptions;

typedef struct Found {
	Choice *choices;   /* of each step; NULL: there is no plan */
	int64_t time;      /* predicted, cycles */
	int64_t bound;     /* no plan takes less; equal to time if it is proved best */
	int layouts;               /* values of all tensors, before anything was dropped */
	int left;                  /* after it */
	int fewest, most;          /* values of a tensor before */
	int64_t states;            /* that were looked at */
	bool in_l1;        /* plans with tensors made in DRAM were not looked at */
	bool open;         /* if there is none: not everything was looked at */
	int stuck;         /* if there is none: the step that fits in no way, or -1 */
} Found;

/* The plan is bare; its grid is set. Everything comes from its graph's arena. */
Found search(Plan *bare, const SearchOptions *o);

#endif
