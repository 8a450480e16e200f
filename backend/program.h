/*
 * A program: what the cores of a device do for a net, as data.
 *
 * Nothing is left to decide here. Every op names, for each RISC-V of a core,
 * the routine of the device library it runs, specialised by constants (a
 * variant); the parameters of the op; where its circular buffers lie; and, core
 * by core, which rows it clears, pushes and waits for (runtime/device/map.h
 * says how ops follow each other). Addresses are final.
 *
 *     program "unet" target wormhole_n150 dram_free 0x40000
 *     cores (0,0) (1,0)
 *     variant conv_a = conv_unpack {in_type = 1, weight_type = 2, n = 4, hold = 1}
 *     buffer "x" l1 at 0x19cc0 bytes 0x8000 life 0..2
 *     op 0 "conv1" kind "conv" params tiles
 *         trisc0 conv_a
 *         cb 0 at 0x21cc0 page 2176 pages 4
 *         all {out = 0x29cc0, rows = 8}
 *         core 1 {rows = 7}
 *             push core 0 from 0x100 to 0x200 bytes 64 count 1 step 0 0
 *             move out after bank 3 at 0x400 page 64 slot 128 l1 0x29cc0 bytes 64 count 2 step 128
 *
 * Lists are arrays with a count, in the arena of the program. Text form:
 * program_text.h. Rules: program_verify.h. Binaries: emit.h.
 */
#ifndef BACKEND_PROGRAM_H
#define BACKEND_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/arena.h"
#include "ir/diag.h"
#include "ir/layout.h"
#include "ir/tensor.h"
#include "runtime/device/map.h"

typedef struct ProgramCore {
	int col, row; /* logical */
} ProgramCore;

/* A routine with constants for its compile-time arguments, in the order of its
 * row. Ops that run the same variant share its code. */
typedef struct ProgramVariant {
	Loc loc;
	const char *name; /* of the function: a C identifier, unique */
	int routine;      /* row of routines.def */
	uint32_t *args;   /* as many as the row has */
} ProgramVariant;

/* What may be read and written, and when. Ops first..last, both included; an
 * input lives from op 0, an output to the last op. */
typedef struct ProgramBuffer {
	Loc loc;
	const char *name;
	Place place;
	int bank; /* of DRAM; -1: `bytes` in each bank */
	int core; /* the only one that has it; -1: all */
	uint64_t address, bytes;
	int first, last;
} ProgramBuffer;

typedef struct ProgramSemaphore {
	Loc loc;
	const char *name;
	int id; /* word TT_SEMAPHORES + 16 * id */
	uint32_t value; /* before the first run */
} ProgramSemaphore;

typedef struct ProgramCb {
	Loc loc;
	int id;
	uint32_t address, page_bytes, pages;
} ProgramCb;

/* A word of an op's parameters that differs on one core. */
typedef struct ProgramValue {
	int word;
	uint32_t value;
} ProgramValue;

/* These follow TtArrival, TtPush, TtZero and TtMove of map.h, with cores by index.
 * Who pushes to a core is found by looking at the pushes of the others. */
typedef struct ProgramArrival {
	Loc loc;
	int core, op;
} ProgramArrival;

typedef struct ProgramPush {
	Loc loc;
	int core; /* pushed to; it may be the one that pushes */
	uint32_t from, to, bytes, count, from_step, to_step;
} ProgramPush;

typedef struct ProgramZero {
	Loc loc;
	uint32_t at, bytes, count, step, planes, plane_step;
} ProgramZero;

typedef struct ProgramMove {
	Loc loc;
	bool out; /* to DRAM */
	TtMoveWhen when;
	int bank; /* of the first page */
	uint32_t at, page_bytes, slot_bytes, l1, bytes, count, step;
} ProgramMove;

extern const char *const move_spellings[TT_MOVE_TIMES];

enum { VARIANT_NONE = -1, VARIANT_AS_ALL = -2 };

typedef struct ProgramOpCore {
	Loc loc;
	int variant[TT_RISCS]; /* VARIANT_AS_ALL: that of the op */
	int nvalues, narrivals, npushes, nzeros, nmoves;
	ProgramValue *values;     /* sorted by word */
	ProgramArrival *arrivals;
	ProgramPush *pushes;      /* those to one core stand together */
	ProgramZero *zeros;
	ProgramMove *moves;
} ProgramOpCore;

typedef struct ProgramOp {
	Loc loc;
	const char *name; /* the model's; with the next four the source map */
	const char *kind; /* as graph or plan spell it: "conv", "edge_in" */
	int nabsorbed;
	const char **absorbed;  /* names of the ops it took in */
	const char *source;     /* where the model has it: "unet.nnef:12:9"; NULL: not known */
	int params;             /* structure of params.def; -1: none */
	uint32_t *words;        /* of that structure, as on most cores */
	int variant[TT_RISCS];  /* VARIANT_NONE: this RISC-V has nothing to do */
	int act;                /* that TRISC1's calls, on all cores; or VARIANT_NONE */
	bool early;             /* NCRISC's starts while the op before runs (map.h) */
	int ncbs;
	ProgramCb *cbs;         /* sorted by id */
	ProgramOpCore *cores;   /* one for each core of the program */
} ProgramOp;

/* Bytes that stand in DRAM before the first run. Data may be unknown, when the
 * text form gave only its hash; such a program cannot be emitted. */
typedef struct ProgramImage {
	Loc loc;
	const char *name;
	int bank;            /* of the first byte */
	uint32_t page_bytes; /* 0: all in one bank. Else page p lies in bank (bank + p) % banks
	                        at address + p / banks * page_bytes; the last may be shorter */
	uint64_t address, bytes;
	uint64_t hash;       /* program_hash of the data */
	const uint8_t *data; /* or NULL */
} ProgramImage;

/* A strided look: element k in row-major order of dims is element
 * offset + sum(index * strides) of what is looked at. */
typedef struct ProgramView {
	int rank; /* 0: no view, elements as they stand */
	int64_t offset, dims[MAX_RANK], strides[MAX_RANK];
} ProgramView;

/* NCHW in DRAM as map.h says at its end: a row of a channel is a page. */
typedef struct ProgramTensor {
	TtHost stored; /* TT_HOST_BF16 or TT_HOST_F32 */
	int64_t shape[4];
	uint64_t base, slot_bytes; /* in each bank */
	uint32_t page_bytes;
} ProgramTensor;

/* An input or output of the net is its parts, joined along `axis`: element k of
 * a part, in row-major order of its shape, is element view(k) of a tensor on
 * the device. */
typedef struct ProgramPart {
	Shape shape;
	ProgramTensor tensor;
	ProgramView view; /* its dims hold as many elements as the shape */
} ProgramPart;

typedef struct ProgramEdge {
	Loc loc;
	const char *name;
	DType dtype; /* the caller's */
	Shape shape;
	int axis, nparts;
	ProgramPart *parts;
} ProgramEdge;

typedef struct Program {
	Arena *arena;
	const char *name, *target;
	int ncores, nvariants, nbuffers, nsemaphores, nops, nimages, ninputs, noutputs;
	ProgramCore *cores; /* core 0 is the root */
	ProgramVariant *variants;
	ProgramBuffer *buffers;
	ProgramSemaphore *semaphores;
	ProgramOp *ops;
	ProgramImage *images;
	ProgramEdge *inputs, *outputs;
	/* From here to the end of each bank of DRAM nothing of the above lies:
	 * parameter blocks and overlays go there. */
	uint64_t dram_free;
	const char *plan; /* text kept in the package, or NULL */
	const int *last_op; /* of each step of the plan it was lowered from; else NULL */
} Program;

/* How lowering builds one. Nothing is checked but what would crash: that is
 * for program_verify. Pointers returned stand until the next call of the same
 * function; names are not copied. */
Program *program_create(Arena *a, const char *name, const char *target);
int program_core(Program *p, int col, int row);

/* The variant of these constants, made if it is new. `routine` must be a row of
 * routines.def. */
int program_variant(Program *p, const char *routine, const uint32_t *args, int nargs);

/* One more, even if there is the same already. */
ProgramVariant *program_add_variant(Program *p, const char *name, int routine);

ProgramBuffer *program_buffer(Program *p, const char *name);
ProgramSemaphore *program_semaphore(Program *p, const char *name);
ProgramImage *program_image(Program *p, const char *name, const void *data, uint64_t bytes);

/* Parts follow the edge they belong to. */
ProgramEdge *program_input(Program *p, const char *name, DType dtype, Shape shape);
ProgramEdge *program_output(Program *p, const char *name, DType dtype, Shape shape);
ProgramPart *program_part(Program *p, ProgramEdge *edge, Shape shape);

/* Cores come first: an op has a list for each. `params` must be a structure of
 * params.def, or NULL. */
ProgramOp *program_op(Program *p, const char *name, const char *kind, const char *params);

/* Parameters by field name, which must be one of the structure; `index` for
 * fields that are arrays. On all cores; on one core, whenever that differs. */
void program_set(ProgramOp *op, const char *field, int index, uint32_t value);
void program_set_core(Program *p, ProgramOp *op, int core, const char *field, int index,
		      uint32_t value);
ProgramCb *program_cb(Program *p, ProgramOp *op, int id);
bool program_has_cb(const ProgramOp *op, int id);
void program_absorbed(Program *p, ProgramOp *op, const char *name);
void program_arrival(Program *p, ProgramOp *op, int core, ProgramArrival arrival);
void program_push(Program *p, ProgramOp *op, int core, ProgramPush push);
void program_zero(Program *p, ProgramOp *op, int core, ProgramZero zero);
void program_move(Program *p, ProgramOp *op, int core, ProgramMove move);

/* Makes a RISC-V of one core run another variant, or none (VARIANT_NONE). */
void program_run_on(ProgramOp *op, int core, TtRisc risc, int variant);

/* What a core sees: the variant a RISC-V runs, or VARIANT_NONE; a word of the
 * op's parameters. */
int program_runs(const ProgramOp *op, int core, TtRisc risc);
uint32_t program_word(const ProgramOp *op, int core, int word);

/* Does a RISC-V of this core need the code of a variant during the op: to run
 * it, or as the act of what it runs? */
bool program_needs(const ProgramOp *op, int core, TtRisc risc, int variant);

/* Elements of inputs and outputs as devices have them, TtHost; -1: they do not. */
int program_host_type(DType type);

uint64_t program_hash(const void *data, uint64_t bytes);

#endif
