/*
 * Weights and biases as the kernels stream them, in DRAM.
 *
 * A product whose input is a list of parts sees each part's channels rounded
 * up to whole tiles: the rows of a tile that no channel fills are zero.
 */
#include "backend/lower.h"

#include <string.h>

uint64_t lower_dram(Lowering *l, int bank, uint64_t bytes)
{
	const uint64_t at = l->dram[bank];
	l->dram[bank] += (bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	return at;
}

uint64_t lower_dram_all(Lowering *l, uint64_t bytes)
{
	uint64_t at = 0;
	for (int b = 0; b < TT_DRAM_BANKS; b++)
		at = l->dram[b] > at ? l->dram[b] : at;
	for (int b = 0; b < TT_DRAM_BANKS; b++)
		l->dram[b] = at + (bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	return at;
}

/* Weights in the order [cout][padded cin][tap]. */
static float *gather(Lowering *l, const Step *s, int64_t cin)
{
	const WeightBlocks *w = &s->weights;
	const bool transposed = s->kind == STEP_DECONV2;
	const Tensor *from = op_value(op_in(s->op, 1));
	const int64_t taps = w->taps, cout = w->cout;
	float *to = arena_array(l->arena, float, cout * w->cin * taps);
	for (int64_t o = 0; o < cout; o++) {
		int64_t at = 0, channel = 0;
		for (int i = 0; i < s->nin; i++) {
			const int64_t n = s->in[i]->channels;
			for (int64_t c = 0; c < n; c++, channel++)
				for (int64_t t = 0; t < taps; t++) {
					const int64_t k = transposed ? (channel * cout + o) * taps + t
								     : (o * cin + channel) * taps + t;
					to[(o * w->cin + at + c) * taps + t] =
						(float)tensor_get_float(from, k);
				}
			at += (s->in[i]->layout.planes + 1) / 2 * TILE;
		}
	}
	return to;
}

static LowerImage image(Lowering *l, const char *name, const uint8_t *data, uint64_t bytes)
{
	LowerImage at = { .bank = l->program->nimages % TT_DRAM_BANKS, .bytes = bytes };
	at.address = lower_dram(l, at.bank, bytes);
	ProgramImage *i = program_image(l->program, name, data, bytes);
	i->bank = at.bank;
	i->address = at.address;
	return at;
}

LowerImage lower_weights(Lowering *l, const Step *s)
{
	const WeightBlocks *w = &s->weights;
	int64_t cin = 0;
	for (int i = 0; i < s->nin; i++)
		cin += s->in[i]->channels;
	const float *values = gather(l, s, cin);
	const uint64_t bytes = weight_bytes(w);
	uint8_t *data = arena_alloc(l->arena, bytes);
	const WeightStrides at = { .tap = 1, .cin = w->taps, .cout = (int64_t)w->cin * w->taps };
	weight_blocks_pack(w, values, at, data);
	return image(l, op_in(s->op, 1)->name, data, bytes);
}
