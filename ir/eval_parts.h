/*
 * What the eval*.c files share. Everyone else wants eval.h.
 *
 * Each part takes an op as op_eval does. Arithmetic is on double for floating
 * types and on int64_t for the others, where a u64 is its bit pattern and has
 * functions of its own wherever the sign matters.
 */
#ifndef IR_EVAL_PARTS_H
#define IR_EVAL_PARTS_H

#include "ir/eval.h"
#include "ir/walk.h"

Tensor *eval_eltwise(Arena *a, const Op *op, Tensor *const in[]);
Tensor *eval_move(Arena *a, const Op *op, Tensor *const in[]);
Tensor *eval_pad(Arena *a, const Op *op, Tensor *const in[]);
Tensor *eval_reduce(Arena *a, const Op *op, Tensor *const in[]);
Tensor *eval_arg(Arena *a, const Op *op, Tensor *const in[]);

/* Zeros of the result's type, or NULL if the result is too large to hold. */
Tensor *eval_room(Arena *a, const Op *op, Tensor *const in[]);

/* Where to write them. */
static inline char *eval_bytes(Tensor *t) { return (char *)(uintptr_t)t->data; }

/* Copies tensor 0 of the walk, which lies at `from`, to tensor 1, at `to`. */
void eval_copy(Walk *w, size_t bytes, char *to, const char *from);

/* True if all elements are one: such a tensor is never spread out. */
bool eval_is_single(const Tensor *t);

/* The first element of `t`, repeated to the result's shape. */
Tensor *eval_splat(Arena *a, const Op *op, const Tensor *t);

typedef double (*Unary)(double x, const Attrs *attr);
typedef double (*Binary)(double x, double y);
typedef int64_t (*IntUnary)(int64_t x);
typedef int64_t (*IntBinary)(int64_t x, int64_t y);

/* The arithmetic of a kind, or NULL if it has none of that sort. */
Unary eval_unary(OpKind kind);
Binary eval_binary(OpKind kind);
IntUnary eval_int_unary(OpKind kind, DType type);
IntBinary eval_int_binary(OpKind kind, DType type);

#endif
