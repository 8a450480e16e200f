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
	for (int d = 0; d < p->cores; d++) {
		const Region keep = tensor_kept(to, d), here = region_both(keep, to->shard[d].own);
		const int64_t gets = area(keep) - (from == to ? area(here) : 0);
		bytes = cost_most(bytes, gets * sets * row);
	}
	for (int c = 0; c < p->cores; c++) {
		int64_t sent = 0, of = 0;
		for (int d = 0; d < p->cores; d++) {
			const Region r = region_both(from->shard[c].own, tensor_kept(to, d));
			const int64_t rows = range_count(r.rows), planes = range_count(r.planes);
			if (region_empty(r) || (from == to && c == d))
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

/* A tensor like this one in some cut, of which every core keeps some rows and planes more. */
static PlanTensor some_kept(Rng *r, const Plan *p, const PlanTensor *like, int rows, int planes)
{
	PlanTensor t = *like;
	t.cut = some_cut(r, p->cores);
	plan_own(p, &t);
	for (int c = 0; c < p->cores; c++) {
		Region *keep = &t.shard[c].keep;
		if (region_empty(*keep))
			continue;
		*keep = (Region){ { keep->rows.first - rows, keep->rows.end + rows },
				  { keep->planes.first, keep->planes.end + planes } };
		if (keep->planes.end > t.layout.planes)
			keep->planes.end = t.layout.planes;
	}
	return t;
}

static PlanTensor some_tensor(Rng *r, const PlanTensor *like)
{
	PlanTensor t = *like;
	t.height = 1 + (int)(rng_next(r) % 90);
	t.layout.planes = 1 + (int)(rng_next(r) % 12);
	t.row_unit = t.plane_unit = 1;
	t.layout.type = rng_next(r) % 2 ? DEV_BF16 : DEV_BFP8_B;
	return t;
}

static void a_copy_takes_what_its_busiest_core_does(void **state)
{
	Fixture *t = *state;
	Plan *p = bare_plan(t, choice_net);
	CostContext x = cost_context(p->target);
	Rng r = { 7 };
	for (int i = 0; i < TRIES; i++) {
		const PlanTensor like = some_tensor(&r, p->tensors[0]);
		const PlanTensor from = some_kept(&r, p, &like, 0, 0);
		const PlanTensor to = some_kept(&r, p, &like, (int)(rng_next(&r) % 3), 0);
		assert_int_equal(cost_halo(&x, p, &from, &to), pair_by_pair(&x, p, &from, &to));
	}
}

/* A tensor that some step makes and pushes. */
static const PlanTensor *pushed(const Plan *p)
{
	int i = 0;
	while (!tensor_pushed(p, p->tensors[i]))
		i++;
	return p->tensors[i];
}

static void a_halo_takes_what_its_busiest_core_does(void **state)
{
	Fixture *t = *state;
	Plan *p = bare_plan(t, choice_net);
	CostContext x = cost_context(p->target);
	Rng r = { 8 };
	int some = 0;
	for (int i = 0; i < TRIES; i++) {
		const PlanTensor like = some_tensor(&r, pushed(p));
		const PlanTensor to = some_kept(&r, p, &like, (int)(rng_next(&r) % 4),
						(int)(rng_next(&r) % 3));
		for (int c = to.cut.bands * to.cut.splits; c < p->cores && i % 2; c++)
			to.shard[c].keep = (Region){ { 0, 1 + c % to.height }, { 0, 1 } };
		const int64_t takes = cost_halo(&x, p, &to, &to);
		assert_int_equal(takes, pair_by_pair(&x, p, &to, &to));
		some += takes > 0;
	}
	assert_true(some > TRIES / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_copy_takes_what_its_busiest_core_does,
						fixture_setup, fixture_teardown),
		cmocka_unit_test_setup_teardown(a_halo_takes_what_its_busiest_core_does,
						fixture_setup, fixture_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
