/* Address counters of unpackers and packers (ADCs.md). */
#include "runtime/emu/tensix.h"

enum { X_MASK = 0x3ffff, Y_MASK = 0x1fff, Z_MASK = 0xff, W_MASK = 0xff };

/* The four values of an instruction, in the order of its mask bits. */
typedef struct Four {
	uint32_t v[4];
} Four;

static Four four(uint32_t i)
{
	return (Four){ { op_bits(i, 8, 6), op_bits(i, 11, 9),
	                 op_bits(i, 14, 12), op_bits(i, 17, 15) } };
}

static void put(uint32_t *counter, uint32_t *cr, uint32_t value)
{
	*counter = *cr = value;
}

static void add(uint32_t *counter, uint32_t value, uint32_t mask)
{
	*counter = (*counter + value) & mask;
}

/* Moves the carriage return on, and the counter to it. */
static void add_cr(uint32_t *counter, uint32_t *cr, uint32_t value, uint32_t mask)
{
	*counter = *cr = (*cr + value) & mask;
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

Exec emu_op_SETADC(Tensix *t, int thread, uint32_t i)
{
	uint32_t value = op_bits(i, 17, 0), dimension = op_bits(i, 19, 18);

	if (!names(t, thread, i, false))
		return EXEC_FAULT;
	if (value > 0xffff)
		return tensix_unknown(t, thread, i, "value (names a thread)", value);
	FOR_EACH_ADC(adc, t, thread, i) {
		AdcChannel *ch = &adc->ch[op_bits(i, 20, 20)];

		if (dimension == 0)
			put(&ch->x, &ch->x_cr, value & X_MASK);
		else if (dimension == 1)
			put(&ch->y, &ch->y_cr, value & Y_MASK);
		else if (dimension == 2)
			put(&ch->z, &ch->z_cr, value & Z_MASK);
		else
			put(&ch->w, &ch->w_cr, value & W_MASK);
	}
	return EXEC_DONE;
}

Exec emu_op_SETADCXX(Tensix *t, int thread, uint32_t i)
{
	if (!names(t, thread, i, false))
		return EXEC_FAULT;
	FOR_EACH_ADC(adc, t, thread, i) {
		put(&adc->ch[0].x, &adc->ch[0].x_cr, op_bits(i, 9, 0));
		put(&adc->ch[1].x, &adc->ch[1].x_cr, op_bits(i, 19, 10));
	}
	return EXEC_DONE;
}

Exec emu_op_SETADCXY(Tensix *t, int thread, uint32_t i)
{
	Four n = four(i);

	if (!names(t, thread, i, true))
		return EXEC_FAULT;
	FOR_EACH_ADC(adc, t, thread, i) {
		for (int c = 0; c < 2; c++) {
			if (i >> (2 * c) & 1)
				put(&adc->ch[c].x, &adc->ch[c].x_cr, n.v[2 * c]);
			if (i >> (2 * c) & 2)
				put(&adc->ch[c].y, &adc->ch[c].y_cr, n.v[2 * c + 1]);
		}
	}
	return EXEC_DONE;
}

Exec emu_op_SETADCZW(Tensix *t, int thread, uint32_t i)
{
	Four n = four(i);

	if (!names(t, thread, i, true))
		return EXEC_FAULT;
	FOR_EACH_ADC(adc, t, thread, i) {
		for (int c = 0; c < 2; c++) {
			if (i >> (2 * c) & 1)
				put(&adc->ch[c].z, &adc->ch[c].z_cr, n.v[2 * c]);
			if (i >> (2 * c) & 2)
				put(&adc->ch[c].w, &adc->ch[c].w_cr, n.v[2 * c + 1]);
		}
	}
	return EXEC_DONE;
}

Exec emu_op_INCADCXY(Tensix *t, int thread, uint32_t i)
{
	Four n = four(i);

	if (!names(t, thread, i, false))
		return EXEC_FAULT;
	FOR_EACH_ADC(adc, t, thread, i) {
		for (int c = 0; c < 2; c++) {
			add(&adc->ch[c].x, n.v[2 * c], X_MASK);
			add(&adc->ch[c].y, n.v[2 * c + 1], Y_MASK);
		}
	}
	return EXEC_DONE;
}

Exec emu_op_INCADCZW(Tensix *t, int thread, uint32_t i)
{
	Four n = four(i);

	if (!names(t, thread, i, false))
		return EXEC_FAULT;
	FOR_EACH_ADC(adc, t, thread, i) {
		for (int c = 0; c < 2; c++) {
			add(&adc->ch[c].z, n.v[2 * c], Z_MASK);
			add(&adc->ch[c].w, n.v[2 * c + 1], W_MASK);
		}
	}
	return EXEC_DONE;
}

Exec emu_op_ADDRCRXY(Tensix *t, int thread, uint32_t i)
{
	Four n = four(i);

	if (!names(t, thread, i, true))
		return EXEC_FAULT;
	FOR_EACH_ADC(adc, t, thread, i) {
		for (int c = 0; c < 2; c++) {
			AdcChannel *ch = &adc->ch[c];

			if (i >> (2 * c) & 1)
				add_cr(&ch->x, &ch->x_cr, n.v[2 * c], X_MASK);
			if (i >> (2 * c) & 2)
				add_cr(&ch->y, &ch->y_cr, n.v[2 * c + 1], Y_MASK);
		}
	}
	return EXEC_DONE;
}

Exec emu_op_ADDRCRZW(Tensix *t, int thread, uint32_t i)
{
	Four n = four(i);

	if (!names(t, thread, i, true))
		return EXEC_FAULT;
	FOR_EACH_ADC(adc, t, thread, i) {
		for (int c = 0; c < 2; c++) {
			AdcChannel *ch = &adc->ch[c];

			if (i >> (2 * c) & 1)
				add_cr(&ch->z, &ch->z_cr, n.v[2 * c], Z_MASK);
			if (i >> (2 * c) & 2)
				add_cr(&ch->w, &ch->w_cr, n.v[2 * c + 1], W_MASK);
		}
	}
	return EXEC_DONE;
}
