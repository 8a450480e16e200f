/*
 * The plan: where every tensor of a graph lies on the device and how every op
 * is cut over the cores. Made by passes/, checked by anybody, carried out by
 * backend/, which decides nothing the plan should have decided.
 *
 * A plan has steps in execution order. A step is an op that works on the
 * device: a graph op or a part of its work, or the way of a tensor in from or
 * out to the host. A concat is no step: who reads it reads its parts. A slice
 * of whole planes is none either: who reads it reads those planes.
 *
 * Tensors are cut into bands of whole rows times splits of planes, one shard
 * for each core. Besides the region it owns a core keeps what its own steps
 * read that others produce (the halo, however large): the producer pushes it
 * there. Rows outside of the image are zero.
 *
 * A tensor may lie in DRAM: whole rows as in L1, a page for each plane (layout.h).
 * It gets there from another tensor and back by steps, or is made and read in
 * slices of rows, of which a core has two at a time in L1, or one.
 */
#ifndef IR_PLAN_H
#define IR_PLAN_H

#include <stdint.h>
#include <stdio.h>

#include "ir/graph.h"
#include "ir/layout.h"
#include "ir/mix.h"
#include "ir/target.h"
#include "ir/weight_block.h"

/* first to end - 1; empty if first >= end. */
typedef struct Range {
	int first, end;
} Range;

static inline int range_count(Range r) { return r.end > r.first ? r.end - r.first : 0; }

static inline bool range_same(Range a, Range b) { return a.first == b.first && a.end == b.end; }

/* What is in both. */
static inline Range range_both(Range a, Range b)
{
	return (Range){ a.first > b.first ? a.first : b.first, a.end < b.end ? a.end : b.end };
}

/* The least that holds both; an empty one adds nothing. */
static inline Range range_cover(Range a, Range b)
{
	if (!range_count(a))
		return b;
	if (!range_count(b))
		return a;
	return (Range){ a.first < b.first ? a.first : b.first, a.end > b.end ? a.end : b.end };
}

typedef struct Region {
	Range rows, planes; /* rows of an image, outside of it too; planes of an image */
} Region;

static inline bool region_empty(Region r) { return !range_count(r.rows) || !range_count(r.planes); }

static inline Region region_both(Region a, Region b)
{
	return (Region){ range_both(a.rows, b.rows), range_both(a.planes, b.planes) };
}

static inline Region region_cover(Region a, Region b)
{
	if (region_empty(a))
		return b;
	if (region_empty(b))
		return a;
	return (Region){ range_cover(a.rows, b.rows), range_cover(a.planes, b.planes) };
}

typedef struct Shard {
	Region own;  /* computed here; may be empty */
	Region keep; /* own and what the core's own steps read */
} Shard;

/* Core c has band c / splits and split c % splits; cores behind them nothing. */
typedef struct Cut {
	int bands, splits;
} Cut;

typedef struct PlanTensor PlanTensor;
struct PlanTensor {
	int id;           /* its place among the tensors of the plan */
	const Op *op;     /* whose result it is, or part of it, or a step on the way to it */
	const char *name; /* the op's, or with a suffix; unique in the plan */
	bool result;      /* of what the op yields, not of a step on the way; a copy of it too */
	int image;        /* of a batch that is looped over: which */
	int channel, channels; /* of the op's result */
	int height;       /* rows of an image */
	int images;       /* stacked in the buffer: planes of one behind those of the last */
	int row_unit, plane_unit; /* bands and splits begin at multiples */
	Layout layout;    /* row, rows, plane are meaningless here; planes are those of an image;
	                   * in DRAM the address is up to the lowering */
	Cut cut;
	Shard *shard;     /* of each core; in DRAM, what it writes and what it reads */
	int buffer_rows, buffer_planes; /* of an image and phase: the most any core keeps */
	bool partial;     /* a row for what each band makes of its own: as high as the cut has it */
	const PlanTensor *reduced; /* whose rows those bands are of; NULL unless partial */
	int slack;        /* bytes behind the last plane that a reader may run into */
	int64_t bytes;    /* of the buffer, slack included; its address is the layout's */
	int born, done, dies; /* steps: first and last to write it, last to read it */
	bool f32;         /* it may be */
	int wide;         /* a number: all that have the same are of one format (plan_f32.c) */
};

/* Planes of the buffer, of all images and phases. */
static inline int tensor_buffer_planes(const PlanTensor *t)
{
	return t->layout.phases * t->images * t->buffer_planes;
}

/* What a step does, by the routines that do it. */
typedef enum StepKind {
#define STEP(id, name, reads, slices, f32, what) STEP_##id,
#include "ir/steps.def"
	STEP_COUNT
} StepKind;

extern const char *const step_names[STEP_COUNT];

/* Channels a step reads: whole planes of a tensor, the last perhaps not full. */
typedef struct Part {
	PlanTensor *tensor;
	int plane, channels;
} Part;

static inline int part_planes(const Part *p) { return (p->channels + PLANE - 1) / PLANE; }

/* A window sliding over an image: how conv, pool and the like read. A step
 * without one has { 1, 1, 1, 0 } both ways. */
typedef struct Window {
	int size, stride, dilation, pad; /* pad: before the first row or column */
} Window;

/* An operand that is the same for all of these. */
enum { SPREAD_ROWS = 1, SPREAD_COLS = 2, SPREAD_PLANES = 4 };

enum { MAX_STEP_PARTS = 8 };

/* What becomes of the pixels of an image, channel by channel: the largest, the
 * sum, the sum of squares of what differs from the mean; times `scale`. A pair is
 * two pixels of bf16 whose sum it is. */
typedef enum ReduceKind { REDUCE_MAX, REDUCE_SUM, REDUCE_DEVIATION } ReduceKind;
typedef struct Reduce {
	ReduceKind kind;
	bool pair;
	bool onto; /* what is there counts too: of slices behind the first */
	float scale;
} Reduce;

/*
 * How weights reach the cores of a step (runtime/device/DEVICE.md, Weights).
 * What a plan decides comes first; the rest follows from it (plan_weights.c).
 */
typedef struct Stream {
	int chunk_tiles; /* input tiles of all taps and parts in a page, at most; 0: all */
	int ring;        /* pages a core has room for; 0: all, they stay */
	int positions;   /* a core finishes while a group's pages come by; 0: as few as can be */
	int fetchers;    /* cores that read for others, where cores share them; 0: one */
	bool early;      /* they come while the step before runs */
	int rung;        /* how often it was made smaller to fit; -1: it cannot be */
	int hold;        /* rows of positions at a time, from the same weights */
	int chunk_blocks, chunks; /* blocks in a page, pages of a group */
	int block, passes;        /* units of 32 * hold positions at a time, how often that is */
	int pages;       /* of the circular buffer */
	int64_t sums_bytes; /* partial sums of a block */
	uint32_t sums_address;
} Stream;

/* Rows of a host edge that are on their way at a time (runtime/device/edge.h). */
enum { EDGE_SLOTS = 4 };

/*
 * Weights of a step come in groups of `held` output tiles of 32 channels that
 * are computed side by side from the same pixels. A group is a page of its
 * circular buffer, or several: 64 bytes of bias for each tile (bf16), then the
 * blocks of every part of the input, part by part. A 2x2 transposed convolution
 * has four tiles for each one of the output, its taps, two in a group.
 */
typedef struct Step {
	StepKind kind;
	const Op *op;
	Act act;         /* kind may also be OP_EXP, OP_RECIPROCAL, or OP_INSTANCE_NORM for what
	                    norms multiply by, 1 / sqrt(x + param[0]) */
	Part *in; /* parts of a concat count one by one */
	int nin;
	PlanTensor *out; /* NULL for a host edge out */
	int channel;     /* of the op's result, the first this step makes or sends */
	int from;        /* of a host edge out: which input of the op it sends, */
	int piece;       /* and as which piece of the output */
	int image;       /* of a batch that is looped over: which; its tensors hold one */
	Window window[2]; /* rows, columns */
	int row, row_step; /* makes rows row, row + row_step, ... of its result; 0 and 1: all */
	int column_phase;  /* and this column phase of it */
	const Range *row_map;        /* or, for each output row: which input rows it reads */
	const Mix *const *mix;       /* of STEP_MIX: what makes each column phase of the result */
	int spread[MAX_STEP_PARTS]; /* of each operand: SPREAD_* */
	Reduce reduce;               /* of STEP_REDUCE, and whether STEP_LANES sums */
	OpKind arith;    /* of STEP_BINARY and STEP_PAIR: what the op of that kind does */
	const Tensor *filter, *bias; /* [out][in][ky][kx]; of STEP_DECONV2 [in][out][ky][kx];
	                              * of STEP_CHANNEL [channel][ky][kx] of the op's result */
	DevTypes weights; /* their format; 0: there are none */
	bool ones;        /* they are not the op's, but bring channels together */
	int taps, held, groups; /* groups of all output channels, whatever the cut */
	int channel_groups; /* so many equal parts of the output read each its own of the input */
	int phases;      /* of fidelity: 1 to 4; of a mix 2 or 4 */
	int64_t page_bytes;
	int64_t weight_bytes; /* pages a core holds while the step runs */
	uint32_t weight_address;
	Stream stream;
	int64_t scratch_bytes; /* of a host edge: EDGE_SLOTS rows of each channel of a plane */
	uint32_t scratch_address;
	bool beside;     /* goes on while the next step that is not beside runs */
	int slice;       /* rows of the result at a time, of a reduction those it reads; 0: all */
	bool single;     /* a slice is read, worked on and written before the next is read */
	PlanTensor **slices; /* of parts in DRAM, then of the result: two buffers in L1, or one */
} Step;

/* The blocks of one part of the input. */
WeightBlocks step_blocks(const Step *s, int part);

/* Blocks of a group, all parts; bytes of those from `first` to before `end`. */
int step_block_count(const Step *s);
int64_t step_block_bytes(const Step *s, int first, int end);

/* Groups of weights that make these planes of the output. */
Range step_groups(const Step *s, Range planes);

typedef struct Plan {
	const Graph *graph;
	const Target *target;
	int cores;       /* the first so many of the grid, row by row */
	int cols, rows;  /* the rectangle they fill */
	PlanTensor **tensors;
	int ntensors;
	Step *steps;
	int nsteps;
	int64_t peak;    /* bytes of L1 in use at the fullest step */
	int peak_step;
} Plan;

/* Does it only move a tensor: spill, refill, reshard? */
bool step_moves(const Step *s);

/* Can it work on tensors in DRAM, in slices of rows? */
bool step_can_slice(const Step *s);

/* Tensors in f32. */
bool step_makes_f32(const Step *s);
bool step_reads_f32(const Step *s);

/* Where the window of a step stands: for rows of its result, and how often in one. */
Range step_positions(const Step *s, Range rows);
int step_columns(const Step *s);

/* Which of the routine's operations STEP_BINARY and STEP_PAIR ask for. */
int step_arith(const Step *s);

/* What of part `part`'s tensor a step reads to make a region of its result;
 * rows outside of the image included. */
Region step_reads(const Step *s, int part, Region out);

/* The rows that are cut into slices: of what a core owns of the result, or (a host edge
 * out) sends; of a reduction, those it makes its row of. And slice i of them. */
Range step_sliced_rows(const Step *s, Region own);
Range step_slice_of(const Step *s, Range rows, int i);

/* Of a step in slices: how many there are, and what a core has of part k in slice
 * i, or (k == nin) of the result. A host edge out sends what it reads. */
int step_slices(const Plan *p, const Step *s);
int step_slice_buffers(const Step *s); /* that a core has for each part */
Region step_slice(const Step *s, int k, int core, int i);

/* One line per tensor and step. */
void plan_print(const Plan *p, FILE *f);

#endif
