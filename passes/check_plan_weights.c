/*
 * Weights: groups of output tiles, blocks of input tiles, pages of a circular
 * buffer, how often they come by and the sums between them
 * (runtime/device/DEVICE.md, Weights).
 */
#include "passes/check_plan.h"

enum {
	MOST_GROUPS = 255,
	MOST_PAGES = 65535, /* of a step: a page's number is half of a word */
	MOST_FETCHERS = 4,
	MOST_PAIRS = 4095,  /* of bias and taps for each channel */
	MOST_HOLD = 4,
	PAIR_BYTES = 128,   /* bias, or weights of a tap, of two planes */
	BIAS_BYTES = 4 * TILE,
	SUM_BYTES = 4 * TILE_VALUES,
};

static bool is_product(const Step *s) { return s->kind == STEP_CONV || s->kind == STEP_DECONV2; }

/* Tiles of weights for all channels of the result. */
static int tiles_of(const Step *s)
{
	const int tiles = check_div_up(s->out->channels, TILE);
	return s->kind == STEP_DECONV2 ? 4 * tiles : tiles;
}

static void check_groups(const Checker *c, const Step *s)
{
	const int tiles = tiles_of(s), sets = s->channel_groups;
	STEP_RULE(c, s, s->held == 1 || s->held == 2 || s->held == 4, "%d tiles held, not 1, 2 or 4",
		  s->held);
	STEP_RULE(c, s, s->kind != STEP_DECONV2 || s->held == 2, "%d tiles held, pairs have 2", s->held);
	STEP_RULE(c, s, s->held < 1
		  || (sets > 0 && tiles % sets == 0 && tiles / sets % s->held == 0),
		  "%d tiles held do not divide %d of %d groups", s->held, tiles, sets);
	STEP_RULE(c, s, s->groups > 0 && s->groups * s->held == tiles,
		  "%d groups of %d for %d output tiles", s->groups, s->held, tiles);
	STEP_RULE(c, s, s->groups <= MOST_GROUPS, "%d groups of weights, %d is the most", s->groups,
		  (int)MOST_GROUPS);
	STEP_RULE(c, s, sets == 1 || s->nin == 1, "groups of channels read one part, not %d", s->nin);
	STEP_RULE(c, s, sets < 2 || (s->in[0].channels % (sets * PLANE) == 0
				     && s->out->channels % (sets * TILE) == 0),
		  "%d groups of %d channels in and %d out are no whole planes and tiles", sets,
		  s->in[0].channels, s->out->channels);
}

/* A core's planes are those of whole groups. */
static void check_split(const Checker *c, const Step *s)
{
	int unit = s->kind == STEP_CONV ? 2 * s->held : 2;
	if (s->channel_groups > 1)
		unit = s->out->channels / s->channel_groups / PLANE;
	for (int core = 0; core < c->p->cores; core++) {
		const Region own = s->out->shard[core].own;
		if (region_empty(own))
			continue;
		STEP_RULE(c, s, own.planes.first % unit == 0
			  && (own.planes.end % unit == 0
			      || own.planes.end == s->out->layout.planes),
			  "core %d makes planes %d to %d, groups have %d", core, own.planes.first,
			  own.planes.end - 1, unit);
	}
}

static void check_blocks(const Checker *c, const Step *s)
{
	for (int k = 0; k < s->nin; k++) {
		const WeightBlocks w = step_blocks(s, k);
		const uint32_t tiles = weight_tiles_of(w.cin);
		STEP_RULE(c, s, w.k && tiles % w.k == 0
			  && weight_block_tiles(&w) <= MAX_BLOCK_TILES,
			  "part %d: blocks of %u of %u input tiles times %u, at most %d in all", k, w.k,
			  tiles, w.n, (int)MAX_BLOCK_TILES);
	}
}

/* Chunks are whole blocks, and a page holds the largest. */
static void check_pages(const Checker *c, const Step *s)
{
	const Stream *w = &s->stream;
	const int blocks = step_block_count(s);
	int64_t most = 0;
	STEP_RULE(c, s, w->chunk_tiles >= 0, "chunks of %d tiles", w->chunk_tiles);
	if (w->chunk_blocks < 1 || w->chunk_blocks > blocks
	    || w->chunks != check_div_up(blocks, w->chunk_blocks)) {
		check_step_wrong(c, s, "%d chunks of %d blocks for %d blocks", w->chunks,
				 w->chunk_blocks, blocks);
		return;
	}
	for (int i = 0; i < w->chunks; i++) {
		const int64_t bytes =
			step_block_bytes(s, i * w->chunk_blocks, (i + 1) * w->chunk_blocks);
		most = bytes > most ? bytes : most;
	}
	most += (int64_t)s->held * BIAS_BYTES;
	STEP_RULE(c, s, s->page_bytes == most, "pages of %lld bytes, the largest chunk and its bias take %lld",
		  (long long)s->page_bytes, (long long)most);
}

/* Rows of positions on the core that has most of them. */
static int most_positions(const Checker *c, const Step *s)
{
	int most = 1;
	for (int core = 0; core < c->p->cores; core++) {
		const Region own = s->out->shard[core].own;
		int rows = 0;
		for (int y = own.rows.first; !region_empty(own) && y < own.rows.end; y++)
			rows += s->kind == STEP_DECONV2 ? y % 2 == 0
				: y >= s->row && (y - s->row) % s->row_step == 0;
		most = rows > most ? rows : most;
	}
	return most;
}

static int columns_of(const Step *s)
{
	const Layout *l = &s->out->layout;
	if (s->kind == STEP_DECONV2)
		return l->cols / 2;
	return check_div_up(l->cols - s->column_phase, l->phases);
}

/* Units at a time: as asked for, else all there are, or one if there are chunks. */
static int block_of(const Step *s, int units)
{
	const Stream *w = &s->stream;
	int block = w->chunks > 1 ? 1 : units;
	if (w->positions && !(w->chunks > 1 && s->kind == STEP_DECONV2))
		block = w->positions / TILE / w->hold;
	return block < 1 ? 1 : block < units ? block : units;
}

/* How often pages come by, and the sums between them. */
static void check_passes(const Checker *c, const Step *s)
{
	const Stream *w = &s->stream;
	const int rows = most_positions(c, s);
	STEP_RULE(c, s, w->hold >= 1 && w->hold <= MOST_HOLD && (w->hold == 1 || s->held == 1),
		  "%d rows of positions at a time with %d tiles held", w->hold, s->held);
	STEP_RULE(c, s, w->positions >= 0 && w->positions % TILE == 0,
		  "%d positions at a time are no multiple of %d", w->positions, (int)TILE);
	if (w->hold < 1 || w->block < 1)
		return;
	const int units = check_div_up(columns_of(s), TILE) * check_div_up(rows, w->hold)
		* s->out->images;
	STEP_RULE(c, s, w->block == block_of(s, units),
		  "%d units of %d rows at a time, %d positions of %d units make %d", w->block, w->hold,
		  w->positions, units, block_of(s, units));
	STEP_RULE(c, s, w->passes == check_div_up(units, w->block), "%d passes of %d units for %d",
		  w->passes, w->block, units);
	const bool sums = w->chunks > 1 && w->block > 1;
	const int64_t bytes = sums ? (int64_t)w->block * (s->held > w->hold ? s->held : w->hold)
					* SUM_BYTES : 0;
	STEP_RULE(c, s, !sums || s->kind != STEP_DECONV2, "pairs have no sums, but %d chunks and %d units",
		  w->chunks, w->block);
	STEP_RULE(c, s, w->sums_bytes == bytes, "%lld bytes of sums, %d chunks of %d units take %lld",
		  (long long)w->sums_bytes, w->chunks, w->block, (long long)bytes);
}

/* Groups of the core that has most of them. */
static int most_groups(const Checker *c, const Step *s)
{
	const int tiles = s->kind == STEP_DECONV2 ? 4 : 1;
	int most = 0;
	for (int core = 0; core < c->p->cores; core++) {
		const Region own = s->out->shard[core].own;
		const int here = region_empty(own) ? 0 : check_div_up(range_count(own.planes), 2);
		const int groups = check_div_up(here * tiles, s->held);
		most = groups > most ? groups : most;
	}
	return most;
}

static void check_ring(const Checker *c, const Step *s)
{
	const Stream *w = &s->stream;
	const int all = most_groups(c, s) * w->chunks;
	const int64_t come = (int64_t)s->groups * w->chunks * w->passes;
	STEP_RULE(c, s, w->pages >= 1 && w->pages <= all, "room for %d pages, a core gets %d", w->pages, all);
	STEP_RULE(c, s, !w->ring || w->pages <= w->ring, "room for %d pages, the ring has %d", w->pages,
		  w->ring);
	STEP_RULE(c, s, come <= MOST_PAGES, "%lld pages of weights come by, %d is the most",
		  (long long)come, (int)MOST_PAGES);
	STEP_RULE(c, s, s->page_bytes % ALIGN_DRAM == 0, "pages of %lld bytes are no multiple of %d",
		  (long long)s->page_bytes, (int)ALIGN_DRAM);
	STEP_RULE(c, s, s->weight_bytes == w->pages * s->page_bytes,
		  "%lld bytes of weights, %d pages of %lld are %lld", (long long)s->weight_bytes,
		  w->pages, (long long)s->page_bytes, (long long)(w->pages * s->page_bytes));
	STEP_RULE(c, s, w->fetchers >= 0 && w->fetchers <= MOST_FETCHERS, "%d fetchers, not 1 to %d",
		  w->fetchers, (int)MOST_FETCHERS);
}

static void check_product(const Checker *c, const Step *s)
{
	const int before = c->d->errors;
	const int taps = s->kind == STEP_DECONV2 ? 1 : s->window[0].size * s->window[1].size;
	STEP_RULE(c, s, s->filter, "it has no weights");
	STEP_RULE(c, s, s->taps == taps, "%d taps, its window has %d", s->taps, taps);
	check_groups(c, s);
	if (c->d->errors != before)
		return;
	check_split(c, s);
	check_blocks(c, s);
	check_pages(c, s);
	check_passes(c, s);
	if (c->d->errors == before)
		check_ring(c, s);
}

/* A page for every two planes, with bias and taps in pairs of rows. */
static void check_channel(const Checker *c, const Step *s)
{
	const Stream *w = &s->stream;
	const int before = c->d->errors, pairs = s->taps + 1;
	const int groups = check_div_up(part_planes(&s->in[0]), 2);
	STEP_RULE(c, s, s->taps == s->window[0].size * s->window[1].size, "%d taps, its window has %d",
		  s->taps, s->window[0].size * s->window[1].size);
	STEP_RULE(c, s, pairs <= MOST_PAIRS, "%d taps, %d is the most", s->taps, (int)MOST_PAIRS - 1);
	STEP_RULE(c, s, s->held == 1 && s->groups == groups, "%d groups of %d for %d pairs of planes",
		  s->groups, s->held, groups);
	STEP_RULE(c, s, s->page_bytes == (int64_t)pairs * PAIR_BYTES, "pages of %lld bytes, bias and taps take %d",
		  (long long)s->page_bytes, pairs * PAIR_BYTES);
	STEP_RULE(c, s, w->chunks == 1 && w->passes == 1 && !w->sums_bytes,
		  "%d chunks and %d passes, weights for each channel come in one page", w->chunks,
		  w->passes);
	if (c->d->errors != before)
		return;
	check_split(c, s);
	check_ring(c, s);
}

/* Tables of a mix are one page; what else a step has beside its tensors. */
static void check_rest(const Checker *c, const Step *s)
{
	int64_t page = 0;
	for (int i = 0; s->kind == STEP_MIX && i < s->out->layout.phases; i++) {
		const int64_t bytes = (int64_t)mix_bytes(s->mix[i]);
		page = bytes > page ? bytes : page;
	}
	STEP_RULE(c, s, s->weight_bytes == page, "%lld bytes of tables, it has %lld",
		  (long long)s->weight_bytes, (long long)page);
	STEP_RULE(c, s, !s->stream.sums_bytes && !s->stream.early, "it has no weights, but %lld bytes of sums",
		  (long long)s->stream.sums_bytes);
}

static void check_scratch(const Checker *c, const Step *s)
{
	const bool edge = s->kind == STEP_EDGE_IN || s->kind == STEP_EDGE_OUT;
	const Layout *l = &check_worked_on(s)->layout;
	const DType host = l->type == DEV_F32 ? TYPE_F32 : TYPE_BF16;
	const int64_t row = (int64_t)l->cols * (int64_t)type_info[host].bytes;
	const int64_t page = (row + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	const int64_t channels = !edge ? 0 : s->out ? s->op->shape.dim[1] : s->in[0].channels;
	const int64_t wanted = EDGE_SLOTS * page * (channels < PLANE ? channels : PLANE);
	STEP_RULE(c, s, edge ? s->scratch_bytes >= wanted : !s->scratch_bytes,
		  "%lld bytes of rows on their way, %lld are wanted", (long long)s->scratch_bytes,
		  (long long)wanted);
}

void check_weights(const Checker *c)
{
	for (int i = 0; i < c->p->nsteps; i++) {
		const Step *s = &c->p->steps[i];
		const bool wanted = is_product(s) || s->kind == STEP_CHANNEL;
		check_scratch(c, s);
		STEP_RULE(c, s, wanted == (s->weights != 0), "%s format of weights",
			  s->weights ? "it has a" : "it has no");
		if (wanted != (s->weights != 0))
			continue;
		if (is_product(s))
			check_product(c, s);
		else if (s->kind == STEP_CHANNEL)
			check_channel(c, s);
		else
			check_rest(c, s);
		STEP_RULE(c, s, !s->stream.early || check_before(c->p, i) >= 0,
			  "its weights come early, and there is no step before it");
	}
}
