/*
 * Why a step of a plan is done as it is: what was chosen, where its time and L1 go, and
 * what everything else would have cost.
 *
 *     Explained e;
 *     explain_step(&planned, explain_find(&planned, "enc1.c2.conv"), &e);
 *
 * Prices of alternatives are those of whole plans: each is looked for anew with that
 * one thing fixed and all else free (trial.h). If the search was not exact an
 * alternative may turn out better; it is told as it is.
 */
#ifndef PASSES_EXPLAIN_H
#define PASSES_EXPLAIN_H

#include "passes/trial.h"

/* A field, its value, and those next to it. */
enum { MOST_TRIALS = 8 };
typedef struct ExplainField {
	ChoiceField field;
	int value;
	bool pinned;
	Trial trials[MOST_TRIALS];
	int n;
} ExplainField;

/* What is in L1 while the step runs, of each core. */
typedef struct Resident {
	const char *name; /* of a tensor, or of the step whose weights it is */
	const char *why;  /* "input 0", "result", "weights", ... */
	int64_t bytes;
	uint64_t address;
} Resident;

typedef enum EdgeWay {
	EDGE_WHERE_IT_LIES, EDGE_RESHARDED, EDGE_REFILLED, EDGE_SLICED, EDGE_WAYS,
} EdgeWay;
extern const char *const edge_ways[EDGE_WAYS];

/* How an input is read. */
typedef struct ExplainEdge {
	int part;
	const char *name;
	EdgeWay way;
	int64_t move_time;  /* of the reshard or refill that is for this step alone */
	int64_t halo_bytes; /* rows of other cores, of all cores together */
	int64_t halo_time;
	Trial other;        /* without the reshard; or with one */
} ExplainEdge;

/* A tensor between two uses that are more than a step apart. */
typedef struct ExplainSkip {
	const char *name, *reader;
	int step, part;    /* the later use */
	bool parked, beside, dram;
	int64_t bytes;     /* of L1 while it waits */
	Trial other;       /* parked if it is not, in L1 if it is */
} ExplainSkip;

typedef struct Explained {
	const Planned *p;
	int step;          /* of the bare plan */
	int at;            /* of the plan */
	ExplainField fields[CHOICE_COUNT];
	int nfields;
	Resident *residents; /* largest first */
	int nresidents;
	int64_t used, limit; /* bytes of L1 in the step, and that there are */
	ExplainEdge edges[MAX_STEP_PARTS];
	int nedges;
	ExplainSkip *skips;  /* that the step makes, reads or runs beside */
	int nskips;
	Trial runner_up;   /* the best with another cut, type or place of the result: a search
			    * of its own */
	Trial more_room;   /* with a tenth more L1 */
	int searches;
} Explained;

/* The step of the bare plan with this name, or that makes the tensor, or the first of
 * the op; -1. */
int explain_find(const Planned *p, const char *name);

/* All names that explain_find knows, for suggestions. */
int explain_names(const Planned *p, const char **names);

/* Values of a field beside the one that was chosen: those next to it, the other one, or
 * with one input more or less. */
enum { MOST_NEAR = MAX_STEP_PARTS };
int explain_near(const Planned *p, int step, ChoiceField f, int near[MOST_NEAR]);

/* In the arena of the graph. */
void explain_step(const Planned *p, int step, Explained *e);

/* ---- its parts ---- */

/* Steps of the plan that are those of the bare one. */
int explain_step_of(const Plan *plan, int bare);

/* explain_l1.c */
void explain_l1(Explained *e);

/* explain_edges.c */
void explain_edges(Trials *t, Explained *e);
void explain_skips(Trials *t, Explained *e);

#endif
