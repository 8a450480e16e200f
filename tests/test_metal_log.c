/*
 * Debug logs of TT-Metal: what is read of the lines its sources print.
 */
#include "frontend/metal_log.h"

#include <string.h>

#include "tests/check.h"
#include "tests/fixture.h"

static MetalLog log_of(void **state, const char *text)
{
	MetalLog l;
	metal_log_read(&l, ((Fixture *)*state)->arena, text, strlen(text));
	return l;
}

static void a_program_ends_where_a_circular_buffer_comes_again(void **state)
{
	const MetalLog l = log_of(state,
		"\033[90m2026-01-01 00:00:00.000\033[0m | debug | Metal |   Core(0,0) CB[0]: "
		"addr=0x19cc0 page_size=2048 num_pages=4 base=0x7f00 (x.cpp:1)\n"
		"  Core(0,0) CB[1]: addr=0x1bcc0 page_size=1088 num_pages=2 base=0x0\n"
		"  Core(3,1) CB[0]: addr=0x19cc0 page_size=2048 num_pages=4 base=0x0\n"
		"something else\n"
		"  Core(0,0) CB[1]: addr=0x20000 page_size=64 num_pages=1 base=0x0");
	assert_int_equal(l.programs, 2);
	assert_int_equal(l.ncbs, 4);
	assert_int_equal(l.cbs[1].address, 0x1bcc0);
	assert_int_equal(l.cbs[1].page_bytes, 1088);
	assert_int_equal(l.cbs[1].pages, 2);
	assert_int_equal(l.cbs[2].col, 3);
	assert_int_equal(l.cbs[2].row, 1);
	assert_int_equal(l.cbs[2].program, 0);
	assert_int_equal(l.cbs[3].program, 1);
	assert_false(metal_log_empty(&l));
}

static void allocations_are_added_up_by_memory(void **state)
{
	const MetalLog l = log_of(state,
		"record_allocation (device_id=0, type=0, size=4096 B, pid=1)\n"
		"record_allocation (device_id=1, type=1, size=100 B, pid=1)\n"
		"CaptureBufferCreate: size: 28 page_size: 4 buffer_type: BufferType::L1 x\n"
		"CaptureBufferCreate: size: 7 page_size: 4 buffer_type: L1_SMALL x\n"
		"record_allocation (device_id=1, type=9, size=100 B, pid=1)\n");
	assert_int_equal(l.bytes[LOG_DRAM], 4096);
	assert_int_equal(l.bytes[LOG_L1], 128);
	assert_int_equal(l.buffers[LOG_L1], 2);
	assert_int_equal(l.bytes[LOG_L1_SMALL], 7);
	assert_int_equal(l.buffers[LOG_TRACE] + l.buffers[LOG_SYSTEM], 0);
}

static void clashes_are_kept_and_nothing_is_nothing(void **state)
{
	const MetalLog l = log_of(state, "E: Statically allocated circular buffers on core range "
				  "[0] grow to 9 B which is beyond max L1 size of 8 B\n");
	assert_int_equal(l.nclashes, 1);
	assert_string_equal(l.clashes[0], "Statically allocated circular buffers on core range "
			    "[0] grow to 9 B which is beyond max L1 size of 8 B");
	const MetalLog none = log_of(state, "Core(0,0) CB[x]\nrecord_allocation ()\n\n");
	assert_true(metal_log_empty(&none));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_program_ends_where_a_circular_buffer_comes_again),
		TEST(allocations_are_added_up_by_memory),
		TEST(clashes_are_kept_and_nothing_is_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
