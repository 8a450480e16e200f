#include "frontend/text.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir/file.h"

#include "text.tab.h"

#define YYSTYPE TEXT_YYSTYPE
#define YYLTYPE TEXT_YYLTYPE
#include "text.yy.h"

/* Makes room for one more element of a list that grows. */
#define GROW(v, n, cap) \
	((n) < (cap) ? (void)0 \
		     : (void)((cap) = (cap) ? 2 * (cap) : 16, \
			      (v) = xrealloc((v), (size_t)(cap) * sizeof *(v))))

Loc text_loc(const Text *t, Pos at)
{
	return (Loc){ .file = t->file, .line = at.line, .col = at.col };
}

void text_error(Text *t, Pos at, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_error(t->g->diag, text_loc(t, at), "%s", text);
}

void text_suggest(Text *t, Pos at, const char *word, const char *const candidates[], size_t n)
{
	const char *near = diag_nearest(word, candidates, n);
	if (near)
		diag_note(t->g->diag, text_loc(t, at), "did you mean '%s'?", near);
}

const char *text_shown(Text *t, const char *s)
{
	enum { LONGEST = 80 };
	size_t n = strlen(s);
	char *shown = arena_strndup(t->g->arena, s, n > LONGEST ? LONGEST : n);
	for (char *p = shown; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return n > LONGEST ? arena_printf(t->g->arena, "%s...", shown) : shown;
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef", *p = c ? strchr(digits, c | 0x20) : NULL;
	return p ? (int)(p - digits) : -1;
}

const char *text_string(Text *t, Pos at, const char *quoted, size_t n)
{
	char *s = arena_alloc(t->g->arena, n), *to = s;
	const char *p = quoted + 1, *end = quoted + n - 1;

	while (p < end) {
		Pos here = { at.line, at.col + (int)(p - quoted) };
		char c = *p++;
		if (c == '\\') {
			c = *p++;
			if (c == 'n') {
				c = '\n';
			} else if (c == 'x' && end - p > 1 && hex_digit(p[0]) >= 0 &&
				   hex_digit(p[1]) >= 0) {
				c = (char)(hex_digit(p[0]) << 4 | hex_digit(p[1]));
				p += 2;
			} else if (c != '"' && c != '\\') {
				text_error(t, here, "an escape is \\\", \\\\, \\n or \\x and two digits");
				return NULL;
			}
		}
		if (!c) {
			text_error(t, here, "a name holds no zero byte");
			return NULL;
		}
		*to++ = c;
	}
	return s;
}

Number text_number(const char *spelt)
{
	const char *digits = spelt + strspn(spelt, "-+");
	Number v = { .minus = *spelt == '-' };

	v.whole = digits[strspn(digits, "0123456789")] == '\0';
	v.special = *digits == 'i' || *digits == 'n';
	v.f32 = strtof(spelt, NULL);
	v.f64 = strtod(spelt, NULL);
	if (v.whole) {
		errno = 0;
		v.magnitude = strtoull(digits, NULL, 10);
		v.huge = errno == ERANGE;
	}
	return v;
}

void text_begin(Text *t, Pos at, const char *name)
{
	t->name = name;
	t->name_at = at;
}

/* No list is longer: what has more elements belongs in a weight file. */
static bool too_many(Text *t, Pos at, int n)
{
	if (n == MANY)
		text_error(t, at, "the list has more than %d entries", (int)MANY);
	return n >= MANY;
}

void text_input(Text *t, Pos at, const char *name)
{
	if (too_many(t, at, t->ninputs))
		return;
	GROW(t->inputs, t->ninputs, t->cap_inputs);
	t->inputs[t->ninputs++] = (Input){ name, at };
}

void text_item(Text *t, Item item)
{
	if (too_many(t, item.at, t->nitems))
		return;
	GROW(t->items, t->nitems, t->cap_items);
	t->items[t->nitems++] = item;
}

Value text_value(Text *t, Pos at, Form form, const char *word)
{
	Value v = { form, at, word, t->used_items, t->nitems - t->used_items };
	t->used_items = t->nitems;
	return v;
}

void text_attribute(Text *t, Pos at, const char *name, Value value)
{
	GROW(t->attrs, t->nattrs, t->cap_attrs);
	t->attrs[t->nattrs++] = (Attribute){ name, at, value };
}

static DType element_type(Text *t, Pos at, const char *word)
{
	const char *names[TYPE_COUNT];
	DType dtype = type_by_name(word);

	if (dtype == TYPE_NONE) {
		for (int i = TYPE_NONE + 1; i < TYPE_COUNT; i++)
			names[i - 1] = type_info[i].name;
		text_error(t, at, "no element type '%s'", text_shown(t, word));
		text_suggest(t, at, word, names, TYPE_COUNT - 1);
	}
	return dtype;
}

Type text_type(Text *t, Pos at, const char *word)
{
	const Value dims = text_value(t, at, FORM_LIST, NULL);
	Type type = { .dtype = element_type(t, at, word), .at = at };

	if (dims.n > MAX_RANK) {
		text_error(t, at, "%s: %d dims, the most is %d", text_shown(t, word), dims.n, (int)MAX_RANK);
		return (Type){ .at = at };
	}
	for (int i = 0; i < dims.n; i++) {
		const Item *item = &t->items[dims.first + i];
		const Number *v = &item->number;
		if (item->kind != ITEM_NUMBER || item->key || !v->whole ||
		    (v->minus && v->magnitude)) {
			text_error(t, item->at, "a dim is a number of elements, 0 or more");
			return (Type){ .at = at };
		}
		type.shape.dim[type.shape.rank++] =
			v->huge || v->magnitude > INT64_MAX ? INT64_MAX : (int64_t)v->magnitude;
	}
	if (shape_count(type.shape) < 0) {
		text_error(t, at, "%s: more than %lld elements", text_shown(t, word),
			   (long long)MAX_ELEMENTS);
		return (Type){ .at = at };
	}
	return type;
}

void text_header(Text *t, Pos at, const char *word, const char *value)
{
	Graph *g = t->g;
	bool graph = strcmp(word, "graph") == 0;

	if (!graph && strcmp(word, "weights") != 0)
		text_error(t, at, "expected graph, weights or %%name =, found '%s'", text_shown(t, word));
	else if (t->started)
		text_error(t, at, "the %s line comes before all ops", word);
	else if (graph ? t->named : g->weights_file != NULL)
		text_error(t, at, "a second %s line", word);
	else if (graph)
		g->name = value;
	else
		g->weights_file = value;
	t->named |= graph;
}

/* What stands for an op that was wrong: it has no type, and so those that
 * read it say nothing more. */
static void poison(Text *t)
{
	Op *op = graph_insert(t->g, NULL, OP_INPUT, t->name, 0, NULL);
	op->loc = text_loc(t, t->name_at);
}

static OpKind op_kind(Text *t, Pos at, const char *word)
{
	const char *names[OP_COUNT];
	OpKind kind = op_by_name(word);

	if (kind == OP_COUNT) {
		for (int i = 0; i < OP_COUNT; i++)
			names[i] = op_info[i].name;
		text_error(t, at, "no op '%s'", text_shown(t, word));
		text_suggest(t, at, word, names, OP_COUNT);
	}
	return kind;
}

/* The ops the line reads; NULL if that is wrong. */
static Op **operands(Text *t, Pos at, OpKind kind)
{
	const OpInfo *info = &op_info[kind];
	Op **in = arena_array(t->g->arena, Op *, t->ninputs);
	bool ok = true;

	if (t->ninputs < info->min_in || t->ninputs > info->max_in) {
		if (info->min_in == info->max_in)
			text_error(t, at, "%s takes %d input%s, has %d", info->name, info->min_in,
				   info->min_in == 1 ? "" : "s", t->ninputs);
		else
			text_error(t, at, "%s takes %d to %d inputs, has %d", info->name, info->min_in,
				   info->max_in, t->ninputs);
		ok = false;
	}
	if (t->value.form && kind != OP_CONSTANT) {
		text_error(t, t->value.at, "%s: only a constant has a value", info->name);
		ok = false;
	}
	for (int i = 0; i < t->ninputs; i++) {
		in[i] = graph_find(t->g, t->inputs[i].name);
		if (!in[i]) {
			text_error(t, t->inputs[i].at, "'%s' is not defined above",
				   text_shown(t, t->inputs[i].name));
			ok = false;
		}
	}
	return ok ? in : NULL;
}

/* Finds the type, or for the ops that have one by themselves takes it from
 * the text. */
static void set_type(Text *t, Op *op, Type type)
{
	char is[TYPE_TEXT], says[TYPE_TEXT];

	if (op->kind == OP_INPUT || op->kind == OP_CONSTANT) {
		op->dtype = type.dtype;
		op->shape = type.shape;
	} else if (op_infer(t->g, op) && type.dtype != TYPE_NONE &&
		   (op->dtype != type.dtype || !shape_equal(op->shape, type.shape))) {
		text_error(t, type.at, "%s: result is %s, text says %s", op_info[op->kind].name,
			   type_text(is, op->dtype, op->shape),
			   type_text(says, type.dtype, type.shape));
		op->dtype = TYPE_NONE; /* either may be meant: readers say nothing */
	}
}

void text_op(Text *t, Pos at, const char *word, Type type)
{
	const Op *before = graph_find(t->g, t->name);
	const int errors = t->g->diag->errors;
	OpKind kind = op_kind(t, at, word);
	Op **in = kind == OP_COUNT ? NULL : operands(t, at, kind);

	t->started = true;
	if (before) {
		text_error(t, t->name_at, "'%s' is defined twice", text_shown(t, t->name));
		diag_note(t->g->diag, before->loc, "the first is here");
		return;
	}
	if (!in) {
		poison(t);
		return;
	}
	Op *op = graph_insert(t->g, NULL, kind, t->name, t->ninputs, in);
	op->loc = text_loc(t, at);
	if (kind == OP_CONSTANT)
		op->value = text_constant(t, type);
	text_set_attributes(t, op);
	if (t->g->diag->errors == errors)
		set_type(t, op, type);
}

void text_end(Text *t, bool broken)
{
	if (broken && t->name && !graph_find(t->g, t->name))
		poison(t);
	t->name = NULL;
	t->nitems = t->nattrs = t->ninputs = t->used_items = 0;
	t->value = (Value){ 0 };
}

Graph *text_parse(Arena *a, Diag *d, const char *file, const char *text,
		  size_t size, const ModelOptions *opt)
{
	Text t = { .g = graph_create(a, d, ""), .file = arena_strdup(a, file), .opt = opt };
	const int before = d->errors;
	yyscan_t scanner;

	if (size > INT_MAX / 2) {
		diag_error(d, (Loc){ .file = file }, "%zu bytes of text are too many", size);
		return NULL;
	}
	diag_add_source(d, t.file, text, size);
	text_yylex_init_extra(&t, &scanner);
	text_yy_scan_bytes(text, (int)size, scanner);
	text_yyparse(scanner, &t);
	text_yylex_destroy(scanner);
	free(t.items);
	free(t.attrs);
	free(t.inputs);
	if (d->errors == before && !t.g->first)
		diag_error(d, (Loc){ .file = t.file }, "the text holds no ops");
	if (d->errors == before)
		text_apply_options(&t);
	return d->errors == before && graph_verify(t.g) ? t.g : NULL;
}

Graph *text_read(Arena *a, Diag *d, const char *path, const ModelOptions *opt)
{
	Bytes text = file_map(a, d, (Loc){ 0 }, path);
	return text.data ? text_parse(a, d, path, text.data, text.size, opt) : NULL;
}
