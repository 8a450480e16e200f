/*
 * Parameter blocks as BRISC fetches them: a TtOp, its lists, then the words of
 * the op's parameters, one block for each core and op.
 *
 * The blocks of a core follow each other in one bank of DRAM, the cores dealt
 * over the banks; overlays lie behind them.
 */
#ifndef BACKEND_BLOCKS_H
#define BACKEND_BLOCKS_H

#include "backend/code.h"

typedef struct Blocks {
	uint32_t block_bytes;   /* of every block */
	uint8_t **data;         /* of each core, in the order of the ops */
	uint32_t *bank, *at;    /* where they lie */
	uint32_t overlay_at;    /* of overlay i: in bank i % TT_DRAM_BANKS */
	uint64_t end;           /* first byte of every bank that is free behind all this */
} Blocks;

/* Of one core's block of an op: as much of it as is fetched. */
uint32_t blocks_bytes(const Program *p, int op, int core);

/* False if a block or DRAM is too small, which is reported. */
bool blocks_make(Blocks *b, Arena *a, Diag *d, const Program *p, const Target *t,
		 const Code *c);

/* The pushes of a core as TtPush, without TT_PUSH_LAST and TT_PUSH_SAME; how many, of which
 * one may stand for two of the program's. Those that are the same but for the core follow
 * each other. */
int blocks_pushes(const Program *p, const ProgramOpCore *on, TtPush v[]);

TtMove blocks_move(const ProgramMove *m);

/* Bytes from the start of its bank where an overlay lies. */
uint32_t blocks_overlay_at(const Blocks *b, const Code *c, int overlay);

#endif
