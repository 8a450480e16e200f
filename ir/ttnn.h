/*
 * A plan for ttnn: how its conv2d, pools and the rest would be called for a graph, what
 * device programs that comes to, and what they take.
 *
 * This is the second family of kernels: nothing here is about ours. Every decision is a
 * field of ttnn_fields.def, held as a number; figures are bytes of a core's L1 and
 * picoseconds. The planner (passes/ttnn_plan.h) makes it, the TT-CNN printer
 * (backend/ttcnn.h) spells it.
 */
#ifndef IR_TTNN_H
#define IR_TTNN_H

#include "ir/graph.h"
#include "ir/target.h"

#define TTNN_WORDS_BEGIN(group) typedef enum Ttnn##group {
#define TTNN_WORD(group, id, spelling) id,
#define TTNN_WORDS_END(group) } Ttnn##group;
#define TTNN_FIELD(...)
#include "ir/ttnn_fields.def"

typedef enum TtnnField {
#define TTNN_WORDS_BEGIN(group)
#define TTNN_WORD(...)
#define TTNN_WORDS_END(group)
#define TTNN_FIELD(id, ...) TTNN_##id,
#include "ir/ttnn_fields.def"
	TTNN_FIELDS
} TtnnField;

/* A set of these is what a field is for. */
typedef enum TtnnClass {
	TTNN_CONVS = 1 << 0,
	TTNN_POOLS = 1 << 1,
	TTNN_JOINS = 1 << 2,
	TTNN_PAIRS = 1 << 3,
	TTNN_UNARYS = 1 << 4,
	TTNN_UPSAMPLES = 1 << 5,
	TTNN_EDGES = 1 << 6,
} TtnnClass;

typedef enum TtnnProgramKind {
#define TTNN_PROGRAM(id, ...) TTNN_RUN_##id,
#include "ir/ttnn_programs.def"
	TTNN_PROGRAMS
} TtnnProgramKind;

typedef struct TtnnFieldInfo {
	const char *name;
	const char *const *words; /* NULL: a number */
	int nwords;
	unsigned ops;
	const char *what;
} TtnnFieldInfo;

extern const TtnnFieldInfo ttnn_field_info[TTNN_FIELDS];
extern const char *const ttnn_program_names[TTNN_PROGRAMS];

/* What ttnn has for a kind of op; NULL: nothing. */
typedef struct TtnnOpInfo {
	TtnnClass class;
	const char *name, *constraints;
} TtnnOpInfo;

const TtnnOpInfo *ttnn_op_info(OpKind kind);

typedef struct TtnnAct {
	const char *type, *function, *parameter; /* "": without */
} TtnnAct;

/* ttnn's, or NULL if it has none that computes the same. */
const TtnnAct *ttnn_act(Act act);

enum { TTNN_SIDE = 32 }; /* of a tile */

static inline int64_t ttnn_div_up(int64_t n, int64_t d) { return (n + d - 1) / d; }
static inline int64_t ttnn_round_up(int64_t n, int64_t d) { return ttnn_div_up(n, d) * d; }

typedef struct TtnnChoice {
	int v[TTNN_FIELDS];
} TtnnChoice;

/* Where a tensor is while it waits: what tells its readers all they need to know. */
typedef struct TtnnPlace {
	TtnnShard shard;  /* TTNN_DRAM: nowhere else */
	int rows, planes; /* cores */
	TtnnType type;
	TtnnRows layout;
	bool whole;       /* cut at multiples of 32 pixels, as tiles always are */
	bool parked;      /* later readers find it in DRAM */
} TtnnPlace;

/* Cut over the same cores at the same pixels? */
bool ttnn_same_cut(const TtnnPlace *a, const TtnnPlace *b);

typedef struct TtnnProgram {
	TtnnProgramKind kind;
	int op;     /* of the plan */
	int64_t times;
	int64_t ps; /* its kernels, all times */
	int64_t l1; /* bytes a core holds while it runs, all tensors included */
} TtnnProgram;

typedef struct TtnnOp {
	const Op *op;
	TtnnChoice choice;
	TtnnPlace out;
	Act act;               /* fused or by itself; OP_INPUT: none */
	bool fuses;
	int nin;
	const struct TtnnOp **in;
	TtnnPlace *from, *as;  /* each input: where it is found, and as what it goes in */
	bool *dies;            /* each input: nobody reads it in L1 afterwards */
	bool split;            /* two cores read the pixels, as ttnn decides */
	int64_t blocks, k_blocks;
	int64_t buffers, halo; /* bytes a core: circular buffers, the input with its halo */
	int64_t result;        /* bytes a core */
	int64_t ps, l1;        /* all its programs, the most any of them holds */
	int first, n;          /* programs */
} TtnnOp;

typedef struct TtnnPlan {
	const Graph *graph;
	const Target *target;
	int64_t l1_small; /* bytes reserved for ttnn's index tables */
	int64_t room;     /* bytes left for tensors and circular buffers */
	int nops, nprograms;
	TtnnOp *ops;
	TtnnProgram *programs;
	int64_t kernel_ps, gap_ps;
	int64_t l1;       /* the most a program holds */
	bool best;        /* nothing was left out of the search */
	int open;         /* fields that nobody fixed */
} TtnnPlan;

static inline int64_t ttnn_total_ps(const TtnnPlan *p) { return p->kernel_ps + p->gap_ps; }

/* The op of a plan that makes a tensor, or NULL. */
const TtnnOp *ttnn_find(const TtnnPlan *p, const Op *op);

/* Channels as a core of `planes` stores them; pixels on a core: a multiple of 32 for
 * tiles. */
int64_t ttnn_channels(int64_t channels, TtnnRows layout, int64_t planes);
int64_t ttnn_rows(int64_t pixels, TtnnShard shard, int64_t rows, TtnnRows layout);

/* The same of a tensor in a place; and all its pixels. */
int64_t ttnn_place_rows(const Op *op, const TtnnPlace *p);
int64_t ttnn_place_channels(const Op *op, const TtnnPlace *p);
int64_t ttnn_pixels(const Op *op);

/* Is the field one of this kind of op? */
bool ttnn_has(OpKind kind, TtnnField f);

/* A field's value as plan files have it, in the arena. */
const char *ttnn_value(Arena *a, TtnnField f, int value);

/* Reads it back; false if there is no such value. */
bool ttnn_read(TtnnField f, const char *text, int *value);

/* As a plan file: what was decided, and behind ';' what comes of it. */
void ttnn_print(const TtnnPlan *p, FILE *f);

#endif
