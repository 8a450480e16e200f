/*
 * Rows on their way from one cut to another: what the busiest core sends or gets, core by
 * core, against the sums over bands and splits that passes/cost_halo.c takes.
 */
#include "ir/rng.h"
#include "passes/cost_parts.h"
#include "passes/plan.h"
#include "tests/bare.h"
#include "tests/choice_net.h"

enum { TRIES = 400 };

static int64_t area(Region r) { return (int64_t)range_count(r.rows) * range_count(r.planes); }

/* Every core to every core. */
static int64_t pair_by_pair(const CostContext *x, const Plan *p, const PlanTensor *from,
			    const PlanTensor *to)
{
	const int64_t row = cost_row_bytes(from);
	const int64_t sets = (int64_t)from->images * from->layout.phases;
	const int exponents = from->layout.type != DEV_BF16;
	int64_t transfers = 0, bytes = 0;
	for (int d = 0; d < p->cores; d++)
		bytes = cost_most(bytes, area(tensor_kept(to, d)) * sets * row);
	for (int c = 0; c < p->cores; c++) {
		int64_t sent = 0, of = 0;
		for (int d = 0; d < p->cores; d++) {
			const Region r = region_both(from->shard[c].own, tensor_kept(to, d));
			const int64_t rows = range_count(r.rows), planes = range_count(r.planes);
			if (region_empty(r))
				continue;
			sent += sets * planes * (work_packets(rows * row) + exponents) + 1;
			of += sets * planes * rows * row;
		}
		transfers = cost_most(transfers, sent);
		bytes = cost_most(bytes, of);
	}
	return !bytes ? 0 : cost_most(transfers * x->target->noc_issue,
				      bytes * 1000 / x->target->noc_rate) + x->round_trip;
}

static Cut some_cut(Rng *r, int cores)
{
	const int bands = 1 + (int)(rng_next(r) % (uint64_t)cores);
	return (Cut){ bands, 1 + (int)(rng_next(r) % (uint64_t)(cores / bands)) };
}

static void a_copy_takes_what_its_busiest_core_does(void **state)
{
	Fixture *t = *state;
	Plan *p = bare_plan(t, choice_net);
	CostContext x = cost_context(p->target);
	Rng r = { 7 };
	for (int i = 0; i < TRIES; i++) {
		PlanTensor from = *p->tensors[0], to;
		from.height = 1 + (int)(rng_next(&r) % 90);
		from.layout.planes = 1 + (int)(rng_next(&r) % 12);
		from.row_unit = from.plane_unit = 1;
		from.layout.type = rng_next(&r) % 2 ? DEV_BF16 : DEV_BFP8_B;
		to = from;
		from.cut = some_cut(&r, p->cores);
		to.cut = some_cut(&r, p->cores);
		plan_own(p, &from);
		plan_own(p, &to);
		const int halo = (int)(rng_next(&r) % 3);
		for (int c = 0; c < p->cores; c++)
			if (!region_empty(to.shard[c].own)) {
				to.shard[c].keep.rows.first -= halo;
				to.shard[c].keep.rows.end += halo;
			}
		assert_int_equal(cost_halo(&x, p, &from, &to), pair_by_pair(&x, p, &from, &to));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_copy_takes_what_its_busiest_core_does,
						fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
