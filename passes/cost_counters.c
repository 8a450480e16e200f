/*
 * What one core counts in all ops of a step.
 */
#include "passes/cost_ops.h"

static bool reads_slices(const Step *s)
{
	bool any = false;
	for (int k = 0; k < s->nin; k++)
		any |= s->slice && s->slices[k];
	return any;
}

StepOp *cost_list_ops(Arena *a, const Plan *p, int step, int *n)
{
	const Step *s = &p->steps[step];
	const int slices = s->slice ? step_slices(p, s) : 1;
	const int images = step_moves(s) ? 1 : cost_worked_on(s)->images;
	const int each = cost_is_product(s) ? images : 1;
	const int phases = s->kind == STEP_MIX ? s->out->layout.phases : 1;
	const int ops = cost_ops(p, s);
	StepOp *list = arena_array(a, StepOp, ops + 1);
	StepOp o = { .p = p, .step = step, .ops = ops, .view = *s, .slices = slices,
		     .images = each };
	*n = 0;
	if (!ops)
		return NULL;
	const bool reads = reads_slices(s);
	for (o.slice = 0; o.slice < slices; o.slice++) {
		if (s->slice)
			o.view = step_slice_step(a, p, s, o.slice);
		o.image = o.phase = 0;
		o.ends = false;
		o.reads = reads && (o.slice == 0 || s->single);
		if (o.reads)
			list[o.number++] = o;
		o.reads = false;
		for (; o.image < images; o.image += each)
			for (o.phase = 0; o.phase < phases; o.phase++, o.number++) {
				o.ends = o.image + each >= images && o.phase + 1 == phases;
				list[o.number] = o;
			}
	}
	*n = o.number;
	return list;
}

/* ---- NCRISC ---- */

/* Which of those that read weights for others a core is; -1: none of them. */
static int fetcher_of(const Plan *p, const Step *s, FetchWays ways, int core)
{
	const int cores = ways == FETCH_ALL ? p->cores : p->rows;
	const int place = ways == FETCH_ALL ? core : core / p->cols;
	const int fetchers = step_fetchers(s, cores);
	for (int f = 0; f < fetchers; f++)
		if (step_fetcher(f, fetchers, cores) == place)
			return f;
	return -1;
}

static void count_weights(const StepOp *o, int core, Work w, Counters *c)
{
	const Step *s = &o->view;
	const FetchWays ways = step_fetch_ways(o->p, s);
	if (s->weights && (o->image > 0 || o->slice > 0) && step_weights_stay(s))
		return;
	if (ways == FETCH_EACH) {
		work_count(WORK_weights_read, &w, c);
		return;
	}
	const int f = fetcher_of(o->p, s, ways, core);
	w.fetchers = step_fetchers(s, ways == FETCH_ALL ? o->p->cores : o->p->rows);
	w.fetcher = f < 0 ? 0 : f;
	work_count(f < 0 ? WORK_weights_receive : WORK_weights_fetch, &w, c);
}

/* ---- host edges ---- */

/* What a core has of a host tensor, and its first channel there. */
static Region edge_region(const Step *s, int core, int *channel, int *channels)
{
	if (s->kind == STEP_EDGE_IN) {
		const Region r = tensor_kept(s->out, core);
		*channels = (int)s->op->shape.dim[1];
		*channel = PLANE * r.planes.first + s->out->channel / PLANE * PLANE;
		return r;
	}
	const Part *in = &s->in[0];
	Region r = in->tensor->shard[core].own;
	r.planes = range_both(r.planes, (Range){ in->plane, in->plane + part_planes(in) });
	*channels = in->channels;
	*channel = PLANE * (r.planes.first - in->plane);
	return r;
}

static void count_edge(const StepOp *o, int core, Counters *c)
{
	const Step *s = &o->view;
	int channel, channels;
	const Region r = edge_region(s, core, &channel, &channels);
	const Layout *l = &cost_worked_on(s)->layout;
	const DType host = l->type == DEV_F32 ? TYPE_F32 : TYPE_BF16;
	const int64_t row = (int64_t)type_info[host].bytes * l->cols;
	Work w = { .n = 1, .hold = 1, .phases = 1, .fetchers = 1,
		   .edge_cols = l->cols, .row_bytes = (row + 3) / 4 * 4 };
	if (region_empty(r))
		return;
	w.edge_rows = range_count(r.rows);
	w.edge_planes = range_count(r.planes);
	w.channels = cost_most(channels - channel, 0);
	work_count(s->kind == STEP_EDGE_IN ? WORK_edge_read : WORK_edge_write, &w, c);
}

/* ---- an op, a step ---- */

static Work work_of(const StepOp *o, int core)
{
	const Step *s = &o->view;
	const CoreShape shape = cost_shape(s, step_work(s, core), s->out->shard[core].own.planes);
	return cost_tiles(s, &shape, o->phase);
}

static void count_routines(const StepOp *o, int core, Counters *c)
{
	const Step *s = &o->view;
	if (o->reads || step_moves(s) || s->kind == STEP_CONSTANT)
		return;
	if (s->kind == STEP_EDGE_IN || s->kind == STEP_EDGE_OUT) {
		count_edge(o, core, c);
		return;
	}
	const Work w = work_of(o, core);
	cost_count_tiles(s, &w, c);
	if (s->weights || s->kind == STEP_MIX)
		count_weights(o, core, w, c);
}

/* Does the core tell others when the last op before a step is done? */
static bool told_before(Arena *a, const Plan *p, int step, int core)
{
	int n = 0, k = step;
	StepOp *ops = NULL;
	while (!n && --k >= 0)
		ops = cost_list_ops(a, p, k, &n);
	Work w = { 0 };
	if (n)
		cost_lead(a, &ops[n - 1], core, &w);
	return w.push_peers > 0;
}

static bool is_last(const Plan *p, int step)
{
	while (++step < p->nsteps && p->steps[step].beside)
		;
	return step == p->nsteps;
}

void cost_counters(const Plan *p, int step, int core, Counters *c)
{
	Arena *a = arena_create();
	int n;
	StepOp *ops = cost_list_ops(a, p, step, &n);
	bool told = n && told_before(a, p, step, core);
	*c = (Counters){ 0 };
	for (int i = 0; i < n; i++) {
		Work w = { .last = is_last(p, step) && i + 1 == n };
		cost_lead(a, &ops[i], core, &w);
		w.asked |= told;
		told = w.push_peers > 0;
		work_count(WORK_lead, &w, c);
		count_routines(&ops[i], core, c);
	}
	arena_destroy(a);
}

void cost_counters_weights(const Plan *p, int step, int core, Counters *c)
{
	const Step *s = &p->steps[step];
	Arena *a = arena_create();
	int n;
	StepOp *ops = cost_list_ops(a, p, step, &n);
	*c = (Counters){ 0 };
	for (int i = 0; i < n && (s->weights || s->kind == STEP_MIX); i++)
		if (!ops[i].reads)
			count_weights(&ops[i], core, work_of(&ops[i], core), c);
	arena_destroy(a);
}
