/*
 * The walk over the steps, and the bounds that keep it short. See search.h.
 */
#ifndef PASSES_SEARCH_WALK_H
#define PASSES_SEARCH_WALK_H

#include "passes/search_space.h"

/* Fills `floor` of every value; values that can be made in no way are dead. */
void bound_floor(Space *s);

/* What so many bytes cost from the first step to the last. */
int64_t bound_rent(const Space *s, int first, int last, int64_t bytes);

/* Fills the nodes of all values that are not dead, by the rents. */
void bound_nodes(Space *s);

/* Is all its work known from its value and the types of its inputs? Is it a product by
 * itself, too, so that it has shades? */
bool bound_is_plain(const Space *s, const TensorSpace *x, int value);
bool bound_is_shaded(const Space *s, const TensorSpace *x, int value);

/* Adds the shades of a value to its tensor's; without any it is dead. In order. */
void bound_shades(Space *s, int tensor, int value);

/* The cheapest way to do a step by its time and rent; NULL: there is none. */
const Config *bound_way(Space *s, int step, int value, const int *parts, int64_t *least);

/* From a value of the parent to one of the child; if it is made and read so (READ_COPIED,
 * ...), what is left of that. */
const Link *bound_link(Space *s, int child, int from, int to);
Link bound_read(Space *s, int child, int from, int to, int how);

/* What the child takes beside its shade by such a link, if the step before hides so much;
 * whether the shade may be made from that value. */
int64_t bound_edge(const Space *s, int child, const Link *l, int64_t hides, int shade);
bool bound_takes(const Space *s, int child, int from, int shade);

/* A shade of each tensor that the sum of bound_tree is of, and what it adds to the bytes
 * in use during each step. */
void bound_solution(const Space *s, int *shades);
void bound_uses(Space *s, const int *shades, int64_t *list);

/* Rents with a high bound, looked for in so many rounds from those with `bound`; the
 * bound then, without rent_of_all. `most` is what some plan takes. */
int64_t rent_search(Space *s, int64_t bound, int64_t most, int rounds);

/* Below tensor x, itself included, by its shade: if `below` has value y. It hangs below
 * x. For use until the next bound_tree. */
const int64_t *bound_given(Space *s, int x, int below, int y);

/* What more that is than if nothing were known of `below`, at least, x being of value v. */
int64_t bound_more(Space *s, int x, int v, int below, int y);

/* Tensor x, not made yet, and what is below: its parent has value `from` and is read
 * so; if `below` is a tensor that has value y. */
int64_t bound_below(Space *s, int x, int from, int how, int below, int y);

/* Tensor x of this value, which the next step makes from a main input of this type, and
 * what is below: if its weights came early in that way, or not (NULL). */
int64_t bound_at_hand(Space *s, int x, int value, DevTypes type, const Config *early);

/* The same whatever the step before it is. */
int64_t bound_of(const Space *s, int x, int value);

/* What is paid later for a part that is not the main one, read so; `there`: it has been
 * spilled. */
int64_t bound_side(Space *s, int step, int part, int from, int how, bool there);

/* The least of a list over the values that are not dead; of `up` over their shades. */
int64_t bound_min(const TensorSpace *x, const int64_t *of);
int64_t bound_least(const TensorSpace *x);

/* Fills `up`; no plan of values that are not dead takes less than it returns, less
 * rent_of_all. */
int64_t bound_tree(Space *s);

/* Values that only plans of at least `most`, less rent_of_all, have are dead; the bound
 * of what is left. */
int64_t bound_filter(Space *s, int64_t most);

typedef struct Walk {
	int64_t time;    /* of the best plan found, or what was to be beaten */
	int64_t dropped; /* the best bound of what was dropped for want of room */
	int64_t states;
	bool found;
	bool narrow;     /* fewer states than `width` were kept, to look at no more than allowed */
	int stuck;       /* the step behind which no state was left, or -1 */
} Walk;

/* How much a walk may do. */
typedef struct WalkLimit {
	int width;      /* states kept behind a step */
	int64_t states; /* that are looked at: as few are kept as that takes */
	int thrift;     /* cycles that a KB of L1 counts for when states are ranked */
} WalkLimit;

/* The best plan of values that are not dead, better than `most`. Fills `choices` if it
 * finds one. */
Walk walk(Space *s, int64_t most, WalkLimit limit, int64_t reshard_price, Choice *choices);

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
	bool *below;    /* n rows: does the tensor of each slot hang below that of the row's? */
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
	int64_t rest; /* bound of what hangs below none: later inputs */
} Level;

enum { LIVE_VALUE, LIVE_BYTES, LIVE_SPILLED, LIVE_READS };

/* LIVE_SPILLED: it has a place in DRAM; it came back from there for the step at hand,
 * while the one before ran. */
enum { SPILLED = 1, BACK_BESIDE = 2 };

Level *walk_levels(Space *s);

/* The value promised to a tensor that is not made yet, or of one that is; -1: none. */
int walk_promised(const Space *s, const Level *l, const int *state, int tensor);

/* How reader `step` of a live tensor reads it. */
int walk_reads(const Space *s, const Live *t, const int *state, int step);

const Live *walk_live(const Level *l, int tensor);

/* May a step copy the tensor for itself, have it from DRAM, ... (`want`), or not? */
bool walk_pin_allows(const Space *s, int step, const PlanTensor *t, ChoiceField f, bool want);

/* Does it hang below the other, or is it that one? */
bool walk_is_below(const Space *s, int tensor, int above);

/* ---- and search_nodes.c: what is behind a step ---- */

/* A state behind a step, and how it came about. */
typedef struct Node {
	int64_t time, rent, bound; /* paid up to here; no plan from here takes less */
	int64_t rank;              /* what it is likely to come to: the least are kept */
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
	int64_t left;           /* ways to read that may still be looked at in this step */
	const Node *from;
	int from_index;
	Arena *scratch;         /* of this step */
	int width, widest;      /* states kept; if there were no limit on those looked at */
	int thrift;
	int64_t limit;          /* ranks from here on are dropped: enough are better */
	Making *making;
	int *saved, *readers;   /* room to work in */
} Walker;

/* A state in the making. */
struct Making {
	int value;
	int64_t time, rent;     /* up to and with this step, but for its work */
	int64_t work;           /* which is no less than this */
	int64_t moves;          /* that go on while it runs */
	int64_t before;         /* in L1 before anything moves for it */
	int64_t add[MAX_STEP_PARTS], gone[MAX_STEP_PARTS]; /* by moves for its parts, in turn */
	int64_t bytes;          /* in L1 during it, but for its own */
	int parts[MAX_STEP_PARTS]; /* values of its parts */
	const Configs *configs;
	const Config *ahead;    /* the way that was asked for ahead, or NULL */
	int *state;             /* behind it */
};

/* No plan from this state before a step on takes less. */
int64_t walk_to_come(const Walker *w, int step, const int *state);

/* States behind the step for each way that the next one's weights may come; not while
 * something is spilled between the two. */
void walk_finish(Walker *w, Making *m, bool spills);

/* A state behind the step at hand, unless it is known to be no use. */
void walk_push(Walker *w, const Making *m, int64_t time, int64_t rent, const Config *config);

/* The best of the step at hand, in an arena that outlives it; best first. */
Nodes walk_keep(Walker *w);

/* What was left out of the walk takes at least this. */
void walk_drop(Walker *w, int64_t bound);

#endif
