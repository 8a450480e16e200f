/* The scalar unit: general purpose registers of a thread (ScalarUnit.md). */
#include "runtime/emu/tensix.h"

#include "runtime/emu/core.h"

Exec emu_op_SETDMAREG(Tensix *t, int thread, uint32_t i)
{
	uint32_t half = op_bits(i, 6, 0), value = op_bits(i, 21, 8) | op_bits(i, 23, 22) << 14;
	uint32_t *gpr = &t->thread[thread].gpr[half / 2];

	if (op_bits(i, 7, 7))
		return tensix_unknown(t, thread, i, "set_signals_mode", 1);
	*gpr = half & 1 ? (*gpr & 0xffff) | value << 16 : (*gpr & 0xffff0000) | value;
	return EXEC_DONE;
}

/* Into the configuration words of unpackers and packers, counted from 52. */
Exec emu_op_REG2FLOP(Tensix *t, int thread, uint32_t i)
{
	enum { THCON_FIRST = 52, THCON_END = 152 };
	uint32_t word = THCON_FIRST + op_bits(i, 12, 6), size = op_bits(i, 23, 22);

	if (word >= THCON_END)
		return tensix_unknown(t, thread, i, "flop_index", word - THCON_FIRST);
	if (op_bits(i, 21, 16))
		return tensix_unknown(t, thread, i, "context, byte offset, target", op_bits(i, 21, 16));
	if (size != 1 && size != 2)
		return tensix_unknown(t, thread, i, "size_sel", size);
	return tensix_cfg_set(t, thread, i, word, t->thread[thread].gpr[op_bits(i, 5, 0)]);
}

Exec emu_op_ADDDMAREG(Tensix *t, int thread, uint32_t i)
{
	uint32_t *gpr = t->thread[thread].gpr;

	if (op_bits(i, 23, 23))
		return tensix_unknown(t, thread, i, "op_b_is_const", 1);
	gpr[op_bits(i, 17, 12)] = gpr[op_bits(i, 5, 0)] + gpr[op_bits(i, 11, 6)];
	return EXEC_DONE;
}

/* Of the lower halves. */
Exec emu_op_MULDMAREG(Tensix *t, int thread, uint32_t i)
{
	uint32_t *gpr = t->thread[thread].gpr;
	uint32_t a = gpr[op_bits(i, 5, 0)] & 0xffff, b = gpr[op_bits(i, 11, 6)] & 0xffff;

	if (op_bits(i, 23, 23))
		return tensix_unknown(t, thread, i, "op_b_is_const", 1);
	gpr[op_bits(i, 17, 12)] = a * b;
	return EXEC_DONE;
}

Exec emu_op_DMANOP(Tensix *t, int thread, uint32_t i)
{
	(void)t, (void)thread, (void)i;
	return EXEC_DONE;
}

/* Only overlay registers may be stored to, and the emulator has none. */
Exec emu_op_STOREREG(Tensix *t, int thread, uint32_t i)
{
	return tensix_unknown(t, thread, i, "register", 0xffb00000 | op_bits(i, 17, 0) << 2);
}
