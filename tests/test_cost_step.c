/*
 * What a plan is said to cost: the exact counters of every step and core are those of
 * the program it is lowered to, and times are the sums that cost_step.h promises.
 *
 *     test_cost_step                 the cases below
 *     test_cost_step FIRST COUNT     random nets from a seed on, all families
 */
#include <stdlib.h>
#include <string.h>

#include "backend/lower.h"
#include "ir/plan_work.h"
#include "passes/cost_step.h"
#include "passes/pass.h"
#include "tests/check.h"
#include "tests/counted.h"
#include "tests/fixture.h"
#include "tests/network.h"
#include "tests/ops.h"
#include "tests/random_unet.h"

typedef struct Entry {
	const char *name;
	OpFamily *make;
} Entry;

static const Entry families[] = {
#define FAMILY(name, what) { #name, ops_##name },
#include "tests/ops_families.def"
};

enum { FAMILIES = sizeof families / sizeof *families };

/* What was compared, and what of it there was. */
static struct {
	int plans, refused, values, differing;
	int steps, kind[STEP_COUNT];
	int stacked, block_float, chunks, sums, early, sliced, single, beside, idle, columns;
	int several, halos;
} seen;

/* ---- counters ---- */

static void note(const Plan *p, const Step *s)
{
	const PlanTensor *t = s->out ? s->out : s->in[0].tensor;
	seen.steps++;
	seen.kind[s->kind]++;
	seen.stacked += t->images > 1;
	seen.block_float += t->layout.type == DEV_BFP8_B;
	seen.chunks += s->stream.chunks > 1;
	seen.sums += s->stream.sums_bytes > 0;
	seen.early += s->stream.early;
	seen.sliced += s->slice > 0;
	seen.single += s->single;
	seen.beside += s->beside;
	seen.columns += s->weights && p->rows > 1 && t->cut.splits == p->cols;
	seen.several += cost_ops(p, s) > 1;
	for (int c = 0; c < p->cores; c++)
		seen.idle += region_empty(t->shard[c].own);
}

static void compare(const Plan *p, int step, int core, const Counters *want, const char *what)
{
	Counters got;
	cost_counters(p, step, core, &got);
	for (int id = 0; id < COUNTER_COUNT; id++) {
		const int64_t w = counter_get(want, (CounterId)id);
		const int64_t g = counter_get(&got, (CounterId)id);
		if (counter_info[id].how != COUNTER_EXACT)
			continue;
		seen.values++;
		if (w == g)
			continue;
		if (seen.differing++ < 20)
			print_error("%s, step %d '%s' (%s), core %d, %s: program %lld, plan %lld\n",
				    what, step, p->steps[step].op->name,
				    step_names[p->steps[step].kind], core, counter_info[id].name,
				    (long long)w, (long long)g);
	}
}

static void check_counters(const Plan *p, const char *what)
{
	const Program *g = lower(p);
	const Counters *all = predict_program(p->graph->arena, g);
	int op = 0;
	for (int i = 0; i < p->nsteps; i++) {
		const int ops = cost_ops(p, &p->steps[i]);
		assert_true(op + ops <= g->nops);
		note(p, &p->steps[i]);
		for (int core = 0; core < p->cores; core++) {
			const Counters want = counted_without_blocks(g, all, op, ops, core);
			compare(p, i, core, &want, what);
		}
		op += ops;
	}
	assert_int_equal(op, g->nops);
	seen.plans++;
}

/* ---- times ---- */

static void check_sum(const StepTime *t)
{
	int64_t sum = 0;
	for (int i = 0; i < CAUSE_COUNT; i++) {
		assert_true(t->cycles[i] >= 0);
		sum += t->cycles[i];
	}
	assert_int_equal(sum, t->total);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static int64_t moved(CostContext *x, const Plan *p, const Step *s)
{
	return s->kind == STEP_SPILL ? cost_move(x, p, s->in[0].tensor, true)
				     : cost_move(x, p, s->out, false);
}

/* A step that is not beside, by itself. */
static int64_t by_itself(CostContext *x, const Plan *p, const Step *s)
{
	if (s->kind == STEP_RESHARD)
		return x->launch + cost_halo(x, p, s->in[0].tensor, s->out);
	return step_moves(s) ? x->launch + moved(x, p, s) : cost_work(x, p, s).total;
}

/* The sum of cost_step.h, line by line. */
static int64_t total_of(const Plan *p)
{
	CostContext x = cost_context(p->target);
	int64_t sum = 0, last = 0, moves = 0;
	bool any = false;
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		if (s->beside) {
			moves += moved(&x, p, s);
			continue;
		}
		const int64_t work = by_itself(&x, p, s);
		sum += work + larger(0, moves - work);
		if (s->stream.early && any)
			sum += larger(0, cost_fetch(&x, p, s) - last);
		last = work;
		moves = 0;
		any = true;
	}
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i];
		const Step *made = &p->steps[t->done];
		if (t->layout.place == PLACE_L1 && made->out == t && !step_moves(made))
			sum += cost_halo(&x, p, t, t);
	}
	return sum;
}

static void check_times(const Plan *p)
{
	const PlanTime t = plan_time(p);
	int64_t sum = 0;
	for (int i = 0; i < p->nsteps; i++) {
		check_sum(&t.steps[i]);
		sum += t.steps[i].total;
		assert_true(p->steps[i].beside || t.steps[i].total > 0);
	}
	check_sum(&t.all);
	assert_int_equal(sum, t.all.total);
	assert_int_equal(t.all.total, total_of(p));
}

/* Of a step that is one op without weights: the slowest of all cores, each looked
 * at. */
static void check_slowest(const Plan *p)
{
	CostContext x = cost_context(p->target);
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		int64_t most = 0;
		if (cost_ops(p, s) != 1 || s->weights || s->slice || step_moves(s) || !s->out
		    || s->kind == STEP_EDGE_IN || s->kind == STEP_CONSTANT || s->kind == STEP_MIX)
			continue;
		for (int c = 0; c < p->cores; c++) {
			Counters n;
			cost_counters(p, i, c, &n);
			const Cost cost = cost_predict(p->target, &n);
			for (int id = COST_unpack; id <= COST_pack; id++)
				if (!region_empty(s->out->shard[c].own))
					most = larger(most, cost.cycles[id]);
		}
		const StepTime t = cost_work(&x, p, s);
		assert_int_equal(t.total - t.cycles[CAUSE_launch] - t.cycles[CAUSE_noc], most);
	}
}

/* Every pair of cores: the most that one sends or gets. */
static int64_t pushed(const CostContext *x, const Plan *p, const PlanTensor *a, const PlanTensor *b)
{
	const int64_t row = (int64_t)a->layout.pitch * (a->layout.type == DEV_BF16 ? 32 : 17);
	const int64_t sets = (int64_t)a->images * a->layout.phases;
	int64_t transfers = 0, bytes = 0;
	for (int one = 0; one < p->cores; one++) {
		int64_t writes = 0, sent = 0, got = 0;
		for (int other = 0; other < p->cores; other++) {
			const Region out = region_both(a->shard[one].own, tensor_kept(b, other));
			const Region in = region_both(a->shard[other].own, tensor_kept(b, one));
			const int64_t run = range_count(out.rows) * row;
			if (one == other && a == b)
				continue;
			if (!region_empty(in))
				got += sets * range_count(in.planes) * range_count(in.rows) * row;
			if (region_empty(out))
				continue;
			sent += sets * range_count(out.planes) * run;
			writes += 1 + sets * range_count(out.planes)
				* (work_packets(run) + (a->layout.type != DEV_BF16));
		}
		transfers = larger(transfers, writes);
		bytes = larger(bytes, larger(sent, got));
	}
	return bytes ? x->round_trip + larger(transfers * p->target->noc_issue,
					      bytes * 1000 / p->target->noc_rate) : 0;
}

static void check_halos(const Plan *p)
{
	CostContext x = cost_context(p->target);
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		if (!s->out || s->out->done != i || s->out->layout.place != PLACE_L1
		    || !tensor_pushed(p, s->out))
			continue;
		const PlanTensor *from = s->kind == STEP_RESHARD ? s->in[0].tensor : s->out;
		assert_int_equal(cost_halo(&x, p, from, s->out), pushed(&x, p, from, s->out));
		seen.halos += cost_halo(&x, p, from, s->out) > 0;
	}
}

/* ---- nets ---- */

static void check_plan(Graph *g, const Target *target, const PlanOptions *o, const char *what)
{
	const bool ok = passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 });
	const Plan *p = ok ? plan_bands(g, target, o) : NULL;
	if (!p) {
		seen.refused++;
		return;
	}
	check_counters(p, what);
	check_times(p);
	check_slowest(p);
	check_halos(p);
}

/* On few cores and on many, every cut, in L1 or not. */
static PlanOptions options_of(Rng *r)
{
	static const int many[] = { 1, 2, 3, 5, 8, 16, 16, 24, 64 };
	static const Cut cuts[] = { { 0, 0 }, { 0, 0 }, { 1, 4 }, { 0, 2 }, { 0, 8 }, { 2, 3 } };
	PlanOptions o = { .cores = many[rng_below(r, 9)], .cut = cuts[rng_below(r, 6)] };
	o.stacked = rng_below(r, 2);
	o.park = rng_below(r, 4) == 0;
	o.slice = rng_below(r, 4) ? 0 : 1 + (int)rng_below(r, 6);
	o.single = o.slice && rng_below(r, 2);
	if (o.cut.splits * (o.cut.bands ? o.cut.bands : 1) > o.cores)
		o.cut = (Cut){ 0, 0 };
	return o;
}

static void family_case(const Entry *f, uint64_t seed)
{
	void *state;
	fixture_setup(&state);
	Fixture *t = state;
	OpNet n = { .g = t->g, .rng = { rng_next(&(Rng){ seed }) } };
	n.choice = (OpChoice){ .stored = rng_below(&n.rng, 2) ? DEV_BF16 : DEV_BFP8_B,
			       .weights = rng_below(&n.rng, 2) ? DEV_BF16 : DEV_BFP8_B,
			       .batch = 1 + (int)rng_below(&n.rng, 3) };
	const PlanOptions o = options_of(&n.rng);
	Op *last = f->make(&n);
	if (op_infer(n.g, graph_insert(n.g, NULL, OP_OUTPUT, "out", 1, &last)))
		check_plan(n.g, target_load(t->arena, &t->diag, "wormhole_n150"), &o,
			   arena_printf(t->arena, "%s %llu", f->name, (unsigned long long)seed));
	fixture_teardown(&state);
}

static void network_case(uint64_t seed, bool wild)
{
	void *state;
	fixture_setup(&state);
	Fixture *t = state;
	Rng r = { seed + 1000 };
	const NetOptions net = wild ? wild_options(seed)
				    : (NetOptions){ .most_width = 60, .levels = 2,
						    .weights = DEV_BF16 | DEV_BFP8_B };
	const PlanOptions o = options_of(&r);
	Graph *g = wild ? random_wild(t->arena, &t->diag, seed, &net)
			: random_unet(t->arena, &t->diag, seed, &net);
	check_plan(g, target_load(t->arena, &t->diag, "wormhole_n150"), &o,
		   arena_printf(t->arena, "%s %llu", wild ? "wild" : "unet",
				(unsigned long long)seed));
	fixture_teardown(&state);
}

static void cases(uint64_t first, uint64_t count)
{
	for (uint64_t seed = first; seed < first + count; seed++) {
		for (int i = 0; i < FAMILIES; i++)
			family_case(&families[i], seed);
		network_case(seed, false);
		network_case(seed, true);
	}
	print_message("%d plans (%d refused), %d steps, %d values compared, %d differ\n", seen.plans,
		      seen.refused, seen.steps, seen.values, seen.differing);
	print_message("stacked %d, bfp8_b %d, chunks %d, sums %d, early %d, slices %d, one by one %d, "
		      "beside %d, columns %d, several ops %d, idle cores %d, halos %d\n",
		      seen.stacked, seen.block_float, seen.chunks, seen.sums, seen.early,
		      seen.sliced, seen.single, seen.beside, seen.columns, seen.several,
		      seen.idle, seen.halos);
	for (int k = 0; k < STEP_COUNT; k++)
		print_message("%s %d%s", step_names[k], seen.kind[k],
			      k + 1 < STEP_COUNT ? ", " : "\n");
	assert_int_equal(seen.differing, 0);
}

static void counters_of_a_plan_are_those_of_its_program(void **state)
{
	(void)state;
	cases(1, 50);
	for (int k = 0; k < STEP_COUNT; k++)
		assert_true(seen.kind[k] > 0);
	assert_true(seen.stacked && seen.block_float && seen.chunks && seen.sums && seen.early);
	assert_true(seen.sliced && seen.single && seen.beside && seen.columns && seen.several
		    && seen.idle && seen.halos);
}

/* A net that only goes in and out: what its busiest TRISC executes for it in the
 * emulator, and what is said of it. */
static void edges_of(int channels)
{
	void *state;
	fixture_setup(&state);
	Fixture *t = state;
	const char *text = arena_printf(t->arena,
		"graph \"edges\"\n%%x = input {stored = bf16} : f32[1,%d,16,160]\n"
		"%%y = relu %%x {stored = bf16} : f32[1,%d,16,160]\n"
		"%%o = output %%y : f32[1,%d,16,160]\n",
		channels, channels, channels);
	Network *n = network_compile(t->arena, &t->diag, text, 1);
	assert_non_null(n);
	const Counters *all = counted_run(t->arena, n->program, &n->emission,
					  "emu:counters,fast,strict=0,threads=1");
	CostContext x = cost_context(n->target);
	for (int i = 0; i < n->plan->nsteps; i++) {
		const Step *s = &n->plan->steps[i];
		if (s->kind != STEP_EDGE_IN && s->kind != STEP_EDGE_OUT)
			continue;
		const Cost c = cost_predict(n->target, &all[i]);
		int64_t counted = 0;
		for (int r = COST_trisc0; r <= COST_trisc2; r++)
			counted = c.cycles[r] > counted ? c.cycles[r] : counted;
		const int64_t said = cost_work(&x, n->plan, s).cycles[CAUSE_issue];
		print_message("%2d channels %-8s counted %7lld, said %7lld\n", channels,
			      step_names[s->kind], (long long)counted, (long long)said);
		assert_in_range(said * 100 / counted, 90, 110);
	}
	network_free(n);
	fixture_teardown(&state);
}

static void edges_take_what_their_instructions_take(void **state)
{
	(void)state;
	for (int channels = 1; channels < 34; channels += channels < 4 ? 1 : 14)
		edges_of(channels);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_a_plan_are_those_of_its_program),
		cmocka_unit_test(edges_take_what_their_instructions_take),
	};
	if (argc == 3) {
		cases(strtoull(argv[1], NULL, 10), strtoull(argv[2], NULL, 10));
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
