/* Where pixels stand on the device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/layout.h"
#include "tests/check.h"
#include "tests/fixture.h"

static const Loc here = { .file = "plan" };

/* The second band of a 64-channel 480x640 tensor cut over 60 cores. */
static const Layout band = {
	.type = DEV_BF16, .row = 8, .rows = 8, .above = 1, .below = 1, .planes = 4, .cols = 640,
	.pitch = 656, .phases = 1, .address = 0x19cc0,
};

static const char *text_of(Fixture *t, const Layout *l)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	layout_print(l, f);
	fclose(f);
	const char *copy = arena_strdup(t->arena, text);
	free(text);
	return copy;
}

static Layout parsed(Fixture *t, const char *text)
{
	Layout l;
	if (!layout_parse(&l, t->arena, &t->diag, here, text))
		fail_msg("%s", fixture_said(t));
	return l;
}

static void a_layout_is_one_line_of_text(void **state)
{
	Fixture *t = *state;
	assert_string_equal(text_of(t, &band),
		"bf16 rows=8+8 halo=1+1 planes=0+4 cols=640 lead=0 pitch=656 phases=1"
		" order=row at=l1:0x19cc0");
}

static void text_gives_back_the_layout_it_was_printed_from(void **state)
{
	Fixture *t = *state;
	const Layout others[] = {
		band,
		{ DEV_BFP8_B, 0, 480, 0, 0, 3, 64, 640, 16, 672, 2, ORDER_COL, PLACE_DRAM, 32 },
		{ DEV_F32, 4, 3, 1, 2, 1, 3, 20, 0, 32, 1, ORDER_ROW, PLACE_L1, 0 },
		{ DEV_BF16, INT32_MAX, 1, 9, 8, 7, 6, 5, 4, 16, 1, ORDER_ROW, PLACE_L1, ~0ull },
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		const char *text = text_of(t, &others[i]);
		Layout l = parsed(t, text);
		assert_string_equal(text_of(t, &l), text);
	}
}

static void fields_may_come_in_any_order(void **state)
{
	Fixture *t = *state;
	Layout l = parsed(t, "bf16 at=l1:0x19cc0 order=row phases=1 pitch=656 lead=0 cols=640"
			  " planes=0+4 halo=1+1 rows=8+8");
	assert_string_equal(text_of(t, &l), text_of(t, &band));
}

static void every_wrong_field_is_reported(void **state)
{
	Fixture *t = *state;
	Layout l;
	assert_false(layout_parse(&l, t->arena, &t->diag, here,
		"fp32 rows=0 halo=1+1 halo=1+1 plane=0+4 cols=x lead=0 pitch=99999999999 phases"
		" order=diagonal at=l1:19cc0"));
	assert_string_equal(fixture_said(t),
		"plan: error: layout: 'fp32' is not a device type\n"
		"plan: error: layout: '0' is not a value of field 'rows'\n"
		"plan: error: layout: field 'halo' is given twice\n"
		"plan: error: layout: no field 'plane'\n"
		"plan: note: did you mean 'planes'?\n"
		"plan: error: layout: 'x' is not a value of field 'cols'\n"
		"plan: error: layout: '99999999999' is not a value of field 'pitch'\n"
		"plan: error: layout: 'phases' is not of the form field=value\n"
		"plan: error: layout: 'diagonal' is not a value of field 'order'\n"
		"plan: error: layout: 'l1:19cc0' is not a value of field 'at'\n"
		"plan: error: layout: field 'planes' is missing\n"
		"plan: error: layout: field 'phases' is missing\n");
}

static void an_empty_text_is_no_layout(void **state)
{
	Fixture *t = *state;
	Layout l;
	assert_false(layout_parse(&l, t->arena, &t->diag, here, ""));
	assert_int_equal(t->diag.errors, 10);
}

static void bf16_takes_32_bytes_a_pixel_and_plane(void **state)
{
	(void)state;
	assert_int_equal(layout_bytes(&band), 4 * (1 + 8 + 1) * 656 * 32);
	PixelAt p = layout_at(&band, 0, 7, 0);
	assert_int_equal(p.values, 0);
	assert_int_equal(p.exponent, -1);
	p = layout_at(&band, 2, 8, 5);
	assert_int_equal(p.values, ((2 * 10 + 1) * 656 + 5) * 32);
	assert_int_equal(layout_at(&band, 3, 16, 655).values + 32, layout_bytes(&band));
}

/* lab/cv6.c: pitch 48, interior from column 16, exponents of 4 planes of 34
 * rows, then the mantissas. */
static void bfp8_b_in_l1_has_the_exponents_of_all_planes_first(void **state)
{
	(void)state;
	const Layout l = { .type = DEV_BFP8_B, .rows = 32, .above = 1, .below = 1, .planes = 4,
			   .cols = 32, .lead = 16, .pitch = 48, .phases = 1 };
	const int64_t plane = 34 * 48;
	assert_int_equal(layout_bytes(&l), 4 * plane * 17);
	PixelAt p = layout_at(&l, 1, 0, 0);
	assert_int_equal(p.exponent, plane + 48 + 16);
	assert_int_equal(p.values, 4 * plane + (plane + 48 + 16) * 16);
	assert_int_equal(p.page, 0);
}

static void in_dram_every_plane_is_a_page_with_its_own_exponents(void **state)
{
	(void)state;
	Layout l = { .type = DEV_BFP8_B, .rows = 3, .plane = 2, .planes = 4, .cols = 10,
		     .pitch = 16, .phases = 1, .place = PLACE_DRAM };
	assert_int_equal(layout_pages(&l), 4);
	assert_int_equal(layout_page_bytes(&l), 832); /* 48 + 768 = 816, to a multiple of 32 */
	assert_int_equal(layout_bytes(&l), 4 * 832);
	PixelAt p = layout_at(&l, 3, 1, 2);
	assert_int_equal(p.page, 1);
	assert_int_equal(p.exponent, 18);
	assert_int_equal(p.values, 48 + 18 * 16);
}

/* 2064 pixels of bf16 are 66048 bytes: 24 rows are as large as L1. */
static void in_dram_a_large_plane_has_pages_no_smaller_than_l1(void **state)
{
	(void)state;
	assert_int_equal(layout_page_rows(DEV_BF16, 2064, 24), 24);
	assert_int_equal(layout_page_rows(DEV_BF16, 2064, 47), 47);
	assert_int_equal(layout_page_rows(DEV_BF16, 2064, 48), 24);
	assert_int_equal(layout_page_rows(DEV_BF16, 2064, 2048), 25); /* 85 pages, not 86 */
	Layout l = { .type = DEV_BFP8_B, .rows = 200, .planes = 3, .cols = 1024, .pitch = 1056,
		     .phases = 1, .place = PLACE_DRAM };
	const int64_t pixels = 100 * 1056;
	assert_int_equal(layout_page_rows(DEV_BFP8_B, 1056, 200), 100);
	assert_int_equal(layout_pages(&l), 6);
	assert_int_equal(layout_page_bytes(&l), pixels * 17);
	PixelAt p = layout_at(&l, 2, 99, 1);
	assert_int_equal(p.page, 2);
	assert_int_equal(p.exponent, 99 * 1056 + 1);
	p = layout_at(&l, 1, 103, 7);
	assert_int_equal(p.page, 4);
	assert_int_equal(p.exponent, 3 * 1056 + 7);
	assert_int_equal(p.values, pixels + (3 * 1056 + 7) * 16);
}

static void column_phases_put_every_pth_column_side_by_side(void **state)
{
	(void)state;
	const Layout l = { .type = DEV_BF16, .rows = 1, .planes = 2, .cols = 7, .lead = 1,
			   .pitch = 16, .phases = 2 };
	const int64_t phase = 2 * 16;
	assert_int_equal(layout_bytes(&l), 2 * phase * 32);
	assert_int_equal(layout_at(&l, 0, 0, 0).values, 1 * 32);
	assert_int_equal(layout_at(&l, 0, 0, 2).values, 2 * 32);
	assert_int_equal(layout_at(&l, 1, 0, 3).values, (phase + 16 + 2) * 32);
	assert_int_equal(layout_at(&l, 0, 0, -1).values, phase * 32);
	assert_int_equal(layout_at(&l, 0, 0, -2).values, 0);
	Layout three = l;
	three.phases = 3;
	assert_int_equal(layout_at(&three, 0, 0, -1).values, 2 * phase * 32);
}

static int64_t mark(char *used, int64_t at, int64_t bytes)
{
	for (int64_t i = 0; i < bytes; i++)
		assert_int_equal(used[at + i]++, 0);
	return bytes;
}

static int64_t mark_row(char *used, const Layout *l, int plane, int row)
{
	int64_t total = 0;
	for (int x = 0; x < l->pitch * l->phases; x++) {
		PixelAt p = layout_at(l, plane, row, x - l->lead * l->phases);
		const int bytes = l->type == DEV_F32 ? 64 : l->type == DEV_BF16 ? 32 : 16;
		total += mark(used, p.values, bytes);
		if (l->type == DEV_BFP8_B)
			total += mark(used, p.exponent, 1);
	}
	return total;
}

static void no_two_pixels_share_a_byte_and_none_is_lost(void **state)
{
	(void)state;
	const Layout shapes[] = {
		{ DEV_BF16, 4, 3, 1, 2, 1, 3, 20, 0, 32, 1, ORDER_ROW, PLACE_L1, 0 },
		{ DEV_BFP8_B, 4, 3, 1, 2, 1, 3, 21, 16, 32, 2, ORDER_ROW, PLACE_L1, 0 },
		{ DEV_F32, 4, 3, 1, 2, 1, 3, 20, 16, 48, 1, ORDER_ROW, PLACE_L1, 0 },
	};
	for (int s = 0; s < 3; s++) {
		const Layout *l = &shapes[s];
		char *used = calloc(1, (size_t)layout_bytes(l));
		int64_t total = 0;
		for (int plane = l->plane; plane < l->plane + l->planes; plane++)
			for (int row = l->row - l->above; row < l->row + l->rows + l->below; row++)
				total += mark_row(used, l, plane, row);
		assert_int_equal(total, layout_bytes(l));
		free(used);
	}
}

static void the_pitch_holds_lead_columns_and_pad(void **state)
{
	(void)state;
	assert_int_equal(layout_pitch(640, 1, 0, 1), 656);
	assert_int_equal(layout_pitch(640, 1, 0, 0), 640);
	assert_int_equal(layout_pitch(641, 2, 16, 1), 352);
}

static void check_refuses(Fixture *t, Layout l, const char *why)
{
	fixture_said(t);
	size_t before = t->nsaid;
	t->diag.limit = 1000;
	assert_false(layout_check(&l, &t->diag, here));
	assert_string_equal(fixture_said(t) + before,
			    arena_printf(t->arena, "plan: error: layout: %s\n", why));
}

static void the_limits_of_the_device_are_named(void **state)
{
	Fixture *t = *state;
	Layout l = band;
	assert_true(layout_check(&l, &t->diag, here));
#define REFUSED(change, why) (l = band, change, check_refuses(t, l, why))
	REFUSED(l.rows = 0, "rows wants at least 1, has 0");
	REFUSED(l.planes = 0, "planes wants at least 1, has 0");
	REFUSED(l.phases = 0, "phases wants at least 1, has 0");
	REFUSED(l.lead = -1, "lead wants at least 0, has -1");
	REFUSED(l.pitch = 650, "pitch wants a multiple of 16, has 650");
	REFUSED(l.pitch = 624, "pitch wants at least 640, has 624");
	REFUSED((l.lead = 20, l.cols = 637), "pitch wants at least 657, has 656");
	REFUSED(l.pitch = 4096, "pitch in L1 wants at most 4095, has 4096");
	REFUSED(l.rows = 254, "rows and halo in L1 wants at most 255, has 256");
	REFUSED(l.planes = 256, "planes times phases in L1 wants at most 255, has 256");
	REFUSED((l.phases = 2, l.planes = 128), "planes times phases in L1 wants at most 255, has 256");
	REFUSED(l.address = 8, "address wants a multiple of 16, has 8");
	REFUSED(l.address = 1ull << 32, "address in L1 wants 32 bits, has 0x100000000");
	REFUSED((l.place = PLACE_DRAM, l.address = 16), "address wants a multiple of 32, has 16");
	REFUSED((l.type = DEV_BFP8_B, l.lead = 1), "lead of bfp8_b wants a multiple of 16, has 1");
	REFUSED((l.place = PLACE_DRAM, l.rows = 1 << 30),
		"a shard wants at most 1099511627776 elements, has more");
}

static void what_stands_in_dram_is_not_bound_by_descriptors(void **state)
{
	Fixture *t = *state;
	Layout l = band;
	l.place = PLACE_DRAM;
	l.rows = 4000;
	l.planes = 1000;
	l.cols = l.pitch = 8000;
	assert_true(layout_check(&l, &t->diag, here));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(a_layout_is_one_line_of_text),
		T(text_gives_back_the_layout_it_was_printed_from),
		T(fields_may_come_in_any_order),
		T(every_wrong_field_is_reported),
		T(an_empty_text_is_no_layout),
		T(bf16_takes_32_bytes_a_pixel_and_plane),
		T(bfp8_b_in_l1_has_the_exponents_of_all_planes_first),
		T(in_dram_every_plane_is_a_page_with_its_own_exponents),
		T(in_dram_a_large_plane_has_pages_no_smaller_than_l1),
		T(column_phases_put_every_pth_column_side_by_side),
		T(no_two_pixels_share_a_byte_and_none_is_lost),
		T(the_pitch_holds_lead_columns_and_pad),
		T(the_limits_of_the_device_are_named),
		T(what_stands_in_dram_is_not_bound_by_descriptors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
