#include "tests/cases.h"

#include <stdlib.h>
#include <string.h>

#include "frontend/model.h"
#include "tests/check.h"

/* Ends the section at `*s` where the next "--- " line starts. Returns that
 * line's text and moves `*s` below it; NULL if there is none. */
static char *next_mark(char **s)
{
	for (char *line = *s, *end; (end = strchr(line, '\n')); line = end + 1) {
		if (strncmp(line, "--- ", 4) != 0)
			continue;
		*line = *end = '\0';
		*s = end + 1;
		return line + 4;
	}
	return NULL;
}

static char *slurp(const char *path)
{
	char *text;
	size_t n;
	FILE *from = fopen(path, "r"), *to = open_memstream(&text, &n);
	if (!from)
		die("no file %s", path);
	for (int c; (c = getc(from)) != EOF;)
		putc(c, to);
	fclose(from);
	fclose(to);
	return text;
}

int cases_run(const char *path, void (*run)(void **state))
{
	char *text = slurp(path), *rest = text;
	Arena *a = arena_create();
	size_t most = strlen(text) / strlen("--- case x\n") + 1, n = 0;
	struct CMUnitTest *tests = arena_array(a, struct CMUnitTest, most);

	for (char *name = next_mark(&rest); name; n++) {
		Case *c = arena_new(a, Case);
		c->file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
		c->name = name + strlen("case ");
		c->in = rest;
		c->how = next_mark(&rest);
		if (strncmp(name, "case ", 5) != 0 || !c->how)
			die("%s: '--- %s' is not where a case starts", path, name);
		c->want = rest;
		name = next_mark(&rest);
		tests[n] = (struct CMUnitTest){ c->name, run, NULL, NULL, c };
	}
	if (!n)
		die("%s: no cases", path);
	int failed = _cmocka_run_group_tests(path, tests, n, NULL, NULL);
	arena_destroy(a);
	free(text);
	return failed;
}

const char *cases_text(const Graph *g)
{
	char *text;
	size_t n;
	FILE *f = open_memstream(&text, &n);
	graph_print(g, f);
	fclose(f);
	char *copy = arena_strndup(g->arena, text, n);
	free(text);
	return copy;
}

/* NNEF that starts with its graph or a fragment may use every extension; what
 * is put before it stands on its first line, so that line numbers hold. */
static const char *extended(Arena *a, const char *text)
{
	if (strncmp(text, "graph", 5) != 0 && strncmp(text, "fragment", 8) != 0)
		return text;
	return arena_printf(a, "version 1.0; extension KHR_enable_fragment_definitions, "
			    "KHR_enable_operator_expressions, TS_scoped_variables, TS_hints;%s", text);
}

Graph *cases_read(Arena *a, Diag *d, const char *file, const char *text, const ModelOptions *opt)
{
	if (strlen(file) < 5 || strcmp(file + strlen(file) - 5, ".nnef") != 0)
		return text_parse(a, d, file, text, strlen(text), opt);
	text = extended(a, text);
	return nnef_parse_text(a, d, file, text, strlen(text), "no such folder", opt);
}

static Graph *parse_plainly(Arena *a, Diag *d, const char *file, const char *text)
{
	return cases_read(a, d, file, text, &(ModelOptions){ .no_weights = true });
}

const char *cases_print(const Graph *g)
{
	Diag d = { .to = stderr };
	assert_true(graph_verify(g));
	const char *text = cases_text(g);
	Graph *again = parse_plainly(g->arena, &d, "printed.ir", text);
	assert_non_null(again);
	assert_string_equal(cases_text(again), text);
	diag_finish(&d);
	return text;
}

Graph *cases_parse(Arena *a, Diag *d, const char *file, const char *text)
{
	Graph *g = parse_plainly(a, d, file, text);
	if (g)
		cases_print(g);
	return g;
}
