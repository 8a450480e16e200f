/*
 * What a chain of reshapes, transposes, slices and the like does, as one
 * strided walk over its source.
 *
 * The row-major index of an element of the result, written in the mixed base
 * dim[0], dim[1], ..., has digits; the element is source element
 * offset + sum(digit[i] * stride[i]). Whatever is spelt differently but moves
 * the same has the same digits, because they are always kept merged:
 *
 *     x : f32[1,4,5,6]
 *     transpose {perm = [0,2,3,1]}   digits 30 4, strides 1 30
 *     reshape {shape = [1,30,4]}     the same
 */
#ifndef PASSES_STRIDED_H
#define PASSES_STRIDED_H

#include "ir/graph.h"

enum { MAX_DIGITS = 24 };

typedef struct Strided {
	Shape shape; /* of the result */
	int n;
	int64_t dim[MAX_DIGITS], stride[MAX_DIGITS], offset;
} Strided;

/* The walk that is the identity on a tensor of this shape. */
Strided strided_identity(Shape shape);

/* Puts what `op` does to its input 0 after the walk. False, leaving the walk
 * undefined, if `op` is no such move, its tensor is empty, or no digits can
 * say it. Knows reshape, transpose, slice, gather by constant indices in even
 * steps, select_channels in even steps, depth_to_space, space_to_depth,
 * identity and dropout. */
bool strided_apply(Strided *s, const Op *op);

/* The kinds of those that exporters spell layout changes with; that a walk can
 * say a particular one is strided_apply's to find out. */
bool strided_is_layout_move(const Op *op);

/* A reshape needs no function: it sets `shape`. */
bool strided_transpose(Strided *s, const int64_t *perm);

/* Index `i` of a gather along a dim of `n`: negative ones count from its end. */
int64_t strided_index(const Tensor *t, int64_t i, int64_t n);

/* Splits digits until each dim of the result has digits of its own: those of
 * dim i are from[i] .. from[i+1]-1. Dims of 1 have none. False if a digit
 * would have to be cut where it has no divisor. */
bool strided_align(Strided *s, int from[MAX_RANK + 1]);

/* Merges the digits again. */
void strided_merge(Strided *s);

/* True if the elements move the same way, whatever the shape. */
bool strided_same_moves(const Strided *a, const Strided *b);

/* True if no element moves. */
bool strided_is_reshape(const Strided *s, Shape source);

/* True if the result is a transpose of `source`, dims of 1 included. */
bool strided_is_transpose(const Strided *s, Shape source, int64_t perm[MAX_RANK]);

/* True if the result is a transpose of `source` and then a reshape. */
bool strided_is_transpose_reshape(const Strided *s, Shape source, int64_t perm[MAX_RANK]);

/* True if the result takes every steps[i]th element from starts[i] on along
 * each dim of `source`. */
bool strided_is_slice(const Strided *s, Shape source, int64_t starts[MAX_RANK],
		      int64_t steps[MAX_RANK]);

/* True if the result is a selection of whole channels (dim 1) of `source`,
 * itself unmoved otherwise; then `channels` has the result's dim 1 entries,
 * in arena `a`. Says no above MAX_CHANNELS. */
enum { MAX_CHANNELS = 1 << 20 };
bool strided_is_channels(const Strided *s, Shape source, Arena *a, Ints *channels);

#endif
