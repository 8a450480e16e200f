/*
 * The plan: where every tensor of a graph lies on the device and how every op
 * is cut over the cores. Made by passes/, checked by anybody, carried out by
 * backend/, which decides nothing the plan should have decided.
 *
 * A plan has steps in execution order. A step is an op that works on the
 * device: a graph op, or the way of a tensor in from or out to the host. A
 * concat is no step: who reads it reads its parts.
 *
 * Tensors are cut into bands of whole rows, one for each core. Besides the
 * rows it owns a core keeps the rows its own steps read that others produce
 * (the halo, however large): the producer pushes them there. Rows outside of
 * the image are zero.
 */
#ifndef IR_PLAN_H
#define IR_PLAN_H

#include <stdint.h>
#include <stdio.h>

#include "ir/graph.h"
#include "ir/layout.h"
#include "ir/target.h"
#include "ir/weight_block.h"

typedef struct Band {
	int row, rows; /* owned: computed here; rows may be 0 */
	int first, end; /* kept: rows first to end - 1, owned ones among them */
} Band;

typedef struct PlanTensor {
	const Op *op;    /* whose result it is, or part of it */
	int channel, channels; /* of the op's result */
	Layout layout;   /* of the buffer; row and rows are meaningless here */
	Band *band;      /* of each core */
	int buffer_rows; /* of the buffer on every core: the most any keeps */
	int slack;       /* bytes behind the last plane that a reader may run into */
	int64_t bytes;   /* of the buffer, slack included; its address is the layout's */
	int born, dies;  /* steps: written in one, last read in the other */
} PlanTensor;

/* What a step does, by the routines that do it. */
typedef enum StepKind {
#define STEP(id, name, what) STEP_##id,
#include "ir/steps.def"
	STEP_COUNT
} StepKind;

extern const char *const step_names[STEP_COUNT];

/*
 * Weights of a step come in groups of `held` output tiles of 32 channels that
 * are computed side by side from the same pixels. A group is a page of its
 * circular buffer: 64 bytes of bias for each tile (bf16), then the blocks of
 * every part of the input, part by part. A 2x2 transposed convolution has four
 * tiles for each one of the output, its taps, two in a group.
 */
typedef struct Step {
	StepKind kind;
	const Op *op;
	Act act;
	PlanTensor **in; /* parts of a concat count one by one */
	int nin;
	PlanTensor *out; /* NULL for a host edge out */
	int channel;     /* of the op's result, the first this step makes or sends */
	int from;        /* of a host edge out: which input of the op it sends */
	DevTypes weights; /* their format; 0: there are none */
	int taps, held, groups;
	int phases;      /* of fidelity: 1, 2 or 4 */
	int64_t page_bytes;
	int64_t weight_bytes; /* all pages, resident while the step runs */
	uint32_t weight_address;
	int64_t scratch_bytes; /* rows on their way from or to the host */
	uint32_t scratch_address;
} Step;

/* The blocks of one part of the input. */
WeightBlocks step_blocks(const Step *s, int part);

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

/* A window sliding over an image: how conv, pool and the like read. A step
 * without one has { 1, 1, 1, 0 } both ways. */
typedef struct Window {
	int size, stride, dilation, pad; /* pad: before the first row or column */
} Window;

Window step_window(const Step *s, int axis); /* 0: rows, 1: columns */

/* Rows of the input that output rows first to end - 1 read, rows outside of
 * the image included. */
typedef struct Rows {
	int first, end;
} Rows;

Rows step_reads(const Step *s, Rows out);

/* One line per tensor and step. */
void plan_print(const Plan *p, FILE *f);

#endif
