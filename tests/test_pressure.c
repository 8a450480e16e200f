/*
 * Pressure on circular buffers: rings worked out by hand, levels at their thresholds, and
 * pages that are those the counters know.
 */
#include "passes/pressure.h"

#include "ir/plan_work.h"
#include "tests/model_graph.h"

static void ring_is(Ring r, RingRun want)
{
	const RingRun got = ring_run(&r);
	assert_int_equal(got.misses, want.misses);
	assert_int_equal(got.high, want.high);
	assert_int_equal(got.waits, want.waits);
	assert_int_equal(got.blocked, want.blocked);
}

static void a_slow_mover_makes_the_consumer_wait_for_every_page(void **state)
{
	(void)state;
	/* In place at 10, 20, 30, 40; done at 15, 25, 35, 45. */
	ring_is((Ring){ .pages = 4, .room = 4, .each = 10, .use = 5 }, (RingRun){ 4, 1, 25, 0 });
}

static void a_fast_mover_waits_for_room(void **state)
{
	(void)state;
	/* In place at 5, 10, 20, 30; done at 15, 25, 35, 45. */
	ring_is((Ring){ .pages = 4, .room = 2, .each = 5, .use = 10 }, (RingRun){ 1, 2, 5, 10 });
	/* All may stay: in place at 5, 10, 15, 20. */
	ring_is((Ring){ .pages = 4, .room = 4, .each = 5, .use = 10 }, (RingRun){ 1, 3, 5, 0 });
}

static void with_one_page_nothing_overlaps(void **state)
{
	(void)state;
	/* In place at 5, 20, 35; done at 15, 30, 45. */
	ring_is((Ring){ .pages = 3, .room = 1, .each = 5, .use = 10 }, (RingRun){ 3, 1, 15, 20 });
}

static void who_begins_early_has_pages_in_place(void **state)
{
	(void)state;
	/* In place at -10, 0, 10, 20; done at 5, 10, 15, 25. */
	ring_is((Ring){ .pages = 4, .room = 4, .each = 10, .use = 5, .ahead = 20 },
		(RingRun){ 1, 2, 5, 0 });
	ring_is((Ring){ .pages = 2, .room = 2, .each = 10, .use = 5, .ahead = 20 },
		(RingRun){ 0, 2, 0, 0 });
}

static Pressure judged(int64_t come, int64_t misses, int64_t work, int64_t waits, int64_t used)
{
	Pressure x = { .come = come, .misses = misses, .work = work, .waits = waits, .used = used };
	pressure_judge(&x, 1000);
	return x;
}

static void levels_change_at_their_thresholds(void **state)
{
	(void)state;
	assert_int_equal(judged(1000, 249, 1000, 0, 0).risk, LEVEL_LOW);
	assert_int_equal(judged(1000, 250, 1000, 0, 0).risk, LEVEL_MEDIUM);
	assert_int_equal(judged(1000, 749, 1000, 0, 0).risk, LEVEL_MEDIUM);
	assert_int_equal(judged(1000, 750, 1000, 0, 0).risk, LEVEL_HIGH);
	assert_int_equal(judged(0, 0, 1000, 0, 1000).score, 20);
	/* 0.4 * 20 + 0.4 * 30 + 0.2 * 50 */
	assert_int_equal(judged(10, 2, 700, 300, 500).score, 30);
	assert_int_equal(judged(10, 2, 700, 300, 500).risk, LEVEL_MEDIUM);
	assert_int_equal(judged(10, 2, 710, 290, 470).risk, LEVEL_LOW);
	assert_int_equal(judged(10, 7, 200, 800, 500).score, 70);
	assert_int_equal(judged(10, 7, 200, 800, 500).risk, LEVEL_HIGH);
	assert_int_equal(judged(10, 0, 801, 199, 0).by_utilisation, LEVEL_LOW);
	assert_int_equal(judged(10, 0, 800, 200, 0).by_utilisation, LEVEL_MEDIUM);
	assert_int_equal(judged(10, 0, 400, 600, 0).by_utilisation, LEVEL_MEDIUM);
	assert_int_equal(judged(10, 0, 399, 601, 0).by_utilisation, LEVEL_HIGH);
	assert_int_equal(judged(10, 10, 0, 100, 1000).score, 100);
}

static void workloads_have_their_tiles(void **state)
{
	(void)state;
	const int64_t most[] = { 8, 16, 32 };
	for (int i = 0; i < 3; i++) {
		assert_int_equal(workload_of(most[i]), i);
		assert_int_equal(workload_of(most[i] + 1), i + 1);
	}
}

static const PlanRequest few = { .cores = 4 };

static void planned_as(Fixture *t, const PlanRequest *r, Planned *p)
{
	if (planner_run(model_graph(t, "models/tiny_unet.nnef"), test_target(t), r, p) != PLANNED)
		fail_msg("no plan: %s", fixture_said(t));
}

static void planned(Fixture *t, Planned *p) { planned_as(t, &few, p); }

static const CbUse *ring_of(const CbUse *v, int n)
{
	for (int i = 0; i < n; i++)
		if (v[i].modelled)
			return &v[i];
	return NULL;
}

/* Steps whose cores all get the same pages, each of which is read once; how many more
 * times they come by than one op has them. */
static int64_t look_at_pages(const Planned *p, int *seen)
{
	int64_t again = 0;
	for (int i = 0; i < p->plan->nsteps; i++) {
		const Step *s = &p->plan->steps[i];
		CbUse *v;
		const int n = step_cbs(p->plan, &p->time, i, &v);
		const CbUse *ring = ring_of(v, n);
		if (!ring || !s->out || step_fetch_ways(p->plan, s) != FETCH_ALL)
			continue;
		int64_t read = 0;
		for (int core = 0; core < p->plan->cores; core++) {
			Counters c;
			cost_counters_weights(p->plan, i, core, &c);
			read += c.dram_read_bytes;
		}
		assert_int_equal(ring->come * ring->page_bytes, read);
		assert_int_equal(ring->page_bytes * ring->pages, s->weight_bytes);
		assert_in_range(ring->run.high, 1, ring->pages);
		again += ring->come / ring->ring.pages - 1;
		++*seen;
	}
	return again;
}

static void pages_are_those_that_the_counters_have(void **state)
{
	Planned p;
	int seen = 0;
	planned(*state, &p);
	assert_int_equal(look_at_pages(&p, &seen), 0);
	assert_true(seen > 3);
}

/* In slices that do not keep them, weights come by for each slice. */
static void slices_have_their_pages_again(void **state)
{
	static const char lines[] = "tensor enc2.c1.conv place=dram bands=2\n"
				    "op enc2.c1.conv slice=4 weights_buffer=single k_block=1\n";
	const PlanSource line = source_of(lines);
	const PlanRequest sliced = { .cores = 2, .line = &line };
	Planned p;
	int seen = 0;
	planned_as(*state, &sliced, &p);
	assert_true(look_at_pages(&p, &seen) > 0);
}

/* What the ring says of waits is what the plan's time has for weights. */
static void with_room_for_one_page_the_plan_pays_for_every_fetch(void **state)
{
	static const char lines[] = "op enc2.c2.conv weights_buffer=single k_block=1\n";
	const PlanSource line = source_of(lines);
	const PlanRequest single = { .cores = 4, .line = &line };
	Planned p;
	int seen = 0;
	planned_as(*state, &single, &p);
	for (int i = 0; i < p.plan->nsteps; i++) {
		CbUse *v;
		const int n = step_cbs(p.plan, &p.time, i, &v);
		const CbUse *ring = ring_of(v, n);
		if (!ring || ring->pages > 1 || ring->come < 2)
			continue;
		const int64_t fetched = (ring->come - 1) * ring->ring.each;
		assert_true(p.time.steps[i].cycles[CAUSE_weights] >= fetched);
		assert_true(ring->run.waits >= fetched);
		seen++;
	}
	assert_true(seen > 0);
}

static void a_net_is_the_sum_of_its_ops(void **state)
{
	Planned p;
	Pressure net;
	int64_t come = 0, misses = 0, waits = 0, used = 0;
	planned(*state, &p);
	const int64_t room = planner_room(p.bare->target, p.request);
	const Pressure *v = plan_pressure(p.plan, &p.time, room, &net);
	for (int i = 0; i < p.plan->nsteps; i++) {
		come += v[i].come;
		misses += v[i].misses;
		waits += v[i].waits;
		used = v[i].used > used ? v[i].used : used;
		assert_in_range(v[i].score, 0, 100);
	}
	assert_int_equal(net.come, come);
	assert_int_equal(net.misses, misses);
	assert_int_equal(net.waits, waits);
	assert_int_equal(net.used, used);
	assert_int_equal(used, p.plan->peak);
	assert_true(come > 0 && misses > 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_slow_mover_makes_the_consumer_wait_for_every_page),
		TEST(a_fast_mover_waits_for_room),
		TEST(with_one_page_nothing_overlaps),
		TEST(who_begins_early_has_pages_in_place),
		TEST(levels_change_at_their_thresholds),
		TEST(workloads_have_their_tiles),
		TEST(pages_are_those_that_the_counters_have),
		TEST(slices_have_their_pages_again),
		TEST(with_room_for_one_page_the_plan_pays_for_every_fetch),
		TEST(a_net_is_the_sum_of_its_ops),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
