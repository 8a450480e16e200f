/*
 * What a project for TT-Metal consists of, as data: all that the printers have to
 * spell.
 *
 * An op is one TT-Metal program, or several when its lists are longer than the
 * arguments a kernel may have: those before and behind the main one only have a
 * writer. Kernels of ops that have the same code are one kernel.
 *
 *     NCRISC            reader: weights
 *     BRISC             writer: zeros, moves from and to DRAM, rows to other cores
 *     TRISC0, 1, 2      compute: the three routines of the op
 *     host edges        all five move and turn rows (runtime/device/edge.h)
 */
#ifndef BACKEND_METAL_MODEL_H
#define BACKEND_METAL_MODEL_H

#include "backend/metal.h"
#include "backend/object.h"
#include "backend/routines.h"
#include "runtime/device/map.h"

/* What TT-Metal allows on Wormhole (its kernel_types.hpp, dev_mem_map.h). */
enum {
	METAL_ARGS = 341,       /* words of arguments of a kernel */
	METAL_RING = 69 * 1024, /* binaries, arguments, buffers, semaphores of a program */
	METAL_CBS = 32,
	METAL_SEMAPHORES = 16,
	METAL_READER_TEXT = 16 * 1024,
	METAL_TURNS_BYTES = 32, /* words of a host edge */
	METAL_PAGE = 8192,      /* of the file of weights, and of its buffer in DRAM */
	METAL_ROW = METAL_PAGE * TT_DRAM_BANKS,
};

typedef enum MetalKind { METAL_COMPUTE, METAL_READER, METAL_WRITER, METAL_KINDS } MetalKind;

/* Cores first, first + every, ... to last. */
typedef struct MetalCores {
	int first, last, every;
} MetalCores;

/* A kernel as it is told what to do. */
typedef struct MetalCode {
	MetalKind kind;
	int variant[TT_RISCS]; /* those it runs; VARIANT_NONE */
	int act;
	bool lists;       /* of a writer: it has some */
	bool ready, done; /* circular buffers TT_CB_READY, TT_CB_DONE take part */
} MetalCode;

typedef struct MetalKernel {
	MetalCode code;
	const char *stem; /* of its file: what it does, and a hash */
	const char *text; /* without the comment on top */
	int nops, *ops;   /* that use it, rising */
	uint32_t bytes;   /* of machine code, as estimated (metal_limits.c) */
} MetalKernel;

typedef struct MetalPlace {
	int kernel;
	int ncores;
	MetalCores *cores;
} MetalPlace;

/* A word of the op's parameters that differs: `step` more on each next core. */
typedef struct MetalValue {
	MetalCores cores;
	int word;
	uint32_t value, step;
} MetalValue;

/* Elements of the writer's lists, in the order that each core has them. Rows that
 * follow each other on many cores stand once: `along` is added for each next core to
 * the core they go to, or to the address in DRAM. */
typedef enum MetalItemKind { METAL_ZERO, METAL_MOVE, METAL_PUSH } MetalItemKind;

typedef struct MetalItem {
	MetalItemKind kind;
	MetalCores cores;
	int along;
	const struct MetalWeights *from; /* of a move: what it reads; NULL: a tensor */
	union {
		TtZero zero;
		TtMove move;
		struct {
			TtPush rows; /* of its target only the count */
			int to, also; /* the first, and how many behind it get the same */
			bool block; /* exponents and values */
		} push;
	};
} MetalItem;

typedef struct MetalProgram {
	bool main; /* it has all kernels of the op */
	int nplaces, nitems;
	MetalPlace *places;
	MetalItem *items;
	int words; /* most that a kernel of it is told on a core */
} MetalProgram;

typedef struct MetalOp {
	const ProgramOp *op;
	int index;
	const char *function; /* that makes its programs: an identifier, unique */
	const char *about;    /* layout, cores, blocks */
	bool edge;            /* it reads or writes tensors of the host: one for each slot */
	int nsemaphores, *semaphores; /* numbers of the program; here they are 0, 1, ... */
	uint32_t turns;               /* of an edge: where its words are */
	int nvalues;
	MetalValue *values;
	bool ready, done;
	int nprograms;
	MetalProgram *programs;
} MetalOp;

/* An image of weights; or those of a constant that is read like a tensor, one for each
 * part that cores keep, which follow each other. A bank has of it what the program has
 * there, whatever its pages. */
typedef struct MetalWeights {
	const char *name;
	const ProgramImage *image;
	int images;
	uint64_t address, each; /* of the program; bytes in each bank */
	uint64_t at;            /* in the file, from its first page on; whole rows of pages */
} MetalWeights;

typedef struct MetalModel {
	Arena *a;
	Diag *d;
	const Program *p;
	const Plan *plan; /* or NULL */
	const Target *t;
	const MetalOptions *options;
	const char *name;
	int cols, rows;     /* that the cores fill, row by row */
	uint64_t library;          /* hash of the device library */
	Object objects[TT_RISCS];  /* all routines, as compiled for our packages */
	uint32_t l1;               /* first byte of the arena */
	uint64_t dram, dram_bytes; /* tensors in DRAM: planned address, bytes in each bank */
	int nkernels, nops, nweights;
	MetalKernel *kernels;
	MetalOp *ops;
	MetalWeights *weights;
} MetalModel;

/* Fills in everything. False if a limit is exceeded, which is reported. */
bool metal_model(MetalModel *m);

/* ---- its parts ---- */

/* A word of the op's parameters on a core, as TT-Metal's kernels are told it. */
uint32_t metal_word(const MetalOp *op, int core, int word);

/* What a word stands for, if the host has to look it up. */
typedef enum MetalWord {
	METAL_NUMBER,
	METAL_NODE,    /* TT_NODE of a core */
	METAL_WEIGHTS, /* address of an image */
	METAL_EDGE,    /* address of a host tensor */
} MetalWord;
MetalWord metal_word_kind(const MetalOp *op, int word);

/* The values of all cores but what most have (op->words); of one word behind the other. */
void metal_values(MetalModel *m, MetalOp *op);

/* Sets of cores for which `in` is true, few of them. */
int metal_cores(Arena *a, const bool in[], int n, MetalCores **sets);

/* The programs of an op: its kernels, and its lists in as many as it takes; none if
 * there is nothing to do. */
void metal_programs(MetalModel *m, MetalOp *op, bool clear_turns);

/* Items of each core, lists[core] .. + n[core], as rows for several cores. */
int metal_rows(Arena *a, const MetalItem *const lists[], const int n[], int ncores,
	       MetalItem **rows);

/* The kernel of this code, made if it is new; op number `op` uses it. Their names and
 * texts come when all are there. */
int metal_kernel(MetalModel *m, const MetalCode *code, int op);
void metal_kernels_close(MetalModel *m);

/* Words of arguments in front of the lists. */
int metal_params_words(const MetalOp *op, const MetalCode *code);

/* Images as the file has them. */
void metal_weights(MetalModel *m);
uint64_t metal_weights_bytes(const MetalWeights *w);
const MetalWeights *metal_weights_at(const MetalModel *m, uint64_t address);

/* 32 bytes no buffer ever covers, or, if there are none, that none covers during the op:
 * then *clear says that they have to be cleared before. */
bool metal_turns(const MetalModel *m, const MetalOp *op, uint32_t *at, bool *clear);

/* Is our region of L1 within the one that TT-Metal leaves? */
bool metal_check_region(Diag *d, const Program *p, const Target *t);

/* Limits of TT-Metal. */
bool metal_check(const MetalModel *m);
void metal_read_objects(MetalModel *m);

/* Machine code of a kernel, of all its RISC-Vs: estimated from what the compiler makes of
 * the same routines for our packages. */
uint32_t metal_kernel_bytes(const MetalModel *m, const MetalKernel *k);

#endif
