/* What cores know of each other by what they have waited for. */
#include "backend/program_order.h"
#include "tests/check.h"
#include "tests/fixture.h"

enum { CORES = 3, OPS = 4 };

static Program *ops_of(Fixture *t)
{
	Program *p = program_create(t->arena, "order", "wormhole_n150");
	for (int c = 0; c < CORES; c++)
		program_core(p, c, 0);
	for (int o = 0; o < OPS; o++)
		program_op(p, "op", "conv", "tiles");
	return p;
}

/* Core `from` is through with `op` when core `to` begins `at`: with `count` runs of rows, or
 * none. */
static void tell(Program *p, int from, int to, int op, int at, uint32_t count)
{
	program_push(p, &p->ops[op], from, (ProgramPush){ .core = to, .count = count });
	if (at < OPS)
		program_arrival(p, &p->ops[at], to, (ProgramArrival){ .core = from, .op = op });
}

static void share(Program *p, int op, int first, int last)
{
	ProgramOp *o = &p->ops[op];
	for (int c = first; c <= last; c++) {
		const int v = program_variant(p, c == first ? "weights_fetch" : "weights_receive", NULL, 0);
		program_run_on(o, c, TT_NCRISC, v);
		program_set_core(p, o, c, "mcast_first", 0, TT_NODE(TT_VIRTUAL + first, TT_VIRTUAL));
		program_set_core(p, o, c, "mcast_last", 0, TT_NODE(TT_VIRTUAL + last, TT_VIRTUAL));
	}
}

/* Of one core that writes in an op, and one that has read in another. */
static ProgramOrder order_of(Fixture *t, const Program *p, int writer, int at, int reader, int op)
{
	ProgramUse uses[2] = { program_use(t->arena, p), program_use(t->arena, p) };
	program_use_add(&uses[0], reader, op, false);
	program_use_add(&uses[1], writer, at, true);
	return program_order(t->arena, p, uses, 2);
}

/* Does the writer know that the reader is through? */
static bool knows(Fixture *t, const Program *p, int writer, int at, int reader, int op)
{
	return order_of(t, p, writer, at, reader, op).same[1];
}

static bool knows_of_last_run(Fixture *t, const Program *p, int writer, int at, int reader, int op)
{
	return order_of(t, p, writer, at, reader, op).next[1];
}

static void a_core_knows_of_itself_alone(void **state)
{
	Fixture *t = *state;
	const Program *p = ops_of(t);
	assert_true(knows(t, p, 1, 2, 1, 1));
	assert_false(knows(t, p, 1, 2, 1, 2));
	assert_false(knows(t, p, 1, 3, 0, 0));
	assert_true(knows_of_last_run(t, p, 1, 0, 1, 3));
	assert_false(knows_of_last_run(t, p, 1, 3, 0, 0));
}

static void an_arrival_tells_of_all_up_to_that_op(void **state)
{
	Fixture *t = *state;
	Program *p = ops_of(t);
	tell(p, 0, 1, 1, 2, 0);
	assert_true(knows(t, p, 1, 2, 0, 1));
	assert_false(knows(t, p, 1, 1, 0, 1));
	assert_false(knows(t, p, 1, 3, 0, 2));
	assert_false(knows(t, p, 2, 3, 0, 1));
	assert_true(knows_of_last_run(t, p, 1, 0, 0, 1));
	assert_false(knows_of_last_run(t, p, 1, 1, 0, 2));
	assert_true(knows_of_last_run(t, p, 1, 2, 0, 3)); /* it is at op 1 of this run */
}

static void what_is_known_is_passed_on(void **state)
{
	Fixture *t = *state;
	Program *p = ops_of(t);
	tell(p, 0, 1, 0, 1, 0);
	tell(p, 1, 2, 1, 2, 0);
	assert_true(knows(t, p, 2, 2, 0, 0));
	assert_false(knows(t, p, 2, 2, 0, 1));
	Program *late = ops_of(t);
	tell(late, 0, 1, 0, 2, 0);
	tell(late, 1, 2, 1, 2, 0);
	assert_false(knows(t, late, 2, 2, 0, 0));
}

/* Who pushes rows waits for whom they go to; who only tells does not. */
static void rows_are_pushed_to_who_has_come_to_the_op(void **state)
{
	Fixture *t = *state;
	Program *p = ops_of(t);
	tell(p, 0, 1, 1, 2, 1);
	assert_true(knows(t, p, 0, 2, 1, 0));
	assert_false(knows(t, p, 0, 1, 1, 0));
	assert_false(knows(t, p, 0, 2, 1, 1));
	Program *told = ops_of(t);
	tell(told, 0, 1, 1, 2, 0);
	assert_false(knows(t, told, 0, 2, 1, 0));
}

/* Those of a rectangle have asked for weights; early ones while the op before ran. */
static void who_has_shared_weights_has_come_to_the_op(void **state)
{
	Fixture *t = *state;
	for (int early = 0; early < 2; early++) {
		Program *p = ops_of(t);
		share(p, 2, 0, 1);
		p->ops[2].early = early;
		assert_int_equal(knows(t, p, 1, 3, 0, 1), !early);
		assert_int_equal(knows(t, p, 0, 3, 1, 1), !early);
		assert_true(knows(t, p, 1, 3, 0, 0));
		assert_false(knows(t, p, 1, 2, 0, 0));
		assert_false(knows(t, p, 2, 3, 0, 0));
		assert_false(knows(t, p, 1, 3, 2, 0));
	}
}

static void rectangles_know_nothing_of_each_other(void **state)
{
	Fixture *t = *state;
	Program *p = ops_of(t);
	share(p, 1, 0, 1);
	share(p, 1, 2, 2);
	assert_true(knows(t, p, 0, 2, 1, 0));
	assert_false(knows(t, p, 0, 2, 2, 0));
}

#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_core_knows_of_itself_alone),
		T(an_arrival_tells_of_all_up_to_that_op),
		T(what_is_known_is_passed_on),
		T(rows_are_pushed_to_who_has_come_to_the_op),
		T(who_has_shared_weights_has_come_to_the_op),
		T(rectangles_know_nothing_of_each_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
