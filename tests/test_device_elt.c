/*
 * Element-wise routines of the device library, compiled, linked and run on the
 * strict emulator (and, where TESSERA_TTSIM names it, on the vendor's simulator,
 * for the same bytes), against plain loops.
 */
#include <math.h>

#include "backend/program_verify.h"
#include "tests/check.h"
#include "tests/device_elt.h"
#include "tests/numbers.h"

enum { ADD, SUB, MUL, DIV, PRELU, MIN, MAX }; /* as binary_math.h has them */

/* bfp8_b planes are made from bf16 ones by a copy. */
static Planes planes_in(Net *n, DevTypes type, int channels, int rows, int cols, int halo)
{
	Planes p = net_planes(n, DEV_BF16, channels, rows, cols, type == DEV_BF16 ? halo : 0);
	net_input(n, &p);
	if (type == DEV_BF16)
		return p;
	Planes q = net_planes(n, type, channels, rows, cols, halo);
	net_window(n, &p, &q, 1, 1, false, false);
	return q;
}

typedef struct ChannelCase {
	int cores, channels, rows, cols; /* rows of a core, of the result; columns of the result */
	DevTypes in, out;
	Channel c;
	bool apart; /* a column stride without phases */
} ChannelCase;

static int phases_of(const ChannelCase *k) { return k->apart ? 1 : k->c.stride_w; }

/* Value of the image at a column of all phases; 0 outside. */
static float pixel(const ChannelCase *k, const float *in, int ch, int y, int x, int high, int wide)
{
	const int s = phases_of(k);
	if (x < 0 || x >= wide * s || y < 0 || y >= high)
		return 0;
	return in[((x % s * ((k->channels + 15) / 16 * 16) + ch) * high + y) * wide + x / s];
}

static double channel_at(const ChannelCase *k, const float *in, int o, int y, int x, int high,
			 int wide)
{
	const Channel *c = &k->c;
	double sum = c->bias[o];
	for (int ky = 0; ky < c->kernel_h; ky++)
		for (int kx = 0; kx < c->kernel_w; kx++)
			sum += (double)c->values[(o * c->kernel_h + ky) * c->kernel_w + kx] *
			       pixel(k, in, o, y * c->stride_h + ky * c->dilation - c->pad_h,
				     x * c->stride_w + kx * c->dilation - c->pad_w, high, wide);
	return c->relu && sum < 0 ? 0 : sum;
}

static void channel_case(Fixture *t, ChannelCase k)
{
	Rng r = { 17 };
	Net *n = net_open(t, k.cores);
	Channel *c = &k.c;
	const int taps = c->kernel_h * c->kernel_w, halo = k.cores > 1 ? c->pad_h : 2 * c->pad_h;
	const int reach = (k.rows - 1) * c->stride_h + (c->kernel_h - 1) * c->dilation + 1;
	const int in_rows = k.cores > 1 ? k.rows : reach - 2 * c->pad_h;
	const int s = phases_of(&k);
	const int wide = (k.cols * c->stride_w + (c->kernel_w - 1) * c->dilation) / s;
	const int channels = s == 1 ? k.channels : (k.channels + 15) / 16 * 16 * s;
	Planes in = planes_in(n, k.in, channels, in_rows, wide, halo);
	Planes out = net_planes(n, k.out, k.channels, k.rows, k.cols, 0);
	const int high = in_rows * k.cores, out_high = k.rows * k.cores;
	float *values = numbers(t, &r, (int64_t)channels * high * wide, 3);
	c->values = numbers(t, &r, k.channels * taps, 2);
	c->bias = numbers(t, &r, k.channels, 20);
	net_channel(n, *c, &in, &out);
	net_output(n, &out);
	const int64_t count = (int64_t)k.channels * out_high * k.cols;
	float *got = arena_array(t->arena, float, count);
	net_run_all(n, &values, got, count);
	for (int64_t i = 0; i < count; i++) {
		const int x = (int)(i % k.cols), y = (int)(i / k.cols % out_high);
		const int o = (int)(i / k.cols / out_high);
		const float want = net_rounded(channel_at(&k, values, o, y, x, high, wide));
		if (got[i] != want)
			fail_msg("channel %d at (%d, %d): %g, not %g", o, y, x, got[i], want);
	}
}

#define SLIDE(h, w, apart, sh, sw, ph, pw) h, w, apart, sh, sw, ph, pw, 4

static void one_tap_scales_and_adds(void **state)
{
	channel_case(*state, (ChannelCase){ 1, 20, 5, 33, DEV_BF16, DEV_BF16,
					    { SLIDE(1, 1, 1, 1, 1, 0, 0) } });
	channel_case(*state, (ChannelCase){ 1, 100, 1, 1, DEV_BFP8_B, DEV_BF16,
					    { SLIDE(1, 1, 1, 1, 1, 0, 0) } });
	channel_case(*state, (ChannelCase){ 2, 70, 9, 70, DEV_BF16, DEV_BFP8_B,
					    { SLIDE(1, 1, 1, 1, 1, 0, 0) } });
}

static void windows_of_any_size_slide_over_each_channel(void **state)
{
	channel_case(*state, (ChannelCase){ 1, 40, 5, 40, DEV_BF16, DEV_BF16,
					    { SLIDE(3, 3, 1, 1, 1, 1, 1) } });
	channel_case(*state, (ChannelCase){ 3, 33, 4, 20, DEV_BF16, DEV_BF16,
					    { SLIDE(3, 3, 1, 1, 1, 1, 1) } });
	channel_case(*state, (ChannelCase){ 1, 16, 3, 34, DEV_BFP8_B, DEV_BF16,
					    { SLIDE(7, 5, 1, 1, 1, 3, 2) } });
	channel_case(*state, (ChannelCase){ 1, 48, 6, 20, DEV_BF16, DEV_BF16,
					    { SLIDE(1, 3, 1, 1, 1, 0, 1) } });
	channel_case(*state, (ChannelCase){ 1, 64, 2, 20, DEV_BF16, DEV_BF16,
					    { SLIDE(3, 2, 4, 2, 1, 2, 3) } });
}

static void column_strides_read_column_phases(void **state)
{
	channel_case(*state, (ChannelCase){ 1, 24, 5, 40, DEV_BF16, DEV_BF16,
					    { SLIDE(3, 3, 1, 2, 2, 1, 1) } });
	channel_case(*state, (ChannelCase){ 1, 48, 2, 20, DEV_BFP8_B, DEV_BF16,
					    { SLIDE(3, 5, 2, 1, 3, 2, 4) } });
}

static void planes_of_f32_slide_and_skip(void **state)
{
	channel_case(*state, (ChannelCase){ 3, 33, 4, 20, DEV_F32, DEV_BF16,
					    { SLIDE(3, 3, 1, 1, 1, 1, 1) } });
	channel_case(*state, (ChannelCase){ 1, 24, 5, 40, DEV_F32, DEV_BF16,
					    { SLIDE(3, 3, 1, 2, 2, 1, 1) } });
	channel_case(*state, (ChannelCase){ 1, 50, 2, 20, DEV_F32, DEV_F32,
					    { SLIDE(1, 5, 2, 1, 3, 0, 4) }, true });
}

static void column_strides_skip_pixels_of_bf16(void **state)
{
	channel_case(*state, (ChannelCase){ 1, 24, 5, 40, DEV_BF16, DEV_BF16,
					    { SLIDE(3, 3, 1, 2, 2, 1, 1) }, true });
	channel_case(*state, (ChannelCase){ 1, 50, 2, 20, DEV_BF16, DEV_BFP8_B,
					    { SLIDE(1, 5, 2, 1, 3, 0, 4) }, true });
}

/* Pixels are 1 + 1/128 or 1 + 1/16: the least bit of the former is seen by phases 1
 * and 3, of weights the seventh is seen by phases 2 and 3. Both are in phase 3 alone. */
static void fewer_phases_see_fewer_bits(void **state)
{
	Fixture *t = *state;
	const float pixel[2] = { 1 + 1.0f / 128, 1 + 1.0f / 16 }, weight = 2 + 2.0f / 128;
	for (int phases = 1; phases <= 4; phases++) {
		Net *n = net_open(t, 1);
		Planes in = net_planes(n, DEV_BF16, 1, 1, 2, 0);
		Planes out = net_planes(n, DEV_BF16, 1, 1, 2, 0);
		float values[2] = { pixel[0], pixel[1] }, *const from = values, got[2];
		net_input(n, &in);
		net_channel(n,
			    (Channel){ 1, 1, 1, 1, 1, 0, 0, .phases = phases, .values = &weight,
				       .bias = &(float){ -2 } },
			    &in, &out);
		net_output(n, &out);
		net_run_all(n, &from, got, 2);
		for (int i = 0; i < 2; i++) {
			const double x = phases == 1 && i == 0 ? 1 : pixel[i];
			const double w = phases < 3 ? 2 : weight;
			const double both = phases == 3 && i == 0 ? 0x1p-7 * 0x1p-6 : 0;
			assert_float_equal(got[i], net_rounded(x * w - both - 2), 0);
		}
	}
}

/* Which of channel, row and column an operand has. */
enum { ONE_CHANNEL = 1, ONE_ROW = 2, ONE_COLUMN = 4 };

typedef struct BinaryCase {
	uint32_t op;
	bool through_dst;
	int channels, rows, cols, one[2];
	DevTypes type[2], out;
	int most; /* of the numbers */
} BinaryCase;

static double binary_of(uint32_t op, double a, double b)
{
	switch (op) {
	case ADD: return a + b;
	case SUB: return a - b;
	case MUL: return a * b;
	case DIV: return a / b;
	case PRELU: return a < 0 ? a * b : a;
	case MIN: return fmin(a, b);
	default: return fmax(a, b);
	}
}

static void binary_case(Fixture *t, BinaryCase k)
{
	Rng r = { 23 };
	Net *n = net_open(t, 1);
	Planes in[2];
	float *values[2];
	int size[2][3];
	for (int i = 0; i < 2; i++) {
		size[i][0] = k.one[i] & ONE_CHANNEL ? 1 : k.channels;
		size[i][1] = k.one[i] & ONE_ROW ? 1 : k.rows;
		size[i][2] = k.one[i] & ONE_COLUMN ? 1 : k.cols;
		in[i] = planes_in(n, k.type[i], size[i][0], size[i][1], size[i][2], 0);
		const int64_t all = (int64_t)size[i][0] * size[i][1] * size[i][2];
		values[i] = numbers(t, &r, all, k.most);
		for (int64_t v = 0; k.op == DIV && i == 1 && v < all; v++)
			values[i][v] = values[i][v] == 0 ? -2 : values[i][v];
	}
	Planes out = net_planes(n, k.out, k.channels, k.rows, k.cols, 0);
	net_binary(n, k.op, k.through_dst, &in[0], &in[1], &out);
	net_output(n, &out);
	const int64_t count = (int64_t)k.channels * k.rows * k.cols;
	float *got = arena_array(t->arena, float, count);
	net_run_all(n, values, got, count);
	for (int64_t i = 0; i < count; i++) {
		const int at[3] = { (int)(i / k.cols / k.rows), (int)(i / k.cols % k.rows),
				    (int)(i % k.cols) };
		float v[2];
		for (int s = 0; s < 2; s++) {
			int from = 0;
			for (int d = 0; d < 3; d++)
				from = from * size[s][d] + (size[s][d] == 1 ? 0 : at[d]);
			v[s] = values[s][from];
		}
		const float want = net_rounded(binary_of(k.op, v[0], v[1]));
		if (got[i] != want)
			fail_msg("op %u of %g and %g at (%d, %d, %d): %g, not %g", k.op, v[0], v[1],
				 at[0], at[1], at[2], got[i], want);
	}
}

/* Three images, the second operand has one for all. */
static void images_share_weights_and_operands(void **state)
{
	enum { CHANNELS = 20, ROWS = 5, COLS = 20, IMAGES = 3, ONE = CHANNELS * ROWS * COLS };
	Fixture *t = *state;
	Rng r = { 29 };
	Net *n = net_open(t, 1);
	Planes x = net_sets(n, DEV_BF16, CHANNELS, ROWS, COLS, 0, IMAGES), y = x, z = x;
	Planes b = net_planes(n, DEV_BF16, CHANNELS, ROWS, COLS, 0);
	float *in[2] = { numbers(t, &r, IMAGES * ONE, 5), numbers(t, &r, ONE, 5) };
	float got[IMAGES * ONE];
	const Channel c = { SLIDE(1, 1, 1, 1, 1, 0, 0), .values = numbers(t, &r, CHANNELS, 3),
			    .bias = numbers(t, &r, CHANNELS, 3) };
	y = net_sets(n, DEV_BF16, CHANNELS, ROWS, COLS, 0, IMAGES);
	z = net_sets(n, DEV_BF16, CHANNELS, ROWS, COLS, 0, IMAGES);
	net_input(n, &x);
	net_input(n, &b);
	net_channel(n, c, &x, &y);
	net_binary(n, SUB, false, &y, &b, &z);
	net_binary(n, MAX, true, &b, &z, &y);
	net_output(n, &y);
	net_run_all(n, in, got, IMAGES * ONE);
	for (int i = 0; i < IMAGES * ONE; i++) {
		const int ch = i / (ROWS * COLS) % CHANNELS;
		const float v = in[0][i] * c.values[ch] + c.bias[ch] - in[1][i % ONE];
		assert_float_equal(got[i], fmaxf(v, in[1][i % ONE]), 0);
	}
}

static void two_tensors_of_one_shape(void **state)
{
	for (uint32_t op = ADD; op <= MUL; op++) {
		binary_case(*state, (BinaryCase){ op, false, 40, 5, 33, { 0, 0 },
						  { DEV_BF16, DEV_BF16 }, DEV_BF16, 15 });
		binary_case(*state, (BinaryCase){ op, false, 17, 1, 1, { 0, 0 },
						  { DEV_BFP8_B, DEV_BF16 }, DEV_BF16, 15 });
	}
	binary_case(*state, (BinaryCase){ ADD, false, 70, 6, 64, { 0, 0 },
					  { DEV_BF16, DEV_BFP8_B }, DEV_BFP8_B, 15 });
}

static void operands_may_be_f32(void **state)
{
	for (uint32_t op = ADD; op <= MUL; op++) {
		binary_case(*state, (BinaryCase){ op, false, 40, 5, 33, { 0, 0 },
						  { DEV_F32, DEV_F32 }, DEV_BF16, 15 });
		binary_case(*state, (BinaryCase){ op, false, 17, 3, 20, { 0, 0 },
						  { DEV_BFP8_B, DEV_F32 }, DEV_F32, 15 });
		binary_case(*state, (BinaryCase){ op, false, 40, 5, 33, { 0, 1 << op },
						  { DEV_F32, op ? DEV_F32 : DEV_BF16 },
						  DEV_BF16, 15 });
	}
}

static void the_second_operand_may_be_smaller(void **state)
{
	for (int one = 1; one < 8; one++)
		binary_case(*state, (BinaryCase){ one % 3, false, 40, 5, 33, { 0, one },
						  { DEV_BF16, one & 1 ? DEV_BFP8_B : DEV_BF16 },
						  DEV_BF16, 15 });
}

static void the_vector_unit_takes_either_operand_smaller(void **state)
{
	for (uint32_t op = ADD; op <= MAX; op++)
		binary_case(*state, (BinaryCase){ op, true, 40, 3, 33, { op, 7 - op },
						  { op & 1 ? DEV_BFP8_B : DEV_BF16,
						    op & 2 ? DEV_BFP8_B : DEV_BF16 },
						  DEV_BF16, 15 });
	binary_case(*state, (BinaryCase){ DIV, true, 17, 3, 20, { 0, 0 }, { DEV_BF16, DEV_BF16 },
					  DEV_BFP8_B, 1 }); /* 15 channels are 0 / 0 */
	binary_case(*state, (BinaryCase){ PRELU, true, 100, 4, 20, { 0, ONE_ROW | ONE_COLUMN },
					  { DEV_BF16, DEV_BF16 }, DEV_BF16, 15 });
}

/* What the verifier says of a program, a parameter of whose op 2 was changed. */
static const char *refused(Fixture *t, bool channel, const char *field, int index, uint32_t value)
{
	Net *n = net_open(t, 1);
	Planes a = net_planes(n, DEV_BF16, 48, 3, 20, 0), b = a, out = a;
	Rng r = { 1 };
	net_input(n, &a);
	net_input(n, &b);
	if (channel)
		net_channel(n,
			    (Channel){ SLIDE(1, 1, 1, 1, 1, 0, 0), .values = numbers(t, &r, 48, 1),
				       .bias = numbers(t, &r, 48, 1) },
			    &a, &out);
	else
		net_binary(n, SUB, false, &a, &b, &out);
	program_set(&n->p->ops[2], field, index, value);
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	n->p->dram_free = n->dram;
	for (int i = 0; i < n->p->nbuffers; i++)
		n->p->buffers[i].last = n->p->nops - 1;
	assert_false(program_verify(n->p, target, &t->diag));
	return fixture_said(t);
}

static void what_kernels_cannot_hold_is_refused(void **state)
{
	const char *said = refused(*state, true, "page_bytes", 0, 128);
	assert_non_null(strstr(said, "page_bytes: 128, of which the kernels walk 256"));
	said = refused(*state, true, "in_planes", 0, 2);
	assert_non_null(strstr(said, "in_planes: 2, out_planes: 3"));
	said = refused(*state, true, "phase", 0, 1);
	assert_non_null(strstr(said, "phase: 1, of 1"));
	said = refused(*state, true, "sums_pages", 0, 1);
	assert_non_null(strstr(said, "sums_pages: weights for each channel come in one page"));
	said = refused(*state, true, "segments", 0, 2);
	assert_non_null(strstr(said, "segments: weights for each channel are for one piece"));
	said = refused(*state, false, "spread", 0, 1);
	assert_non_null(strstr(said, "spread[0], row_step[0]: operand A of binary_unpack"));
	said = refused(*state, false, "spread", 1, 1);
	assert_non_null(strstr(said, "in_planes[1]: 3, where the result has 3 and spread is 1"));
	said = refused(*state, false, "in_y", 1, 1);
	assert_non_null(strstr(said, "row_step[1]: leads to row 3 of 3"));
	said = refused(*state, false, "kernel_w", 0, 2);
	assert_non_null(strstr(said, "kernel_h, kernel_w, stride_h, stride_w: 1 for element by element"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(one_tap_scales_and_adds),
		CASE(windows_of_any_size_slide_over_each_channel),
		CASE(column_strides_read_column_phases),
		CASE(planes_of_f32_slide_and_skip),
		CASE(operands_may_be_f32),
		CASE(column_strides_skip_pixels_of_bf16),
		CASE(fewer_phases_see_fewer_bits),
		CASE(images_share_weights_and_operands),
		CASE(two_tensors_of_one_shape),
		CASE(the_second_operand_may_be_smaller),
		CASE(the_vector_unit_takes_either_operand_smaller),
		CASE(what_kernels_cannot_hold_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
