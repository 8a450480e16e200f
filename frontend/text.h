/*
 * Between text.l, text.y and text*.c: IR text on its way into a graph.
 *
 * The grammar knows words, names, numbers and lists, not ops: a line is
 * collected in Text, and at its end text_op makes an op of it.
 *
 *     %y = conv %x, %w {pads = [1,1,1,1], groups = 2} : f32[1,8,4,4]
 *     name kind inputs  attrs, their values in items     type
 */
#ifndef FRONTEND_TEXT_H
#define FRONTEND_TEXT_H

#include "frontend/model.h"
#include "frontend/weights.h"
#include "ir/graph.h"

typedef struct Pos {
	int line, col;
} Pos;

/* A number as spelt, ready for any element type. */
typedef struct Number {
	bool whole; /* spelt as an integer */
	bool minus;
	bool special; /* spelt inf or nan */
	bool huge;  /* whole, but the magnitude is above UINT64_MAX */
	uint64_t magnitude;
	float f32;
	double f64;
} Number;

typedef enum ItemKind { ITEM_NUMBER, ITEM_STRING, ITEM_WORD } ItemKind;

/* Part of a value: a number, string or word, with a key in lists of pairs. */
typedef struct Item {
	ItemKind kind;
	Pos at;
	const char *key; /* or NULL */
	const char *text;
	Number number;
} Item;

typedef enum Form {
	FORM_NONE, /* nothing: a constant's missing value, an attribute's name alone */
	FORM_ONE,  /* one item */
	FORM_SET,  /* words joined by | */
	FORM_LIST, /* [items] */
	FORM_CALL, /* word(items) */
} Form;

typedef struct Value {
	Form form;
	Pos at;
	const char *word; /* of FORM_CALL; `hash` or `splat` before a constant's value */
	int first, n;     /* its items */
} Value;

typedef struct Attribute {
	const char *name;
	Pos at;
	Value value;
} Attribute;

typedef struct Input {
	const char *name;
	Pos at;
} Input;

typedef struct Type {
	DType dtype; /* TYPE_NONE: wrong, which was reported */
	Shape shape;
	Pos at;
} Type;

/* Everything up to `name` lives for the whole text, the rest for a line. */
typedef struct Text {
	Graph *g;
	const char *file;
	const ModelOptions *opt;
	bool named, started; /* `graph` line seen, op seen */
	bool line_open;      /* a token since the last line end */
	WeightFile *weights;
	bool weights_tried;

	const char *name; /* of the op being read, or NULL */
	Pos name_at;
	int nitems, nattrs, ninputs, used_items;
	int cap_items, cap_attrs, cap_inputs;
	Item *items;
	Attribute *attrs;
	Input *inputs;
	Value value; /* of a constant */
} Text;

Loc text_loc(const Text *t, Pos at);

/* Reports at a place in the text. */
void text_error(Text *t, Pos at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* "did you mean" after an error, if a candidate is near. */
void text_suggest(Text *t, Pos at, const char *word, const char *const candidates[], size_t n);

/* `s` as a diagnostic may show it: cut, and without control characters. */
const char *text_shown(Text *t, const char *s);

/* What the lexer needs. A string is decoded into the arena; NULL if it is
 * wrong, which was reported. */
const char *text_string(Text *t, Pos at, const char *quoted, size_t n);
Number text_number(const char *spelt);

/* The actions of the grammar, in the order a line has them. */
void text_begin(Text *t, Pos at, const char *name);
void text_input(Text *t, Pos at, const char *name);
void text_item(Text *t, Item item);
Value text_value(Text *t, Pos at, Form form, const char *word);
void text_attribute(Text *t, Pos at, const char *name, Value value);
Type text_type(Text *t, Pos at, const char *word);
void text_op(Text *t, Pos at, const char *kind, Type type);
void text_header(Text *t, Pos at, const char *word, const char *value);

/* Forgets the line; `broken`: it was wrong, so its name means nothing. */
void text_end(Text *t, bool broken);

/* text_attr.c: the attributes of the line into `op`. */
void text_set_attributes(Text *t, Op *op);

/* text_const.c: the value of the line's constant; NULL if it is wrong, which
 * was reported. */
Tensor *text_constant(Text *t, Type type);

/* text_options.c: what the options say about the whole graph. */
void text_apply_options(Text *t);

#endif
