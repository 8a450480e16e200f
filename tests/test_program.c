/* Programs: their text, and what the verifier refuses. */
#include <math.h>
#include <stdlib.h>

#include "backend/routines.h"
#include "ir/op.h"
#include "tests/program_fixture.h"

static const char *printed(Fixture *t, const Program *p)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	program_print(p, f);
	fclose(f);
	const char *kept = arena_strdup(t->arena, text);
	free(text);
	return kept;
}

static void a_program_prints_as_it_was_read(void **state)
{
	Fixture *t = *state;
	Program *p = program_read(t, small_program);
	assert_non_null(p);
	assert_string_equal(printed(t, p), small_program);
}

static void what_is_rare_prints_as_it_was_read_too(void **state)
{
	static const char text[] =
		"program \"a \\\"b\\\" \\\\ \\x01\" target \"my-chip\" dram_free 0x0\n"
		"plan \"line 1\\nline 2\"\n"
		"cores (3,4)\n"
		"variant odd = copy {}\n"
		"variant same = copy {}\n"
		"variant act_a = act_sigmoid {}\n"
		"buffer \"one\" l1 at 0x20000 bytes 0x10 life 0..0 core 0\n"
		"buffer \"d\" dram bank 3 at 0x20 bytes 0x20 life 0..0\n"
		"image \"i\" bank 2 at 0x40 bytes 2 hash 0x82f2407b4e8902a data \"0102\"\n"
		"output \"o\" f32[] axis 0\n"
		"\tpart [] of f32 [1,1,1,1] base 0x0 page 32 slot 0x20 view -4 [2,3] [-1,0]\n"
		"\nop 0 \"c\" kind \"copy\" params copy\n"
		"\tbrisc odd\n"
		"\tall {}\n"
		"\tcore 0 {bytes = 0x10}\n"
		"\t\tbrisc same\n"
		"\t\tncrisc none\n"
		"\nop 1 \"nothing\" kind \"none\"\n"
		"\tact act_a\n";
	Fixture *t = *state;
	Program *p = program_read(t, text);
	if (!p)
		fail_msg("%s", fixture_said(t));
	assert_string_equal(printed(t, p), text);
	assert_string_equal(p->plan, "line 1\nline 2");
	assert_int_equal(p->outputs[0].parts[0].tensor.stored, TT_HOST_F32);
	assert_int_equal(p->images[0].data[1], 2);
	assert_int_equal(program_runs(&p->ops[0], 0, TT_BRISC), 1);
	assert_int_equal(program_runs(&p->ops[0], 0, TT_NCRISC), VARIANT_NONE);
}

static void built_and_read_programs_are_the_same(void **state)
{
	Fixture *t = *state;
	Program *p = program_create(t->arena, "b", "wormhole_n150");
	program_core(p, 0, 0);
	program_core(p, 1, 0);
	ProgramOp *op = program_op(p, "c", "copy", "copy");
	op->variant[TT_BRISC] = program_variant(p, "copy", NULL, 0);
	assert_int_equal(program_variant(p, "copy", NULL, 0), 0);
	program_set(op, "bytes", 0, 32);
	program_set_core(p, op, 1, "count", 0, 2);
	program_set_core(p, op, 1, "bytes", 0, 16);
	program_set_core(p, op, 1, "count", 0, 3);
	program_run_on(op, 0, TT_BRISC, VARIANT_NONE);
	const char *text = "program \"b\" target wormhole_n150 dram_free 0x0\n"
		"cores (0,0) (1,0)\n"
		"variant copy = copy {}\n"
		"\nop 0 \"c\" kind \"copy\" params copy\n"
		"\tbrisc copy\n"
		"\tall {bytes = 0x20}\n"
		"\tcore 0\n"
		"\t\tbrisc none\n"
		"\tcore 1 {bytes = 0x10, count = 3}\n";
	assert_string_equal(printed(t, p), text);
	assert_int_equal(program_word(op, 0, 2), 32);
	assert_int_equal(program_word(op, 1, 2), 16);
}

/* An edit of the program, and what is said of it. */
typedef struct Case {
	const char *from, *to, *said;
} Case;

static void text_that_is_wrong_is_refused_where_it_is_wrong(void **state)
{
	static const Case cases[] = {
		{ "program", "progam", "p:1:1: error: 'progam' stands where 'program' should" },
		{ "variant in_a", "varient in_a", "p:3:1: error: there is no line 'varient'" },
		{ "variant in_a", "varient in_a", "did you mean 'variant'?" },
		{ "= edge_in {", "= edge_on {", "p:3:16: error: there is no routine 'edge_on'" },
		{ "= edge_in {", "= edge_inn {", "did you mean 'edge_in'?" },
		{ "parts = 1}", "part = 1}", "p:3:35: error: 'part' is given twice" },
		{ ", parts = 1}", "}", "p:3:33: error: 'parts' of edge_in is missing" },
		{ "parts = 1}", "prats = 1}", "there is no argument of edge_in 'prats'" },
		{ "variant math_a", "variant in_a", "there is a variant 'in_a' already" },
		{ "0x4000", "0x40000000000000000", "p:1:48: error: the number is too large" },
		{ "life 0..1", "life 0,1", "p:12:45: error: ',' stands where '..' should" },
		{ "\"x\" l1", "\"x l1", "stands where" },
		{ "f32[1,16", "f23[1,16", "there is no type 'f23'" },
		{ "part [1,16,4,32] of [1,16,4,32]", "part [1] of [1]", "has 4 dims" },
		{ "slot 0x200", "slot 0x200 view 0 [2] [1,2]", "as many strides as dims" },
		{ "op 1 ", "cores (2,0) op 1 ", "p:33:7: error: cores come before the first op" },
		{ "op 1 ", "op 7 ", "p:33:4: error: this is op 1, not 7" },
		{ "params edge", "params egde", "there is no structure 'egde'" },
		{ "brisc in_a", "brisc in_b", "there is no variant 'in_b'" },
		{ "pitch = 48,", "pich = 48,", "there is no field of edge 'pich'" },
		{ "in = [0x20000]", "in = [1,2,3,4,5,6,7,8,9]", "'in' has 8 elements" },
		{ "in_y[0]", "in_y[8]", "8 is not in 0..7" },
		{ "core 1 {row = 2, y", "core 2 {row = 2, y", "p:31:7: error: core 2 is not one of 2" },
		{ "hash 0x0", "hash 0x0 data \"00\"", "two hex digits for each of 2176 bytes" },
		{ "cores (0,0)", "cores (0;0)", "p:2:9: error: character 0x3b has no place here" },
		{ "rows = 2,", "rows = -2,", "-2 is not in 0..4294967295" },
		{ "\"credit\"", "\"\\q\"", "an escape is" },
	};
	Fixture *t = *state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const size_t before = strlen(fixture_said(t));
		t->diag.errors = 0;
		assert_null(program_read(t, program_edited(t, cases[i].from, cases[i].to)));
		if (!strstr(fixture_said(t) + before, cases[i].said))
			fail_msg("'%s' is not in:\n%s", cases[i].said, fixture_said(t) + before);
		diag_finish(&t->diag);
	}
}

static void the_small_program_is_sound(void **state)
{
	Fixture *t = *state;
	if (!program_verify(program_small(t), program_target(t), &t->diag))
		fail_msg("%s", fixture_said(t));
}

/* Every program with such an edit is refused. */
static void refuse_each(Fixture *t, const char *text, const Case *cases, size_t n)
{
	const Target *target = program_target(t);
	for (size_t i = 0; i < n; i++) {
		const size_t before = strlen(fixture_said(t));
		Program *p = program_read(t, text_edited(t, text, cases[i].from, cases[i].to));
		if (!p)
			fail_msg("%s", fixture_said(t) + before);
		t->diag.errors = 0;
		assert_false(program_verify(p, target, &t->diag));
		if (!strstr(fixture_said(t) + before, cases[i].said))
			fail_msg("'%s' is not in:\n%s", cases[i].said, fixture_said(t) + before);
		diag_finish(&t->diag);
	}
}

static void a_host_edge_without_all_its_parts_is_refused(void **state)
{
	static const Case cases[] = {
		{ "\tncrisc read_a\n", "", "0 RISC-Vs move rows, 1 of 1 parts are there" },
		{ "\tbrisc in_a\n", "", "1 RISC-Vs move rows, 0 of 1 parts are there" },
		{ "\tbrisc in_a\n", "\tbrisc in_a\n\ttrisc0 in_a\n", "2 of 1 parts are there" },
		{ "edge_read {parts = 1}", "edge_read {parts = 2}", "op 'x', core 0: 1 RISC-Vs move rows" },
		{ "{part = 0, parts = 1}", "{part = 1, parts = 1}", "op 'x', core 0: 1 RISC-Vs move rows" },
		{ "\tbrisc write_a\n", "\tbrisc read_a\n", "op 'y', core 0: 1 RISC-Vs move rows" },
		{ "scratch = 0x30000", "scratch = 0x30020", "64 rows of 64 bytes at 0x30020 are not" },
		{ "scratch = 0x30000", "scratch = 0x2fff0", "at 0x2fff0 are not on 32 bytes in a buffer" },
		{ "turns = 0x17700", "turns = 0x17720", "turns at 0x17720, which are at 0x17700" },
	};
	refuse_each(*state, small_program, cases, sizeof cases / sizeof *cases);
}

static void an_edge_of_another_format_than_the_hosts_is_refused(void **state)
{
	static const Case cases[] = {
		{ "fp32 = 0", "fp32 = 1", "op 'y', core 0: rows of fp32 for a tensor of bf16" },
		{ "edge_out {type = 1", "edge_out {type = 4", "rows of fp32 for a tensor of bf16" },
		{ "of [1,16,4,32] base 0x2400 page 64 slot 0x200",
		  "of f32 [1,16,4,32] base 0x2400 page 128 slot 0x400", "rows of bf16 for a tensor of f32" },
		{ "of [1,16,4,32] base 0x2400", "of f32 [1,16,4,32] base 0x2400",
		  "'y': a page of 64 bytes for a row of 32 elements" },
		{ "of [1,16,4,32] base 0x2000", "of f32 [1,16,4,32] base 0x2000",
		  "'x': devices have f32 of outputs of f32 alone" },
	};
	refuse_each(*state, small_program, cases, sizeof cases / sizeof *cases);
}

static void what_would_not_run_is_refused(void **state)
{
	static const Case cases[] = {
		{ "target wormhole_n150", "target wormhole_n300", "is for wormhole_n300, not for" },
		{ "(1,0)", "(8,0)", "core (8,0) is outside of the grid, 8x8" },
		{ "(1,0)", "(0,0)", "core (0,0) takes part twice" },
		{ "phases = 4", "phases = 5", "variant 'math_a': phases of conv_math may not be 5" },
		{ "\"arrived\" id 1", "\"arrived\" id 16", "semaphore 'arrived': 16 is not in 0..15" },
		{ "\"arrived\" id 1", "\"arrived\" id 0", "semaphores 'credit' and 'arrived' are both 0" },
		{ "\"x\" l1 at 0x20000", "\"x\" l1 at 0x20008", "'x' at 0x20008 is not on 16 bytes" },
		{ "\"y\" l1 at 0x24000", "\"y\" l1 at 0x21ff0", "'x' and 'y' share byte 0x21ff0 during op 1" },
		{ "\"rows\" l1 at 0x30000", "\"rows\" l1 at 0x19cb0", "is not within 0x19cc0 to 0x16e000" },
		{ "life 1..2", "life 1..3", "'y' lives from op 1 to op 3 of 3" },
		{ "base 0x2000 page", "base 0x2010 page", "'x' at 0x2010 is not on 32 bytes" },
		{ "base 0x2400 page", "base 0x2200 page", "'x' and 'y' share byte 0x2200" },
		{ "at 0x0 bytes 2176", "at 0x3000 bytes 2176", "DRAM is said to be free from 0x4000 on" },
		{ "slot 0x200", "slot 0x100", "a slot of 0x100 bytes for 0x180" },
		{ "page 64", "page 32", "a page of 32 bytes for a row of 32 elements" },
		{ "f32[1,16,4,32] axis", "f32[1,16,5,32] axis", "does not fit along axis 0" },
		{ "slot 0x200", "slot 0x200 view 1 [2048] [1]", "reaches outside of the tensor's 2048" },
		{ "slot 0x200", "slot 0x200 view 0 [7] [1]", "a part of 2048 elements looks at 7" },
		{ "f32[1,16,4,32] axis", "i64[1,16,4,32] axis", "programs take f32, bf16, f16 and u8" },
		{ "\"y\" f32", "\"y\" u8", "'y' is u8; programs give f32, bf16 and f16" },
		{ "ncrisc read_a", "trisc0 read_a", "op 'x', core 0: edge_read cannot run on trisc0" },
		{ "\tncrisc read_a", "\tncrisc fetch", "wants parameters tiles, the op has edge" },
		{ "cols = 32", "cols = 5000", "cols[0] is 5000, not in 1..4080 (columns of positions)" },
		{ "cb 0 at 0x28000", "cb 32 at 0x28000", "circular buffer 32 is not in 0..31" },
		{ "cb 0 at 0x28000", "cb 0 at 0x28008", "are not on 16 bytes" },
		{ "cb 0 at 0x28000", "cb 0 at 0x28100", "0x28100 to 0x28980, is in no buffer" },
		{ "cb 0 at 0x28000 page 2176 pages 1", "", "uses circular buffer 0, which is not there" },
		{ "\tcb 0", "\tcb 1 at 0x28000 page 64 pages 1\n\tcb 0", "0 and 1 share bytes" },
		{ "\tcb 0", "\tcb 0 at 0x28000 page 64 pages 1\n\tcb 0", "buffer 0 is there twice" },
		{ "\t\tncrisc fetch", "\t\tncrisc none", "0 pages are pushed to circular buffer 0 and 1 popped" },
		{ "\ttrisc0 unpack_a\n", "", "1 pages are pushed to circular buffer 0 and 0 popped" },
		{ "receivers = 1", "receivers = 2", "1 cores send weights and 1 receive them" },
		{ "mcast_last = 18736", "mcast_last = 18752", "go to a rectangle of 3 cores, 1 sends" },
		{ "\t\tncrisc fetch", "\t\tncrisc receive", "0 cores send weights and 2 receive them" },
		{ "arrived_semaphore = 1", "arrived_semaphore = 2", "arrived_semaphore 2 is not a semaphore" },
		{ "\t\tarrival core 0 op 0\n", "", "op 'x', core 0: pushes rows to core 1, which never" },
		{ "arrival core 0 op 0", "arrival core 1 op 0", "rows of op 0 from core 1, which pushes none" },
		{ "arrival core 0 op 0", "arrival core 0 op 1", "waits for rows of op 1, which is not over" },
		{ "push core 1", "push core 2", "rows cannot be pushed to core 2" },
		{ "bytes 1536 count 1", "bytes 1536 count 1024", "a push has 1024 runs, 1023 are the most" },
		{ "push core 1 from 0x20600 to 0x20000", "push core 0 from 0x20600 to 0x20200", "overlaps" },
		{ "from 0x20600 to 0x20000 bytes 1536 count 1", "from 0 to 0 bytes 0 count 1", "in no buffer" },
		{ "push core 1 from 0x20600 to 0x20000 bytes 1536 count 1",
		  "push core 0 from 0 to 0 bytes 0 count 0", "a core does not tell itself" },
		{ "to 0x20000 bytes 1536", "to 0x21f00 bytes 1536", "of core 1 leads outside of its buffers" },
		{ "from 0x20600", "from 0x23000", "what is pushed from 0x23000 is in no buffer" },
		{ "to 0x20000 bytes 1536", "to 0x20008 bytes 1536", "is not on 16" },
		{ "zero at 0x20400 bytes 512", "zero at 0x20408 bytes 512", "at 0x20408 are not on 16 bytes" },
		{ "zero at 0x20400 bytes 512", "zero at 0x21e00 bytes 512", "zeros at 0x21e00 reach outside" },
	};
	refuse_each(*state, small_program, cases, sizeof cases / sizeof *cases);
}

/* A row of core 0 goes to DRAM, and to both cores from there. */
static const char *with_moves(Fixture *t)
{
	const char *text = program_edited(t, "buffer \"rows\"",
					  "buffer \"d\" dram at 0x3000 bytes 0x800 life 0..2\nbuffer \"rows\"");
	text = text_edited(t, text, "\tcore 1 {row = 2, y = 1}\n",
			   "\t\tmove out after bank 11 at 0x3000 page 512 slot 1024 l1 0x20400 bytes 512 "
			   "count 2 step 512\n\tcore 1 {row = 2, y = 1}\n");
	text = text_edited(t, text, "\t\tncrisc fetch\n",
			   "\t\tncrisc fetch\n\t\tmove in before bank 0 at 0x3200 page 512 slot 1024 "
			   "l1 0x20400 bytes 512 count 1 step 0\n");
	return text_edited(t, text, "\t\tarrival core 0 op 0\n",
			   "\t\tarrival core 0 op 0\n\t\tmove in alongside bank 11 at 0x3000 page 512 "
			   "slot 1024 l1 0x20000 bytes 512 count 1 step 0\n");
}

static void a_program_with_moves_is_sound(void **state)
{
	Fixture *t = *state;
	Program *p = program_read(t, with_moves(t));
	if (!p || !program_verify(p, program_target(t), &t->diag))
		fail_msg("%s", fixture_said(t));
	assert_string_equal(printed(t, p), with_moves(t));
}

static void moves_that_would_not_run_are_refused(void **state)
{
	static const Case cases[] = {
		{ "out after bank 11", "out before bank 11", "a move out cannot be before the op" },
		{ "in before bank 0", "in after bank 0", "a move in cannot be after the op" },
		{ "out after bank 11", "out after bank 12", "a move starts in bank 12 of 12" },
		{ "0x20400 bytes 512 count 2 step 512", "0x20400 bytes 520 count 2 step 512",
		  "a move of 520 bytes, l1 0x20400 in steps of 512" },
		{ "l1 0x20000 bytes 512", "l1 0x20010 bytes 512",
		  "a move at 0x3000 of DRAM and l1 0x20010 in steps of 0: not equal modulo 32" },
		{ "0x20400 bytes 512 count 2 step 512", "0x20400 bytes 544 count 2 step 512",
		  "a move of 2 times 544 bytes in pages of 512" },
		{ "bytes 512 count 2 step 512", "bytes 512 count 0 step 512", "a move of 0 times 512 bytes" },
		{ "l1 0x20000 bytes 512", "l1 0x21f00 bytes 512", "l1 0x21f00 reaches outside of a buffer" },
		{ "bytes 512 count 2 step 512", "bytes 512 count 15 step 0",
		  "0x3000 to 0x3a00 is in no buffer that all banks" },
		{ "slot 1024", "slot 0", "'d' is written where 'd' was in the run before" },
		{ "life 0..2\nbuffer \"rows\"", "life 0..0\nbuffer \"rows\"", "is in no buffer that all banks" },
		{ "bank 0 at 0x3200", "bank 0 at 0x3000", "reads bank 0 at 0x3000, which nobody has written" },
		{ "core 0 op 0\n\t\tmove", "core 0 op 0\n\t\tmove out alongside bank 0 at 0x3200 page 512 slot 1024 "
		  "l1 0x20400 bytes 512 count 1 step 0\n\t\tmove", "writes bank 0 at 0x3200, as core 0 does in op 0" },
	};
	Fixture *t = *state;
	refuse_each(t, with_moves(t), cases, sizeof cases / sizeof *cases);
	/* Without the push nobody has told core 1. */
	const char *text = text_edited(t, with_moves(t), "\t\tarrival core 0 op 0\n", "");
	const Case untold = { "\t\tpush core 1 from 0x20600 to 0x20000 bytes 1536 count 1 step 0 0\n", "",
			      "and has not waited for core 0 to write it in op 0" };
	refuse_each(t, text, &untold, 1);
}

/* Core 1 tells core 0 that it has read the row: it needs no place for each run, and the
 * last op writes something else there. */
static const char *with_room_used_again(Fixture *t)
{
	const char *text = with_moves(t);
	for (int i = 0; i < 3; i++)
		text = text_edited(t, text, "slot 1024", "slot 0");
	text = text_edited(t, text, "0x800 life 0..2\n",
			   "0x400 life 0..1\nbuffer \"e\" dram at 0x3000 bytes 0x400 life 2..2\n");
	text = text_edited(t, text, "\t\tarrival core 0 op 0\n",
			   "\t\tarrival core 0 op 0\n\t\tpush core 0 from 0x0 to 0x0 bytes 0 count 0 "
			   "step 0 0\n");
	return text_edited(t, text, "\tcore 1 {row = 2}\n",
			   "\tcore 0\n\t\tarrival core 1 op 1\n\t\tmove out after bank 0 at 0x3000 "
			   "page 512 slot 0 l1 0x24000 bytes 512 count 1 step 0\n\tcore 1 {row = 2}\n");
}

static void room_that_all_are_known_to_be_through_with_is_used_again(void **state)
{
	static const Case cases[] = {
		{ "\tcore 1 {row = 2}\n", "\tcore 1 {row = 2}\n\t\tmove out after bank 1 at 0x3000 page 512 "
		  "slot 0 l1 0x24000 bytes 512 count 1 step 0\n",
		  "op 'y': 'e' is written where 'd' was, which some may not be through with" },
		{ "0x400 life 0..1", "0x400 life 0..2", "'d' and 'e' share byte 0x3000 during op 2" },
		{ "dram_free 0x4000", "dram_free 0x40000001", "tensors and weights need 1073741825 bytes of "
		  "each of 12 banks of DRAM, which have 1073741824; the largest: 'w' 8192, 'x' 1024, 'y' 1024, "
		  "'d' 1024" },
	};
	Fixture *t = *state;
	const char *text = with_room_used_again(t);
	Program *p = program_read(t, text);
	if (!p || !program_verify(p, program_target(t), &t->diag))
		fail_msg("%s", fixture_said(t));
	refuse_each(t, text, cases, sizeof cases / sizeof *cases);
}

static void who_is_told_gets_no_rows(void **state)
{
	Fixture *t = *state;
	const char *text = program_edited(t, "from 0x20600 to 0x20000 bytes 1536 count 1",
					  "from 0x0 to 0x0 bytes 0 count 0");
	Program *p = program_read(t, text);
	if (!p || !program_verify(p, program_target(t), &t->diag))
		fail_msg("%s", fixture_said(t));
}

static void pushes_to_one_core_stand_together(void **state)
{
	static const char push[] = "push core %d from 0x20600 to 0x20000 bytes 16 count 1 step 0 0\n";
	Fixture *t = *state;
	const char *one = arena_printf(t->arena, push, 1), *two = arena_printf(t->arena, push, 2);
	const char *text = program_edited(t, "push core 1 from 0x20600 to 0x20000 bytes 1536 count 1 step 0 0\n",
					  arena_printf(t->arena, "%s%s%s", one, two, one));
	Program *p = program_read(t, text);
	assert_non_null(p);
	assert_false(program_verify(p, program_target(t), &t->diag));
	assert_non_null(strstr(fixture_said(t), "the pushes to core 1 do not stand together"));
}

static void an_act_is_for_what_trisc1_runs(void **state)
{
	Fixture *t = *state;
	Program *p = program_small(t);
	p->ops[1].act = program_variant(p, "act_sigmoid", NULL, 0);
	assert_true(program_verify(p, program_target(t), &t->diag));
	p->ops[0].act = p->ops[1].act;
	assert_false(program_verify(p, program_target(t), &t->diag));
	p->ops[1].act = p->ops[1].variant[TT_TRISC2];
	assert_false(program_verify(p, program_target(t), &t->diag));
	p->ops[1].act = VARIANT_NONE;
	p->ops[1].variant[TT_TRISC1] = p->ops[0].act;
	assert_false(program_verify(p, program_target(t), &t->diag));
	assert_non_null(strstr(fixture_said(t), "'x': act: nothing that runs on trisc1 calls act_"));
	assert_non_null(strstr(fixture_said(t), "'conv': act: store is not an activation"));
	assert_non_null(strstr(fixture_said(t), "act_sigmoid is for another routine to call, as act"));
}

/* By its name, and with as many parameters as the op has attributes: lowering takes
 * both for granted. A relu is the packers'. */
static void every_activation_of_the_graph_has_an_act(void **state)
{
	Fixture *t = *state;
	for (OpKind kind = 0; kind < OP_COUNT; kind++) {
		const unsigned wanted = ACT | DEVICE;
		if ((op_info[kind].traits & wanted) != wanted || kind == OP_RELU)
			continue;
		const char *name = arena_printf(t->arena, "act_%s", op_info[kind].name);
		const Routine *r = routine_at(routine_find(name));
		if (!r || !r->act || r->act_uses != op_info[kind].nfields)
			fail_msg("%s, with %d parameters", name, op_info[kind].nfields);
	}
}

static void what_an_act_cannot_use_is_refused(void **state)
{
	static const struct { const char *act; float a, b; const char *said; } wrong[] = {
		{ "act_clip", 0, 1, "core 0: act[1] of act_clip is 1, above act[0], 0" },
		{ "act_clip", 0, NAN, "act[1] of act_clip is nan, which is no number" },
		{ "act_leaky_relu", INFINITY, 0, "act[0] of act_leaky_relu is inf, which is no number" },
		{ "act_elu", 1, 2, "core 1: act[1] is 2, which act_elu does not use" },
		{ "act_gelu", 1, 0, "act[0] is 1, which act_gelu does not use" },
		{ "act_rsqrt", -1e-5f, 0, "act[0] of act_rsqrt is -1e-05, not 0 or more" },
	};
	Fixture *t = *state;
	Program *p = program_small(t);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		const float told[2] = { wrong[i].a, wrong[i].b };
		p->ops[1].act = program_variant(p, wrong[i].act, NULL, 0);
		for (int k = 0; k < 2; k++) {
			uint32_t bits;
			memcpy(&bits, &told[k], sizeof bits);
			program_set(&p->ops[1], "act", k, bits);
		}
		assert_false(program_verify(p, program_target(t), &t->diag));
		if (!strstr(fixture_said(t), wrong[i].said))
			fail_msg("'%s' is not in:\n%s", wrong[i].said, fixture_said(t));
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(a_program_prints_as_it_was_read),
		T(what_is_rare_prints_as_it_was_read_too),
		T(built_and_read_programs_are_the_same),
		T(text_that_is_wrong_is_refused_where_it_is_wrong),
		T(the_small_program_is_sound),
		T(a_host_edge_without_all_its_parts_is_refused),
		T(an_edge_of_another_format_than_the_hosts_is_refused),
		T(what_would_not_run_is_refused),
		T(a_program_with_moves_is_sound),
		T(moves_that_would_not_run_are_refused),
		T(room_that_all_are_known_to_be_through_with_is_used_again),
		T(who_is_told_gets_no_rows),
		T(pushes_to_one_core_stand_together),
		T(an_act_is_for_what_trisc1_runs),
		T(every_activation_of_the_graph_has_an_act),
		T(what_an_act_cannot_use_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
