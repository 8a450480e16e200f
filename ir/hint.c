#include "ir/hint.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *key, *form, *what;
} rows[] = {
#define HINT(key, form, what) { #key, form, what },
#include "ir/hints.def"
};

enum { ROWS = sizeof rows / sizeof rows[0] };

bool hint_row(int i, const char **key, const char **form, const char **what)
{
	if (i < 0 || i >= ROWS)
		return false;
	*key = rows[i].key;
	*form = rows[i].form;
	*what = rows[i].what;
	return true;
}

/* Length of the number at `s`, which fits an int; 0 if there is none. */
static size_t number(const char *s)
{
	size_t n = strspn(s, "0123456789");
	return n <= 9 ? n : 0;
}

/* `form` letter by letter, where x and y stand for numbers. */
static bool fits_range(const char *form, const char *value)
{
	for (; *form; form++) {
		size_t n = *form == 'x' || *form == 'y' ? number(value) : *form == *value;
		if (!n)
			return false;
		value += n;
	}
	return !*value;
}

static bool fits_choice(const char *form, const char *value)
{
	size_t len = strlen(value), n;
	for (; *form; form += n + (form[n] == '|')) {
		n = strcspn(form, "|");
		if (n == len && strncmp(form, value, n) == 0)
			return true;
	}
	return false;
}

static bool fits(const char *form, const char *value)
{
	if (strcmp(form, "number") == 0)
		return *value != '0' && number(value) && number(value) == strlen(value);
	return form[0] == '(' ? fits_range(form, value) : fits_choice(form, value);
}

/* Of a value that has the form of a core range. */
static bool range_is_empty(const char *value)
{
	int x0, y0, x1, y1;
	return sscanf(value, "(%d,%d)-(%d,%d)", &x0, &y0, &x1, &y1) == 4 && (x1 < x0 || y1 < y0);
}

static void no_such_hint(Graph *g, const Op *op, Loc at, const char *key)
{
	const char *keys[ROWS], *near;
	for (int i = 0; i < ROWS; i++)
		keys[i] = rows[i].key;
	near = diag_nearest(key, keys, ROWS);
	diag_error(g->diag, at, "%s: no hint '%.40s'", op_info[op->kind].name, key);
	if (near)
		diag_note(g->diag, at, "did you mean '%s'?", near);
}

void op_add_hint(Graph *g, Op *op, Loc at, const char *key, const char *value)
{
	const char *name = op_info[op->kind].name;
	int row = 0;

	while (row < ROWS && strcmp(rows[row].key, key) != 0)
		row++;
	if (row == ROWS) {
		no_such_hint(g, op, at, key);
		return;
	}
	if (!fits(rows[row].form, value)) {
		diag_error(g->diag, at, "%s: hint %s wants %s, found '%.40s'", name, key,
			   rows[row].form, value);
		return;
	}
	if (range_is_empty(value)) {
		diag_error(g->diag, at, "%s: hint %s: %s ends before it starts", name, key, value);
		return;
	}
	if (op_hint(op, key)) {
		diag_error(g->diag, at, "%s: hint %s is given twice", name, key);
		return;
	}
	Hint *hints = arena_array(g->arena, Hint, op->nhints + 1);
	for (int i = 0; i < op->nhints; i++)
		hints[i] = op->hints[i];
	hints[op->nhints++] = (Hint){ rows[row].key, arena_strdup(g->arena, value) };
	op->hints = hints;
}

const char *op_hint(const Op *op, const char *key)
{
	for (int i = 0; i < op->nhints; i++)
		if (strcmp(op->hints[i].key, key) == 0)
			return op->hints[i].value;
	return NULL;
}

bool op_asks(const Op *op, const char *key, const char *value)
{
	const char *is = op_hint(op, key);
	return is && strcmp(is, value) == 0;
}
