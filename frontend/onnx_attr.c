/*
 * Attributes of nodes, by name and expected type.
 */
#include "frontend/onnx_import.h"

#include <limits.h>
#include <string.h>

#define KIND(id) ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__##id

typedef Onnx__AttributeProto Attr;

static const char *kind_name(int kind)
{
	static const char *const names[] = {
		"nothing", "a float", "an int", "a string", "a tensor", "a graph", "floats", "ints",
		"strings", "tensors", "graphs", "a sparse tensor", "sparse tensors", "a type", "types",
	};
	return kind >= 0 && kind < (int)(sizeof names / sizeof *names) ? names[kind]
								       : "of unknown type";
}

/* Files of the first IR version do not say which field they use. */
static int kind_of(const Attr *a)
{
	if (a->has_type && a->type != KIND(UNDEFINED))
		return (int)a->type;
	return a->has_f ? KIND(FLOAT) : a->has_i ? KIND(INT) : a->has_s ? KIND(STRING)
		: a->t ? KIND(TENSOR) : a->n_floats ? KIND(FLOATS) : a->n_strings ? KIND(STRINGS)
		: KIND(INTS);
}

static const Attr *find(Node *n, const char *name)
{
	for (size_t i = 0; i < n->proto->n_attribute; i++) {
		const Attr *a = n->proto->attribute[i];
		if (!a->name || strcmp(a->name, name) != 0)
			continue;
		n->attr_read[i] = true;
		return a;
	}
	return NULL;
}

/* NULL if the node does not have it, or has it with another type, which is
 * reported. */
static const Attr *find_kind(Node *n, const char *name, int kind)
{
	const Attr *a = find(n, name);
	if (!a)
		return NULL;
	if (a->ref_attr_name && a->ref_attr_name[0]) {
		node_error(n, "attribute '%s' refers to a function's, but there is none", name);
		return NULL;
	}
	if (kind_of(a) == kind)
		return a;
	node_error(n, "attribute '%s' is %s, not %s", name, kind_name(kind_of(a)), kind_name(kind));
	return NULL;
}

bool attr_has(Node *n, const char *name)
{
	return find(n, name) != NULL;
}

void attr_ignore(Node *n, const char *name)
{
	find(n, name);
}

int64_t attr_int(Node *n, const char *name, int64_t def)
{
	const Attr *a = find_kind(n, name, KIND(INT));
	return a ? a->i : def;
}

float attr_float(Node *n, const char *name, float def)
{
	const Attr *a = find_kind(n, name, KIND(FLOAT));
	return a ? a->f : def;
}

const char *attr_string(Node *n, const char *name, const char *def)
{
	const Attr *a = find_kind(n, name, KIND(STRING));
	return a ? arena_strndup(n->r->arena, (const char *)a->s.data, a->s.len) : def;
}

bool attr_ints(Node *n, const char *name, Ints *out)
{
	const Attr *a = find_kind(n, name, KIND(INTS));
	if (a && a->n_ints > INT_MAX) {
		node_error(n, "attribute '%s' has too many entries", name);
		return false;
	}
	if (a)
		*out = (Ints){ (int)a->n_ints, a->ints };
	return a != NULL;
}

bool attr_floats(Node *n, const char *name, Floats *out)
{
	const Attr *a = find_kind(n, name, KIND(FLOATS));
	if (a && a->n_floats > INT_MAX) {
		node_error(n, "attribute '%s' has too many entries", name);
		return false;
	}
	if (a)
		*out = (Floats){ (int)a->n_floats, a->floats };
	return a != NULL;
}

const Onnx__TensorProto *attr_tensor(Node *n, const char *name)
{
	const Attr *a = find_kind(n, name, KIND(TENSOR));
	if (a && !a->t)
		node_error(n, "attribute '%s' holds no tensor", name);
	return a ? a->t : NULL;
}

int attr_choice(Node *n, const char *name, const char *const names[], int count, int def)
{
	const char *s = attr_string(n, name, NULL);
	char list[256] = "";
	if (!s)
		return def;
	for (int i = 0; i < count; i++) {
		if (strcmp(s, names[i]) == 0)
			return i;
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", names[i]);
	}
	node_error(n, "attribute '%s' is '%s', not one of %s", name,
		   onnx_show(n->r->arena, s), list);
	return -1;
}

int attr_enum(Node *n, const char *name, OpKind kind, const char *field)
{
	const AttrField *f = op_info[kind].fields;
	while (strcmp(f->name, field) != 0)
		f++;
	return attr_choice(n, name, f->names, f->nnames, (int)f->def);
}

static bool is_second(const Node *n, size_t at)
{
	for (size_t i = 0; i < at; i++) {
		const char *name = n->proto->attribute[i]->name;
		if (name && strcmp(name, n->proto->attribute[at]->name) == 0)
			return true;
	}
	return false;
}

void attr_check_unread(Node *n)
{
	for (size_t i = 0; i < n->proto->n_attribute; i++) {
		const char *name = n->proto->attribute[i]->name;
		if (n->attr_read[i] || !name || strcmp(name, "consumed_inputs") == 0)
			continue;
		node_error(n, "%s '%s'", is_second(n, i) ? "has twice the attribute" : "has no attribute",
			   onnx_show(n->r->arena, name));
		return;
	}
}
