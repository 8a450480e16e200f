/*
 * Which values an act works on: those of vectors of 4 pixels and 8 channels, even or
 * odd ones, in which there is a pixel and a channel of the result. Others keep what
 * products have made of them, which is 0; the emulator counts what was worked on.
 */
#include <math.h>

#include "frontend/model.h"
#include "tests/check.h"
#include "tests/counted.h"
#include "tests/device_net.h"
#include "tests/network.h"

enum {
	ROWS = 5,
	CIN = 16,
	ONCE = 19,  /* vector instructions of sigmoid around the values of a call, */
	EACH = 33,  /* and for 32 of them */
};

static Counters counted;

/* The op with the act, on the only core; what is predicted of all has to be right. */
void net_emitted(Net *n, const Emission *e)
{
	Compared all = { 0 };
	const Counters *c = counted_run(n->t->arena, n->p, e, "emu:counters,fast,strict=0,threads=1");
	counted_check(n->t->arena, n->p, e, &all);
	for (int op = 0; op < n->p->nops; op++)
		if (n->p->ops[op].act != VARIANT_NONE)
			counted = c[op];
}

typedef struct Case {
	int channels, cols; /* of the positions of the result */
	int n, hold;
	bool transposed;
} Case;

static int planes_of(const Case *k) { return (k->channels + 15) / 16; }

/* Does the vector that this channel and pixel are in hold any of the result? */
static bool worked_on(const Case *k, int channel, int x)
{
	return channel / 16 * 16 + channel % 2 < k->channels && x / 4 * 4 < k->cols;
}

/* Vectors of one row of positions and one phase, counted one by one. */
static int64_t vectors(const Case *k)
{
	int64_t count = 0;
	for (int plane = 0; plane < planes_of(k); plane++)
		for (int odd = 0; odd < 2; odd++)
			for (int x = 0; x < k->cols; x += 4)
				count += worked_on(k, 16 * plane + odd, x);
	return count;
}

static int64_t calls(const Case *k)
{
	const int64_t tiles = (planes_of(k) + 1) / 2 * (k->transposed ? 4 : 1);
	return (tiles + k->n - 1) / k->n * ((ROWS + k->hold - 1) / k->hold) * ((k->cols + 31) / 32);
}

/* Channel c of the result, before the act, whatever the pixel: all inputs are 1. */
static float sum_of(int c) { return (float)(c % 7 - 3) + 0.5f * (float)(c % 3); }

/* Planes have all their channels, so that what is in unused ones comes out too. */
static float *run(Fixture *t, const Case *k)
{
	const int all = 16 * planes_of(k), twice = k->transposed ? 2 : 1;
	const int taps = twice * twice;
	Net *n = net_open(t, 1);
	Planes x = net_planes(n, DEV_BF16, CIN, ROWS, k->cols, 0);
	Planes y = net_planes(n, DEV_BF16, all, twice * ROWS, twice * k->cols, 0);
	float *in = arena_array(t->arena, float, CIN * ROWS * k->cols);
	float *out = arena_array(t->arena, float, all * ROWS * k->cols * taps);
	float *weights = arena_array(t->arena, float, all * CIN * taps);
	float *bias = arena_array(t->arena, float, all);
	for (int i = 0; i < CIN * ROWS * k->cols; i++)
		in[i] = 1;
	for (int c = 0; c < k->channels; c++) {
		bias[c] = 0.5f * (float)(c % 3);
		for (int tap = 0; tap < taps; tap++) /* of input channel 0 */
			weights[c * (k->transposed ? taps : CIN) + tap] = (float)(c % 7 - 3);
	}
	const Conv c = { .kernel_h = 1, .kernel_w = 1, .dilation = 1, .weights = DEV_BF16,
			 .n = k->n, .hold = k->hold, .phases = 1, .pages = 1, .sigmoid = true,
			 .values = weights, .bias = bias };
	net_input(n, &x);
	if (k->transposed)
		net_deconv(n, c, &x, &y);
	else
		net_conv(n, c, &x, 1, &y);
	program_set(&n->p->ops[n->p->nops - 1], "lanes", 0, (uint32_t)((k->channels - 1) % 16 + 1));
	net_output(n, &y);
	net_run(n, "emu:threads=1", &in, out);
	return out;
}

static void check_case(Fixture *t, const Case *k)
{
	const int all = 16 * planes_of(k), twice = k->transposed ? 2 : 1;
	const int pixels = ROWS * k->cols * twice * twice;
	const float *out = run(t, k);
	for (int c = 0; c < all; c++) {
		const double x = c < k->channels ? (double)sum_of(c) : 0;
		const double wanted = worked_on(k, c, 0) ? 1 / (1 + exp(-x)) : 0;
		for (int i = 0; i < pixels; i++)
			if (fabs((double)out[c * pixels + i] - wanted) > wanted / 128)
				fail_msg("%d channels, %d columns, n %d, hold %d: channel %d is %g, not %g",
					 k->channels, k->cols, k->n, k->hold, c,
					 (double)out[c * pixels + i], wanted);
	}
	const int64_t worked = vectors(k) * ROWS * twice * twice;
	if (counted.sfpus != ONCE * calls(k) + EACH * worked)
		fail_msg("%d channels, %d columns, n %d, hold %d: %d instructions, not %d",
			 k->channels, k->cols, k->n, k->hold, (int)counted.sfpus,
			 (int)(ONCE * calls(k) + EACH * worked));
}

static const int channels[] = { 1, 2, 16, 17, 18, 32, 33, 40, 65, 128 };

static void a_conv_has_it_done_where_there_are_channels_and_pixels(void **state)
{
	static const struct {
		int n, hold;
	} ways[] = { { 1, 1 }, { 1, 4 }, { 2, 1 }, { 4, 1 } };
	static const int cols[] = { 32, 1, 13, 16, 61 };
	for (size_t c = 0; c < sizeof channels / sizeof *channels; c++)
		for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
			check_case(*state, &(Case){ channels[c], cols[(c + w) % 5], ways[w].n,
						    ways[w].hold, false });
	for (size_t c = 0; c < sizeof cols / sizeof *cols; c++)
		check_case(*state, &(Case){ 1, cols[c], 1, 4, false });
}

static void a_transposed_conv_has_it_done_in_all_phases(void **state)
{
	for (size_t c = 0; c < sizeof channels / sizeof *channels; c++)
		check_case(*state, &(Case){ channels[c], c % 2 ? 32 : 19, 2, 1, true });
}

/* 32 rows of 32 pixels: a quarter of the vectors that a full tile has. */
static void one_channel_takes_a_quarter(void **state)
{
	int64_t took[4];
	static const int of[] = { 1, 16, 17, 32 }, quarters[] = { 1, 2, 3, 4 };
	for (int i = 0; i < 4; i++) {
		const Case k = { of[i], 32, 1, 1, false };
		check_case(*state, &k);
		took[i] = counted.sfpus - ONCE * calls(&k);
	}
	for (int i = 0; i < 4; i++)
		assert_int_equal(4 * took[i], quarters[i] * took[3]);
}

/* The one channel of the last plane is another core's. */
static void each_core_knows_its_own_last_channels(void **state)
{
	enum { CHANNELS = 33, PIXELS = 4 * 8 };
	static const char text[] =
		"graph \"net\"\n"
		"%x = input {stored = bf16} : f32[1,16,4,8]\n"
		"%w = constant splat 0.25 : f32[33,16,1,1]\n"
		"%y = conv %x, %w {act = sigmoid, dilations = [1,1], "
		"hints = [cout_block = \"1\", stored = \"bf16\"], pads = [0,0,0,0], "
		"stored = bf16, strides = [1,1], weights = bf16} : f32[1,33,4,8]\n"
		"%o = output %y : f32[1,33,4,8]\n";
	Fixture *t = *state;
	float in[16 * PIXELS], out[CHANNELS * PIXELS];
	TesseraError error;
	const PlanOptions options = { .cores = 2, .cut = { .bands = 1, .splits = 2 } };
	Graph *g = text_parse(t->arena, &t->diag, "net.ir", text, strlen(text), &(ModelOptions){ 0 });
	Network *n = g ? network_planned(g, &options) : NULL;
	if (!n)
		fail_msg("%s", fixture_said(t));
	for (int i = 0; i < 16 * PIXELS; i++)
		in[i] = 0.25f;
	if (!network_run(n, "emu:threads=1", in, out, &error))
		fail_msg("%s", error.text);
	for (int i = 0; i < CHANNELS * PIXELS; i++)
		assert_true(out[i] == net_rounded(1 / (1 + exp(-1))));
	network_free(n);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(a_conv_has_it_done_where_there_are_channels_and_pixels),
		T(a_transposed_conv_has_it_done_in_all_phases),
		T(each_core_knows_its_own_last_channels),
		T(one_channel_takes_a_quarter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
