/* The library on the emulator, beside Tenstorrent's simulator when TESSERA_TTSIM
 * names it. */
#include "tests/rt_fixture.h"

/*
 * How often core 0 looks until a NoC read is there, which is for nobody to
 * know, becomes data:
 *
 *     for (n = 0; no response yet; n++)
 *             ;
 *     *(uint32_t *)(SAMPLE_BUFFER + 128) = n;
 *     launch->done = go;
 */
static const uint32_t counts_polls[] = {
	0x00000293, 0xffb20537, 0x0001a5b7, 0xd0058593, 0x00017637, 0x00100693, 0x00100737,
	0x000027b7, 0x09078793, 0x02000813, 0x00062883, 0xfe588ee3, 0x3cd62823, 0x02062303,
	0x00088293, 0xfe0316e3, 0x20852283, 0x00e52023, 0x00052223, 0x00b52623, 0x02862383,
	0x00752823, 0x00052c23, 0x00f52e23, 0x03052023, 0x02d52423, 0x20852383, 0x00130313,
	0xfe538ce3, 0x0465a023, 0x01162223, 0x00088293, 0xfa9ff06f,
};

/* Every core writes go to 0x30000, which is in no buffer, when it is at op 1. */
static const uint32_t writes_outside[] = {
	0x00000693, 0x00017537, 0x00100593, 0x00030637, 0x00052703, 0xfed70ee3, 0x3cb52823,
	0x00e62023, 0x02052783, 0x00070693, 0xfe0794e3, 0x00e52223, 0x00070693, 0xfddff06f,
};

/* An instruction there is none of, behind `TT_OP_WORD = 1`. */
static const uint32_t unknown[] = { 0x00017537, 0x00100593, 0x3cb52823, 0xffffffff };

/* Reads 0x19e00, which nobody wrote, when it is at op 1. */
static const uint32_t reads_nothing[] = {
	0x00017537, 0x00100593, 0x3cb52823, 0x0001a637, 0xe0062683, 0x0000006f,
};

/* Looks at a word that never changes what it does. */
static const uint32_t polls[] = { 0x00017537, 0x00052583, 0xffdff06f };

/* Counts and counts. */
static const uint32_t counts[] = { 0x00150513, 0xffdff06f };

static Sample running(const uint32_t *code, size_t bytes)
{
	Sample s = copy_sample;

	s.code = code;
	s.words = bytes / sizeof *code;
	return s;
}

static void runs_give_their_outputs(void **state)
{
	static const char *const specs[] = {
		"emu", "emu:threads=1,quantum=17", "emu:threads=2,strict=0", "emu:fast", "emu:race",
	};

	(void)state;
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		Fixture f;

		fixture_open(&f, &copy_sample, specs[i], "");
		run_all(&f);
		assert_true(tessera_device_steps(f.device) > 0);
		tessera_unload(f.program); /* and once more, on a chip as new */
		f.program = tessera_load(f.device, f.package, &f.e);
		assert_non_null(f.program);
		run_all(&f);
		fixture_close(&f);
	}
}

static void the_fast_one_says_so(void **state)
{
	TesseraError e;
	TesseraDevice *d = tessera_device_open("emu:fast,threads=1", &e);

	(void)state;
	assert_string_equal(tessera_device_name(d), "emu:fast,threads=1 (not bit-exact)");
	tessera_device_close(d);
}

static void counters_can_be_asked_for(void **state)
{
	Fixture f;
	size_t n = 0;

	(void)state;
	fixture_open(&f, &copy_sample, "emu", "");
	run_all(&f);
	for (; tessera_counter_name(f.program, n); n++)
		if (strcmp(tessera_counter_name(f.program, n), "brisc_instructions") == 0)
			assert_true(tessera_counter(f.program, n) > 1000);
	assert_true(n > 10);
	fixture_close(&f);
}

/* The sample's code does not say at which op it is: all of it is before the first. */
static void counters_are_printed_op_by_op_and_core_by_core(void **state)
{
	Fixture f;
	char *text = NULL;
	size_t bytes, lines = 0;

	(void)state;
	fixture_open(&f, &copy_sample, "emu:counters", "");
	run_all(&f);
	const size_t ops = tessera_op_count(f.package), cores = copy_sample.cores;
	FILE *out = open_memstream(&text, &bytes);
	tessera_counters_print(f.program, out);
	fclose(out);
	for (const char *at = text; *at; at++)
		lines += *at == '\n';
	assert_int_equal(lines, 1 + ops * cores);
	assert_int_equal(strncmp(text, "op,name,kind,col,row,unpacks,", 29), 0);
	free(text);
	fixture_close(&f);
}

static void nothing_is_kept_op_by_op_unless_asked_for(void **state)
{
	Fixture f;

	(void)state;
	fixture_open(&f, &copy_sample, "emu", "");
	run_all(&f);
	for (size_t i = 0; tessera_counter_name(f.program, i); i++)
		assert_int_equal(tessera_op_counter(f.program, 0, 0, i), 0);
	tessera_counters_print(f.program, NULL);
	fixture_close(&f);
}

/* All of L1 above the code, and the outputs. */
static void both_simulators_have_the_same_bytes(void **state)
{
	const char *path = getenv("TESSERA_TTSIM");
	static uint8_t a[TT_L1_END - TT_USER], b[TT_L1_END - TT_USER];
	Fixture f, g;

	(void)state;
	if (!path)
		skip();
	fixture_open(&f, &copy_sample, "emu", "");
	fixture_open(&g, &copy_sample, "ttsim:", path);
	run_all(&f);
	run_all(&g);
	for (uint32_t core = 0; core < copy_sample.cores; core++) {
		assert_true(tessera_read_l1(f.device, core, 0, TT_USER, a, sizeof a, &f.e));
		assert_true(tessera_read_l1(g.device, core, 0, TT_USER, b, sizeof b, &g.e));
		assert_memory_equal(a, b, sizeof a);
	}
	for (uint32_t bank = 0; bank < TT_DRAM_BANKS; bank++) {
		assert_true(tessera_read_dram(f.device, bank, SAMPLE_OUT, a, 128, &f.e));
		assert_true(tessera_read_dram(g.device, bank, SAMPLE_OUT, b, 128, &g.e));
		assert_memory_equal(a, b, 128);
	}
	fixture_close(&f);
	fixture_close(&g);
}

static void fails(const Sample *s, const char *spec, TesseraCode code, const char *says,
		  const char *detail)
{
	Fixture f;

	fixture_open(&f, s, spec, "");
	tessera_limit(f.program, (TesseraLimits){ .steps = 1000000 });
	assert_false(tessera_run(f.program, &f.from, 1, &f.to, 1, &f.e));
	if (f.e.code != code || !strstr(f.e.text, says) || !strstr(f.e.detail, detail))
		fail_msg("wanted \"%s\", got %d \"%s\"\n%s", says, (int)f.e.code, f.e.text,
			 f.e.detail);
	fixture_close(&f);
}

static void faults_name_core_op_and_where_the_model_has_it(void **state)
{
	const Sample s = running(unknown, sizeof unknown);

	(void)state;
	fails(&s, "emu", TESSERA_FAULT,
	      "core (0,0) brisc, op second (sample.nnef:3:7, with norm, act): ",
	      "core (2,0) brisc, op second (sample.nnef:3:7, with norm, act): ");
}

static void writes_outside_of_buffers_are_faults(void **state)
{
	const Sample s = running(writes_outside, sizeof writes_outside);

	(void)state;
	fails(&s, "emu", TESSERA_FAULT,
	      "l1_outside: core (0,0) brisc, op second (sample.nnef:3:7, with norm, act): ", "");
}

static void faults_name_the_buffer_that_is_touched(void **state)
{
	const Sample s = running(reads_nothing, sizeof reads_nothing);

	(void)state;
	fails(&s, "emu", TESSERA_FAULT, "address 0x19e00 in rows)", "l1_uninitialised: core (2,0) ");
}

static void a_stuck_program_says_who_waits(void **state)
{
	const Sample s = running(polls, sizeof polls);

	(void)state;
	fails(&s, "emu", TESSERA_TIMEOUT, "emu: stuck after ",
	      "core (1,0) brisc at 0x4, op first: polls 0x17000");
}

static void a_program_that_never_ends_is_given_up(void **state)
{
	const Sample s = running(counts, sizeof counts);

	(void)state;
	fails(&s, "emu", TESSERA_TIMEOUT,
	      "emu: no answer to run 1: steps: ", "core (1,0): op first");
}

static void results_that_depend_on_timing_are_races(void **state)
{
	const Sample s = running(counts_polls, sizeof counts_polls);

	(void)state;
	fails(&s, "emu:race", TESSERA_RACE,
	      "race: run 1: core (0,0), L1 address 0x19d40 (rows of op first) depends on "
	      "timing", "");
	fails(&s, "emu:race,quantum=61", TESSERA_RACE, "L1 address 0x19d40 (rows of op first)", "");
}

/* Bytes of the ELFs changed at random: whatever they do, it ends as a value. */
static void corrupted_code_never_crashes(void **state)
{
	TesseraError e = { 0 };
	TesseraDevice *device = tessera_device_open("emu:threads=1", &e);
	uint32_t seed = 5;
	size_t n, code[TESSERA_RACE + 1] = { 0 };
	uint8_t *file = sample_finish(sample_writer(&copy_sample), &n), *copy = malloc(n);
	float x[ELEMENTS] = { 0 }, y[ELEMENTS];

	(void)state;
	assert_true(device && copy);
	for (int i = 0; i < 60; i++) {
		memcpy(copy, file, n);
		for (int k = 0; k <= i % 3; k++) {
			seed = seed * 1664525 + 1013904223;
			copy[384 + (seed >> 8) % 420] ^= (uint8_t)(1u << (seed >> 4) % 8);
		}
		ttb_seal(copy, n);
		e.code = TESSERA_OK;
		TesseraPackage *package = tessera_package_memory(copy, n, &e);
		TesseraProgram *program = package ? tessera_load(device, package, &e) : NULL;
		if (program) {
			const TesseraTensor in = tessera_input(package, 0),
					    out = tessera_output(package, 0);
			const TesseraArray from = tessera_array(&in, x),
					   to = tessera_array(&out, y);

			tessera_limit(program, (TesseraLimits){ .steps = 200000 });
			tessera_run(program, &from, 1, &to, 1, &e);
		}
		code[e.code]++;
		tessera_unload(program);
		tessera_package_close(package);
	}
	print_message("%zu ran, %zu packages refused, %zu faults, %zu gave no answer\n",
		      code[TESSERA_OK], code[TESSERA_BAD_PACKAGE], code[TESSERA_FAULT],
		      code[TESSERA_TIMEOUT]);
	assert_true(code[TESSERA_OK] > 0 && code[TESSERA_BAD_PACKAGE] > 0 &&
		    code[TESSERA_FAULT] > 0);
	tessera_device_close(device);
	free(copy);
	free(file);
}

static void options_nobody_knows_are_refused(void **state)
{
	static const char *const specs[] = { "emu:quick", "emu:threads=", "emu:threads=2x", "emu:threads=9",
					     "emu:strict=2", "emu:fast,,race" };

	(void)state;
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		TesseraError e = { 0 };

		assert_null(tessera_device_open(specs[i], &e));
		assert_int_equal(e.code, TESSERA_BAD_DEVICE);
		assert_non_null(strstr(e.text, "emu: no such option: "));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_give_their_outputs),
		cmocka_unit_test(the_fast_one_says_so),
		cmocka_unit_test(counters_can_be_asked_for),
		cmocka_unit_test(counters_are_printed_op_by_op_and_core_by_core),
		cmocka_unit_test(nothing_is_kept_op_by_op_unless_asked_for),
		cmocka_unit_test(both_simulators_have_the_same_bytes),
		cmocka_unit_test(faults_name_core_op_and_where_the_model_has_it),
		cmocka_unit_test(writes_outside_of_buffers_are_faults),
		cmocka_unit_test(faults_name_the_buffer_that_is_touched),
		cmocka_unit_test(a_stuck_program_says_who_waits),
		cmocka_unit_test(a_program_that_never_ends_is_given_up),
		cmocka_unit_test(results_that_depend_on_timing_are_races),
		cmocka_unit_test(corrupted_code_never_crashes),
		cmocka_unit_test(options_nobody_knows_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
