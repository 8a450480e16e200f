/* Normalisations and softmax. */
#include "runtime/ref/ref_internal.h"

#include <math.h>
#include <stdlib.h>

/* y = (x - mean) / sqrt(variance + epsilon) * scale + bias over n elements
 * from `at` on, with scale and bias given per `each` elements. */
typedef struct Norm {
	const Call *c;
	int64_t n, each, channels;
	double epsilon;
	double *scale, *bias, *mean, *variance;
} Norm;

static void normalise(const Norm *t, int64_t at, int64_t n, double mean, double variance,
		      double scale, double bias)
{
	double x[RUN], factor = sqrt(variance + t->epsilon);
	for (int64_t from = 0; from < n; from += RUN) {
		int64_t run = n - from < RUN ? n - from : RUN;
		ref_load_f64(t->c->in[0], at + from, 1, run, x);
		for (int64_t i = 0; i < run; i++)
			x[i] = (x[i] - mean) / factor * scale + bias;
		ref_store_f64(t->c->out, at + from, 1, run, x);
	}
}

/* Sum over n elements from `at` on of (x - centre)^power, power 1 or 2. */
static double moment(const Tensor *t, int64_t at, int64_t n, double centre, int power)
{
	double x[RUN], sum = 0;
	for (int64_t from = 0; from < n; from += RUN) {
		int64_t run = n - from < RUN ? n - from : RUN;
		ref_load_f64(t, at + from, 1, run, x);
		for (int64_t i = 0; i < run; i++)
			sum += power == 1 ? x[i] - centre : (x[i] - centre) * (x[i] - centre);
	}
	return sum;
}

static void batch_planes(void *context, int64_t from, int64_t to)
{
	const Norm *t = context;
	for (int64_t k = from; k < to; k++) {
		int64_t c = k % t->channels;
		normalise(t, k * t->n, t->n, t->mean[c], t->variance[c], t->scale[c], t->bias[c]);
	}
}

static int64_t elements_from(Shape s, int dim)
{
	int64_t n = 1;
	for (int d = dim; d < s.rank; d++)
		n *= s.dim[d];
	return n;
}

void ref_batch_norm(const Call *c)
{
	Shape s = c->in[0]->shape;
	Norm t = { .c = c, .epsilon = c->op->attr.norm.epsilon, .n = elements_from(s, 2),
		   .channels = tensor_count(c->in[1]),
		   .scale = ref_widen(c->in[1]), .bias = ref_widen(c->in[2]),
		   .mean = ref_widen(c->in[3]), .variance = ref_widen(c->in[4]) };
	if (t.n)
		ref_parallel(c->threads, tensor_count(c->out) / t.n, (double)t.n * 3,
			     batch_planes, &t);
	free(t.scale);
	free(t.bias);
	free(t.mean);
	free(t.variance);
}

/* k counts the groups of all images. */
static void norm_groups(void *context, int64_t from, int64_t to)
{
	const Norm *t = context;
	const Tensor *x = t->c->in[0];
	for (int64_t k = from; k < to; k++) {
		double mean = moment(x, k * t->n, t->n, 0, 1) / (double)t->n;
		double variance = moment(x, k * t->n, t->n, mean, 2) / (double)t->n;
		for (int64_t at = k * t->n; at < (k + 1) * t->n; at += t->each) {
			int64_t c = at / t->each % t->channels;
			normalise(t, at, t->each, mean, variance, t->scale[c], t->bias[c]);
		}
	}
}

void ref_group_norm(const Call *c)
{
	Shape s = c->in[0]->shape;
	int64_t groups = c->op->kind == OP_INSTANCE_NORM ? s.dim[1] : c->op->attr.norm.groups;
	Norm t = { .c = c, .epsilon = c->op->attr.norm.epsilon, .channels = s.dim[1],
		   .each = elements_from(s, 2), .scale = ref_widen(c->in[1]),
		   .bias = ref_widen(c->in[2]) };
	t.n = groups ? t.channels / groups * t.each : 0;
	if (t.n)
		ref_parallel(c->threads, s.dim[0] * groups, (double)t.n * 6, norm_groups, &t);
	free(t.scale);
	free(t.bias);
}

/* A tensor as doubles, repeated to `to`; to be freed. */
static double *widen_to(const Tensor *t, Shape to)
{
	double *own = ref_widen(t);
	double *v = xmalloc((size_t)shape_count(to) * sizeof *v);
	Tensor from = { .dtype = TYPE_F64, .shape = t->shape, .data = own };
	Tensor out = { .dtype = TYPE_F64, .shape = to, .data = v };
	int64_t strides[MAX_RANK];
	ref_broadcast_strides(&from, to, strides);
	ref_copy_strided(&out, &from, to, 0, strides, 1);
	free(own);
	return v;
}

static void norm_layers(void *context, int64_t from, int64_t to)
{
	const Norm *t = context;
	const Tensor *x = t->c->in[0];
	double run[RUN];
	for (int64_t k = from; k < to; k++) {
		double mean = moment(x, k * t->n, t->n, 0, 1) / (double)t->n;
		double variance = moment(x, k * t->n, t->n, mean, 2) / (double)t->n;
		double factor = sqrt(variance + t->epsilon);
		for (int64_t at = 0; at < t->n; at += RUN) {
			int64_t n = t->n - at < RUN ? t->n - at : RUN;
			ref_load_f64(x, k * t->n + at, 1, n, run);
			for (int64_t i = 0; i < n; i++)
				run[i] = (run[i] - mean) / factor * t->scale[at + i] +
					(t->bias ? t->bias[at + i] : 0);
			ref_store_f64(t->c->out, k * t->n + at, 1, n, run);
		}
	}
}

void ref_layer_norm(const Call *c)
{
	Shape s = c->in[0]->shape, layer = { 0 };
	Norm t = { .c = c, .epsilon = c->op->attr.norm.epsilon };
	for (int d = (int)c->op->attr.norm.axis; d < s.rank; d++)
		layer.dim[layer.rank++] = s.dim[d];
	t.n = shape_count(layer);
	t.scale = widen_to(c->in[1], layer);
	t.bias = c->op->nin > 2 ? widen_to(c->in[2], layer) : NULL;
	if (t.n)
		ref_parallel(c->threads, tensor_count(c->out) / t.n, (double)t.n * 8,
			     norm_layers, &t);
	free(t.scale);
	free(t.bias);
}

/* k counts images and channels. */
static void lrn_planes(void *context, int64_t from, int64_t to)
{
	const Norm *t = context;
	const lrnAttr *a = &t->c->op->attr.lrn;
	double x[RUN], sum[RUN], share = a->alpha / (double)a->size;
	for (int64_t k = from; k < to; k++) {
		int64_t c = k % t->channels, first = c - (a->size - 1) / 2;
		int64_t end = t->channels - c - 1 < a->size / 2 ? t->channels : c + a->size / 2 + 1;
		first = first < 0 ? 0 : first;
		for (int64_t at = 0; at < t->n; at += RUN) {
			int64_t n = t->n - at < RUN ? t->n - at : RUN;
			for (int64_t i = 0; i < n; i++)
				sum[i] = 0;
			for (int64_t j = first; j < end; j++) {
				ref_load_f64(t->c->in[0], (k - c + j) * t->n + at, 1, n, x);
				for (int64_t i = 0; i < n; i++)
					sum[i] += x[i] * x[i];
			}
			ref_load_f64(t->c->in[0], k * t->n + at, 1, n, x);
			for (int64_t i = 0; i < n; i++)
				x[i] /= pow(a->bias + share * sum[i], a->beta);
			ref_store_f64(t->c->out, k * t->n + at, 1, n, x);
		}
	}
}

void ref_lrn(const Call *c)
{
	Shape s = c->in[0]->shape;
	Norm t = { .c = c, .channels = s.dim[1], .n = elements_from(s, 2) };
	ref_parallel(c->threads, s.dim[0] * s.dim[1], (double)t.n * 50,
		     lrn_planes, &t);
}

/* Lines along the middle of [outer, n, each]. */
static void softmax_lines(void *context, int64_t from, int64_t to)
{
	const Norm *t = context;
	bool logarithm = t->c->op->kind == OP_LOG_SOFTMAX;
	double *x = xmalloc((size_t)t->n * sizeof *x);
	for (int64_t k = from; k < to; k++) {
		int64_t at = k / t->each * t->n * t->each + k % t->each;
		double most = -INFINITY, sum = 0;
		ref_load_f64(t->c->in[0], at, t->each, t->n, x);
		for (int64_t i = 0; i < t->n; i++)
			most = x[i] > most ? x[i] : most;
		for (int64_t i = 0; i < t->n; i++)
			sum += exp(x[i] - most);
		for (int64_t i = 0; i < t->n; i++)
			x[i] = logarithm ? x[i] - most - log(sum) : exp(x[i] - most) / sum;
		ref_store_f64(t->c->out, at, t->each, t->n, x);
	}
	free(x);
}

void ref_softmax(const Call *c)
{
	Shape s = c->in[0]->shape;
	int axis = (int)c->op->attr.axis.axis;
	Norm t = { .c = c, .n = s.rank ? s.dim[axis] : 1, .each = elements_from(s, axis + 1) };
	if (tensor_count(c->out))
		ref_parallel(c->threads, tensor_count(c->out) / t.n, (double)t.n * 40,
			     softmax_lines, &t);
}
