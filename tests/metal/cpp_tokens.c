#include "tests/metal/cpp_tokens.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 };

typedef struct Reader {
	CppTokens *to;
	Arena *arena;
	const char *at;
	bool out[DEEPEST]; /* of each condition that is open: left out */
	bool was[DEEPEST]; /* a branch of it was taken for certain */
	int depth;
} Reader;

static bool left_out(const Reader *r)
{
	for (int i = 0; i < r->depth; i++)
		if (r->out[i])
			return true;
	return false;
}

static void add(Reader *r, const char *from, size_t n)
{
	CppTokens *t = r->to;

	if (left_out(r))
		return;
	t->text = arena_grow(r->arena, t->text, t->n, sizeof *t->text);
	t->text[t->n++] = arena_strndup(r->arena, from, n);
}

/* A directive without its comments and line ends. */
static const char *directive(Reader *r)
{
	char *line = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&line, &n);

	for (; *r->at && *r->at != '\n'; r->at++) {
		if (r->at[0] == '\\' && r->at[1] == '\n') {
			r->at++;
		} else if (r->at[0] == '/' && r->at[1] == '/') {
			r->at += strcspn(r->at, "\n") - 1;
		} else if (r->at[0] == '/' && r->at[1] == '*') {
			const char *end = strstr(r->at + 2, "*/");
			r->at = end ? end + 1 : r->at + strlen(r->at) - 1;
		} else {
			fputc(*r->at, f);
		}
	}
	fclose(f);
	const char *kept = arena_strdup(r->arena, line + 1 + strspn(line + 1, " \t"));
	free(line);
	return kept;
}

/* 1: holds on Wormhole, -1: does not, 0: nobody knows. */
static int holds(const char *condition)
{
	static const char *const others[] = { "ARCH_QUASAR", "ARCH_BLACKHOLE", "__cplusplus_cli" };
	const bool no = condition[0] == '!' || strncmp(condition, "ndef", 4) == 0;

	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (strstr(condition, others[i]))
			return no ? 1 : -1;
	if (strstr(condition, "ARCH_WORMHOLE"))
		return no ? -1 : 1;
	return strncmp(condition, " 0", 2) == 0 ? -1 : 0;
}

static void open_condition(Reader *r, const char *condition)
{
	const int how = holds(condition + strspn(condition, " \t("));

	if (r->depth == DEEPEST)
		return;
	r->out[r->depth] = how < 0;
	r->was[r->depth++] = how > 0;
}

static void other_branch(Reader *r, const char *condition)
{
	const int how = condition ? holds(condition + strspn(condition, " \t(")) : 0;

	if (!r->depth)
		return;
	r->out[r->depth - 1] = r->was[r->depth - 1] || how < 0;
	r->was[r->depth - 1] |= how > 0;
}

static void define(Reader *r, const char *rest)
{
	CppTokens *t = r->to;
	const char *name = rest + strspn(rest, " \t");
	const size_t n =
		strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	if (left_out(r))
		return;
	t->macros = arena_grow(r->arena, t->macros, t->nmacros, sizeof *t->macros);
	t->macros[t->nmacros++] = (CppMacro){
		arena_strndup(r->arena, name, n),
		name[n] == '(' ? "" : arena_strdup(r->arena, name + n + strspn(name + n, " \t")),
	};
}

static void obey(Reader *r)
{
	const char *d = directive(r);

	if (strncmp(d, "ifdef", 5) == 0 || strncmp(d, "ifndef", 6) == 0)
		open_condition(r, d + 2);
	else if (strncmp(d, "if", 2) == 0)
		open_condition(r, d + 2);
	else if (strncmp(d, "elif", 4) == 0)
		other_branch(r, d + 4);
	else if (strncmp(d, "else", 4) == 0)
		other_branch(r, NULL);
	else if (strncmp(d, "endif", 5) == 0)
		r->depth -= r->depth > 0;
	else if (strncmp(d, "define", 6) == 0)
		define(r, d + 6);
}

static size_t quoted(const char *at)
{
	size_t n = 1;

	while (at[n] && at[n] != at[0])
		n += at[n] == '\\' ? 2 : 1;
	return n + 1;
}

static size_t token_length(const char *at)
{
	static const char *const joined[] = { "...", "<=>", "::", "->", "&&", "||", "==",
					      "!=",  "<=",  ">=", "+=", "-=", "++", "--" };
	size_t n = 0;

	if (*at == '"' || *at == '\'')
		return quoted(at);
	while (isalnum((unsigned char)at[n]) || at[n] == '_' ||
	       (n && at[n] == '\'' && isdigit((unsigned char)at[0])))
		n++;
	if (n)
		return n;
	for (size_t i = 0; i < sizeof joined / sizeof *joined; i++)
		if (strncmp(at, joined[i], strlen(joined[i])) == 0)
			return strlen(joined[i]);
	return 1;
}

void cpp_tokens(CppTokens *to, Arena *a, const char *source)
{
	Reader r = { .to = to, .arena = a, .at = source };

	while (*r.at) {
		if (isspace((unsigned char)*r.at)) {
			r.at++;
		} else if (r.at[0] == '/' && r.at[1] == '/') {
			r.at += strcspn(r.at, "\n");
		} else if (r.at[0] == '/' && r.at[1] == '*') {
			const char *end = strstr(r.at + 2, "*/");
			r.at = end ? end + 2 : r.at + strlen(r.at);
		} else if (*r.at == '#') {
			obey(&r);
		} else {
			const size_t n = token_length(r.at);
			add(&r, r.at, n);
			r.at += n;
		}
	}
}
