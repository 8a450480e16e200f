/* The sync unit: semaphores, mutexes, and what a thread waits for (SyncUnit.md). */
#include "runtime/emu/tensix.h"

#include <stdio.h>

/* STALLWAIT conditions. Units are never busy between two instructions here, so
 * only those on source banks can hold an instruction up. */
enum {
	WAIT_UNITS = 0x60ff,
	WAIT_A_FREE = 0x100,
	WAIT_B_FREE = 0x200,
	WAIT_A_VALID = 0x400,
	WAIT_B_VALID = 0x800,
};

enum { SEMWAIT_ZERO = 1, SEMWAIT_MAX = 2 };

enum { OPCODE_UNPACR = 0x42, OPCODE_UNPACR_NOP = 0x43, OPCODE_ATGETM = 0xa0,
       OPCODE_STALLWAIT = 0xa2, OPCODE_SEMWAIT = 0xa6 };

/* The one semaphore an instruction names, or -1. */
static int semaphore_of(uint32_t i)
{
	uint32_t select = op_bits(i, 9, 2);

	return __builtin_popcount(select) == 1 ? __builtin_ctz(select) : -1;
}

Exec emu_op_SEMINIT(Tensix *t, int thread, uint32_t i)
{
	uint32_t value = op_bits(i, 19, 16), max = op_bits(i, 23, 20);
	int s = semaphore_of(i);

	if (s < 0)
		return tensix_unknown(t, thread, i, "sem_sel", op_bits(i, 9, 2));
	if (value > max)
		return tensix_unknown(t, thread, i, "init_value above the maximum", value);
	t->semaphore[s] = (uint8_t)value;
	t->semaphore_max[s] = (uint8_t)max;
	return EXEC_DONE;
}

Exec emu_op_SEMPOST(Tensix *t, int thread, uint32_t i)
{
	int s = semaphore_of(i);

	if (s < 0)
		return tensix_unknown(t, thread, i, "sem_sel", op_bits(i, 9, 2));
	if (t->semaphore[s] >= t->semaphore_max[s])
		return tensix_unknown(t, thread, i, "posts a semaphore at its maximum", t->semaphore[s]);
	t->semaphore[s]++;
	return EXEC_DONE;
}

Exec emu_op_SEMGET(Tensix *t, int thread, uint32_t i)
{
	int s = semaphore_of(i);

	if (s < 0)
		return tensix_unknown(t, thread, i, "sem_sel", op_bits(i, 9, 2));
	if (!t->semaphore[s])
		return tensix_unknown(t, thread, i, "gets a semaphore that is zero", (uint32_t)s);
	t->semaphore[s]--;
	return EXEC_DONE;
}

Exec emu_op_SEMWAIT(Tensix *t, int thread, uint32_t i)
{
	uint32_t condition = op_bits(i, 1, 0);
	int s = semaphore_of(i);

	if (s < 0)
		return tensix_unknown(t, thread, i, "sem_sel", op_bits(i, 9, 2));
	if (condition == SEMWAIT_ZERO)
		return t->semaphore[s] ? EXEC_DONE : EXEC_WAIT;
	if (condition == SEMWAIT_MAX)
		return t->semaphore[s] < t->semaphore_max[s] ? EXEC_DONE : EXEC_WAIT;
	return tensix_unknown(t, thread, i, "wait_sem_cond", condition);
}

Exec emu_op_ATGETM(Tensix *t, int thread, uint32_t i)
{
	uint32_t m = op_bits(i, 15, 0);

	if (m)
		return tensix_unknown(t, thread, i, "mutex_index", m);
	if (t->mutex[m] == thread + 1)
		return tensix_unknown(t, thread, i, "takes a mutex it has", m);
	if (t->mutex[m])
		return EXEC_WAIT;
	t->mutex[m] = (uint8_t)(thread + 1);
	return EXEC_DONE;
}

Exec emu_op_ATRELM(Tensix *t, int thread, uint32_t i)
{
	uint32_t m = op_bits(i, 15, 0);

	if (m)
		return tensix_unknown(t, thread, i, "mutex_index", m);
	if (t->mutex[m] != thread + 1)
		return tensix_unknown(t, thread, i, "releases a mutex of thread", t->mutex[m]);
	t->mutex[m] = 0;
	return EXEC_DONE;
}

/* Conditions of a STALLWAIT that do not hold. */
static uint32_t unmet(const Tensix *t, uint32_t conditions)
{
	uint32_t left = 0;

	if (t->a.valid[t->a.unpack_bank])
		left |= WAIT_A_FREE;
	if (t->b.valid[t->b.unpack_bank])
		left |= WAIT_B_FREE;
	if (!t->a.valid[t->a.matrix_bank])
		left |= WAIT_A_VALID;
	if (!t->b.valid[t->b.matrix_bank])
		left |= WAIT_B_VALID;
	return left & conditions;
}

Exec emu_op_STALLWAIT(Tensix *t, int thread, uint32_t i)
{
	const uint32_t known = WAIT_UNITS | WAIT_A_FREE | WAIT_B_FREE | WAIT_A_VALID | WAIT_B_VALID;
	uint32_t conditions = op_bits(i, 14, 0);

	if (!conditions || conditions & ~known)
		return tensix_unknown(t, thread, i, "wait_res", conditions);
	if (!op_bits(i, 23, 15))
		return tensix_unknown(t, thread, i, "stall_res", 0);
	return unmet(t, conditions) ? EXEC_WAIT : EXEC_DONE;
}

/* What an instruction other than those of this unit can wait for. */
static const char *bank_waited_for(const Tensix *t, uint32_t i)
{
	bool on_b = op_bits(i, 23, 23);

	switch (i >> 24) {
	case OPCODE_UNPACR:
		return on_b ? "SrcB to be free" : "SrcA to be free";
	case OPCODE_UNPACR_NOP:
		return on_b ? "SrcB to be used up" : "SrcA to be used up";
	default:
		if (!t->a.valid[t->a.matrix_bank])
			return t->b.valid[t->b.matrix_bank] ? "SrcA" : "SrcA and SrcB";
		return t->b.valid[t->b.matrix_bank] ? "nothing" : "SrcB";
	}
}

const char *tensix_waits(const Tensix *t, int thread, char *text, size_t n)
{
	const TensixThread *th = &t->thread[thread];
	uint32_t i = th->fifo[th->head % FIFO_SLOTS];
	const char *name = tensix_op_name(i);
	int s = semaphore_of(i);

	if (th->head == th->tail)
		return NULL;
	if (i >> 24 == OPCODE_SEMWAIT && s >= 0) {
		snprintf(text, n, "%s on semaphore %d (is %d%s)", name, s, t->semaphore[s],
		         op_bits(i, 1, 0) == SEMWAIT_MAX ? ", its maximum" : "");
	} else if (i >> 24 == OPCODE_ATGETM) {
		uint32_t m = op_bits(i, 15, 0) % MUTEXES;

		snprintf(text, n, "%s on mutex %u (of thread %d)", name, m, t->mutex[m] - 1);
	} else if (i >> 24 == OPCODE_STALLWAIT) {
		uint32_t left = unmet(t, op_bits(i, 14, 0));

		snprintf(text, n, "%s for%s%s%s%s", name, left & WAIT_A_FREE ? " SrcA to be free" : "",
		         left & WAIT_B_FREE ? " SrcB to be free" : "",
		         left & WAIT_A_VALID ? " SrcA to be valid" : "",
		         left & WAIT_B_VALID ? " SrcB to be valid" : "");
	} else {
		snprintf(text, n, "%s for %s", name, bank_waited_for(t, i));
	}
	return text;
}
