/*
 * Activations by the device library: of every bf16 number, on the emulator, against
 * double; of every 61st, the same bits on the simulator. The packers round halves
 * away from zero, so an exact act is wrong by half a unit of bf16 at most.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tests/device_net.h"

enum { NUMBERS = 1 << 16, CHANNELS = 16, ROWS = 64, COLS = 64 };

#define LEAST 0x1p-125 /* of which half is still normal */

typedef double Exact(double x, double a, double b);

static double leaky_relu(double x, double a, double b)
{
	(void)b;
	return x < 0 ? a * x : x;
}

static double clip(double x, double a, double b)
{
	return x < b ? b : x > a ? a : x;
}

static double hard_sigmoid(double x, double a, double b)
{
	return clip(a * x + b, 1, 0);
}

static double hard_swish(double x, double a, double b)
{
	(void)a, (void)b;
	return x * clip(x / 6 + 0.5, 1, 0);
}

static double sigmoid(double x, double a, double b)
{
	(void)a, (void)b;
	return 1 / (1 + exp(-x));
}

static double hyperbolic(double x, double a, double b)
{
	(void)a, (void)b;
	return tanh(x);
}

static double silu(double x, double a, double b)
{
	return x * sigmoid(x, a, b);
}

static double gelu(double x, double a, double b)
{
	(void)a, (void)b;
	return x * 0.5 * erfc(-x / sqrt(2));
}

static double gelu_tanh(double x, double a, double b)
{
	return x * sigmoid(2 * sqrt(2 / M_PI) * (x + 0.044715 * x * x * x), a, b);
}

static double elu(double x, double a, double b)
{
	(void)b;
	return x < 0 ? a * expm1(x) : x;
}

static double exponential(double x, double a, double b)
{
	(void)a, (void)b;
	return exp(x);
}

static double reciprocal(double x, double a, double b)
{
	(void)a, (void)b;
	return x == 0 ? 0x1p126 : 1 / x;
}

static double rsqrt(double x, double a, double b)
{
	(void)b;
	return 1 / sqrt(fmax(x + a, 0x1p-125));
}

/* Results are right to `units` of bf16; up to `small` they may be anything up to it. */
typedef struct ActCase {
	const char *act;
	Exact *exact;
	float a, b;
	double units, small;
} ActCase;

static const ActCase cases[] = {
	{ "leaky_relu", leaky_relu, 0.01f, 0, 0.501, LEAST },
	{ "leaky_relu", leaky_relu, -2.5f, 0, 0.501, LEAST },
	{ "clip", clip, 6, 0, 0.5, LEAST },
	{ "clip", clip, -0.3f, -INFINITY, 0.5, LEAST },
	{ "sigmoid", sigmoid, 0, 0, 0.51, LEAST },
	{ "tanh", hyperbolic, 0, 0, 0.51, LEAST },
	{ "silu", silu, 0, 0, 0.51, 0x1p-119 },
	{ "hard_swish", hard_swish, 0, 0, 0.501, LEAST },
	{ "hard_sigmoid", hard_sigmoid, 0.2f, 0.5f, 0.501, LEAST },
	{ "gelu", gelu, 0, 0, 0.51, 0x1p-122 },
	{ "gelu_tanh", gelu_tanh, 0, 0, 0.51, 0x1p-122 },
	{ "elu", elu, 1, 0, 0.51, LEAST },
	{ "elu", elu, -0.75f, 0, 0.51, LEAST },
	{ "exp", exponential, 0, 0, 0.51, LEAST },
	{ "reciprocal", reciprocal, 0, 0, 0.51, 0x1p-112 },
	{ "rsqrt", rsqrt, 0, 0, 0.51, LEAST },
	{ "rsqrt", rsqrt, 1e-5f, 0, 0.51, LEAST },
};

static uint32_t bits_of(float v)
{
	uint32_t bits;
	memcpy(&bits, &v, 4);
	return bits;
}

/* The number of these bits; what is none, or denormal, is 0. */
static float number(uint32_t bf16)
{
	const uint32_t exponent = bf16 >> 7 & 0xff, bits = bf16 << 16;
	float v;
	memcpy(&v, &bits, 4);
	return exponent == 0xff ? 0 : exponent == 0 ? copysignf(0, v) : v;
}

static Net *act_net(Fixture *t, const ActCase *k, int rows)
{
	Net *n = net_open(t, 1);
	Planes x = net_planes(n, DEV_BF16, CHANNELS, rows, COLS, 0);
	Planes y = net_planes(n, DEV_BF16, CHANNELS, rows, COLS, 0);
	net_input(n, &x);
	net_window(n, &x, &y, 1, 1, false, false);
	ProgramOp *op = &n->p->ops[n->p->nops - 1];
	op->act = program_variant(n->p, arena_printf(t->arena, "act_%s", k->act), NULL, 0);
	program_set(op, "act", 0, bits_of(k->a));
	program_set(op, "act", 1, bits_of(k->b));
	net_output(n, &y);
	return n;
}

/* Units of bf16 that `got` is away. */
static double units_off(const ActCase *k, float x, float got)
{
	const double exact = k->exact(x, k->a, k->b);
	if (isnan(got))
		fail_msg("%s: NaN of %a", k->act, (double)x);
	if (fabs(exact) <= k->small && fabs((double)got) <= k->small)
		return 0;
	if (isinf(got))
		return fabs(exact) > 0x1.fep127 && signbit(exact) == signbit(got) ? 0 : INFINITY;
	return fabs(got - exact) / ldexp(1, ilogb(exact) - 7);
}

static void every_number_comes_out_right(void **state)
{
	Fixture *t = *state;
	float *in = arena_array(t->arena, float, NUMBERS);
	float *out = arena_array(t->arena, float, NUMBERS);
	int wrong = 0;
	for (uint32_t i = 0; i < NUMBERS; i++)
		in[i] = number(i);
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
		const ActCase *k = &cases[c];
		double most = 0;
		float at = 0;
		net_run(act_net(t, k, ROWS), "emu:threads=1", &in, out);
		for (int i = 0; i < NUMBERS; i++) {
			const double off = units_off(k, in[i], out[i]);
			if (off > most) {
				most = off;
				at = in[i];
			}
		}
		printf("%-12s %8.4g %6.3g: %.4f units at %g, %g are allowed\n", k->act,
		       (double)k->a, (double)k->b, most, (double)at, k->units);
		wrong += most > k->units;
	}
	assert_int_equal(wrong, 0);
}

static void the_simulator_gives_the_same_bits(void **state)
{
	enum { FEW = CHANNELS * COLS };
	Fixture *t = *state;
	float in[FEW], out[FEW], *inputs = in;
	for (uint32_t i = 0; i < FEW; i++)
		in[i] = number(i * 61 % NUMBERS);
	for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
		net_run_all(act_net(t, &cases[c], 1), &inputs, out, FEW);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(every_number_comes_out_right),
		T(the_simulator_gives_the_same_bits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
