/*
 * Tensors: every row of every plane has one owner, what is owned is kept, and the
 * buffer holds what any core keeps, within what routines can address.
 */
#include "passes/check_plan.h"

enum { MOST_SECTION = 65535 }; /* pixels from exponents to mantissas that packers reach */

static void check_cut(const Checker *c, const PlanTensor *t)
{
	const Cut cut = t->cut;
	TENSOR_RULE(c, t, (int64_t)cut.bands * cut.splits <= c->p->cores,
		    "%d bands times %d splits on %d cores", cut.bands, cut.splits, c->p->cores);
	for (int core = 0; core < c->p->cores; core++)
		TENSOR_RULE(c, t, core / cut.splits < cut.bands || region_empty(t->shard[core].own),
			    "core %d owns part of it, which is cut for %d", core,
			    cut.bands * cut.splits);
}

static bool same(Range a, Range b) { return a.first == b.first && a.end == b.end; }

/* Bands have their rows in common, splits their planes: weights are shared by that. */
static void check_grid_of(const Checker *c, const PlanTensor *t, int core)
{
	const Region own = t->shard[core].own;
	for (int other = 0; other < core; other++) {
		const Region its = t->shard[other].own;
		if (region_empty(own) || region_empty(its))
			continue;
		TENSOR_RULE(c, t, core / t->cut.splits != other / t->cut.splits
			    || same(own.rows, its.rows),
			    "cores %d and %d are one band, with rows %d to %d and %d to %d", other, core,
			    its.rows.first, its.rows.end - 1, own.rows.first, own.rows.end - 1);
		TENSOR_RULE(c, t, core % t->cut.splits != other % t->cut.splits
			    || same(own.planes, its.planes),
			    "cores %d and %d are one split, with planes %d to %d and %d to %d", other,
			    core, its.planes.first, its.planes.end - 1, own.planes.first,
			    own.planes.end - 1);
		const Region both = region_both(own, its);
		TENSOR_RULE(c, t, region_empty(both), "cores %d and %d both own row %d, plane %d",
			    other, core, both.rows.first, both.planes.first);
	}
}

static void check_shard(const Checker *c, const PlanTensor *t, int core)
{
	const Shard *s = &t->shard[core];
	const Region own = s->own;
	const Range image = { 0, t->height }, planes = { 0, t->layout.planes };
	if (!region_empty(own)) {
		TENSOR_RULE(c, t, check_within(own.rows, image) && check_within(own.planes, planes),
			    "core %d owns rows %d to %d, planes %d to %d of %d x %d", core,
			    own.rows.first, own.rows.end - 1, own.planes.first, own.planes.end - 1,
			    t->height, t->layout.planes);
		TENSOR_RULE(c, t, own.rows.first % t->row_unit == 0,
			    "core %d begins at row %d, units are %d", core, own.rows.first, t->row_unit);
		TENSOR_RULE(c, t, own.planes.first % t->plane_unit == 0,
			    "core %d begins at plane %d, units are %d", core, own.planes.first,
			    t->plane_unit);
		TENSOR_RULE(c, t, check_within(own.rows, s->keep.rows)
			    && check_within(own.planes, s->keep.planes),
			    "core %d owns rows %d to %d, planes %d to %d, but keeps %d to %d, %d to %d", core,
			    own.rows.first, own.rows.end - 1, own.planes.first, own.planes.end - 1,
			    s->keep.rows.first, s->keep.rows.end - 1, s->keep.planes.first,
			    s->keep.planes.end - 1);
	}
	TENSOR_RULE(c, t, check_within(s->keep.planes, planes), "core %d keeps planes %d to %d of %d",
		    core, s->keep.planes.first, s->keep.planes.end - 1, t->layout.planes);
	if (check_in_dram(t))
		return;
	TENSOR_RULE(c, t, range_count(s->keep.rows) <= t->buffer_rows,
		    "core %d keeps %d rows, the buffer has %d", core, range_count(s->keep.rows),
		    t->buffer_rows);
	TENSOR_RULE(c, t, range_count(s->keep.planes) <= t->buffer_planes,
		    "core %d keeps %d planes, the buffer has %d", core,
		    range_count(s->keep.planes), t->buffer_planes);
}

/* Together with no two cores owning the same this says that all is owned once. */
static void check_cover(const Checker *c, const PlanTensor *t)
{
	const int64_t all = (int64_t)t->height * t->layout.planes;
	int64_t owned = 0;
	for (int core = 0; core < c->p->cores; core++) {
		const Region own = t->shard[core].own;
		owned += (int64_t)range_count(own.rows) * range_count(own.planes);
	}
	TENSOR_RULE(c, t, owned == all, "cores own %lld rows of planes, it has %lld",
		    (long long)owned, (long long)all);
}

static void check_pitch(const Checker *c, const PlanTensor *t)
{
	const Layout *l = &t->layout;
	const int cols = check_div_up(l->cols, l->phases);
	TENSOR_RULE(c, t, l->lead >= 0 && l->pitch >= l->lead + cols,
		    "a pitch of %d for %d columns behind a lead of %d", l->pitch, cols, l->lead);
	TENSOR_RULE(c, t, l->pitch <= MAX_PITCH, "a pitch of %d pixels, %d is the most", l->pitch,
		    (int)MAX_PITCH);
	TENSOR_RULE(c, t, l->pitch % PITCH_STEP == 0 && l->lead % PITCH_STEP == 0,
		    "pitch %d and lead %d are no multiples of %d", l->pitch, l->lead,
		    (int)PITCH_STEP);
	TENSOR_RULE(c, t, l->type != DEV_BFP8_B || !check_in_dram(t) || l->pitch % ALIGN_DRAM == 0,
		    "a row of bfp8_b exponents in DRAM has %d bytes, no multiple of %d", l->pitch,
		    (int)ALIGN_DRAM);
}

/* A reader takes a tile of pixels from any column of its window on, so it runs past
 * the last row by less than a tile and the lead. */
static void check_slack(const Checker *c, const PlanTensor *t)
{
	const int least = (TILE + t->layout.lead) * dev_pixel_bytes(t->layout.type);
	TENSOR_RULE(c, t, t->slack >= least && t->slack % ALIGN_L1 == 0,
		    "%d bytes behind the last row, readers run into %d", t->slack, least);
}

static int64_t bytes_of(const PlanTensor *t, const Step *slices)
{
	Layout l = t->layout;
	l.rows = t->buffer_rows;
	l.planes = t->images * t->buffer_planes;
	const int64_t bytes = layout_bytes(&l) + t->slack;
	const int64_t aligned = (bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	return !slices ? bytes : slices->single ? aligned : 2 * aligned;
}

/* Of a tensor, or of slices of a step. */
static void check_buffer(const Checker *c, const PlanTensor *t, const Step *slices)
{
	const int planes = tensor_buffer_planes(t);
	TENSOR_RULE(c, t, t->buffer_rows > 0 && t->buffer_rows <= MAX_BAND_ROWS,
		    "a core keeps %d rows of it, %d is the most", t->buffer_rows,
		    (int)MAX_BAND_ROWS);
	TENSOR_RULE(c, t, t->buffer_planes > 0 && planes <= MAX_BAND_PLANES,
		    "a core keeps %d planes of 16 channels of it, %d is the most", planes,
		    (int)MAX_BAND_PLANES);
	check_slack(c, t);
	TENSOR_RULE(c, t, t->bytes == bytes_of(t, slices), "%lld bytes, %d x %d rows of %d pixels take %lld",
		    (long long)t->bytes, planes, t->buffer_rows, t->layout.pitch,
		    (long long)bytes_of(t, slices));
}

/* What packers write as bfp8_b. */
static void check_sections(const Checker *c, const Step *s)
{
	if (!s->out || step_moves(s) || s->kind == STEP_EDGE_IN || s->kind == STEP_CONSTANT)
		return;
	const PlanTensor *t = check_in_dram(s->out) && s->slice ? s->slices[s->nin] : s->out;
	if (!t || t->layout.type != DEV_BFP8_B)
		return;
	const int64_t pixels = (int64_t)tensor_buffer_planes(t) * t->buffer_rows * t->layout.pitch;
	TENSOR_RULE(c, t, pixels <= MOST_SECTION, "%lld pixels of bfp8_b on a core, %d is the most",
		    (long long)pixels, (int)MOST_SECTION);
}

void check_tensors(const Checker *c)
{
	for (int i = 0; i < c->p->ntensors; i++) {
		const PlanTensor *t = c->p->tensors[i];
		const Step *slices = check_slices_of(c, t);
		check_pitch(c, t);
		if (check_in_dram(t))
			TENSOR_RULE(c, t, t->bytes == 0, "it is in DRAM and takes %lld bytes of L1",
				    (long long)t->bytes);
		else
			check_buffer(c, t, slices);
		if (slices) /* the shards are those of what they are slices of */
			continue;
		const int before = c->d->errors;
		check_cut(c, t);
		for (int core = 0; core < c->p->cores && c->d->errors == before; core++) {
			check_shard(c, t, core);
			check_grid_of(c, t, core);
		}
		if (c->d->errors == before) /* else it says little */
			check_cover(c, t);
	}
	for (int i = 0; i < c->p->nsteps; i++)
		check_sections(c, &c->p->steps[i]);
}
