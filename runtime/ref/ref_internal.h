/*
 * What the files of the reference executor share: the call of one op, ways
 * to read and write elements, and the parallel loop.
 *
 * Elements are read in runs into double (floating types) or int64_t (the
 * others), computed with, and written back with the type's own rounding:
 *
 *     double x[RUN];
 *     ref_load_f64(c->in[0], at, 1, n, x);
 *     ...
 *     ref_store_f64(c->out, at, 1, n, x);
 *
 * Every output element is computed by one thread from inputs alone, in an
 * order that does not depend on how the work was cut, so results have the
 * same bits for any number of threads.
 */
#ifndef RUNTIME_REF_REF_INTERNAL_H
#define RUNTIME_REF_REF_INTERNAL_H

#include "ir/graph.h"

/* One op to be computed. `out` is typed and has memory, not yet written. */
typedef struct Call {
	const Graph *g;
	const Op *op;
	const Tensor *const *in;
	Tensor *out;
	int threads;
} Call;

/* Elements handled at a time by code that goes through buffers. */
enum { RUN = 256 };

/* Elements at, at + step, ... (n of them) in row-major order, widened. A
 * splat gives the same value everywhere. */
void ref_load_f64(const Tensor *t, int64_t at, int64_t step, int64_t n, double *to);

/* u64 comes as its bit pattern. */
void ref_load_i64(const Tensor *t, int64_t at, int64_t step, int64_t n, int64_t *to);

/* To floats: nearest even, once. To integers: towards zero, then modulo
 * 2^bits. To bool: not zero. */
void ref_store_f64(const Tensor *t, int64_t at, int64_t step, int64_t n, const double *from);
void ref_store_i64(const Tensor *t, int64_t at, int64_t step, int64_t n, const int64_t *from);

/* A whole tensor as doubles, to be freed. */
double *ref_widen(const Tensor *t);

static inline char *ref_bytes(const Tensor *t) { return (char *)(uintptr_t)t->data; }
static inline size_t ref_size(const Tensor *t) { return type_info[t->dtype].bytes; }

/* Convolutions and pools see every tensor with three spatial dims, of which
 * the first are 1 where the tensor has fewer. */
enum { SPATIAL = 3 };

/* Element i of a spatial list; `otherwise` for the dims in front (i < 0). */
static inline int64_t ref_item(Ints list, int i, int64_t otherwise)
{
	return i < 0 ? otherwise : list.v[i];
}

/* a/b rounded up, for b > 0. */
static inline int64_t ref_ceil_div(int64_t a, int64_t b)
{
	return a / b + (a % b > 0);
}

/* Calls body(context, from, to) over pieces of 0..n-1, on up to `threads`
 * threads if n times `work` nanoseconds are worth it. */
typedef void RefBody(void *context, int64_t from, int64_t to);
void ref_parallel(int threads, int64_t n, double work, RefBody *body, void *context);

/* Strides by which a tensor of shape `s` is read at positions of shape `to`,
 * aligned at the last dim: 0 where it is repeated. */
void ref_broadcast_strides(const Tensor *t, Shape to, int64_t strides[MAX_RANK]);

/* Element-wise `kind` with its FLOAT attributes `param`. False if an integer
 * is divided by zero. `out` may be one of the inputs. */
bool ref_eltwise(OpKind kind, const float *param, const Tensor *const in[], int nin,
		 const Tensor *out, int threads);

/* out[k], in row-major order of dims, is in[offset + sum(index * strides)]. */
void ref_copy_strided(const Tensor *out, const Tensor *in, Shape dims, int64_t offset,
		      const int64_t strides[MAX_RANK], int threads);

/* out[i0,i1,...] is in[map[0][i0], map[1][i1], ...], or `fill` where a map
 * says -1. The shapes stand for `out` and `in`; the elements have any type. */
void ref_copy_mapped(const Tensor *out, Shape to, const Tensor *in, Shape from,
		     int64_t *const map[MAX_RANK], const void *fill, int threads);

/* A map for ref_copy_mapped that takes 0, 1, ..., n-1; to be freed. */
int64_t *ref_map_same(int64_t n);

/* What each op does. False if the op failed on these values, which has been
 * reported. */
bool ref_act(const Call *c);
bool ref_run_eltwise(const Call *c);
void ref_conv(const Call *c);
void ref_conv_transpose(const Call *c);
void ref_linear(const Call *c);
void ref_matmul(const Call *c);
void ref_max_pool(const Call *c);
void ref_avg_pool(const Call *c);
void ref_reduce(const Call *c);
void ref_arg(const Call *c);
void ref_resize(const Call *c);
void ref_batch_norm(const Call *c);
void ref_group_norm(const Call *c);
void ref_layer_norm(const Call *c);
void ref_lrn(const Call *c);
void ref_softmax(const Call *c);
void ref_copy(const Call *c);
void ref_transpose(const Call *c, Ints perm);
void ref_expand(const Call *c);
void ref_concat(const Call *c);
void ref_slice(const Call *c);
void ref_pad(const Call *c);
bool ref_gather(const Call *c);
void ref_select_channels(const Call *c);
void ref_depth_to_space(const Call *c);
void ref_space_to_depth(const Call *c);
void ref_view(const Call *c);

#endif
