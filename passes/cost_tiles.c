/*
 * The Work of an op on tiles, filled from a step: what backend/predict.c fills from
 * the parameters that a step is lowered to.
 */
#include <stdio.h>

#include "ir/mix.h"
#include "passes/cost_parts.h"

/* What runs: unpack and math, and for how many tiles store is told. */
typedef struct Routines {
	WorkId unpack, math;
	int n, hold;
} Routines;

static const Routines routines[STEP_COUNT] = {
	[STEP_BINARY] = { WORK_binary_unpack, WORK_binary_math, 1, 4 },
	[STEP_CHANNEL] = { WORK_channel_unpack, WORK_channel_math, 1, 4 },
	[STEP_CONV] = { WORK_conv_unpack, WORK_conv_math, 0, 0 },
	[STEP_DECONV2] = { WORK_conv_unpack, WORK_conv_math, 0, 0 },
	[STEP_LANES] = { WORK_lanes_unpack, WORK_lanes_math, 1, 1 },
	[STEP_MAX_POOL] = { WORK_window_unpack, WORK_window_math, 1, 1 },
	[STEP_MIX] = { WORK_mix_unpack, WORK_mix_math, 4, 1 },
	[STEP_NORM] = { WORK_norm_unpack, WORK_norm_math, 1, 1 },
	[STEP_PAIR] = { WORK_pair_unpack, WORK_pair_math, 1, 2 },
	[STEP_REDUCE] = { WORK_reduce_unpack, WORK_reduce_math, 1, 1 },
	[STEP_UNARY] = { WORK_window_unpack, WORK_window_math, 1, 1 },
};

static bool sees_image(const Step *s)
{
	return s->kind == STEP_MAX_POOL || s->kind == STEP_UNARY || s->kind == STEP_REDUCE;
}

/* The act is named as the op is; a relu is the packers'. A mix of several column
 * phases has none. */
static WorkId act_of(const Step *s)
{
	char name[32];
	if (s->act.kind == OP_INPUT || s->act.kind == OP_RELU)
		return WORK_none;
	if (s->kind == STEP_MIX && s->out->layout.phases > 1)
		return WORK_none;
	snprintf(name, sizeof name, "act_%s",
		 s->act.kind == OP_INSTANCE_NORM ? "rsqrt" : op_info[s->act.kind].name);
	return work_find(name);
}

CoreShape cost_shape(const Step *s, Region work, Range planes)
{
	CoreShape c = { .own_rows = range_count(work.rows), .planes = range_count(work.planes) };
	c.rows = c.own_rows;
	if (act_of(s) != WORK_none)
		c.lanes = step_lanes(s, work);
	if (cost_is_product(s))
		c.rows = c.rows ? range_count(step_positions(s, work.rows)) : 0;
	if (s->weights)
		c.groups = range_count(step_core_groups(s, planes));
	else if (s->kind == STEP_MIX)
		c.groups = 1;
	if (sees_image(s) && !region_empty(work)) {
		const Range image = step_image_rows(s, work);
		c.image_rows = range_count(image);
		c.pad_top = image.first - step_reads(s, 0, work).rows.first;
	}
	return c;
}

static void add_window(const Step *s, Work *w)
{
	const Window h = s->window[0], v = s->window[1];
	w->kernel_h = h.size;
	w->kernel_w = v.size;
	w->dilation_h = h.dilation;
	w->dilation_w = v.dilation;
	w->stride_h = h.stride;
	w->stride_w = v.stride;
	w->cols = cost_is_product(s) ? step_columns(s) : s->out->layout.cols;
	if (!sees_image(s))
		return;
	w->image_cols = s->in[0].tensor->layout.cols;
	w->pad_left = v.pad;
}

static void add_mix(const Step *s, int phase, Work *w)
{
	const Mix *m = s->mix[phase];
	const int columns = (m->out_cols + MIX_RUN - 1) / MIX_RUN * m->col_terms;
	w->cols = m->out_cols;
	w->kernel_h = m->row_terms;
	w->kernel_w = m->col_terms;
	w->mix_across = m->across;
	w->page_bytes = (int64_t)mix_bytes(m);
	for (int i = 0; i < columns; i++) {
		w->mix_pixels += m->cols[i].pixels;
		w->mix_cut += m->cols[i].pixels < MIX_RUN;
	}
}

static void add_parts(const Step *s, int planes, Work *w)
{
	const Region one = { { s->row, s->row + 1 }, { 0, planes } };
	w->pieces = s->nin;
	for (int i = 0; i < s->nin; i++) {
		w->planes[i] = range_count(step_reads(s, i, one).planes);
		if (s->weights && s->channel_groups > 1 && s->kind == STEP_CONV)
			w->planes[i] = part_planes(&s->in[i]) / s->channel_groups;
		w->k_block[i] = s->weights ? step_blocks(s, i).k : 0;
	}
	for (int i = 0; i < 2 && i < s->nin; i++)
		w->spread[i] = (s->spread[i] & SPREAD_PLANES ? 1 : 0)
			+ (s->spread[i] & SPREAD_COLS ? 2 : 0);
}

static void add_weights(const Step *s, Work *w)
{
	const Stream *t = &s->stream;
	w->page_bytes = s->page_bytes;
	if (!t->chunk_blocks)
		return;
	w->chunks = t->chunks;
	w->passes = t->passes;
	w->chunk_blocks = t->chunk_blocks;
	w->block = t->block;
	w->sums = t->sums_bytes > 0;
}

static void add_constants(const Step *s, Work *w)
{
	w->in_type = w->a_type = s->in[0].tensor->layout.type;
	w->b_type = s->nin > 1 ? s->in[1].tensor->layout.type : DEV_UNSET;
	w->weight_type = s->weights;
	w->out_type = s->out->layout.type;
	w->phases = s->phases ? s->phases : 1;
	w->kind = s->reduce.kind;
	w->pair = s->reduce.pair;
	w->pixels = s->out->layout.cols;
	w->onto = s->reduce.onto ? w->pixels : 0;
	w->sum = s->reduce.kind == REDUCE_SUM;
	if (s->kind == STEP_BINARY || s->kind == STEP_PAIR)
		w->op = step_arith(s);
	if (cost_is_product(s)) {
		w->n = s->held;
		w->hold = s->stream.hold;
	}
}

Work cost_tiles(const Step *s, const CoreShape *c, int phase)
{
	Work w = { .n = 1, .hold = 1, .phases = 1, .chunks = 1, .passes = 1,
		   .fetchers = 1, .dram_page = COST_DRAM_PAGE };
	w.images = cost_is_product(s) ? s->out->images : 1;
	w.rows = c->rows;
	w.groups = c->groups;
	w.out_planes = c->planes;
	w.lanes = c->lanes;
	w.image_rows = c->image_rows;
	w.pad_top = c->pad_top;
	add_constants(s, &w);
	add_window(s, &w);
	add_parts(s, c->planes, &w);
	if (s->weights)
		add_weights(s, &w);
	if (s->kind == STEP_MIX) {
		add_mix(s, phase, &w);
		w.phases = s->mix[phase]->phases;
	}
	w.taps = w.kernel_h * w.kernel_w;
	return w;
}

void cost_count_tiles(const Step *s, const Work *filled, Counters *c)
{
	const Routines *r = &routines[s->kind];
	Work w = *filled;
	work_count(r->unpack, &w, c);
	w.act = act_of(s);
	work_count(r->math, &w, c);
	w.act = WORK_none;
	w.n = r->n ? r->n : w.n;
	w.hold = r->hold ? r->hold : w.hold;
	work_count(s->kind == STEP_DECONV2 ? WORK_store_pairs
		   : s->kind == STEP_REDUCE && s->out->partial ? WORK_store_pixels
		   : WORK_store, &w, c);
}
