#include "tests/metal/cpp_declarations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Walk {
	CppDeclarations *to;
	Arena *arena;
	const char **text;
	int at, n;
} Walk;

static const char *token(const Walk *w, int i)
{
	return i >= 0 && i < w->n ? w->text[i] : "";
}

static bool is(const Walk *w, int i, const char *what)
{
	return strcmp(token(w, i), what) == 0;
}

static bool is_word(const char *t)
{
	return t[0] == '_' || (t[0] >= 'A' && t[0] <= 'Z') || (t[0] >= 'a' && t[0] <= 'z');
}

/* Behind the bracket that closes the one at `i`. */
static int behind(const Walk *w, int i)
{
	int deep = 0;

	for (; i < w->n; i++) {
		const char *t = w->text[i];
		deep += strchr("({[", t[0]) && !t[1];
		deep -= strchr(")}]", t[0]) && !t[1];
		if (!deep)
			return i + 1;
	}
	return w->n;
}

/* Behind the > that closes the < at `i`. */
static int behind_angle(const Walk *w, int i)
{
	int deep = 0;

	while (i < w->n) {
		if (is(w, i, "(") || is(w, i, "{")) {
			i = behind(w, i);
			continue;
		}
		deep += is(w, i, "<");
		deep -= is(w, i, ">");
		i++;
		if (!deep)
			return i;
	}
	return w->n;
}

static bool is_dropped(const char *t)
{
	static const char *const dropped[] = {
		"FORCE_INLINE", "ALWI",      "inline",     "virtual", "override", "extern",
		"static",       "tt_l1_ptr", "tt_reg_ptr", "final",   "typename",
	};
	for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
		if (strcmp(t, dropped[i]) == 0)
			return true;
	return false;
}

/* Where the name of a parameter that ends before `end` is; -1 if it has none. */
static int parameter_name(const Walk *w, int first, int end)
{
	const char *last = token(w, end - 1), *before = token(w, end - 2);

	if (end - first < 2 || !is_word(last) || strcmp(last, "const") == 0)
		return -1;
	if (strcmp(before, "::") == 0 || strcmp(before, "const") == 0 ||
	    strcmp(before, "volatile") == 0 || strcmp(before, "unsigned") == 0)
		return -1;
	return is_word(before) || strchr(">*&", before[0]) ? end - 1 : -1;
}

static void put(const Walk *w, FILE *f, int i)
{
	if (is_dropped(token(w, i)))
		return;
	if (is(w, i, "std") && is(w, i + 1, "::") &&
	    (strstr(token(w, i + 2), "int") || is(w, i + 2, "size_t")))
		return;
	if (is(w, i, "::") && is(w, i - 1, "std") &&
	    (strstr(token(w, i + 1), "int") || is(w, i + 1, "size_t")))
		return;
	fprintf(f, "%s ", token(w, i));
}

/* Tokens of a parameter without its name. */
static void put_parameter(const Walk *w, FILE *f, int first, int end)
{
	int equals = first, deep = 0;

	for (; equals < end && !(deep == 0 && is(w, equals, "=")); equals++) {
		deep += strchr("(<{", token(w, equals)[0]) && !token(w, equals)[1];
		deep -= strchr(")>}", token(w, equals)[0]) && !token(w, equals)[1];
	}
	const int name = parameter_name(w, first, equals);
	for (int i = first; i < end; i++)
		if (is(w, i, "[") && is(w, i + 1, "["))
			i = behind(w, i) - 1;
		else if (i != name)
			put(w, f, i);
}

static void put_parameters(const Walk *w, FILE *f, int open, int close)
{
	int first = open + 1, deep = 0;

	fputs("( ", f);
	for (int i = first; i <= close; i++) {
		const char *t = token(w, i);
		const bool last = i == close;
		if (last || (deep == 0 && t[0] == ',')) {
			if (i > first)
				put_parameter(w, f, first, i);
			fputs(last ? ") " : ", ", f);
			first = i + 1;
			continue;
		}
		deep += strchr("(<{", t[0]) && !t[1];
		deep -= strchr(")>}", t[0]) && !t[1];
	}
}

static void note(Walk *w, const char *scope, char *text, bool field)
{
	CppDeclarations *d = w->to;
	size_t n = strlen(text);

	while (n && text[n - 1] == ' ')
		text[--n] = '\0';
	d->list = arena_grow(w->arena, d->list, d->n, sizeof *d->list);
	d->list[d->n++] = (CppDeclaration){ scope, arena_strdup(w->arena, text), field };
	free(text);
}

/* Tokens first to end: a function, a variable, a using. */
static void note_declaration(Walk *w, const char *scope, int first, int end, bool in_class)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	bool function = false;

	for (int i = first; i < end; i++) {
		if (is(w, i, "[") && is(w, i + 1, "[")) {
			i = behind(w, i) - 1;
		} else if (is(w, i, "__attribute__")) {
			i = behind(w, i + 1) - 1;
		} else if (is(w, i, "(") && !function &&
			   !(is(w, i - 1, "operator") && is(w, i + 1, ")"))) {
			function = true;
			put_parameters(w, f, i, behind(w, i) - 1);
			i = behind(w, i) - 1;
		} else if (function && (is(w, i, ":") || is(w, i, "=") || is(w, i, "requires"))) {
			break; /* members, = 0, = default */
		} else {
			put(w, f, i);
		}
	}
	fclose(f);
	note(w, scope, text, in_class && !function && strncmp(text, "using", 5) != 0);
}

static void scan(Walk *w, const char *scope, bool in_class, bool open);

static const char *inner(Walk *w, const char *scope, const char *name)
{
	return *scope ? arena_printf(w->arena, "%s::%s", scope, name) : name;
}

static void scan_namespace(Walk *w, const char *scope)
{
	const char *name = "";

	for (w->at++; w->at < w->n && !is(w, w->at, "{") && !is(w, w->at, ";"); w->at++) {
		if (is(w, w->at, "["))
			w->at = behind(w, w->at) - 1;
		else if (!is(w, w->at, "inline"))
			name = arena_printf(w->arena, "%s%s", name, token(w, w->at));
	}
	w->at++;
	if (is(w, w->at - 1, "{"))
		scan(w, *name ? inner(w, scope, name) : scope, false, true);
}

static void scan_enum(Walk *w, const char *scope)
{
	long value = 0;
	int i = w->at + 1;
	const bool class = is(w, i, "class") || is(w, i, "struct");
	const char *name = is_word(token(w, i + class)) ? token(w, i + class) : "";
	const char *within = *name ? inner(w, scope, name) : scope;
	FILE *f;
	char *text;
	size_t size;

	f = open_memstream(&text, &size);
	for (; i < w->n && !is(w, i, "{") && !is(w, i, ";"); i++)
		put(w, f, i);
	fclose(f);
	note(w, scope, text, false);
	w->at = behind(w, i);
	if (!is(w, i, "{"))
		return;
	for (i++; i < w->at - 1; i++) {
		const char *id = token(w, i);
		if (is(w, i + 1, "="))
			value = strtol(token(w, i + 2), NULL, 0);
		text = NULL;
		f = open_memstream(&text, &size);
		fprintf(f, "%s = %ld", id, value++);
		fclose(f);
		note(w, within, text, false);
		while (i < w->at - 1 && !is(w, i, ","))
			i++;
	}
}

/* A class with a body; false if it is none. */
static bool scan_class(Walk *w, const char *scope)
{
	int i = w->at + 1;

	while (is(w, i, "[") || is(w, i, "alignas"))
		i = behind(w, is(w, i, "[") ? i : i + 1);
	const char *name = token(w, i);
	const bool open = !is(w, w->at, "class");
	for (; i < w->n && !is(w, i, "{"); i++)
		if (is(w, i, ";") || is(w, i, "(") || is(w, i, "="))
			return false;
		else if (is(w, i, "<"))
			i = behind_angle(w, i) - 1;
	w->at = i + 1;
	scan(w, inner(w, scope, name), true, open);
	while (w->at < w->n && !is(w, w->at, ";"))
		w->at++;
	return true;
}

/* Ends behind the declaration at `at`; tells where its text ends. */
static int end_of_declaration(Walk *w)
{
	bool parameters = false;

	while (w->at < w->n && !is(w, w->at, ";")) {
		if (is(w, w->at, "(") && !is(w, w->at - 1, "operator"))
			parameters = true;
		if (is(w, w->at, "{")) {
			const int end = w->at;
			const bool list = parameters && is_word(token(w, end - 1)) &&
					  !is(w, end - 1, "const") && !is(w, end - 1, "noexcept") &&
					  !is(w, end - 1, "override");
			w->at = behind(w, w->at);
			if (list && (is(w, w->at, ",") || is(w, w->at, "{")))
				continue; /* of members */
			if (parameters && !is(w, end - 1, "="))
				return end;
			continue;
		}
		w->at = is(w, w->at, "(") || is(w, w->at, "[") ? behind(w, w->at) : w->at + 1;
	}
	return w->at++;
}

static bool skip_label(Walk *w, bool *open)
{
	if (!is(w, w->at + 1, ":") ||
	    !(is(w, w->at, "public") || is(w, w->at, "private") || is(w, w->at, "protected")))
		return false;
	*open = is(w, w->at, "public");
	w->at += 2;
	return true;
}

/* Until the brace that closes the scope. */
static void scan(Walk *w, const char *scope, bool in_class, bool open)
{
	while (w->at < w->n && !is(w, w->at, "}")) {
		const int first = w->at;

		if (is(w, w->at, ";")) {
			w->at++;
		} else if (in_class && skip_label(w, &open)) {
			continue;
		} else if (is(w, w->at, "namespace")) {
			scan_namespace(w, scope);
		} else if (is(w, w->at, "extern") && is(w, w->at + 2, "{")) {
			w->at += 3;
			scan(w, scope, false, true);
		} else if (is(w, w->at, "enum")) {
			scan_enum(w, scope);
		} else {
			while (is(w, w->at, "template"))
				w->at = behind_angle(w, w->at + 1);
			const bool class = is(w, w->at, "class") || is(w, w->at, "struct") ||
					   is(w, w->at, "union");
			if (class && scan_class(w, open ? scope : inner(w, scope, "(private)")))
				continue;
			const bool hidden =
				!open || is(w, first, "friend") || is(w, first, "static_assert");
			const int end = end_of_declaration(w);
			if (!hidden)
				note_declaration(w, scope, first, end, in_class);
		}
	}
	w->at++;
}

void cpp_declarations(CppDeclarations *to, Arena *a, const CppTokens *tokens)
{
	Walk w = { .to = to, .arena = a, .text = tokens->text, .n = tokens->n };

	while (w.at < w.n)
		scan(&w, "", false, true);
}
