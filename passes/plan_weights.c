/*
 * How weights reach the cores: what hints ask for, what follows from it, and
 * pages or chunks where not all of them fit.
 */
#include "passes/plan_steps.h"

#include <stdlib.h>

#include "ir/hint.h"
#include "passes/choice_legal.h"

enum { SUM_BYTES = 4 * TILE_VALUES, SUM_BLOCK = 8 };

static int number(const Op *op, const char *hint)
{
	const char *value = op_hint(op, hint);
	return value ? atoi(value) : 0;
}

int plan_held(Builder *b, const Op *op, int tiles)
{
	const int n = number(op, "cout_block");
	if (!n)
		return tiles % 4 == 0 ? 4 : tiles % 2 == 0 ? 2 : 1;
	if (n == 3 || n > 4 || tiles % n)
		plan_refuse(b, op, "cout_block must be 1, 2 or 4 and divide the output tiles");
	return n == 3 || n > 4 || tiles % n ? 1 : n;
}

int plan_deepest_block(const Step *s)
{
	int deepest = 1;
	for (int i = 0; i < s->nin; i++) {
		const int k = (int)step_blocks(s, i).k;
		deepest = k > deepest ? k : deepest;
	}
	return deepest;
}

void plan_weight_hints(Builder *b, Step *s)
{
	const Op *op = s->op;
	Stream *w = &s->stream;
	const bool twice = !op_asks(op, "double_buffer", "none")
		&& !op_asks(op, "double_buffer", "activations");
	w->chunk_tiles = number(op, "k_block");
	w->positions = number(op, "act_block_h");
	w->fetchers = number(op, "fetchers");
	if (w->chunk_tiles || op_asks(op, "residency", "streamed"))
		w->ring = twice ? 2 : 1;
	if (w->chunk_tiles % plan_deepest_block(s) && b->image == 0)
		diag_warning(b->d, op->loc, "%s '%s': k_block %d is made whole blocks of %d tiles",
			     op_info[op->kind].name, op->name, w->chunk_tiles,
			     plan_deepest_block(s));
	if (w->positions % TILE)
		plan_refuse(b, op, "act_block_h is not a multiple of 32");
	if (w->fetchers > MOST_FETCHERS)
		plan_refuse(b, op, "more than 4 fetchers");
	if (w->chunk_tiles && op_asks(op, "residency", "resident"))
		plan_refuse(b, op, "weights in chunks are streamed, not resident");
	/* The op's first step; the weights of the others come right behind it. */
	w->early = op_asks(op, "prefetch", "yes") && b->plan->nsteps > 0;
}

enum { BIAS_BYTES = 4 * TILE }; /* of an output tile, fp32 */

static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }
static int ratio_up(int a, int b) { return (a + b - 1) / b; }

/* Rows of positions on the core that has most of them. */
static int most_rows(const Plan *p, const Step *s)
{
	const Shard *shard = s->out->shard;
	int most = 1;
	for (int c = 0; c < p->cores; c++) {
		const Range rows = shard[c].own.rows;
		if (range_count(rows) && (c == 0 || !range_same(rows, shard[c - 1].own.rows)))
			most = larger(most, range_count(step_positions(s, rows)));
	}
	return most;
}

/* Groups of weights on the core that has most of them; bands are cut alike. */
static int most_groups(const Plan *p, const Step *s)
{
	const Shard *shard = s->out->shard;
	const int splits = s->out->cut.splits;
	int most = 0;
	for (int c = 0; c < p->cores; c++) {
		const Range planes = shard[c].own.planes;
		if (c < splits || !range_same(planes, shard[c - splits].own.planes))
			most = larger(most, range_count(step_groups(s, planes)));
	}
	return most;
}

/* Of the blocks of one part for a group. */
typedef struct PartBlocks {
	int count;
	int64_t bytes;
} PartBlocks;

/* Of the page that has most: so many blocks at a time, part by part. */
static int64_t most_bytes(const PartBlocks *parts, int n, int each, int chunks)
{
	int64_t most = 0;
	for (int c = 0; c < chunks; c++) {
		const Range page = { c * each, (c + 1) * each };
		int64_t bytes = 0;
		for (int i = 0, first = 0; i < n; first += parts[i++].count) {
			const Range mine = { first, first + parts[i].count };
			bytes += range_count(range_both(mine, page)) * parts[i].bytes;
		}
		most = bytes > most ? bytes : most;
	}
	return most;
}

void plan_size_pages(Step *s)
{
	Stream *w = &s->stream;
	PartBlocks parts[MAX_STEP_PARTS];
	int blocks = 0, deepest = 1;
	bool alike = true;
	for (int i = 0; i < s->nin; i++) {
		const WeightBlocks b = step_blocks(s, i);
		parts[i].count = (int)weight_block_count(&b) / s->groups;
		parts[i].bytes = weight_block_bytes(&b);
		blocks += parts[i].count;
		deepest = larger(deepest, (int)b.k);
		alike &= parts[i].bytes == parts[0].bytes;
	}
	w->chunk_blocks = w->chunk_tiles ? larger(1, w->chunk_tiles / deepest) : blocks;
	w->chunk_blocks = smaller(w->chunk_blocks, blocks);
	w->chunks = ratio_up(blocks, w->chunk_blocks);
	s->page_bytes = alike ? w->chunk_blocks * parts[0].bytes
			      : most_bytes(parts, s->nin, w->chunk_blocks, w->chunks);
	s->page_bytes += (int64_t)s->held * BIAS_BYTES;
}

int plan_hold(int held, int rows) { return held == 1 ? smaller(rows, 4) : 1; }

/* How often pages come by, and what is kept of sums between them. */
static void size_passes(const Plan *p, Step *s)
{
	Stream *w = &s->stream;
	const int rows = most_rows(p, s);
	w->hold = plan_hold(s->held, rows);
	const int tiles = ratio_up(step_columns(s), TILE) * ratio_up(rows, w->hold);
	const int units = tiles * s->out->images;
	w->block = w->positions ? larger(1, w->positions / TILE / w->hold)
		 : w->chunks > 1 ? 1 : units;
	if (w->chunks > 1 && s->kind == STEP_DECONV2)
		w->block = 1; /* store_pairs has no sums */
	w->block = smaller(w->block, units);
	w->passes = ratio_up(units, w->block);
	w->sums_bytes = 0;
	if (w->chunks > 1 && w->block > 1)
		w->sums_bytes = (int64_t)w->block * larger(s->held, w->hold) * SUM_BYTES;
}

void plan_size_weights(const Plan *p, Step *s)
{
	Stream *w = &s->stream;
	if (s->kind == STEP_CONV || s->kind == STEP_DECONV2) {
		plan_size_pages(s);
		size_passes(p, s);
	} else {
		w->chunks = w->passes = 1;
	}
	w->pages = most_groups(p, s) * w->chunks;
	if (w->ring)
		w->pages = smaller(w->pages, w->ring);
	s->weight_bytes = w->pages * s->page_bytes;
}

/* Less and less room: pages two at a time, one at a time, then more and more
 * chunks two at a time, with sums of a few units and without. False: no less. */
static bool cut(const Plan *p, Step *s, int rung)
{
	Stream *w = &s->stream;
	const int chunks = 2 + (rung - 3) / 2;
	int tiles = 0;
	for (int i = 0; i < s->nin; i++)
		tiles += s->taps * (int)step_blocks(s, i).cin / TILE;
	w->ring = rung == 2 ? 1 : 2;
	if (rung > 2) {
		if (chunks > tiles)
			return false;
		w->chunk_tiles = ratio_up(tiles, chunks);
		if (!op_hint(s->op, "act_block_h"))
			w->positions = rung % 2 ? SUM_BLOCK * TILE * w->hold : 0;
	}
	plan_size_weights(p, s);
	return true;
}

static int64_t room(const Step *s) { return s->weight_bytes + s->stream.sums_bytes; }

/* To the next rung that takes less room. */
static bool stream_more(const Plan *p, Step *s)
{
	const int64_t before = room(s);
	const bool product = s->kind == STEP_CONV || s->kind == STEP_DECONV2;
	const Op *op = s->op;
	bool more = product && !op_hint(op, "k_block") && !op_asks(op, "residency", "resident");
	while (more && room(s) >= before)
		more = cut(p, s, ++s->stream.rung);
	return more && (int64_t)s->groups * s->stream.chunks * s->stream.passes <= MOST_PAGES;
}

bool plan_stream_more(Plan *p, Range life)
{
	for (;;) {
		Step *most = NULL;
		for (int i = life.first; i < life.end && i < p->nsteps; i++) {
			Step *s = &p->steps[i];
			if (s->weights && s->stream.rung >= 0 && (!most || room(s) > room(most)))
				most = s;
		}
		if (!most)
			return false;
		if (stream_more(p, most))
			return true;
		most->stream.rung = -1;
	}
}
