/*
 * Reads each case of a .ir or .nnef file.
 *
 *     --- case NAME      a text follows
 *     --- prints         the graph must print as this
 *     --- itself         or: it must print as the text it was read from
 *     --- error          or: reading must report this, and nothing else
 */
#include <stdlib.h>
#include <string.h>

#include "tests/cases.h"
#include "tests/check.h"

static void read_case(void **state)
{
	const Case *c = *state;
	char *said;
	size_t n;
	Arena *a = arena_create();
	Diag d = { .to = open_memstream(&said, &n) };

	Graph *g = cases_parse(a, &d, c->file, c->in);
	fclose(d.to);
	if (strcmp(c->how, "error") == 0) {
		assert_string_equal(said, c->want);
		assert_null(g);
	} else {
		assert_true(strcmp(c->how, "prints") == 0 || strcmp(c->how, "itself") == 0);
		assert_string_equal(said, "");
		assert_string_equal(cases_print(g), strcmp(c->how, "prints") ? c->in : c->want);
	}
	diag_finish(&d);
	free(said);
	arena_destroy(a);
}

int main(int argc, char **argv)
{
	return cases_run(argc == 2 ? argv[1] : "", read_case);
}
