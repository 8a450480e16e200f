/* Parts between the caller's arrays and pages in DRAM, against plain loops. */
#include <stdlib.h>
#include <string.h>

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
	view_to_stage(p, sizeof(float), host, stage);
	view_from_stage(p, sizeof(float), back, stage);
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
		cmocka_unit_test(strides_permute_and_pick),
		cmocka_unit_test(parts_are_joined_along_an_axis),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
