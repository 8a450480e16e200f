#include "passes/pressure.h"

#include "passes/cost_parts.h"

const char *const level_names[LEVELS] = { "low", "medium", "high" };

const WorkloadInfo workload_info[WORKLOADS] = {
#define WORKLOAD(id, most, name, advice) { most, name, advice },
#include "passes/workloads.def"
};

WorkloadId workload_of(int64_t tiles)
{
	int w = 0;
	while (workload_info[w].most < tiles)
		w++;
	return (WorkloadId)w;
}

enum { MOST_RING = 65536 };

RingRun ring_run(const Ring *r)
{
	RingRun run = { 0 };
	const int64_t room = cost_least(r->room, r->pages);
	Arena *a = arena_create();
	/* When page k of the last `room` was done with, by k % room. */
	int64_t *popped = arena_array(a, int64_t, cost_least(room, MOST_RING) + 1);
	int64_t brought = -r->ahead, done = 0, gone = 0;
	for (int64_t k = 0; k < r->pages; k++) {
		const bool full = k >= room;
		const int64_t free = full ? popped[k % room] : brought;
		run.blocked += cost_most(free - brought, 0);
		brought = cost_most(brought, free) + r->each;
		while (gone < k && popped[gone % room] <= brought)
			gone++;
		run.high = cost_most(run.high, k + 1 - gone);
		run.misses += brought > done;
		run.waits += cost_most(brought - done, 0);
		done = cost_most(brought, done) + r->use;
		popped[k % room] = done;
	}
	arena_destroy(a);
	return run;
}

/* ---- circular buffers of a step ---- */

/* Cycles of a step's compute, which its pages share. */
static int64_t work_of(const StepTime *t)
{
	return t->cycles[CAUSE_unpack] + t->cycles[CAUSE_math] + t->cycles[CAUSE_pack]
		+ t->cycles[CAUSE_issue];
}

static int64_t tile_bytes(const Step *s)
{
	const WeightBlocks one = { .type = (uint32_t)s->weights, .k = 1, .n = 1 };
	return weight_block_bytes(&one);
}

/* The time of the step that weights come in early for. */
static int64_t ahead_of(const Plan *p, const PlanTime *t, int step)
{
	const int from = plan_fetched_in(p, step);
	int64_t cycles = 0;
	for (int i = from; i < step; i++)
		cycles += t->steps[i].total;
	return cycles;
}

static CbUse weights_of(const Plan *p, const PlanTime *t, int step)
{
	const Step *s = &p->steps[step];
	CostContext x = cost_context(p->target);
	const Fetch f = cost_fetch_of(&x, p, s, 0);
	const int64_t runs = s->slice && !step_weights_stay(s) ? step_slices(p, s) : 1;
	CbUse c = { .step = step, .name = plan_step_name(s), .role = "weights",
		    .address = s->weight_address, .page_bytes = f.page_bytes, .pages = f.room,
		    .page_tiles = cost_up(f.page_bytes - 64 * s->held, tile_bytes(s)),
		    .modelled = true };
	c.tiles = s->stream.chunks > 1 ? c.page_tiles * s->stream.chunks : c.page_tiles;
	c.ring = (Ring){ .pages = f.pages, .room = f.room,
			 .each = cost_fetch_pages(&x, &f, f.pages) / cost_most(f.pages, 1),
			 .use = work_of(&t->steps[step]) / cost_most(f.pages * runs, 1),
			 .ahead = s->stream.early ? ahead_of(p, t, step) : 0 };
	c.run = ring_run(&c.ring);
	c.come = f.pages * runs;
	if (runs > 1) {
		Ring later = c.ring;
		later.ahead = 0;
		const RingRun again = ring_run(&later);
		c.run.misses += (runs - 1) * again.misses;
		c.run.waits += (runs - 1) * again.waits;
		c.run.blocked += (runs - 1) * again.blocked;
		c.run.high = cost_most(c.run.high, again.high);
	}
	return c;
}

static CbUse in_tensor(int step, const PlanTensor *t, const char *role)
{
	const int pixel_tiles = TILE_VALUES / PLANE;
	const int64_t pixels = (int64_t)t->buffer_rows * t->layout.pitch
		* tensor_buffer_planes(t);
	return (CbUse){ .step = step, .name = t->name, .role = role, .in_tensor = true,
			.address = t->layout.address, .page_bytes = t->bytes, .pages = 1,
			.page_tiles = cost_up(pixels, pixel_tiles),
			.tiles = cost_up(pixels, pixel_tiles) };
}

int step_cbs(const Plan *p, const PlanTime *t, int step, CbUse **list)
{
	const Step *s = &p->steps[step];
	Arena *a = p->graph->arena;
	CbUse *v = arena_array(a, CbUse, s->nin + 5);
	int n = 0;
	if (s->weight_bytes)
		v[n++] = weights_of(p, t, step);
	if (s->stream.sums_bytes) {
		const int64_t page = s->stream.sums_bytes / cost_most(s->stream.block, 1);
		const int64_t tiles = page / (4 * TILE_VALUES);
		v[n++] = (CbUse){ .step = step, .name = plan_step_name(s), .role = "sums",
				  .address = s->stream.sums_address, .page_bytes = page,
				  .pages = s->stream.block, .page_tiles = tiles, .tiles = tiles };
	}
	if (s->scratch_bytes)
		v[n++] = (CbUse){ .step = step, .name = plan_step_name(s), .role = "host",
				  .address = s->scratch_address, .pages = EDGE_SLOTS,
				  .page_bytes = s->scratch_bytes / EDGE_SLOTS };
	for (int k = 0; k < s->nin; k++)
		if (s->in[k].tensor->layout.place == PLACE_L1)
			v[n++] = in_tensor(step, s->in[k].tensor, arena_printf(a, "input %d", k));
	if (s->out && s->out->layout.place == PLACE_L1)
		v[n++] = in_tensor(step, s->out, "result");
	*list = v;
	return n;
}

/* ---- ops and nets ---- */

static int tenths(int64_t part, int64_t all)
{
	return all ? (int)((part * 2000 + all) / (2 * all)) : 0;
}

typedef enum Measure {
#define RISING(id, name, medium, high, what) MEASURE_##id,
#define FALLING(id, name, medium, high, what) MEASURE_##id,
#include "passes/pressure_levels.def"
	MEASURES
} Measure;

/* Of a value in parts of a percent: `parts` of them. */
static Level level_of(Measure m, int value, int parts)
{
	static const struct {
		int medium, high;
		bool falls;
	} levels[MEASURES] = {
#define RISING(id, name, medium, high, what) [MEASURE_##id] = { medium, high, false },
#define FALLING(id, name, medium, high, what) [MEASURE_##id] = { medium, high, true },
#include "passes/pressure_levels.def"
	};
	const int medium = levels[m].medium * parts, high = levels[m].high * parts;
	if (levels[m].falls)
		return value > medium ? LEVEL_LOW : value >= high ? LEVEL_MEDIUM : LEVEL_HIGH;
	return value >= high ? LEVEL_HIGH : value >= medium ? LEVEL_MEDIUM : LEVEL_LOW;
}

void pressure_judge(Pressure *x, int64_t room)
{
	x->miss = tenths(x->misses, x->come);
	x->utilisation = x->work + x->waits ? tenths(x->work, x->work + x->waits) : 1000;
	x->fill = tenths(x->used, room);
	x->score = (4 * x->miss + 4 * (1000 - x->utilisation) + 2 * x->fill + 50) / 100;
	const Level by_miss = level_of(MEASURE_MISS, x->miss, 10);
	const Level by_score = level_of(MEASURE_SCORE, x->score, 1);
	x->risk = by_miss > by_score ? by_miss : by_score;
	x->by_utilisation = level_of(MEASURE_UTILISATION, x->utilisation, 10);
}

static void add_ring(Pressure *x, const CbUse *c)
{
	Ring fixed = c->ring;
	fixed.room = 2;
	x->come += c->come;
	x->misses += c->run.misses;
	x->waits += c->run.waits;
	x->ring_bytes += c->page_bytes * c->pages;
	x->fixed_bytes += c->page_bytes * 2;
	x->fixed_waits += ring_run(&fixed).waits * (c->come / cost_most(c->ring.pages, 1));
}

Pressure *plan_pressure(const Plan *p, const PlanTime *t, int64_t room, Pressure *net)
{
	Pressure *v = arena_array(p->graph->arena, Pressure, p->nsteps + 1);
	PlanBuffer *buffer;
	const int n = plan_buffers(p, &buffer);
	*net = (Pressure){ 0 };
	for (int i = 0; i < p->nsteps; i++) {
		CbUse *cb;
		const int ncbs = step_cbs(p, t, i, &cb);
		int64_t tiles = 0;
		for (int k = 0; k < n; k++)
			if (buffer[k].born <= i && i <= buffer[k].dies)
				v[i].used += buffer[k].bytes;
		for (int k = 0; k < ncbs; k++) {
			if (!cb[k].modelled)
				continue;
			add_ring(&v[i], &cb[k]);
			tiles = cost_most(tiles, cb[k].tiles);
		}
		v[i].work = work_of(&t->steps[i]);
		v[i].workload = workload_of(tiles);
		pressure_judge(&v[i], room);
		net->come += v[i].come;
		net->misses += v[i].misses;
		net->waits += v[i].waits;
		net->work += v[i].work;
		net->used = cost_most(net->used, v[i].used);
		net->ring_bytes = cost_most(net->ring_bytes, v[i].ring_bytes);
		net->fixed_bytes = cost_most(net->fixed_bytes, v[i].fixed_bytes);
		net->fixed_waits += v[i].fixed_waits;
		net->workload = v[i].workload > net->workload ? v[i].workload : net->workload;
	}
	pressure_judge(net, room);
	return v;
}
