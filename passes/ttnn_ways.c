/*
 * The ways to call an op of ttnn: its grids, formats and places, where everything else
 * follows or does not matter to others.
 */
#include "passes/ttnn_search.h"

#include "ir/hint.h"

enum { MOST_GRIDS = 48, MOST_SLICES = 256, MOST_OVERRIDE = 16 };

typedef struct Grid {
	int shard, rows, planes, reshard;
} Grid;

typedef struct Ways {
	TtnnSearch *s;
	int i;
	const Op *op;
	const TtnnInput *in;
	int64_t base;
	TtnnVisit *visit;
	void *context;
	int64_t *least;
	Grid grids[MOST_GRIDS];
	int ngrids;
} Ways;

static bool pinned(const Ways *w, TtnnField f) { return w->s->pins[w->i].fixed >> f & 1; }

/* Every fixed field of the op as it should be? */
static bool keeps_pins(const Ways *w, const TtnnChoice *c)
{
	const TtnnPin *p = &w->s->pins[w->i];
	for (int f = 0; f < TTNN_FIELDS; f++)
		if (p->fixed >> f & 1 && p->value.v[f] != c->v[f])
			return false;
	return true;
}

/* True if ttnn takes it, it fits and nobody has fixed it otherwise. */
static bool try_way(Ways *w, const TtnnChoice *choice)
{
	TtnnWay way = { .choice = *choice,
			.run = { .t = w->s->t, .base = w->base } };
	if (!keeps_pins(w, choice) || !ttnn_run(&way.run, w->op, w->in, choice))
		return false;
	*w->least = way.run.l1 < *w->least ? way.run.l1 : *w->least;
	if (way.run.l1 > w->s->room)
		return false;
	w->visit(w->context, &way);
	return true;
}

static void add_grid(Ways *w, int shard, int64_t rows, int64_t planes, int reshard)
{
	for (int i = 0; i < w->ngrids; i++)
		if (w->grids[i].shard == shard && w->grids[i].rows == rows
		    && w->grids[i].planes == planes)
			return;
	if (w->ngrids < MOST_GRIDS)
		w->grids[w->ngrids++] = (Grid){ shard, (int)rows, (int)planes, reshard };
}

/* What inputs that are on the cores have. */
static void add_input_grids(Ways *w, bool height_alone)
{
	for (int k = 0; k < w->s->nodes[w->i].nin; k++) {
		const TtnnPlace *p = &w->in[k].place;
		if (p->shard != TTNN_DRAM && (p->shard == TTNN_HEIGHT || !height_alone))
			add_grid(w, p->shard, p->rows, p->planes, TTNN_NO);
	}
}

/* All cores, as far as there are tiles for them. */
static void add_even_grid(Ways *w)
{
	const Target *t = w->s->t;
	const int64_t tiles = ttnn_div_up(ttnn_pixels(w->op), TTNN_SIDE);
	add_grid(w, TTNN_HEIGHT, ttnn_spread(tiles, t->grid_cols * t->grid_rows, 1), 1, TTNN_NO);
}

static void set_grid(TtnnChoice *c, const Grid *g)
{
	c->v[TTNN_SHARD] = g->shard;
	c->v[TTNN_ROWS] = g->rows;
	c->v[TTNN_PLANES] = g->planes;
	c->v[TTNN_RESHARD] = g->reshard;
}

/* What nobody chooses: accuracy as the vendor's own networks have it. */
static TtnnChoice usual(const Ways *w)
{
	TtnnChoice c = { .v = { [TTNN_WDIV] = 1, [TTNN_FP32] = TTNN_YES,
				[TTNN_L1_ACC] = TTNN_YES } };
	const TtnnPin *p = &w->s->pins[w->i];
	const bool bf16 = op_hint(w->op, "weights") ? op_asks(w->op, "weights", "bf16")
						    : w->s->graph->all_weights == DEV_BF16;
	c.v[TTNN_WEIGHTS] = bf16 ? TTNN_BF16 : TTNN_BFP8;
	for (int f = 0; f < TTNN_FIELDS; f++)
		if (p->fixed >> f & 1)
			c.v[f] = p->value.v[f];
	if (!pinned(w, TTNN_FIDELITY))
		c.v[TTNN_FIDELITY] = c.v[TTNN_WEIGHTS] == TTNN_BFP8 ? TTNN_LOFI : TTNN_HIFI2;
	return c;
}

static int types(const Ways *w, int *to)
{
	const int both[] = { TTNN_BF16, TTNN_BFP8 };
	const bool packed = w->op->stored == DEV_UNSET || (w->op->stored & DEV_BFP8_B);
	return ttnn_values(w->s, w->i, TTNN_TYPE, both, packed ? 2 : 1, to);
}

/* Who is read later than by the next may wait in DRAM. */
static int parks(const Ways *w, int *to)
{
	const TtnnNode *n = &w->s->nodes[w->i];
	const int both[] = { TTNN_IN_L1, TTNN_IN_DRAM };
	const bool may = n->last > w->i && (n->later || w->s->spills);
	return ttnn_values(w->s, w->i, TTNN_PARK, both, may ? 2 : 1, to);
}

/* The input goes as soon as it has its halo, which takes a move but room for both;
 * a convolution that keeps an input nobody needs would leave a hole in L1. */
static bool try_free(Ways *w, TtnnChoice *c, bool keep_first)
{
	const int may = w->in[0].dies ? TTNN_YES : TTNN_NO;
	if (pinned(w, TTNN_FREE))
		return try_way(w, c);
	c->v[TTNN_FREE] = keep_first ? TTNN_NO : may;
	return try_way(w, c) || (keep_first && may && (c->v[TTNN_FREE] = may, try_way(w, c)));
}

/* Of all blocks the fastest that fit. */
static void try_blocks(Ways *w, const TtnnConv *c, TtnnRows layout, TtnnChoice *choice)
{
	const TtnnBlockList *l = ttnn_blocks_best(w->s, w->i, c, layout, choice);
	for (int k = 0; k < l->n; k++) {
		for (int f = 0; f < 4; f++)
			choice->v[ttnn_block_fields[f]] = l->list[k].v[f];
		if (try_free(w, choice, false))
			return;
	}
}

/* One way of slicing, in so many slices. */
static bool try_sliced(Ways *w, const TtnnConv *c, const TtnnWindow *window, TtnnChoice *ch)
{
	const TtnnWindow part = ttnn_slice_of(window, ch);
	if (!c) {
		const int64_t cores = w->s->t->grid_cols * w->s->t->grid_rows;
		const int64_t tiles = ttnn_div_up(part.batch * part.oh * part.ow, TTNN_SIDE);
		set_grid(ch, &(Grid){ TTNN_HEIGHT, (int)ttnn_spread(tiles, cores, 1), 1, TTNN_NO });
		return try_way(w, ch);
	}
	TtnnConv sliced = *c;
	sliced.w = part;
	const TtnnGrid g = ttnn_grid(w->s->t, &sliced, ch->v[TTNN_SHARD], 0);
	set_grid(ch, &(Grid){ ch->v[TTNN_SHARD], (int)g.rows, (int)g.planes, TTNN_NO });
	const TtnnBlockList *l = ttnn_blocks_best(w->s, w->i, &sliced, TTNN_ROW_MAJOR, ch);
	for (int b = 0; b < l->n; b++) {
		for (int f = 0; f < 4; f++)
			ch->v[ttnn_block_fields[f]] = l->list[b].v[f];
		if (try_way(w, ch))
			return true;
	}
	return false;
}

/* The fewest slices that fit, along either axis; of a pool if c is NULL. */
static void try_slices(Ways *w, const TtnnConv *c, const TtnnWindow *window,
		       const TtnnChoice *start)
{
	const int axes[] = { TTNN_SLICE_HEIGHT, TTNN_SLICE_WIDTH };
	int axis[2], type[2];
	const int naxes = ttnn_values(w->s, w->i, TTNN_SLICE, axes, 2, axis);
	const int ntypes = types(w, type);
	for (int k = 0; k < naxes * ntypes * (c ? 2 : 1); k++) {
		TtnnChoice ch = *start;
		ch.v[TTNN_SLICE] = axis[k % naxes];
		ch.v[TTNN_TYPE] = type[k / naxes % ntypes];
		ch.v[TTNN_SHARD] = k / naxes / ntypes ? TTNN_BLOCK : TTNN_HEIGHT;
		ch.v[TTNN_LAYOUT] = c ? ch.v[TTNN_LAYOUT] : TTNN_ROW_MAJOR;
		const bool rows = ch.v[TTNN_SLICE] == TTNN_SLICE_HEIGHT;
		const int64_t size = rows ? window->oh : window->ow;
		int n = pinned(w, TTNN_SLICES) ? ch.v[TTNN_SLICES] : 1;
		bool done = ch.v[TTNN_SLICE] == TTNN_L1_FULL || n < 1;
		for (; !done && n <= size && n <= MOST_SLICES; n++) {
			ch.v[TTNN_SLICES] = n;
			done = try_sliced(w, c, window, &ch) || pinned(w, TTNN_SLICES);
		}
	}
}

static void add_conv_grids(Ways *w, const TtnnConv *c)
{
	const TtnnPlace *in = &w->in[0].place;
	const bool on_cores = in->shard != TTNN_DRAM;
	const int shards[] = { TTNN_HEIGHT, TTNN_BLOCK, TTNN_WIDTH };
	add_input_grids(w, false);
	for (int k = 0; k < (c->product ? 2 : 3); k++)
		for (int a = 0; a <= (shards[k] == TTNN_WIDTH ? 0 : MOST_OVERRIDE); a++) {
			const TtnnGrid g = ttnn_grid(w->s->t, c, shards[k], a * TTNN_SIDE);
			add_grid(w, shards[k], g.rows, g.planes, TTNN_YES);
		}
	/* ttnn pads channels of what it brings to the cores by itself; we cannot. */
	if (!on_cores && (in->layout == TTNN_TILE || c->cin % 8 == 0))
		add_even_grid(w);
}

static void conv_ways(Ways *w)
{
	const TtnnConv c = ttnn_conv_of(w->op);
	const TtnnChoice start = usual(w);
	int type[2], park[2];
	const int ntypes = types(w, type), nparks = parks(w, park);
	add_conv_grids(w, &c);
	for (int k = 0; k < w->ngrids * ntypes * nparks; k++) {
		TtnnChoice ch = start;
		set_grid(&ch, &w->grids[k / ntypes / nparks]);
		ch.v[TTNN_TYPE] = type[k % ntypes];
		ch.v[TTNN_PARK] = park[k / ntypes % nparks];
		if (ch.v[TTNN_SLICE] == TTNN_L1_FULL)
			try_blocks(w, &c, w->in[0].place.layout, &ch);
	}
	if (w->in[0].place.shard == TTNN_DRAM)
		try_slices(w, &c, &c.w, &start);
}

/* Whatever else there is: layouts and formats of the result, each with how it is
 * joined. */
static void other_ways(Ways *w, const int *layouts, int nlayouts, bool joins)
{
	const int ways[] = { TTNN_TILE, TTNN_ROW_MAJOR };
	const TtnnChoice start = usual(w);
	int type[2], park[2], layout[2], join[2];
	const int ntypes = types(w, type), nparks = parks(w, park);
	const int nl = ttnn_values(w->s, w->i, TTNN_LAYOUT, layouts, nlayouts, layout);
	const int nj = joins ? ttnn_values(w->s, w->i, TTNN_JOIN, ways, 2, join) : 1;
	for (int k = 0; k < w->ngrids * ntypes * nparks * nl * nj; k++) {
		TtnnChoice ch = start;
		int at = k;
		ch.v[TTNN_TYPE] = type[at % ntypes];
		ch.v[TTNN_PARK] = park[(at /= ntypes) % nparks];
		ch.v[TTNN_LAYOUT] = layout[(at /= nparks) % nl];
		if (joins)
			ch.v[TTNN_JOIN] = join[(at /= nl) % nj];
		else
			at /= nl;
		set_grid(&ch, &w->grids[at / nj]);
		if (op_is(w->op, ACT) || joins || ttnn_op_info(w->op->kind)->class != TTNN_POOLS)
			try_way(w, &ch);
		else
			try_free(w, &ch, true);
	}
}

/* Whole rows of the image on every core. */
static void add_upsample_grid(Ways *w)
{
	const int64_t *d = op_in(w->op, 0)->shape.dim;
	int64_t cores = w->s->t->grid_cols * w->s->t->grid_rows;
	while (d[0] * d[2] % cores)
		cores--;
	add_grid(w, TTNN_HEIGHT, cores, 1, TTNN_NO);
}

void ttnn_ways(TtnnSearch *s, int i, const TtnnInput *in, int64_t base, TtnnVisit *visit,
	       void *context, int64_t *least)
{
	const int tiles[] = { TTNN_TILE, TTNN_ROW_MAJOR }, rows[] = { TTNN_ROW_MAJOR };
	Ways w = { s, i, s->nodes[i].op, in, base, visit, context, least, { { 0 } }, 0 };
	switch (ttnn_op_info(w.op->kind)->class) {
	case TTNN_CONVS:
		conv_ways(&w);
		return;
	case TTNN_POOLS:
		add_input_grids(&w, false);
		add_even_grid(&w);
		/* Activations want tiles. */
		other_ways(&w, op_has_act(w.op) ? tiles : rows, 1, false);
		if (in->place.shard == TTNN_DRAM) {
			const TtnnWindow window = ttnn_pool_of(w.op);
			const TtnnChoice start = usual(&w);
			try_slices(&w, NULL, &window, &start);
		}
		return;
	case TTNN_JOINS:
		add_input_grids(&w, true);
		add_even_grid(&w);
		other_ways(&w, tiles, 2, true);
		return;
	case TTNN_PAIRS: case TTNN_UNARYS:
		add_input_grids(&w, false);
		add_even_grid(&w);
		other_ways(&w, tiles, 1, false);
		return;
	case TTNN_UPSAMPLES:
		add_upsample_grid(&w);
		other_ways(&w, rows, 1, false);
		return;
	case TTNN_EDGES: {
		const int shards[] = { TTNN_HEIGHT, TTNN_DRAM };
		for (int k = 0; k < (w.op->kind == OP_INPUT ? 2 : 1); k++)
			try_way(&w, &(TtnnChoice){ .v = { [TTNN_SHARD] = shards[k] } });
		return;
	}
	}
}
