/*
 * Weights and biases as the kernels stream them, in pages over all banks of
 * DRAM.
 *
 * A product whose input is a list of parts sees each part's channels rounded
 * up to whole tiles: the rows of a tile that no channel fills are zero.
 */
#include "backend/lower.h"

#include <string.h>

#include "backend/routines.h"
#include "ir/weight_round.h"

uint64_t lower_dram_all(Lowering *l, uint64_t bytes)
{
	const uint64_t at = l->dram;
	l->dram += (bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	return at;
}

enum { WEIGHTS_CB = 0, SUMS_CB = 1, EARLY_CB = 2 };

/* Semaphores: of credits for all cores and for a column of them, of pages that
 * have arrived from each of four cores. */
enum { CREDIT_ALL = 0, ARRIVED = 1, CREDIT_COLUMN = ARRIVED + TT_FETCHERS };

void lower_semaphores(Lowering *l)
{
	program_semaphore(l->program, "weights.credit")->id = CREDIT_ALL;
	program_semaphore(l->program, "weights.credit.column")->id = CREDIT_COLUMN;
	for (int f = 0; f < TT_FETCHERS; f++)
		program_semaphore(l->program, arena_printf(l->arena, "weights.arrived%d", f))->id =
			ARRIVED + f;
}

/* Weights of padded output channel o: those of input channels first and on, with all
 * their taps. A 2x2 transposed convolution has tiles (output tile, row tap, column tap). */
static void read_weights(const Step *s, int64_t cin, int64_t o, int64_t first, int64_t channels,
			 double *to)
{
	const int64_t cout = s->out->channels;
	if (s->kind != STEP_DECONV2) {
		tensor_read_f64(s->filter, (o * cin + first) * s->taps, 1, channels * s->taps, to);
		return;
	}
	const int64_t tile = o / TILE, out = tile / 4 * TILE + o % TILE;
	tensor_read_f64(s->filter, (first * cout + out) * 4 + tile % 4, 4 * cout, channels, to);
}

/* The output channel of a padded one. */
static int64_t channel_of(const Step *s, int64_t o)
{
	return s->kind != STEP_DECONV2 ? o : o / TILE / 4 * TILE + o % TILE;
}

static float bias(const Step *s, int64_t o)
{
	const int64_t out = channel_of(s, o);
	return s->bias && out < s->out->channels ? (float)tensor_f64(s->bias, out) : 0;
}

/* The blocks of one part for a group; `first` is its first input channel. */
static void pack_part(Arena *a, const Step *s, int group, int part, int64_t first, int64_t cin,
		      uint8_t *to)
{
	WeightBlocks w = step_blocks(s, part);
	w.cout = (uint32_t)s->held * TILE;
	const int64_t channels = s->in[part].channels / s->channel_groups, some = channels * w.taps;
	const int64_t all = (int64_t)w.cin * w.taps, out = (int64_t)group * w.cout;
	float *values = arena_array(a, float, w.cout * all);
	double *row = arena_array(a, double, some);
	for (int64_t o = 0; o < w.cout && some; o++) {
		if (channel_of(s, out + o) >= s->out->channels)
			continue;
		read_weights(s, cin, out + o, first, channels, row);
		for (int64_t i = 0; i < some; i++)
			values[o * all + i] = (float)row[i];
	}
	weight_round(w.type, values, w.cout, all);
	const WeightStrides at = { .tap = 1, .cin = w.taps, .cout = all };
	weight_blocks_pack(&w, values, at, to);
}

static uint8_t *pack_bias(const Step *s, int group, uint8_t *to)
{
	for (int i = 0; i < s->held * TILE; i++, to += sizeof(float)) {
		const float v = float_to_tf32(bias(s, (int64_t)group * s->held * TILE + i));
		memcpy(to, &v, sizeof v);
	}
	return to;
}

/* An image in pages over all banks; its address in each. Slices and images of a
 * batch come for the same again. */
static uint64_t place_image(Lowering *l, const Step *s, const uint8_t *data, uint64_t bytes)
{
	const uint64_t hash = program_hash(data, bytes);
	for (int i = 0; i < l->program->nimages; i++) {
		const ProgramImage *m = &l->program->images[i];
		if (m->hash == hash && m->bytes == bytes && m->page_bytes == DRAM_PAGE
		    && memcmp(m->data, data, bytes) == 0)
			return m->address;
	}
	ProgramImage *image = program_image(
		l->program, arena_printf(l->arena, "%s.weights%d", s->op->name, l->program->nimages),
		data, bytes);
	const uint64_t pages = (bytes + DRAM_PAGE - 1) / DRAM_PAGE;
	image->page_bytes = DRAM_PAGE;
	image->address = lower_dram_all(l, (pages + TT_DRAM_BANKS - 1) / TT_DRAM_BANKS * DRAM_PAGE);
	return image->address;
}

/* The pages of a group, made of its bias and the blocks of each part. */
static uint8_t *pack_group(const Step *s, int group, uint8_t *to)
{
	const int blocks = step_block_count(s), each = s->stream.chunk_blocks;
	Arena *a = arena_create();
	uint8_t *all = arena_alloc(a, (size_t)step_block_bytes(s, 0, blocks)), *at = all;
	int64_t cin = 0, first = 0;
	for (int i = 0; i < s->nin; i++)
		cin += s->in[i].channels / s->channel_groups;
	for (int i = 0; i < s->nin; first += s->in[i++].channels) {
		const WeightBlocks w = step_blocks(s, i);
		pack_part(a, s, group, i, first, cin, at);
		at += weight_bytes(&w) / (size_t)s->groups;
	}
	for (int c = 0; c < s->stream.chunks; c++, to += s->page_bytes) {
		const size_t start = (size_t)step_block_bytes(s, 0, c * each);
		const size_t n = (size_t)step_block_bytes(s, c * each, (c + 1) * each);
		memset(to, 0, (size_t)s->page_bytes);
		memcpy(pack_bias(s, group, to), all + start, n);
	}
	arena_destroy(a);
	return to;
}

uint64_t lower_weight_image(Lowering *l, const Step *s, Range groups)
{
	const uint64_t bytes = (uint64_t)range_count(groups) * (uint64_t)s->stream.chunks
		* (uint64_t)s->page_bytes;
	uint8_t *data = arena_alloc(l->arena, bytes), *to = data;
	if (s->kind == STEP_CHANNEL)
		lower_channel_pages(s, groups, data);
	else
		for (int g = groups.first; g < groups.end; g++)
			to = pack_group(s, g, to);
	return place_image(l, s, data, bytes);
}

/* One image for each split; cores of a split share it. */
static void set_images(Lowering *l, ProgramOp *op, const Step *s)
{
	const int splits = s->out->cut.splits;
	uint32_t *at = arena_array(l->arena, uint32_t, splits);
	bool *made = arena_array(l->arena, bool, splits);
	const int address = params_field(params_at(op->params), "dram_at")->word;
	for (int c = 0; c < l->plan->cores; c++) {
		const Range groups = step_core_groups(s, s->out->shard[c].own.planes);
		if (l->image > 0) { /* the op before is that of the last image */
			at[c % splits] = program_word(op - 1, c, address);
		} else if (range_count(groups) && !made[c % splits]) {
			at[c % splits] = (uint32_t)lower_weight_image(l, s, groups);
			made[c % splits] = true;
		}
		lower_set(l, op, c, "groups", 0, (uint32_t)range_count(groups));
		lower_set(l, op, c, "dram_at", 0, range_count(groups) ? at[c % splits] : 0);
	}
}

static uint32_t node(int col, int row) { return TT_NODE(TT_VIRTUAL + col, TT_VIRTUAL + row); }

/* Cores of a rectangle, row by row. */
static void share(Lowering *l, ProgramOp *op, const Step *s, int col, int cols)
{
	const Plan *p = l->plan;
	const int cores = cols * p->rows, fetchers = step_fetchers(s, cores);
	const int fetch = program_variant(l->program, "weights_fetch", NULL, 0);
	program_set(op, "fetchers", 0, (uint32_t)fetchers);
	program_set(op, "receivers", 0, (uint32_t)cores - 1);
	program_set(op, "credit_semaphore", 0, cols == p->cols ? CREDIT_ALL : CREDIT_COLUMN);
	program_set(op, "arrived_semaphore", 0, ARRIVED);
	for (int i = 0; i < cores; i++) {
		const int core = i / cols * p->cols + col + i % cols;
		lower_set(l, op, core, "mcast_first", 0, node(col, 0));
		lower_set(l, op, core, "mcast_last", 0, node(col + cols - 1, p->rows - 1));
		for (int f = 0; f < fetchers; f++) {
			const int at = step_fetcher(f, fetchers, cores);
			const uint32_t from = node(col + at % cols, at / cols);
			lower_set(l, op, core, f ? "fetch_nodes" : "fetch_node", f ? f - 1 : 0, from);
			if (at == i) {
				lower_set(l, op, core, "fetcher", 0, (uint32_t)f);
				program_run_on(op, core, TT_NCRISC, fetch);
			}
		}
	}
}

static void fetch(Lowering *l, ProgramOp *op, const Step *s)
{
	const FetchWays ways = step_fetch_ways(l->plan, s);
	lower_run(l, op, TT_NCRISC, "weights_receive", NULL, 0);
	if (ways == FETCH_ALL)
		share(l, op, s, 0, l->plan->cols);
	else if (ways == FETCH_COLUMNS)
		for (int col = 0; col < l->plan->cols; col++)
			share(l, op, s, col, 1);
	else
		lower_run(l, op, TT_NCRISC, "weights_read", NULL, 0);
}

static void set_cb(Lowering *l, ProgramOp *op, int id, uint32_t at, uint32_t page, uint32_t pages)
{
	ProgramCb *cb = program_cb(l->program, op, id);
	cb->address = at;
	cb->page_bytes = page;
	cb->pages = pages;
}

static void set_chunks(Lowering *l, ProgramOp *op, const Step *s)
{
	const Stream *w = &s->stream;
	const int tiles = s->held > w->hold ? s->held : w->hold;
	program_set(op, "chunks", 0, (uint32_t)w->chunks);
	program_set(op, "chunk_blocks", 0, (uint32_t)w->chunk_blocks);
	program_set(op, "block", 0, (uint32_t)w->block);
	program_set(op, "passes", 0, (uint32_t)w->passes);
	if (!w->sums_bytes)
		return;
	program_set(op, "sums_cb", 0, SUMS_CB);
	program_set(op, "sums", 0, w->sums_address);
	program_set(op, "sums_pages", 0, (uint32_t)w->block);
	set_cb(l, op, SUMS_CB, w->sums_address, (uint32_t)tiles * 4 * TILE_VALUES,
	       (uint32_t)w->block);
}

/* The circular buffer, and where its pages come from. */
static void set_ring(Lowering *l, ProgramOp *op, const Step *s, int cb, uint32_t page_bytes,
		     uint32_t pages)
{
	program_set(op, "weights_cb", 0, (uint32_t)cb);
	program_set(op, "weights", 0, s->weight_address);
	program_set(op, "page_bytes", 0, page_bytes);
	program_set(op, "pages", 0, pages);
	program_set(op, "dram_bank", 0, 0);
	program_set(op, "dram_page", 0, DRAM_PAGE);
	set_cb(l, op, cb, s->weight_address, page_bytes, pages);
}

void lower_weights(Lowering *l, ProgramOp *op, const Step *s)
{
	const bool again = l->image > 0 || l->slice > 0;
	op->early = s->stream.early && !again;
	const bool other = (op->early && program_has_cb(op - 1, WEIGHTS_CB))
		|| (again && program_has_cb(op - 1, EARLY_CB));
	set_ring(l, op, s, other ? EARLY_CB : WEIGHTS_CB, (uint32_t)s->page_bytes,
		 (uint32_t)s->stream.pages);
	set_images(l, op, s);
	if (s->stream.chunk_blocks)
		set_chunks(l, op, s);
	if (again && step_weights_stay(s))
		lower_run(l, op, TT_NCRISC, "weights_stay", NULL, 0);
	else
		fetch(l, op, s);
}

void lower_page(Lowering *l, ProgramOp *op, const Step *s, const uint8_t *data, uint64_t bytes)
{
	set_ring(l, op, s, WEIGHTS_CB, (uint32_t)bytes, 1);
	program_set(op, "groups", 0, 1);
	program_set(op, "dram_at", 0, (uint32_t)place_image(l, s, data, bytes));
	fetch(l, op, s);
}
