/*
 * Every routine of the device library, compiled, linked and run on the strict
 * emulator (and, where TESSERA_TTSIM names it, on the vendor's simulator, for
 * the same bytes), against plain loops.
 */
#include <math.h>
#include <string.h>

#include "backend/program_verify.h"
#include "ir/tensor.h"
#include "tests/check.h"
#include "tests/device_net.h"
#include "tests/numbers.h"

typedef struct ConvCase {
	int cores, rows, cols, channels[2], cout; /* rows of a core; channels[1] may be 0 */
	DevTypes in, out;
	Conv conv;
	bool whole;   /* numbers whose sums bf16 rounds but once */
	double bound; /* of the error, in parts of the largest value */
} ConvCase;

static double conv_at(const ConvCase *k, float *const *in, int height, int o, int y, int x)
{
	const Conv *c = &k->conv;
	const int taps = c->kernel_h * c->kernel_w, cin = k->channels[0] + k->channels[1];
	double sum = c->bias[o];
	for (int i = 0; i < cin; i++) {
		const int piece = i >= k->channels[0], ch = i - (piece ? k->channels[0] : 0);
		for (int tap = 0; tap < taps; tap++) {
			const int row = y + (tap / c->kernel_w - c->kernel_h / 2) * c->dilation;
			const int col = x + (tap % c->kernel_w - c->kernel_w / 2) * c->dilation;
			if (row >= 0 && row < height && col >= 0 && col < k->cols)
				sum += (double)c->values[(o * cin + i) * taps + tap] *
				       in[piece][(ch * height + row) * k->cols + col];
		}
	}
	if (c->sigmoid)
		return 1 / (1 + exp(-sum));
	return c->relu && sum < 0 ? 0 : sum;
}

/* bfp8_b planes are made from bf16 ones by a copy. */
static Planes input_planes(Net *n, const ConvCase *k, int channels)
{
	const int halo = k->conv.kernel_h / 2 * k->conv.dilation;
	Planes p =
		net_planes(n, DEV_BF16, channels, k->rows, k->cols, k->in == DEV_BF16 ? halo : 0);
	net_input(n, &p);
	if (k->in == DEV_BF16)
		return p;
	Planes q = net_planes(n, k->in, channels, k->rows, k->cols, halo);
	net_window(n, &p, &q, 1, 1, false, false);
	return q;
}

/* As the device has them: what is left of the error is that of the result, and of what
 * blocks of values share. */
static float *as_bf16(float *v, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		v[i] = bf16_to_float(float_to_bf16(v[i]));
	return v;
}

static void conv_case(Fixture *t, ConvCase k)
{
	Rng r = { 7 };
	Net *n = net_open(t, k.cores);
	Planes in[2];
	float *values[2];
	const int nin = 1 + !!k.channels[1], height = k.rows * k.cores;
	const int cin = k.channels[0] + k.channels[1], taps = k.conv.kernel_h * k.conv.kernel_w;
	for (int i = 0; i < nin; i++) {
		in[i] = input_planes(n, &k, k.channels[i]);
		const int64_t inputs = (int64_t)k.channels[i] * height * k.cols;
		values[i] = as_bf16(numbers(t, &r, inputs, k.whole ? 3 : 0), inputs);
	}
	const int64_t weights = (int64_t)k.cout * cin * taps;
	k.conv.values = as_bf16(numbers(t, &r, weights, k.whole ? 2 : 0), weights);
	k.conv.bias = numbers(t, &r, k.cout, k.whole ? 20 : 0);
	Planes out = net_planes(n, k.out, k.cout, k.rows, k.cols, 0);
	net_conv(n, k.conv, in, nin, &out);
	net_output(n, &out);
	const int64_t count = (int64_t)k.cout * height * k.cols;
	float *got = arena_array(t->arena, float, count);
	net_run_all(n, values, got, count);
	double worst = 0, largest = 0;
	for (int64_t i = 0; i < count; i++) {
		const int x = (int)(i % k.cols), y = (int)(i / k.cols % height);
		const double want = conv_at(&k, values, height, (int)(i / k.cols / height), y, x);
		if (k.whole && got[i] != net_stored(k.out, want))
			fail_msg("channel %d at (%d, %d): %g, not %g", (int)(i / k.cols / height),
				 y, x, got[i], net_stored(k.out, want));
		worst = fmax(worst, fabs(got[i] - want));
		largest = fmax(largest, fabs(want));
	}
	if (!k.whole && worst > k.bound * largest)
		fail_msg("error %g of %g, over %g parts", worst, largest, k.bound);
}

#define CONV(h, w, apart, count, rows_held, type, times)                                           \
	.kernel_h = h, .kernel_w = w, .dilation = apart, .n = count, .hold = rows_held,            \
	.weights = DEV_##type, .phases = times

static void pixels_stay_for_one_two_and_four_output_tiles(void **state)
{
	for (int n = 1; n <= 4; n *= 2)
		conv_case(*state,
			  (ConvCase){ 1,
				      3,
				      64,
				      { 48, 0 },
				      100,
				      DEV_BF16,
				      DEV_BF16,
				      { CONV(3, 3, 1, n, 1, BF16, 4), .relu = n == 2, .pages = 1 },
				      true,
				      0 });
}

static void weights_stay_for_up_to_four_rows(void **state)
{
	for (int hold = 2; hold <= 4; hold++)
		conv_case(*state, (ConvCase){ 1,
					      7,
					      20,
					      { 36, 0 },
					      48,
					      DEV_BF16,
					      DEV_BF16,
					      { CONV(3, 3, 1, 1, hold, BF16, 4) },
					      true,
					      0 });
}

/* Cut rows, an odd last plane, sums that bf16 cannot hold. */
static void what_outputs_read_is_stored_in_fp32(void **state)
{
	static const int cols[] = { 64, 20, 33, 3 };
	for (int n = 1; n <= 4; n *= 2)
		for (int hold = 1; hold <= (n == 1 ? 4 : 1); hold++)
			conv_case(*state, (ConvCase){ 1 + hold % 2,
						      5,
						      cols[(n + hold) % 4],
						      { 36, 0 },
						      n == 2 ? 96 : 40,
						      hold == 3 ? DEV_BFP8_B : DEV_BF16,
						      DEV_F32,
						      { CONV(3, 3, 1, n, hold, BF16, 4), .pages = 1,
							.relu = n == 4 || hold % 2 == 0 },
						      hold != 3,
						      0.02 });
	conv_case(*state, (ConvCase){ 1,
				      2,
				      40,
				      { 32, 0 },
				      10,
				      DEV_BF16,
				      DEV_F32,
				      { CONV(1, 1, 1, 1, 2, BF16, 4), .sigmoid = true },
				      false,
				      0.003 });
}

static void kernels_have_any_size_and_dilation(void **state)
{
	conv_case(*state, (ConvCase){ 1,
				      5,
				      33,
				      { 16, 0 },
				      16,
				      DEV_BF16,
				      DEV_BF16,
				      { CONV(1, 1, 1, 1, 1, BF16, 4) },
				      true,
				      0 });
	conv_case(*state, (ConvCase){ 1,
				      4,
				      40,
				      { 20, 0 },
				      8,
				      DEV_BF16,
				      DEV_BF16,
				      { CONV(5, 7, 2, 1, 1, BF16, 4) },
				      true,
				      0 });
}

static void a_concat_is_a_list_of_pieces(void **state)
{
	conv_case(*state, (ConvCase){ 1,
				      3,
				      32,
				      { 40, 70 },
				      40,
				      DEV_BF16,
				      DEV_BF16,
				      { CONV(3, 3, 1, 2, 1, BF16, 4) },
				      true,
				      0 });
	conv_case(*state, (ConvCase){ 1,
				      3,
				      32,
				      { 128, 0 },
				      32,
				      DEV_BF16,
				      DEV_BF16,
				      { CONV(3, 3, 1, 1, 2, BF16, 4), .k_block = 2 },
				      true,
				      0 });
}

static void bands_exchange_rows_and_share_weights(void **state)
{
	conv_case(*state, (ConvCase){ 4,
				      2,
				      40,
				      { 24, 0 },
				      72,
				      DEV_BF16,
				      DEV_BF16,
				      { CONV(3, 3, 1, 1, 2, BF16, 4), .pages = 2 },
				      true,
				      0 });
	conv_case(*state, (ConvCase){ 64,
				      1,
				      32,
				      { 16, 0 },
				      64,
				      DEV_BF16,
				      DEV_BF16,
				      { CONV(3, 3, 1, 1, 1, BF16, 4), .pages = 1 },
				      true,
				      0 });
}

/* Half of a unit of 7 bits against the largest of 16 channels, on the way in,
 * out, or in the weights, and the halves that two phases of fidelity drop. */
static void block_floats_are_within_their_units(void **state)
{
	conv_case(*state, (ConvCase){ 1,
				      3,
				      40,
				      { 64, 0 },
				      64,
				      DEV_BF16,
				      DEV_BF16,
				      { CONV(3, 3, 1, 2, 1, BFP8_B, 2) },
				      false,
				      0.02 });
	conv_case(*state, (ConvCase){ 2,
				      3,
				      40,
				      { 40, 0 },
				      48,
				      DEV_BFP8_B,
				      DEV_BFP8_B,
				      { CONV(3, 3, 1, 1, 1, BFP8_B, 2) },
				      false,
				      0.03 });
	conv_case(*state, (ConvCase){ 1,
				      5,
				      32,
				      { 32, 0 },
				      32,
				      DEV_BFP8_B,
				      DEV_BF16,
				      { CONV(1, 1, 1, 1, 4, BF16, 4), .relu = true },
				      false,
				      0.02 });
}

/* A factor of 1 + 2^-7 has 8 bits: the first phase sees 1 of a weight and of a pixel, the
 * second the rest of a weight, the third that of a pixel, the last both. 2^-14 is half a
 * step of the result. */
static void every_phase_sees_more_bits(void **state)
{
	static const double want[] = { 0, 0, 0x1p-7, 0x1p-6, 0x1p-6 + 0x1p-14 };
	float factor = 1 + 0x1p-7f, bias = -1, *const from = &factor, got;
	for (int phases = 1; phases <= 4; phases++) {
		Net *n = net_open(*state, 1);
		Planes in = net_planes(n, DEV_BF16, 1, 1, 1, 0);
		Planes out = net_planes(n, DEV_BF16, 1, 1, 1, 0);
		net_input(n, &in);
		const Conv c = { CONV(1, 1, 1, 1, 1, BF16, phases), .values = &factor,
				 .bias = &bias };
		net_conv(n, c, &in, 1, &out);
		net_output(n, &out);
		net_run_all(n, &from, &got, 1);
		assert_float_equal(got, net_rounded(want[phases]), 0);
	}
}

/* Of a result below 1 half a step is 2^-9. */
static void sigmoid_follows_a_conv(void **state)
{
	conv_case(*state, (ConvCase){ 1,
				      2,
				      32,
				      { 32, 0 },
				      10,
				      DEV_BF16,
				      DEV_BF16,
				      { CONV(1, 1, 1, 1, 2, BF16, 4), .sigmoid = true },
				      false,
				      0.0022 });
}

/* The largest of kernel x kernel every `stride`, on one core. */
static void window_case(Fixture *t, int channels, int rows, int cols, int kernel, int stride,
			bool relu)
{
	Rng r = { 11 };
	Net *n = net_open(t, 1);
	const int high = (rows - 1) * stride + kernel, wide = (cols - 1) * stride + kernel;
	Planes in = net_planes(n, DEV_BF16, channels, high, wide, 0);
	Planes out = net_planes(n, DEV_BF16, channels, rows, cols, 0);
	float *values = numbers(t, &r, (int64_t)channels * high * wide, 100);
	const int64_t count = (int64_t)channels * rows * cols;
	float *got = arena_array(t->arena, float, count);
	net_input(n, &in);
	net_window(n, &in, &out, kernel, stride, relu, false);
	net_output(n, &out);
	net_run_all(n, &values, got, count);
	for (int64_t i = 0; i < count; i++) {
		const int x = (int)(i % cols), y = (int)(i / cols % rows),
			  c = (int)(i / cols / rows);
		float want = relu ? 0 : -1000;
		for (int k = 0; k < kernel * kernel; k++)
			want = fmaxf(want, values[(c * high + y * stride + k / kernel) * wide +
						  x * stride + k % kernel]);
		assert_float_equal(got[i], want, 0);
	}
}

static void windows_keep_the_largest(void **state)
{
	window_case(*state, 48, 3, 40, 2, 2, false);
	window_case(*state, 16, 2, 20, 3, 2, false);
	window_case(*state, 32, 2, 33, 3, 1, false);
	window_case(*state, 20, 4, 32, 1, 1, true);
}

static void deconv_case(Fixture *t, DevTypes type, bool relu)
{
	Rng r = { 3 };
	enum { CIN = 36, COUT = 48, ROWS = 2, COLS = 24 };
	Net *n = net_open(t, 2);
	Planes in = net_planes(n, DEV_BF16, CIN, ROWS, COLS, 0);
	Planes out = net_planes(n, type, COUT, 2 * ROWS, 2 * COLS, 0);
	const int high = 2 * ROWS;
	float *values = numbers(t, &r, CIN * high * COLS, 3);
	const Conv c = { CONV(2, 2, 1, 2, 1, BF16, 4), .pages = 2, .relu = relu,
			 .values = numbers(t, &r, CIN * COUT * 4, 2),
			 .bias = numbers(t, &r, COUT, 9) };
	float got[COUT][2 * 2 * ROWS][2 * COLS];
	net_input(n, &in);
	net_deconv(n, c, &in, &out);
	net_output(n, &out);
	net_run_all(n, &values, &got[0][0][0], COUT * 2 * high * 2 * COLS);
	for (int o = 0; o < COUT; o++)
		for (int y = 0; y < 2 * high; y++)
			for (int x = 0; x < 2 * COLS; x++) {
				double want = c.bias[o];
				for (int i = 0; i < CIN; i++)
					want += (double)c.values[(i * COUT + o) * 4 + y % 2 * 2 +
								 x % 2] *
						values[(i * high + y / 2) * COLS + x / 2];
				want = relu && want < 0 ? 0 : want;
				assert_float_equal(got[o][y][x], net_stored(type, want), 0);
			}
}

static void a_transposed_conv_interleaves_its_phases(void **state)
{
	deconv_case(*state, DEV_BF16, false);
	deconv_case(*state, DEV_F32, false);
	deconv_case(*state, DEV_F32, true);
}

static void host_rows_round_to_nearest_even(void **state)
{
	Fixture *t = *state;
	Net *n = net_open(t, 1);
	Planes p = net_planes(n, DEV_BF16, 5, 3, 7, 0);
	Rng r = { 5 };
	float *values = numbers(t, &r, 5 * 3 * 7, 0), got[5 * 3 * 7];
	net_input(n, &p);
	net_output(n, &p);
	net_run_all(n, &values, got, 5 * 3 * 7);
	for (int i = 0; i < 5 * 3 * 7; i++)
		assert_float_equal(got[i], bf16_to_float(float_to_bf16(values[i])), 0);
}

/* A chain of copies, windows and convs: variants enough for overlays. */
static void chain(Fixture *t, uint32_t budget, bool iram)
{
	enum { CHANNELS = 16, ROWS = 4, COLS = 32, COUNT = CHANNELS * ROWS * COLS };
	Rng r = { 9 };
	Net *n = net_open(t, 1);
	n->code_budget = budget;
	n->iram = iram;
	Planes p[4];
	float *values = numbers(t, &r, COUNT, 3), *bias = numbers(t, &r, CHANNELS, 0), got[COUNT];
	float *identity = arena_array(t->arena, float, CHANNELS *CHANNELS);
	memset(identity, 0, CHANNELS * CHANNELS * sizeof *identity);
	for (int i = 0; i < CHANNELS; i++) {
		identity[i * (CHANNELS + 1)] = 1;
		bias[i] = 0;
	}
	for (int i = 0; i < 4; i++)
		p[i] = net_planes(n, DEV_BF16, CHANNELS, ROWS, COLS, 0);
	net_input(n, &p[0]);
	net_window(n, &p[0], &p[1], 1, 1, false, false);
	net_conv(n, (Conv){ CONV(1, 1, 1, 1, 1, BF16, 4), .values = identity, .bias = bias }, &p[1],
		 1, &p[2]);
	net_conv(n, (Conv){ CONV(1, 1, 1, 1, 2, BF16, 4), .values = identity, .bias = bias }, &p[2],
		 1, &p[3]);
	net_output(n, &p[3]);
	net_run_all(n, &values, got, COUNT);
	assert_memory_equal(got, values, sizeof got);
	assert_int_equal(n->overlays > 1, budget != 0);
}

static void ncrisc_runs_from_its_instruction_memory(void **state)
{
	chain(*state, 0, true);
}

static void code_that_does_not_fit_is_overlaid(void **state)
{
	chain(*state, 14 * 1024, false);
}

/* What the verifier says of a small net, a parameter of which was changed. */
static const char *refused(Fixture *t, const char *field, int index, uint32_t value)
{
	Net *n = net_open(t, 1);
	Planes in = net_planes(n, DEV_BF16, 64, 2, 32, 0),
	       out = net_planes(n, DEV_BF16, 64, 2, 32, 0);
	Rng r = { 1 };
	net_input(n, &in);
	net_conv(n,
		 (Conv){ CONV(1, 1, 1, 2, 1, BF16, 4), .values = numbers(t, &r, 64 * 64, 1),
			 .bias = numbers(t, &r, 64, 1) },
		 &in, 1, &out);
	program_set(&n->p->ops[1], field, index, value);
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	n->p->dram_free = n->dram;
	for (int i = 0; i < n->p->nbuffers; i++)
		n->p->buffers[i].last = n->p->nops - 1;
	assert_false(program_verify(n->p, target, &t->diag));
	return fixture_said(t);
}

static void what_kernels_cannot_hold_is_refused(void **state)
{
	const char *said = refused(*state, "k_block", 0, 200);
	assert_non_null(strstr(said, "piece 0: blocks of 200 of 2 input tiles, times 2"));
	said = refused(*state, "page_bytes", 0, 8256);
	assert_non_null(strstr(said, "pages of 8256 bytes, of which the kernels walk 8448"));
	said = refused(*state, "out_first", 0, 1);
	assert_non_null(strstr(said, "output: planes 1 to 5 of 4"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(pixels_stay_for_one_two_and_four_output_tiles),
		CASE(weights_stay_for_up_to_four_rows),
		CASE(what_outputs_read_is_stored_in_fp32),
		CASE(kernels_have_any_size_and_dilation),
		CASE(a_concat_is_a_list_of_pieces),
		CASE(bands_exchange_rows_and_share_weights),
		CASE(block_floats_are_within_their_units),
		CASE(every_phase_sees_more_bits),
		CASE(sigmoid_follows_a_conv),
		CASE(windows_keep_the_largest),
		CASE(a_transposed_conv_interleaves_its_phases),
		CASE(host_rows_round_to_nearest_even),
		CASE(ncrisc_runs_from_its_instruction_memory),
		CASE(code_that_does_not_fit_is_overlaid),
		CASE(what_kernels_cannot_hold_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
