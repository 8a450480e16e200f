/*
 * Element types, shapes, and constant tensors.
 *
 * A Tensor is a value known at compile time: row-major elements of its own
 * type, often straight out of a mapped weight file. Reading goes through
 * double for floating types and int64_t for the others, so that code which
 * folds constants is written once for all types.
 */
#ifndef IR_TENSOR_H
#define IR_TENSOR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ir/arena.h"

typedef enum DType {
	TYPE_NONE, /* unknown, because an error was already reported */
#define TYPE(id, ...) TYPE_##id,
#include "ir/types.def"
	TYPE_COUNT
} DType;

typedef enum TypeClass { NO_CLASS, FLOATING, SIGNED, UNSIGNED, LOGICAL } TypeClass;

typedef struct TypeInfo {
	const char *name;
	uint8_t bytes;
	TypeClass class;
} TypeInfo;

extern const TypeInfo type_info[TYPE_COUNT];

/* TYPE_NONE if there is none of that name. */
DType type_by_name(const char *name);

static inline bool type_is_float(DType t) { return type_info[t].class == FLOATING; }

enum { MAX_RANK = 8 };

/* No tensor has more elements than this, so that sizes in bytes and sums of
 * sizes never overflow an int64_t. Readers refuse larger ones. */
#define MAX_ELEMENTS ((int64_t)1 << 40)

typedef struct Shape {
	int rank; /* 0: a scalar */
	int64_t dim[MAX_RANK];
} Shape;

#define SHAPE(...) \
	((Shape){ sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), { __VA_ARGS__ } })

bool shape_equal(Shape a, Shape b);

/* Product of the dims; -1 if a dim is negative or the product is above
 * MAX_ELEMENTS. */
int64_t shape_count(Shape s);

/* Row-major strides in elements. */
void shape_strides(Shape s, int64_t strides[MAX_RANK]);

/* The shape two shapes broadcast to, aligned at the last dim; false if they
 * do not fit or the result has too many elements. */
bool shape_broadcast(Shape a, Shape b, Shape *out);

/* "1x3x480x640"; "scalar" for rank 0. */
const char *shape_text(Arena *a, Shape s);

/* "f32[1,3,480,640]", as IR text has it, in `buf`, which is returned. */
enum { TYPE_TEXT = 24 * MAX_RANK };
const char *type_text(char buf[TYPE_TEXT], DType dtype, Shape s);

typedef struct Tensor {
	DType dtype;
	Shape shape;
	const void *data; /* NULL: elided, only `hash` is known */
	bool splat;       /* data holds one element, which all are */
	bool owned;       /* data is arena memory of this tensor alone: a pass
			   * that holds the only use may write to it */
	uint64_t hash;    /* of an elided tensor; see tensor_hash */
} Tensor;

static inline int64_t tensor_count(const Tensor *t) { return shape_count(t->shape); }

/* Bytes of the elements, as if there were no splat. */
static inline int64_t tensor_bytes(const Tensor *t)
{
	return tensor_count(t) * type_info[t->dtype].bytes;
}

/* A tensor of zeros to be filled in. */
Tensor *tensor_create(Arena *a, DType dtype, Shape shape);

/* One value, repeated. Floating types take `f`, the others `i`. */
Tensor *tensor_splat(Arena *a, DType dtype, Shape shape, double f, int64_t i);

/* A 1-D i64 or f32 tensor with these elements. */
Tensor *tensor_of_ints(Arena *a, const int64_t *v, int64_t n);
Tensor *tensor_of_floats(Arena *a, const float *v, int64_t n);

/* Element i in row-major order as double or int64_t, converted if the
 * element is of the other kind (to int64_t: towards zero, saturating). u64
 * goes through int64_t as its bit pattern. The tensor must not be elided. */
double tensor_f64(const Tensor *t, int64_t i);
int64_t tensor_i64(const Tensor *t, int64_t i);

/* Stores with the type's own rounding: floats to nearest even, integers
 * towards zero and modulo 2^bits, bool is "not zero". Not for splats. */
void tensor_set_f64(Tensor *t, int64_t i, double v);
void tensor_set_i64(Tensor *t, int64_t i, int64_t v);

/* The same for n elements: read at, at + step, ...; write at, at + 1, ... */
void tensor_read_f64(const Tensor *t, int64_t at, int64_t step, int64_t n, double out[]);
void tensor_read_i64(const Tensor *t, int64_t at, int64_t step, int64_t n, int64_t out[]);
void tensor_write_f64(Tensor *t, int64_t at, int64_t n, const double v[]);
void tensor_write_i64(Tensor *t, int64_t at, int64_t n, const int64_t v[]);

/* The writable elements of an f32 tensor that is `owned`. */
float *tensor_f32_data(Tensor *t);

/* `t` as an owned f32 tensor with every element spelt out; `t` itself if it
 * is that already. */
Tensor *tensor_to_f32(Arena *a, Tensor *t);

/* The same elements under another shape of the same count. They are shared,
 * so that `t` no longer owns them. */
Tensor *tensor_reshaped(Arena *a, Tensor *t, Shape shape);

/* Same type, shape and element bits. Two elided tensors compare by hash. */
bool tensor_equal(const Tensor *a, const Tensor *b);

/* Hash of type, shape and element bits: the name under which IR text refers
 * to a constant it does not spell out. A splat hashes as the tensor it
 * stands for. */
uint64_t tensor_hash(const Tensor *t);

float half_to_float(uint16_t h);
uint16_t float_to_half(float f); /* to nearest even */
float float_to_tf32(float f); /* to 10 bits of fraction, nearest even */

static inline uint32_t float_bits(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof bits);
	return bits;
}

static inline float float_of_bits(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, sizeof f);
	return f;
}

static inline float bf16_to_float(uint16_t h) { return float_of_bits((uint32_t)h << 16); }

/* To nearest even. */
static inline uint16_t float_to_bf16(float f)
{
	const uint32_t bits = float_bits(f);
	const uint32_t near = bits + 0x7fff + (bits >> 16 & 1);
	return (uint16_t)((f != f ? bits | 0x400000 : near) >> 16); /* NaN stays NaN */
}

#endif
