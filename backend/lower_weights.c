/*
 * Weights and biases as the kernels stream them, in pages over all banks of
 * DRAM.
 *
 * A product whose input is a list of parts sees each part's channels rounded
 * up to whole tiles: the rows of a tile that no channel fills are zero.
 */
#include "backend/lower.h"

#include <assert.h>
#include <string.h>

uint64_t lower_dram_all(Lowering *l, uint64_t bytes)
{
	const uint64_t at = l->dram;
	l->dram += (bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	return at;
}

/* One weight by padded output channel, real input channel and tap. A 2x2
 * transposed convolution has tiles (output tile, row tap, column tap). */
static float weight(const Step *s, const Tensor *from, int64_t cin, int64_t o, int64_t c, int64_t t)
{
	const int64_t cout = s->op->shape.dim[1];
	if (s->kind == STEP_CONV)
		return o < cout ? (float)tensor_f64(from, (o * cin + c) * s->taps + t) : 0;
	const int64_t tile = o / TILE, out = tile / 4 * TILE + o % TILE;
	return out < cout ? (float)tensor_f64(from, (c * cout + out) * 4 + tile % 4) : 0;
}

static float bias(const Step *s, int64_t o)
{
	const int64_t out = s->kind == STEP_CONV ? o : o / TILE / 4 * TILE + o % TILE;
	if (s->op->nin < 3 || out >= s->op->shape.dim[1])
		return 0;
	return (float)tensor_f64(op_value(op_in(s->op, 2)), out);
}

/* The blocks of one part, all groups; `first` is its first input channel. */
static uint8_t *pack_part(Lowering *l, const Step *s, int part, int64_t first, int64_t cin)
{
	const WeightBlocks w = step_blocks(s, part);
	const Tensor *from = op_value(op_in(s->op, 1));
	const int64_t channels = s->in[part]->channels;
	float *values = arena_array(l->arena, float, (int64_t)w.cout * w.cin * w.taps);
	for (int64_t o = 0; o < w.cout; o++)
		for (int64_t c = 0; c < channels; c++)
			for (int64_t t = 0; t < w.taps; t++)
				values[(o * w.cin + c) * w.taps + t] =
					weight(s, from, cin, o, first + c, t);
	uint8_t *to = arena_alloc(l->arena, weight_bytes(&w));
	const WeightStrides at = { .tap = 1, .cin = w.taps, .cout = (int64_t)w.cin * w.taps };
	weight_blocks_pack(&w, values, at, to);
	return to;
}

static uint8_t *pack_bias(const Step *s, int group, uint8_t *to)
{
	for (int i = 0; i < s->held * TILE; i++) {
		const uint16_t v = float_to_bf16(bias(s, (int64_t)group * s->held * TILE + i));
		memcpy(to + 2 * i, &v, 2);
	}
	return to + 2 * s->held * TILE;
}

uint64_t lower_weights(Lowering *l, const Step *s)
{
	uint8_t **parts = arena_array(l->arena, uint8_t *, s->nin);
	int64_t cin = 0, first = 0;
	for (int i = 0; i < s->nin; i++)
		cin += s->in[i]->channels;
	for (int i = 0; i < s->nin; first += s->in[i++]->channels)
		parts[i] = pack_part(l, s, i, first, cin);
	uint8_t *data = arena_alloc(l->arena, (size_t)s->weight_bytes), *to = data;
	for (int g = 0; g < s->groups; g++) {
		to = pack_bias(s, g, to);
		for (int i = 0; i < s->nin; i++) {
			const WeightBlocks w = step_blocks(s, i);
			const size_t n = weight_bytes(&w) / (size_t)s->groups;
			memcpy(to, parts[i] + (size_t)g * n, n);
			to += n;
		}
	}
	assert(to == data + s->weight_bytes);
	ProgramImage *image = program_image(l->program, op_in(s->op, 1)->name, data,
					    (uint64_t)s->weight_bytes);
	const uint64_t pages = ((uint64_t)s->weight_bytes + DRAM_PAGE - 1) / DRAM_PAGE;
	image->page_bytes = DRAM_PAGE;
	image->address = lower_dram_all(l, (pages + TT_DRAM_BANKS - 1) / TT_DRAM_BANKS * DRAM_PAGE);
	return image->address;
}
