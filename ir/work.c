#include "ir/work.h"

#include <string.h>

#include "ir/pipeline.h"
#include "ir/work_window.h"

enum { PACKET = 8192, ZERO_BYTES = 1024, TILE = 32, PLANE = 16 };

const char *const work_names[WORK_COUNT] = {
#define ROUTINE_COST(routine) [WORK_##routine] = #routine,
#include "ir/costs.def"
};

WorkId work_find(const char *name)
{
	int i = 0;
	while (i < WORK_COUNT && strcmp(work_names[i], name) != 0)
		i++;
	return i == WORK_COUNT ? WORK_none : (WorkId)i;
}

/* ---- the words of costs.def ---- */

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t work_packets(int64_t bytes) { return up(bytes, PACKET); }

/* Bytes of a pixel of one plane; of a tile. */
static int64_t pixel(DevTypes type) { return dev_pixel_bytes(type) + (type == DEV_BFP8_B); }

static int64_t tile(DevTypes type) { return 2 * TILE * pixel(type); }

/* Columns of positions in all images, by pixels and by 32 of each. */
static int64_t wide(const Work *w) { return w->images * w->cols; }

static int64_t across(const Work *w) { return w->images * up(w->cols, TILE); }

/* 32 positions times the output channels of a group. */
static int64_t runs(const Work *w) { return w->groups * across(w) * w->rows; }

/* Halves of Dst that are filled. */
static int64_t halves(const Work *w) { return w->groups * across(w) * up(w->rows, w->hold); }

static int64_t in_tiles(const Work *w)
{
	int64_t k = 0;
	for (int64_t i = 0; i < w->pieces; i++)
		k += up(w->planes[i], 2);
	return k;
}

/* Blocks of weights of one tap of a piece. */
static int64_t tap_blocks(const Work *w, int64_t piece)
{
	return up(w->planes[piece], 2) / w->k_block[piece];
}

static int64_t blocks(const Work *w)
{
	int64_t k = 0;
	for (int64_t i = 0; i < w->pieces; i++)
		k += w->taps * tap_blocks(w, i);
	return k;
}

/* Pages that have some of `count` blocks from number `first` on. */
static int64_t pages_of(const Work *w, int64_t first, int64_t count)
{
	if (!count || !w->chunk_blocks)
		return count > 0;
	return (first + count - 1) / w->chunk_blocks - first / w->chunk_blocks + 1;
}

/* Times a page takes up a piece; and a tap of one. */
static int64_t piece_visits(const Work *w)
{
	int64_t first = 0, visits = 0;
	for (int64_t i = 0; i < w->pieces; i++) {
		visits += pages_of(w, first, w->taps * tap_blocks(w, i));
		first += w->taps * tap_blocks(w, i);
	}
	return visits;
}

static int64_t tap_visits(const Work *w)
{
	int64_t first = 0, visits = 0;
	for (int64_t i = 0; i < w->pieces; i++) {
		for (int64_t tap = 0; tap < w->taps; tap++, first += tap_blocks(w, i))
			visits += pages_of(w, first, tap_blocks(w, i));
	}
	return visits;
}

static int64_t pages(const Work *w) { return w->groups * w->passes * w->chunks; }

/* Pages whose sums go to L1 and come back. */
static int64_t sum_pages(const Work *w) { return w->sums ? w->chunks - 1 : 0; }

/* Input tiles of all taps. */
static int64_t depth(const Work *w) { return w->taps * in_tiles(w); }

/* Tiles that store writes: `planes` in each group of 2 * n, so the last may
 * have fewer. Of those, the ones with one plane. */
static int64_t stored(const Work *w) { return up(w->out_planes, 2) * across(w) * w->rows; }

static int64_t stored_odd(const Work *w) { return w->out_planes % 2 * across(w) * w->rows; }

/* Groups that store writes, halves of Dst in all of them, and passes: with sums the
 * packers are told twice in each what to do. */
static int64_t store_groups(const Work *w) { return up(w->out_planes, 2 * w->n); }

static int64_t units(const Work *w) { return across(w) * up(w->rows, w->hold); }

static int64_t store_halves(const Work *w) { return store_groups(w) * units(w); }

static int64_t told(const Work *w)
{
	const int64_t block = w->block ? w->block : units(w);
	if (!units(w))
		return 0;
	return sum_pages(w) ? 2 * store_groups(w) * up(units(w), block) : store_groups(w) > 0;
}

/* Times the masks change: the last tile of a row may be cut. The packers forget
 * them when they are told anew, with sums every `block` units. */
static int64_t masks(const Work *w)
{
	const int64_t down = up(w->rows, w->hold), wide = up(w->cols, TILE);
	const int64_t groups = store_groups(w);
	if (w->cols % TILE == 0 || !units(w))
		return 0;
	if (!sum_pages(w))
		return wide > 1 ? 2 * w->images * groups : groups > 0;
	int64_t changes = up(units(w), w->block);
	for (int64_t x = 1; wide > 1 && x < w->images * wide; x++)
		changes += (x % wide == 0 || (x + 1) % wide == 0) && x * down % w->block != 0;
	return groups * changes;
}

/* Of store_pairs: 16 positions at a time, and groups whose second plane is there. */
static int64_t sixteens(const Work *w) { return w->images * up(w->cols, PLANE); }

static int64_t two_planes(const Work *w) { return least(w->groups, w->out_planes / 2 * 2); }

/* Pairs of planes of the first piece, whatever else there is; tiles of them. */
static int64_t first_tiles(const Work *w) { return up(w->planes[0], 2); }

static int64_t used_tiles(const Work *w) { return w->rows ? first_tiles(w) : 0; }

static int64_t plain_tiles(const Work *w) { return first_tiles(w) * across(w) * w->rows; }

/* mix_*: four pairs of planes at a time, of which the last may be a single one. */
static int64_t plane_blocks(const Work *w) { return up(first_tiles(w), 4); }

static int64_t single_pairs(const Work *w) { return first_tiles(w) % 4 == 1; }

/* channel_*: halves of Dst, loads of weights, and how many it takes to have all;
 * bias and 3 taps stay in SrcB. */
static int64_t fours(const Work *w) { return w->groups * across(w) * up(w->rows, 4); }

static bool weights_stay(const Work *w) { return w->taps < 4; }

static int64_t weight_loads(const Work *w)
{
	return weights_stay(w) ? w->groups * (w->rows > 0) : fours(w);
}

/* binary_*, pair_*: tiles, halves of Dst of `rows` tiles each, and pixels of an
 * operand, which may be one for 32. */
static int64_t pairs(const Work *w) { return up(w->out_planes, 2) * across(w); }

static int64_t operand(const Work *w, int s)
{
	const int64_t cols = w->spread[s] & 2 ? across(w) : wide(w);
	return 2 * up(w->out_planes, 2) * w->rows * cols * pixel(s ? w->b_type : w->a_type);
}

/* Vector instructions of pair_math for 32 values, by its `op`. */
static int64_t pair_values(const Work *w)
{
	static const int64_t count[] = { 5, 5, 5, 28, 8, 5, 5 };
	return count[w->op];
}

/* reduce_*: results, runs of 32 pixels. Kinds as in runtime/device/reduce.h. */
enum { LARGEST, SUM, DEVIATION };

static int64_t results(const Work *w) { return w->rows * first_tiles(w); }

static int64_t image_runs(const Work *w) { return w->image_rows * up(w->image_cols, TILE); }

/* Fours of pixels of all runs; runs that end within one. */
static int64_t image_fours(const Work *w) { return w->image_rows * up(w->image_cols, 4); }

static int64_t cut_fours(const Work *w) { return w->image_cols % 4 ? w->image_rows : 0; }

/* Requests for the pages this core reads: what is left of a bank's turn ends one
 * early. Each pass begins again at the first page of the group. */
static int64_t stream_reads(const Work *w)
{
	int64_t group = w->dram_page - w->dram_first % w->dram_page, count = 0, page = 0;
	for (int64_t g = 0; g < w->groups; g++) {
		int64_t left = group;
		for (int64_t i = 0; i < w->passes * w->chunks; i++, page++) {
			left = i % w->chunks ? left : group;
			for (int64_t bytes = w->page_bytes; bytes;) {
				const int64_t n = least(bytes, left);
				count += page % w->fetchers == w->fetcher ? work_packets(n) : 0;
				bytes -= n;
				left = n == left ? w->dram_page : left - n;
			}
		}
		group = left;
	}
	return count;
}

/* Pages this core reads for others. */
static int64_t fetched(const Work *w)
{
	return pages(w) / w->fetchers + (pages(w) % w->fetchers > w->fetcher);
}

/* Planes with channels in them, and with words of a pixel that have none. */
static int64_t used_planes(const Work *w)
{
	return least(w->edge_planes, up(w->channels, PLANE));
}

static int64_t bare_planes(const Work *w)
{
	return w->edge_planes - least(w->edge_planes, (w->channels + 1) / PLANE);
}

static int64_t edge_channels(const Work *w) { return least(w->channels, PLANE * w->edge_planes); }

/* ---- unpackers and matrix unit in step ---- */

static void add_unpack(Pipeline *p, int unpacker, int64_t bytes, bool hands_over, int64_t before)
{
	p->unpack[p->unpacks++] = (PipelineUnpack){ unpacker, bytes, hands_over, before };
}

/* One input tile of conv_unpack and conv_math: pixels are kept for n products, or
 * weights for `hold`. */
static Pipeline product_of(const Target *t, const Work *w)
{
	const int64_t pixels = TILE * pixel(w->in_type), weights = tile(w->weight_type);
	const int64_t count = w->n * w->hold;
	Pipeline p = { .setup = t->unpack_setup, .alone = t->unpack_rate,
		       .together = t->unpack_rate };
	if (w->hold > 1)
		add_unpack(&p, 0, weights, true, 1);
	for (int64_t i = 0; i < w->hold; i++) {
		add_unpack(&p, 1, pixels, false, w->hold > 1 ? 2 : 0);
		add_unpack(&p, 1, pixels, true, 0);
	}
	for (int64_t i = 0; w->hold == 1 && i < w->n; i++)
		add_unpack(&p, 0, weights, true, i == 0);
	for (int64_t i = 0; i < count; i++) {
		const bool last = i + 1 == count;
		p.product[p.products++] = (PipelineProduct){
			.cost = t->mvmuls * w->phases * t->mvmul_cost
				+ 1000 * (1 + (count > 1) + last),
			.gives = { w->hold == 1 || last, w->hold > 1 || last },
		};
	}
	return p;
}

int64_t work_turn_stall(const Target *t, const Work *w)
{
	const Pipeline p = product_of(t, w);
	int64_t left = pipeline_turn(&p);
	for (int i = 0; i < p.products; i++)
		left -= p.product[i].cost;
	return left > 0 ? left : 0;
}

int64_t work_turns(const Work *w) { return halves(w) * depth(w); }

int64_t work_stalls(const Target *t, const Work *w)
{
	return work_turns(w) * work_turn_stall(t, w) / 1000;
}

/* What an act works on (tt_act_faces of runtime/device/math.h): in a tile of so many
 * channels and pixels, `times` such tiles. */
static void add_act(Work *act, int64_t channels, int64_t pixels, int64_t times)
{
	const int64_t fours = up(pixels, 4), halves = up(pixels, PLANE);
	const int64_t vectors = channels > 17 ? 4 : channels > 16 ? 3 : channels > 1 ? 2 : 1;
	act->act_values += times * vectors * fours;
	act->act_faces += times * (vectors * fours == TILE ? 1 : halves * up(channels, PLANE));
}

/* The last pair of planes may not be full, nor the last 32 columns. */
static void call_act(Work *act, int64_t calls)
{
	const int64_t pairs = up(act->out_planes, 2), lanes = act->lanes ? act->lanes : PLANE;
	const int64_t rest = PLANE * (act->out_planes - 1) + lanes - TILE * (pairs - 1);
	const int64_t phases = act->groups > pairs ? 4 : 1; /* of store_pairs */
	const int64_t tiles = act->images * act->rows * phases;
	act->act_calls = calls;
	act->act_values = act->act_faces = 0;
	add_act(act, TILE, TILE, tiles * (pairs - 1) * (act->cols / TILE));
	add_act(act, rest, TILE, tiles * (act->cols / TILE));
	if (act->cols % TILE == 0)
		return;
	add_act(act, TILE, act->cols % TILE, tiles * (pairs - 1));
	add_act(act, rest, act->cols % TILE, tiles);
}

/* What a routine counts itself; how it calls the act. */
#define ROUTINE_COST(routine) \
	static void count_##routine(const Work *w, Counters *c, Work *act) \
	{ \
		(void)w; \
		(void)c; \
		(void)act;
#define LET(type, name, value) const type name = (value);
#define COUNTS(counter, formula) c->counter += (formula);
#define ACTS(calls) call_act(act, calls);
#define END_COST }
#include "ir/costs.def"

void work_count(WorkId routine, const Work *w, Counters *c)
{
	static void (*const count[WORK_COUNT])(const Work *, Counters *, Work *) = {
#define ROUTINE_COST(routine) [WORK_##routine] = count_##routine,
#include "ir/costs.def"
	};
	Work act = *w, ignored;
	count[routine](w, c, &act);
	if (act.act_calls && w->act)
		count[w->act](&act, c, &ignored);
}
