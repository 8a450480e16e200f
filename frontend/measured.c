#include "frontend/measured.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Header {
	const char *name, *unit;
} Header;

static const Header times[] = {
#define MEASURED_TIME(header, unit) { header, unit },
#include "frontend/measured.def"
}, gaps[] = {
#define MEASURED_GAP(header, unit) { header, unit },
#include "frontend/measured.def"
}, names[] = {
#define MEASURED_NAME(header) { header, "" },
#include "frontend/measured.def"
}, kinds[] = {
#define MEASURED_KIND(header) { header, "" },
#include "frontend/measured.def"
};

static const struct {
	const char *word;
	double nanoseconds;
} units[] = {
#define MEASURED_UNIT(word, nanoseconds) { word, nanoseconds },
#include "frontend/measured.def"
};

#define COUNT(list) ((int)(sizeof (list) / sizeof *(list)))

typedef struct Reader {
	Arena *a;
	Diag *d;
	const char *file, *at, *end;
	int line;
	const char **fields;
	int n;
} Reader;

/* What a table says: where its columns are, or -1, and how they are called. */
typedef struct Columns {
	int n;
	const char **headers, **bare, **units; /* as they stand; without their units; these */
	int name, kind, time, gap;
	double time_unit, gap_unit;
} Columns;

/* One field; quotes are taken off. */
static const char *read_field(Reader *r)
{
	TextFile t;
	bool quoted = false;
	text_open(&t);
	for (; r->at < r->end; r->at++) {
		const char c = *r->at;
		if (c == '"' && quoted && r->at + 1 < r->end && r->at[1] == '"')
			fputc(*++r->at, t.f);
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == ',' || c == '\n'))
			break;
		else if (quoted || c != '\r')
			fputc(c, t.f);
		r->line += c == '\n';
	}
	return text_take(&t, r->a);
}

/* The next line that is not empty; false at the end. Returns where it began in *line. */
static bool read_line(Reader *r, int *line)
{
	while (r->at < r->end && (*r->at == '\n' || *r->at == '\r'))
		r->line += *r->at++ == '\n';
	*line = r->line;
	r->n = 0;
	if (r->at >= r->end)
		return false;
	for (;;) {
		r->fields = arena_grow(r->a, r->fields, r->n, sizeof *r->fields);
		r->fields[r->n++] = read_field(r);
		if (r->at >= r->end || *r->at == '\n')
			break;
		r->at++;
	}
	r->line += r->at < r->end;
	r->at += r->at < r->end;
	return true;
}

/* "DEVICE KERNEL DURATION [ns]" to "device kernel duration ns". */
static char *plain(Arena *a, const char *header)
{
	char *to = arena_strdup(a, header), *end = to;
	for (const char *p = header; *p; p++) {
		const bool gap = strchr(" _-[]()", *p) != NULL;
		if (!gap)
			*end++ = (char)tolower((unsigned char)*p);
		else if (end > to && end[-1] != ' ')
			*end++ = ' ';
	}
	while (end > to && end[-1] == ' ')
		end--;
	*end = '\0';
	return to;
}

static double unit_of(const char *word)
{
	for (int i = 0; i < COUNT(units); i++)
		if (strcmp(units[i].word, word) == 0)
			return units[i].nanoseconds;
	return -1;
}

static void find_headers(Columns *c, Reader *r)
{
	c->n = r->n;
	c->headers = arena_array(r->a, const char *, r->n);
	c->bare = arena_array(r->a, const char *, r->n);
	c->units = arena_array(r->a, const char *, r->n);
	for (int i = 0; i < r->n; i++) {
		char *text = plain(r->a, r->fields[i]);
		char *space = strrchr(text, ' '), *last = space ? space + 1 : text;
		c->headers[i] = r->fields[i];
		c->bare[i] = text;
		c->units[i] = "";
		if (!*last || unit_of(last) < 0)
			continue;
		c->units[i] = arena_strdup(r->a, last);
		*(space ? space : text) = '\0';
	}
}

/* The first of `list` that is there; its unit, -1 if it has none. */
static int find_column(const Columns *c, const Header *list, int n, double *unit)
{
	for (int k = 0; k < n; k++)
		for (int i = 0; i < c->n; i++) {
			const bool empty = !*list[k].name && !*c->units[i];
			if (strcmp(list[k].name, c->bare[i]) != 0 || empty)
				continue;
			*unit = unit_of(*c->units[i] ? c->units[i] : list[k].unit);
			return i;
		}
	return -1;
}

static const char *listed(Arena *a, const char *const *list, int n)
{
	enum { MOST = 8 };
	const char *text = "";
	for (int i = 0; i < n && i < MOST; i++)
		text = arena_printf(a, "%s%s'%s'", text, i ? ", " : "", list[i]);
	return n > MOST ? arena_printf(a, "%s and %d more", text, n - MOST) : text;
}

static bool find_columns(Columns *c, Reader *r)
{
	double none;
	const Loc at = { .file = r->file, .line = 1, .col = 1 };
	find_headers(c, r);
	c->name = find_column(c, names, COUNT(names), &none);
	c->kind = find_column(c, kinds, COUNT(kinds), &none);
	c->gap = find_column(c, gaps, COUNT(gaps), &c->gap_unit);
	c->time = find_column(c, times, COUNT(times), &c->time_unit);
	if (c->name < 0)
		diag_error(r->d, at, "no column names the ops: it wants 'op' or 'OP CODE', and has %s",
			   listed(r->a, c->headers, c->n));
	if (c->time < 0)
		diag_error(r->d, at, "no column has measured times: it wants 'measured_us', 'DEVICE "
			   "KERNEL DURATION [ns]' or 'Device Time', and has %s",
			   listed(r->a, c->headers, c->n));
	else if (c->time_unit < 0)
		diag_error(r->d, at, "column '%s' has no unit: call it '%s_us', '%s_ns' or '%s_cycles'",
			   c->headers[c->time], c->headers[c->time], c->headers[c->time],
			   c->headers[c->time]);
	return c->name >= 0 && c->time >= 0 && c->time_unit >= 0;
}

static const char *field(const Reader *r, int i) { return i >= 0 && i < r->n ? r->fields[i] : ""; }

/* A number of 0 or more; -1 if it is none, which is reported. */
static double read_number(const Reader *r, const char *header, const char *text, int line)
{
	char *end;
	const double v = strtod(text, &end);
	while (*end == ' ')
		end++;
	if (end > text && !*end && isfinite(v) && v >= 0)
		return v;
	diag_error(r->d, (Loc){ .file = r->file, .line = line, .col = 1 }, "%s wants %s, has '%s'", header,
		   end > text && !*end && v < 0 ? "a time of 0 or more" : "a number", text);
	return -1;
}

static void read_row(Measured *m, const Reader *r, const Columns *c, int line)
{
	const char *time = field(r, c->time), *gap = field(r, c->gap);
	if (r->n > c->n) {
		diag_error(r->d, (Loc){ .file = r->file, .line = line, .col = 1 },
			   "%d fields, and the header has %d", r->n, c->n);
		return;
	}
	const double v = *time ? read_number(r, c->headers[c->time], time, line) : 0;
	if (v <= 0) {
		m->without += v == 0;
		return;
	}
	m->rows = arena_grow(r->a, m->rows, m->n, sizeof *m->rows);
	m->rows[m->n++] = (MeasuredRow){
		.name = field(r, c->name), .kind = field(r, c->kind), .time = v, .line = line,
		.gap = *gap && c->gap_unit > 0
			? fmax(read_number(r, c->headers[c->gap], gap, line), 0) * c->gap_unit : 0,
	};
}

bool measured_parse(Measured *m, Arena *a, Diag *d, const char *path, const char *text,
		    size_t size)
{
	static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
	const int errors = d->errors;
	Columns c = { 0 };
	int line;
	*m = (Measured){ .path = path };
	Reader r = { .a = a, .d = d, .file = path, .at = text, .end = text + size, .line = 1 };
	if (size >= 3 && memcmp(r.at, mark, 3) == 0)
		r.at += 3;
	if (!read_line(&r, &line)) {
		diag_error(d, (Loc){ .file = path }, "empty: it wants a line of headers, and one for "
			   "each op that was measured");
		return false;
	}
	if (!find_columns(&c, &r))
		return false;
	m->column = c.headers[c.time];
	m->unit = c.time_unit;
	while (read_line(&r, &line))
		read_row(m, &r, &c, line);
	if (d->errors == errors && !m->n)
		diag_error(d, (Loc){ .file = path }, "no row has a time in column '%s'", m->column);
	return d->errors == errors;
}

bool measured_read(Measured *m, Arena *a, Diag *d, const char *path)
{
	const Bytes text = file_map(a, d, (Loc){ 0 }, path);
	return text.data && measured_parse(m, a, d, path, text.data, text.size);
}
