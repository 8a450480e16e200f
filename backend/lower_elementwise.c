/*
 * Steps on every value, or every channel, by itself.
 */
#include "backend/lower.h"

#include <string.h>

enum { CHANNEL_ROWS = 4, BINARY_ROWS = 4, PAIR_ROWS = 2 }; /* of positions at a time */

static uint32_t type_of(const Step *s, int part)
{
	return (uint32_t)s->in[part].tensor->layout.type;
}

void lower_channel(Lowering *l, const Step *s)
{
	ProgramOp *op = lower_tiles(l, s);
	const uint32_t strided = s->window[1].stride != 1;
	lower_run(l, op, TT_TRISC0, "channel_unpack", (uint32_t[]){ type_of(s, 0), strided }, 2);
	lower_run(l, op, TT_TRISC1, "channel_math", (uint32_t[]){ (uint32_t)s->phases }, 1);
	lower_store(l, op, s, 1, CHANNEL_ROWS);
	lower_weights(l, op, s);
	lower_around(l, op, s);
}

static void put_tf32(uint8_t *to, double v)
{
	const float rounded = float_to_tf32((float)v);
	memcpy(to, &rounded, sizeof rounded);
}

/* Bias and taps of 32 channels each, a row behind the other. */
void lower_channel_pages(const Step *s, Range groups, uint8_t *to)
{
	const int row = TILE * (int)sizeof(float);
	for (int g = groups.first; g < groups.end; g++, to += row * (s->taps + 1))
		for (int i = 0; i < TILE; i++) {
			const int channel = g * TILE + i, at = s->channel + channel;
			const bool is = channel < s->out->channels;
			uint8_t *here = to + i * (int)sizeof(float);
			put_tf32(here, is && s->bias ? tensor_f64(s->bias, at) : 0);
			for (int t = 0; t < s->taps; t++)
				put_tf32(here + row * (t + 1),
					 is ? tensor_f64(s->filter, at * s->taps + t) : 0);
		}
}

void lower_binary(Lowering *l, const Step *s)
{
	ProgramOp *op = lower_tiles(l, s);
	const bool pair = s->kind == STEP_PAIR;
	const uint32_t code = (uint32_t)step_arith(s), types[] = { type_of(s, 0), type_of(s, 1) };
	for (int i = 0; i < 2; i++) {
		const uint32_t one_channel = !!(s->spread[i] & SPREAD_PLANES);
		const uint32_t one_column = !!(s->spread[i] & SPREAD_COLS);
		program_set(op, "spread", i, one_channel | one_column << 1);
		program_set(op, "row_step", i, !(s->spread[i] & SPREAD_ROWS));
	}
	lower_run(l, op, TT_TRISC0, pair ? "pair_unpack" : "binary_unpack", types, 2);
	lower_run(l, op, TT_TRISC1, pair ? "pair_math" : "binary_math", &code, 1);
	lower_store(l, op, s, 1, pair ? PAIR_ROWS : BINARY_ROWS);
	lower_around(l, op, s);
}

/* The buffer of a constant as a core keeps it. */
static uint8_t *pack_constant(Lowering *l, const PlanTensor *t, Region keep)
{
	const Tensor *from = op_value(t->op);
	const uint32_t step = lower_plane_step(t);
	uint8_t *data = arena_alloc(l->arena, (size_t)t->buffer_planes * step);
	memset(data, 0, (size_t)t->buffer_planes * step);
	for (int c = keep.planes.first * PLANE; c < keep.planes.end * PLANE && c < t->channels; c++)
		for (int y = keep.rows.first; y < keep.rows.end; y++)
			for (int x = 0; x < t->layout.cols; x++) {
				const int64_t i = ((int64_t)c * t->height + y) * t->layout.cols + x;
				const uint16_t v = float_to_bf16((float)tensor_f64(from, i));
				const int row = y - keep.rows.first;
				const int at = row * t->layout.pitch + t->layout.lead + x;
				memcpy(data + (size_t)(c / PLANE - keep.planes.first) * step +
					       (size_t)(at * PLANE + c % PLANE) * 2,
				       &v, 2);
			}
	return data;
}

static bool same_region(Region a, Region b)
{
	return a.rows.first == b.rows.first && a.rows.end == b.rows.end
		&& a.planes.first == b.planes.first && a.planes.end == b.planes.end;
}

/* Its place in DRAM, a plane a page; cores that keep the same share it. */
static uint64_t constant_image(Lowering *l, const PlanTensor *t, int core, const uint64_t *at)
{
	const uint32_t step = lower_plane_step(t);
	const uint64_t bytes = (uint64_t)t->buffer_planes * step;
	const Region keep = t->shard[core].keep;
	for (int c = 0; c < core; c++)
		if (same_region(t->shard[c].keep, keep))
			return at[c];
	ProgramImage *image = program_image(l->program,
					    arena_printf(l->arena, "%s.core%d", t->name, core),
					    pack_constant(l, t, keep), bytes);
	image->page_bytes = step;
	image->address = lower_dram_all(
		l, (uint64_t)(t->buffer_planes + TT_DRAM_BANKS - 1) / TT_DRAM_BANKS * step);
	return image->address;
}

void lower_constant(Lowering *l, const Step *s)
{
	const PlanTensor *t = s->out;
	const uint32_t step = lower_plane_step(t);
	ProgramOp *op = program_op(l->program, t->name, step_names[s->kind], NULL);
	uint64_t *at = arena_array(l->arena, uint64_t, l->plan->cores);
	for (int c = 0; c < l->plan->cores; c++) {
		if (region_empty(t->shard[c].keep))
			continue;
		at[c] = constant_image(l, t, c, at);
		program_move(l->program, op, c, (ProgramMove){
			.when = TT_MOVE_ALONGSIDE, .at = (uint32_t)at[c], .page_bytes = step,
			.l1 = (uint32_t)t->layout.address, .bytes = step,
			.count = (uint32_t)t->buffer_planes, .step = step });
	}
}
