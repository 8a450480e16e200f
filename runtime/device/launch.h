/*
 * From reset to the last op: how each RISC-V starts, and how ops follow each
 * other as map.h says.
 *
 * The library is one module for each RISC-V: `_start`, in a section of its own,
 * sets the stack and clears .bss, `main` goes on. The program is tt_dispatch,
 * made by the compiler: it runs the variant that lies at `routine`. There are
 * no variables with a first value; tt_state and tt_running_state are the only ones.
 *
 * The loader clears TT_CONTROL to TT_CONTROL_END of every core, fills TtLaunch
 * and only then takes the first BRISC out of reset.
 */
#ifndef RUNTIME_DEVICE_LAUNCH_H
#define RUNTIME_DEVICE_LAUNCH_H

#include "runtime/device/lists.h"
#include "runtime/device/reset.h"

#ifdef __cplusplus
extern "C" {
#endif

void tt_dispatch(uint32_t routine, const void *params);

#ifdef __cplusplus
}
#endif

enum {
	TT_RESET_BRISC = 0x800,
	TT_RESET_TRISCS = 0x7000,
	TT_RESET_NCRISC = 0x40000,
	TT_CFG_TRISC_PC = 158, /* three words, then a mask that says they count */
	TT_CFG_TRISC_PC_ON = 161,
	TT_CFG_NCRISC_PC = 162,
	TT_CFG_NCRISC_PC_ON = 163,
	TT_CFG_IC_INVALIDATE = 157,
	TT_ALL_ICS = 31,
	TT_MOVER = (int)0xffb11000,
	TT_NOC_COLUMNS_OUT = 0x108, /* columns and rows that take no multicast */
	TT_NOC_ROWS_OUT = 0x110,
	TT_NOT_READY = -1, /* in TT_FINISHED before a RISC-V has started */
};

static inline const TtLaunch *tt_launch(void)
{
	return (const TtLaunch *)(uintptr_t)TT_LAUNCH;
}

/* The block of op number s, which only grows. */
static inline const TtOp *tt_block(uint32_t s)
{
	return (const TtOp *)(uintptr_t)(TT_BLOCKS + (s & 1) * TT_MAX_BLOCK);
}

static inline const void *tt_op_words(const TtOp *op, uint32_t at)
{
	return (const uint32_t *)(const void *)op + at;
}

static inline uint32_t tt_finished(uint32_t risc)
{
	return TT_FINISHED + 4 * risc;
}

/* What NCRISC and the TRISCs do from their start on. */
static inline __attribute__((noreturn)) void tt_follow(uint32_t risc)
{
	uint32_t s = 0;
	tt_l1_set(tt_finished(risc), 0);
	for (;;) {
		const TtOp *op = tt_block(++s);
		if (risc == TT_NCRISC)
			tt_l1_reach(TT_READY, s);
		if (risc != TT_NCRISC || !op->early)
			tt_l1_reach(TT_START, s);
		tt_running()->op = s;
		if (!op->op)
			tt_running()->run++;
		if (risc == TT_TRISC1)
			tt_running()->act = op->act;
		if (op->routine[risc]) {
			tt_dispatch(op->routine[risc], tt_op_words(op, op->params_at));
			if (risc != TT_NCRISC)
				tt_sync();
		}
		tt_l1_set(tt_finished(risc), s);
	}
}

static inline void tt_fetch_block(uint32_t s, uint32_t index, uint32_t bytes)
{
	const TtLaunch *l = tt_launch();
	noc_async_read(tt_noc_at(l->block_node, l->block_at + index * l->block_bytes),
		       (uint32_t)(uintptr_t)tt_block(s), bytes);
	noc_async_read_barrier();
	tt_l1_set(TT_READY, s);
}

/* All stores to configuration before it have been processed: a word that can be
 * read comes last and is read back. No packer is at work. */
static inline void tt_cfg_settle(void)
{
	TT_CFG(TT_AT_PCK_EDGE_OFFSET_SEC0_mask) = 0xffff;
	const uint32_t seen = TT_CFG(TT_AT_PCK_EDGE_OFFSET_SEC0_mask);
	__asm__ volatile("addi x0, %0, 0" : : "r"(seen) : "memory");
}

/* New code for this op. All RISC-Vs wait for TT_START, or NCRISC is at an early op,
 * whose code is resident: none is in the area. */
static inline void tt_load_overlay(const TtOp *op)
{
	noc_async_read(tt_noc_at(op->overlay_node, op->overlay_from), op->overlay_to,
		       op->overlay_bytes);
	noc_async_read_barrier();
	TT_CFG(TT_CFG_IC_INVALIDATE) = TT_ALL_ICS;
	tt_cfg_settle();
	for (uint32_t i = 0; i < 20; i++) /* InstructionCache.md: its own pipeline */
		__asm__ volatile("nop");
}

/* A word of another core: the number of an op. */
static inline void tt_tell(uint32_t node, uint32_t at, uint32_t s)
{
	noc_inline_dw_write(tt_noc_at(node, at), s);
}

/* All rows first, then one wait, then the words: each receiver would cost a way
 * there and back else. */
static inline void tt_push(const TtOp *op, uint32_t s)
{
	const uint32_t *at = (const uint32_t *)tt_op_words(op, op->pushes_at);
	const uint32_t self = tt_launch()->core;
	if (!op->pushes)
		return;
	tt_push_rows(at, op->pushes, self);
	noc_async_write_barrier();
	for (uint32_t i = op->pushes; i; i--, at += tt_push_words(*at))
		if ((*at & TT_PUSH_LAST) && tt_push_core(*at) != self)
			tt_tell(tt_push_node(*at), TT_PUSHED + 4 * self, s);
}

/* Starts the moves of one time; how many there were. */
static inline uint32_t tt_op_moves(const TtOp *op, TtMoveWhen when)
{
	return tt_moves((const TtMove *)tt_op_words(op, op->moves_at), op->moves, when);
}

/* Op `index` of the program, number s; its block is there. */
static inline void tt_lead_op(uint32_t s, uint32_t index)
{
	const TtLaunch *l = tt_launch();
	const TtOp *op = tt_block(s);
	tt_running()->op = s;
	tt_l1_set(TT_OP_WORD, index);
	tt_l1_reach(TT_LAUNCH + (uint32_t)__builtin_offsetof(TtLaunch, until), s);
	noc_async_read_barrier();
	if (op->overlay_bytes)
		tt_load_overlay(op);
	const uint32_t *pusher = (const uint32_t *)tt_op_words(op, op->pushers_at);
	for (uint32_t i = op->pushers; i; i--, pusher++)
		tt_tell(*pusher, TT_ENTERED + 4 * l->core, s);
	const TtArrival *a = (const TtArrival *)tt_op_words(op, op->arrivals_at);
	for (uint32_t i = op->arrivals; i; i--, a++)
		tt_l1_reach(TT_PUSHED + 4 * (a->from & 255),
			    s - index + (a->from >> TT_ARRIVAL_OP));
	if (tt_op_moves(op, TT_MOVE_BEFORE))
		noc_async_read_barrier();
	tt_l1_set(TT_START, s);
	tt_op_moves(op, TT_MOVE_ALONGSIDE); /* what they read is there with the next block */
	tt_zero_strips((const TtZero *)tt_op_words(op, op->zeros_at), op->zeros);
	if (op->routine[TT_BRISC])
		tt_dispatch(op->routine[TT_BRISC], tt_op_words(op, op->params_at));
	tt_l1_set(tt_finished(TT_BRISC), s);
	tt_fetch_block(s + 1, index + 1 == l->ops ? 0 : index + 1, op->next_bytes);
	for (uint32_t r = TT_NCRISC; r < TT_RISCS; r++)
		tt_l1_reach(tt_finished(r), s);
	noc_async_write_barrier(); /* zeros, which moves and pushes take along */
	if (tt_op_moves(op, TT_MOVE_AFTER))
		noc_async_write_barrier();
	tt_push(op, s);
}

static inline __attribute__((noreturn)) void tt_lead(void)
{
	const TtLaunch *l = tt_launch();
	uint32_t s = 0;
	tt_fetch_block(1, 0, l->block_bytes);
	for (uint32_t run = 1;; run++) {
		tt_l1_reach(TT_LAUNCH, run);
		tt_running()->run = run;
		for (uint32_t i = 0; i < l->ops; i++)
			tt_lead_op(++s, i);
		tt_noc_add(l->root_node, TT_DONE_COUNT, 1);
		noc_async_atomic_barrier();
		noc_async_write_barrier();
		if (!l->core) {
			tt_l1_reach(TT_DONE_COUNT, run * l->cores);
			tt_l1_set(TT_LAUNCH + 4, run);
		}
	}
}

/* Code of NCRISC to its instruction memory: the mover of TDMA-RISC (Mover.md). */
static inline void tt_load_iram(const TtLaunch *l)
{
	TT_REG(TT_MOVER + 0x0) = l->iram_from >> 4;
	TT_REG(TT_MOVER + 0x4) = 0x4000;
	TT_REG(TT_MOVER + 0x8) = (l->iram_bytes + 15) >> 4;
	TT_REG(TT_MOVER + 0xc) = 1;
	TT_REG(TT_MOVER + 0x10) = 0x40;
	while (!(TT_REG(TT_MOVER + 0x14) & 8))
		;
}

static inline void tt_release_others(const TtLaunch *l)
{
	for (uint32_t r = TT_NCRISC; r < TT_RISCS; r++)
		tt_l1_set(tt_finished(r), (uint32_t)TT_NOT_READY);
	for (uint32_t t = 0; t < 3; t++)
		TT_CFG(TT_CFG_TRISC_PC + t) = l->entry[TT_TRISC0 + t];
	TT_CFG(TT_CFG_TRISC_PC_ON) = 7;
	TT_CFG(TT_CFG_NCRISC_PC) = l->entry[TT_NCRISC];
	TT_CFG(TT_CFG_NCRISC_PC_ON) = 1;
	tt_cfg_settle();
	TT_SOFT_RESET = 0;
	for (uint32_t r = TT_NCRISC; r < TT_RISCS; r++)
		while (*tt_l1(tt_finished(r)) == (uint32_t)TT_NOT_READY)
			;
}

#endif
