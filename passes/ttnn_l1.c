#include "passes/ttnn_l1.h"

#include "passes/ttnn_time.h"

enum { L1_ARRAY_BYTES = 64, HALO_BYTES = 2 };

const char *const ttnn_buffer_names[TTNN_BUFFERS] = {
#define TTNN_BUFFER(id, name) [TTNN_CB_##id] = name,
#include "passes/ttnn_buffers.def"
};

int64_t ttnn_tile_bytes(TtnnType type) { return type == TTNN_BFP8 ? 1088 : 2048; }

int64_t ttnn_spread(int64_t n, int64_t most, int64_t each)
{
	int64_t d = most;
	while (d > 1 && ttnn_round_up(n, d * each) - n >= ttnn_round_up(n, d * each) / d)
		d--;
	return d;
}

int64_t ttnn_out_planes(const Target *t, const TtnnConv *c, TtnnShard shard, int64_t planes)
{
	const int64_t tiles = ttnn_div_up(c->cout, TTNN_SIDE);
	switch (shard) {
	case TTNN_BLOCK: return c->product ? planes : ttnn_spread(tiles, t->grid_cols, 1);
	case TTNN_WIDTH: return ttnn_spread(tiles, t->grid_cols * t->grid_rows, 1);
	case TTNN_HEIGHT: case TTNN_DRAM: break;
	}
	return 1;
}

TtnnGrid ttnn_grid(const Target *t, const TtnnConv *c, TtnnShard shard, int64_t abh)
{
	const int64_t tiles = ttnn_div_up(c->w.batch * c->w.oh * c->w.ow, TTNN_SIDE);
	const int64_t each = abh > 0 ? abh / TTNN_SIDE : 1;
	const int64_t cores = t->grid_cols * t->grid_rows;
	const int64_t planes = ttnn_div_up(c->cin, TTNN_SIDE);
	TtnnGrid g = { .shard = shard, .rows = 1, .planes = 1 };
	if (shard == TTNN_HEIGHT) {
		g.rows = ttnn_spread(tiles, cores, each);
	} else if (shard == TTNN_BLOCK) {
		g.rows = ttnn_spread(tiles, t->grid_rows, each);
		g.planes = ttnn_spread(planes, t->grid_cols, 1);
	} else {
		g.planes = ttnn_spread(planes, cores, 1);
	}
	g.out_planes = ttnn_out_planes(t, c, shard, g.planes);
	return g;
}

/* Where in the padded image the window of result pixel i starts. */
static int64_t first_pixel(const TtnnWindow *w, int64_t i)
{
	const int64_t image = w->oh * w->ow, n = i / image, y = i % image / w->ow;
	return n * w->hp * w->wp + y * w->sh * w->wp + i % w->ow * w->sw;
}

int64_t ttnn_halo(const TtnnWindow *w, TtnnShard shard, int64_t row_cores, int64_t rows,
		  int64_t stick)
{
	const int64_t all = w->batch * w->oh * w->ow;
	const int64_t cores = shard == TTNN_WIDTH ? 1 : row_cores;
	const int64_t window = (w->kh - 1) * w->dh * w->wp + (w->kw - 1) * w->dw + 1;
	int64_t most = 0;
	for (int64_t c = 0; c < cores && c * rows < all; c++) {
		const int64_t last = (c + 1) * rows < all ? (c + 1) * rows - 1 : all - 1;
		const int64_t n = first_pixel(w, last) - first_pixel(w, c * rows) + window;
		most = n > most ? n : most;
	}
	return most * stick;
}

/* The override, or the largest number below it that divides. */
static int64_t block_rows(int64_t rows, int64_t override)
{
	int64_t a = override > 0 ? override / TTNN_SIDE : rows;
	while (a > 1 && rows % a)
		a--;
	return a;
}

TtnnBlocks ttnn_blocks(const Target *t, const TtnnConv *c, const TtnnGrid *g, TtnnRows layout,
		       const TtnnChoice *choice)
{
	const int64_t all = c->w.batch * c->w.oh * c->w.ow;
	TtnnBlocks b = { .rows = ttnn_rows(all, g->shard, g->rows, TTNN_TILE) / TTNN_SIDE };
	const TtnnRows in = g->shard == TTNN_WIDTH || c->product ? TTNN_TILE : layout;
	b.channels = ttnn_channels(c->cin, in, g->planes);
	b.n = ttnn_div_up(ttnn_div_up(c->cout, TTNN_SIDE), g->out_planes);
	b.a = g->shard == TTNN_WIDTH ? b.rows : block_rows(b.rows, choice->v[TTNN_ABH]);
	b.act = b.rows / b.a;
	b.k = c->w.kh;
	b.w = ttnn_div_up(b.channels * c->w.kw, TTNN_SIDE);
	if (g->shard == TTNN_WIDTH) {
		b.k = choice->v[TTNN_WDIV];
		b.w = b.channels * c->w.kh * c->w.kw / (choice->v[TTNN_WDIV] * TTNN_SIDE);
	}
	b.split = ttnn_splits(t, c, g, &b, choice);
	return b;
}

/* What the sums of a block are kept as: 0, the result itself. */
static int64_t partial_bytes(const TtnnConv *c, const TtnnGrid *g, const TtnnBlocks *b,
			     const TtnnChoice *choice)
{
	const int64_t k = b->k * (g->shard == TTNN_HEIGHT ? 1 : g->planes);
	const bool acc = choice->v[TTNN_L1_ACC] && ((c->bias && k > 1) || k > 2);
	const bool tiles = choice->v[TTNN_LAYOUT] == TTNN_TILE;
	if (acc && choice->v[TTNN_FP32])
		return 4096;
	if (acc && choice->v[TTNN_TYPE] != TTNN_BF16)
		return 2048;
	return tiles ? 0 : ttnn_tile_bytes(choice->v[TTNN_TYPE]);
}

/* Rows of the window, before and behind tilizing. */
static void act_buffers(TtnnL1 *l, const TtnnGrid *g, const TtnnBlocks *b,
			const TtnnChoice *choice)
{
	const int64_t tile = ttnn_tile_bytes(choice->v[TTNN_TYPE]), rm = 2048;
	const int64_t times = choice->v[TTNN_ACT_DB] ? 2 : 1;
	const int64_t second = times * (b->split ? b->a / 2 * b->w : 0);
	const int64_t first = times * b->a * b->w - second;
	const bool alone = g->planes == 1;
	const bool overlap = g->shard == TTNN_BLOCK && tile == rm && !alone;
	const int64_t act = g->shard == TTNN_HEIGHT ? first * rm : (first + second) * tile;
	l->buffer[TTNN_CB_ACT] = alone && g->shard != TTNN_HEIGHT ? 0 : act;
	l->buffer[TTNN_CB_ACT_SECOND] = overlap ? 0 : second * rm;
	l->buffer[TTNN_CB_TILIZED] = b->a * b->w * tile;
	if (g->shard == TTNN_WIDTH)
		l->buffer[TTNN_CB_ROW_MAJOR] = 2 * b->w * rm;
	else if (g->shard == TTNN_BLOCK && !overlap)
		l->buffer[TTNN_CB_ROW_MAJOR] = first * rm;
}

TtnnL1 ttnn_conv_l1(const TtnnConv *c, const TtnnGrid *g, const TtnnBlocks *b,
		    const TtnnChoice *choice)
{
	const int64_t weights = ttnn_tile_bytes(choice->v[TTNN_WEIGHTS]);
	const bool kept = g->shard == TTNN_HEIGHT && b->act > 1;
	const int64_t result = choice->v[TTNN_LAYOUT] == TTNN_TILE
		? ttnn_tile_bytes(choice->v[TTNN_TYPE]) : 2048;
	TtnnL1 l = { .result = b->rows * b->n * result };
	if (c->product) {
		/* The input is read in place; weights stream two blocks of a core's channels. */
		l.buffer[TTNN_CB_WEIGHTS] = 2 * b->w * b->n * weights;
	} else {
		act_buffers(&l, g, b, choice);
		l.buffer[TTNN_CB_WEIGHTS] = b->n * b->w * weights
			* (kept ? c->w.kh : choice->v[TTNN_W_DB] ? 2 : 1);
		l.buffer[TTNN_CB_L1_ARRAY] = L1_ARRAY_BYTES;
	}
	l.buffer[TTNN_CB_BIAS] = c->bias ? b->n * weights : 0;
	l.buffer[TTNN_CB_PARTIALS] = b->a * b->n * partial_bytes(c, g, b, choice);
	for (int i = 0; i < TTNN_BUFFERS; i++)
		l.buffers += l.buffer[i];
	return l;
}

int64_t ttnn_pool_buffers(const TtnnWindow *w, int64_t channels)
{
	const int64_t wide = channels < 8 * TTNN_SIDE ? channels : 8 * TTNN_SIDE;
	/* Larger windows go through it in parts. */
	const int64_t rows = w->kh * w->kw < TTNN_SIDE ? w->kh * w->kw : TTNN_SIDE;
	const int64_t in = ttnn_round_up(wide * rows, TTNN_SIDE * TTNN_SIDE) * HALO_BYTES;
	return 2 * 2048 + 2048 + 2 * 2 * in;
}
