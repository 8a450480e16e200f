#include "ir/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir/arena.h"

struct Source {
	Source *next;
	const char *file, *text;
	size_t size;
};

static void print_where(FILE *to, Loc at)
{
	if (!at.file)
		return;
	fprintf(to, "%s:", at.file);
	if (at.line)
		fprintf(to, "%d:%d:", at.line, at.col);
	if (at.node)
		fprintf(to, " %s:", at.node);
	fputc(' ', to);
}

static const char *find_line(const Diag *d, Loc at, size_t *len)
{
	for (const Source *s = d->sources; s; s = s->next) {
		if (strcmp(s->file, at.file) != 0)
			continue;
		const char *p = s->text, *end = s->text + s->size;
		for (int line = 1; p && p < end; line++) {
			const char *nl = memchr(p, '\n', (size_t)(end - p));
			if (line == at.line) {
				*len = (size_t)((nl ? nl : end) - p);
				return p;
			}
			p = nl ? nl + 1 : NULL;
		}
	}
	return NULL;
}

/* A long line is shown from some way before the column. */
static void print_caret(const Diag *d, FILE *to, Loc at)
{
	enum { WIDEST = 160 };
	size_t len = 0, col = at.col > 0 ? (size_t)at.col - 1 : 0, from;
	const char *line = at.file && at.line ? find_line(d, at, &len) : NULL;
	if (!line || col > len)
		return;
	from = col < WIDEST ? 0 : col - WIDEST / 2;
	line += from;
	len -= from;
	col -= from;
	if (len > WIDEST)
		len = WIDEST;
	fputs(from ? "    ..." : "    ", to);
	for (size_t i = 0; i < len; i++)
		fputc(line[i] == '\t' || (unsigned char)line[i] >= ' ' ? line[i] : '?', to);
	fputs(from ? "\n       " : "\n    ", to);
	for (size_t i = 0; i < col; i++)
		fputc(line[i] == '\t' ? '\t' : ' ', to);
	fputs("^\n", to);
}

typedef struct Kind {
	const char *name, *color;
} Kind;

static const Kind errors = { "error", "\033[1;31m" };
static const Kind warnings = { "warning", "\033[1;35m" };
static const Kind notes = { "note", "\033[1;36m" };

static void say_to(const Diag *d, FILE *to, bool colors, Loc at, const Kind *kind,
		   const char *fmt, va_list ap)
{
	print_where(to, at);
	fprintf(to, "%s%s:%s ", colors ? kind->color : "", kind->name, colors ? "\033[0m" : "");
	vfprintf(to, fmt, ap);
	fputc('\n', to);
	print_caret(d, to, at);
}

static void say(Diag *d, Loc at, const Kind *kind, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	if (d->erase)
		fputs(d->erase, d->to);
	d->erase = NULL;
	say_to(d, d->to, d->colors, at, kind, fmt, ap);
	if (d->copy)
		say_to(d, d->copy, false, at, kind, fmt, again);
	va_end(again);
}

void diag_error(Diag *d, Loc at, const char *fmt, ...)
{
	const int limit = d->limit ? d->limit : 20;
	va_list ap;
	va_start(ap, fmt);
	if (d->errors < limit)
		say(d, at, &errors, fmt, ap);
	else if (d->errors == limit)
		fputs("further errors are not shown\n", d->to);
	va_end(ap);
	d->errors++;
}

void diag_warning(Diag *d, Loc at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	say(d, at, &warnings, fmt, ap);
	va_end(ap);
	d->warnings++;
}

void diag_note(Diag *d, Loc at, const char *fmt, ...)
{
	const int limit = d->limit ? d->limit : 20;
	va_list ap;
	va_start(ap, fmt);
	if (d->errors <= limit)
		say(d, at, &notes, fmt, ap);
	va_end(ap);
}

void diag_add_source(Diag *d, const char *file, const char *text, size_t size)
{
	Source *s = xmalloc(sizeof *s);
	*s = (Source){ d->sources, file, text, size };
	d->sources = s;
}

void diag_finish(Diag *d)
{
	for (Source *s = d->sources, *next; s; s = next) {
		next = s->next;
		free(s);
	}
	d->sources = NULL;
}

void die(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fputs("internal error: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(EXIT_INTERNAL);
}

void die_out_of_memory(size_t wanted)
{
	fprintf(stderr, "out of memory: %zu bytes wanted\n", wanted);
	exit(EXIT_INTERNAL);
}

/* Letters to insert, drop, change or swap with their neighbour; a large number
 * for long words; a word left unfinished is always near. */
static size_t distance(const char *a, const char *b)
{
	enum { LONGEST = 63 };
	size_t rows[3][LONGEST + 1], na = strlen(a), nb = strlen(b);
	if (na > LONGEST || nb > LONGEST)
		return LONGEST;
	if (na > 2 && strncmp(a, b, na) == 0)
		return 1;
	for (size_t j = 0; j <= nb; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
			if (above[j] + 1 < best)
				best = above[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[na % 3][nb];
}

const char *diag_nearest(const char *word, const char *const candidates[],
			 size_t n)
{
	const char *best = NULL;
	size_t nearest = strlen(word) / 3 + 2;
	for (size_t i = 0; i < n; i++) {
		size_t far = distance(word, candidates[i]);
		if (far < nearest) {
			nearest = far;
			best = candidates[i];
		}
	}
	return best;
}
