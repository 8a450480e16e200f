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

enum { WEIGHTS_CB = 0, CREDIT_SEMAPHORE = 0, ARRIVED_SEMAPHORE = 1 };

/* One weight by padded output channel, real input channel and tap. A 2x2
 * transposed convolution has tiles (output tile, row tap, column tap). */
static float weight(const Step *s, int64_t cin, int64_t o, int64_t c, int64_t t)
{
	const int64_t cout = s->out->channels;
	if (s->kind != STEP_DECONV2)
		return o < cout ? (float)tensor_f64(s->filter, (o * cin + c) * s->taps + t) : 0;
	const int64_t tile = o / TILE, out = tile / 4 * TILE + o % TILE;
	return out < cout ? (float)tensor_f64(s->filter, (c * cout + out) * 4 + tile % 4) : 0;
}

static float bias(const Step *s, int64_t o)
{
	const int64_t out = s->kind != STEP_DECONV2 ? o : o / TILE / 4 * TILE + o % TILE;
	return s->bias && out < s->out->channels ? (float)tensor_f64(s->bias, out) : 0;
}

/* The blocks of one part, all groups; `first` is its first input channel. */
static uint8_t *pack_part(Lowering *l, const Step *s, int part, int64_t first, int64_t cin)
{
	const WeightBlocks w = step_blocks(s, part);
	const int64_t channels = s->in[part].channels / s->channel_groups;
	float *values = arena_array(l->arena, float, (int64_t)w.cout * w.cin * w.taps);
	for (int64_t o = 0; o < w.cout; o++)
		for (int64_t c = 0; c < channels; c++)
			for (int64_t t = 0; t < w.taps; t++)
				values[(o * w.cin + c) * w.taps + t] =
					weight(s, cin, o, first + c, t);
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

/* An image in pages over all banks; its address in each. */
static uint64_t place_image(Lowering *l, const Step *s, const uint8_t *data, uint64_t bytes)
{
	ProgramImage *image = program_image(
		l->program, arena_printf(l->arena, "%s.weights%d", s->op->name, l->program->nimages),
		data, bytes);
	const uint64_t pages = (bytes + DRAM_PAGE - 1) / DRAM_PAGE;
	image->page_bytes = DRAM_PAGE;
	image->address = lower_dram_all(l, (pages + TT_DRAM_BANKS - 1) / TT_DRAM_BANKS * DRAM_PAGE);
	return image->address;
}

/* Bias and blocks of each group. */
static void pack_products(Lowering *l, const Step *s, Range groups, uint8_t *to)
{
	uint8_t **parts = arena_array(l->arena, uint8_t *, s->nin);
	const uint8_t *end = to + (uint64_t)range_count(groups) * (uint64_t)s->page_bytes;
	int64_t cin = 0, first = 0;
	for (int i = 0; i < s->nin; i++)
		cin += s->in[i].channels / s->channel_groups;
	for (int i = 0; i < s->nin; first += s->in[i++].channels)
		parts[i] = pack_part(l, s, i, first, cin);
	for (int g = groups.first; g < groups.end; g++) {
		to = pack_bias(s, g, to);
		for (int i = 0; i < s->nin; i++) {
			const WeightBlocks w = step_blocks(s, i);
			const size_t n = weight_bytes(&w) / (size_t)s->groups;
			memcpy(to, parts[i] + (size_t)g * n, n);
			to += n;
		}
	}
	assert(to == end);
	(void)end;
}

uint64_t lower_weight_image(Lowering *l, const Step *s, Range groups)
{
	const uint64_t bytes = (uint64_t)range_count(groups) * (uint64_t)s->page_bytes;
	uint8_t *data = arena_alloc(l->arena, bytes);
	if (s->kind == STEP_CHANNEL)
		lower_channel_pages(s, groups, data);
	else
		pack_products(l, s, groups, data);
	return place_image(l, s, data, bytes);
}

/* Groups a core needs: those of its planes, or all if all cores get the same. */
static Range groups_of(const Step *s, int core)
{
	if (s->out->cut.splits == 1)
		return (Range){ 0, s->groups };
	return step_groups(s, s->out->shard[core].own.planes);
}

/* One image for each split; cores of a split share it. */
static void set_images(Lowering *l, ProgramOp *op, const Step *s)
{
	const int splits = s->out->cut.splits;
	uint32_t *at = arena_array(l->arena, uint32_t, splits);
	bool *made = arena_array(l->arena, bool, splits);
	for (int c = 0; c < l->plan->cores; c++) {
		const Range groups = groups_of(s, c);
		if (range_count(groups) && !made[c % splits]) {
			at[c % splits] = (uint32_t)lower_weight_image(l, s, groups);
			made[c % splits] = true;
		}
		lower_set(l, op, c, "groups", 0, (uint32_t)range_count(groups));
		lower_set(l, op, c, "dram_at", 0, range_count(groups) ? at[c % splits] : 0);
	}
}

/* Core 0 reads the weights and sends them to all others at once. */
static void share(Lowering *l, ProgramOp *op)
{
	const Plan *p = l->plan;
	const uint32_t first = TT_NODE(TT_VIRTUAL, TT_VIRTUAL);
	program_set(op, "fetch_node", 0, first);
	program_set(op, "mcast_first", 0, first);
	program_set(op, "mcast_last", 0,
		    TT_NODE(TT_VIRTUAL + p->cols - 1, TT_VIRTUAL + p->rows - 1));
	program_set(op, "receivers", 0, (uint32_t)p->cores - 1);
	program_set(op, "credit_semaphore", 0, CREDIT_SEMAPHORE);
	program_set(op, "arrived_semaphore", 0, ARRIVED_SEMAPHORE);
	lower_run(l, op, TT_NCRISC, "weights_receive", NULL, 0);
	program_run_on(op, 0, TT_NCRISC, program_variant(l->program, "weights_fetch", NULL, 0));
}

/* The circular buffer, and where its pages come from. */
static void set_ring(Lowering *l, ProgramOp *op, const Step *s, uint32_t page_bytes, uint32_t pages)
{
	program_set(op, "weights_cb", 0, WEIGHTS_CB);
	program_set(op, "weights", 0, s->weight_address);
	program_set(op, "page_bytes", 0, page_bytes);
	program_set(op, "pages", 0, pages);
	program_set(op, "dram_bank", 0, 0);
	program_set(op, "dram_page", 0, DRAM_PAGE);
	ProgramCb *cb = program_cb(l->program, op, WEIGHTS_CB);
	cb->address = s->weight_address;
	cb->page_bytes = page_bytes;
	cb->pages = pages;
}

/* Who reads them: one core for all, if they need the same. */
static void set_reader(Lowering *l, ProgramOp *op, bool same)
{
	const Plan *p = l->plan;
	if (same && p->cores > 1 && p->cores == p->cols * p->rows)
		share(l, op);
	else
		lower_run(l, op, TT_NCRISC, "weights_read", NULL, 0);
}

void lower_weights(Lowering *l, ProgramOp *op, const Step *s)
{
	set_ring(l, op, s, (uint32_t)s->page_bytes, (uint32_t)(s->weight_bytes / s->page_bytes));
	set_images(l, op, s);
	set_reader(l, op, s->out->cut.splits == 1);
}

void lower_page(Lowering *l, ProgramOp *op, const Step *s, const uint8_t *data, uint64_t bytes)
{
	set_ring(l, op, s, (uint32_t)bytes, 1);
	program_set(op, "groups", 0, 1);
	program_set(op, "dram_at", 0, (uint32_t)place_image(l, s, data, bytes));
	set_reader(l, op, true);
}
