/* Tables of measured times, right and wrong. */
#include <stdio.h>
#include <string.h>

#include "frontend/measured.h"
#include "tests/check.h"
#include "tests/fixture.h"

static bool read_text(Fixture *t, Measured *m, const char *text)
{
	measured_parse(m, t->arena, &t->diag, "m.csv", text, strlen(text));
	return t->diag.errors == 0;
}

static Measured reads(Fixture *t, const char *text)
{
	Measured m;
	if (!read_text(t, &m, text))
		fail_msg("%s", fixture_said(t));
	return m;
}

static void refuses(Fixture *t, const char *text, const char *said)
{
	Measured m;
	assert_false(read_text(t, &m, text));
	assert_string_equal(fixture_said(t), said);
}

static void a_profile_of_tt_metal_has_kernel_times_in_ns(void **state)
{
	const Measured m = reads(*state,
		"OP CODE,OP TYPE,ATTRIBUTES,DEVICE FW DURATION [ns],DEVICE KERNEL DURATION [ns],"
		"DEVICE KERNEL DURATION DM START [ns],OP TO OP LATENCY [ns]\n"
		"start,signpost,,,,,\n"
		"HaloDeviceOperation,tt_dnn_device,\"{'a': 'x, y'; \"\"b\"\"}\",11630,11035,11000,0\n"
		"MoveDeviceOperation,tt_dnn_device,,2477,1896,1896,512\n");
	assert_string_equal(m.column, "DEVICE KERNEL DURATION [ns]");
	assert_true(m.unit == 1);
	assert_int_equal(m.n, 2);
	assert_int_equal(m.without, 1);
	assert_string_equal(m.rows[0].name, "HaloDeviceOperation");
	assert_true(m.rows[0].time == 11035 && m.rows[0].gap == 0);
	assert_true(m.rows[1].time == 1896 && m.rows[1].gap == 512);
	assert_int_equal(m.rows[1].line, 4);
}

static void a_table_of_tt_perf_report_has_device_times_in_us(void **state)
{
	const Measured m = reads(*state,
		"ID,Total %,Bound,OP Code,Device,Device Time,Op-to-Op Gap,Cores\n"
		"1,3.4,,Conv2dDeviceOperation 480 x 32,0,204.25,,64\n"
		"2,0.2,HOST,(torch) permute,0,,,\n"
		"3,1.1,,Pool2D,0,54,2.05,64\n");
	assert_string_equal(m.column, "Device Time");
	assert_true(m.unit == 1e3);
	assert_int_equal(m.n, 2);
	assert_true(m.rows[0].time == 204.25);
	assert_true(m.rows[1].gap == 2050);
}

static void units_and_ways_to_write_a_header_are_seen(void **state)
{
	static const struct {
		const char *header;
		double unit;
	} all[] = {
		{ "measured_us", 1e3 }, { "Measured [us]", 1e3 }, { "Device Time (\xce\xbcs)", 1e3 },
		{ "measured (\xc2\xb5s)", 1e3 }, { "device_kernel_duration", 1 }, { "time_ms", 1e6 },
		{ "cycles", 0 }, { "time (cycles)", 0 }, { "duration [s]", 1e9 }, { "us", 1e3 },
	};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		char text[100];
		snprintf(text, sizeof text, "\xef\xbb\xbfop,\"%s\"\r\na,5\r\n\r\n", all[i].header);
		const Measured m = reads(*state, text);
		assert_true(m.unit == all[i].unit);
		assert_int_equal(m.n, 1);
		assert_string_equal(m.rows[0].name, "a");
		assert_true(m.rows[0].time == 5);
	}
}

static void what_was_measured_goes_before_what_was_predicted(void **state)
{
	const Measured m = reads(*state, "op,kind,cycles,unpack,measured_ns\na,conv,7,1,9\n");
	assert_string_equal(m.column, "measured_ns");
	assert_string_equal(m.rows[0].kind, "conv");
	assert_true(m.rows[0].time == 9);
}

static void a_table_without_its_columns_is_refused(void **state)
{
	refuses(*state, "layer,millis\na,3\n",
		"m.csv:1:1: error: no column names the ops: it wants 'op' or 'OP CODE', and has "
		"'layer', 'millis'\n"
		"m.csv:1:1: error: no column has measured times: it wants 'measured_us', 'DEVICE "
		"KERNEL DURATION [ns]' or 'Device Time', and has 'layer', 'millis'\n");
}

static void a_time_without_a_unit_is_refused(void **state)
{
	refuses(*state, "op,time\na,3\n", "m.csv:1:1: error: column 'time' has no unit: call it "
		"'time_us', 'time_ns' or 'time_cycles'\n");
}

static void what_is_no_time_is_refused_where_it_stands(void **state)
{
	refuses(*state, "op,measured_us\na,-3\nb,abc\n\nc,nan\nd,1,2\n",
		"m.csv:2:1: error: measured_us wants a time of 0 or more, has '-3'\n"
		"m.csv:3:1: error: measured_us wants a number, has 'abc'\n"
		"m.csv:5:1: error: measured_us wants a number, has 'nan'\n"
		"m.csv:6:1: error: 3 fields, and the header has 2\n");
}

static void a_table_without_a_time_is_refused(void **state)
{
	refuses(*state, "op,measured_us\na,\nb,0\n",
		"m.csv: error: no row has a time in column 'measured_us'\n");
}

static void an_empty_file_is_refused(void **state)
{
	refuses(*state, "\n\n", "m.csv: error: empty: it wants a line of headers, and one for each "
		"op that was measured\n");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		TEST(a_profile_of_tt_metal_has_kernel_times_in_ns),
		TEST(a_table_of_tt_perf_report_has_device_times_in_us),
		TEST(units_and_ways_to_write_a_header_are_seen),
		TEST(what_was_measured_goes_before_what_was_predicted),
		TEST(a_table_without_its_columns_is_refused),
		TEST(a_time_without_a_unit_is_refused),
		TEST(what_is_no_time_is_refused_where_it_stands),
		TEST(a_table_without_a_time_is_refused),
		TEST(an_empty_file_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
