/*
 * test_rt FAKE OTHER: the library from package to outputs, on a simulator that
 * pretends (fake_ttsim.c), on Tenstorrent's when TESSERA_TTSIM names it.
 * OTHER is a shared library that is no simulator at all.
 */
#include <stdio.h>
#include <unistd.h>

#include "runtime/host/tessera_rt.h"
#include "tests/rt_fixture.h"

static const char *fake, *other;

/* Tells the simulator that pretends how to. */
static void fake_open(Fixture *f, const char *mode)
{
	if (mode)
		setenv("FAKE_TTSIM", mode, 1);
	else
		unsetenv("FAKE_TTSIM");
	fixture_open(f, &copy_sample, "ttsim:", fake);
}

static void runs_give_their_outputs(void **state)
{
	Fixture f;

	(void)state;
	fake_open(&f, NULL);
	run_all(&f);
	fixture_close(&f);
}

static void runs_on_the_vendors_simulator(void **state)
{
	const char *path = getenv("TESSERA_TTSIM");
	Fixture f;

	(void)state;
	if (!path)
		skip();
	fixture_open(&f, &copy_sample, "ttsim:", path);
	run_all(&f);
	tessera_unload(f.program); /* and once more on the same chip */
	f.program = tessera_load(f.device, f.package, &f.e);
	assert_non_null(f.program);
	run_all(&f);
	fixture_close(&f);
}

/* NHWC, and twice in one array, the second time backwards; all from one tensor. */
static void outputs_are_views_of_what_is_in_dram(void **state)
{
	TesseraError e = { 0 };
	Fixture f;
	size_t n;
	float nhwc[ELEMENTS], both[2][ELEMENTS];
	TtbWriter *w = sample_writer(&copy_sample);
	TtbPart part = ttb_whole_part(copy_sample.out, SAMPLE_OUT);

	(void)state;
	ttb_writer_output(w, "both", TESSERA_F32, 2, (int64_t[]){ 2, ELEMENTS });
	ttb_writer_part(w, &part);
	part.start = ELEMENTS;
	part.offset = ELEMENTS - 1;
	part.strides[0] = -1;
	ttb_writer_part(w, &part);
	part = ttb_whole_part(copy_sample.out, SAMPLE_OUT);
	part.rank = 2;
	part.dims[0] = 35, part.dims[1] = 3;
	part.strides[0] = 1, part.strides[1] = 35;
	ttb_writer_output(w, "nhwc", TESSERA_F32, 4, (int64_t[]){ 1, 5, 7, 3 });
	ttb_writer_part(w, &part);

	fake_open(&f, NULL);
	tessera_unload(f.program);
	uint8_t *file = sample_finish(w, &n);
	TesseraPackage *package = tessera_package_memory(file, n, &e);
	f.program = tessera_load(f.device, package, &e);
	assert_non_null(f.program);
	const TesseraTensor t[] = { tessera_output(package, 1), tessera_output(package, 2) };
	const TesseraArray to[] = { f.to, tessera_array(&t[0], both), tessera_array(&t[1], nhwc) };
	fill(f.x, 3);
	assert_true(tessera_run(f.program, &f.from, 1, to, 3, &e));
	for (int i = 0; i < ELEMENTS; i++) {
		assert_true(f.y[i] == f.x[i] && both[0][i] == f.x[i]);
		assert_true(both[1][i] == f.x[ELEMENTS - 1 - i]);
		assert_true(nhwc[i] == f.x[i % 3 * 35 + i / 3]);
	}
	tessera_unload(f.program);
	f.program = NULL;
	tessera_package_close(package);
	free(file);
	fixture_close(&f);
}

static void memory_can_be_looked_at(void **state)
{
	Fixture f;
	uint32_t words[2];
	TtLaunch launch;

	(void)state;
	fake_open(&f, NULL);
	assert_true(tessera_read_l1(f.device, 1, 0, SAMPLE_BUFFER, words, 4, &f.e));
	assert_int_equal(words[0], 64);
	assert_true(tessera_read_l1(f.device, 2, 0, 0, words, 8, &f.e));
	assert_memory_equal(words, copies_input, 8);
	assert_true(tessera_read_l1(f.device, 2, 0, TT_LAUNCH, &launch, sizeof launch, &f.e));
	assert_false(tessera_read_l1(f.device, 0xffffffee, 0, 0, words, 4, &f.e));
	assert_int_equal(f.e.code, TESSERA_MISUSE);
	assert_int_equal(launch.core, 2);
	assert_int_equal(launch.cores, 3);
	assert_int_equal(launch.ops, 2);
	assert_int_equal(launch.block_bytes, SAMPLE_BLOCK);
	assert_int_equal(launch.block_at, SAMPLE_BLOCKS + 4 * SAMPLE_BLOCK);
	assert_int_equal(launch.root_node, TT_NODE(18, 18));
	assert_int_equal(launch.entry[TT_NCRISC], 0x4000);
	fill(f.x, 5);
	assert_true(tessera_submit(f.program, &f.from, 1, &f.e));
	assert_true(tessera_read_dram(f.device, 1, SAMPLE_IN, words, 8, &f.e));
	assert_memory_equal(words, f.x + 7, 8); /* the second row */
	assert_true(tessera_read_dram(f.device, 2, SAMPLE_IN + 32, words, 8, &f.e));
	assert_memory_equal(words, f.x + 14 * 7, 8);
	assert_false(tessera_read_dram(f.device, 12, 0, words, 8, &f.e));
	assert_false(tessera_read_l1(f.device, 0, 0, TT_L1_END - 4, words, 8, &f.e));
	fixture_close(&f);
}

static void wrong(Fixture *f, size_t n, TesseraArray a, const char *says)
{
	assert_false(tessera_submit(f->program, &a, n, &f->e));
	assert_int_equal(f->e.code, TESSERA_BAD_INPUT);
	assert_string_equal(f->e.text, says);
}

static void arrays_that_do_not_fit_are_refused(void **state)
{
	Fixture f;
	TesseraArray a;

	(void)state;
	fake_open(&f, NULL);
	wrong(&f, 2, f.from, "sample: 2 inputs given, the network has 1");
	a = f.from, a.bytes -= 4;
	wrong(&f, 1, a, "x: wants 420 bytes, has 416");
	a = f.from, a.rank = 3;
	wrong(&f, 1, a, "x: wants shape [1,3,5,7], has [1,3,5]");
	a = f.from, a.shape[3] = 8;
	wrong(&f, 1, a, "x: wants shape [1,3,5,7], has [1,3,5,8]");
	a = f.from, a.type = (TesseraType)1;
	wrong(&f, 1, a, "x: wants f32, has bf16");
	a = f.from, a.data = NULL;
	wrong(&f, 1, a, "x: no data");
	assert_false(tessera_run(f.program, &f.from, 1, &f.to, 0, &f.e));
	assert_string_equal(f.e.text, "sample: 0 outputs given, the network has 1");
	run_all(&f); /* none of it did harm */
	fixture_close(&f);
}

static void a_device_that_never_answers_is_given_up(void **state)
{
	Fixture f;

	(void)state;
	fake_open(&f, "silent");
	tessera_limit(f.program, (TesseraLimits){ .steps = 1000 });
	assert_false(tessera_run(f.program, &f.from, 1, &f.to, 1, &f.e));
	assert_int_equal(f.e.code, TESSERA_TIMEOUT);
	assert_non_null(strstr(f.e.text, ": no answer to run 1: steps: 1024"));
	assert_memory_equal(f.e.detail, "op first\ncore (0,0): op first, ", 29);
	assert_non_null(strstr(f.e.detail, "core (2,0): op first, started 0, finished 0 0 0 0\n"));
	assert_false(tessera_run(f.program, &f.from, 1, &f.to, 1, &f.e));
	assert_non_null(strstr(f.e.text, "a run failed; load the program again"));

	tessera_unload(f.program);
	f.program = tessera_load(f.device, f.package, &f.e);
	tessera_limit(f.program, (TesseraLimits){ .seconds = 0.05 });
	assert_false(tessera_run(f.program, &f.from, 1, &f.to, 1, &f.e));
	assert_int_equal(f.e.code, TESSERA_TIMEOUT);
	assert_non_null(strstr(f.e.text, "seconds without a new op: 0.05"));
	fixture_close(&f);
}

static void a_kernel_that_gives_up_is_named(void **state)
{
	Fixture f;

	(void)state;
	fake_open(&f, "error");
	assert_false(tessera_run(f.program, &f.from, 1, &f.to, 1, &f.e));
	assert_int_equal(f.e.code, TESSERA_FAULT);
	assert_string_equal(f.e.text, "core (1,0), op first: the kernel gave up with error 0x7");
	fixture_close(&f);
}

static void a_simulator_that_ends_is_an_error(void **state)
{
	Fixture f;

	(void)state;
	fake_open(&f, "die");
	assert_false(tessera_run(f.program, &f.from, 1, &f.to, 1, &f.e));
	assert_int_equal(f.e.code, TESSERA_FAULT);
	assert_string_equal(f.e.text,
			    "ttsim: [12] ERROR: UnsupportedFunctionality: tensix: no such luck");
	assert_non_null(strstr(f.e.detail, "fake: init"));
	assert_false(tessera_read_l1(f.device, 0, 0, 0, f.x, 4, &f.e));
	assert_non_null(strstr(f.e.text, "the simulator has ended"));
	fixture_close(&f);
}

static void what_the_vendors_simulator_dislikes_is_told(void **state)
{
	const char *path = getenv("TESSERA_TTSIM");
	const uint32_t illegal[] = { 0 };
	Fixture f;

	(void)state;
	if (!path)
		skip();
	fixture_open(&f, &copy_sample, "ttsim:", path);
	tessera_unload(f.program);
	tessera_package_close(f.package);
	free(f.file);
	Sample s = copy_sample;
	size_t n;
	s.code = illegal;
	s.words = 1;
	f.file = sample_finish(sample_writer(&s), &n);
	f.package = tessera_package_memory(f.file, n, &f.e);
	f.program = tessera_load(f.device, f.package, &f.e);
	assert_non_null(f.program);
	assert_false(tessera_run(f.program, &f.from, 1, &f.to, 1, &f.e));
	assert_int_equal(f.e.code, TESSERA_FAULT);
	assert_non_null(strstr(f.e.text, "ERROR"));
	print_message("%s\n", f.e.text);
	fixture_close(&f);
}

static void no_device(const char *spec, const char *says)
{
	TesseraError e = { 0 };
	TesseraDevice *d = tessera_device_open(spec, &e);

	if (d || !strstr(e.text, says) || strchr(e.text, '\n'))
		fail_msg("%s: wanted \"%s\", got \"%s\"", spec, says, d ? "a device" : e.text);
	assert_int_equal(e.code, TESSERA_BAD_DEVICE);
}

static void devices_that_are_not_there_are_told(void **state)
{
	char spec[1024];

	(void)state;
	no_device("gpu", "gpu: no such device; there are emu,");
	no_device("emulator", "emulator: no such device");
	no_device("ttsim", "give the library too: ttsim:PATH");
	no_device("ttsim:no/such/lib.so", "no/such/lib.so: cannot open shared object file");
	no_device("card:x", "card:x: give the number of the card");
	no_device("card:", "card:: give the number of the card");
	no_device("card:255", "/dev/tenstorrent/255: No such file or directory");
	snprintf(spec, sizeof spec, "ttsim:%s", other);
	no_device(spec, "not libttsim: it has no libttsim_init");
}

static void a_device_holds_one_program(void **state)
{
	Fixture f;

	(void)state;
	fake_open(&f, NULL);
	assert_null(tessera_load(f.device, f.package, &f.e));
	assert_int_equal(f.e.code, TESSERA_MISUSE);
	assert_null(tessera_counter_name(f.program, 0));
	assert_int_equal(tessera_op_count(f.package), 2);
	assert_string_equal(tessera_op_name(f.package, 1), "second");
	assert_string_equal(tessera_op_kind(f.package, 0), "conv2d");
	assert_string_equal(tessera_op_source(f.package, 1), "sample.nnef:3:7");
	assert_string_equal(tessera_op_absorbed(f.package, 1), "norm, act");
	assert_null(tessera_op_name(f.package, 2));
	assert_null(tessera_op_source(f.package, 2));
	assert_null(tessera_op_absorbed(f.package, 2));
	fixture_close(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_give_their_outputs),
		cmocka_unit_test(runs_on_the_vendors_simulator),
		cmocka_unit_test(outputs_are_views_of_what_is_in_dram),
		cmocka_unit_test(memory_can_be_looked_at),
		cmocka_unit_test(arrays_that_do_not_fit_are_refused),
		cmocka_unit_test(a_device_that_never_answers_is_given_up),
		cmocka_unit_test(a_kernel_that_gives_up_is_named),
		cmocka_unit_test(a_simulator_that_ends_is_an_error),
		cmocka_unit_test(what_the_vendors_simulator_dislikes_is_told),
		cmocka_unit_test(devices_that_are_not_there_are_told),
		cmocka_unit_test(a_device_holds_one_program),
	};

	if (argc != 3)
		return 2;
	fake = argv[1];
	other = argv[2];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
