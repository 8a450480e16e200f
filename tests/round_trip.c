/*
 * Every model of the given folders through every pass: after each, the graph
 * obeys the verifier and its text comes back to the same text; and the same
 * for the graph without the data of its constants.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/model.h"
#include "frontend/weights.h"
#include "ir/file.h"
#include "passes/pass.h"
#include "tests/cases.h"
#include "tests/check.h"

static void run_passes(Graph *g)
{
	for (int i = 0; i < pass_pipeline_length; i++) {
		const Pass *pass = &pass_info[pass_pipeline[i]];
		const char *before = cases_print(g);
		bool changed = pass->run(g);
		assert_int_equal(g->diag->errors, 0);
		if (strcmp(cases_print(g), before) != 0 && !changed)
			fail_msg("%s changed the graph and did not say so", pass->name);
	}
}

/* The model's shape where its file leaves dims open: that of the golden input
 * ../golden/NAME/in_0.npy. */
static ModelOptions golden_shape(Arena *a, Diag *d, const char *path)
{
	ShapeOption *shape = arena_new(a, ShapeOption);
	const char *name = strrchr(path, '/') + 1, *folder = path_dir(a, path_dir(a, path));
	name = arena_strndup(a, name, strcspn(name, "."));
	const char *in = arena_printf(a, "%s/golden/%s/in_0.npy", folder, name);
	if (access(in, R_OK) != 0)
		return (ModelOptions){ 0 };
	shape->shape = npy_read(a, d, in)->shape;
	return (ModelOptions){ .nshapes = 1, .shapes = shape };
}

static void every_text_comes_back(void **state)
{
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	ModelOptions opt = golden_shape(a, &d, *state);
	Graph *g = model_read(a, &d, *state, &opt);
	assert_non_null(g);
	Graph *elided = cases_parse(a, &d, "elided.ir", cases_text(g));
	run_passes(g);
	run_passes(elided);
	diag_finish(&d);
	arena_destroy(a);
}

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct CMUnitTest *)x)->name, ((const struct CMUnitTest *)y)->name);
}

int main(int argc, char **argv)
{
	enum { MOST = 1000 };
	static struct CMUnitTest tests[MOST];
	Arena *a = arena_create();
	size_t n = 0;

	for (int i = 1; i < argc; i++) {
		DIR *dir = opendir(argv[i]);
		if (!dir)
			die("no folder %s", argv[i]);
		for (struct dirent *e; (e = readdir(dir)) && n < MOST;) {
			char *path = arena_printf(a, "%s/%s", argv[i], e->d_name);
			if (e->d_name[0] != '.')
				tests[n++] = (struct CMUnitTest){ path, every_text_comes_back,
								  .initial_state = path };
		}
		closedir(dir);
	}
	qsort(tests, n, sizeof tests[0], by_name);
	int failed = _cmocka_run_group_tests("round trip", tests, n, NULL, NULL);
	arena_destroy(a);
	return failed;
}
