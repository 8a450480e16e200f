/*
 * What the readers and writers of weight files share.
 *
 * Each reader gets a whole file in memory and a place to report to:
 *
 *     w.npz: member 'conv1.npy': error: truncated header
 *
 * All numbers in these files are little-endian; le16 and its sisters read
 * them wherever they lie.
 */
#ifndef FRONTEND_WEIGHT_FORMATS_H
#define FRONTEND_WEIGHT_FORMATS_H

#include <stdio.h>

#include "frontend/weights.h"

Tensor *npy_parse_at(Arena *a, Diag *d, Loc at, const char *data, size_t size);
Tensor *dat_parse(Arena *a, Diag *d, const char *file, const char *data, size_t size);
WeightFile *npz_parse(Arena *a, Diag *d, const char *file, const char *data, size_t size);

WeightFile *weights_create(Arena *a);

/* False if the name is taken; `name` must outlive `w`. */
bool weights_add(Arena *a, WeightFile *w, const char *name, Tensor *t);

/* A tensor over elements in a mapped file. Bools that are not 0 or 1 are
 * copied and made so. */
Tensor *weights_tensor(Arena *a, DType dtype, Shape shape, const void *data);

/* The first type of types.def of that class and size, or TYPE_NONE. */
DType weights_type(TypeClass class, uint64_t bytes);

/* Writes every element, a splat's too. */
void weights_write_elements(FILE *f, const Tensor *t);

static inline uint32_t le16(const char *p)
{
	const unsigned char *b = (const unsigned char *)p;
	return (uint32_t)b[0] | (uint32_t)b[1] << 8;
}

static inline uint32_t le32(const char *p) { return le16(p) | le16(p + 2) << 16; }
static inline uint64_t le64(const char *p) { return le32(p) | (uint64_t)le32(p + 4) << 32; }

#endif
