/* What a program is as one for TT-Metal: rows for many cores, lists in as many programs as
 * it takes, limits. */
#include <string.h>

#include "backend/metal_model.h"
#include "backend/metal_print.h"
#include "tests/check.h"
#include "tests/fixture.h"

enum { COLS = 8, CORES = 64, LISTS = METAL_ARGS - 3, PUSH = 6, MOVE = 8 };

/* A program of one op, on all cores of the grid. */
typedef struct One {
	Program *p;
	MetalModel m;
	MetalOp op;
} One;

static ProgramOp *op_of(const One *o) { return &o->p->ops[0]; }

static One one(Fixture *t, const char *params)
{
	One o = { .p = program_create(t->arena, "net", "wormhole_n150") };
	for (int c = 0; c < CORES; c++)
		program_core(o.p, c % COLS, c / COLS);
	ProgramOp *op = program_op(o.p, "layer", "conv", params);
	op->loc = (Loc){ .file = "net.ir", .line = 3, .col = 1 };
	o.m = (MetalModel){ .a = t->arena, .d = &t->diag, .p = o.p };
	o.op = (MetalOp){ .function = "layer_conv" };
	return o;
}

static void make_programs(One *o, bool clear)
{
	o->op.op = op_of(o);
	metal_programs(&o->m, &o->op, clear);
}

/* Elements of a kind that a core has in a program, the one that is number `n` of them;
 * how many there are. */
static int of_core(const MetalProgram *p, int core, MetalItemKind kind, int n, MetalItem *item)
{
	int count = 0;
	for (int i = 0; i < p->nitems; i++) {
		const MetalItem *x = &p->items[i];
		if (x->kind == kind && core >= x->cores.first && core <= x->cores.last
		    && (core - x->cores.first) % x->cores.every == 0 && count++ == n)
			*item = *x;
	}
	return count;
}

static void lists_longer_than_arguments_go_to_more_programs_in_their_order(void **state)
{
	enum { ALL = 100, EACH = LISTS / PUSH };
	One o = one(*state, NULL);
	for (int c = 0; c < CORES; c++)
		for (int i = 0; i < ALL; i++)
			program_push(o.p, op_of(&o), c, (ProgramPush){
				.core = (c + 1) % CORES, .count = 1, .bytes = 32,
				.from = 0x20000 + 64 * (uint32_t)i, .to = 0x30000 });
	make_programs(&o, false);
	assert_int_equal(o.op.nprograms, (ALL + EACH - 1) / EACH);
	int seen = 0;
	for (int i = 0; i < o.op.nprograms; i++) {
		const MetalProgram *p = &o.op.programs[i];
		MetalItem item = { 0 };
		const int n = of_core(p, 17, METAL_PUSH, 0, &item);
		assert_true(p->words <= METAL_ARGS && p->main == (i == 0));
		for (int k = 0; k < n; k++, seen++) {
			of_core(p, 17, METAL_PUSH, k, &item);
			assert_int_equal(item.push.rows.from, 0x20000 + 64 * seen);
			assert_int_equal(item.push.to + (17 - item.cores.first) * item.along, 18);
		}
	}
	assert_int_equal(seen, ALL);
}

static void what_the_routines_wait_for_comes_before_them(void **state)
{
	enum { ALL = 60, EACH = LISTS / MOVE };
	One o = one(*state, NULL);
	for (int i = 0; i < ALL; i++) {
		program_move(o.p, op_of(&o), 5, (ProgramMove){
			.when = TT_MOVE_BEFORE, .at = (uint32_t)i * 32, .bytes = 32, .count = 1 });
		program_move(o.p, op_of(&o), 5, (ProgramMove){
			.when = TT_MOVE_AFTER, .out = true, .at = (uint32_t)i * 32, .bytes = 32,
			.count = 1 });
	}
	make_programs(&o, false);
	int when = TT_MOVE_BEFORE, seen[TT_MOVE_TIMES] = { 0 };
	bool main = false;
	for (int i = 0; i < o.op.nprograms; i++) {
		const MetalProgram *p = &o.op.programs[i];
		MetalItem item = { 0 };
		const int n = of_core(p, 5, METAL_MOVE, 0, &item);
		assert_true(n <= EACH);
		for (int k = 0; k < n; k++) {
			of_core(p, 5, METAL_MOVE, k, &item);
			const int now = item.move.how & TT_MOVE_WHEN;
			assert_true(now >= when && (now != TT_MOVE_BEFORE || !main));
			assert_int_equal(item.move.at, 32 * seen[now]++);
			when = now;
		}
		main |= p->main;
	}
	assert_int_equal(seen[TT_MOVE_BEFORE], ALL);
	assert_int_equal(seen[TT_MOVE_AFTER], ALL);
}

static void turns_are_cleared_by_a_program_before(void **state)
{
	One o = one(*state, NULL);
	o.op.turns = 0x20000;
	program_zero(o.p, op_of(&o), 0,
		     (ProgramZero){ .at = 0x40000, .bytes = 32, .count = 1, .planes = 1 });
	make_programs(&o, true);
	assert_int_equal(o.op.nprograms, 2);
	assert_true(!o.op.programs[0].main && o.op.programs[1].main);
	const MetalItem *clear = &o.op.programs[0].items[0];
	assert_int_equal(o.op.programs[0].nitems, 1);
	assert_int_equal(clear->cores.first, 0);
	assert_int_equal(clear->cores.last, CORES - 1);
	assert_int_equal(clear->zero.at, 0x20000);
	assert_int_equal(clear->zero.bytes, METAL_TURNS_BYTES);
}

static void add_buffer(One *o, uint64_t at, uint64_t end, int first, int last)
{
	ProgramBuffer *b = program_buffer(o->p, "b");
	*b = (ProgramBuffer){ .name = "b", .place = PLACE_L1, .core = -1, .address = at,
			      .bytes = end - at, .first = first, .last = last };
}

static void words_of_an_edge_lie_where_no_buffer_ever_does_or_are_cleared(void **state)
{
	One o = one(*state, "edge");
	uint32_t at;
	bool clear;
	program_op(o.p, "next", "conv", NULL);
	o.m.l1 = 0x20000;
	o.op.index = 0;
	add_buffer(&o, 0x20000, 0x30000, 0, 0);
	add_buffer(&o, 0x30040, TT_L1_END, 0, 1);
	assert_true(metal_turns(&o.m, &o.op, &at, &clear));
	assert_int_equal(at, 0x30020);
	assert_false(clear);
	add_buffer(&o, 0x30000, 0x30040, 1, 1);
	assert_true(metal_turns(&o.m, &o.op, &at, &clear));
	assert_int_equal(at, 0x30020);
	assert_true(clear);
	add_buffer(&o, 0x30000, 0x30030, 0, 0);
	assert_false(metal_turns(&o.m, &o.op, &at, &clear));
}

static void rows_that_neighbours_have_alike_are_one(void **state)
{
	Fixture *t = *state;
	MetalItem list[CORES], *rows;
	const MetalItem *lists[CORES];
	int n[CORES];
	for (int c = 0; c < CORES; c++) {
		list[c] = (MetalItem){ .kind = METAL_PUSH, .push = { .to = c + 1 } };
		list[c].push.rows.bytes = c < 60 ? 640 : 320;
		lists[c] = &list[c];
		n[c] = c != 30;
	}
	assert_int_equal(metal_rows(t->arena, lists, n, CORES, &rows), 3);
	static const int first[] = { 0, 31, 60 }, last[] = { 29, 59, 63 };
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rows[i].cores.first, first[i]);
		assert_int_equal(rows[i].cores.last, last[i]);
		assert_int_equal(rows[i].push.to, first[i] + 1);
		assert_int_equal(rows[i].along, 1);
	}
}

static void rows_that_many_cores_get_are_one(void **state)
{
	Fixture *t = *state;
	MetalItem list[6], *rows;
	const MetalItem *lists[] = { list };
	for (int i = 0; i < 6; i++)
		list[i] = (MetalItem){ .kind = METAL_PUSH,
				       .push = { .to = i < 4 ? i + 1 : i + 2 } };
	assert_int_equal(metal_rows(t->arena, lists, (int[]){ 6 }, 1, &rows), 2);
	assert_int_equal(rows[0].push.to, 1);
	assert_int_equal(rows[0].push.also, 3);
	assert_int_equal(rows[1].push.to, 6);
	assert_int_equal(rows[1].push.also, 1);
}

/* The rows of a word give each core the value it has. */
static void values_in_rows_are_those_of_the_cores(void **state)
{
	One o = one(*state, "tiles");
	for (int c = 0; c < CORES; c++) {
		program_set_core(o.p, op_of(&o), c, "rows", 0, c < 60 ? 8 : 0);
		program_set_core(o.p, op_of(&o), c, "out_first", 0, 4 * (uint32_t)(c % COLS));
		program_set_core(o.p, op_of(&o), c, "in_y", 0, (uint32_t)(c * c % 7));
		program_set_core(o.p, op_of(&o), c, "mcast_first", 0, TT_NODE(18 + c % COLS, 18));
	}
	o.op.op = op_of(&o);
	metal_values(&o.m, &o.op);
	const int rows = params_field(params_at(op_of(&o)->params), "rows")->word;
	int of_rows = 0;
	for (int word = 0; word < params_at(op_of(&o)->params)->words; word++)
		for (int c = 0; c < CORES; c++) {
			uint32_t value = metal_word(&o.op, 0, word);
			int said = 0;
			for (int i = 0; i < o.op.nvalues; i++) {
				const MetalValue *v = &o.op.values[i];
				const int at = c - v->cores.first;
				if (v->word != word || at < 0 || c > v->cores.last
				    || at % v->cores.every)
					continue;
				value = v->value + (uint32_t)(at / v->cores.every) * v->step;
				of_rows += word == rows && at == 0;
				said++;
			}
			assert_int_equal(value, program_word(op_of(&o), c, word));
			assert_true(said <= 1);
		}
	assert_int_equal(of_rows, 1);
}

static void add_image(One *o, const char *name, uint64_t at, uint32_t page, uint64_t bytes)
{
	ProgramImage *image = program_image(o->p, name, NULL, bytes);
	image->address = at;
	image->page_bytes = page;
}

static void images_of_a_constant_are_one_and_its_cores_read_along(void **state)
{
	enum { PAGE = 512, EACH = 2 * PAGE };
	One o = one(*state, NULL);
	for (int c = 0; c < 4; c++) {
		add_image(&o, "k.core", 0x1000 + (uint64_t)c * EACH, PAGE, 13 * PAGE);
		program_move(o.p, op_of(&o), c, (ProgramMove){
			.at = 0x1000 + (uint32_t)c * EACH, .page_bytes = PAGE, .l1 = 0x20000,
			.bytes = PAGE, .count = 13, .step = PAGE });
	}
	ProgramOp *conv = program_op(o.p, "layer", "conv", "tiles");
	add_image(&o, "weights", 0x1000 + 4 * EACH, METAL_PAGE, METAL_ROW + 1);
	program_set(conv, "groups", 0, 1);
	program_set(conv, "dram_at", 0, 0x1000 + 4 * EACH);
	metal_weights(&o.m);
	assert_int_equal(o.m.nweights, 2);
	assert_int_equal(o.m.weights[0].images, 4);
	assert_int_equal(o.m.weights[1].at, METAL_ROW);
	assert_string_equal(o.m.weights[1].name, "layer+2");
	assert_int_equal(metal_weights_bytes(&o.m.weights[1]), 2 * METAL_ROW);
	make_programs(&o, false);
	assert_int_equal(o.op.programs[0].nitems, 1);
	const MetalItem *read = &o.op.programs[0].items[0];
	assert_ptr_equal(read->from, &o.m.weights[0]);
	assert_int_equal(read->along, EACH);
	assert_int_equal(read->cores.last, 3);
}

static void tensors_of_outputs_have_names_of_their_own(void **state)
{
	One o = one(*state, NULL);
	static const char *const names[] = { "y", "y.1+", "y.1" };
	ProgramPart parts[3][3] = { 0 };
	ProgramEdge edges[3] = { 0 };
	for (int i = 0; i < 3; i++) {
		edges[i] = (ProgramEdge){ .name = names[i], .nparts = 3, .parts = parts[i] };
		for (int k = 0; k < 3; k++)
			parts[i][k].tensor.base = 64 * (uint64_t)(3 * i + k);
	}
	parts[2][2].tensor.base = parts[0][2].tensor.base; /* one tensor, two edges */
	o.p->outputs = edges;
	o.p->noutputs = 3;
	static const char *const want[] = { "y",      "y.1++", "y.2",   "y.1+", "y.1+.1",
					    "y.1+.2", "y.1",   "y.1.1", "y.2" };
	for (int i = 0; i < 9; i++)
		assert_string_equal(metal_tensor_name(&o.m, edges, i / 3, i % 3), want[i]);
}

static const char *said_of(Fixture *t, One *o)
{
	o->op.op = op_of(o);
	o->m.ops = &o->op;
	o->m.nops = 1;
	metal_read_objects(&o->m);
	assert_false(metal_check(&o->m));
	return fixture_said(t);
}

static void more_semaphores_than_there_are_name_the_op(void **state)
{
	One o = one(*state, NULL);
	o.op.nsemaphores = 17;
	assert_string_equal(said_of(*state, &o),
			    "net.ir:3:1: error: op 'layer' needs 17 semaphores, TT-Metal has 16\n");
}

static void circular_buffers_that_are_taken_or_not_aligned_name_the_op(void **state)
{
	One o = one(*state, NULL);
	*program_cb(o.p, op_of(&o), 2) =
		(ProgramCb){ .id = 2, .address = 0x20008, .page_bytes = 64, .pages = 1 };
	*program_cb(o.p, op_of(&o), 30) =
		(ProgramCb){ .id = 30, .address = 0x20000, .page_bytes = 64, .pages = 1 };
	assert_string_equal(said_of(*state, &o),
			    "net.ir:3:1: error: op 'layer': circular buffer 2 at 0x20008, pages of 64 "
			    "bytes: TT-Metal wants multiples of 16, and 30 and 31 are taken\n"
			    "net.ir:3:1: error: op 'layer': circular buffer 30 at 0x20000, pages of 64 "
			    "bytes: TT-Metal wants multiples of 16, and 30 and 31 are taken\n");
}

static void kernels_that_are_too_large_name_the_op(void **state)
{
	One o = one(*state, "tiles");
	MetalPlace places[40] = { 0 };
	MetalKernel kernel = {
		.code = { .kind = METAL_WRITER, .act = VARIANT_NONE, .lists = true }
	};
	MetalProgram program = { .main = true, .nplaces = 40, .places = places, .words = 342 };
	for (int r = 0; r < TT_RISCS; r++)
		kernel.code.variant[r] = VARIANT_NONE;
	o.m.kernels = &kernel;
	o.op.programs = &program;
	o.op.nprograms = 1;
	const char *said = said_of(*state, &o);
	assert_non_null(strstr(said, "op 'layer' needs 342 words of arguments, TT-Metal has 341\n"));
	assert_non_null(strstr(said, " bytes of kernels and their arguments, TT-Metal has 70656\n"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lists_longer_than_arguments_go_to_more_programs_in_their_order),
		TEST(what_the_routines_wait_for_comes_before_them),
		TEST(turns_are_cleared_by_a_program_before),
		TEST(words_of_an_edge_lie_where_no_buffer_ever_does_or_are_cleared),
		TEST(rows_that_neighbours_have_alike_are_one),
		TEST(rows_that_many_cores_get_are_one),
		TEST(values_in_rows_are_those_of_the_cores),
		TEST(images_of_a_constant_are_one_and_its_cores_read_along),
		TEST(tensors_of_outputs_have_names_of_their_own),
		TEST(more_semaphores_than_there_are_name_the_op),
		TEST(circular_buffers_that_are_taken_or_not_aligned_name_the_op),
		TEST(kernels_that_are_too_large_name_the_op),
	};
	return cmocka_run_group_tests_name("metal", tests, NULL, NULL);
}
