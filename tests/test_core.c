/* Arena, string map, tensors, graph surgery: what has no text form. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/file.h"
#include "ir/graph.h"
#include "ir/rng.h"
#include "tests/check.h"
#include "tests/fixture.h"

static void a_string_map_forgets_what_is_removed(void **state)
{
	Fixture *t = *state;
	StrMap m;
	int values[500];
	strmap_init(&m, t->arena);
	for (int i = 0; i < 500; i++)
		strmap_put(&m, arena_printf(t->arena, "key%d", i), &values[i]);
	for (int i = 0; i < 500; i += 2)
		strmap_remove(&m, arena_printf(t->arena, "key%d", i));
	for (int i = 0; i < 500; i++)
		assert_ptr_equal(strmap_get(&m, arena_printf(t->arena, "key%d", i)),
				 i % 2 ? &values[i] : NULL);
}

static void every_half_survives_a_round_trip(void **state)
{
	(void)state;
	for (unsigned h = 0; h < 65536; h++) {
		if ((h & 0x7c00) != 0x7c00 || !(h & 0x3ff))
			assert_int_equal(float_to_half(half_to_float((uint16_t)h)), h);
		if (!isnan(bf16_to_float((uint16_t)h)))
			assert_int_equal(float_to_bf16(bf16_to_float((uint16_t)h)), h);
	}
}

static void halves_round_to_even(void **state)
{
	(void)state;
	assert_int_equal(float_to_half(1 + 0x1p-11f), 0x3c00);
	assert_int_equal(float_to_half(1 + 0x1.8p-10f), 0x3c02);
	assert_int_equal(float_to_half(65520), 0x7c00);
	assert_int_equal(float_to_half(0x1p-25f), 0);
	assert_int_equal(float_to_bf16(1 + 0x1p-8f), 0x3f80);
	assert_int_equal(float_to_bf16(1 + 0x1.8p-7f), 0x3f82);
}

static void no_half_is_nearer_than_the_one_taken(void **state)
{
	Rng rng = { 1 };
	(void)state;
	for (int i = 0; i < 200000; i++) {
		/* exponents from below the smallest half to above the largest */
		float f = ldexpf(rng_float(&rng) - 0.5f, (int)rng_below(&rng, 46) - 27);
		uint16_t h = float_to_half(f);
		double off = fabs((double)half_to_float(h) - (double)f);
		if ((h & 0x7fff) == 0x7c00) {
			assert_true(fabsf(f) >= 65520);
			continue;
		}
		assert_true(off <= fabs((double)half_to_float(h + 1) - (double)f));
		if (h & 0x7fff)
			assert_true(off <= fabs((double)half_to_float(h - 1) - (double)f));
	}
}

static void integers_wrap_when_stored(void **state)
{
	Fixture *t = *state;
	Tensor *x = tensor_create(t->arena, TYPE_I8, SHAPE(2));
	tensor_set_i64(x, 0, 130);
	tensor_set_f64(x, 1, -3.9);
	assert_int_equal(tensor_i64(x, 0), -126);
	assert_int_equal(tensor_i64(x, 1), -3);
}

static void doubles_are_rounded_once(void **state)
{
	Fixture *t = *state;
	Tensor *half = tensor_create(t->arena, TYPE_F16, SHAPE(2));
	Tensor *bf16 = tensor_create(t->arena, TYPE_BF16, SHAPE(2));
	tensor_set_f64(half, 0, 1 + 0x1p-11 + 0x1p-40); /* a float would be halfway */
	tensor_set_f64(half, 1, -1 - 0x1.8p-10 + 0x1p-40);
	tensor_set_f64(bf16, 0, 1 + 0x1p-8 + 0x1p-40);
	tensor_set_f64(bf16, 1, 0x1p-200);
	assert_true(tensor_f64(half, 0) == 1 + 0x1p-10);
	assert_true(tensor_f64(half, 1) == -1 - 0x1p-10);
	assert_true(tensor_f64(bf16, 0) == 1 + 0x1p-7);
	assert_true(tensor_f64(bf16, 1) == 0);
}

static void floats_become_what_the_type_can_hold(void **state)
{
	Fixture *t = *state;
	Tensor *flag = tensor_create(t->arena, TYPE_BOOL, SHAPE(1));
	Tensor *big = tensor_create(t->arena, TYPE_U64, SHAPE(1));
	tensor_set_f64(flag, 0, 0.25);
	tensor_set_f64(big, 0, 0x1.8p63);
	assert_int_equal(tensor_i64(flag, 0), 1);
	assert_true(tensor_f64(big, 0) == 0x1.8p63);
}

static void who_shares_elements_does_not_own_them(void **state)
{
	Fixture *t = *state;
	Tensor *x = tensor_create(t->arena, TYPE_F32, SHAPE(2, 3));
	Tensor *y = tensor_reshaped(t->arena, x, SHAPE(6));
	assert_ptr_equal(x->data, y->data);
	assert_false(x->owned || y->owned);
}

static void a_splat_equals_the_tensor_it_stands_for(void **state)
{
	Fixture *t = *state;
	Tensor *splat = tensor_splat(t->arena, TYPE_F32, SHAPE(2, 3), 1.5, 0);
	Tensor *full = tensor_create(t->arena, TYPE_F32, SHAPE(2, 3));
	for (int i = 0; i < 6; i++)
		tensor_set_f64(full, i, 1.5);
	assert_true(tensor_equal(splat, full));
	tensor_set_f64(full, 5, 2);
	assert_false(tensor_equal(splat, full));
}

static void a_splat_hashes_as_the_tensor_it_stands_for(void **state)
{
	Fixture *t = *state;
	for (int64_t n = 0; n < 40; n++) {
		Tensor *splat = tensor_splat(t->arena, TYPE_I16, SHAPE(n), 0, -7);
		Tensor *full = tensor_create(t->arena, TYPE_I16, SHAPE(n));
		for (int64_t i = 0; i < n; i++)
			tensor_set_i64(full, i, -7);
		assert_int_equal(tensor_hash(splat), tensor_hash(full));
	}
	uint64_t huge = tensor_hash(tensor_splat(t->arena, TYPE_F32, SHAPE(MAX_ELEMENTS), 1, 0));
	uint64_t other = tensor_hash(tensor_splat(t->arena, TYPE_F32, SHAPE(MAX_ELEMENTS), 2, 0));
	assert_int_not_equal(huge, other);
}

static void absurd_shapes_have_no_count(void **state)
{
	(void)state;
	assert_int_equal(shape_count(SHAPE(2, 3, 4)), 24);
	assert_int_equal(shape_count(SHAPE(INT64_MAX, INT64_MAX)), -1);
	assert_int_equal(shape_count(SHAPE(INT64_MAX, 0)), -1);
	assert_int_equal(shape_count(SHAPE(5, 0, 7)), 0);
	assert_int_equal(shape_count(SHAPE(-1)), -1);
}

static void names_are_made_unique(void **state)
{
	Fixture *t = *state;
	Op *a = graph_insert(t->g, NULL, OP_INPUT, "x", 0, NULL);
	Op *b = graph_insert(t->g, NULL, OP_RELU, "x", 1, &a);
	Op *c = graph_insert(t->g, NULL, OP_RELU, "x", 1, &b);
	assert_string_equal(b->name, "x.1");
	assert_string_equal(c->name, "x.2");
	op_remove(t->g, c);
	assert_null(graph_find(t->g, "x.2"));
	assert_ptr_equal(graph_find(t->g, "x.1"), b);
}

static void added_inputs_keep_the_use_lists_whole(void **state)
{
	Fixture *t = *state;
	Op *x = graph_insert(t->g, NULL, OP_INPUT, "x", 0, NULL);
	Op *cat = graph_insert(t->g, NULL, OP_CONCAT, "cat", 1, &x);
	for (int i = 0; i < 9; i++)
		op_add_input(t->g, cat, x);
	assert_int_equal(op_use_count(x), 10);
	Op *y = graph_insert(t->g, cat, OP_INPUT, "y", 0, NULL);
	op_set_input(cat, 3, y);
	op_drop_inputs(cat, 4);
	assert_int_equal(op_use_count(x), 3);
	assert_int_equal(op_use_count(y), 1);
	op_replace_uses(x, y);
	assert_int_equal(op_use_count(x), 0);
	assert_int_equal(op_use_count(y), 4);
}

static void dead_ops_take_their_inputs_along(void **state)
{
	Fixture *t = *state;
	Op *x = graph_insert(t->g, NULL, OP_INPUT, "x", 0, NULL);
	Op *a = graph_insert(t->g, NULL, OP_RELU, "a", 1, &x);
	Op *b = graph_insert(t->g, NULL, OP_RELU, "b", 1, &a);
	op_remove_dead(t->g, b);
	assert_int_equal(t->g->nops, 1);
	assert_ptr_equal(t->g->first, x);
}

static void an_absorbed_op_brings_what_it_had_absorbed(void **state)
{
	Fixture *t = *state;
	Op *x = graph_insert(t->g, NULL, OP_INPUT, "x", 0, NULL);
	Op *a = graph_insert(t->g, NULL, OP_RELU, "a", 1, &x);
	Op *b = graph_insert(t->g, NULL, OP_RELU, "b", 1, &a);
	Op *c = graph_insert(t->g, NULL, OP_RELU, "c", 1, &b);
	op_absorb(t->g, b, c);
	op_absorb(t->g, a, b);
	assert_int_equal(a->absorbed.n, 2);
	assert_string_equal(a->absorbed.v[0], "b");
	assert_string_equal(a->absorbed.v[1], "c");
}

static void a_diagnostic_points_at_its_column(void **state)
{
	(void)state;
	char *said;
	size_t n;
	Diag d = { .to = open_memstream(&said, &n) };
	const char text[] = "one\n\ttwo three\n";
	diag_add_source(&d, "f.ir", text, sizeof text - 1);
	diag_error(&d, (Loc){ .file = "f.ir", .line = 2, .col = 6 }, "no such %s", "word");
	diag_error(&d, (Loc){ .file = "m.onnx", .node = "node \"a\" (Conv)" }, "bad");
	fclose(d.to);
	assert_string_equal(said,
		"f.ir:2:6: error: no such word\n"
		"    \ttwo three\n"
		"    \t    ^\n"
		"m.onnx: node \"a\" (Conv): error: bad\n");
	assert_int_equal(d.errors, 2);
	diag_finish(&d);
	free(said);
}

static void a_slip_of_two_letters_is_one_mistake(void **state)
{
	(void)state;
	static const char *const ops[] = { "elu", "relu", "gelu", "conv", "linear" };
	assert_string_equal(diag_nearest("rleu", ops, 5), "relu");
	assert_string_equal(diag_nearest("con", ops, 5), "conv");
	assert_null(diag_nearest("transpose", ops, 5));
}

static void what_is_afforded_grows_with_what_was_read(void **state)
{
	Fixture *t = *state;
	const size_t most = (size_t)256 << 20;
	assert_true(arena_afford(t->arena, most - 1));
	assert_false(arena_afford(t->arena, 2));
	arena_note_read(t->arena, "weights.bin", most);
	assert_true(arena_afford(t->arena, 4 * most));
	assert_false(arena_afford(t->arena, SIZE_MAX));
}

static void paths_that_climb_out_are_seen(void **state)
{
	(void)state;
	assert_true(path_stays_inside("a/../b"));
	assert_true(path_stays_inside("./w.bin"));
	assert_false(path_stays_inside("a/../../b"));
	assert_false(path_stays_inside("/etc/passwd"));
	assert_false(path_stays_inside(".."));
	assert_false(path_stays_inside(""));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(a_string_map_forgets_what_is_removed),
		T(every_half_survives_a_round_trip),
		T(halves_round_to_even),
		T(no_half_is_nearer_than_the_one_taken),
		T(integers_wrap_when_stored),
		T(doubles_are_rounded_once),
		T(floats_become_what_the_type_can_hold),
		T(who_shares_elements_does_not_own_them),
		T(a_splat_equals_the_tensor_it_stands_for),
		T(a_splat_hashes_as_the_tensor_it_stands_for),
		T(absurd_shapes_have_no_count),
		T(names_are_made_unique),
		T(added_inputs_keep_the_use_lists_whole),
		T(dead_ops_take_their_inputs_along),
		T(an_absorbed_op_brings_what_it_had_absorbed),
		T(a_diagnostic_points_at_its_column),
		T(a_slip_of_two_letters_is_one_mistake),
		T(what_is_afforded_grows_with_what_was_read),
		T(paths_that_climb_out_are_seen),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
