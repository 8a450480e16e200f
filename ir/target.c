#include "ir/target.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/embed.h"
#include "ir/file.h"

typedef struct Field {
	const char *name, *unit, *what;
	bool is_text;
	size_t offset;
	int64_t least, most, otherwise; /* if it is not given; -1: it must be */
	bool fits;                      /* measured times may change it */
} Field;

static const Field fields[] = {
#define TEXT(field, what) { #field, "", what, true, offsetof(Target, field), 0, 0, -1, false },
#define INT(field, unit, least, most, what) \
	{ #field, unit, what, false, offsetof(Target, field), least, most, -1, false },
#define FIT(field, unit, least, most, what) \
	{ #field, unit, what, false, offsetof(Target, field), least, most, -1, true },
#define FACTOR(field, what) \
	{ #field, "/1000", what, false, offsetof(Target, field), 1, 1000000, 1000, true },
#include "ir/target.def"
};

enum { FIELDS = sizeof fields / sizeof *fields, DEEPEST = 8 };

#define TEXT_AT(t, field) ((const char **)((char *)(t) + (field)->offset))
#define INT_AT(t, field)  ((int64_t *)((char *)(t) + (field)->offset))

/* One file being read, and the files that inherit from it. */
typedef struct Reader {
	Arena *a;
	Diag *d;
	Target *t;
	bool *known; /* fields set so far, by this file or an heir */
	const char *chain[DEEPEST];
	int depth;
} Reader;

/* One line, split. */
typedef struct Line {
	Loc key_at, value_at;
	const char *key, *value;
} Line;

const char *target_name(int i)
{
	return i < embedded_targets_count ? embedded_targets[i].name : NULL;
}

static const EmbeddedFile *find_embedded(const char *name)
{
	for (int i = 0; i < embedded_targets_count; i++)
		if (strcmp(embedded_targets[i].name, name) == 0)
			return &embedded_targets[i];
	return NULL;
}

static void suggest(Diag *d, Loc at, const char *word, const char *const names[], size_t n)
{
	const char *near = diag_nearest(word, names, n);
	if (near)
		diag_note(d, at, "did you mean '%s'?", near);
}

static bool parse_number(const char *text, int64_t *out)
{
	char *end;
	if (text[0] < '0' || text[0] > '9')
		return false;
	long long v = strtoll(text, &end, 0);
	*out = v;
	return *end == '\0' && v < INT64_MAX;
}

static void set_field(Reader *r, const Line *l, const Field *f)
{
	if (f->is_text) {
		*TEXT_AT(r->t, f) = l->value;
		return;
	}
	int64_t v;
	if (!parse_number(l->value, &v))
		diag_error(r->d, l->value_at, "%s: '%s' is not a number", f->name, l->value);
	else if (v < f->least || v > f->most)
		diag_error(r->d, l->value_at, "%s wants %" PRId64 " to %" PRId64 " %s, has %" PRId64,
			   f->name, f->least, f->most, f->unit, v);
	else
		*INT_AT(r->t, f) = v;
}

static const Field *find_field(Reader *r, const Line *l)
{
	const char *names[FIELDS + 1];
	for (int i = 0; i < FIELDS; i++) {
		names[i] = fields[i].name;
		if (strcmp(fields[i].name, l->key) == 0)
			return &fields[i];
	}
	names[FIELDS] = "inherit";
	diag_error(r->d, l->key_at, "a target has no '%s'", l->key);
	suggest(r->d, l->key_at, l->key, names, FIELDS + 1);
	return NULL;
}

/* "key = value # comment" at `text`, `size` bytes of line `line`; false if
 * there is nothing, or nothing right, on it. */
static bool split_line(Reader *r, const char *file, int line, const char *text, size_t size,
		       Line *l)
{
	static const char blank[] = " \t\r";
	char *copy = arena_strndup(r->a, text, size);
	copy[strcspn(copy, "#;")] = '\0';
	char *key = copy + strspn(copy, blank);
	if (!*key)
		return false;
	l->key_at = (Loc){ .file = file, .line = line, .col = (int)(key - copy) + 1 };
	char *equals = strchr(key, '=');
	if (!equals) {
		diag_error(r->d, l->key_at, "this is not of the form key = value");
		return false;
	}
	char *value = equals + 1 + strspn(equals + 1, blank), *end = value + strlen(value);
	l->value_at = (Loc){ .file = file, .line = line, .col = (int)(value - copy) + 1 };
	while (end > value && strchr(blank, end[-1]))
		*--end = '\0';
	*equals = '\0';
	key[strcspn(key, blank)] = '\0';
	l->key = key;
	l->value = value;
	if (!*value)
		diag_error(r->d, l->value_at, "%s has no value", key);
	return *value != '\0';
}

/* Sets what the file says and no heir said; the file it inherits from, if
 * any, goes to *parent. */
static void read_lines(Reader *r, const char *file, Bytes text, Line *parent)
{
	bool here[FIELDS] = { false };
	const char *p = text.data, *end = text.data + text.size;
	for (int line = 1; p < end; line++) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const size_t size = (size_t)((nl ? nl : end) - p);
		Line l;
		if (split_line(r, file, line, p, size, &l)) {
			const bool inherit = strcmp(l.key, "inherit") == 0;
			const Field *f = inherit ? NULL : find_field(r, &l);
			if (inherit ? parent->key != NULL : f && here[f - fields])
				diag_error(r->d, l.key_at, "'%s' is given twice", l.key);
			else if (inherit)
				*parent = l;
			else if (f && !r->known[f - fields])
				set_field(r, &l, f);
			if (f)
				here[f - fields] = true;
		}
		p += size + (nl != NULL);
	}
	for (int i = 0; i < FIELDS; i++)
		r->known[i] |= here[i];
}

/* The text of a target, by name or path; `from` is the file that asks. */
static Bytes open_target(Reader *r, Loc at, const char *from, const char *name, const char **file)
{
	const EmbeddedFile *e = find_embedded(name);
	if (e) {
		*file = arena_printf(r->a, "<%s>", name); /* no file has that name */
		return (Bytes){ e->text, e->size };
	}
	if (strpbrk(name, "/.")) {
		*file = name;
		if (from && strchr(from, '/'))
			*file = path_join(r->a, path_dir(r->a, from), name);
		return file_map(r->a, r->d, at, *file);
	}
	const char **names = arena_array(r->a, const char *, embedded_targets_count);
	for (int i = 0; i < embedded_targets_count; i++)
		names[i] = embedded_targets[i].name;
	diag_error(r->d, at, "no target '%s'", name);
	const char *all = "";
	for (int i = 0; i < embedded_targets_count; i++)
		all = arena_printf(r->a, "%s%s%s", all, i ? ", " : "", names[i]);
	if (diag_nearest(name, names, (size_t)embedded_targets_count))
		suggest(r->d, at, name, names, (size_t)embedded_targets_count);
	else
		diag_note(r->d, at, "there are %s; that of a file has a / or a . in it", all);
	return (Bytes){ 0 };
}

static bool goes_in_a_circle(Reader *r, Loc at, const char *file)
{
	for (int i = 0; i < r->depth; i++)
		if (strcmp(r->chain[i], file) == 0) {
			diag_error(r->d, at, "'%s' inherits from itself", file);
			return true;
		}
	if (r->depth == DEEPEST)
		diag_error(r->d, at, "'%s' inherits through more than %d files", r->chain[0], DEEPEST);
	return r->depth == DEEPEST;
}

static void read_chain(Reader *r, const char *name)
{
	Loc at = { 0 };
	const char *file = NULL;
	while (name) {
		Line parent = { .key = NULL };
		const char *from = file;
		Bytes text = open_target(r, at, from, name, &file);
		if (!text.data || goes_in_a_circle(r, at, file))
			return;
		r->chain[r->depth++] = file;
		diag_add_source(r->d, file, text.data, text.size);
		read_lines(r, file, text, &parent);
		name = parent.key ? parent.value : NULL;
		at = parent.value_at;
	}
	for (int i = 0; i < FIELDS; i++)
		if (!r->known[i] && fields[i].otherwise >= 0)
			*INT_AT(r->t, &fields[i]) = fields[i].otherwise;
		else if (!r->known[i])
			diag_error(r->d, (Loc){ .file = r->chain[0] }, "%s is missing (%s)",
				   fields[i].name, fields[i].what);
}

static void check_window(const Target *t, Diag *d, Loc at)
{
	if (t->l1_first >= t->l1_end)
		diag_error(d, at, "l1_first wants less than l1_end %" PRId64 ", has %" PRId64,
			   t->l1_end, t->l1_first);
	if (t->l1_end > t->l1_bytes)
		diag_error(d, at, "l1_end wants at most l1_bytes %" PRId64 ", has %" PRId64,
			   t->l1_bytes, t->l1_end);
}

const Target *target_load(Arena *a, Diag *d, const char *name)
{
	const int before = d->errors;
	bool known[FIELDS] = { false };
	Target *t = arena_new(a, Target);
	Reader r = { .a = a, .d = d, .t = t, .known = known };

	read_chain(&r, name);
	if (d->errors == before)
		check_window(t, d, (Loc){ .file = r.chain[0] });
	const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
	t->name = arena_strndup(a, base, strcspn(base, "."));
	return d->errors == before ? t : NULL;
}

static void print_field(const Target *t, const Field *field, FILE *f)
{
	int n = fprintf(f, "%s = ", field->name);
	if (field->is_text)
		n += fprintf(f, "%s", *(const char *const *)((const char *)t + field->offset));
	else
		n += fprintf(f, "%" PRId64, *(const int64_t *)((const char *)t + field->offset));
	fprintf(f, "%*s # %s%s%s\n", n < 32 ? 32 - n : 0, "", field->unit,
		field->unit[0] ? ": " : "", field->what);
}

void target_print(const Target *t, FILE *f)
{
	fprintf(f, "# %s\n", t->name);
	for (int i = 0; i < FIELDS; i++)
		print_field(t, &fields[i], f);
}

void target_print_heir(const Target *t, const Target *base, FILE *f)
{
	fprintf(f, "inherit = %s\n", base->name);
	for (int i = 0; i < FIELDS; i++) {
		const size_t at = fields[i].offset;
		const size_t size = fields[i].is_text ? sizeof(char *) : sizeof(int64_t);
		if (memcmp((const char *)t + at, (const char *)base + at, size) != 0)
			print_field(t, &fields[i], f);
	}
}

int target_constants(Arena *a, Target *t, TargetConstant **all)
{
	int n = 0;
	*all = arena_array(a, TargetConstant, FIELDS);
	for (int i = 0; i < FIELDS; i++) {
		const Field *f = &fields[i];
		if (f->fits)
			(*all)[n++] = (TargetConstant){ f->name, f->unit, f->least, f->most,
							f->otherwise >= 0, INT_AT(t, f) };
	}
	return n;
}
