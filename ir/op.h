/*
 * What there is to know about a kind of op: the rows of ops.def and, for its
 * attributes, the rows of attrs.def and enums.def.
 *
 * Printer, parser, verifier and comparison read these tables, so a new op or
 * attribute is a new row and nothing else.
 */
#ifndef IR_OP_H
#define IR_OP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/tensor.h"

typedef enum OpKind {
#define OP(id, ...) OP_##id,
#include "ir/ops.def"
	OP_COUNT
} OpKind;

enum OpTrait {
	ELTWISE = 1 << 0,
	COMMUTES = 1 << 1,
	ACT = 1 << 2,
	TAKES_ACT = 1 << 3,
	MOVES = 1 << 4,
	DEVICE = 1 << 5,
	WEIGHTS = 1 << 6,
};

enum { MANY = 1 << 20 };

/* Lists in attributes live in the graph's arena and are never changed in
 * place: whoever wants another list makes one. */
typedef struct Ints {
	int n;
	const int64_t *v;
} Ints;

typedef struct Floats {
	int n;
	const float *v;
} Floats;

#define ENUM_BEGIN(type) typedef enum type {
#define ENUM(type, id, spelling) id,
#define ENUM_END(type) type##_COUNT } type;
#include "ir/enums.def"

typedef enum AttrKind {
	ATTR_INT,
	ATTR_FLOAT,
	ATTR_BOOL,
	ATTR_INTS,
	ATTR_FLOATS,
	ATTR_TYPE,
	ATTR_ENUM,
} AttrKind;

#define ATTR_C_INT    int64_t
#define ATTR_C_FLOAT  float
#define ATTR_C_BOOL   bool
#define ATTR_C_INTS   Ints
#define ATTR_C_FLOATS Floats
#define ATTR_C_TYPE   DType
#define ATTR_C_PadMode    PadMode
#define ATTR_C_ResizeMode ResizeMode
#define ATTR_C_Coord      Coord
#define ATTR_C_Rounding   Rounding
#define ATTR_C_BlockOrder BlockOrder

#define ATTRS_EMPTY(group)
#define ATTRS_BEGIN(group) typedef struct group##Attr {
#define ATTR(group, kind, member, def) ATTR_C_##kind member;
#define ATTRS_END(group) } group##Attr;
#include "ir/attrs.def"

/* The attributes of an op, by the group its row names. */
typedef union Attrs {
#define ATTRS_EMPTY(group)
#define ATTRS_BEGIN(group) group##Attr group;
#define ATTR(...)
#define ATTRS_END(group)
#include "ir/attrs.def"
} Attrs;

typedef struct AttrField {
	const char *name;
	AttrKind kind;
	size_t offset;            /* in Attrs */
	double def;               /* default, for the scalar kinds */
	const char *const *names; /* spellings, for ATTR_ENUM */
	int nnames;
} AttrField;

typedef struct OpInfo {
	const char *name;
	int min_in, max_in;
	unsigned traits;
	const AttrField *fields; /* sorted by name */
	int nfields;
	const char *constraints;
} OpInfo;

extern const OpInfo op_info[OP_COUNT];

/* OP_COUNT if there is none of that name. */
OpKind op_by_name(const char *name);

/* The defaults of a kind's attributes. */
Attrs attrs_default(OpKind kind);

/* The member a field describes. */
#define ATTR_AT(attrs, field, T) ((T *)((char *)(attrs) + (field)->offset))
#define ATTR_AT_CONST(attrs, field, T) ((const T *)((const char *)(attrs) + (field)->offset))

bool attrs_equal(OpKind kind, const Attrs *a, const Attrs *b);

bool ints_equal(Ints a, Ints b);
Ints ints_copy(Arena *a, const int64_t *v, int n);
Ints ints_fill(Arena *a, int64_t value, int n);
Ints ints_of_shape(Arena *a, Shape s);
bool ints_all(Ints a, int64_t value); /* true for the empty list */
Floats floats_copy(Arena *a, const float *v, int n);

/* A list attribute written out: INTS(arena, 1, 2, 3). */
#define INTS(a, ...) \
	ints_copy((a), (int64_t[]){ __VA_ARGS__ }, \
		  sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))

#endif
