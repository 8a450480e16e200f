/*
 * What a search may choose from, priced: values of tensors, ways to do a step,
 * ways from a tensor to its reader.
 *
 * Tensors of the same shape share a class of values, and readers of the same kind
 * an edge, so that a net of many equal layers is priced once.
 */
#ifndef PASSES_SEARCH_SPACE_H
#define PASSES_SEARCH_SPACE_H

#include "ir/intmap.h"
#include "ir/strmap.h"
#include "passes/cost_step.h"
#include "passes/search.h"

enum {
	MAX_CORES = 32 * 32, /* of any target */
	RENT_SHIFT = 20,
};

/* More than any plan takes, in sums of many too. */
static const int64_t NO_WAY = (int64_t)1 << 50;

/* Bytes of a buffer that no routine can use. */
static const int64_t NO_ROOM = (int64_t)1 << 36;

/* Rent is asked for no more bytes than these, and so much of it in all steps together: their
 * product fits into 64 bits. More would not be a wrong bound, but a number without meaning. */
static const int64_t MOST_RENTED = (int64_t)1 << 26, MOST_RENT = (int64_t)1 << 36;

/* How a tensor is cut, stored and placed. */
typedef struct Value {
	Cut cut;
	DevTypes type;
	Place place;
	int blocks;        /* cout_block that cut it so: the sum of those allowed */
	int alike;         /* the first value that lies on the cores alike, of any type and place */
	int64_t spill;     /* what moving it to DRAM takes, once it is known; -1 */
	PlanTensor tensor; /* with what every core owns */
} Value;

typedef struct Class {
	const PlanTensor *like;
	Value *v;
	int n;
} Class;

/* What it takes to read a tensor of one value for a result of another. */
typedef struct Pair {
	unsigned known;                /* a set of PAIR_* */
	int64_t bytes, halo_least;     /* where it lies: its buffer; what is pushed takes */
	int64_t halo;                  /* no less than that, but this */
	int64_t copy_bytes, copy_time; /* from a copy in the result's cut */
	int64_t back_time;             /* from DRAM, into a buffer like the copy */
} Pair;

/* What is asked of a pair; pushes take long to work out. */
enum { PAIR_HERE = 1, PAIR_HALO = 2, PAIR_COPY = 4, PAIR_BACK = 8 };

typedef struct Edge {
	Class *from, *to;
	const Step *like;
	int part;
	Pair *pairs; /* from->n rows of to->n, of which those alike share one */
} Edge;

/* A way to do a step: the fields of a choice beside its result's value. */
typedef struct Config {
	Choice how;
	int64_t bytes;       /* of L1 beside tensors: weights, sums, scratch, slices */
	int64_t ahead;       /* of those, weights: held in the step before if they come early */
	int64_t time;        /* of its work */
	int64_t early, fetch; /* its work if weights come early, and what they take then */
	bool dull;           /* another of the list is as good if they do */
} Config;

typedef struct Configs {
	Config *v; /* none is better than another in everything */
	int n;
} Configs;

/* From a value of the parent to one of its own, beside what their steps take: the tensor
 * read where it lies, or from a copy or DRAM. It stands as long as rents do. */
typedef struct Link {
	int64_t direct, moved;
	int version;
} Link;

/* What the steps that make a value take at least, apart by what the step before and the
 * step behind see of it (search_shade.c). */
typedef struct Shade {
	int value;
	DevTypes type;     /* of its main input; DEV_UNSET: any */
	bool early;        /* its weights come while the step before runs: nothing moves then */
	int64_t cost;      /* with the rent of what they have in L1 beside tensors */
	int64_t fetch;     /* what weights that come early take */
	int64_t hides;     /* of what the step behind fetches early */
	int64_t saves;     /* if not early: what ways of its type that are take less, at most */
	const Config *way; /* one that has this cost, or NULL */
} Shade;

typedef struct TensorSpace {
	Class *values;
	bool *dead;      /* of each value */
	int64_t *floor;  /* of each value: no way to make the tensor so takes less, without rent */
	int64_t *least;  /* of each value: its node in search_bound.c */
	int64_t *sides;  /* of each reader a row of them: side_read, 0 of main ones */
	const Configs **ways; /* of each value and type of inputs, if one step makes it */
	Shade *shades;   /* of values that are not dead, in their order */
	int *shade_at;   /* of each value: the first of its shades; and the end of all */
	int room;        /* shades that there is room for; of the parent */
	int parent_room;
	int64_t *up;     /* of each shade: with all that hangs below it in the tree */
	int64_t *through; /* and of a whole plan with it */
	int64_t *best;   /* by shade of the parent: the least `up` with the way from it, */
	int *choice;     /* and which shade has it */
	Link *links;     /* by value of the parent and its own: bound_link */
	Link *rentless;  /* the same without rents: tensors made and read alike share it */
	int parent;      /* its main input: a tensor, or -1 */
	int children;
	int first, last; /* steps that make it */
	int *readers;    /* steps that read it, in order */
	int nreaders;
	bool parks;      /* it may wait in DRAM */
} TensorSpace;

typedef struct StepSpace {
	Edge **edges;    /* of each part */
	IntMap *configs; /* by value of the result and form of the parts; equal steps share it */
	int main;        /* part that is the main input of its result, or -1 */
} StepSpace;

/* A shade and what is known of it, to look at the best first. */
typedef struct Ranked {
	int64_t sum;
	int shade;
} Ranked;

typedef struct Space {
	Plan *bare;
	PlanTensor *as_was; /* tensors and steps of the bare plan before space_init */
	Step *steps_as_were;
	Arena *arena;
	CostContext cost;
	int64_t room;
	bool dram;      /* tensors may lie in DRAM for good */
	bool coarse;    /* bounds look at no ways to do a step: for a first look */
	bool sharp;     /* they look at side readers closely (search_side.h) */
	int64_t *hide;  /* then: cycles of moves beside each step that may cost nothing */
	const Pins *pins;
	TensorSpace *tensors; /* by id */
	StepSpace *steps;
	StrMap classes, edges, works, bounds;
	IntMap buffers;
	IntMap given;   /* bounds with some values fixed: search_given.c */
	int64_t *rents; /* of a byte during the steps before each, summed, << RENT_SHIFT */
	int64_t rent_of_all; /* of all of L1 during all of them */
	int version;    /* of the rents */
	int *key;       /* room for one */
	Ranked *ranked; /* room for the shades of a tensor */
	int ranked_room;
} Space;

/* With values in DRAM if `dram`. */
void space_init(Space *s, Plan *bare, const SearchOptions *o, bool dram);
void space_finish(Space *s);

/* The bare plan as it was before space_init, for others to work on; once more: as it was
 * since. */
void space_swap(Space *s);

/* Is a step's result barred from being cut, stored and placed so? */
bool space_bars(const Space *s, int step, Cut cut, int type, int place);

/* From value `from` of a part to value `to` of the result: what is asked for. */
const Pair *space_pair(Space *s, int step, int part, int from, int to, unsigned what);

/* Which part of a step a tensor is: the first. */
int space_part(const Step *r, const PlanTensor *t);

/* The buffer of tensor t with value `value` and what is pushed behind the step that
 * makes it. Of each reader: the value of its result if it reads the tensor where it
 * lies, or how else it does. */
enum { READ_COPIED = -1, READ_PARKED = -2, READ_OPEN = -3 /* not decided yet */, READ_BESIDE = -4 };
typedef struct Room {
	int64_t bytes, halo;
} Room;
Room space_buffer(Space *s, int t, int value, const int *readers);

/* The buffer that it comes back to from DRAM for reader number `reader`, and those
 * behind it; `halo` is what moving it there takes, without a launch. */
Room space_back(Space *s, int t, int value, int reader, const int *readers);
int64_t space_spill(Space *s, int t, int value);

/* Ways to do a step with its result of value `value` (-1: it has none) from parts of
 * these values. Least bytes first. */
const Configs *space_configs(Space *s, int step, int value, const int *parts);

/* A value in L1 of each part, of the types that the bits of `types` say (of a product,
 * bit 0 for all of them; a set bit is bfp8_b); false if a part has no such value. */
bool space_parts(const Space *s, int step, unsigned types, int *parts);

/* How many sets of types there are, and so one more than the greatest `types`. */
unsigned space_types(const Space *s, int step);

/* No way to make a result of value `value` takes less. */
int64_t space_least(Space *s, int step, int value);

/* The step as it would be, for pricing. */
Step space_step(Space *s, int step, int value, const int *parts);

#endif
