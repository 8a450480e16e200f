/*
 * From a graph and its plan to a program: the plan has decided everything,
 * here it is only said in the device library's words.
 */
#ifndef BACKEND_LOWER_H
#define BACKEND_LOWER_H

#include "backend/program.h"
#include "ir/plan.h"

/* NULL, reported, where the plan asks for what no routine does. */
Program *lower(const Plan *plan);

/* ---- its parts ---- */

typedef struct Lowering {
	const Plan *plan;
	Program *program;
	Arena *arena;
	uint64_t dram[TT_DRAM_BANKS]; /* first free byte of each bank */
} Lowering;

/* Where `bytes` start in that bank. */
uint64_t lower_dram(Lowering *l, int bank, uint64_t bytes);

/* The same address in every bank. */
uint64_t lower_dram_all(Lowering *l, uint64_t bytes);

/* The buffer of a tensor as it lies on a core. */
Layout lower_layout(const PlanTensor *t, int core);

/* Address of the first byte of a pixel: of its values, or of its exponent. */
uint32_t lower_values(const PlanTensor *t, int core, int plane, int row, int col);
uint32_t lower_exponent(const PlanTensor *t, int core, int plane, int row, int col);

/* Bytes from plane to plane, of values and, in bfp8_b, of exponents. */
uint32_t lower_plane_step(const PlanTensor *t);
uint32_t lower_exponent_step(const PlanTensor *t);

/* Rows that go from core to core when step `s` is done, the zeros around its
 * result, and what it has to wait for. */
void lower_pushes(Lowering *l, ProgramOp *op, const Step *s);
void lower_zeros(Lowering *l, ProgramOp *op, const Step *s);
void lower_arrivals(Lowering *l, ProgramOp *op, const Step *s);

/* The step's weights, and its bias, as images in DRAM: where they are. */
typedef struct LowerImage {
	int bank;
	uint64_t address, bytes;
} LowerImage;

LowerImage lower_weights(Lowering *l, const Step *s);
LowerImage lower_bias(Lowering *l, const Step *s);

/* Host tensors and the steps that move them. */
void lower_edge_in(Lowering *l, const Step *s);
void lower_edge_out(Lowering *l, const Step *s);

#endif
