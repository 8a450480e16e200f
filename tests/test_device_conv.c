/*
 * Convolutions by the device library, where they are more than centred and dense:
 * column strides, padding, groups, images, pieces, rows left out. Numbers are
 * whole, so the emulator must be right to the bit, and the simulator the same.
 */
#include <math.h>
#include <string.h>

#include "backend/program_verify.h"
#include "ir/rng.h"
#include "ir/tensor.h"
#include "tests/check.h"
#include "tests/device_net.h"

enum { MOST_PIECES = 8, LEAD = 16 };

typedef struct Case {
	int images, groups, pieces;
	int cin[MOST_PIECES], cout; /* of each piece, all groups */
	int rows, cols;             /* of the input */
	int kernel_h, kernel_w, dilation, stride_h, stride_w;
	int top, left, below, right; /* padding */
	DevTypes in, weights, out;
	int n, hold, phases;
} Case;

static int out_size(int in, int before, int behind, int kernel, int dilation, int stride)
{
	return (in + before + behind - (kernel - 1) * dilation - 1) / stride + 1;
}

static int out_rows(const Case *k)
{
	return out_size(k->rows, k->top, k->below, k->kernel_h, k->dilation, k->stride_h);
}

static int out_cols(const Case *k)
{
	return out_size(k->cols, k->left, k->right, k->kernel_w, k->dilation, k->stride_w);
}

static int channels_in(const Case *k)
{
	int sum = 0;
	for (int i = 0; i < k->pieces; i++)
		sum += k->cin[i];
	return sum;
}

static float *whole_numbers(Fixture *t, Rng *r, int64_t count, int most)
{
	float *v = arena_array(t->arena, float, count);
	for (int64_t i = 0; i < count; i++)
		v[i] = (float)(int)rng_below(r, 2 * (uint64_t)most + 1) - (float)most;
	return v;
}

static ProgramOp *last_op(Net *n)
{
	return &n->p->ops[n->p->nops - 1];
}

/* The columns of one phase of `from` to the planes of that phase in `to`. */
static void take_phase(Net *n, const Planes *from, Planes *to, int phase, int stride)
{
	Planes part = *to;
	part.cols = (from->cols - phase + stride - 1) / stride;
	if (part.cols <= 0)
		return;
	net_window(n, from, to, 1, stride, false, false);
	program_set(last_op(n), "stride_h", 0, 1);
	program_set(last_op(n), "cols", 0, (uint32_t)part.cols);
	program_set(last_op(n), "in_x", 0, (uint32_t)(LEAD + phase));
	program_set(last_op(n), "in_y", 0, 0);
	program_set(last_op(n), "out_first", 0, (uint32_t)(phase * to->planes));
}

/* Planes of one piece as the conv reads them, and their numbers on the host. A set
 * is a phase, a group or an image. */
static Planes input(Net *n, const Case *k, int piece)
{
	const int need = (out_rows(k) - 1) * k->stride_h + (k->kernel_h - 1) * k->dilation + 1;
	const int below = need - k->top - k->rows, halo = k->top > below ? k->top : below;
	const int sets = k->images * k->groups, channels = k->cin[piece] / k->groups;
	const bool direct = k->in == DEV_BF16 && k->stride_w == 1;
	Planes host = net_sets(n, DEV_BF16, channels, k->rows, k->cols, direct ? halo : 0, sets);
	net_input(n, &host);
	if (direct)
		return host;
	Planes p = net_sets(n, k->in, channels, k->rows, (k->cols + k->stride_w - 1) / k->stride_w,
			    halo, sets * k->stride_w);
	p.planes *= sets;
	p.sets /= sets;
	host.planes *= sets;
	host.sets = 1;
	for (int phase = 0; phase < k->stride_w; phase++)
		take_phase(n, &host, &p, phase, k->stride_w);
	p.planes /= sets;
	p.sets *= sets;
	return p;
}

static int floor_div(int a, int b)
{
	return a < 0 ? -((b - 1 - a) / b) : a / b;
}

/* What the op just made is told beyond a centred, dense conv. */
static void tell(Net *n, const Case *k, const Planes *in, const Planes *out)
{
	ProgramOp *op = last_op(n);
	const int first = floor_div(-k->left, k->stride_w);
	program_set(op, "stride_w", 0, (uint32_t)k->stride_w);
	program_set(op, "phase", 0, (uint32_t)(-k->left - first * k->stride_w));
	for (int i = 0; i < k->pieces; i++) {
		const int image = in[i].planes * k->groups;
		program_set(op, "in_x", i, (uint32_t)(LEAD + first));
		program_set(op, "in_y", i, (uint32_t)(in[i].halo - k->top));
		program_set(op, "in_phase", i,
			    k->stride_w == 1 ? 0 : (uint32_t)(image * k->images));
		program_set(op, "in_image", i, k->images == 1 ? 0 : (uint32_t)image);
	}
	if (k->groups > 1) {
		program_set(op, "group_pages", 0, (uint32_t)(out->planes / 2 / k->n / k->groups));
		program_set(op, "group_step", 0, (uint32_t)in->planes);
	}
	program_set(op, "more_images", 0, (uint32_t)k->images - 1);
	program_set(op, "out_image", 0, k->images == 1 ? 0 : (uint32_t)out->planes);
}

static double tap_at(const Case *k, const float *in, int plane, int tap, int y, int x)
{
	const int row = y * k->stride_h - k->top + tap / k->kernel_w * k->dilation;
	const int col = x * k->stride_w - k->left + tap % k->kernel_w * k->dilation;
	if (row < 0 || row >= k->rows || col < 0 || col >= k->cols)
		return 0;
	return in[((int64_t)plane * k->rows + row) * k->cols + col];
}

static double conv_at(const Case *k, const Conv *c, float *const *in, int image, int o, int y,
		      int x)
{
	const int cin = channels_in(k) / k->groups, group = o / (k->cout / k->groups);
	const int taps = k->kernel_h * k->kernel_w;
	const float *w = c->values + (int64_t)o * cin * taps;
	double sum = c->bias[o];
	for (int p = 0; p < k->pieces; p++) {
		const int each = k->cin[p] / k->groups;
		for (int i = 0; i < each; i++, w += taps)
			for (int tap = 0; tap < taps; tap++)
				sum += w[tap] * tap_at(k, in[p],
						       image * k->cin[p] + group * each + i, tap, y,
						       x);
	}
	return sum;
}

/* bf16 to the bit; bfp8_b within half a unit of the largest there is. */
static void compare(const Case *k, const Conv *c, float *const *in, const float *got)
{
	const int high = out_rows(k), wide = out_cols(k);
	double largest = 0;
	for (int pass = 0; pass < 2; pass++)
		for (int64_t i = 0; i < (int64_t)k->images * k->cout * high * wide; i++) {
			const int x = (int)(i % wide), y = (int)(i / wide % high);
			const int plane = (int)(i / wide / high), image = plane / k->cout;
			const double want = conv_at(k, c, in, image, plane % k->cout, y, x);
			largest = fmax(largest, fabs(want));
			if (pass == 0)
				continue;
			const double off = fabs(got[i] - want);
			if (k->out == DEV_BF16 ? got[i] != net_rounded(want) : off > largest / 64)
				fail_msg("image %d channel %d at (%d, %d): %g, not %g", image,
					 plane % k->cout, y, x, got[i], net_rounded(want));
		}
}

static void check(Fixture *t, Case k)
{
	Rng r = { 17 };
	Net *n = net_open(t, 1);
	Planes in[MOST_PIECES];
	float *values[MOST_PIECES];
	const int taps = k.kernel_h * k.kernel_w;
	for (int i = 0; i < k.pieces; i++) {
		in[i] = input(n, &k, i);
		values[i] = whole_numbers(t, &r, (int64_t)k.images * k.cin[i] * k.rows * k.cols, 3);
	}
	const int64_t weights = (int64_t)k.cout * channels_in(&k) / k.groups * taps;
	const Conv c = { .kernel_h = k.kernel_h,
			 .kernel_w = k.kernel_w,
			 .dilation = k.dilation,
			 .stride_h = k.stride_h,
			 .weights = k.weights,
			 .n = k.n,
			 .hold = k.hold,
			 .phases = k.phases,
			 .values = whole_numbers(t, &r, weights, 2),
			 .bias = whole_numbers(t, &r, k.cout, 20) };
	Planes out = net_sets(n, k.out, k.cout, out_rows(&k), out_cols(&k), 0, k.images);
	net_conv(n, c, in, k.pieces, &out);
	tell(n, &k, in, &out);
	net_output(n, &out);
	const int64_t count = (int64_t)k.images * k.cout * out.rows * out.cols;
	float *got = arena_array(t->arena, float, count);
	net_run_all(n, values, got, count);
	compare(&k, &c, values, got);
}

#define ONE(channels)            .pieces = 1, .cin = { channels }
#define IMAGE(high, wide)        .rows = high, .cols = wide
#define KERNEL(h, w, apart)      .kernel_h = h, .kernel_w = w, .dilation = apart
#define STRIDE(h, w)             .stride_h = h, .stride_w = w
#define PAD(t, l, b, r)          .top = t, .left = l, .below = b, .right = r
#define TYPES(input, of, output) .in = DEV_##input, .weights = DEV_##of, .out = DEV_##output
#define SINGLE                   .images = 1, .groups = 1
#define WIDE(count)              .n = count, .hold = 1, .phases = 4
#define TALL(rows_held)          .n = 1, .hold = rows_held, .phases = 4

static void a_column_stride_reads_column_phases(void **state)
{
	for (int stride = 2; stride <= 4; stride++)
		for (int left = 0; left < 4; left++)
			check(*state,
			      (Case){ SINGLE, ONE(20), .cout = 40, IMAGE(6, 41), KERNEL(3, 3, 1),
				      STRIDE(stride, stride), PAD(1, left, 1, 1),
				      TYPES(BF16, BF16, BF16), WIDE(2) });
}

static void phases_carry_with_dilation(void **state)
{
	check(*state, (Case){ SINGLE, ONE(32), .cout = 16, IMAGE(7, 50), KERNEL(2, 5, 3),
			      STRIDE(1, 2), PAD(0, 6, 3, 5), TYPES(BFP8_B, BF16, BF16), TALL(3) });
	check(*state,
	      (Case){ SINGLE, ONE(3), .cout = 64, IMAGE(5, 37), KERNEL(1, 4, 5), STRIDE(2, 3),
		      PAD(0, 7, 0, 9), TYPES(BF16, BFP8_B, BFP8_B), WIDE(1) });
}

static void planes_of_f32_are_read_in_every_way(void **state)
{
	check(*state, (Case){ SINGLE, ONE(40), .cout = 64, IMAGE(6, 41), KERNEL(3, 3, 1),
			      STRIDE(1, 1), PAD(1, 1, 1, 1), TYPES(F32, BF16, BF16), WIDE(2) });
	check(*state, (Case){ SINGLE, ONE(20), .cout = 40, IMAGE(6, 41), KERNEL(3, 3, 1),
			      STRIDE(2, 2), PAD(1, 1, 1, 1), TYPES(F32, F32, BF16), WIDE(1) });
	check(*state, (Case){ SINGLE, ONE(33), .cout = 16, IMAGE(7, 50), KERNEL(2, 5, 3),
			      STRIDE(1, 1), PAD(0, 6, 3, 6), TYPES(F32, BFP8_B, F32), TALL(3) });
	check(*state, (Case){ .images = 3, .groups = 1, ONE(17), .cout = 128, IMAGE(4, 20),
			      KERNEL(1, 1, 1), STRIDE(1, 1), PAD(0, 0, 0, 0),
			      TYPES(F32, F32, BFP8_B), WIDE(4) });
}

static void groups_read_their_own_planes(void **state)
{
	check(*state, (Case){ .images = 1,
			      .groups = 3,
			      ONE(96),
			      .cout = 192,
			      IMAGE(3, 35),
			      KERNEL(3, 3, 1),
			      STRIDE(1, 1),
			      PAD(1, 1, 1, 1),
			      TYPES(BF16, BF16, BF16),
			      WIDE(2) });
	check(*state, (Case){ .images = 1,
			      .groups = 4,
			      ONE(64),
			      .cout = 256,
			      IMAGE(4, 35),
			      KERNEL(3, 1, 1),
			      STRIDE(2, 2),
			      PAD(1, 0, 1, 0),
			      TYPES(BFP8_B, BF16, BF16),
			      TALL(2) });
}

static void images_share_weights(void **state)
{
	check(*state, (Case){ .images = 3,
			      .groups = 1,
			      ONE(40),
			      .cout = 72,
			      IMAGE(5, 33),
			      KERNEL(3, 3, 1),
			      STRIDE(1, 1),
			      PAD(1, 1, 1, 1),
			      TYPES(BF16, BF16, BF16),
			      WIDE(1) });
	check(*state, (Case){ .images = 2,
			      .groups = 1,
			      .pieces = 2,
			      .cin = { 32, 48 },
			      .cout = 64,
			      IMAGE(5, 20),
			      KERNEL(3, 3, 1),
			      STRIDE(1, 2),
			      PAD(1, 1, 1, 1),
			      TYPES(BFP8_B, BFP8_B, BFP8_B),
			      TALL(4) });
	check(*state, (Case){ .images = 2,
			      .groups = 2,
			      ONE(32),
			      .cout = 128,
			      IMAGE(5, 20),
			      KERNEL(3, 3, 1),
			      STRIDE(2, 3),
			      PAD(1, 2, 1, 1),
			      TYPES(BF16, BF16, BF16),
			      WIDE(2) });
}

static void eight_pieces_are_one_input(void **state)
{
	check(*state, (Case){ SINGLE, .pieces = 8, .cin = { 16, 3, 32, 20, 1, 48, 16, 5 },
			      .cout = 32, IMAGE(3, 20), KERNEL(3, 3, 1), STRIDE(1, 1),
			      PAD(1, 1, 1, 1), TYPES(BF16, BF16, BF16), WIDE(1) });
}

/* Rows 0, 3, ... of the result by one conv, rows 1, 4, ... by another: what is
 * between them stays. */
static void rows_between_are_left_alone(void **state)
{
	enum { CHANNELS = 32, ROWS = 4, COLS = 20, COUNT = CHANNELS * 3 * ROWS * COLS };
	Fixture *t = *state;
	Rng r = { 23 };
	Net *n = net_open(t, 1);
	Planes in = net_planes(n, DEV_BF16, CHANNELS, ROWS, COLS, 0);
	Planes out = net_planes(n, DEV_BF16, CHANNELS, 3 * ROWS, COLS, 0);
	float *values = whole_numbers(t, &r, CHANNELS * ROWS * COLS, 50), got[COUNT];
	float *identity = arena_array(t->arena, float, CHANNELS *CHANNELS);
	memset(identity, 0, CHANNELS * CHANNELS * sizeof *identity);
	for (int i = 0; i < CHANNELS; i++)
		identity[i * (CHANNELS + 1)] = 1;
	net_input(n, &in);
	for (int phase = 0; phase < 3; phase++) {
		float *bias = arena_array(t->arena, float, CHANNELS);
		for (int i = 0; i < CHANNELS; i++)
			bias[i] = (float)phase;
		net_conv(n,
			 (Conv){ .kernel_h = 1,
				 .kernel_w = 1,
				 .dilation = 1,
				 .weights = DEV_BF16,
				 .n = 1,
				 .hold = 1 + phase,
				 .phases = 4,
				 .values = identity,
				 .bias = bias },
			 &in, 1, &out);
		program_set(last_op(n), "rows", 0, ROWS);
		program_set(last_op(n), "out_y", 0, (uint32_t)phase);
		program_set(last_op(n), "out_skip", 0, 2);
	}
	net_output(n, &out);
	net_run_all(n, &values, got, COUNT);
	for (int i = 0; i < COUNT; i++) {
		const int row = i / COLS % (3 * ROWS),
			  from = i / COLS / (3 * ROWS) * ROWS + row / 3;
		assert_float_equal(got[i], values[from * COLS + i % COLS] + (float)(row % 3), 0);
	}
}

typedef struct Field {
	const char *name;
	uint32_t value;
} Field;

/* What the verifier says of a 1x1 conv over 4 planes, told this besides. */
static bool refused(Fixture *t, const char *why, Field a, Field b)
{
	Rng r = { 1 };
	Net *n = net_open(t, 1);
	Planes in = net_planes(n, DEV_BF16, 64, 2, 32, 0),
	       out = net_planes(n, DEV_BF16, 64, 2, 32, 0);
	net_input(n, &in);
	net_conv(n,
		 (Conv){ .kernel_h = 1,
			 .kernel_w = 1,
			 .dilation = 1,
			 .weights = DEV_BF16,
			 .n = 2,
			 .hold = 1,
			 .phases = 4,
			 .values = whole_numbers(t, &r, 64 * 64, 1),
			 .bias = whole_numbers(t, &r, 64, 1) },
		 &in, 1, &out);
	program_set(last_op(n), a.name, 0, a.value);
	program_set(last_op(n), b.name, 0, b.value);
	n->p->dram_free = n->dram;
	for (int i = 0; i < n->p->nbuffers; i++)
		n->p->buffers[i].last = n->p->nops - 1;
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	const bool bad = !program_verify(n->p, target, &t->diag);
	return bad && strstr(fixture_said(t), why);
}

static void planes_and_rows_that_are_not_there_are_refused(void **state)
{
	const Field none = { "out_x", LEAD };
	assert_true(refused(*state, "phase: 1, of 1", (Field){ "phase", 1 }, none));
	assert_true(refused(*state, "group_pages: 3 does not divide 1 pages",
			    (Field){ "group_pages", 3 }, none));
	assert_true(refused(*state, "in_phase lead to plane 5 of 4", (Field){ "stride_w", 2 },
			    (Field){ "in_phase", 1 }));
	assert_true(refused(*state, "in_phase lead to plane 8 of 4", (Field){ "more_images", 2 },
			    (Field){ "in_image", 2 }));
	assert_true(refused(*state, "out_image: leads to plane 6 of 4", (Field){ "more_images", 2 },
			    (Field){ "out_image", 1 }));
	assert_true(
		refused(*state, "out_skip: leads to row 3 of 2", (Field){ "out_skip", 2 }, none));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_column_stride_reads_column_phases),
		CASE(phases_carry_with_dilation),
		CASE(planes_of_f32_are_read_in_every_way),
		CASE(groups_read_their_own_planes),
		CASE(images_share_weights),
		CASE(eight_pieces_are_one_input),
		CASE(rows_between_are_left_alone),
		CASE(planes_and_rows_that_are_not_there_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
