/*
 * What the lowerings of standard operations share.
 *
 * A lowering reads the arguments of its Call by parameter name and appends
 * ops. Its last op takes the name the model gave the result, the others that
 * name with a suffix. A NULL op is one already reported: emit passes it on.
 *
 *     static Value lower_sqrt(Call *c)
 *     {
 *             return value_tensor(emit(c, NULL, OP_SQRT, NULL, 1, (Op *[]){ arg_op(c, "x") }));
 *     }
 */
#ifndef FRONTEND_NNEF_LOWER_H
#define FRONTEND_NNEF_LOWER_H

#include "frontend/nnef_eval.h"

/* Reports "operation: ..." at the call. */
Value call_error(Call *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* --- nnef_lower.c: arguments --- */

Value arg_value(const Call *c, const char *param);
int64_t arg_integer(const Call *c, const char *param);
double arg_scalar(const Call *c, const char *param);
bool arg_logical(const Call *c, const char *param);
const char *arg_string(const Call *c, const char *param);

Ints arg_ints(Call *c, const char *param);

/* Every axis once and within `rank`, else reported; sorted. */
bool arg_axes(Call *c, const char *param, int rank, Ints *out);
bool arg_axis(Call *c, const char *param, int rank, int *out);

/* A tensor argument as an op: a literal becomes a scalar constant. */
Op *arg_op(Call *c, const char *param);
Op *value_op(Call *c, const char *what, Value v);

/* --- nnef_lower.c: ops --- */

/* A new op, typed; attr NULL for the defaults. NULL if an input is or if it
 * is wrong, which was reported. */
Op *emit(Call *c, const char *suffix, OpKind kind, const Attrs *attr, int nin, Op *const in[]);
Op *emit_constant(Call *c, const char *suffix, Tensor *t);

/* `x` itself if it has that shape. */
Op *emit_reshape(Call *c, const char *suffix, Op *x, Shape shape);
Op *emit_slice(Call *c, const char *suffix, Op *x, const int64_t *start, const int64_t *step,
	       const int64_t *count);

/* Arguments of an element-wise op, with dims lined up at the first one as NNEF
 * does; false if one is NULL. Variables get `role`. */
bool arg_operands(Call *c, int n, const char *const params[], WeightRole role, Op *out[]);

/* A weight of input channels and such: closes open dims from `want`. */
Op *arg_weight(Call *c, const char *param, WeightRole role, Shape want);

/* One value per channel: a scalar is repeated, [1,C] and [C] become [C]. If
 * `absent` is not NULL, 0.0 gives NULL and sets it. */
Op *arg_channels(Call *c, const char *param, WeightRole role, int64_t n, bool *absent);

/* --- nnef_lower_window.c --- */

enum { MAX_WINDOW = 1 << 30 };

/* Along one dim. */
typedef struct Window {
	int64_t size, stride, dilation, begin, end;
} Window;

/* Padding that keeps ceil(in / stride) windows, the odd one at the end. */
void window_same(Window *w, int64_t in);

/* stride, dilation and padding of `n` dims; sizes must be set. Empty padding
 * is worked out from the dims `in`. */
bool window_read(Call *c, int n, Window *w, const int64_t *in);

/* Pads n dims of x from `first` on, and leaves the windows without padding: as
 * a border mode of NNEF says, or as the IR does. */
Op *window_pad(Call *c, const char *suffix, Op *x, int first, int n, Window *w,
	       const char *border);
Op *window_fill(Call *c, const char *suffix, Op *x, int first, int n, Window *w, PadMode mode,
		float value);

/* Mean (or sum) of windows over any dims but the first (nnef_lower_pool.c). */
Op *emit_box(Call *c, const char *suffix, Op *x, Window *w, const char *border, bool normalize);

/* One function per name in the lower column of nnef_ops.def. */
#define NNEF_OP(name, lower, kind, proto) Value nnef_lower_##lower(Call *c);
#include "frontend/nnef_ops.def"

#endif
