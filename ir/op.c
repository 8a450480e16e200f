#include "ir/op.h"

#include <math.h>
#include <string.h>

#define ENUM_BEGIN(type) static const char *const type##_names[] = {
#define ENUM(type, id, spelling) [id] = spelling,
#define ENUM_END(type) };
#include "ir/enums.def"

/* kind, spellings and count of a row's kind column */
#define FIELD_INT    ATTR_INT, NULL, 0
#define FIELD_FLOAT  ATTR_FLOAT, NULL, 0
#define FIELD_BOOL   ATTR_BOOL, NULL, 0
#define FIELD_INTS   ATTR_INTS, NULL, 0
#define FIELD_FLOATS ATTR_FLOATS, NULL, 0
#define FIELD_TYPE   ATTR_TYPE, NULL, 0
#define FIELD_ENUM(type) ATTR_ENUM, type##_names, type##_COUNT
#define FIELD_PadMode    FIELD_ENUM(PadMode)
#define FIELD_ResizeMode FIELD_ENUM(ResizeMode)
#define FIELD_Coord      FIELD_ENUM(Coord)
#define FIELD_Rounding   FIELD_ENUM(Rounding)
#define FIELD_BlockOrder FIELD_ENUM(BlockOrder)

#define FIELD(member, at, def_, kind_, names_, nnames_) \
	{ .name = member, .kind = kind_, .offset = at, .def = def_, \
	  .names = names_, .nnames = nnames_ },
#define FIELD_ROW(...) FIELD(__VA_ARGS__)

#define ATTRS_EMPTY(group) \
	static const AttrField group##_fields[1]; \
	enum { group##_nfields = 0 };
#define ATTRS_BEGIN(group) static const AttrField group##_fields[] = {
#define ATTR(group, kind, member, def) \
	FIELD_ROW(#member, offsetof(group##Attr, member), def, FIELD_##kind)
#define ATTRS_END(group) }; \
	enum { group##_nfields = sizeof(group##_fields) / sizeof(AttrField) };
#include "ir/attrs.def"

const OpInfo op_info[OP_COUNT] = {
#define OP(id, spelling, min, max, traits_, group, rule, constraints_) \
	[OP_##id] = { .name = spelling, .min_in = min, .max_in = max, \
		      .traits = traits_, .fields = group##_fields, \
		      .nfields = group##_nfields, \
		      .constraints = constraints_ },
#include "ir/ops.def"
};

OpKind op_by_name(const char *name)
{
	for (int k = 0; k < OP_COUNT; k++)
		if (strcmp(op_info[k].name, name) == 0)
			return (OpKind)k;
	return OP_COUNT;
}

static void set_default(Attrs *attrs, const AttrField *f)
{
	switch (f->kind) {
	case ATTR_INT:
		*ATTR_AT(attrs, f, int64_t) = (int64_t)f->def;
		break;
	case ATTR_FLOAT:
		*ATTR_AT(attrs, f, float) = (float)f->def;
		break;
	case ATTR_BOOL:
		*ATTR_AT(attrs, f, bool) = f->def != 0;
		break;
	case ATTR_TYPE:
		*ATTR_AT(attrs, f, DType) = (DType)f->def;
		break;
	case ATTR_ENUM:
		*ATTR_AT(attrs, f, int) = (int)f->def;
		break;
	case ATTR_INTS:
	case ATTR_FLOATS:
		break;
	}
}

Attrs attrs_default(OpKind kind)
{
	Attrs attrs;
	memset(&attrs, 0, sizeof attrs);
	for (int i = 0; i < op_info[kind].nfields; i++)
		set_default(&attrs, &op_info[kind].fields[i]);
	return attrs;
}

static bool same_bits(const void *a, const void *b, size_t size)
{
	return size == 0 || memcmp(a, b, size) == 0;
}

static bool floats_equal(Floats a, Floats b)
{
	return a.n == b.n && same_bits(a.v, b.v, (size_t)a.n * sizeof(float));
}

static bool field_equal(const AttrField *f, const Attrs *a, const Attrs *b)
{
	switch (f->kind) {
	case ATTR_INT:
		return *ATTR_AT_CONST(a, f, int64_t) == *ATTR_AT_CONST(b, f, int64_t);
	case ATTR_FLOAT:
		return same_bits(ATTR_AT_CONST(a, f, float), ATTR_AT_CONST(b, f, float),
				 sizeof(float));
	case ATTR_BOOL:
		return *ATTR_AT_CONST(a, f, bool) == *ATTR_AT_CONST(b, f, bool);
	case ATTR_TYPE:
		return *ATTR_AT_CONST(a, f, DType) == *ATTR_AT_CONST(b, f, DType);
	case ATTR_ENUM:
		return *ATTR_AT_CONST(a, f, int) == *ATTR_AT_CONST(b, f, int);
	case ATTR_INTS:
		return ints_equal(*ATTR_AT_CONST(a, f, Ints), *ATTR_AT_CONST(b, f, Ints));
	case ATTR_FLOATS:
		return floats_equal(*ATTR_AT_CONST(a, f, Floats), *ATTR_AT_CONST(b, f, Floats));
	}
	return false;
}

bool attrs_equal(OpKind kind, const Attrs *a, const Attrs *b)
{
	for (int i = 0; i < op_info[kind].nfields; i++)
		if (!field_equal(&op_info[kind].fields[i], a, b))
			return false;
	return true;
}

bool ints_equal(Ints a, Ints b)
{
	return a.n == b.n && same_bits(a.v, b.v, (size_t)a.n * sizeof(int64_t));
}

Ints ints_copy(Arena *a, const int64_t *v, int n)
{
	int64_t *copy = arena_array(a, int64_t, n);
	if (n)
		memcpy(copy, v, (size_t)n * sizeof *v);
	return (Ints){ n, copy };
}

Ints ints_fill(Arena *a, int64_t value, int n)
{
	int64_t *v = arena_array(a, int64_t, n);
	for (int i = 0; i < n; i++)
		v[i] = value;
	return (Ints){ n, v };
}

Ints ints_of_shape(Arena *a, Shape s)
{
	return ints_copy(a, s.dim, s.rank);
}

bool ints_all(Ints a, int64_t value)
{
	for (int i = 0; i < a.n; i++)
		if (a.v[i] != value)
			return false;
	return true;
}

Floats floats_copy(Arena *a, const float *v, int n)
{
	float *copy = arena_array(a, float, n);
	if (n)
		memcpy(copy, v, (size_t)n * sizeof *v);
	return (Floats){ n, copy };
}
