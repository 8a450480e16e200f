#include "passes/ttnn_run.h"

#include <assert.h>

#include "passes/ttnn_time.h"

int64_t ttnn_dram_bytes(const Op *op, TtnnType type, TtnnRows layout)
{
	const int64_t pixels = ttnn_pixels(op);
	if (layout == TTNN_ROW_MAJOR)
		return pixels * ttnn_depth(op) * 2;
	return ttnn_div_up(pixels, TTNN_SIDE) * ttnn_div_up(ttnn_depth(op), TTNN_SIDE)
		* ttnn_tile_bytes(type);
}

int64_t ttnn_place_bytes(const Op *op, const TtnnPlace *p)
{
	if (p->shard == TTNN_DRAM)
		return 0;
	const int64_t rows = ttnn_place_rows(op, p), channels = ttnn_place_channels(op, p);
	return p->layout == TTNN_ROW_MAJOR ? rows * channels * 2
		: rows * channels / (TTNN_SIDE * TTNN_SIDE) * ttnn_tile_bytes(p->type);
}

static int64_t place_tiles(const Op *op, const TtnnPlace *p)
{
	return ttnn_div_up(ttnn_place_rows(op, p), TTNN_SIDE)
		* ttnn_div_up(ttnn_place_channels(op, p), TTNN_SIDE);
}

void ttnn_add(TtnnRun *r, TtnnProgramKind kind, int64_t times, int64_t ps, int64_t l1)
{
	const TtnnProgram p = { .kind = kind, .times = times, .ps = times * ps,
				.l1 = r->base + l1 };
	r->programs += times;
	r->ps += p.ps;
	r->l1 = p.l1 > r->l1 ? p.l1 : r->l1;
	if (!r->arena)
		return;
	r->list = arena_grow(r->arena, r->list, r->n, sizeof *r->list);
	r->list[r->n++] = p;
}

TtnnGrid ttnn_grid_of(const Target *t, const TtnnConv *c, const TtnnChoice *choice)
{
	TtnnGrid g = { choice->v[TTNN_SHARD], choice->v[TTNN_ROWS], choice->v[TTNN_PLANES], 1 };
	g.out_planes = ttnn_out_planes(t, c, g.shard, g.planes);
	return g;
}

TtnnPlace ttnn_bring(TtnnRun *r, const TtnnInput *in, const TtnnPlace *cut, int64_t *held)
{
	TtnnPlace p = in->place;
	const int64_t before = ttnn_place_bytes(in->op, &p);
	*held += before;
	if (ttnn_same_cut(&p, cut))
		return p;
	const bool from_dram = p.shard == TTNN_DRAM;
	p = (TtnnPlace){ cut->shard, cut->rows, cut->planes, p.type, p.layout,
			 cut->whole || p.layout == TTNN_TILE, false };
	const int64_t bytes = ttnn_place_bytes(in->op, &p);
	if (from_dram) {
		const int64_t all = ttnn_dram_bytes(in->op, p.type, p.layout);
		ttnn_add(r, TTNN_RUN_REFILL, 1,
			 ttnn_rate_ps(all, ttnn_cost(r->t, TTNN_COST_DRAM_READ)), *held + bytes);
	} else {
		const int64_t cost = bytes * 1000000 / ttnn_cost(r->t, TTNN_COST_PULL);
		ttnn_add(r, TTNN_RUN_RESHARD, 1, ttnn_cycles_ps(r->t, cost), *held + bytes);
	}
	*held += bytes - (in->dies ? before : 0);
	return p;
}

TtnnPlace ttnn_relayout(TtnnRun *r, const Op *op, TtnnPlace p, TtnnRows layout, TtnnType type,
			int64_t *held)
{
	TtnnPlace to = p;
	to.layout = layout;
	to.type = layout == TTNN_ROW_MAJOR ? TTNN_BF16 : type;
	assert(p.whole || layout == p.layout);
	if (to.layout == p.layout && to.type == p.type)
		return p;
	const int64_t bytes = ttnn_place_bytes(op, &to);
	const int64_t cost = layout == TTNN_TILE ? ttnn_tilize_cost(r->t, to.type, false)
		: ttnn_cost(r->t, TTNN_COST_UNTILIZE);
	ttnn_add(r, layout == TTNN_TILE ? TTNN_RUN_TILIZE : TTNN_RUN_UNTILIZE, 1,
		 ttnn_cycles_ps(r->t, place_tiles(op, &p) * cost), *held + bytes);
	*held += bytes - ttnn_place_bytes(op, &p);
	return to;
}

int64_t ttnn_image_cores(const Target *t, const Op *input)
{
	const int64_t *d = input->shape.dim, pixels = d[2] * d[3];
	int64_t cores = t->grid_cols * t->grid_rows;
	if (d[0] > 1 || d[1] > TTNN_SIDE || pixels % TTNN_SIDE)
		return 0;
	while (pixels % (cores * TTNN_SIDE))
		cores--;
	return cores;
}

/* Channels last, on the cores; or as the host lays it, in DRAM. */
static bool run_input(TtnnRun *r, const Op *op, const TtnnChoice *choice)
{
	const int64_t cores = ttnn_image_cores(r->t, op);
	r->out = (TtnnPlace){ .shard = TTNN_DRAM, .rows = 1, .planes = 1,
			      .layout = TTNN_ROW_MAJOR };
	if (choice->v[TTNN_SHARD] == TTNN_DRAM)
		return true;
	if (!cores || choice->v[TTNN_SHARD] != TTNN_HEIGHT)
		return false;
	r->out.shard = TTNN_HEIGHT;
	r->out.rows = (int)cores;
	r->out.whole = true;
	const int64_t pixels = ttnn_pixels(op) / cores;
	const int64_t tiles = ttnn_div_up(pixels, TTNN_SIDE);
	ttnn_add(r, TTNN_RUN_HWC, 1,
		 ttnn_cycles_ps(r->t, 2 * tiles * ttnn_cost(r->t, TTNN_COST_UNTILIZE)),
		 pixels * ttnn_depth(op) * 2 + ttnn_place_bytes(op, &r->out));
	return true;
}

/* Channels first, if it is as convert_to_chw wants it; else the host sees to it. */
static bool run_output(TtnnRun *r, const Op *op, const TtnnInput *in)
{
	const TtnnPlace *p = &in->place;
	const int64_t *d = op->shape.dim, bytes = ttnn_place_bytes(in->op, p);
	r->out = *p;
	if (d[0] == 1 && d[1] <= TTNN_SIDE && d[2] * d[3] % TTNN_SIDE == 0
	    && p->shard == TTNN_HEIGHT && p->layout == TTNN_TILE) {
		const int64_t tiles = place_tiles(in->op, p);
		ttnn_add(r, TTNN_RUN_CHW, 1,
			 ttnn_cycles_ps(r->t, tiles * ttnn_cost(r->t, TTNN_COST_UNTILIZE)),
			 bytes + tiles * TTNN_SIDE * ttnn_depth(op) * 2);
		r->out.layout = TTNN_ROW_MAJOR;
	}
	return true;
}

static bool run_class(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice)
{
	switch (ttnn_op_info(op->kind)->class) {
	case TTNN_CONVS: return ttnn_run_conv(r, op, in, choice);
	case TTNN_POOLS: return ttnn_run_pool(r, op, in, choice);
	case TTNN_JOINS: return ttnn_run_join(r, op, in, choice);
	case TTNN_PAIRS: return ttnn_run_pair(r, op, in, choice);
	case TTNN_UNARYS: return ttnn_run_unary(r, op, in, choice);
	case TTNN_UPSAMPLES: return ttnn_run_upsample(r, op, in, choice);
	case TTNN_EDGES: break;
	}
	return op->kind == OP_INPUT ? run_input(r, op, choice) : run_output(r, op, in);
}

bool ttnn_run(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice)
{
	if (!run_class(r, op, in, choice))
		return false;
	const bool edge = ttnn_op_info(op->kind)->class == TTNN_EDGES;
	r->result = ttnn_place_bytes(op, &r->out);
	if (op_has_act(op) && !ttnn_fuses(op) && !edge) {
		if (r->out.shard == TTNN_DRAM)
			return false;
		int64_t held = r->result;
		if (!r->out.whole)
			return false;
		r->out = ttnn_relayout(r, op, r->out, TTNN_TILE, choice->v[TTNN_TYPE], &held);
		const int64_t cost = ttnn_cost(r->t, TTNN_COST_SFPU_TILE);
		r->result = ttnn_place_bytes(op, &r->out);
		ttnn_add(r, TTNN_RUN_UNARY, 1,
			 ttnn_cycles_ps(r->t, place_tiles(op, &r->out) * cost), 2 * r->result);
	}
	r->out.parked = !edge && choice->v[TTNN_PARK] == TTNN_IN_DRAM && r->out.shard != TTNN_DRAM;
	if (r->out.parked) {
		const int64_t all = ttnn_dram_bytes(op, r->out.type, r->out.layout);
		ttnn_add(r, TTNN_RUN_SPILL, 1,
			 ttnn_rate_ps(all, ttnn_cost(r->t, TTNN_COST_DRAM_WRITE)), r->result);
	}
	return true;
}
