/*
 * Runs each case of a .ir file through the pass the file is named after.
 *
 *     --- case NAME      a graph follows
 *     --- expect         the pass must change it into this
 *     --- unchanged      or: the pass must leave it alone
 *     --- error          or: reading it or the pass must report this
 */
#include <stdlib.h>
#include <string.h>

#include "passes/pass.h"
#include "tests/cases.h"
#include "tests/check.h"

static const Pass *pass_of(const char *file)
{
	for (int i = 0; i < PASS_COUNT; i++) {
		size_t n = strlen(pass_info[i].name);
		if (strncmp(file, pass_info[i].name, n) == 0 && strcmp(file + n, ".ir") == 0)
			return &pass_info[i];
	}
	fail_msg("%s is named after no pass", file);
	return NULL;
}

static void run_case(void **state)
{
	const Case *c = *state;
	char *said;
	size_t n;
	Arena *a = arena_create();
	Diag d = { .to = open_memstream(&said, &n) };

	Graph *g = cases_parse(a, &d, c->file, c->in);
	const char *before = g ? cases_print(g) : "";
	bool changed = g && pass_of(c->file)->run(g);
	const char *after = g && !d.errors ? cases_print(g) : "";
	fclose(d.to);

	if (strcmp(c->how, "error") == 0) {
		assert_string_equal(said, c->want);
	} else if (strcmp(c->how, "expect") == 0) {
		assert_string_equal(said, "");
		assert_string_equal(after, c->want);
		assert_true(changed);
	} else {
		assert_string_equal(c->how, "unchanged");
		assert_string_equal(said, "");
		assert_string_equal(after, before);
		assert_false(changed);
	}
	diag_finish(&d);
	free(said);
	arena_destroy(a);
}

int main(int argc, char **argv)
{
	return cases_run(argc == 2 ? argv[1] : "", run_case);
}
