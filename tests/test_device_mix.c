/*
 * Mixes of pixels on the strict emulator (and, where TESSERA_TTSIM names it, on
 * the vendor's simulator, for the same bytes), against plain sums.
 */
#include <math.h>
#include <string.h>

#include "backend/program_verify.h"
#include "ir/rng.h"
#include "ir/tensor.h"
#include "tests/check.h"
#include "tests/device_mix.h"

typedef enum Coefs {
	ONES,     /* at most a term each, of 1: moves */
	COUNTS,   /* whole numbers */
	FRACTIONS /* reals below 1 */
} Coefs;

typedef struct Case {
	int cores, channels, in_rows, in_cols, out_rows, out_cols; /* rows of all cores */
	int phases;
	int reach; /* how far from its place an index reads */
	Coefs coefs;
	DevTypes in, out;
	bool stay; /* columns do */
} Case;

static int between(int v, int least, int most)
{
	return v < least ? least : v > most ? most : v;
}

/* Terms near the place of each index; some have none. */
static AxisMap some_map(Fixture *t, Rng *r, int in, int out, int reach, Coefs coefs)
{
	AxisMap m = axis_map(t->arena, in, out);
	for (int o = 0; o < out; o++) {
		const int at = (int)((int64_t)o * in / out);
		int n = (int)rng_below(r, 8) ? 1 : 0;
		n *= coefs == ONES ? 1 : 1 + (int)rng_below(r, 3);
		for (; n; n--) {
			const int off = (int)rng_below(r, 2 * reach + 1) - reach;
			const int from = between(at + off, 0, in - 1);
			const double c = coefs == ONES     ? 1
					 : coefs == COUNTS ? (double)rng_below(r, 3) - 1
							   : (double)rng_below(r, 4001) / 2000 - 1;
			axis_term(t->arena, &m, o, from, c);
		}
	}
	return m;
}

/* Whole numbers that every format holds. */
static float *numbers(Fixture *t, Rng *r, int64_t count, int most)
{
	float *v = arena_array(t->arena, float, count);
	for (int64_t i = 0; i < count; i++)
		v[i] = (float)(int)rng_below(r, 2 * most + 1) - (float)most;
	return v;
}

/* The image as the input has it: column phases stand as channels of their own. */
static float *phased(Fixture *t, const Case *k, const float *image)
{
	const int wide = (k->in_cols + k->phases - 1) / k->phases;
	const int planes = (k->channels + 15) / 16;
	const int64_t count = (int64_t)k->phases * planes * 16 * k->in_rows * wide;
	float *to = arena_array(t->arena, float, count);
	memset(to, 0, sizeof *to * (size_t)count);
	for (int c = 0; c < k->channels; c++)
		for (int y = 0; y < k->in_rows; y++)
			for (int x = 0; x < k->in_cols; x++) {
				const int ch = x % k->phases * planes * 16 + c;
				to[(ch * k->in_rows + y) * wide + x / k->phases] =
					image[(c * k->in_rows + y) * k->in_cols + x];
			}
	return to;
}

static Planes input_planes(Net *n, const Case *k, int halo)
{
	const int wide = (k->in_cols + k->phases - 1) / k->phases;
	const int padded = (k->channels + 15) / 16 * 16;
	const int channels = k->phases == 1 ? k->channels : k->phases * padded;
	const int rows = k->in_rows / k->cores;
	Planes p = net_planes(n, DEV_BF16, channels, rows, wide, k->in == DEV_BF16 ? halo : 0);
	net_input(n, &p);
	if (k->in == DEV_BF16)
		return p;
	Planes q = net_planes(n, DEV_BFP8_B, channels, rows, wide, halo);
	net_window(n, &p, &q, 1, 1, false, false);
	return q;
}

/* What it should be, and the sum of the terms' sizes. */
static double want_at(const Case *k, const AxisMap *rows, const AxisMap *cols, const float *image,
		      int c, int y, int x, double *size)
{
	double sum = 0;
	*size = 0;
	for (int i = 0; i < rows->sums[y].nterms; i++)
		for (int j = 0; j < cols->sums[x].nterms; j++) {
			const AxisTerm *r = &rows->sums[y].terms[i], *q = &cols->sums[x].terms[j];
			const double term = r->coef * q->coef *
					    image[(c * k->in_rows + r->in) * k->in_cols + q->in];
			sum += term;
			*size += fabs(term);
		}
	return sum;
}

/* Whole numbers come out as they are. Otherwise each coefficient is rounded to
 * bf16 (2^-8 of the term), the result once more (2^-8), sums in fp32 (2^-17). */
static void mix_case(Fixture *t, Case k, uint64_t seed)
{
	Rng r = { seed };
	Net *n = net_open(t, k.cores);
	const int halo = k.cores > 1 ? k.reach + 1 : 0;
	const AxisMap rows = some_map(t, &r, k.in_rows, k.out_rows, k.reach, k.coefs);
	const AxisMap cols = k.stay ? axis_identity(t->arena, k.in_cols)
				    : some_map(t, &r, k.in_cols, k.out_cols, k.reach, k.coefs);
	const Mix *m = mix_make(t->arena, &rows, &cols, k.phases);
	const float *image = numbers(t, &r, (int64_t)k.channels * k.in_rows * k.in_cols,
				     k.coefs == COUNTS ? 5 : 100);
	Planes in = input_planes(n, &k, halo);
	Planes out = net_planes(n, k.out, k.channels, k.out_rows / k.cores, k.out_cols, 0);
	const int64_t count = (int64_t)k.channels * k.out_rows * k.out_cols;
	float *got = arena_array(t->arena, float, count);
	net_mix(n, m, &in, &out, 0);
	net_output(n, &out);
	net_run_all(n, &(float *){ phased(t, &k, image) }, got, count);
	assert_int_equal(m->phases, k.coefs == FRACTIONS ? 4 : 2);
	for (int64_t i = 0; i < count; i++) {
		const int x = (int)(i % k.out_cols), y = (int)(i / k.out_cols % k.out_rows);
		const int c = (int)(i / k.out_cols / k.out_rows);
		double size;
		const double want = want_at(&k, &rows, &cols, image, c, y, x, &size);
		const double off = k.coefs == FRACTIONS ? size * (2 * 0x1p-8 + 0x1p-15) : 0;
		if (!(fabs(got[i] - want) <= off))
			fail_msg("channel %d at (%d, %d): %g, not %g +- %g", c, y, x, got[i], want,
				 off);
	}
}

static void pixels_go_where_the_maps_say(void **state)
{
	static const Case cases[] = {
		{ 1, 32, 3, 40, 3, 40, 1, 5, ONES, DEV_BF16, DEV_BF16 },
		{ 1, 100, 4, 33, 7, 70, 1, 9, ONES, DEV_BF16, DEV_BF16 },
		{ 1, 20, 5, 97, 2, 31, 1, 40, ONES, DEV_BF16, DEV_BF16 },
		{ 1, 50, 2, 64, 3, 40, 1, 20, COUNTS, DEV_BF16, DEV_BF16 },
		{ 1, 200, 2, 32, 2, 33, 1, 2, ONES, DEV_BFP8_B, DEV_BFP8_B },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		mix_case(*state, cases[i], 17 + i);
}

static void narrow_images_are_read_no_further(void **state)
{
	static const Case cases[] = {
		{ 1, 1, 1, 1, 1, 1, 1, 0, ONES, DEV_BF16, DEV_BF16 },
		{ 1, 17, 2, 7, 4, 50, 1, 2, COUNTS, DEV_BF16, DEV_BF16 },
		{ 1, 33, 3, 31, 2, 5, 1, 9, ONES, DEV_BFP8_B, DEV_BF16 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		mix_case(*state, cases[i], 5 + i);
}

static void coefficients_are_bf16(void **state)
{
	mix_case(*state, (Case){ 1, 36, 4, 50, 3, 64, 1, 6, FRACTIONS, DEV_BF16, DEV_BF16 }, 3);
}

static void rows_are_summed_where_columns_stay(void **state)
{
	static const Case cases[] = {
		{ 1, 50, 4, 70, 5, 70, 1, 2, COUNTS, DEV_BF16, DEV_BF16, true },
		{ 1, 17, 9, 7, 3, 7, 1, 9, ONES, DEV_BFP8_B, DEV_BFP8_B, true },
		{ 2, 36, 6, 33, 8, 33, 1, 3, FRACTIONS, DEV_BF16, DEV_BF16, true },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		mix_case(*state, cases[i], 41 + i);
}

static void phases_of_the_input_are_terms(void **state)
{
	static const Case cases[] = {
		{ 1, 32, 2, 80, 2, 80, 2, 0, ONES, DEV_BF16, DEV_BF16 },
		{ 1, 40, 3, 77, 3, 50, 3, 6, COUNTS, DEV_BF16, DEV_BF16 },
		{ 1, 48, 2, 21, 2, 21, 2, 1, ONES, DEV_BFP8_B, DEV_BFP8_B },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		mix_case(*state, cases[i], 29 + i);
}

/* Each phase of the result is an op of its own; then back. */
static void columns_go_to_phases_and_back(void **state)
{
	enum { CHANNELS = 40, ROWS = 3, COLS = 71, PHASES = 3, COUNT = CHANNELS * ROWS * COLS };
	Fixture *t = *state;
	Rng r = { 6 };
	Net *n = net_open(t, 1);
	const int wide = (COLS + PHASES - 1) / PHASES;
	const AxisMap rows = axis_identity(t->arena, ROWS), cols = axis_identity(t->arena, COLS);
	Planes in = net_planes(n, DEV_BF16, CHANNELS, ROWS, COLS, 0);
	Planes apart = net_sets(n, DEV_BFP8_B, CHANNELS, ROWS, wide, 0, PHASES);
	Planes out = net_planes(n, DEV_BF16, CHANNELS, ROWS, COLS, 0);
	float *values = numbers(t, &r, COUNT, 100), *got = arena_array(t->arena, float, COUNT);
	net_input(n, &in);
	for (int phase = 0; phase < PHASES; phase++) {
		AxisMap some = axis_map(t->arena, COLS, wide);
		for (int x = phase; x < COLS; x += PHASES)
			axis_term(t->arena, &some, x / PHASES, x, 1);
		net_mix(n, mix_make(t->arena, &rows, &some, 1), &in, &apart, phase * in.planes);
	}
	net_mix(n, mix_make(t->arena, &rows, &cols, PHASES), &apart, &out, 0);
	net_output(n, &out);
	net_run_all(n, &values, got, COUNT);
	assert_memory_equal(got, values, COUNT * sizeof *got);
}

static void cores_share_the_tables(void **state)
{
	mix_case(*state, (Case){ 4, 24, 16, 40, 8, 40, 1, 3, COUNTS, DEV_BF16, DEV_BF16 }, 2);
	mix_case(*state, (Case){ 3, 64, 12, 40, 24, 20, 1, 2, ONES, DEV_BFP8_B, DEV_BF16 }, 2);
}

/* What the verifier says of a small mix, a parameter of which was changed. */
static void refused(Fixture *t, const char *field, uint32_t value, const char *why)
{
	Net *n = net_open(t, 1);
	AxisMap rows = axis_identity(t->arena, 3), cols = axis_identity(t->arena, 40);
	axis_term(t->arena, &cols, 0, 1, 1);
	Planes in = net_planes(n, DEV_BF16, 64, 3, 40, 0);
	Planes out = net_planes(n, DEV_BF16, 64, 3, 40, 0);
	net_input(n, &in);
	net_mix(n, mix_make(t->arena, &rows, &cols, 1), &in, &out, 0);
	program_set_core(n->p, &n->p->ops[1], 0, field, 0, value);
	n->p->dram_free = n->dram;
	for (int i = 0; i < n->p->nbuffers; i++)
		n->p->buffers[i].last = n->p->nops - 1;
	const Target *target = target_load(t->arena, &t->diag, "wormhole_n150");
	if (program_verify(n->p, target, &t->diag))
		fail_msg("%s %u is not refused", field, value);
	const char *said = fixture_said(t);
	if (!strstr(said, why))
		fail_msg("%s", said);
}

static void tables_that_lead_outside_are_refused(void **state)
{
	refused(*state, "in_height", 2, "row term 2: row 2 is not in the input");
	refused(*state, "mix_above", 1, "row term 0: row 0 is not in the input");
	refused(*state, "mix_row", 2, "do not fit a page");
	refused(*state, "in_x", 25, "column term 1: 32 pixels from column 8 of phase 0");
	refused(*state, "mix_tiles_at", 2080, "W tile 1 is not in the page");
	refused(*state, "in_planes", 3, "in_planes 3, out_planes 4");
	refused(*state, "dram_at", 32, "no image holds");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(pixels_go_where_the_maps_say),  CASE(narrow_images_are_read_no_further),
		CASE(coefficients_are_bf16),         CASE(rows_are_summed_where_columns_stay),
		CASE(phases_of_the_input_are_terms), CASE(columns_go_to_phases_and_back),
		CASE(cores_share_the_tables),        CASE(tables_that_lead_outside_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
