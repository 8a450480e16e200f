/* What random nets have come by, counted: by op, by step, by pin, and by random_covers.def. */
#ifndef TESTS_RANDOM_COVERS_H
#define TESTS_RANDOM_COVERS_H

#include "ir/choice.h"
#include "tests/random_net.h"

typedef enum CoverId {
#define COVER(id, what) COVER_##id,
#include "tests/random_covers.def"
	COVER_COUNT
} CoverId;

typedef struct Covers {
	int ops[OP_COUNT], steps[STEP_COUNT];
	int pins[CHOICE_COUNT + 1], pins_refused[CHOICE_COUNT + 1]; /* the last is shard */
	int seen[COVER_COUNT];
} Covers;

/* A net as it was made, before any pass; what passes left of it; its plan. */
void covers_net(Covers *c, const RandomNet *n);
void covers_graph(Covers *c, const Graph *g);
void covers_plan(Covers *c, const Plan *p);

/* A table; how many rows of it are empty. */
int covers_print(const Covers *c);

#endif
