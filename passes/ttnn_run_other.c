/*
 * Calls that work on tensors as they lie: joins, pairs, activations, upsampling.
 */
#include "passes/ttnn_run.h"

#include "passes/ttnn_time.h"

static int64_t bytes_of_input(const TtnnInput *in) { return ttnn_place_bytes(in->op, &in->place); }

/* What an input that is read elsewhere too holds while this one works. */
static int64_t stays(const TtnnInput *in) { return in->dies ? 0 : bytes_of_input(in); }

/* Every input on one grid and of one layout; the bytes they hold together. */
static int64_t gather(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice,
		      const TtnnPlace *to)
{
	const TtnnPlace cut = { .shard = choice->v[TTNN_SHARD], .rows = choice->v[TTNN_ROWS],
				.planes = choice->v[TTNN_PLANES], .whole = to->whole };
	int64_t held = 0;
	for (int i = 0; i < op->nin; i++)
		held += bytes_of_input(&in[i]);
	for (int i = 0; i < op->nin; i++) {
		held -= bytes_of_input(&in[i]);
		TtnnPlace p = ttnn_bring(r, &in[i], &cut, &held);
		if (p.layout != to->layout) {
			/* What is converted is a copy. */
			held += ttnn_same_cut(&p, &in[i].place) ? stays(&in[i]) : 0;
			p = ttnn_relayout(r, in[i].op, p, to->layout, to->type, &held);
		}
		if (r->as)
			r->as[i] = p;
	}
	return held;
}

/* Tiles join where each has whole ones, all of one format. */
static bool joins_tiles(const Op *op, const TtnnInput *in, TtnnType type)
{
	for (int i = 0; i < op->nin; i++)
		if (ttnn_depth(in[i].op) % TTNN_SIDE
		    || (in[i].place.layout == TTNN_TILE && in[i].place.type != type))
			return false;
	return true;
}

/* Nobody has tiles, and none are made. */
static bool rows_alone(const Op *op, const TtnnInput *in, const TtnnChoice *choice)
{
	for (int i = 0; i < op->nin; i++)
		if (in[i].place.layout == TTNN_TILE || in[i].place.whole)
			return false;
	return choice->v[TTNN_LAYOUT] == TTNN_ROW_MAJOR;
}

bool ttnn_run_join(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice)
{
	const TtnnRows how = choice->v[TTNN_JOIN], layout = choice->v[TTNN_LAYOUT];
	const TtnnType type = choice->v[TTNN_TYPE];
	if (choice->v[TTNN_SHARD] != TTNN_HEIGHT)
		return false;
	if (how == TTNN_TILE && (layout != TTNN_TILE || !joins_tiles(op, in, type)))
		return false;
	if (how == TTNN_ROW_MAJOR && layout == TTNN_ROW_MAJOR && type != TTNN_BF16)
		return false;
	const TtnnPlace p = { .shard = TTNN_HEIGHT, .rows = choice->v[TTNN_ROWS], .planes = 1,
			      .type = how == TTNN_TILE ? type : TTNN_BF16, .layout = how,
			      .whole = !rows_alone(op, in, choice) };
	const int64_t held = gather(r, op, in, choice, &p);
	int64_t bytes = ttnn_place_bytes(op, &p), least = INT64_MAX;
	for (int i = 0; i < op->nin; i++)
		least = ttnn_depth(in[i].op) < least ? ttnn_depth(in[i].op) : least;
	const int64_t piece = how == TTNN_TILE ? ttnn_tile_bytes(type) : 2 * least;
	/* Both data movement cores copy. */
	ttnn_add(r, TTNN_RUN_CONCAT, 1, ttnn_curve_ps(r->t, TTNN_CURVE_LOCAL, bytes, piece) / 2,
		 held + bytes);
	for (int i = 0; i < op->nin; i++)
		bytes += stays(&in[i]);
	r->out = ttnn_relayout(r, op, p, layout, type, &bytes);
	return true;
}

/* Tiles in, tiles out, each by itself: what one of the result takes. */
static bool run_tiles(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice,
		      TtnnProgramKind kind, int64_t tile_cost)
{
	if (choice->v[TTNN_LAYOUT] != TTNN_TILE)
		return false;
	const TtnnPlace to = { .type = kind == TTNN_RUN_UNARY ? choice->v[TTNN_TYPE] : TTNN_BF16,
			       .layout = TTNN_TILE, .whole = true };
	const int64_t held = gather(r, op, in, choice, &to);
	r->out = (TtnnPlace){ choice->v[TTNN_SHARD], choice->v[TTNN_ROWS], choice->v[TTNN_PLANES],
			      choice->v[TTNN_TYPE], TTNN_TILE, true, false };
	const int64_t bytes = ttnn_place_bytes(op, &r->out);
	const int64_t tiles = bytes / ttnn_tile_bytes(r->out.type);
	ttnn_add(r, kind, 1, ttnn_cycles_ps(r->t, tiles * tile_cost), held + bytes);
	return true;
}

bool ttnn_run_pair(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice)
{
	/* Both operands are unpacked. */
	const int64_t bytes = 2 * ttnn_tile_bytes(choice->v[TTNN_TYPE]);
	return run_tiles(r, op, in, choice, TTNN_RUN_BINARY,
			 bytes * 1000000 / ttnn_cost(r->t, TTNN_COST_UNPACK_RATE));
}

/* The result has the format of what goes in. */
bool ttnn_run_unary(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice)
{
	if (in->place.layout == TTNN_TILE && in->place.type != (TtnnType)choice->v[TTNN_TYPE])
		return false;
	return run_tiles(r, op, in, choice, TTNN_RUN_UNARY, ttnn_cost(r->t, TTNN_COST_SFPU_TILE));
}

/* Nearest copies rows of pixels within a core; bilinear wants a halo. */
bool ttnn_run_upsample(TtnnRun *r, const Op *op, const TtnnInput *in, const TtnnChoice *choice)
{
	const int64_t factor = ttnn_pixels(op) / ttnn_pixels(in->op);
	const int64_t cores = choice->v[TTNN_ROWS], pixels = ttnn_pixels(in->op);
	const int64_t *d = in->op->shape.dim;
	if (choice->v[TTNN_SHARD] != TTNN_HEIGHT || choice->v[TTNN_LAYOUT] != TTNN_ROW_MAJOR
	    || choice->v[TTNN_TYPE] != TTNN_BF16 || d[0] * d[2] % cores)
		return false;
	/* A core has whole rows of the image. Tiles are cut otherwise, so what has them is
	 * made rows of pixels first, and then cut anew. */
	const bool whole = pixels % (cores * TTNN_SIDE) == 0;
	if (in->place.shard == TTNN_DRAM && in->place.layout == TTNN_TILE && !whole)
		return false;
	TtnnInput rows = *in;
	int64_t held = 0;
	if (in->place.layout == TTNN_TILE && in->place.shard != TTNN_DRAM) {
		held = bytes_of_input(in);
		rows.place = ttnn_relayout(r, in->op, in->place, TTNN_ROW_MAJOR, TTNN_BF16, &held);
		rows.dies = true;
		held = stays(in);
	}
	const TtnnPlace to = { .layout = TTNN_ROW_MAJOR, .whole = whole };
	held += gather(r, op, &rows, choice, &to);
	r->out = (TtnnPlace){ TTNN_HEIGHT, (int)cores, 1, TTNN_BF16, TTNN_ROW_MAJOR, whole, false };
	const int64_t bytes = ttnn_place_bytes(op, &r->out);
	const int64_t stick = 2 * ttnn_channels(ttnn_depth(op), TTNN_ROW_MAJOR, 1);
	if (op->attr.resize.mode == RESIZE_NEAREST) {
		ttnn_add(r, TTNN_RUN_UPSAMPLE, 1,
			 ttnn_curve_ps(r->t, TTNN_CURVE_LOCAL, bytes, stick), held + bytes);
		return true;
	}
	const TtnnWindow w = { d[0], d[2], d[3], 2, 2, 1, 1, 1, 1, d[2] + 1, d[3] + 1 };
	r->halo = ttnn_halo(&w, TTNN_HEIGHT, cores, pixels / cores, stick);
	ttnn_add(r, TTNN_RUN_HALO, 1, ttnn_halo_ps(r->t, &w, r->halo, stick, 0), held + r->halo);
	held += r->halo;
	ttnn_add(r, TTNN_RUN_UPSAMPLE, 1,
		 ttnn_pool_ps(r->t, &w, pixels / cores * factor, stick / 2), held + bytes);
	return true;
}
