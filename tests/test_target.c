/* Target files, the built-in ones and wrong ones. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/file.h"
#include "ir/target.h"
#include "tests/check.h"
#include "tests/fixture.h"
#include "tests/folder.h"

static char folder[FOLDER_ROOM];

static int make_test_folder(void **state)
{
	(void)state;
	folder_make(folder);
	return chdir(folder);
}

static int remove_test_folder(void **state)
{
	(void)state;
	const char *files[] = { "a.ini", "b.ini", "out.ini", "wormhole_n150.ini" };
	for (int i = 0; i < 4; i++)
		unlink(files[i]);
	return rmdir(folder);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static const Target *load(Fixture *t, const char *name)
{
	const Target *target = target_load(t->arena, &t->diag, name);
	if (!target)
		fail_msg("%s", fixture_said(t));
	return target;
}

static void refuses(Fixture *t, const char *name, const char *said)
{
	assert_null(target_load(t->arena, &t->diag, name));
	assert_string_equal(fixture_said(t), said);
}

static void the_n150_is_built_in(void **state)
{
	const Target *t = load(*state, "wormhole_n150");
	assert_string_equal(t->name, "wormhole_n150");
	assert_string_equal(t->arch, "wormhole");
	assert_int_equal(t->grid_cols * t->grid_rows, 64);
	assert_int_equal(t->l1_end - t->l1_first, 1393472);
	assert_int_equal(t->l1_first - t->code_bytes, 35008);
	assert_int_equal(t->mvmul_cost, 1055);
}

static void the_n300_inherits_all_but_its_rows(void **state)
{
	Target n150 = *load(*state, "wormhole_n150");
	Target n300 = *load(*state, "wormhole_n300");
	assert_string_equal(n300.name, "wormhole_n300");
	assert_int_equal(n300.grid_cols * n300.grid_rows, 56);
	n300.grid_rows = n150.grid_rows;
	n300.name = n150.name;
	n300.arch = n150.arch;
	assert_memory_equal(&n300, &n150, sizeof n150);
}

static void a_factor_that_is_not_given_is_one(void **state)
{
	const Target *t = load(*state, "wormhole_n150");
	assert_int_equal(t->ttnn_local, 1000);
	write_file("a.ini", "inherit = wormhole_n150\nttnn_local = 870\n");
	t = load(*state, "./a.ini");
	assert_int_equal(t->ttnn_local, 870);
	assert_int_equal(t->ttnn_gap, 1000);
}

static void an_heir_is_printed_with_what_it_changes(void **state)
{
	const Target *base = load(*state, "wormhole_n150");
	Target t = *base;
	TextFile text;
	t.noc_issue = 41;
	t.ttnn_gap = 1200;
	text_open(&text);
	target_print_heir(&t, base, text.f);
	assert_string_equal(text_take(&text, ((Fixture *)*state)->arena),
		"inherit = wormhole_n150\n"
		"noc_issue = 41                   # cycles: a core spends to start a transfer, lean loop\n"
		"ttnn_gap = 1200                  # /1000: from a program's end to the next one's start\n");
}

static void constants_of_the_model_are_listed_and_facts_are_not(void **state)
{
	Target t = *load(*state, "wormhole_n150");
	TargetConstant *all;
	const int n = target_constants(((Fixture *)*state)->arena, &t, &all);
	int rates = 0, sizes = 0, factors = 0;
	for (int i = 0; i < n; i++) {
		rates += strcmp(all[i].name, "noc_rate") == 0 && all[i].value == &t.noc_rate;
		sizes += strcmp(all[i].name, "l1_bytes") == 0;
		factors += all[i].of_ttnn;
	}
	assert_int_equal(rates, 1);
	assert_int_equal(sizes, 0);
	assert_int_equal(factors, 19);
}

static void the_p150_is_built_in(void **state)
{
	const Target *t = load(*state, "blackhole_p150");
	assert_string_equal(t->arch, "blackhole");
	assert_int_equal(t->grid_cols * t->grid_rows, 130);
	assert_int_equal(t->l1_end - t->l1_first, 1461248);
	assert_int_equal(t->l1_first - t->code_bytes, 40960);
	assert_int_equal(t->dram_banks * t->dram_read_rate * t->clock_mhz / 1000000, 500);
	assert_int_equal(t->op_gap, 208 * t->clock_mhz / 100);
}

static void the_default_is_built_in(void **state)
{
	assert_string_equal(load(*state, TARGET_DEFAULT)->arch, "wormhole");
}

static void every_built_in_target_loads_and_reads_back_from_its_print(void **state)
{
	Fixture *t = *state;
	for (int i = 0; target_name(i); i++) {
		Target first = *load(t, target_name(i));
		FILE *f = fopen("out.ini", "w");
		target_print(&first, f);
		fclose(f);
		Target second = *load(t, "out.ini");
		assert_string_equal(second.arch, first.arch);
		second.name = first.name;
		second.arch = first.arch;
		assert_memory_equal(&first, &second, sizeof first);
	}
}

static void a_file_may_inherit_from_a_file_beside_it(void **state)
{
	write_file("b.ini", "inherit = wormhole_n150\ngrid_cols = 3\ngrid_rows = 3\n");
	write_file("a.ini", "; mine\n  grid_rows=0x2 # two\r\ninherit = b.ini\n");
	const Target *t = load(*state, "./a.ini");
	assert_string_equal(t->name, "a");
	assert_int_equal(t->grid_rows, 2);
	assert_int_equal(t->grid_cols, 3);
	assert_int_equal(t->l1_bytes, 1499136);
}

static void an_heir_may_have_the_name_of_what_it_inherits_from(void **state)
{
	write_file("wormhole_n150.ini", "inherit = wormhole_n150\ngrid_rows = 5\n");
	const Target *t = load(*state, "wormhole_n150.ini");
	assert_string_equal(t->name, "wormhole_n150");
	assert_int_equal(t->grid_rows, 5);
	assert_int_equal(t->grid_cols, 8);
}

static void an_unknown_parent_is_reported_where_it_is_named(void **state)
{
	write_file("a.ini", "grid_rows = 2\ninherit = wormhole_n105\n");
	refuses(*state, "a.ini",
		"a.ini:2:11: error: no target 'wormhole_n105'\n"
		"    inherit = wormhole_n105\n"
		"              ^\n"
		"a.ini:2:11: note: did you mean 'wormhole_n150'?\n"
		"    inherit = wormhole_n105\n"
		"              ^\n");
}

static void a_parent_that_is_not_there_is_reported(void **state)
{
	Fixture *t = *state;
	write_file("a.ini", "inherit = none.ini\n");
	assert_null(target_load(t->arena, &t->diag, "a.ini"));
	assert_non_null(strstr(fixture_said(t), "a.ini:1:11: error: "));
	assert_int_equal(t->diag.errors, 1);
}

static void an_unknown_target_is_named_with_its_nearest(void **state)
{
	refuses(*state, "wormhole_n510",
		"error: no target 'wormhole_n510'\n"
		"note: did you mean 'wormhole_n150'?\n");
}

static void a_missing_file_is_reported(void **state)
{
	refuses(*state, "none.ini", "none.ini: error: cannot read: No such file or directory\n");
}

static void an_unknown_key_is_reported_where_it_stands(void **state)
{
	write_file("a.ini", "inherit = wormhole_n150\n  gird_rows = 2\n");
	refuses(*state, "a.ini",
		"a.ini:2:3: error: a target has no 'gird_rows'\n"
		"      gird_rows = 2\n"
		"      ^\n"
		"a.ini:2:3: note: did you mean 'grid_rows'?\n"
		"      gird_rows = 2\n"
		"      ^\n");
}

static void values_outside_their_range_are_reported(void **state)
{
	write_file("a.ini", "inherit = wormhole_n150\ngrid_rows = 0\ngrid_cols = 8x8\nsemaphores =\n"
		   "l1_bytes = 99999999999999999999\n[risc]\n");
	refuses(*state, "a.ini",
		"a.ini:2:13: error: grid_rows wants 1 to 32 cores, has 0\n"
		"    grid_rows = 0\n"
		"                ^\n"
		"a.ini:3:13: error: grid_cols: '8x8' is not a number\n"
		"    grid_cols = 8x8\n"
		"                ^\n"
		"a.ini:4:13: error: semaphores has no value\n"
		"    semaphores =\n"
		"                ^\n"
		"a.ini:5:12: error: l1_bytes: '99999999999999999999' is not a number\n"
		"    l1_bytes = 99999999999999999999\n"
		"               ^\n"
		"a.ini:6:1: error: this is not of the form key = value\n"
		"    [risc]\n"
		"    ^\n");
}

static void a_key_given_twice_is_reported(void **state)
{
	Fixture *t = *state;
	write_file("a.ini", "inherit = wormhole_n150\ninherit = wormhole_n300\n"
		   "semaphores = 1\nsemaphores = 2\n");
	assert_null(target_load(t->arena, &t->diag, "a.ini"));
	assert_non_null(strstr(fixture_said(t), "a.ini:2:1: error: 'inherit' is given twice\n"));
	assert_non_null(strstr(fixture_said(t), "a.ini:4:1: error: 'semaphores' is given twice\n"));
	assert_int_equal(t->diag.errors, 2);
}

static void every_missing_key_is_reported(void **state)
{
	Fixture *t = *state;
	write_file("a.ini", "arch = wormhole\n");
	assert_null(target_load(t->arena, &t->diag, "a.ini"));
	assert_non_null(strstr(fixture_said(t),
			       "a.ini: error: clock_mhz is missing (clock of cores and NoC)\n"));
	assert_true(t->diag.errors > 40);
}

static void a_circle_of_files_ends_with_an_error(void **state)
{
	write_file("a.ini", "inherit = b.ini\n");
	write_file("b.ini", "inherit = a.ini\n");
	refuses(*state, "a.ini",
		"b.ini:1:11: error: 'a.ini' inherits from itself\n"
		"    inherit = a.ini\n"
		"              ^\n");
}

static void a_circle_under_many_names_ends_too(void **state)
{
	Fixture *t = *state;
	write_file("a.ini", "inherit = ./b.ini\n");
	write_file("b.ini", "inherit = ./a.ini\n");
	assert_null(target_load(t->arena, &t->diag, "a.ini"));
	assert_non_null(strstr(fixture_said(t), "error: 'a.ini' inherits through more than 8 files"));
	assert_int_equal(t->diag.errors, 1);
}

static void a_window_that_does_not_fit_is_reported(void **state)
{
	write_file("a.ini", "inherit = wormhole_n150\nl1_end = 1500000\nl1_first = 1500000\n");
	refuses(*state, "a.ini",
		"a.ini: error: l1_first wants less than l1_end 1500000, has 1500000\n"
		"a.ini: error: l1_end wants at most l1_bytes 1499136, has 1500000\n");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(the_n150_is_built_in),
		T(the_n300_inherits_all_but_its_rows),
		T(a_factor_that_is_not_given_is_one),
		T(an_heir_is_printed_with_what_it_changes),
		T(constants_of_the_model_are_listed_and_facts_are_not),
		T(the_p150_is_built_in),
		T(the_default_is_built_in),
		T(every_built_in_target_loads_and_reads_back_from_its_print),
		T(a_file_may_inherit_from_a_file_beside_it),
		T(an_heir_may_have_the_name_of_what_it_inherits_from),
		T(an_unknown_parent_is_reported_where_it_is_named),
		T(a_parent_that_is_not_there_is_reported),
		T(an_unknown_target_is_named_with_its_nearest),
		T(a_missing_file_is_reported),
		T(an_unknown_key_is_reported_where_it_stands),
		T(values_outside_their_range_are_reported),
		T(a_key_given_twice_is_reported),
		T(every_missing_key_is_reported),
		T(a_circle_of_files_ends_with_an_error),
		T(a_circle_under_many_names_ends_too),
		T(a_window_that_does_not_fit_is_reported),
	};
	return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
