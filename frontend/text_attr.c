/*
 * The attributes in a line of IR text: by name to the rows of attrs.def, and
 * by name to the notes any op may carry.
 */
#include "frontend/text.h"

#include <math.h>
#include <string.h>

#include "ir/hint.h"

static const char *const wanted[] = {
	[ATTR_INT] = "an integer",
	[ATTR_FLOAT] = "a number",
	[ATTR_BOOL] = "true or false",
	[ATTR_INTS] = "a list of integers",
	[ATTR_FLOATS] = "a list of numbers",
	[ATTR_TYPE] = "an element type",
	[ATTR_ENUM] = "a word",
};

static const char *found(const Text *t, const Value *v)
{
	const Item *first = &t->items[v->first];
	switch (v->form) {
	case FORM_NONE:
		return "no value";
	case FORM_ONE:
		return first->kind == ITEM_STRING ? "a string"
		     : first->kind == ITEM_WORD ? "a word"
		     : first->number.whole ? "an integer" : "a float";
	case FORM_SET:
		return v->n == 1 ? "a word" : "several words";
	case FORM_LIST:
		return "a list";
	case FORM_CALL:
		return "parameters";
	}
	return "";
}

static void mismatch(Text *t, const Op *op, const Attribute *a, const char *want)
{
	text_error(t, a->value.at, "%s: %s wants %s, found %s", op_info[op->kind].name, a->name,
		   want, found(t, &a->value));
}

/* A value that is a single word, else NULL. */
static const char *only_word(const Text *t, const Value *v)
{
	return v->form == FORM_SET && v->n == 1 ? t->items[v->first].text : NULL;
}

static bool take_int(Text *t, const Op *op, const Attribute *a, const Item *item, int64_t *out)
{
	const Number *v = &item->number;
	const uint64_t most = (uint64_t)INT64_MAX + v->minus;

	if (item->kind != ITEM_NUMBER || item->key || !v->whole) {
		text_error(t, item->at, "%s: %s wants integers", op_info[op->kind].name, a->name);
		return false;
	}
	if (v->huge || v->magnitude > most) {
		text_error(t, item->at, "%s: %s is out of the range of i64", op_info[op->kind].name, a->name);
		return false;
	}
	*out = (int64_t)(v->minus ? -v->magnitude : v->magnitude);
	return true;
}

static bool take_float(Text *t, OpKind kind, const char *name, const Item *item, float *out)
{
	if (item->kind != ITEM_NUMBER) {
		text_error(t, item->at, "%s: %s wants numbers", op_info[kind].name, name);
		return false;
	}
	if (isinf(item->number.f32) && !item->number.special) {
		text_error(t, item->at, "%s: %s is out of the range of f32", op_info[kind].name, name);
		return false;
	}
	*out = item->number.f32;
	return true;
}

static void set_ints(Text *t, Op *op, const Attribute *a, Ints *to)
{
	int64_t *v = arena_array(t->g->arena, int64_t, a->value.n);
	for (int i = 0; i < a->value.n; i++)
		if (!take_int(t, op, a, &t->items[a->value.first + i], &v[i]))
			return;
	*to = (Ints){ a->value.n, v };
}

static void set_floats(Text *t, Op *op, const Attribute *a, Floats *to)
{
	float *v = arena_array(t->g->arena, float, a->value.n);
	for (int i = 0; i < a->value.n; i++) {
		const Item *item = &t->items[a->value.first + i];
		if (item->key) {
			text_error(t, item->at, "%s: %s wants numbers", op_info[op->kind].name, a->name);
			return;
		}
		if (!take_float(t, op->kind, a->name, item, &v[i]))
			return;
	}
	*to = (Floats){ a->value.n, v };
}

static void set_enum(Text *t, Op *op, const Attribute *a, const AttrField *f)
{
	const char *word = only_word(t, &a->value);
	for (int i = 0; i < f->nnames; i++)
		if (strcmp(f->names[i], word) == 0) {
			*ATTR_AT(&op->attr, f, int) = i;
			return;
		}
	text_error(t, a->value.at, "%s: %s has no '%s'", op_info[op->kind].name, a->name,
		   text_shown(t, word));
	text_suggest(t, a->value.at, word, f->names, (size_t)f->nnames);
}

static void set_type(Text *t, Op *op, const Attribute *a, const AttrField *f)
{
	const char *word = only_word(t, &a->value);
	DType type = type_by_name(word);
	if (type == TYPE_NONE)
		text_error(t, a->value.at, "no element type '%s'", text_shown(t, word));
	*ATTR_AT(&op->attr, f, DType) = type;
}

/* True if the value is of the kind the field has. */
static bool fits(const Text *t, const Value *v, AttrKind kind)
{
	const char *word = only_word(t, v);
	switch (kind) {
	case ATTR_INT:
		return v->form == FORM_ONE && t->items[v->first].kind == ITEM_NUMBER &&
		       t->items[v->first].number.whole;
	case ATTR_FLOAT:
		return v->form == FORM_ONE && t->items[v->first].kind == ITEM_NUMBER;
	case ATTR_BOOL:
		return v->form == FORM_NONE ||
		       (word && (strcmp(word, "true") == 0 || strcmp(word, "false") == 0));
	case ATTR_INTS:
	case ATTR_FLOATS:
		return v->form == FORM_LIST;
	case ATTR_TYPE:
	case ATTR_ENUM:
		return word != NULL;
	}
	return false;
}

static void set_field(Text *t, Op *op, const Attribute *a, const AttrField *f)
{
	const Value *v = &a->value;

	if (!fits(t, v, f->kind)) {
		mismatch(t, op, a, wanted[f->kind]);
		return;
	}
	switch (f->kind) {
	case ATTR_INT:
		take_int(t, op, a, &t->items[v->first], ATTR_AT(&op->attr, f, int64_t));
		break;
	case ATTR_FLOAT:
		take_float(t, op->kind, a->name, &t->items[v->first], ATTR_AT(&op->attr, f, float));
		break;
	case ATTR_BOOL:
		*ATTR_AT(&op->attr, f, bool) = !v->n || strcmp(t->items[v->first].text, "true") == 0;
		break;
	case ATTR_TYPE:
		set_type(t, op, a, f);
		break;
	case ATTR_ENUM:
		set_enum(t, op, a, f);
		break;
	case ATTR_INTS:
		set_ints(t, op, a, ATTR_AT(&op->attr, f, Ints));
		break;
	case ATTR_FLOATS:
		set_floats(t, op, a, ATTR_AT(&op->attr, f, Floats));
		break;
	}
}

static void read_absorbed(Text *t, Op *op, const Attribute *a)
{
	const Value *v = &a->value;
	const char **names = arena_array(t->g->arena, const char *, v->n);

	for (int i = 0; i < v->n; i++) {
		const Item *item = &t->items[v->first + i];
		if (v->form != FORM_LIST || item->kind != ITEM_STRING || item->key)
			break;
		names[op->absorbed.n++] = item->text;
	}
	op->absorbed.v = names;
	if (v->form != FORM_LIST || op->absorbed.n < v->n)
		mismatch(t, op, a, "a list of strings");
}

/* One parameter of a fused activation. */
static void set_param(Text *t, Op *op, const Item *item, unsigned *given)
{
	const OpInfo *info = &op_info[op->act.kind];
	if (!item->key) {
		text_error(t, item->at, "%s: a parameter is name = number", info->name);
		return;
	}
	for (int i = 0; i < info->nfields; i++) {
		if (strcmp(info->fields[i].name, item->key) != 0)
			continue;
		if (*given >> i & 1)
			text_error(t, item->at, "%s: %s is given twice", info->name, item->key);
		*given |= 1u << i;
		take_float(t, op->act.kind, item->key, item, &op->act.param[i]);
		return;
	}
	text_error(t, item->at, "%s: no parameter '%s'", info->name, text_shown(t, item->key));
}

static void read_act(Text *t, Op *op, const Attribute *a)
{
	const Value *v = &a->value;
	const char *word = v->form == FORM_CALL ? v->word : only_word(t, v);
	OpKind kind = word ? op_by_name(word) : OP_COUNT;
	unsigned given = 0;

	if (kind == OP_COUNT || !(op_info[kind].traits & ACT)) {
		mismatch(t, op, a, "an activation");
		return;
	}
	if (!op_is(op, TAKES_ACT)) {
		text_error(t, a->at, "%s: takes no activation", op_info[op->kind].name);
		return;
	}
	op->act.kind = kind;
	for (int i = 0; i < op_info[kind].nfields; i++)
		op->act.param[i] = (float)op_info[kind].fields[i].def;
	for (int i = 0; v->form == FORM_CALL && i < v->n; i++)
		set_param(t, op, &t->items[v->first + i], &given);
}

static void read_hints(Text *t, Op *op, const Attribute *a)
{
	const Value *v = &a->value;
	bool ok = v->form == FORM_LIST;

	for (int i = 0; ok && i < v->n; i++) {
		const Item *item = &t->items[v->first + i];
		ok = item->kind == ITEM_STRING && item->key;
		if (ok)
			op_add_hint(t->g, op, text_loc(t, item->at), item->key, item->text);
	}
	if (!ok)
		mismatch(t, op, a, "a list of key = \"value\"");
}

static void read_node(Text *t, Op *op, const Attribute *a)
{
	if (a->value.form == FORM_ONE && t->items[a->value.first].kind == ITEM_STRING)
		op->node = t->items[a->value.first].text;
	else
		mismatch(t, op, a, "a string");
}

static DevTypes read_formats(Text *t, Op *op, const Attribute *a)
{
	unsigned set = 0;

	if (a->value.form != FORM_SET) {
		mismatch(t, op, a, "formats joined by |");
		return DEV_UNSET;
	}
	for (int i = 0; i < a->value.n; i++) {
		const Item *item = &t->items[a->value.first + i];
		unsigned bit = 0;
		for (int k = 0; k < DEV_TYPE_COUNT; k++)
			bit |= (strcmp(dev_type_names[k], item->text) == 0 ? 1u : 0u) << k;
		if (!bit || set & bit) {
			text_error(t, item->at, bit ? "format '%s' is given twice" : "no device format '%s'",
				   text_shown(t, item->text));
			text_suggest(t, item->at, item->text, dev_type_names,
				     bit ? 0 : DEV_TYPE_COUNT);
		}
		set |= bit;
	}
	return (DevTypes)set;
}

static void read_stored(Text *t, Op *op, const Attribute *a)
{
	op->stored = read_formats(t, op, a);
}

static void read_weights(Text *t, Op *op, const Attribute *a)
{
	op->weights = read_formats(t, op, a);
	if (!op_is(op, WEIGHTS))
		text_error(t, a->at, "%s: has no weights to have a format", op_info[op->kind].name);
}

static const struct {
	const char *name;
	void (*read)(Text *t, Op *op, const Attribute *a);
} notes[] = {
#define NOTE(name, what) { #name, read_##name },
#include "ir/notes.def"
};

enum { NOTES = sizeof notes / sizeof notes[0], MOST_FIELDS = 32 };

static void unknown(Text *t, const Op *op, const Attribute *a)
{
	const OpInfo *info = &op_info[op->kind];
	const char *names[MOST_FIELDS + NOTES];
	size_t n = 0;

	for (int i = 0; i < info->nfields; i++)
		names[n++] = info->fields[i].name;
	for (int i = 0; i < NOTES; i++)
		names[n++] = notes[i].name;
	text_error(t, a->at, "%s: no attribute '%s'", info->name, text_shown(t, a->name));
	text_suggest(t, a->at, a->name, names, n);
}

void text_set_attributes(Text *t, Op *op)
{
	const OpInfo *info = &op_info[op->kind];
	bool given[MOST_FIELDS + NOTES] = { 0 };

	for (int i = 0; i < t->nattrs; i++) {
		const Attribute *a = &t->attrs[i];
		int field = 0, note = 0;
		while (field < info->nfields && strcmp(info->fields[field].name, a->name) != 0)
			field++;
		while (note < NOTES && strcmp(notes[note].name, a->name) != 0)
			note++;
		if (field == info->nfields && note == NOTES) {
			unknown(t, op, a);
			continue;
		}
		bool *seen = &given[note < NOTES ? note : NOTES + field];
		if (*seen)
			text_error(t, a->at, "%s: %s is given twice", info->name, a->name);
		else if (note < NOTES)
			notes[note].read(t, op, a);
		else
			set_field(t, op, a, &info->fields[field]);
		*seen = true;
	}
}
