/*
 * What is told of a finished plan: rows and figures add up to the plan.
 */
#include "ir/choice_text.h"
#include "passes/choice_legal.h"
#include "passes/plan_report.h"
#include "tests/bare.h"
#include "tests/choice_net.h"

typedef struct Made {
	Plan *bare, *plan;
	PlanTime time;
} Made;

/* A plan of few decisions: what is asked for, else one shard of everything. */
static Made made(Fixture *t, const char *text)
{
	Made m = { .bare = bare_plan(t, choice_net) };
	Choice *plain = arena_array(t->arena, Choice, m.bare->nsteps);
	const char *file = arena_printf(t->arena, "plan net\n%s", text);
	for (int i = 0; i < m.bare->nsteps; i++)
		plain[i] = choice_plain(&m.bare->steps[i]);
	ChoiceText *c = choice_parse(m.bare, &t->diag, "w.plan", file, strlen(file));
	assert_non_null(c);
	choice_complete(m.bare, c, plain);
	m.plan = plan_apply(m.bare, c->choices);
	m.time = plan_time(m.plan);
	return m;
}

static const char cuts[] = "tensor a bands=60\ntensor c bands=30\nop c reshard=0 fetchers=2\n"
			   "op m park=0\ntensor u bands=60\n";

static int row_of(const Plan *p, const char *name) { return (int)(bare_step(p, name) - p->steps); }

static void rows_add_up(void **state)
{
	const Made m = made(*state, cuts);
	const PlanRow *rows = plan_rows(m.bare, m.plan, &m.time);
	int64_t all = 0, cause[CAUSE_COUNT] = { 0 };
	for (int i = 0; i < m.bare->nsteps; i++) {
		assert_int_equal(m.plan->steps[rows[i].step].kind, m.bare->steps[i].kind);
		all += rows[i].work.total + rows[i].moves.total;
		for (int c = 0; c < CAUSE_COUNT; c++)
			cause[c] += rows[i].work.cycles[c] + rows[i].moves.cycles[c];
	}
	assert_int_equal(all, m.time.all.total);
	for (int c = 0; c < CAUSE_COUNT; c++)
		assert_int_equal(cause[c], m.time.all.cycles[c]);
	const PlanRow *c = &rows[row_of(m.bare, "c")];
	assert_true(c->nmoves >= 1);
	assert_true(c->moves.total > 0);
	assert_int_equal(rows[row_of(m.bare, "u")].nmoves, 0);
}

static void moves_are_counted(void **state)
{
	const Made m = made(*state, cuts);
	const PlanFacts f = plan_facts(m.bare, m.plan, &m.time);
	assert_int_equal(f.reshards, 1);
	assert_int_equal(f.spills, 1);
	assert_int_equal(f.refills, 1);
	assert_true(f.reshard_cycles > 0);
	/* 6 planes of 60 rows of 80 pixels, and a row above and below each of 30 bands. */
	assert_int_equal(f.reshard_bytes % (6 * 16 * 2), 0);
	assert_true(f.reshard_bytes >= 6 * 60 * 80 * 16 * 2);
	const Made none = made(*state, "");
	assert_int_equal(plan_facts(none.bare, none.plan, &none.time).reshards, 0);
}

static void traffic_is_that_of_the_counters(void **state)
{
	const Made m = made(*state, cuts);
	const PlanFacts f = plan_facts(m.bare, m.plan, &m.time);
	int64_t read = 0, written = 0;
	for (int i = 0; i < m.plan->nsteps; i++)
		for (int core = 0; core < m.plan->cores; core++) {
			Counters c;
			cost_counters(m.plan, i, core, &c);
			read += c.dram_read_bytes;
			written += c.dram_write_bytes;
		}
	assert_int_equal(f.weights_read + f.tensors_read, read);
	assert_int_equal(f.tensors_written, written);
	/* Weights that stay come once to those that share them, so here once. */
	assert_int_equal(f.weights_read, f.weight_bytes[0] + f.weight_bytes[1]);
	assert_true(f.weight_bytes[1] > 0);
}

static void what_is_in_use_is_counted(void **state)
{
	const Made m = made(*state, "op c fidelity=hifi3\n");
	const PlanFacts f = plan_facts(m.bare, m.plan, &m.time);
	assert_int_equal(f.tensors[0] + f.tensors[1], m.bare->ntensors);
	assert_int_equal(f.products[3], 1);
	assert_int_equal(f.products[1] + f.products[2] + f.products[3] + f.products[4], 6);
	assert_int_equal(f.in_dram, 0);
	const Made dram = made(*state, "tensor u place=dram bands=10\nop u slice=4\nop v slice=7\n"
				       "tensor v bands=10\n");
	assert_int_equal(plan_facts(dram.bare, dram.plan, &dram.time).in_dram, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(rows_add_up),
		TEST(moves_are_counted),
		TEST(traffic_is_that_of_the_counters),
		TEST(what_is_in_use_is_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
