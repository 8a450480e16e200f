/*
 * From a graph to a plan that can be carried out: the best there is under the cost
 * model, or the one a plan file describes.
 *
 *     Planned p;
 *     const PlanRequest r = { .file = &file };
 *     if (planner_run(graph, target, &r, &p) == PLANNED)
 *             ... p.plan has addresses and was checked; p.time says what it takes
 *
 * Steps (plan_steps), pins of all levels (plan_pins.h), the search (search.h), what
 * follows from it (plan_apply), addresses (place_buffers), and the checker
 * (check_plan.h), which is asked whoever made the plan. If what was found fits byte
 * by byte but not in one piece, the search is asked again for less.
 */
#ifndef PASSES_PLANNER_H
#define PASSES_PLANNER_H

#include "passes/cost_step.h"
#include "passes/plan_pins.h"
#include "passes/search.h"

/* The text of a plan file, or of lines given on the command line. */
typedef struct PlanSource {
	const char *name; /* for messages */
	const char *text;
	size_t size;
} PlanSource;

typedef struct PlanRequest {
	Objective objective;
	int effort;             /* as in SearchOptions; 0: as is usual */
	int cores;              /* 0: as the file says, or all of the target's */
	int64_t room;           /* bytes of L1 to use; 0: all of the target's */
	const PlanSource *file; /* pins with `!`; NULL: none */
	bool whole;             /* every field that the file gives is fixed, `!` or not */
	const PlanSource *line; /* lines without the first, which overrule the file: every
	                         * field is a pin; NULL: none */
} PlanRequest;

typedef struct Planned {
	const PlanRequest *request;
	Plan *bare;
	Pins *hints;       /* of each step of the bare plan: those of the model, */
	ChoiceText *file;  /* of the file as read, or NULL, */
	ChoiceText *line;  /* and of the command line, or NULL; */
	Pins *pins;        /* all levels merged; */
	ChoicePlace *where; /* where file or command line say so */
	Pins *marked;      /* what a plan file has with `!`: of the file, and the command line */
	bool line_wrong;   /* PLAN_WRONG: for what the command line says */
	Choice *choices;   /* of each step of the bare plan */
	bool settled;      /* by pins alone: nothing was searched */
	Found found;       /* how good that is: time, bound, candidates */
	Plan *plan;        /* may be set without addresses if nothing fits */
	PlanTime time;
	int resolved;      /* how often the search was asked again for less room */
} Planned;

typedef enum PlanOutcome {
	PLANNED,
	PLAN_WRONG, /* the model (bare is NULL), a hint, the file or the line: reported */
	PLAN_NONE,  /* nothing fits: not reported; bare, pins and found.stuck are set */
} PlanOutcome;

/* Everything comes from the arena of the graph. */
PlanOutcome planner_run(const Graph *g, const Target *t, const PlanRequest *r, Planned *out);

/* The plan of the same steps for other pins and another request; `bare` is that of *out,
 * and nobody else's. What is not legal is reported. */
PlanOutcome planner_again(Plan *bare, Pins *pins, const PlanRequest *r, Planned *out);

/* The same as far as the pins, which are checked; nothing is looked for. */
PlanOutcome planner_pins(const Graph *g, const Target *t, const PlanRequest *r, Planned *out);

/* Bytes of L1 that buffers may take, of the target or as was asked for. */
int64_t planner_room(const Target *t, const PlanRequest *r);

#endif
