/*
 * The values of constants in IR text: spelt out, repeated, or named by hash
 * and then taken from a weight file.
 */
#include "frontend/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ir/file.h"

/* True if the number fits the integer type. */
static bool int_fits(const Number *v, DType type)
{
	const int bits = 8 * type_info[type].bytes;
	const uint64_t most = UINT64_MAX >> (64 - bits);

	if (!v->whole || v->huge)
		return false;
	if (type_info[type].class == SIGNED)
		return v->magnitude <= (most >> 1) + v->minus;
	return v->magnitude <= most && !(v->minus && v->magnitude);
}

static bool float_fits(const Number *v, DType type)
{
	double f = type == TYPE_F64 ? v->f64 : v->f32;
	if (type == TYPE_F16)
		f = half_to_float(float_to_half(v->f32));
	else if (type == TYPE_BF16)
		f = bf16_to_float(float_to_bf16(v->f32));
	return v->special || isfinite(f);
}

/* The value of an item as an element: `f` for floating types, else `i`. */
static bool element(Text *t, DType type, const Item *item, double *f, int64_t *i)
{
	const Number *v = &item->number;
	const char *name = type_info[type].name;
	const bool logical = type == TYPE_BOOL;

	if (logical && item->kind == ITEM_WORD &&
	    (strcmp(item->text, "true") == 0 || strcmp(item->text, "false") == 0)) {
		*i = strcmp(item->text, "true") == 0;
		return true;
	}
	if (item->kind != ITEM_NUMBER || item->key || logical) {
		text_error(t, item->at, "constant: not a value of %s", name);
		return false;
	}
	if (!type_is_float(type) && !v->whole) {
		text_error(t, item->at, "constant: %s wants integers", name);
		return false;
	}
	if (type_is_float(type) ? !float_fits(v, type) : !int_fits(v, type)) {
		text_error(t, item->at, "constant: out of the range of %s", name);
		return false;
	}
	*f = type == TYPE_F64 ? v->f64 : v->f32;
	*i = (int64_t)(v->minus ? -v->magnitude : v->magnitude);
	return true;
}

static Tensor *spelt_out(Text *t, Type type)
{
	const Value *v = &t->value;
	char text[TYPE_TEXT];
	double f = 0;
	int64_t n = 0;

	if (v->n != shape_count(type.shape)) {
		text_error(t, v->at, "constant: %d values for %s", v->n,
			   type_text(text, type.dtype, type.shape));
		return NULL;
	}
	Tensor *value = tensor_create(t->g->arena, type.dtype, type.shape);
	for (int i = 0; i < v->n; i++) {
		if (!element(t, type.dtype, &t->items[v->first + i], &f, &n))
			return NULL;
		if (type_is_float(type.dtype))
			tensor_set_f64(value, i, f);
		else
			tensor_set_i64(value, i, n);
	}
	return value;
}

static Tensor *repeated(Text *t, Type type)
{
	double f = 0;
	int64_t i = 0;
	if (!element(t, type.dtype, &t->items[t->value.first], &f, &i))
		return NULL;
	return tensor_splat(t->g->arena, type.dtype, type.shape, f, i);
}

/* Opens what --weights names, or else what the text itself names beside it,
 * the first time a constant asks. A text may travel without its weights, but
 * not in silence. */
static WeightFile *weight_file(Text *t)
{
	Arena *a = t->g->arena;
	Diag *d = t->g->diag;
	const char *named = t->g->weights_file, *path = t->opt->weights;
	struct stat st;

	if (t->weights_tried)
		return t->weights;
	t->weights_tried = true;
	if (!path && named) {
		if (!path_stays_inside(named)) {
			diag_error(d, (Loc){ .file = t->file }, "weights '%s' lie outside the text's folder",
				   text_shown(t, named));
			return NULL;
		}
		path = path_join(a, path_dir(a, t->file), named);
		if (stat(path, &st) != 0) {
			if (t->opt->no_weights || t->opt->random_weights)
				return NULL;
			diag_warning(d, (Loc){ .file = t->file }, "no '%s': constants stay without data",
				     text_shown(t, path));
			diag_note(d, (Loc){ .file = t->file }, WEIGHTS_HELP);
			return NULL;
		}
	}
	if (path)
		t->weights = weights_open(a, d, path);
	return t->weights;
}

static Tensor *by_hash(Text *t, Type type)
{
	const Item *item = &t->items[t->value.first];
	char is[TYPE_TEXT], wants[TYPE_TEXT];

	if (item->kind != ITEM_STRING || strlen(item->text) != 16 ||
	    strspn(item->text, "0123456789abcdef") != 16) {
		text_error(t, item->at, "constant: a hash is a string of 16 digits of 0-9a-f");
		return NULL;
	}
	WeightFile *w = weight_file(t);
	Tensor *value = w ? weights_find(w, item->text) : NULL;
	if (!value) {
		value = arena_new(t->g->arena, Tensor);
		*value = (Tensor){ .dtype = type.dtype, .shape = type.shape,
				   .hash = strtoull(item->text, NULL, 16) };
		return value;
	}
	if (value->dtype != type.dtype || !shape_equal(value->shape, type.shape)) {
		text_error(t, type.at, "constant: the weight file has %s, text says %s",
			   type_text(is, value->dtype, value->shape),
			   type_text(wants, type.dtype, type.shape));
		return NULL;
	}
	if (tensor_hash(value) != strtoull(item->text, NULL, 16)) {
		text_error(t, item->at, "constant: the data in the weight file hashes to %016" PRIx64,
			   tensor_hash(value));
		return NULL;
	}
	return value;
}

Tensor *text_constant(Text *t, Type type)
{
	const Value *v = &t->value;

	if (type.dtype == TYPE_NONE)
		return NULL;
	if (v->form == FORM_LIST)
		return spelt_out(t, type);
	if (v->form == FORM_ONE && strcmp(v->word, "splat") == 0)
		return repeated(t, type);
	if (v->form == FORM_ONE && strcmp(v->word, "hash") == 0)
		return by_hash(t, type);
	text_error(t, v->form ? v->at : type.at, "constant: the value is [...], splat or hash");
	return NULL;
}
