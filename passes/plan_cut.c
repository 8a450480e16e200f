/*
 * Cutting tensors into bands of rows and splits of planes, and how large their
 * buffers get.
 *
 * Band b of n owns rows b*H/n to (b+1)*H/n - 1 of every tensor, so rows that
 * belong together at different resolutions lie on the same or on neighbouring
 * cores; splits likewise, of planes. What a core's own steps read beyond that is
 * kept beside it.
 */
#include "passes/plan.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ir/hint.h"

/* A reader takes 32 pixels at a time from any column of the window, so it may
 * run past the last row by less than this and the lead. */
enum { SLACK_PIXELS = 48 };

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }

/* Divisions of long numbers take longer. */
static int part_of(int64_t units, int i, int n)
{
	const int64_t all = units * i;
	return all <= INT_MAX ? (int)all / n : (int)(all / n);
}

Range plan_share(int all, int unit, int i, int n)
{
	const int64_t units = (all + unit - 1) / unit;
	const int first = part_of(units, i, n) * unit, end = part_of(units, i + 1, n) * unit;
	return (Range){ first, end < all ? end : all };
}

/* What the op's hints ask for; zeros where they say nothing. */
static Cut hinted(const Plan *p, const Op *op)
{
	const char *shard = op_hint(op, "shard"), *bands = op_hint(op, "bands");
	const char *split = op_hint(op, "split");
	Cut c = { 0, 0 };
	if (shard && strcmp(shard, "height") == 0)
		c = (Cut){ p->cores, 1 };
	else if (shard && strcmp(shard, "width") == 0)
		c = (Cut){ 1, p->cores };
	else if (shard && strcmp(shard, "block") == 0)
		c = (Cut){ p->rows, p->cols };
	if (bands)
		c.bands = atoi(bands);
	if (split)
		c.splits = atoi(split);
	return c;
}

/* At most as many as there are cores: bands give way to splits that are asked for. */
static Cut cut_of(const Plan *p, const Op *op, Cut open)
{
	Cut c = hinted(p, op);
	if (!c.bands && !c.splits)
		c = open;
	if (!c.splits)
		c.splits = 1;
	if (!c.bands)
		c.bands = p->cores / c.splits;
	return c;
}

/* What is left of each band that has rows is a row of its own; who reads these
 * reads all of them. */
void plan_cut_partial(const Plan *p, Step *s)
{
	const PlanTensor *in = s->in[0].tensor;
	const int units = (in->height + in->row_unit - 1) / in->row_unit;
	const int rows = !s->out->partial ? 1 : smaller(units, s->out->cut.bands);
	Range *map = arena_array(p->graph->arena, Range, rows);
	for (int i = 0; i < rows; i++)
		map[i] = plan_share(in->height, in->row_unit, i, rows);
	s->out->height = rows;
	s->row_map = map;
}

void plan_own_into(const Plan *p, PlanTensor *t, Shard *shards)
{
	const int splits = t->cut.splits, used = t->cut.bands * splits;
	t->shard = shards;
	Region r = { 0 };
	for (int c = 0; c < p->cores && c < used; c++) {
		if (c % splits == 0)
			r.rows = plan_share(t->height, t->row_unit, c / splits, t->cut.bands);
		r.planes = c < splits ? plan_share(t->layout.planes, t->plane_unit, c, splits)
				      : shards[c - splits].own.planes;
		shards[c] = (Shard){ r, r };
	}
	for (int c = 0; c < p->cores; c++)
		if (c >= used || region_empty(shards[c].own))
			shards[c] = (Shard){ 0 };
}

void plan_own(const Plan *p, PlanTensor *t)
{
	plan_own_into(p, t, arena_array(p->graph->arena, Shard, p->cores));
}

static void keep_read(Plan *p, const Step *s)
{
	/* A host edge out sends what it owns; a reshard and the like take what is owned. */
	if (!s->out || step_moves(s))
		return;
	for (int c = 0; c < p->cores; c++)
		for (int i = 0; i < s->nin; i++) {
			Shard *in = &s->in[i].tensor->shard[c];
			in->keep = region_cover(in->keep, step_reads(s, i, s->out->shard[c].own));
		}
}

/* Zero columns a step wants beside the image, on either side. */
static int margin(const Step *s, const PlanTensor *t)
{
	if (s->kind == STEP_MIX)
		return 0;
	const Window w = s->window[1];
	const int last = (step_columns(s) - 1) * w.stride - w.pad + (w.size - 1) * w.dilation;
	return larger(w.pad, last - (t->layout.cols - 1));
}

/* Rows move whole from one cut to another, so both have the same lead. */
static void match_leads(Plan *p)
{
	for (int i = p->nsteps - 1; i >= 0; i--) {
		const Step *s = &p->steps[i];
		if (step_moves(s))
			s->in[0].tensor->layout.lead = larger(s->in[0].tensor->layout.lead,
							      s->out->layout.lead);
	}
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		if (step_moves(s))
			s->out->layout.lead = s->in[0].tensor->layout.lead;
	}
}

static void widen_leads(Plan *p)
{
	for (int i = 0; i < p->ntensors; i++)
		p->tensors[i]->layout.lead = p->tensors[i]->partial ? 0 : PITCH_STEP;
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		for (int k = 0; s->out && k < s->nin; k++) {
			PlanTensor *t = s->in[k].tensor;
			const int pixels = (margin(s, t) + t->layout.phases - 1) / t->layout.phases;
			if (!(s->spread[k] & SPREAD_COLS))
				t->layout.lead = larger(t->layout.lead,
							(int)round_up(pixels, PITCH_STEP));
		}
	}
}

void plan_align_rows(Layout *l)
{
	if (l->type == DEV_BFP8_B && layout_pitch(l->cols, l->phases, l->lead, 0) % ALIGN_DRAM)
		l->lead += PITCH_STEP;
}

void plan_size_buffer(const Plan *p, PlanTensor *t)
{
	Layout *l = &t->layout;
	t->buffer_rows = t->buffer_planes = 1;
	for (int c = 0; c < p->cores && l->place == PLACE_L1; c++) {
		const Region *keep = &t->shard[c].keep;
		t->buffer_rows = larger(t->buffer_rows, range_count(keep->rows));
		t->buffer_planes = larger(t->buffer_planes, range_count(keep->planes));
	}
	l->pitch = layout_pitch(l->cols, l->phases, l->lead, 0);
	t->slack = (SLACK_PIXELS + l->lead) * dev_pixel_bytes(l->type);
	Layout buffer = *l;
	buffer.rows = t->buffer_rows;
	buffer.planes = t->images * t->buffer_planes;
	t->bytes = l->place == PLACE_L1 ? layout_bytes(&buffer) + t->slack : 0;
}

/* Slots of rows, of each channel of a plane. */
static int64_t edge_bytes(const Step *s, const Layout *l)
{
	const int64_t row = (int64_t)l->cols * (l->type == DEV_F32 ? 4 : 2);
	const int64_t channels = s->out ? s->op->shape.dim[1] : s->in[0].channels;
	return EDGE_SLOTS * (channels < PLANE ? channels : PLANE) * round_up(row, ALIGN_DRAM);
}

void plan_size_step(const Plan *p, Step *s)
{
	const PlanTensor *t = s->out ? s->out : s->in[0].tensor;
	if (s->kind == STEP_EDGE_IN || s->kind == STEP_EDGE_OUT)
		s->scratch_bytes = edge_bytes(s, &t->layout);
	s->weight_bytes = s->kind == STEP_MIX ? s->page_bytes : 0;
	if (s->weights)
		plan_size_weights(p, s);
}

void plan_grid(Plan *p, int cores)
{
	p->cores = cores;
	p->cols = cores < p->target->grid_cols ? cores : (int)p->target->grid_cols;
	p->rows = (cores + p->cols - 1) / p->cols;
}

void plan_shards(Plan *p)
{
	for (int i = 0; i < p->nsteps; i++)
		if (p->steps[i].kind == STEP_REDUCE)
			plan_cut_partial(p, &p->steps[i]);
	for (int i = 0; i < p->ntensors; i++)
		plan_own(p, p->tensors[i]);
	for (int i = 0; i < p->nsteps; i++)
		keep_read(p, &p->steps[i]);
	widen_leads(p);
	match_leads(p);
	for (int i = 0; i < p->ntensors; i++)
		plan_align_rows(&p->tensors[i]->layout);
	for (int i = 0; i < p->ntensors; i++)
		plan_size_buffer(p, p->tensors[i]);
	for (int i = 0; i < p->nsteps; i++)
		plan_size_step(p, &p->steps[i]);
}

void plan_cut(Plan *p, int cores, Cut cut)
{
	plan_grid(p, cores);
	for (int i = 0; i < p->nsteps; i++) {
		Step *s = &p->steps[i];
		if (s->out && !step_moves(s))
			s->out->cut = cut_of(p, s->op, cut);
	}
	plan_shards(p);
}
