/*
 * Unpackers and matrix unit in step: how long one turn of a product's inner loop
 * takes when it is repeated, which is more than either of them needs alone.
 *
 * The rules (UNPACR_Regular.md, SrcASrcB.md). The unpack thread issues in order.
 * UNPACR holds it for the set-up and then reads L1; an unpacker does one at a
 * time, two at once share the rate. SrcA and SrcB have two banks each: UNPACR
 * waits for one that the matrix unit has given back, and everything behind it
 * waits too. A product waits for both operands.
 *
 * So an operand that is kept for several products is loaded late: the pixels in
 * front of it wait for a bank, and it shares the path with those behind it.
 */
#ifndef IR_PIPELINE_H
#define IR_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

enum { PIPELINE_UNPACKS = 16, PIPELINE_PRODUCTS = 4 };

typedef struct PipelineUnpack {
	int unpacker;      /* 0: to SrcA, 1: to SrcB */
	int64_t bytes;
	bool hands_over;   /* the bank is full with it */
	int64_t before;    /* cycles of other instructions of the thread in front of it */
} PipelineUnpack;

typedef struct PipelineProduct {
	int64_t cost;      /* thousandths of a cycle */
	bool gives[2];     /* back: SrcA, SrcB */
} PipelineProduct;

/* One turn. Each bank that is handed over is given back in the same turn. */
typedef struct Pipeline {
	int64_t setup;            /* cycles of an UNPACR */
	int64_t alone, together;  /* bytes a cycle: of one unpacker, of both */
	int unpacks, products;
	PipelineUnpack unpack[PIPELINE_UNPACKS];
	PipelineProduct product[PIPELINE_PRODUCTS];
} Pipeline;

/* Thousandths of a cycle from turn to turn. */
int64_t pipeline_turn(const Pipeline *p);

#endif
