/* Parts between the caller's arrays and pages in DRAM, against plain loops. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/tensor.h"
#include "runtime/host/view.h"
#include "tests/check.h"

enum { MOST = 4096 };

/* Element (n, c, y, x) in the stage, by the words of map.h. */
static size_t stage_at(const TtbPart *p, int64_t element)
{
	const int64_t x = element % p->nchw[3], page = element / p->nchw[3];

	return (size_t)(page % 12 * p->slot_bytes + page / 12 * p->page_bytes + x * 4);
}

/* What the header says of a view, element by element. */
static void expect(const TtbPart *p)
{
	static float host[MOST], back[MOST];
	const int64_t elements = ttb_elements(p->rank, p->dims);
	const size_t bytes = TT_DRAM_BANKS * (size_t)p->slot_bytes;
	uint8_t *stage = calloc(1, bytes), *wanted = calloc(1, bytes);

	assert_true(stage && wanted);
	for (int i = 0; i < MOST; i++)
		host[i] = (float)i + 0.25f;
	memset(back, 0, sizeof back);
	view_to_stage(p, TT_HOST_F32, host, stage);
	view_from_stage(p, TT_HOST_F32, back, stage);
	for (int64_t k = 0; k < elements; k++) {
		const int64_t h = p->start + k / p->run * p->pitch + k % p->run;
		int64_t rest = k, at = p->offset;

		for (int i = (int)p->rank - 1; i >= 0; i--) {
			at += rest % p->dims[i] * p->strides[i];
			rest /= p->dims[i];
		}
		memcpy(wanted + stage_at(p, at), &host[h], sizeof *host);
		assert_true(back[h] == host[h]);
		back[h] = 0;
	}
	assert_memory_equal(stage, wanted, bytes);
	assert_true(memcmp(back, (float[MOST]){ 0 }, sizeof back) == 0);
	free(stage);
	free(wanted);
}

/* All values of so many bits, of f32 those near bf16 and between, by way of it: what
 * stands in the stage, and what comes back of it. */
static void by_way_of_bf16(uint32_t type, int bits, uint32_t (*to)(uint32_t),
			   uint32_t (*back)(uint32_t))
{
	const size_t size = tt_host_bytes(type), most = (size_t)1 << bits;
	TtbPart p = ttb_whole_part((int64_t[]){ 1, 1, 1, (int64_t)most }, 0);
	uint8_t *host = malloc(most * size), *stage = calloc(TT_DRAM_BANKS, p.slot_bytes);

	assert_true(host && stage);
	p.stored = TT_HOST_BF16;
	for (uint32_t i = 0; i < most; i++) {
		static const uint32_t low[] = { 0, 0x7fff, 0x8000, 0x8001 };
		const uint32_t value = type == TT_HOST_F32 ? i >> 2 << 16 | low[i & 3] : i;
		memcpy(host + i * size, &value, size);
	}
	view_to_stage(&p, type, host, stage);
	for (uint32_t i = 0; i < most; i++) {
		uint32_t from = 0, bf16 = 0;
		memcpy(&from, host + i * size, size);
		memcpy(&bf16, stage + 2 * i, 2);
		if (bf16 != to(from))
			fail_msg("0x%x is kept as 0x%x, not 0x%x", from, bf16, to(from));
	}
	if (back) {
		view_from_stage(&p, type, host, stage);
		for (uint32_t i = 0; i < most; i++) {
			uint32_t from = 0, bf16 = 0;
			memcpy(&from, host + i * size, size);
			memcpy(&bf16, stage + 2 * i, 2);
			assert_int_equal(from, back(bf16));
		}
	}
	free(host);
	free(stage);
}

/* The nearest of the two neighbours, by doubles; of two as near the even one. */
static uint32_t nearest_bf16(uint32_t bits)
{
	const uint32_t below = bits & 0xffff0000u, above = below + 0x10000;
	const double x = float_of_bits(bits), a = float_of_bits(below);

	if (isnan(x))
		return bits >> 16 | 0x40;
	if (isinf(a))
		return below >> 16;
	const double b = isinf(float_of_bits(above)) ? copysign(0x1p128, a) : float_of_bits(above);
	if (fabs(x - a) == fabs(b - x))
		return (below & 0x10000 ? above : below) >> 16;
	return (fabs(x - a) < fabs(b - x) ? below : above) >> 16;
}

static double f16_number(uint32_t half)
{
	const int exponent = half >> 10 & 31;
	const double value = half & 0x3ff, sign = half & 0x8000 ? -1 : 1;

	if (exponent == 31)
		return value ? NAN : sign * INFINITY;
	return sign * (exponent ? ldexp(value + 1024, exponent - 25) : ldexp(value, -24));
}

static uint32_t f16_to_bf16(uint32_t half)
{
	const double x = f16_number(half);

	if (isnan(x)) /* a sign and as much of its bits as there is room for */
		return (half & 0x8000) | 0x7f80 | (half & 0x3ff) >> 3 | 0x40;
	return nearest_bf16(float_bits((float)x));
}

static uint32_t u8_to_bf16(uint32_t byte) { return float_bits((float)byte) >> 16; }

static uint32_t bf16_to_f32(uint32_t half) { return half << 16; }

static void elements_are_kept_as_the_nearest_bf16(void **state)
{
	(void)state;
	by_way_of_bf16(TT_HOST_F32, 18, nearest_bf16, bf16_to_f32);
	by_way_of_bf16(TT_HOST_F16, 16, f16_to_bf16, NULL);
	by_way_of_bf16(TT_HOST_U8, 8, u8_to_bf16, NULL);
}

static void a_whole_tensor_is_rows_in_pages(void **state)
{
	const int64_t shapes[][4] = {
		{ 1, 1, 1, 1 }, { 1, 3, 5, 7 }, { 2, 3, 4, 8 }, { 1, 16, 9, 9 }, { 1, 40, 1, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const TtbPart p = ttb_whole_part(shapes[i], 0x1000);

		assert_int_equal(p.page_bytes % 32, 0);
		expect(&p);
	}
}

static TtbPart shaped(int64_t c, int64_t h, int64_t w)
{
	return ttb_whole_part((int64_t[]){ 1, c, h, w }, 0);
}

static void strides_permute_and_pick(void **state)
{
	(void)state;
	TtbPart p = shaped(4, 3, 3); /* NCHW to NHWC: dims = [9,4], strides = [1,9] */
	p.rank = 2;
	p.dims[0] = 9, p.dims[1] = 4;
	p.strides[0] = 1, p.strides[1] = 9;
	expect(&p);

	p = shaped(4, 2, 2); /* pixel shuffle */
	p.rank = 4;
	memcpy(p.dims, (int64_t[]){ 2, 2, 2, 2 }, 4 * sizeof *p.dims);
	memcpy(p.strides, (int64_t[]){ 2, 8, 1, 4 }, 4 * sizeof *p.strides);
	expect(&p);

	p = shaped(4, 3, 3); /* one channel */
	p.dims[0] = p.run = p.pitch = 9;
	p.offset = 18;
	expect(&p);

	p = shaped(1, 6, 7); /* backwards */
	p.strides[0] = -1;
	p.offset = 41;
	expect(&p);

	p = shaped(2, 6, 7); /* every second column, and not from the first */
	p.rank = 2;
	p.dims[0] = 12, p.dims[1] = 3;
	p.strides[0] = 7, p.strides[1] = 2;
	p.offset = 1;
	p.run = p.pitch = 36;
	expect(&p);
}

static void parts_are_joined_along_an_axis(void **state)
{
	(void)state;
	TtbPart p = shaped(2, 4, 5); /* of 2 x (4 + 3) x 5, axis 2 */
	p.run = 20;
	p.pitch = 35;
	expect(&p);
	p = shaped(2, 3, 5);
	p.run = 15;
	p.pitch = 35;
	p.start = 20;
	expect(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_tensor_is_rows_in_pages),
		cmocka_unit_test(elements_are_kept_as_the_nearest_bf16),
		cmocka_unit_test(strides_permute_and_pick),
		cmocka_unit_test(parts_are_joined_along_an_axis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
