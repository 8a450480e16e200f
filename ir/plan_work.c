#include "ir/plan_work.h"

/* Planes a core without rows can say it works on: there is room for them in all
 * buffers, and if it has a split they are as many, since weights come for those. */
static int idle_planes(const Step *s, int own)
{
	const PlanTensor *t = s->out;
	int planes = t->layout.planes < t->buffer_planes ? t->layout.planes : t->buffer_planes;
	planes = own && own < planes ? own : planes;
	for (int i = 0; i < s->nin; i++) {
		const Region one = { { 0, 1 }, { 0, planes } };
		const int read = range_count(step_reads(s, i, one).planes);
		if (read == planes && read > s->in[i].tensor->buffer_planes)
			planes = s->in[i].tensor->buffer_planes;
	}
	return planes;
}

Region step_work(const Step *s, int core)
{
	const Region own = s->out->shard[core].own;
	if (!region_empty(own))
		return own;
	return (Region){ { 0, 0 }, { 0, idle_planes(s, range_count(own.planes)) } };
}

int step_lanes(const Step *s, Region work)
{
	const int rest = s->out->channels % PLANE;
	const bool last = work.planes.end == s->out->layout.planes;
	return last && rest && s->kind != STEP_LANES ? rest : PLANE;
}

static int inside(int at, int size) { return at < 0 ? 0 : at < size ? at : size; }

Range step_image_rows(const Step *s, Region work)
{
	const int height = s->in[0].tensor->height;
	const Range r = step_reads(s, 0, work).rows;
	return (Range){ inside(r.first, height), inside(r.end, height) };
}

Range step_core_groups(const Step *s, Range planes)
{
	return s->out->cut.splits == 1 ? (Range){ 0, s->groups } : step_groups(s, planes);
}

static bool all_busy(const Plan *p, const PlanTensor *t)
{
	bool busy = t->cut.bands * t->cut.splits >= p->cores;
	for (int c = 0; busy && c < p->cores; c++)
		busy = !region_empty(t->shard[c].own);
	return busy;
}

/* Cores that need the same weights and stand in a rectangle share them: all, or
 * each column if core c has split c % splits of them and there are as many columns.
 * A mix has one page for all. */
FetchWays step_fetch_ways(const Plan *p, const Step *s)
{
	const bool whole = p->cores == p->cols * p->rows;
	const int sets = s->kind == STEP_MIX ? 1 : s->out->cut.splits;
	if (whole && p->cores > 1 && sets == 1)
		return FETCH_ALL;
	if (whole && p->rows > 1 && sets == p->cols && all_busy(p, s->out))
		return FETCH_COLUMNS;
	return FETCH_EACH;
}

int step_fetchers(const Step *s, int cores)
{
	const int asked = s->stream.fetchers ? s->stream.fetchers : 1;
	return asked < cores ? asked : cores;
}

bool step_weights_stay(const Step *s)
{
	return s->stream.passes == 1 && s->stream.pages >= s->groups * s->stream.chunks;
}

bool tensor_pushed(const Plan *p, const PlanTensor *t)
{
	const StepKind made = p->steps[t->done].kind;
	return made != STEP_EDGE_IN && made != STEP_CONSTANT && made != STEP_REFILL;
}

Region step_reads_dram(const Step *s, int part, int core)
{
	Region r = { 0 };
	if (s->kind == STEP_REFILL)
		r = s->out->shard[core].keep;
	else if (s->kind == STEP_EDGE_OUT)
		r = s->in[part].tensor->shard[core].own;
	else if (s->kind != STEP_SPILL)
		r = step_reads(s, part, s->out->shard[core].own);
	return region_in_image(s->in[part].tensor, r);
}

bool plan_reads_dram(const Plan *p, const PlanTensor *t, int reader, Region written)
{
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		for (int k = 0; k < s->nin; k++)
			if (s->in[k].tensor == t
			    && !region_empty(region_both(step_reads_dram(s, k, reader), written)))
				return true;
	}
	return false;
}

void step_slice_map(const Step *s, int i, Range *map)
{
	for (int y = 0; y < s->out->height; y++)
		map[y] = step_slice_of(s, s->row_map[y], i);
}

PlanTensor *step_slice_tensor(Arena *a, const Plan *p, const Step *s, int k, int i)
{
	const PlanTensor *buffers = s->slices[k];
	const int n = step_slice_buffers(s);
	const bool whole = k == s->nin && !buffers; /* of a result in L1 a part is made */
	PlanTensor *t = arena_new(a, PlanTensor);
	*t = whole ? *s->out : *buffers;
	t->shard = arena_array(a, Shard, p->cores);
	if (!whole) {
		t->bytes /= n;
		t->layout.address += (uint64_t)(i % n) * (uint64_t)t->bytes;
	}
	for (int c = 0; c < p->cores; c++) {
		const Region r = step_slice(s, k, c, i);
		t->shard[c].keep = whole ? s->out->shard[c].keep : r;
		if (k == s->nin || !s->out) /* others' slices are not waited for */
			t->shard[c].own = r;
	}
	return t;
}

Step step_slice_step(Arena *a, const Plan *p, const Step *s, int i)
{
	Step x = *s;
	x.in = arena_array(a, Part, s->nin + 1);
	for (int k = 0; k < s->nin; k++) {
		x.in[k] = s->in[k];
		if (s->slices[k])
			x.in[k].tensor = step_slice_tensor(a, p, s, k, i);
	}
	if (s->out)
		x.out = step_slice_tensor(a, p, s, s->nin, i);
	if (s->kind == STEP_REDUCE) {
		Range *map = arena_array(a, Range, s->out->height);
		step_slice_map(s, i, map);
		x.row_map = map;
		x.reduce.onto = i > 0;
	}
	return x;
}
