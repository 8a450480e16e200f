#include "passes/ttnn_time.h"

#include <string.h>

enum { LEAST_PIECE = 16, LARGE_PIECE = 8192, BF16_TILE = 2048, PIXEL_BYTES = 2 };

typedef struct Curve {
	int64_t least, peak, from;
} Curve;

static const char *const arches[] = { "wormhole", "blackhole" };
enum { ARCHES = sizeof arches / sizeof *arches };

static const Curve curves[TTNN_CURVES][ARCHES] = {
#define TTNN_CURVE(id, name, l, p, f, bl, bp, bf, what) \
	[TTNN_CURVE_##id] = { { l, p, f }, { bl, bp, bf } },
#include "ir/ttnn_costs.def"
};

/* Where a target says how much of it holds. */
static const size_t curve_factors[TTNN_CURVES] = {
#define TTNN_CURVE(id, name, ...) [TTNN_CURVE_##id] = offsetof(Target, ttnn_##name),
#include "ir/ttnn_costs.def"
};

static const size_t cost_factors[TTNN_COSTS] = {
#define TTNN_COST(id, name, ...) [TTNN_COST_##id] = offsetof(Target, ttnn_##name),
#include "ir/ttnn_costs.def"
};

static const int64_t costs[TTNN_COSTS][ARCHES] = {
#define TTNN_COST(id, name, wormhole, blackhole, unit, what) \
	[TTNN_COST_##id] = { wormhole, blackhole },
#include "ir/ttnn_costs.def"
};

static int arch_of(const Target *t)
{
	int i = 0;
	while (i < ARCHES && strcmp(t->arch, arches[i]) != 0)
		i++;
	return i;
}

bool ttnn_known(const Target *t) { return arch_of(t) < ARCHES; }

static int64_t factor(const Target *t, size_t at)
{
	return *(const int64_t *)((const char *)t + at);
}

static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t at_least(int64_t a, int64_t b) { return a > b ? a : b; }

int64_t ttnn_cost(const Target *t, TtnnCost c)
{
	return at_least(costs[c][arch_of(t)] * factor(t, cost_factors[c]) / 1000, 1);
}

/* The target as ttnn's own rules have it: they know no other figures. */
static Target as_published(const Target *t)
{
	Target p = *t;
#define FACTOR(field, what) p.field = 1000;
#include "ir/target.def"
	return p;
}

int64_t ttnn_rate_ps(int64_t bytes, int64_t milli_gbps) { return bytes * 1000000 / milli_gbps; }

int64_t ttnn_curve_ps(const Target *t, TtnnCurve c, int64_t bytes, int64_t piece)
{
	const Curve *k = &curves[c][arch_of(t)];
	const int64_t at = piece < LEAST_PIECE ? LEAST_PIECE : piece > k->from ? k->from : piece;
	/* Millionths, since the least is less than 1 GB/s. */
	const int64_t rate = k->least * 1000
		+ (k->peak - k->least) * 1000 * (at - LEAST_PIECE) / (k->from - LEAST_PIECE);
	const double held = (double)rate * (double)factor(t, curve_factors[c]);
	return (int64_t)((double)bytes * 1e12 / held);
}

int64_t ttnn_cycles_ps(const Target *t, int64_t thousandths)
{
	return thousandths * 1000 / t->clock_mhz;
}

int64_t ttnn_both(const Target *t, int64_t a, int64_t b)
{
	const int64_t loss = ttnn_cost(t, TTNN_COST_OVERLAP_LOSS);
	return a > b ? a + b * loss / 1000 : b + a * loss / 1000;
}

int64_t ttnn_tilize_cost(const Target *t, TtnnType type, bool fp32)
{
	if (type == TTNN_BFP8)
		return ttnn_cost(t, fp32 ? TTNN_COST_TILIZE_BFP8_FP32 : TTNN_COST_TILIZE_BFP8);
	return ttnn_cost(t, fp32 ? TTNN_COST_TILIZE_BF16_FP32 : TTNN_COST_TILIZE_BF16);
}

/* One block. */
typedef struct Block {
	int64_t read, tilize, mcast, math, weights;
} Block;

/* One core, or `readers` of them side by side, read pages and pass them on. */
static int64_t weights_ps(const Target *t, const TtnnGrid *g, int64_t bytes, int64_t page)
{
	const int64_t alone = ttnn_curve_ps(t, TTNN_CURVE_DRAM_PAGE, bytes, page);
	const int64_t readers = g->shard == TTNN_HEIGHT ? 1 : g->out_planes;
	const int64_t all = ttnn_rate_ps(bytes * readers, ttnn_cost(t, TTNN_COST_DRAM_READ));
	const int64_t fetch = at_least(alone, all);
	switch (g->shard) {
	case TTNN_HEIGHT:
		return fetch + (g->rows > 1 ? ttnn_curve_ps(t, TTNN_CURVE_MCAST, bytes, bytes) : 0);
	case TTNN_BLOCK:
		return fetch
			+ (g->rows > 1 ? ttnn_curve_ps(t, TTNN_CURVE_MCAST_ROW, bytes, bytes) : 0);
	case TTNN_WIDTH: case TTNN_DRAM: break;
	}
	return fetch;
}

static int64_t product_cost(const Target *t, const TtnnChoice *c)
{
	const int64_t phases = c->v[TTNN_FIDELITY] + 1;
	return at_least(phases * ttnn_cost(t, TTNN_COST_PHASE),
			ttnn_cost(t, c->v[TTNN_WEIGHTS] == TTNN_BFP8 ? TTNN_COST_FLOOR_BFP8
								     : TTNN_COST_FLOOR_BF16));
}

/* Reading the rows of the window for one block, by one core. */
static int64_t read_ps(const Target *t, const TtnnConv *c, const TtnnGrid *g, const TtnnBlocks *b)
{
	const int64_t taps = c->w.dw == 1 ? c->w.kw : 1;
	const int64_t piece = b->channels * taps * PIXEL_BYTES;
	int64_t bytes = b->a * TTNN_SIDE * b->channels * c->w.kw * PIXEL_BYTES;
	if (g->shard == TTNN_WIDTH)
		bytes = bytes * c->w.kh / b->k;
	return ttnn_curve_ps(t, TTNN_CURVE_LOCAL, bytes, piece);
}

/* The block itself, and how often it is passed around. */
static Block block_of(const Target *t, const TtnnConv *c, const TtnnGrid *g, const TtnnBlocks *b,
		      const TtnnChoice *choice)
{
	const int64_t weight = ttnn_tile_bytes(choice->v[TTNN_WEIGHTS]);
	const int64_t tiles = b->a * b->w, turns = g->shard == TTNN_HEIGHT ? 1 : g->planes;
	const int64_t bytes = tiles * ttnn_tile_bytes(choice->v[TTNN_TYPE]);
	const TtnnCurve mcast = g->shard == TTNN_BLOCK ? TTNN_CURVE_MCAST_ROW : TTNN_CURVE_MCAST;
	return (Block){
		.read = read_ps(t, c, g, b),
		.tilize = ttnn_cycles_ps(t, tiles * ttnn_tilize_cost(t, choice->v[TTNN_TYPE],
								      choice->v[TTNN_FP32])),
		.mcast = turns > 1 ? turns * ttnn_curve_ps(t, mcast, bytes, bytes) : 0,
		.math = ttnn_cycles_ps(t, turns * tiles * b->n * product_cost(t, choice)),
		.weights = turns * weights_ps(t, g, b->w * b->n * weight, weight),
	};
}

bool ttnn_splits(const Target *t, const TtnnConv *c, const TtnnGrid *g, const TtnnBlocks *b,
		 const TtnnChoice *choice)
{
	if (c->product || b->a < 2 || g->shard == TTNN_WIDTH)
		return false;
	if (g->shard == TTNN_BLOCK)
		return true;
	TtnnGrid many = *g;
	many.rows = at_least(g->rows, 2); /* the rule counts the multicast even to nobody */
	const Target published = as_published(t);
	const Block k = block_of(&published, c, &many, b, choice);
	return k.read / 2 + at_least(k.weights, k.tilize) < at_least(k.read + k.tilize, k.weights);
}

/* A 1x1 convolution: the input is read where it lies. */
static int64_t product_ps(const Target *t, const TtnnConv *c, const TtnnGrid *g,
			  const TtnnBlocks *b, const TtnnChoice *choice)
{
	const Block k = block_of(t, c, g, b, choice);
	const int64_t math = b->act * k.math;
	return ttnn_both(t, math, at_least(k.weights, b->act * k.mcast));
}

/* Blocks of a core's rows, whose weights stay after the first, or come again. */
static int64_t conv_ps(const Target *t, const TtnnConv *c, const TtnnGrid *g, const TtnnBlocks *b,
		       const TtnnChoice *choice)
{
	Block k = block_of(t, c, g, b, choice);
	k.read /= b->split ? 2 : 1;
	const bool again = g->shard != TTNN_HEIGHT, ahead = b->act > 1 && !again;
	const int64_t data = k.read + k.mcast, compute = k.tilize + k.math;
	const int64_t body = choice->v[TTNN_ACT_DB] ? ttnn_both(t, data, compute)
		: again ? data + compute : k.tilize + ttnn_both(t, data, k.math);
	int64_t writer = k.weights + (b->split ? k.read : 0);
	if (!ahead && !choice->v[TTNN_W_DB])
		writer += k.math;
	const int64_t with_weights = at_least(body, writer);
	const int64_t first = again ? b->act : 1;
	return k.read + b->k * (first * with_weights + (b->act - first) * body);
}

/* The activation, of every tile of the result. */
static int64_t act_ps(const Target *t, const TtnnConv *c, const TtnnBlocks *b)
{
	return c->sfpu ? ttnn_cycles_ps(t, b->rows * b->n * ttnn_cost(t, TTNN_COST_SFPU_TILE)) : 0;
}

TtnnConvTime ttnn_conv_time(const Target *t, const TtnnConv *c, const TtnnGrid *g,
			    const TtnnBlocks *b, const TtnnChoice *choice)
{
	const Block k = block_of(t, c, g, b, choice);
	const int64_t turns = g->shard == TTNN_HEIGHT ? 1 : g->planes;
	const int64_t blocks = b->act * b->k, weights = g->shard == TTNN_HEIGHT ? b->k : blocks;
	return (TtnnConvTime){
		.reader = c->product ? 0 : blocks * k.read / (b->split ? 2 : 1),
		.tilize = c->product ? 0 : blocks * k.tilize,
		.math = blocks * k.math,
		.mcast = blocks * k.mcast,
		.weights = weights * k.weights,
		.products = blocks * turns * b->a * b->w * b->n,
		.total = act_ps(t, c, b)
			+ (c->product ? product_ps : conv_ps)(t, c, g, b, choice),
	};
}

int64_t ttnn_halo_ps(const Target *t, const TtnnWindow *w, int64_t bytes, int64_t stick,
		     int64_t tiles)
{
	const int64_t apart = w->apart > 1 ? w->apart : 1, data = bytes / apart;
	const int64_t run = apart > 1 ? stick : w->wp * stick;
	const int64_t gather = ttnn_curve_ps(t, TTNN_CURVE_LOCAL, data, run)
		+ ttnn_copy_ps(t, bytes - data);
	return ttnn_both(t, gather, ttnn_cycles_ps(t, tiles * ttnn_cost(t, TTNN_COST_UNTILIZE)));
}

int64_t ttnn_copy_ps(const Target *t, int64_t bytes)
{
	return ttnn_curve_ps(t, TTNN_CURVE_LOCAL, bytes, LARGE_PIECE);
}

int64_t ttnn_pool_ps(const Target *t, const TtnnWindow *w, int64_t rows, int64_t channels)
{
	const int64_t wide = at_most(channels, 8 * TTNN_SIDE);
	const int64_t taps = w->dw == 1 && wide == channels ? w->kw : 1;
	const int64_t bytes = rows * w->kh * w->kw * channels * PIXEL_BYTES;
	return ttnn_curve_ps(t, TTNN_CURVE_LOCAL, bytes, wide * taps * PIXEL_BYTES) / 2;
}
