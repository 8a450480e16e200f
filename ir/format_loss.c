#include "ir/format_loss.h"

#include <math.h>
#include <string.h>

#include "ir/tensor.h"

enum { BITS = 24 }; /* of an f32 mantissa, the hidden one included */

static float top(float f, int bits)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	u &= ~0u << (BITS - bits);
	memcpy(&f, &u, sizeof f);
	return f;
}

static float rounded(float f, int bits)
{
	uint32_t u;
	memcpy(&u, &f, sizeof u);
	u += 1u << (BITS - bits - 1);
	memcpy(&f, &u, sizeof f);
	return top(f, bits);
}

static void add(LossSums *s, FormatLoss how, double exact, double rounded)
{
	s->rounded[how] += rounded * rounded;
	s->both[how] += exact * rounded;
}

void loss_add(LossSums *s, const float values[BLOCKFLOAT])
{
	float finite[BLOCKFLOAT];
	uint8_t bytes[BLOCKFLOAT];
	for (int i = 0; i < BLOCKFLOAT; i++)
		finite[i] = isfinite(values[i]) ? values[i] : 0;
	const uint8_t exponent = blockfloat_pack(finite, bytes);
	for (int i = 0; i < BLOCKFLOAT; i++) {
		const float v = finite[i], half = bf16_to_float(float_to_bf16(v));
		const float ten = rounded(v, 10);
		const float block = blockfloat_value(exponent, bytes[i]);
		s->exact += (double)v * (double)v;
		add(s, LOSS_BF16, (double)v, (double)half);
		add(s, LOSS_BF16_TOP7, (double)v, (double)top(half, 7));
		add(s, LOSS_BF16_TOP5, (double)v, (double)top(half, 5));
		add(s, LOSS_BFP8_B, (double)v, (double)block);
		add(s, LOSS_BFP8_B_TOP5, (double)v, (double)top(block, 5));
		add(s, LOSS_F32, (double)v, (double)ten);
		add(s, LOSS_F32_TOP5, (double)v, (double)top(ten, 5));
	}
}

/* 1 / r^2 - 1, r being the correlation about 0. Nothing left of the values is all lost. */
double loss_noise(const LossSums *s, FormatLoss how)
{
	if (s->exact <= 0)
		return 0;
	if (s->both[how] <= 0)
		return 1;
	return fmax(0, s->exact * s->rounded[how] / (s->both[how] * s->both[how]) - 1);
}
