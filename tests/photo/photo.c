#include "tests/photo/photo.h"

#include <math.h>

#include "frontend/weights.h"
#include "ir/hint.h"
#include "passes/product.h"
#include "passes/rewrite.h"
#include "runtime/ref/ref.h"

/* ---- the photograph ---- */

typedef struct Between {
	int64_t low, high;
	double share; /* of the higher */
} Between;

/* Where pixel i of n looks among `from`: their centres, corners apart. */
static Between between(int64_t i, int64_t n, int64_t from)
{
	const double at = fmax(0, ((double)i + 0.5) * (double)from / (double)n - 0.5);
	Between b = { (int64_t)at, 0, 0 };
	b.high = b.low + 1 < from ? b.low + 1 : b.low;
	b.share = at - (double)b.low;
	return b;
}

static double pixel(const Tensor *t, int64_t plane, Between y, Between x)
{
	const int64_t h = t->shape.dim[2], w = t->shape.dim[3], at = plane * h;
	const double low = tensor_f64(t, (at + y.low) * w + x.low) * (1 - x.share)
		+ tensor_f64(t, (at + y.low) * w + x.high) * x.share;
	const double high = tensor_f64(t, (at + y.high) * w + x.low) * (1 - x.share)
		+ tensor_f64(t, (at + y.high) * w + x.high) * x.share;
	return low * (1 - y.share) + high * y.share;
}

/* To -1 .. 1, all channels alike. */
static void stretch(float *v, int64_t n)
{
	float low = v[0], high = v[0];
	for (int64_t i = 0; i < n; i++) {
		low = fminf(low, v[i]);
		high = fmaxf(high, v[i]);
	}
	for (int64_t i = 0; i < n && high > low; i++)
		v[i] = 2 * (v[i] - low) / (high - low) - 1;
}

Tensor *photo_read(Arena *a, Diag *d, const char *path, Shape shape)
{
	const Tensor *from = npy_read(a, d, path);
	if (!from)
		return NULL;
	if (from->shape.rank != 4 || shape.rank != 4 || shape_count(from->shape) < 1) {
		diag_error(d, (Loc){ .file = path }, "a photograph is wanted, of 4 dims");
		return NULL;
	}
	Tensor *to = tensor_create(a, TYPE_F32, shape);
	float *v = tensor_f32_data(to);
	for (int64_t i = 0, n = tensor_count(to), w = shape.dim[3], h = shape.dim[2]; i < n; i++)
		v[i] = (float)pixel(from, i / (w * h) % from->shape.dim[1],
				    between(i / w % h, h, from->shape.dim[2]),
				    between(i % w, w, from->shape.dim[3]));
	stretch(v, tensor_count(to));
	return to;
}

/* ---- statistics ---- */

enum { SCALE = 1, MEAN = 3, VARIANCE = 4 }; /* inputs of a batch norm */

/* Of channel c, all images. */
static void measure(const Tensor *t, int64_t c, double *mean, double *variance)
{
	const int64_t channels = t->shape.dim[1], each = t->shape.dim[2] * t->shape.dim[3];
	double sum = 0, squares = 0;
	for (int64_t b = 0; b < t->shape.dim[0]; b++)
		for (int64_t i = 0; i < each; i++) {
			const double v = tensor_f64(t, (b * channels + c) * each + i);
			sum += v;
			squares += v * v;
		}
	const double n = (double)(t->shape.dim[0] * each);
	*mean = sum / n;
	*variance = fmax(0, squares / n - *mean * *mean);
}

/* The norm that reads what was just seen has not run yet. */
static void seen(void *context, const Op *op, const Tensor *t)
{
	(void)context;
	for (const Use *u = op->uses; u; u = u->next) {
		const Op *norm = u->user;
		if (norm->kind != OP_BATCH_NORM || op_in(norm, 0) != op || t->shape.rank != 4)
			continue;
		for (int64_t c = 0; c < t->shape.dim[1]; c++) {
			double mean, variance;
			measure(t, c, &mean, &variance);
			tensor_set_f64(op_value(op_in(norm, MEAN)), c, mean);
			tensor_set_f64(op_value(op_in(norm, VARIANCE)), c, variance);
		}
	}
}

bool photo_settle(Graph *g, Tensor *image)
{
	enum { MOST = 16 };
	Tensor *out[MOST];
	for_each_op(op, g)
		for (int i = SCALE; op->kind == OP_BATCH_NORM && i <= VARIANCE; i++) {
			Tensor *t = rewrite_writable(g, op, i, op_in(op, i)->name);
			for (int64_t c = 0; t && c < tensor_count(t); c++)
				tensor_set_f64(t, c, i == SCALE);
			if (!t)
				return false;
		}
	const RefOptions opt = { .seen = seen };
	return ref_run(g, g->arena, &image, out, &opt);
}

void photo_exact_weights(Graph *g, const char *format)
{
	const char *const hints[][2] = { { "weights", format }, { "fidelity", "hifi4" } };
	for_each_op(op, g)
		for (size_t i = 0; op_is_product(op) && i < 2; i++)
			if (!op_hint(op, hints[i][0]))
				op_add_hint(g, op, (Loc){ 0 }, hints[i][0], hints[i][1]);
}

void photo_before_sigmoid(Graph *g)
{
	for_each_op(op, g)
		if (op->kind == OP_OUTPUT && op->nin == 1 && op_in(op, 0)->kind == OP_SIGMOID) {
			Op *sigmoid = op_in(op, 0);
			op_set_input(op, 0, op_in(sigmoid, 0));
			op_remove_dead(g, sigmoid);
		}
}
