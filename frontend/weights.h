/*
 * Weight files: .npy, .npz, .safetensors, NNEF .dat; all mapped.
 *
 * A WeightFile is a list of named tensors whose data lies in the mapping.
 */
#ifndef FRONTEND_WEIGHTS_H
#define FRONTEND_WEIGHTS_H

#include "ir/diag.h"
#include "ir/graph.h"
#include "ir/tensor.h"

typedef struct WeightFile {
	int n;
	const char **names;
	Tensor **tensors;
	StrMap by_name;
} WeightFile;

/* Reads .npz or .safetensors by what the file holds, .npy as one tensor
 * named after the file, .dat likewise; a folder as all such files below it,
 * .npy and .dat named by their path in it without suffix ("conv1/filter").
 * NULL if it is wrong, which is reported. */
WeightFile *weights_open(Arena *a, Diag *d, const char *path);

/* NULL if there is none of that name. */
Tensor *weights_find(const WeightFile *w, const char *name);

Tensor *npy_read(Arena *a, Diag *d, const char *path);
Tensor *npy_parse(Arena *a, Diag *d, const char *file, const char *data, size_t size);

/* Row-major, little-endian, format 1.0; bf16 is written as f32. */
bool npy_write(Arena *a, Diag *d, const char *path, const Tensor *t);

/* NNEF tensor files. `at` is where the model asks for it. */
Tensor *dat_read(Arena *a, Diag *d, Loc at, const char *path);
bool dat_write(Arena *a, Diag *d, const char *path, const Tensor *t);

WeightFile *safetensors_parse(Arena *a, Diag *d, const char *file, const char *data, size_t size);
bool safetensors_write(Arena *a, Diag *d, const char *path, int n,
		       const char *const names[], const Tensor *const tensors[]);

/* The weights that IR text refers to by hash: every constant of `g` that
 * has data and prints so, in a .safetensors file, each named by its hash in 16
 * hex digits. */
bool weights_dump(const Graph *g, Diag *d, const char *path);

/* That name. */
const char *weights_hash_name(Arena *a, const Tensor *t);

/* --random-weights. What a weight is for decides its distribution: */
typedef enum WeightRole {
	WEIGHT_KERNEL,   /* normal, variance 2 / fan_in (He) */
	WEIGHT_BIAS,     /* uniform in +-0.1 */
	WEIGHT_SCALE,    /* uniform in 0.5 .. 1.5 */
	WEIGHT_MEAN,     /* uniform in +-0.1 */
	WEIGHT_VARIANCE, /* uniform in 0.5 .. 1.5 */
} WeightRole;

/* An f32 tensor that depends on seed, name, role, fan_in and shape alone. */
Tensor *weights_random(Arena *a, uint64_t seed, const char *name, WeightRole role,
		       int64_t fan_in, Shape shape);

/* A constant of which only the name is known. */
Tensor *weights_elided(Arena *a, const char *name, DType dtype, Shape shape);

/* Random weights for every elided constant of `g`, by what its first reader
 * takes it for. */
void weights_fill(Graph *g, uint64_t seed);

#endif
