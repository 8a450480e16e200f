/*
 * From a graph and its plan to a program: the plan has decided everything,
 * here it is only said in the device library's words.
 */
#ifndef BACKEND_LOWER_H
#define BACKEND_LOWER_H

#include "backend/program.h"
#include "ir/plan.h"

Program *lower(const Plan *plan);

/* ---- its parts ---- */

typedef struct Lowering {
	const Plan *plan;
	Program *program;
	Arena *arena;
	uint64_t dram; /* first free byte of every bank */
	const Op *output; /* the op whose parts are being sent */
} Lowering;

/* A parameter that may differ from core to core; core 0 comes first. */
void lower_set(Lowering *l, ProgramOp *op, int core, const char *field, int index, uint32_t value);

/* Room of so many bytes in every bank, at the same address. */
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

/* The step's weights as an image in DRAM, in pages of DRAM_PAGE over all banks
 * from bank 0 on: its address in each. */
enum { DRAM_PAGE = 8192 };
uint64_t lower_weights(Lowering *l, const Step *s);

/* Host tensors and the steps that move them. */
void lower_edge_in(Lowering *l, const Step *s);
void lower_edge_out(Lowering *l, const Step *s);

#endif
