/* The reference executor: windows against loops written out, the same bits
 * for any number of threads, what it refuses. Values op by op: tests/ref/. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/rng.h"
#include "runtime/ref/ref.h"
#include "runtime/ref/ref_internal.h"
#include "tests/check.h"

enum { TRIALS = 30 };

typedef struct Fixture {
	Arena *arena;
	Diag diag;
	char *said;
	size_t size;
	Graph *g;
	Rng rng;
} Fixture;

static int setup(void **state)
{
	Fixture *t = calloc(1, sizeof *t);
	t->arena = arena_create();
	t->diag.to = open_memstream(&t->said, &t->size);
	t->g = graph_create(t->arena, &t->diag, "test");
	t->rng.state = 1;
	*state = t;
	return 0;
}

static int teardown(void **state)
{
	Fixture *t = *state;
	fclose(t->diag.to);
	diag_finish(&t->diag);
	arena_destroy(t->arena);
	free(t->said);
	free(t);
	return 0;
}

static const char *said(Fixture *t)
{
	fflush(t->diag.to);
	return t->said;
}

static Tensor *noise(Fixture *t, Shape s)
{
	Tensor *x = tensor_create(t->arena, TYPE_F32, s);
	for (int64_t i = 0; i < shape_count(s); i++)
		tensor_f32_data(x)[i] = rng_float(&t->rng) * 2 - 1;
	return x;
}

static Op *insert(Fixture *t, OpKind kind, int nin, Op *const in[])
{
	return graph_insert(t->g, NULL, kind, op_info[kind].name, nin, in);
}

static Op *input(Fixture *t, DType type, Shape s)
{
	Op *x = insert(t, OP_INPUT, 0, NULL);
	x->dtype = type;
	x->shape = s;
	return x;
}

static void output(Fixture *t, Op *op)
{
	assert_true(op_infer(t->g, op));
	assert_true(op_infer(t->g, insert(t, OP_OUTPUT, 1, &op)));
}

static Tensor *run(Fixture *t, Tensor *in, int threads)
{
	Tensor *out = NULL;
	bool ok = ref_run(t->g, t->arena, &in, &out, &(RefOptions){ .threads = threads });
	assert_string_equal(said(t), "");
	assert_true(ok);
	return out;
}

/* Three spatial dims; where a trial has fewer, the first are 1. */
typedef struct Window {
	int64_t batch, groups, cin, cout; /* channels of a group */
	int64_t in[3], kernel[3], stride[3], dilation[3], begin[3], end[3];
} Window;

static Window random_window(Rng *r, int n)
{
	Window w = { .batch = 1 + rng_below(r, 2), .groups = 1 + rng_below(r, 3),
		     .cin = 1 + rng_below(r, 4), .cout = 1 + rng_below(r, 6) };
	for (int d = 0; d < 3; d++) {
		bool used = d >= 3 - n;
		w.kernel[d] = used ? 1 + rng_below(r, 4) : 1;
		w.stride[d] = used ? 1 + rng_below(r, 3) : 1;
		w.dilation[d] = used ? 1 + rng_below(r, 2) : 1;
		w.begin[d] = used ? rng_below(r, 3) : 0;
		w.end[d] = used ? rng_below(r, 3) : 0;
		/* 5: no padding then eats a whole result of conv_transpose */
		w.in[d] = !used ? 1
			: (w.kernel[d] - 1) * w.dilation[d] + 5 + rng_below(r, n == 1 ? 90 : 4);
	}
	return w;
}

static Shape spatial(int n, int64_t batch, int64_t channels, const int64_t dims[3])
{
	Shape s = { .rank = n + 2, .dim = { batch, channels } };
	for (int i = 0; i < n; i++)
		s.dim[i + 2] = dims[3 - n + i];
	return s;
}

static double naive_conv(const Window *w, const float *x, const float *k, int64_t n, int64_t c,
			 const int64_t at[3])
{
	double sum = 0;
	int64_t group = c / w->cout;
	for (int64_t i = 0; i < w->cin; i++)
	for (int64_t z = 0; z < w->kernel[0]; z++)
	for (int64_t y = 0; y < w->kernel[1]; y++)
	for (int64_t v = 0; v < w->kernel[2]; v++) {
		const int64_t tap[3] = { z, y, v };
		int64_t from = n * w->groups * w->cin + group * w->cin + i;
		bool inside = true;
		for (int d = 0; d < 3; d++) {
			int64_t p = at[d] * w->stride[d] - w->begin[d] + tap[d] * w->dilation[d];
			inside = inside && p >= 0 && p < w->in[d];
			from = from * w->in[d] + p;
		}
		int64_t weight = ((c * w->cin + i) * w->kernel[0] + z) * w->kernel[1] + y;
		if (inside)
			sum += (double)x[from] * k[weight * w->kernel[2] + v];
	}
	return sum;
}

static double naive_transpose(const Window *w, const float *x, const float *k, int64_t n,
			      int64_t c, const int64_t at[3])
{
	double sum = 0;
	int64_t group = c / w->cout, o = c % w->cout;
	for (int64_t i = group * w->cin; i < (group + 1) * w->cin; i++)
	for (int64_t z = 0; z < w->kernel[0]; z++)
	for (int64_t y = 0; y < w->kernel[1]; y++)
	for (int64_t v = 0; v < w->kernel[2]; v++) {
		const int64_t tap[3] = { z, y, v };
		int64_t from = n * w->groups * w->cin + i;
		bool hit = true;
		for (int d = 0; d < 3; d++) {
			int64_t p = at[d] + w->begin[d] - tap[d] * w->dilation[d];
			hit = hit && p % w->stride[d] == 0 && p >= 0 && p / w->stride[d] < w->in[d];
			from = from * w->in[d] + p / w->stride[d];
		}
		int64_t weight = ((i * w->cout + o) * w->kernel[0] + z) * w->kernel[1] + y;
		if (hit)
			sum += (double)x[from] * k[weight * w->kernel[2] + v];
	}
	return sum;
}

static void compare(const Window *w, const float *x, const float *k, const float *bias,
		    const Tensor *y, bool transposed)
{
	int rank = y->shape.rank;
	for (int64_t e = 0; e < tensor_count(y); e++) {
		int64_t at[3] = { 0 }, rest = e;
		for (int d = 2; d >= 5 - rank; d--) {
			at[d] = rest % y->shape.dim[rank - 3 + d];
			rest /= y->shape.dim[rank - 3 + d];
		}
		int64_t c = rest % y->shape.dim[1], n = rest / y->shape.dim[1];
		double want = bias[c] +
			(transposed ? naive_transpose : naive_conv)(w, x, k, n, c, at);
		if (fabs(tensor_f64(y, e) - want) > 1e-5)
			fail_msg("element %lld is %g, not %g", (long long)e, tensor_f64(y, e), want);
	}
}

/* One trial of conv or conv_transpose; the seed is the trial's number. */
static void try_window(Fixture *t, OpKind kind, int trial)
{
	bool transposed = kind == OP_CONV_TRANSPOSE;
	t->rng.state = (uint64_t)trial;
	t->g = graph_create(t->arena, &t->diag, "trial");
	int n = 1 + trial % 3;
	Window w = random_window(&t->rng, n);
	Tensor *x = noise(t, spatial(n, w.batch, w.groups * w.cin, w.in));
	Tensor *k = noise(t, transposed ? spatial(n, w.groups * w.cin, w.cout, w.kernel)
					: spatial(n, w.groups * w.cout, w.cin, w.kernel));
	Tensor *bias = noise(t, SHAPE(w.groups * w.cout));
	Op *in[] = { input(t, TYPE_F32, x->shape), graph_constant(t->g, NULL, "w", k),
		     graph_constant(t->g, NULL, "b", bias) };
	Op *conv = insert(t, kind, 3, in);
	int64_t pads[6];
	for (int i = 0; i < n; i++) {
		pads[i] = w.begin[3 - n + i];
		pads[n + i] = w.end[3 - n + i];
	}
	conv->attr.conv.groups = w.groups;
	conv->attr.conv.strides = ints_copy(t->arena, w.stride + 3 - n, n);
	conv->attr.conv.dilations = ints_copy(t->arena, w.dilation + 3 - n, n);
	conv->attr.conv.pads = ints_copy(t->arena, pads, 2 * n);
	if (transposed)
		conv->attr.conv.output_padding = ints_fill(t->arena, 0, n);
	output(t, conv);
	compare(&w, x->data, k->data, bias->data, run(t, x, 1 + trial % 3), transposed);
}

static void conv_agrees_with_loops_written_out(void **state)
{
	for (int trial = 0; trial < TRIALS; trial++)
		try_window(*state, OP_CONV, trial);
}

static void conv_transpose_agrees_with_loops_written_out(void **state)
{
	for (int trial = 0; trial < TRIALS; trial++)
		try_window(*state, OP_CONV_TRANSPOSE, trial);
}

/* x -> conv -> relu -> max_pool -> batch_norm and so on: enough work in each
 * op that threads share it. */
static void a_whole_net(Fixture *t, Op *x)
{
	Op *w = graph_constant(t->g, NULL, "w", noise(t, SHAPE(16, 8, 3, 3)));
	Op *conv = insert(t, OP_CONV, 2, (Op *[]){ x, w });
	conv->attr.conv.strides = conv->attr.conv.dilations = INTS(t->arena, 1, 1);
	conv->attr.conv.pads = INTS(t->arena, 1, 1, 1, 1);
	conv->act.kind = OP_SIGMOID;
	assert_true(op_infer(t->g, conv));
	Op *pool = insert(t, OP_MAX_POOL, 1, &conv);
	pool->attr.pool.kernel = pool->attr.pool.strides = INTS(t->arena, 2, 2);
	pool->attr.pool.dilations = INTS(t->arena, 1, 1);
	pool->attr.pool.pads = INTS(t->arena, 0, 0, 0, 0);
	assert_true(op_infer(t->g, pool));
	Op *one = graph_constant(t->g, NULL, "s", noise(t, SHAPE(16)));
	Op *norm = insert(t, OP_INSTANCE_NORM, 3, (Op *[]){ pool, one, one });
	assert_true(op_infer(t->g, norm));
	Op *resize = insert(t, OP_RESIZE, 1, &norm);
	resize->attr.resize.mode = RESIZE_CUBIC;
	resize->attr.resize.sizes = INTS(t->arena, 2, 16, 54, 42);
	resize->attr.resize.scales = floats_copy(t->arena, (float[]){ 1, 1, 1.8f, 1.4f }, 4);
	assert_true(op_infer(t->g, resize));
	Op *soft = insert(t, OP_SOFTMAX, 1, &resize);
	soft->attr.axis.axis = 1;
	assert_true(op_infer(t->g, soft));
	Op *mean = insert(t, OP_REDUCE_MEAN, 1, &soft);
	mean->attr.reduce.axes = INTS(t->arena, 2);
	mean->attr.reduce.keepdims = true;
	assert_true(op_infer(t->g, mean));
	Op *sum = insert(t, OP_ADD, 2, (Op *[]){ soft, mean });
	assert_true(op_infer(t->g, sum));
	Op *turn = insert(t, OP_TRANSPOSE, 1, &sum);
	turn->attr.perm.perm = INTS(t->arena, 0, 2, 3, 1);
	output(t, turn);
}

static void the_number_of_threads_changes_no_bit(void **state)
{
	Fixture *t = *state;
	Op *x = input(t, TYPE_F32, SHAPE(2, 8, 60, 60));
	a_whole_net(t, x);
	Tensor *in = noise(t, x->shape);
	Tensor *one = run(t, in, 1);
	assert_true(tensor_count(one) == 2 * 54 * 42 * 16);
	for (int threads = 2; threads <= 7; threads += 5)
		assert_true(tensor_equal(run(t, in, threads), one));
	assert_true(tensor_equal(run(t, in, 0), one));
}

typedef struct Seen {
	const char *names[16];
	int n;
} Seen;

static void note(void *context, const Op *op, const Tensor *t)
{
	Seen *s = context;
	assert_true(shape_equal(op->shape, t->shape) && op->dtype == t->dtype && t->data);
	s->names[s->n++] = op->name;
}

static void seen_is_called_for_all_but_constants_and_outputs_in_order(void **state)
{
	static const char *const wanted[] = { "input", "conv", "max_pool", "instance_norm", "resize",
					      "softmax", "reduce_mean", "add", "transpose" };
	Fixture *t = *state;
	Op *x = input(t, TYPE_F32, SHAPE(2, 8, 10, 10));
	Seen s = { .n = 0 };
	RefOptions opt = { .seen = note, .context = &s };
	Tensor *in = noise(t, x->shape), *out;
	a_whole_net(t, x);
	assert_true(ref_run(t->g, t->arena, &in, &out, &opt));
	assert_int_equal(s.n, 9);
	for (int i = 0; i < 9; i++)
		assert_string_equal(s.names[i], wanted[i]);
}

static void an_input_of_another_shape_or_type_is_refused(void **state)
{
	Fixture *t = *state;
	Op *x = input(t, TYPE_F32, SHAPE(1, 3, 4, 5));
	x->attr.input.perm = INTS(t->arena, 0, 3, 1, 2);
	output(t, insert(t, OP_RELU, 1, &x));
	Tensor *bad[] = { tensor_create(t->arena, TYPE_F32, SHAPE(1, 3, 4, 5)) }, *out;
	assert_false(ref_run(t->g, t->arena, bad, &out, NULL));
	bad[0] = tensor_create(t->arena, TYPE_U8, SHAPE(1, 4, 5, 3));
	assert_false(ref_run(t->g, t->arena, bad, &out, NULL));
	assert_string_equal(said(t),
		"error: input: \"input\" wants f32[1x4x5x3], got f32[1x3x4x5]\n"
		"error: input: \"input\" wants f32[1x4x5x3], got u8[1x4x5x3]\n");
}

static void an_input_is_transposed_by_its_perm(void **state)
{
	Fixture *t = *state;
	Op *x = input(t, TYPE_F32, SHAPE(1, 2, 1, 3));
	x->attr.input.perm = INTS(t->arena, 0, 3, 1, 2);
	assert_true(op_infer(t->g, insert(t, OP_OUTPUT, 1, &x)));
	Tensor *in = tensor_create(t->arena, TYPE_F32, SHAPE(1, 1, 3, 2));
	const float turned[] = { 1, 3, 5, 2, 4, 6 };
	memcpy(tensor_f32_data(in), (float[]){ 1, 2, 3, 4, 5, 6 }, sizeof turned);
	assert_memory_equal(run(t, in, 1)->data, turned, sizeof turned);
}

static void an_elided_constant_is_named_unless_nobody_reads_it(void **state)
{
	Fixture *t = *state;
	Tensor *elided = arena_new(t->arena, Tensor), *out;
	*elided = (Tensor){ .dtype = TYPE_F32, .shape = SHAPE(4), .hash = 7 };
	graph_constant(t->g, NULL, "unread", elided);
	Op *w = graph_constant(t->g, NULL, "weights", elided);
	output(t, insert(t, OP_RELU, 1, &w));
	assert_false(ref_run(t->g, t->arena, NULL, &out, NULL));
	assert_string_equal(said(t),
		"error: constant: the elements of \"weights\" are not given, only their hash\n");
}

static void multiply_accumulates_are_counted_and_limited(void **state)
{
	Fixture *t = *state;
	Op *x = input(t, TYPE_F32, SHAPE(2, 8, 10, 10));
	Tensor *in = noise(t, x->shape), *out;
	a_whole_net(t, x);
	assert_int_equal(ref_macs(t->g), 2 * 16 * 100 * 8 * 9);
	assert_int_equal(ref_macs_of(graph_find(t->g, "conv")), 2 * 16 * 100 * 8 * 9);
	assert_int_equal(ref_macs_of(graph_find(t->g, "softmax")), 0);
	RefOptions opt = { .max_macs = 2 * 16 * 100 * 8 * 9 - 1 };
	assert_false(ref_run(t->g, t->arena, &in, &out, &opt));
	opt.max_macs++;
	assert_true(ref_run(t->g, t->arena, &in, &out, &opt));
	assert_string_equal(said(t), "");
}

static void a_splat_is_read_as_the_tensor_it_stands_for(void **state)
{
	Fixture *t = *state;
	Op *x = input(t, TYPE_F32, SHAPE(2, 8, 10, 10));
	Tensor *splat = tensor_splat(t->arena, TYPE_F32, x->shape, 0.25, 0);
	Tensor *spelt = tensor_to_f32(t->arena, splat);
	a_whole_net(t, x);
	assert_true(tensor_equal(run(t, splat, 2), run(t, spelt, 2)));
}

static void count_each(void *context, int64_t from, int64_t to)
{
	for (int64_t i = from; i < to; i++)
		((unsigned char *)context)[i]++;
}

static void a_parallel_loop_visits_each_index_once(void **state)
{
	(void)state;
	for (int64_t n = 0; n < 100; n++)
		for (int threads = 1; threads < 6; threads++) {
			unsigned char visits[101] = { 0 };
			ref_parallel(threads, n, 1e9, count_each, visits);
			for (int64_t i = 0; i <= n; i++)
				assert_int_equal(visits[i], i < n);
		}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(conv_agrees_with_loops_written_out),
		TEST(conv_transpose_agrees_with_loops_written_out),
		TEST(the_number_of_threads_changes_no_bit),
		TEST(a_parallel_loop_visits_each_index_once),
		TEST(seen_is_called_for_all_but_constants_and_outputs_in_order),
		TEST(an_input_of_another_shape_or_type_is_refused),
		TEST(an_input_is_transposed_by_its_perm),
		TEST(an_elided_constant_is_named_unless_nobody_reads_it),
		TEST(multiply_accumulates_are_counted_and_limited),
		TEST(a_splat_is_read_as_the_tensor_it_stands_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
