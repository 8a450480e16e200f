/* The library with the sample package of package.h on a device. */
#ifndef TESTS_RT_FIXTURE_H
#define TESTS_RT_FIXTURE_H

#include "tests/package.h"

static const Sample copy_sample = {
	.code = copies_input,
	.words = sizeof copies_input / sizeof *copies_input,
	.cores = 3,
	.in = { 1, 3, 5, 7 },
	.out = { 1, 3, 5, 7 },
};

enum { ELEMENTS = 3 * 5 * 7 };

typedef struct Fixture {
	uint8_t *file;
	TesseraPackage *package;
	TesseraDevice *device;
	TesseraProgram *program;
	TesseraTensor in, out;
	float x[ELEMENTS], y[ELEMENTS];
	TesseraArray from, to;
	TesseraError e;
} Fixture;

/* Behind kind, which may be all of the spec, comes a path or "". */
static inline void fixture_open(Fixture *f, const Sample *s, const char *kind, const char *path)
{
	char spec[1024];
	size_t n;

	memset(f, 0, sizeof *f);
	f->file = sample_finish(sample_writer(s), &n);
	f->package = tessera_package_memory(f->file, n, &f->e);
	assert_non_null(f->package);
	f->in = tessera_input(f->package, 0);
	f->out = tessera_output(f->package, 0);
	f->from = tessera_array(&f->in, f->x);
	f->to = tessera_array(&f->out, f->y);
	snprintf(spec, sizeof spec, "%s%s", kind, path);
	f->device = tessera_device_open(spec, &f->e);
	if (!f->device)
		fail_msg("%s", f->e.text);
	f->program = tessera_load(f->device, f->package, &f->e);
	if (!f->program)
		fail_msg("%s", f->e.text);
}

static inline void fixture_close(Fixture *f)
{
	tessera_unload(f->program);
	tessera_device_close(f->device);
	tessera_package_close(f->package);
	free(f->file);
}

static inline void fill(float *x, float from)
{
	for (int i = 0; i < ELEMENTS; i++)
		x[i] = from + (float)i;
}

/* Five runs one by one, then three that overlap. */
static inline void run_all(Fixture *f)
{
	float second[ELEMENTS], expected[ELEMENTS];
	TesseraArray next = f->from;

	next.data = second;
	for (int i = 0; i < 5; i++) {
		fill(f->x, (float)i * 1000);
		memset(f->y, 0, sizeof f->y);
		if (!tessera_run(f->program, &f->from, 1, &f->to, 1, &f->e))
			fail_msg("%s\n%s", f->e.text, f->e.detail);
		assert_memory_equal(f->y, f->x, sizeof f->y);
	}
	fill(f->x, -1);
	fill(second, -1000);
	assert_true(tessera_submit(f->program, &f->from, 1, &f->e));
	assert_true(tessera_submit(f->program, &next, 1, &f->e));
	assert_false(tessera_submit(f->program, &next, 1, &f->e));
	assert_int_equal(f->e.code, TESSERA_MISUSE);
	assert_non_null(strstr(f->e.text, "2 runs are under way, wait for one"));
	assert_false(tessera_run(f->program, &f->from, 1, &f->to, 1, &f->e));
	assert_true(tessera_wait(f->program, &f->to, 1, &f->e));
	assert_memory_equal(f->y, f->x, sizeof f->y);
	fill(f->x, 7);
	assert_true(tessera_submit(f->program, &f->from, 1, &f->e));
	assert_true(tessera_wait(f->program, &f->to, 1, &f->e));
	assert_memory_equal(f->y, second, sizeof f->y);
	assert_true(tessera_wait(f->program, &f->to, 1, &f->e));
	fill(expected, 7);
	assert_memory_equal(f->y, expected, sizeof f->y);
	assert_false(tessera_wait(f->program, &f->to, 1, &f->e));
	assert_non_null(strstr(f->e.text, "nothing was submitted"));
}

#endif
