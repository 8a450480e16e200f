#include "ir/layout.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "ir/tensor.h"

static const char *const order_names[] = { [ORDER_ROW] = "row", [ORDER_COL] = "col" };
static const char *const place_names[] = { [PLACE_L1] = "l1", [PLACE_DRAM] = "dram" };

static int64_t round_up(int64_t n, int64_t step) { return (n + step - 1) / step * step; }

static int64_t stored_rows(const Layout *l)
{
	return (int64_t)l->above + l->rows + l->below;
}

int layout_pitch(int cols, int phases, int lead, int pad)
{
	return (int)round_up(lead + (cols + phases - 1) / phases + pad, PITCH_STEP);
}

static int64_t all_planes(const Layout *l) { return (int64_t)l->phases * l->planes; }

/* Exponents and values. */
static int pixel_bytes(DevTypes type) { return dev_pixel_bytes(type) + (type == DEV_BFP8_B); }

int layout_page_rows(DevTypes type, int pitch, int height)
{
	const int64_t row = (int64_t)pitch * pixel_bytes(type);
	const int64_t pages = height / ((LEAST_PAGE + row - 1) / row);
	return pages > 1 ? (int)((height + pages - 1) / pages) : height;
}

/* Rows of a plane whose exponents stand together, and planes. */
static int64_t rows_in_page(const Layout *l)
{
	const int64_t all = stored_rows(l);
	return l->place == PLACE_L1 ? all : layout_page_rows(l->type, l->pitch, (int)all);
}

static int64_t planes_in_page(const Layout *l) { return l->place == PLACE_L1 ? all_planes(l) : 1; }

static int64_t page_pixels(const Layout *l)
{
	return planes_in_page(l) * rows_in_page(l) * l->pitch;
}

int64_t layout_pages(const Layout *l)
{
	const int64_t rows = rows_in_page(l);
	return l->place == PLACE_L1 ? 1 : all_planes(l) * ((stored_rows(l) + rows - 1) / rows);
}

int64_t layout_page_bytes(const Layout *l)
{
	return round_up(page_pixels(l) * pixel_bytes(l->type),
			l->place == PLACE_L1 ? ALIGN_L1 : ALIGN_DRAM);
}

int64_t layout_bytes(const Layout *l) { return layout_pages(l) * layout_page_bytes(l); }

PixelAt layout_at(const Layout *l, int plane, int row, int col)
{
	const int phase = (col % l->phases + l->phases) % l->phases;
	const int64_t x = l->lead + ((int64_t)col - phase) / l->phases;
	const int64_t y = (int64_t)row - l->row + l->above, rows = rows_in_page(l);
	assert(0 <= x && x < l->pitch && 0 <= y && y < stored_rows(l));
	assert(l->plane <= plane && plane < l->plane + l->planes);

	int64_t z = (int64_t)phase * l->planes + plane - l->plane, page = 0;
	if (l->place == PLACE_DRAM) {
		page = y / rows * all_planes(l) + z;
		z = 0;
	}
	const int64_t pixel = (z * rows + y % rows) * l->pitch + x;
	if (l->type != DEV_BFP8_B)
		return (PixelAt){ page, pixel * dev_pixel_bytes(l->type), -1 };
	return (PixelAt){ page, page_pixels(l) + pixel * PLANE, pixel };
}

static int type_index(DevTypes type)
{
	for (int i = 0; i < DEV_TYPE_COUNT; i++)
		if (type == (DevTypes)(1 << i))
			return i;
	die("a layout has one data type, not the set %d", (int)type);
}

void layout_print(const Layout *l, FILE *f)
{
	fprintf(f, "%s rows=%d+%d halo=%d+%d planes=%d+%d cols=%d lead=%d pitch=%d phases=%d"
		" order=%s at=%s:0x%" PRIx64,
		dev_type_names[type_index(l->type)], l->row, l->rows, l->above, l->below,
		l->plane, l->planes, l->cols, l->lead, l->pitch, l->phases,
		order_names[l->order], place_names[l->place], l->address);
}

/* The fields after the type: one or two ints joined by '+', or a word. */
typedef struct Field {
	const char *name;
	int ints;
	size_t first, second;
} Field;

static const Field fields[] = {
	{ "rows", 2, offsetof(Layout, row), offsetof(Layout, rows) },
	{ "halo", 2, offsetof(Layout, above), offsetof(Layout, below) },
	{ "planes", 2, offsetof(Layout, plane), offsetof(Layout, planes) },
	{ "cols", 1, offsetof(Layout, cols), 0 },
	{ "lead", 1, offsetof(Layout, lead), 0 },
	{ "pitch", 1, offsetof(Layout, pitch), 0 },
	{ "phases", 1, offsetof(Layout, phases), 0 },
	{ "order", 0, 0, 0 },
	{ "at", 0, 0, 0 },
};

enum { FIELDS = sizeof fields / sizeof *fields };

static bool parse_int(const char **p, int *out)
{
	char *end;
	if (**p < '0' || **p > '9')
		return false;
	long v = strtol(*p, &end, 10);
	*p = end;
	*out = (int)v;
	return v <= INT_MAX;
}

static bool parse_ints(Layout *l, const Field *f, const char *text)
{
	int *to[] = { (int *)((char *)l + f->first), (int *)((char *)l + f->second) };
	for (int i = 0; i < f->ints; i++) {
		if (i && *text++ != '+')
			return false;
		if (!parse_int(&text, to[i]))
			return false;
	}
	return *text == '\0';
}

static int word_index(const char *word, const char *const names[], int n)
{
	for (int i = 0; i < n; i++)
		if (strcmp(word, names[i]) == 0)
			return i;
	return -1;
}

static bool parse_order(Layout *l, const char *text)
{
	int i = word_index(text, order_names, 2);
	if (i >= 0)
		l->order = (CoreOrder)i;
	return i >= 0;
}

/* l1:0x19cc0 */
static bool parse_place(Layout *l, Arena *a, const char *text)
{
	const char *colon = strchr(text, ':');
	if (!colon || strncmp(colon, ":0x", 3) != 0)
		return false;
	int i = word_index(arena_strndup(a, text, (size_t)(colon - text)), place_names, 2);
	const char *digits = colon + 3;
	size_t n = strspn(digits, "0123456789abcdef");
	if (i < 0 || n == 0 || n > 16 || digits[n])
		return false;
	l->place = (Place)i;
	l->address = strtoull(digits, NULL, 16);
	return true;
}

static bool parse_value(Layout *l, Arena *a, const Field *f, const char *text)
{
	if (f->ints)
		return parse_ints(l, f, text);
	return strcmp(f->name, "order") == 0 ? parse_order(l, text) : parse_place(l, a, text);
}

static int find_field(Diag *d, Loc at, const char *name)
{
	const char *names[FIELDS];
	for (int i = 0; i < FIELDS; i++) {
		names[i] = fields[i].name;
		if (strcmp(name, names[i]) == 0)
			return i;
	}
	diag_error(d, at, "layout: no field '%s'", name);
	const char *near = diag_nearest(name, names, FIELDS);
	if (near)
		diag_note(d, at, "did you mean '%s'?", near);
	return -1;
}

static void parse_field(Layout *l, Arena *a, Diag *d, Loc at, char *word, bool seen[FIELDS])
{
	char *equals = strchr(word, '=');
	if (!equals) {
		diag_error(d, at, "layout: '%s' is not of the form field=value", word);
		return;
	}
	*equals = '\0';
	int i = find_field(d, at, word);
	if (i < 0)
		return;
	if (seen[i])
		diag_error(d, at, "layout: field '%s' is given twice", word);
	seen[i] = true;
	if (!parse_value(l, a, &fields[i], equals + 1))
		diag_error(d, at, "layout: '%s' is not a value of field '%s'", equals + 1, word);
}

bool layout_parse(Layout *l, Arena *a, Diag *d, Loc at, const char *text)
{
	const int before = d->errors;
	bool seen[FIELDS] = { false };
	char *save = NULL, *copy = arena_strdup(a, text), *word = strtok_r(copy, " ", &save);
	int type = word ? word_index(word, dev_type_names, DEV_TYPE_COUNT) : -1;

	*l = (Layout){ 0 };
	if (type < 0)
		diag_error(d, at, "layout: '%s' is not a device type", word ? word : "");
	else
		l->type = (DevTypes)(1 << type);
	while (word && (word = strtok_r(NULL, " ", &save)))
		parse_field(l, a, d, at, word, seen);
	for (int i = 0; i < FIELDS; i++)
		if (!seen[i])
			diag_error(d, at, "layout: field '%s' is missing", fields[i].name);
	return d->errors == before;
}
