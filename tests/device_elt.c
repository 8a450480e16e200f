#include "tests/device_elt.h"

#include <string.h>

#include "ir/tensor.h"

enum { TILE_CHANNELS = 32 };

/* Pages of [bias, tap 0, ...][32 channels]. */
static uint8_t *pack(Net *n, const Channel *c, int channels, int groups, uint32_t page)
{
	const int taps = c->kernel_h * c->kernel_w;
	uint8_t *data = arena_alloc(n->t->arena, (size_t)page * (size_t)groups);
	memset(data, 0, (size_t)page * (size_t)groups);
	for (int o = 0; o < channels; o++)
		for (int row = 0; row <= taps; row++) {
			const float exact = row ? c->values[o * taps + row - 1] : c->bias[o];
			const float v = float_to_tf32(exact);
			memcpy(data + (size_t)(o / TILE_CHANNELS) * page + 128 * (size_t)row +
				       4 * (size_t)(o % TILE_CHANNELS),
			       &v, 4);
		}
	return data;
}

/* Sets of planes are images; an input with one has it for all. */
static void set_images(ProgramOp *op, const Planes *in, int nin, const Planes *to)
{
	program_set(op, "more_images", 0, (uint32_t)to->sets - 1);
	program_set(op, "out_image", 0, to->sets > 1 ? (uint32_t)to->planes : 0);
	for (int i = 0; i < nin; i++)
		program_set(op, "in_image", i, in[i].sets > 1 ? (uint32_t)in[i].planes : 0);
}

void net_channel(Net *n, Channel c, const Planes *in, Planes *to)
{
	const bool strided = c.stride_w > 1 && in->planes == to->planes;
	const int groups = (to->planes + 1) / 2;
	const int before = strided ? c.pad_w : (c.pad_w + c.stride_w - 1) / c.stride_w;
	const uint32_t page = 128 * (uint32_t)(c.kernel_h * c.kernel_w + 1);
	ProgramOp *op = net_tiles(n, "channel", in, 1, to, c.pad_h, before);
	net_slide(op, c.kernel_h, c.kernel_w, c.dilation, c.stride_h, c.stride_w);
	set_images(op, in, 1, to);
	program_set(op, "in_planes", 0, (uint32_t)to->planes);
	if (!strided) {
		program_set(op, "phase", 0, (uint32_t)(before * c.stride_w - c.pad_w));
		program_set(op, "in_phase", 0, (uint32_t)to->planes);
	}
	op->variant[TT_TRISC0] = program_variant(
		n->p, "channel_unpack", (uint32_t[]){ (uint32_t)in->type, strided }, 2);
	op->variant[TT_TRISC1] =
		program_variant(n->p, "channel_math", (uint32_t[]){ (uint32_t)c.phases }, 1);
	op->variant[TT_TRISC2] = program_variant(
		n->p, "store", (uint32_t[]){ (uint32_t)to->type, 1, 4, c.relu }, 4);
	net_pages(n, op, pack(n, &c, to->channels, groups, page), page, groups,
		  c.pages ? c.pages : groups);
	net_made(n, op, to);
}

void net_binary(Net *n, uint32_t kind, bool through_dst, const Planes *a, const Planes *b,
		Planes *to)
{
	const Planes in[2] = { *a, *b };
	const uint32_t types[2] = { (uint32_t)a->type, (uint32_t)b->type };
	ProgramOp *op = net_tiles(n, "binary", in, 2, to, 0, 0);
	net_slide(op, 1, 1, 1, 1, 1);
	set_images(op, in, 2, to);
	for (int i = 0; i < 2; i++) {
		const uint32_t one_channel = in[i].channels < to->channels;
		const uint32_t one_column = in[i].cols < to->cols;
		program_set(op, "spread", i, one_channel | one_column << 1);
		program_set(op, "row_step", i, in[i].rows == to->rows);
	}
	op->variant[TT_TRISC0] =
		program_variant(n->p, through_dst ? "pair_unpack" : "binary_unpack", types, 2);
	op->variant[TT_TRISC1] =
		program_variant(n->p, through_dst ? "pair_math" : "binary_math", &kind, 1);
	op->variant[TT_TRISC2] =
		program_variant(n->p, "store",
				(uint32_t[]){ (uint32_t)to->type, 1, through_dst ? 2 : 4, 0 }, 4);
	net_made(n, op, to);
}
