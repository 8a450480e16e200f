/*
 * What steps read: of every part, on every core, it is among what the core keeps,
 * and every slice of what lies in DRAM finds room in its buffers. Who keeps what
 * others own is sent it by them, so nothing else is needed.
 */
#include "passes/check_plan.h"

typedef enum PlanesRead { READS_ALL, READS_SAME } PlanesRead;

static const PlanesRead planes_read[STEP_COUNT] = {
#define STEP(id, name, reads, slices, f32, what) [STEP_##id] = READS_##reads,
#include "ir/steps.def"
};

/* Rows that one row of the result is made of; none if the step does not make it. */
static Range rows_for(const Step *s, int part, int y)
{
	const Window w = s->window[0];
	int at = y;
	if (s->spread[part] & SPREAD_ROWS)
		return (Range){ 0, 1 };
	if (s->row_map)
		return s->row_map[y];
	if (s->kind == STEP_DECONV2) {
		at = y / 2;
	} else {
		if (y < s->row || (y - s->row) % s->row_step)
			return (Range){ 0, 0 };
		at = (y - s->row) / s->row_step;
	}
	const int first = at * w.stride - w.pad;
	return (Range){ first, first + (w.size - 1) * w.dilation + 1 };
}

Range check_rows_read(const Step *s, int part, Range rows)
{
	Range all = { 0, 0 };
	for (int y = rows.first; y < rows.end; y++)
		all = range_cover(all, rows_for(s, part, y));
	return all;
}

Range check_planes_read(const Step *s, int part, Range planes)
{
	const Part *in = &s->in[part];
	if (!range_count(planes))
		return (Range){ 0, 0 };
	if (s->spread[part] & SPREAD_PLANES)
		return (Range){ in->plane, in->plane + 1 };
	if (planes_read[s->kind] == READS_ALL)
		return (Range){ in->plane, in->plane + part_planes(in) };
	return (Range){ in->plane + planes.first, in->plane + planes.end };
}

static void check_kept(const Checker *c, const Step *s, int part, int core)
{
	const PlanTensor *t = s->in[part].tensor;
	const Region own = s->out->shard[core].own, keep = t->shard[core].keep;
	if (region_empty(own))
		return;
	const Range rows = check_rows_read(s, part, own.rows);
	const Range planes = check_planes_read(s, part, own.planes);
	if (!range_count(rows))
		return;
	STEP_RULE(c, s, check_within(rows, keep.rows), "core %d reads rows %d to %d of '%s', it keeps %d to %d",
		  core, rows.first, rows.end - 1, t->name, keep.rows.first, keep.rows.end - 1);
	STEP_RULE(c, s, check_within(planes, keep.planes),
		  "core %d reads planes %d to %d of '%s', it keeps %d to %d", core, planes.first,
		  planes.end - 1, t->name, keep.planes.first, keep.planes.end - 1);
}

/* Every row of the input is in one of the reduction's results. */
static void check_reduced(const Checker *c, const Step *s)
{
	int at = 0;
	for (int y = 0; y < s->out->height; y++) {
		STEP_RULE(c, s, s->row_map[y].first == at, "row %d of its result begins at row %d, not %d",
			  y, s->row_map[y].first, at);
		at = s->row_map[y].end;
	}
	STEP_RULE(c, s, at == s->in[0].tensor->height, "it reduces %d rows of %d", at,
		  s->in[0].tensor->height);
}

/* What goes from buffer to buffer as whole rows is laid out the same. */
static void check_moved(const Checker *c, const Step *s)
{
	const PlanTensor *a = s->in[0].tensor, *b = s->out;
	const Layout *x = &a->layout, *y = &b->layout;
	STEP_RULE(c, s, x->type == y->type && x->pitch == y->pitch && x->lead == y->lead
		  && x->cols == y->cols && x->phases == y->phases,
		  "rows of '%s' (pitch %d, lead %d) are not laid out as those of '%s' (pitch %d, lead %d)",
		  a->name, x->pitch, x->lead, b->name, y->pitch, y->lead);
	STEP_RULE(c, s, a->height == b->height && a->channels == b->channels
		  && a->images == b->images && s->in[0].plane == 0
		  && s->in[0].channels == a->channels,
		  "'%s' has %d rows of %d channels, '%s' has %d of %d", a->name, a->height,
		  a->channels, b->name, b->height, b->channels);
}

/* Part k, or (k == nin) the result. */
static const PlanTensor *whole(const Step *s, int k)
{
	return k < s->nin ? s->in[k].tensor : s->out;
}

/* Rows of a core that slices are of: a reduction's are those that it reads. */
static Range rows_sliced(const Step *s, int core)
{
	const Region own = check_worked_on(s)->shard[core].own;
	if (region_empty(own))
		return (Range){ 0, 0 };
	return s->kind == STEP_REDUCE ? s->row_map[own.rows.first] : own.rows;
}

/* Slices from row `at` of a core's on. */
static void check_slice_of(const Checker *c, const Step *s, int k, int core, int at)
{
	const PlanTensor *t = s->slices[k];
	const Range all = rows_sliced(s, core);
	Range rows = { at, at + s->slice < all.end ? at + s->slice : all.end };
	Range planes = check_worked_on(s)->shard[core].own.planes;
	if (k < s->nin && s->out && s->kind == STEP_REDUCE) {
		planes = check_planes_read(s, k, planes);
	} else if (k < s->nin && s->out) {
		planes = check_planes_read(s, k, planes);
		rows = check_rows_read(s, k, rows);
	}
	STEP_RULE(c, s, range_count(rows) <= t->buffer_rows
		  && range_count(planes) <= t->buffer_planes,
		  "core %d has %d rows of %d planes in a slice, '%s' holds %d of %d", core,
		  range_count(rows), range_count(planes), t->name, t->buffer_rows,
		  t->buffer_planes);
}

static void check_slice_buffer(const Checker *c, const Step *s, int k)
{
	const PlanTensor *t = s->slices[k], *all = whole(s, k);
	const Layout *x = &t->layout, *y = &all->layout;
	STEP_RULE(c, s, !check_in_dram(t), "its slices '%s' are not in L1", t->name);
	STEP_RULE(c, s, x->type == y->type && x->pitch == y->pitch && x->lead == y->lead
		  && x->cols == y->cols && x->phases == y->phases && t->images == all->images,
		  "slices '%s' (pitch %d, lead %d) are not laid out as '%s' (pitch %d, lead %d)",
		  t->name, x->pitch, x->lead, all->name, y->pitch, y->lead);
	for (int core = 0; core < c->p->cores; core++) {
		const Range rows = rows_sliced(s, core);
		for (int at = rows.first; at < rows.end; at += s->slice)
			check_slice_of(c, s, k, core, at);
	}
}

static void check_slices(const Checker *c, const Step *s)
{
	const PlanTensor *cut = s->kind == STEP_REDUCE ? s->in[0].tensor : check_worked_on(s);
	bool any = false;
	for (int k = 0; k <= s->nin; k++) {
		const PlanTensor *t = whole(s, k);
		const bool dram = t && check_in_dram(t);
		any |= dram;
		if (!s->slice || step_moves(s))
			continue;
		STEP_RULE(c, s, dram == (s->slices[k] != NULL), "'%s' is %sin DRAM and has %s slices",
			  t ? t->name : "its result", dram ? "" : "not ", s->slices[k] ? "" : "no");
		if (dram && s->slices[k])
			check_slice_buffer(c, s, k);
	}
	if (step_moves(s)) {
		STEP_RULE(c, s, !s->slice, "slices of %d rows of what moves whole", s->slice);
		return;
	}
	STEP_RULE(c, s, any == (s->slice > 0), "slices of %d rows, and %s of it in DRAM", s->slice,
		  any ? "some" : "nothing");
	STEP_RULE(c, s, !s->slice || step_can_slice(s), "it cannot work on slices of %d rows", s->slice);
	STEP_RULE(c, s, s->slice || !s->single, "one slice at a time, and it has none");
	STEP_RULE(c, s, s->slice % cut->row_unit == 0, "slices of %d rows, units are %d", s->slice,
		  cut->row_unit);
}

/* A window sees zeros beside the image: the lead, and that of the next row. */
static void check_margins(const Checker *c, const Step *s)
{
	const Window w = s->window[1];
	const Layout *out = &s->out->layout;
	const int columns = check_div_up(out->cols - s->column_phase, out->phases);
	for (int k = 0; k < s->nin; k++) {
		const Layout *l = &s->in[k].tensor->layout;
		const int last = (columns - 1) * w.stride - w.pad + (w.size - 1) * w.dilation;
		STEP_RULE(c, s, w.pad <= l->lead * l->phases, "reads %d columns before '%s', whose lead is %d",
			  w.pad, s->in[k].tensor->name, l->lead * l->phases);
		STEP_RULE(c, s, last < l->pitch * l->phases, "reads column %d of '%s', zeros end at %d",
			  last, s->in[k].tensor->name, l->pitch * l->phases);
	}
}

void check_reads(const Checker *c)
{
	for (int i = 0; i < c->p->nsteps; i++) {
		const Step *s = &c->p->steps[i];
		const int before = c->d->errors;
		check_slices(c, s);
		if (step_moves(s)) {
			check_moved(c, s);
			continue;
		}
		if (s->kind == STEP_REDUCE)
			check_reduced(c, s);
		if (s->kind == STEP_CONV || s->kind == STEP_CHANNEL)
			check_margins(c, s);
		for (int k = 0; s->out && k < s->nin; k++)
			for (int core = 0; core < c->p->cores && c->d->errors == before; core++)
				if (!check_in_dram(s->in[k].tensor))
					check_kept(c, s, k, core);
	}
}
