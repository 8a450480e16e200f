/*
 * The walk over the steps, and the bounds that keep it short. See search.h.
 */
#ifndef PASSES_SEARCH_WALK_H
#define PASSES_SEARCH_WALK_H

#include "passes/search_space.h"

/* Fills `least` of every value; values that can be made in no way are dead. */
void bound_least(Space *s);

/* More than any plan takes, in sums of many too. */
static const int64_t NO_WAY = (int64_t)1 << 50;

/* What a child takes beside `least` if it and its parent have these values; the same
 * if it reads its parent so (READ_COPIED, ...). */
int64_t bound_edge(Space *s, int child, int from, int to);
int64_t bound_read(Space *s, int child, int from, int to, int how);

/* `least` of a tensor if its weights cannot come early. */
int64_t bound_late(Space *s, int tensor, int value);

/* Below tensor x, itself included, by its value: if `below` has value y. It hangs below
 * x. For use until the next bound_tree. */
const int64_t *bound_given(Space *s, int x, int below, int y);

/* Tensor x, not made yet, and what is below: its parent has value `from` and is read
 * so; if `below` is a tensor that has value y. */
int64_t bound_below(Space *s, int x, int from, int how, int below, int y);

/* What is paid later for a part that is not the main one, read so. */
int64_t bound_side(Space *s, int step, int part, int from, int how);

/* The least of a list over the values that are not dead. */
int64_t bound_min(const TensorSpace *x, const int64_t *of);

/* Fills `up`; no plan of values that are not dead takes less than it returns. */
int64_t bound_tree(Space *s);

/* Values that only plans of at least `most` have are dead; the bound of what is
 * left. */
int64_t bound_filter(Space *s, int64_t most);

typedef struct Walk {
	int64_t time;    /* of the best plan found, or what was to be beaten */
	int64_t dropped; /* the best bound of what was dropped for want of room */
	int64_t states;
	bool found;
	int stuck;       /* the step behind which no state was left, or -1 */
} Walk;

/* The best plan of values that are not dead, better than `most`, with at most `width`
 * states behind each step. Fills `choices` if it finds one. */
Walk walk(Space *s, int64_t most, int width, int64_t reshard_price, Choice *choices);

/* ---- its parts: search_ways.c ---- */

/* A state before a step, as numbers: config of the step that was asked for ahead or
 * -1; then for each live tensor its value, bytes / ALIGN_DRAM, whether it was spilled,
 * and how each of its readers that are left reads it. */
typedef struct Live {
	int tensor;
	int at;      /* of its numbers */
	int done;    /* readers that are behind us */
} Live;

/* A tensor that is not made yet and hangs below a live one; values that may be promised
 * to it and to those below, with the numbers that say so, from the top down. */
typedef struct Slot {
	int tensor, at;
} Slot;
typedef struct Pending {
	int tensor;
	int value, how; /* numbers of the one it hangs below */
	Slot *slots;
	int n;
} Pending;

/* Reads of a live tensor that are not of a main part. */
typedef struct Side {
	int step, part;
	int value, how; /* numbers */
} Side;

typedef struct Level {
	Live *live;
	int n;
	int words;   /* of a state */
	Pending *pending;
	int npending;
	Side *sides;
	int nsides;
	int64_t rest; /* bound of what hangs below none: later inputs, host edges out */
} Level;

enum { LIVE_VALUE, LIVE_BYTES, LIVE_SPILLED, LIVE_READS };

Level *walk_levels(Space *s);

/* The value promised to a tensor that is not made yet, or of one that is; -1: none. */
int walk_promised(const Space *s, const Level *l, const int *state, int tensor);

/* How reader `step` of a live tensor reads it. */
int walk_reads(const Space *s, const Live *t, const int *state, int step);

const Live *walk_live(const Level *l, int tensor);

/* Does it hang below the other, or is it that one? */
bool walk_is_below(const Space *s, int tensor, int above);

/* ---- and search_nodes.c: what is behind a step ---- */

/* A state behind a step, and how it came about. */
typedef struct Node {
	int64_t time, bound;
	int parent, order;
	int value;              /* of the step's result */
	const Config *config;
	int *state;             /* before the next step */
} Node;

typedef struct Nodes {
	Node *v;
	int n;
} Nodes;

typedef struct Making Making;

typedef struct Walker {
	Space *s;
	Level *levels;
	int64_t most;           /* to be beaten */
	int64_t reshard_price;  /* added for each, to have few of them */
	Walk *result;
	int step;
	Nodes next;
	IntMap seen;            /* states behind this step: order + 1 in `next` */
	int64_t left;           /* buffers that may still be priced in this step */
	const Node *from;
	int from_index;
	Arena *scratch;         /* of this step */
	int width;
	int64_t limit;          /* bounds from here on are dropped: enough are better */
	Making *making;
	int *saved, *readers;   /* room to work in */
} Walker;

/* A state in the making. */
struct Making {
	int value;
	int64_t time;           /* up to and with this step, but for its work */
	int64_t work;           /* which is no less than this */
	int64_t bytes;          /* in L1 during it, but for its own */
	int parts[MAX_STEP_PARTS]; /* values of its parts */
	const Configs *configs;
	const Config *ahead;    /* the way that was asked for ahead, or NULL */
	int *state;             /* behind it */
};

/* No plan from this state before a step on takes less. */
int64_t walk_to_come(const Walker *w, int step, const int *state);

/* A state behind the step at hand, unless it is known to be no use. */
void walk_push(Walker *w, const Making *m, int64_t time, const Config *config);

/* The best of the step at hand, in an arena that outlives it; best first. */
Nodes walk_keep(Walker *w);

/* What was left out of the walk takes at least this. */
void walk_drop(Walker *w, int64_t bound);

#endif
