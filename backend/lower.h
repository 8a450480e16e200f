/*
 * From a graph and its plan to a program: the plan has decided everything,
 * here it is only said in the device library's words.
 *
 * A step becomes one op of the program, or several in a row: images of a
 * stacked batch one after the other.
 */
#ifndef BACKEND_LOWER_H
#define BACKEND_LOWER_H

#include "backend/program.h"
#include "ir/plan_work.h"

Program *lower(const Plan *plan);

/* ---- its parts ---- */

/* A move between a core and a tensor in DRAM: number `move` of those of an op. */
typedef struct LowerMoved {
	int op, core, move;
	const PlanTensor *dram;
} LowerMoved;

typedef struct Lowering {
	const Plan *plan;
	Program *program;
	Arena *arena;
	uint64_t dram; /* first free byte of every bank */
	int *first_op, *last_op; /* of each step */
	const Step *step; /* at hand, and which image of its result */
	int image;
	int images; /* that the op at hand makes, from that one on */
	int slice; /* of a step in slices: which */
	LowerMoved *moved;
	int nmoved;
} Lowering;

/* A parameter that may differ from core to core; core 0 comes first. */
void lower_set(Lowering *l, ProgramOp *op, int core, const char *field, int index, uint32_t value);

/* Room of so many bytes in every bank, at the same address. */
uint64_t lower_dram_all(Lowering *l, uint64_t bytes);

/* Planes into the buffer of a tensor on a core: where plane `plane` of an image
 * and phase stands. */
uint32_t lower_plane(const PlanTensor *t, int core, int phase, int image, int plane);

/* An op on tiles (params.def): made with its name, window, input, output and
 * rows; what runs is left to the caller. */
ProgramOp *lower_tiles(Lowering *l, const Step *s);
void lower_window(Lowering *l, ProgramOp *op, const Step *s);
void lower_input(Lowering *l, ProgramOp *op, const Step *s);
void lower_output(Lowering *l, ProgramOp *op, const Step *s);

/* What surrounds an op on tiles: its activation, zeros with the first image of the
 * first step that writes its result, rows for other cores behind the last of the
 * last, and what it waits for. */
void lower_around(Lowering *l, ProgramOp *op, const Step *s);

/* Likewise for one of several ops on an image, perhaps the first or the last. */
void lower_around_one(Lowering *l, ProgramOp *op, const Step *s, bool first, bool last);

/* Variant of a routine for all cores, and of the math routine's activation and
 * the store's. */
void lower_run(Lowering *l, ProgramOp *op, TtRisc risc, const char *routine, const uint32_t *args,
	       int nargs);
void lower_store(Lowering *l, ProgramOp *op, const Step *s, uint32_t n, uint32_t hold);

/* Address of the first byte of a pixel: of its values, or of its exponent. */
uint32_t lower_values(const PlanTensor *t, int core, int phase, int image, int plane, int row,
		      int x);
uint32_t lower_exponent(const PlanTensor *t, int core, int phase, int image, int plane, int row,
			int x);

/* Bytes from plane to plane, of values and, in bfp8_b, of exponents. */
uint32_t lower_plane_step(const PlanTensor *t);
uint32_t lower_exponent_step(const PlanTensor *t);

/* Regions that go from core to core when step `s` is done, the zeros around its
 * result, and what it has to wait for. */
void lower_pushes(Lowering *l, ProgramOp *op, const PlanTensor *from, const PlanTensor *to);
void lower_zeros(Lowering *l, ProgramOp *op, const Step *s);
void lower_arrivals(Lowering *l, ProgramOp *op, const Step *s);

/* Zeros in what no row of the image fills: rows above and below it, rows the core
 * does not use, the bytes behind the last plane. */
void lower_rest(Lowering *l, ProgramOp *op, const PlanTensor *t);

/* Of a tensor in DRAM: rows in a page, bytes of it, which one some rows are in, and where
 * that stands in its bank, page % TT_DRAM_BANKS. */
int lower_page_rows(const PlanTensor *t);
uint32_t lower_page_bytes(const PlanTensor *t);
uint32_t lower_dram_page(const PlanTensor *t, int phase, int image, int plane, int row);
uint32_t lower_dram_at(const PlanTensor *t, uint32_t page);

/* Places for the tensors in DRAM, when all ops are made: until then addresses of moves are
 * from the start of the tensor, and the last move of an op on a core is noted. */
void lower_dram_begin(Lowering *l);
void lower_dram_moved(Lowering *l, const ProgramOp *op, int core, const PlanTensor *dram);
void lower_dram_place(Lowering *l);

/* A region of a tensor in DRAM to or from a core's buffer `t`, rows inside of the
 * image only. Cores that will read what was written are told of it; those that
 * wrote what is read are waited for. */
void lower_move(Lowering *l, ProgramOp *op, int core, const PlanTensor *t, const PlanTensor *dram,
		bool out, TtMoveWhen when, Region r);
void lower_announce(Lowering *l, ProgramOp *op, const PlanTensor *dram);
void lower_await(Lowering *l, ProgramOp *op, const Step *s, int part);

/* A spill or refill, beside an op or (NULL) by itself. */
void lower_move_step(Lowering *l, ProgramOp *op, const Step *s);

/* A step in slices of its result, each by lower_step. */
void lower_streamed(Lowering *l, const Step *s);
void lower_images(Lowering *l, const Step *s); /* of all images */
void lower_step(Lowering *l, const Step *s);

/* Weights of groups `groups` of a step as an image in DRAM, in pages of
 * DRAM_PAGE over all banks from bank 0 on: its address in each. */
enum { DRAM_PAGE = 8192 };
uint64_t lower_weight_image(Lowering *l, const Step *s, Range groups);

/* Pages of STEP_CHANNEL: bias and taps of two planes each. */
void lower_channel_pages(const Step *s, Range groups, uint8_t *to);
/* The semaphores weights are shared with. */
void lower_semaphores(Lowering *l);

/* Circular buffer, DRAM image and who reads and sends: the op's weights. */
void lower_weights(Lowering *l, ProgramOp *op, const Step *s);

/* One page for all cores, in the place of weights. */
void lower_page(Lowering *l, ProgramOp *op, const Step *s, const uint8_t *data, uint64_t bytes);

/* Steps, by family. */
void lower_binary(Lowering *l, const Step *s);
void lower_channel(Lowering *l, const Step *s);
void lower_constant(Lowering *l, const Step *s);
void lower_conv(Lowering *l, const Step *s);
void lower_lanes(Lowering *l, const Step *s);
void lower_mix(Lowering *l, const Step *s);
void lower_norm(Lowering *l, const Step *s);
void lower_pool(Lowering *l, const Step *s);
void lower_reduce(Lowering *l, const Step *s);
void lower_reshard(Lowering *l, const Step *s);
void lower_edge_in(Lowering *l, const Step *s);
void lower_edge_out(Lowering *l, const Step *s);

#endif
