#include "runtime/emu/tensix.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ir/cost.h"
#include "runtime/emu/core.h"
#include "runtime/emu/rwc.h"
#include "runtime/emu/shadow.h"

enum {
	OPCODE_MOP = 0x01,
	OPCODE_NOP = 0x02,
	OPCODE_MOP_CFG = 0x03,
	OPCODE_REPLAY = 0x04,
	OPCODE_MVMUL = 0x26,
	OPCODE_UNPACR_NOP = 0x43,
	PLAIN_NOP = OPCODE_NOP << 24,
};

typedef struct OpInfo {
	TensixUnit *run;
	uint32_t unused; /* bits that no operand takes */
	const char *name;
} OpInfo;

static const OpInfo ops[256] = {
#define NONE
#define F(name, high, low) & ~(((2u << ((high) - (low))) - 1) << (low))
#define TENSIX_OP(name, opcode, fields) [opcode] = { emu_op_##name, 0xffffffu fields, #name },
#include "runtime/device/tensix_ops.def"
};

void tensix_reset(Tensix *t, struct EmuCore *core)
{
	static const uint32_t constants[SFPU_REGS] = {
		[8] = 0x3f56594b, [10] = 0x3f800000, [11] = 0xbf800000, [12] = 0x3b000000,
		[13] = 0xbf2cc4c7, [14] = 0xbeb08ff9,
	};

	memset(t, 0, sizeof *t);
	t->core = core;
	t->version = 1;
	memset(t->dst_valid, true, sizeof t->dst_valid);
	for (uint32_t lane = 0; lane < SFPU_LANES; lane++) {
		for (int r = 8; r < SFPU_REGS; r++)
			t->lreg[r][lane] = constants[r];
		t->lreg[15][lane] = lane << 1;
	}
	t->cc_on = true;
	t->cc = 0xffffffff;
}

const char *tensix_op_name(uint32_t i)
{
	const char *name = ops[i >> 24].name;

	return name ? name : "unknown";
}

Exec tensix_unknown(Tensix *t, int thread, uint32_t i, const char *what, uint32_t value)
{
	emu_fault(t->core, TRISC0 + thread, "unknown-instruction", i, "%s (%08x): %s = %u (0x%x)",
	          tensix_op_name(i), i, what, value, value);
	return EXEC_FAULT;
}

/* ---- expanders (MOPExpander.md, REPLAY.md) ---- */

static inline void queue(Tensix *t, int thread, uint32_t i, bool expanded)
{
	TensixThread *th = &t->thread[thread];
	uint32_t slot = th->tail % FIFO_SLOTS;

	if (i == PLAIN_NOP && !t->core->shadow) /* it does nothing but take a slot */
		return;
	if (th->tail - th->head == FIFO_SLOTS) {
		tensix_unknown(t, thread, i, "instructions queued already", FIFO_SLOTS);
		return;
	}
	th->fifo[slot] = i;
	th->expanded[slot] = expanded;
	th->tail++;
}

static void replay(Tensix *t, int thread, uint32_t i)
{
	TensixThread *th = &t->thread[thread];
	uint32_t start = op_bits(i, 23, 14), len = op_bits(i, 13, 4);
	bool load = op_bits(i, 0, 0), exec = op_bits(i, 1, 1);

	if (i & ops[OPCODE_REPLAY].unused)
		tensix_unknown(t, thread, i, "unused bits", i & ops[OPCODE_REPLAY].unused);
	else if (exec && !load)
		tensix_unknown(t, thread, i, "exec without load", exec);
	else if (len < 1 || len > REPLAY_SLOTS)
		tensix_unknown(t, thread, i, "len", len);
	else if (start >= REPLAY_SLOTS)
		tensix_unknown(t, thread, i, "start", start);
	else if (load) {
		th->replay_at = start;
		th->replay_left = len;
		th->replay_exec = exec;
	} else {
		for (uint32_t k = 0; k < len; k++)
			queue(t, thread, th->replay[(start + k) % REPLAY_SLOTS], true);
	}
}

/* Past the MOP expander. */
static void pass(Tensix *t, int thread, uint32_t i, bool expanded)
{
	TensixThread *th = &t->thread[thread];

	if (th->replay_left) {
		th->replay[th->replay_at] = i;
		th->replay_at = (th->replay_at + 1) % REPLAY_SLOTS;
		th->replay_left--;
		if (th->replay_exec)
			queue(t, thread, i, expanded);
	} else if (i >> 24 == OPCODE_REPLAY) {
		replay(t, thread, i);
	} else {
		queue(t, thread, i, expanded);
	}
}

/* Type 0: a run of instructions for each bit of a mask. */
static void mop_masked(Tensix *t, int thread, uint32_t i)
{
	TensixThread *th = &t->thread[thread];
	const uint32_t *cfg = th->mop_cfg;
	uint32_t count = op_bits(i, 22, 16), flags = cfg[1];
	uint32_t mask = op_bits(i, 15, 0) | (uint32_t)th->mop_zmask_hi16 << 16;

	if (count > 31) {
		tensix_unknown(t, thread, i, "count", count);
		return;
	}
	if (flags > 3) {
		tensix_unknown(t, thread, i, "flags", flags);
		return;
	}
	for (uint32_t k = 0; k <= count; k++, mask >>= 1) {
		if (mask & 1) {
			pass(t, thread, cfg[7], true);
			if (flags & 1)
				pass(t, thread, cfg[8], true);
			continue;
		}
		pass(t, thread, cfg[3], true);
		for (int a = 4; a <= 6 && flags & 2; a++)
			pass(t, thread, cfg[a], true);
		if (flags & 1)
			pass(t, thread, cfg[2], true);
	}
}

static bool is_nop(uint32_t i)
{
	return i >> 24 == OPCODE_NOP;
}

/* Type 1: two nested loops. */
static void mop_nested(Tensix *t, int thread, uint32_t i)
{
	const uint32_t *cfg = t->thread[thread].mop_cfg;
	uint32_t outer = cfg[0], inner = cfg[1], op = cfg[5], flip = 0;

	if (op_bits(i, 22, 0)) {
		tensix_unknown(t, thread, i, "operands of type 1", op_bits(i, 22, 0));
		return;
	}
	if (outer < 1 || outer > 32) {
		tensix_unknown(t, thread, i, "outer loop", outer);
		return;
	}
	if (inner < 1 || inner > 64) {
		tensix_unknown(t, thread, i, "inner loop", inner);
		return;
	}
	if (!is_nop(cfg[6])) {
		flip = op ^ cfg[6];
		inner *= 2;
	}
	for (uint32_t a = 0; a < outer; a++) {
		if (!is_nop(cfg[2]))
			pass(t, thread, cfg[2], true);
		for (uint32_t b = 0; b < inner; b++, op ^= flip) {
			if (b + 1 < inner)
				pass(t, thread, op, true);
			else
				pass(t, thread, cfg[a + 1 < outer ? 8 : 7], true);
		}
		if (is_nop(cfg[3]))
			continue;
		pass(t, thread, cfg[3], true);
		if (!is_nop(cfg[4]))
			pass(t, thread, cfg[4], true);
	}
}

void tensix_push(Tensix *t, int thread, uint32_t i, bool expand)
{
	uint32_t opcode = i >> 24;

	if (expand && opcode == OPCODE_MOP) {
		if (op_bits(i, 23, 23))
			mop_nested(t, thread, i);
		else
			mop_masked(t, thread, i);
	} else if (expand && opcode == OPCODE_MOP_CFG) {
		if (i & ops[OPCODE_MOP_CFG].unused)
			tensix_unknown(t, thread, i, "unused bits", i & ops[OPCODE_MOP_CFG].unused);
		t->thread[thread].mop_zmask_hi16 = (uint16_t)i;
	} else {
		pass(t, thread, i, false);
	}
}

/* What only a BRISC, whose instructions pass the expander by, can bring here. */
#define STRAY(name) \
	Exec emu_op_##name(Tensix *t, int thread, uint32_t i) \
	{ \
		return tensix_unknown(t, thread, i, "not expanded", 0); \
	}
STRAY(MOP)
STRAY(MOP_CFG)
STRAY(REPLAY)

Exec emu_op_NOP(Tensix *t, int thread, uint32_t i)
{
	(void)t;
	(void)thread;
	(void)i;
	return EXEC_DONE;
}

/* ---- execution ---- */

static TensixUnitId unit_of(uint32_t opcode)
{
	switch (opcode) {
	case 0x08: case 0x0a: case 0x0b: case 0x10: case 0x11: case 0x12: case 0x13: case 0x16:
	case 0x26: case 0x27: case 0x28: case 0x30: case 0x33: case 0x34:
		return UNIT_MATRIX;
	case 0x41:
		return UNIT_PACK;
	case 0x42: case 0x43:
		return UNIT_UNPACK;
	default:
		return opcode >= 0x70 && opcode <= 0x95 ? UNIT_SFPU : UNIT_OTHER;
	}
}

/* n instructions of the same kind. */
static inline void count(EmuCore *c, int thread, uint32_t opcode, bool expanded, uint32_t n)
{
	static const CounterId plain[TENSIX_UNITS] = {
		[UNIT_UNPACK] = COUNTER_unpacks,
		[UNIT_SFPU] = COUNTER_sfpus,
		[UNIT_PACK] = COUNTER_packs,
	};
	static const CounterId others[TENSIX_THREADS] = {
		COUNTER_unpack_others, COUNTER_math_others, COUNTER_pack_others,
	};

	if (opcode == OPCODE_MVMUL) {
		c->counters[COUNTER_mvmuls] += n;
		return;
	}
	TensixUnitId unit = unit_of(opcode);
	if (unit == UNIT_MATRIX)
		c->counters[expanded ? COUNTER_elws : COUNTER_elw_singles] += n;
	else if (unit != UNIT_OTHER && opcode != OPCODE_UNPACR_NOP)
		c->counters[plain[unit]] += n;
	else if (opcode != OPCODE_NOP) /* which does nothing, and is left out without checks */
		c->counters[others[thread]] += n;
}

static Exec timed(Tensix *t, int thread, uint32_t i)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	Exec e = ops[i >> 24].run(t, thread, i);
	clock_gettime(CLOCK_MONOTONIC, &to);
	t->spent[unit_of(i >> 24)] += (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000u +
	                              (uint64_t)to.tv_nsec - (uint64_t)from.tv_nsec;
	return e;
}

/* Executes the instruction at the head, and those its unit takes with it; how many,
 * none if it has to wait. */
static inline uint32_t execute(Tensix *t, int thread, uint32_t most)
{
	TensixThread *th = &t->thread[thread];
	uint32_t at = th->head, i = th->fifo[at % FIFO_SLOTS];
	const OpInfo *op = &ops[i >> 24];
	EmuCore *c = t->core;

	if (!op->run || i & op->unused) {
		tensix_unknown(t, thread, i, "unused bits", op->run ? i & op->unused : i);
		return 0;
	}
	if (c->shadow)
		shadow_issue(c, thread, i);
	th->ahead = c->faulted ? 0 : most - 1;
	Exec e = t->profile ? timed(t, thread, i) : op->run(t, thread, i);
	if (e != EXEC_DONE)
		return 0;
	th->head++;
	if (c->counters)
		count(c, thread, i >> 24, th->expanded[at % FIFO_SLOTS], th->head - at);
	return th->head - at;
}

uint32_t tensix_step(Tensix *t, int thread, uint32_t most)
{
	const TensixThread *th = &t->thread[thread];
	uint32_t done = 0, now = 1;

	while (now && th->head != th->tail && done < most && !t->core->faulted) {
		now = execute(t, thread, most - done);
		done += now;
	}
	return done;
}

/* ---- shared by the units ---- */

static void refuse_modifier(Tensix *t, int thread, const char *what, uint32_t value)
{
	const TensixThread *th = &t->thread[thread];

	tensix_unknown(t, thread, th->fifo[th->head % FIFO_SLOTS], what, value);
}

void tensix_advance(Tensix *t, int thread, uint32_t addr_mode, bool fidelity)
{
	TensixThread *th = &t->thread[thread];
	Modifier m = rwc_modifier(th, &th->rwc, addr_mode);

	rwc_step(&th->rwc, m, fidelity);
	if (!modifier_dst_known(m))
		refuse_modifier(t, thread, "address modifier of Dst", m.dst);
	if (!modifier_bias_known(m))
		refuse_modifier(t, thread, "bias modifier", m.bias);
}

static bool give_back(SrcFile *src, bool keep)
{
	bool was = src->valid[src->matrix_bank];

	if (!keep)
		src->valid[src->matrix_bank] = false;
	src->matrix_bank ^= 1;
	return was || keep;
}

Exec tensix_release(Tensix *t, int thread, uint32_t i, uint32_t mask)
{
	uint32_t keep = t->thread[thread].cfg[TCFG_CLR_DVALID_SrcA_Disable.word];

	if (mask & 1 && !give_back(&t->a, keep & 1))
		return tensix_unknown(t, thread, i, "releases SrcA, which is not valid", mask);
	if (mask & 2 && !give_back(&t->b, keep >> 1 & 1))
		return tensix_unknown(t, thread, i, "releases SrcB, which is not valid", mask);
	return EXEC_DONE;
}
