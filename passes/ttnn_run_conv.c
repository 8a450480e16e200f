/*
 * Convolutions and pools: whatever slides a window.
 */
#include "passes/ttnn_run.h"

#include "passes/ttnn_time.h"

/* Blocks of 32 pixels that the halo's untilizing holds, twice. */
static int64_t halo_buffers(int64_t stick, TtnnRows layout)
{
	return layout == TTNN_TILE ? 2 * TTNN_SIDE * stick : 0;
}

/* The input with its halo, the input gone if the choice says so. */
static void run_halo(TtnnRun *r, const Op *in, const TtnnWindow *w, TtnnPlace p, int64_t channels,
		     bool frees, int64_t *held)
{
	const int64_t stick = 2 * channels;
	const int64_t rows = ttnn_rows(ttnn_pixels(in), p.shard, p.rows, TTNN_TILE);
	const int64_t tiles = p.layout == TTNN_TILE ? rows / TTNN_SIDE
		* ttnn_div_up(channels, TTNN_SIDE) : 0;
	ttnn_add(r, TTNN_RUN_HALO, 1, ttnn_halo_ps(r->t, w, r->halo, stick, tiles),
		 *held + r->halo + halo_buffers(stick, p.layout));
	if (frees) {
		*held -= ttnn_place_bytes(in, &p);
		ttnn_add(r, TTNN_RUN_MOVE, 1, ttnn_copy_ps(r->t, r->halo), *held + r->halo);
	}
	*held += r->halo;
}

static void note_blocks(TtnnRun *r, const TtnnBlocks *b, const TtnnL1 *l, const TtnnGrid *g)
{
	r->split = b->split;
	r->blocks = b->act;
	r->k_blocks = b->k * (g->shard == TTNN_HEIGHT ? 1 : g->planes);
	r->buffers = l->buffers;
}

TtnnWindow ttnn_slice_of(const TtnnWindow *whole, const TtnnChoice *choice)
{
	const int64_t n = choice->v[TTNN_SLICES];
	TtnnWindow w = *whole;
	if (choice->v[TTNN_SLICE] == TTNN_SLICE_HEIGHT) {
		w.oh = ttnn_div_up(w.oh, n);
		w.hp = (w.oh - 1) * w.sh + (w.kh - 1) * w.dh + 1;
	} else {
		w.ow = ttnn_round_up(ttnn_div_up(w.ow, n), TTNN_SIDE);
		w.wp = (w.ow - 1) * w.sw + (w.kw - 1) * w.dw + 1;
	}
	return w;
}

/* One slice, on a core. */
typedef struct Slice {
	TtnnWindow w;
	TtnnProgramKind kind;
	int64_t n, rows, channels; /* slices; pixels of the result, channels of the input */
	int64_t ps, bytes;         /* the program's, with its buffers and result */
	int64_t result;
} Slice;

/* Slice by slice, from DRAM to DRAM, nothing of it kept. */
static bool run_slices(TtnnRun *r, const Op *op, const TtnnWindow *whole, const Slice *s,
		       const TtnnInput *in, const TtnnChoice *choice)
{
	const int64_t stick = 2 * s->channels, part = s->w.oh * s->w.ow, n = s->n;
	const int64_t image = ttnn_dram_bytes(in->op, in->place.type, in->place.layout);
	/* A slice of the input has the rows or columns its windows reach. */
	const int64_t in_all = image * (s->w.hp * s->w.wp) / (whole->hp * whole->wp);
	const TtnnType type = choice->v[TTNN_TYPE];
	const TtnnRows layout = choice->v[TTNN_LAYOUT];
	const int64_t out_all = ttnn_dram_bytes(op, type, layout) * part / (whole->oh * whole->ow);
	const int64_t cores = choice->v[TTNN_ROWS];
	const int64_t in_core = ttnn_div_up(s->w.batch * s->w.hp * s->w.wp, cores) * stick;
	const bool halo = s->kind != TTNN_RUN_MATMUL;
	r->halo = halo ? ttnn_halo(&s->w, choice->v[TTNN_SHARD], cores, s->rows, stick) : 0;
	ttnn_add(r, TTNN_RUN_SLICE_IN, n,
		 ttnn_rate_ps(in_all, ttnn_cost(r->t, TTNN_COST_DRAM_READ)), in_core);
	if (halo) {
		ttnn_add(r, TTNN_RUN_HALO, n, ttnn_halo_ps(r->t, &s->w, r->halo, stick, 0),
			 in_core + r->halo);
		ttnn_add(r, TTNN_RUN_MOVE, n, ttnn_copy_ps(r->t, r->halo), r->halo);
	}
	ttnn_add(r, s->kind, n, s->ps, (halo ? r->halo : in_core) + s->bytes);
	ttnn_add(r, TTNN_RUN_SLICE_OUT, n,
		 ttnn_rate_ps(out_all, ttnn_cost(r->t, TTNN_COST_DRAM_WRITE)), s->result);
	r->out = (TtnnPlace){ .shard = TTNN_DRAM, .rows = 1, .planes = 1, .type = type,
			      .layout = layout, .whole = layout == TTNN_TILE };
	if (r->as)
		r->as[0] = in->place;
	return true;
}

static bool slice_conv(TtnnRun *r, const Op *op, const TtnnConv *c, const TtnnInput *in,
		       const TtnnChoice *choice)
{
	TtnnConv part = *c;
	part.w = ttnn_slice_of(&c->w, choice);
	const TtnnGrid g = ttnn_grid_of(r->t, &part, choice);
	const TtnnBlocks b = ttnn_blocks(r->t, &part, &g, TTNN_ROW_MAJOR, choice);
	const TtnnL1 l = ttnn_conv_l1(&part, &g, &b, choice);
	const Slice s = { part.w, c->product ? TTNN_RUN_MATMUL : TTNN_RUN_CONV,
			  choice->v[TTNN_SLICES], b.rows * TTNN_SIDE, b.channels,
			  ttnn_conv_time(r->t, &part, &g, &b, choice).total,
			  l.buffers + l.result, l.result };
	note_blocks(r, &b, &l, &g);
	return run_slices(r, op, &c->w, &s, in, choice);
}

static bool slice_pool(TtnnRun *r, const Op *op, const TtnnWindow *w, const TtnnInput *in,
		       const TtnnChoice *choice)
{
	const TtnnWindow part = ttnn_slice_of(w, choice);
	const int64_t cores = choice->v[TTNN_ROWS];
	const int64_t channels = ttnn_channels(ttnn_depth(op), TTNN_ROW_MAJOR, 1);
	const int64_t rows = ttnn_div_up(part.batch * part.oh * part.ow, cores);
	if (choice->v[TTNN_SHARD] != TTNN_HEIGHT || choice->v[TTNN_LAYOUT] != TTNN_ROW_MAJOR)
		return false;
	r->buffers = ttnn_pool_buffers(w, channels);
	const Slice s = { part, TTNN_RUN_POOL, choice->v[TTNN_SLICES], rows, channels,
			  ttnn_pool_ps(r->t, &part, rows, channels),
			  r->buffers + rows * channels * 2, rows * channels * 2 };
	return run_slices(r, op, w, &s, in, choice);
}

/* Does ttnn's kernel take it so? */
static bool conv_legal(const TtnnConv *c, const TtnnGrid *g, const TtnnBlocks *b,
		       const TtnnChoice *choice)
{
	if (g->shard == TTNN_WIDTH && b->channels % (TTNN_SIDE * choice->v[TTNN_WDIV]))
		return false;
	if (g->shard == TTNN_WIDTH && c->product)
		return false;
	return b->rows % b->a == 0 && b->w > 0;
}

bool ttnn_run_conv(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice)
{
	const TtnnConv c = ttnn_conv_of(op);
	if (choice->v[TTNN_SLICE] != TTNN_L1_FULL)
		return in->place.shard == TTNN_DRAM && slice_conv(r, op, &c, in, choice);
	const TtnnGrid g = ttnn_grid_of(r->t, &c, choice);
	int64_t held = 0;
	/* Products and channels cut over all cores want tiles. */
	const bool tiles = c.product || g.shard == TTNN_WIDTH;
	const TtnnPlace cut = { .shard = g.shard, .rows = (int)g.rows, .planes = (int)g.planes,
				.whole = in->place.whole || tiles };
	TtnnPlace p = ttnn_bring(r, in, &cut, &held);
	const bool moved = !ttnn_same_cut(&p, &in->place);
	const bool frees = (in->dies || moved) && choice->v[TTNN_FREE];
	/* ttnn cuts anew by itself what it was told it may. */
	if (r->as)
		r->as[0] = choice->v[TTNN_RESHARD] ? in->place : p;
	if (tiles)
		p = ttnn_relayout(r, in->op, p, TTNN_TILE, TTNN_BF16, &held);
	const TtnnBlocks b = ttnn_blocks(r->t, &c, &g, p.layout, choice);
	const TtnnL1 l = ttnn_conv_l1(&c, &g, &b, choice);
	if (!conv_legal(&c, &g, &b, choice))
		return false;
	note_blocks(r, &b, &l, &g);
	if (!c.product) {
		r->halo = ttnn_halo(&c.w, g.shard, g.rows, b.rows * TTNN_SIDE, 2 * b.channels);
		run_halo(r, in->op, &c.w, p, b.channels, frees, &held);
	}
	ttnn_add(r, c.product ? TTNN_RUN_MATMUL : TTNN_RUN_CONV, 1,
		 ttnn_conv_time(r->t, &c, &g, &b, choice).total, held + l.buffers + l.result);
	r->out = (TtnnPlace){ .shard = g.shard, .rows = (int)g.rows, .planes = (int)g.out_planes,
			      .type = choice->v[TTNN_TYPE], .layout = choice->v[TTNN_LAYOUT],
			      .whole = true };
	return true;
}

bool ttnn_run_pool(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice)
{
	const TtnnWindow w = ttnn_pool_of(op);
	int64_t held = 0;
	if (choice->v[TTNN_SLICE] != TTNN_L1_FULL)
		return in->place.shard == TTNN_DRAM && slice_pool(r, op, &w, in, choice);
	const TtnnPlace cut = { .shard = choice->v[TTNN_SHARD], .rows = choice->v[TTNN_ROWS],
				.planes = choice->v[TTNN_PLANES], .whole = in->place.whole };
	const TtnnPlace p = ttnn_bring(r, in, &cut, &held);
	const bool moved = !ttnn_same_cut(&p, &in->place);
	const bool frees = (in->dies || moved) && choice->v[TTNN_FREE];
	if (r->as)
		r->as[0] = p;
	const int64_t channels = ttnn_channels(ttnn_depth(op), p.layout, p.planes);
	const TtnnRows layout = choice->v[TTNN_LAYOUT];
	r->out = (TtnnPlace){ p.shard, p.rows, p.planes, choice->v[TTNN_TYPE], layout,
			      layout == TTNN_TILE, false };
	if (layout == TTNN_ROW_MAJOR && r->out.type != TTNN_BF16)
		return false;
	const int64_t rows = ttnn_rows(ttnn_pixels(op), p.shard, p.rows, layout);
	r->halo = ttnn_halo(&w, p.shard, p.rows, rows, 2 * channels);
	run_halo(r, in->op, &w, p, channels, frees, &held);
	r->buffers = ttnn_pool_buffers(&w, channels);
	ttnn_add(r, TTNN_RUN_POOL, 1, ttnn_pool_ps(r->t, &w, rows, channels),
		 held + r->buffers + ttnn_place_bytes(op, &r->out));
	return true;
}
