/* Address counters of unpackers and packers (ADCs.md). */
#include "runtime/emu/tensix.h"

enum { X, Y, Z, W };

/* One counter of a channel, its carriage return and the bits they have. */
typedef struct Counter {
	uint32_t *at, *cr;
	uint32_t mask;
} Counter;

static Counter counter(AdcChannel *ch, uint32_t dimension)
{
	switch (dimension) {
	case X:
		return (Counter){ &ch->x, &ch->x_cr, 0x3ffff };
	case Y:
		return (Counter){ &ch->y, &ch->y_cr, 0x1fff };
	case Z:
		return (Counter){ &ch->z, &ch->z_cr, 0xff };
	default:
		return (Counter){ &ch->w, &ch->w_cr, 0xff };
	}
}

typedef void Change(Counter c, uint32_t value);

static void put(Counter c, uint32_t value)
{
	*c.at = *c.cr = value & c.mask;
}

static void add(Counter c, uint32_t value)
{
	*c.at = (*c.at + value) & c.mask;
}

/* Moves the carriage return on, and the counter to it. */
static void add_cr(Counter c, uint32_t value)
{
	*c.at = *c.cr = (*c.cr + value) & c.mask;
}

/* Refused: an instruction that names no counter, or none of its values. */
static bool names(Tensix *t, int thread, uint32_t i, bool has_mask)
{
	if (!op_bits(i, 23, 21))
		tensix_unknown(t, thread, i, "cnt_set_mask", 0);
	else if (has_mask && !op_bits(i, 3, 0))
		tensix_unknown(t, thread, i, "bit_mask", 0);
	else
		return true;
	return false;
}

/* Of a thread's counters, those an instruction names. */
#define FOR_EACH_ADC(adc, t, thread, i) \
	for (Adc *adc = (t)->thread[thread].adc, *adc##_end = adc + ADCS; adc < adc##_end; adc++) \
		if ((i) >> 21 >> (adc - (t)->thread[thread].adc) & 1)

/* Two counters of both channels, `first` and the next: those whose bit is set
 * in the instruction's mask, if it has one. */
static Exec change_four(Tensix *t, int thread, uint32_t i, uint32_t first, bool has_mask,
			Change *change)
{
	const uint32_t value[] = { op_bits(i, 8, 6), op_bits(i, 11, 9),
				   op_bits(i, 14, 12), op_bits(i, 17, 15) };

	if (!names(t, thread, i, has_mask))
		return EXEC_FAULT;
	FOR_EACH_ADC(adc, t, thread, i) {
		for (uint32_t k = 0; k < 4; k++)
			if (!has_mask || i >> k & 1)
				change(counter(&adc->ch[k / 2], first + k % 2), value[k]);
	}
	return EXEC_DONE;
}

Exec emu_op_SETADC(Tensix *t, int thread, uint32_t i)
{
	uint32_t value = op_bits(i, 17, 0);

	if (!names(t, thread, i, false))
		return EXEC_FAULT;
	if (value > 0xffff)
		return tensix_unknown(t, thread, i, "value (names a thread)", value);
	FOR_EACH_ADC(adc, t, thread, i)
		put(counter(&adc->ch[op_bits(i, 20, 20)], op_bits(i, 19, 18)), value);
	return EXEC_DONE;
}

Exec emu_op_SETADCXX(Tensix *t, int thread, uint32_t i)
{
	if (!names(t, thread, i, false))
		return EXEC_FAULT;
	FOR_EACH_ADC(adc, t, thread, i) {
		put(counter(&adc->ch[0], X), op_bits(i, 9, 0));
		put(counter(&adc->ch[1], X), op_bits(i, 19, 10));
	}
	return EXEC_DONE;
}

Exec emu_op_SETADCXY(Tensix *t, int thread, uint32_t i)
{
	return change_four(t, thread, i, X, true, put);
}

Exec emu_op_SETADCZW(Tensix *t, int thread, uint32_t i)
{
	return change_four(t, thread, i, Z, true, put);
}

Exec emu_op_INCADCXY(Tensix *t, int thread, uint32_t i)
{
	return change_four(t, thread, i, X, false, add);
}

Exec emu_op_INCADCZW(Tensix *t, int thread, uint32_t i)
{
	return change_four(t, thread, i, Z, false, add);
}

Exec emu_op_ADDRCRXY(Tensix *t, int thread, uint32_t i)
{
	return change_four(t, thread, i, X, true, add_cr);
}

Exec emu_op_ADDRCRZW(Tensix *t, int thread, uint32_t i)
{
	return change_four(t, thread, i, Z, true, add_cr);
}
