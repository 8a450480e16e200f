/*
 * The time of a step's own work: the core that takes longest, op by op.
 *
 * A core takes as long as its busiest unit. Cores that have equally much to do are
 * looked at once.
 */
#include "passes/cost_parts.h"

#include <string.h>

/* From the first store of TT_START to the end of the op, on average: a word through
 * L1 and back for each RISC-V, the block from DRAM, its words. */
enum { BLOCK_BYTES = 1024, BLOCK_WORDS = 64, RISCS = 5 };

CostContext cost_context(const Target *t)
{
	CostContext x = { .target = t };
	x.round_trip = 4 * t->noc_edge + (t->noc_cols + t->noc_rows) * t->noc_hop;
	x.launch = x.round_trip + t->dram_latency + BLOCK_BYTES * 1000 / t->noc_rate
		+ (BLOCK_WORDS * t->risc_l1_load
		   + 2 * RISCS * (t->risc_l1_use + t->risc_l1_store)) / 1000;
	return x;
}

static int type_index(DevTypes type)
{
	return type == DEV_F32 ? 2 : type == DEV_BF16 ? 1 : 0;
}

static int64_t turn_stall(CostContext *x, const Work *w)
{
	const int64_t n = w->n == 4 ? 2 : w->n - 1;
	const int64_t types = type_index(w->in_type) * COST_TYPES + type_index(w->weight_type);
	const int64_t at = ((types * 3 + n) * 4 + w->hold - 1) * 4 + w->phases - 1;
	if (!x->turn[at])
		x->turn[at] = work_turn_stall(x->target, w) + 1;
	return x->turn[at] - 1;
}

static void set_cause(StepTime *t, CauseId id, int64_t cycles)
{
	t->total += cycles - t->cycles[id];
	t->cycles[id] = cycles;
}

void cost_charge(StepTime *t, CauseId id, int64_t cycles)
{
	t->cycles[id] += cycles;
	t->total += cycles;
}

void cost_add(StepTime *t, const StepTime *more, int64_t times)
{
	for (int i = 0; i < CAUSE_COUNT; i++)
		t->cycles[i] += times * more->cycles[i];
	t->total += times * more->total;
}

/* The unit that binds, and what keeps it. */
static StepTime bound(const Target *t, const Counters *c)
{
	const Cost cost = cost_predict(t, c);
	const int64_t product = cost.cycles[COST_product], pack = cost.cycles[COST_pack];
	const int64_t unpack = cost.cycles[COST_unpack], issue = cost.cycles[COST_unpack_issue];
	StepTime s = { 0 };
	if (product >= unpack && product >= issue && product >= pack) {
		set_cause(&s, CAUSE_unpack, c->stalls);
		set_cause(&s, CAUSE_issue, c->math_others);
		set_cause(&s, CAUSE_math, product - c->stalls - c->math_others);
	} else if (pack >= unpack && pack >= issue) {
		const bool drains = pack > c->packs + c->pack_others;
		set_cause(&s, CAUSE_issue, drains ? 0 : c->pack_others);
		set_cause(&s, CAUSE_pack, pack - s.cycles[CAUSE_issue]);
	} else if (unpack >= issue) {
		set_cause(&s, CAUSE_unpack, unpack);
	} else {
		set_cause(&s, CAUSE_issue, c->unpack_others);
		set_cause(&s, CAUSE_unpack, issue - c->unpack_others);
	}
	return s;
}

/* How weights come makes no difference to it mostly: what a shape took last is kept. */
static StepTime tiles_time(CostContext *x, const Step *s, Work w, int shape)
{
	KnownWork *k = &x->known[shape % COST_KNOWN];
	Counters c = { 0 };
	if (k->known && k->kind == s->kind && k->act == s->act.kind
	    && k->phases == s->out->layout.phases && k->partial == s->out->partial
	    && memcmp(&k->work, &w, sizeof w) == 0)
		return k->time;
	cost_count_tiles(s, &w, &c);
	if (cost_is_product(s))
		c.stalls = work_turns(&w) * turn_stall(x, &w) / 1000;
	*k = (KnownWork){ w, s->kind, s->act.kind, s->out->layout.phases, s->out->partial, true,
			  bound(x->target, &c) };
	return k->time;
}

static StepTime core_time(CostContext *x, const Step *s, const CoreShape *shape, int phase,
			  int shape_number)
{
	StepTime t = { 0 };
	if (s->kind == STEP_EDGE_IN || s->kind == STEP_EDGE_OUT) {
		set_cause(&t, CAUSE_issue,
			  cost_edge_core(x, s, shape->own_rows, shape->planes));
		return t;
	}
	return tiles_time(x, s, cost_tiles(s, shape, phase), shape_number);
}

CoreShape cost_shape_of(const Step *s, Region r)
{
	if (s->out && s->kind != STEP_EDGE_IN)
		return cost_shape(s, r, r.planes);
	if (!s->out)
		r.planes = range_both(r.planes, (Range){ s->in[0].plane,
							 s->in[0].plane + part_planes(&s->in[0]) });
	return (CoreShape){ .own_rows = range_count(r.rows), .planes = range_count(r.planes) };
}

static bool same_region(Region a, Region b) { return memcmp(&a, &b, sizeof a) == 0; }

void cost_find_shapes(const Plan *p, const Step *s, Shapes *all)
{
	const PlanTensor *t = cost_worked_on(s);
	const int cores = (int)cost_least(p->cores, (int64_t)t->cut.bands * t->cut.splits);
	int k = 0;
	all->n = 0;
	for (int c = 0; c < cores; c++) {
		const Region own = t->shard[c].own;
		if (region_empty(own))
			continue;
		if (all->n && same_region(own, all->v[k].own)) {
			all->v[k].cores++;
			continue;
		}
		const CoreShape shape = cost_shape_of(s, own);
		for (k = 0; k < all->n; k++)
			if (memcmp(&shape, &all->v[k].shape, sizeof shape) == 0)
				break;
		if (k == MAX_SHAPES)
			k--;
		if (k == all->n) {
			all->v[all->n++].cores = 0;
			all->v[k].shape = shape;
			all->v[k].own = own;
		}
		all->v[k].cores++;
	}
}

/* The slowest of all, what is beyond the mean being imbalance. */
static StepTime slowest(CostContext *x, const Plan *p, const Step *s, const Shapes *all, int phase)
{
	StepTime most = { 0 };
	int64_t sum = 0;
	for (int k = 0; k < all->n; k++) {
		const StepTime t = core_time(x, s, &all->v[k].shape, phase, k);
		sum += t.total * all->v[k].cores;
		if (t.total > most.total)
			most = t;
	}
	const int64_t mean = sum / p->cores, worst = most.total;
	if (mean == worst)
		return most;
	StepTime scaled = { 0 };
	for (int i = 0; i < CAUSE_COUNT; i++)
		cost_charge(&scaled, (CauseId)i, most.cycles[i] * mean / worst);
	cost_charge(&scaled, CAUSE_imbalance, worst - scaled.total);
	return scaled;
}

/* Zeros around what a core has of the result: BRISC's, while the op runs. */
static int64_t zeros_time(const CostContext *x, const Step *s, const Shapes *all)
{
	const PlanTensor *t = s->out;
	int64_t most = 0;
	for (int k = 0; t && k < all->n; k++) {
		const CoreShape *c = &all->v[k].shape;
		const int64_t strips = (int64_t)c->own_rows * c->planes * t->images
			* t->layout.phases * (t->layout.type == DEV_BFP8_B ? 2 : 1);
		most = cost_most(most, strips * x->target->noc_issue);
	}
	return most;
}

void cost_lasts(StepTime *t, CauseId id, int64_t cycles)
{
	if (cycles > t->total)
		cost_charge(t, id, cycles - t->total);
}

static int phases_of(const Step *s) { return s->kind == STEP_MIX ? s->out->layout.phases : 1; }

int cost_ops(const Plan *p, const Step *s)
{
	if (s->beside)
		return 0;
	if (step_moves(s))
		return 1;
	const int each = (cost_is_product(s) ? 1 : cost_worked_on(s)->images) * phases_of(s);
	bool reads = false;
	for (int k = 0; k < s->nin; k++)
		reads |= s->in[k].tensor->layout.place == PLACE_DRAM;
	if (!s->slice)
		return each;
	const int slices = step_slices(p, s);
	return each * slices + (!reads ? 0 : s->single ? slices : 1);
}

/* What comes from DRAM while an op runs; what has to be there before it starts. With room
 * for one page the next is asked for when that is done with, so nothing hides it. */
static void add_weights(CostContext *x, const Plan *p, const Step *s, int phase, bool early,
			StepTime *t)
{
	if (!s->weights && s->kind != STEP_MIX)
		return;
	const Fetch f = cost_fetch_of(x, p, s, phase);
	const int64_t all = cost_fetch_pages(x, &f, f.pages);
	const int64_t first = cost_fetch_pages(x, &f, early ? cost_least(f.room, f.pages) : 1);
	if (f.room == 1)
		cost_charge(t, CAUSE_weights, all - first);
	else
		cost_lasts(t, CAUSE_weights, all - first);
	if (!early)
		cost_charge(t, CAUSE_weights, first);
}

StepTime cost_images(CostContext *x, const Plan *p, const Step *s, const Shapes *all, bool again)
{
	const bool stay = s->weights && step_weights_stay(s);
	const int images = cost_is_product(s) ? 1 : cost_worked_on(s)->images;
	StepTime sum = { 0 };
	for (int phase = 0; phase < phases_of(s); phase++) {
		const StepTime work = slowest(x, p, s, all, phase);
		StepTime first = work, others = work;
		if (!again || !stay)
			add_weights(x, p, s, phase, s->stream.early && !again, &first);
		if (!stay && images > 1)
			add_weights(x, p, s, phase, false, &others);
		cost_add(&sum, &first, 1);
		cost_add(&sum, &others, images - 1);
	}
	return sum;
}

/* Every core fetches the planes it has from DRAM. */
static StepTime constant_time(const CostContext *x, const Step *s, const Shapes *all)
{
	Traffic sum = { 0 };
	StepTime t = { 0 };
	for (int k = 0; k < all->n; k++) {
		Traffic core = { 0 };
		cost_traffic(&core, s->out, all->v[k].own, false);
		cost_traffic_cores(&sum, &core, all->v[k].cores);
	}
	cost_charge(&t, CAUSE_dram, cost_traffic_time(x, &sum));
	return t;
}

StepTime cost_work_of(CostContext *x, const Plan *p, const Step *s, const Shapes *all)
{
	StepTime t;
	if (s->kind == STEP_CONSTANT)
		t = constant_time(x, s, all);
	else
		t = s->slice ? cost_slices(x, p, s, all) : cost_images(x, p, s, all, false);
	cost_lasts(&t, CAUSE_noc, zeros_time(x, s, all));
	cost_charge(&t, CAUSE_launch, cost_ops(p, s) * x->launch);
	return t;
}

StepTime cost_work(CostContext *x, const Plan *p, const Step *s)
{
	Shapes all;
	if (step_moves(s))
		return (StepTime){ 0 };
	cost_find_shapes(p, s, &all);
	return cost_work_of(x, p, s, &all);
}
