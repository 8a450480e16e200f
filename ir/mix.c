#include "ir/mix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "ir/tensor.h"

AxisMap axis_map(Arena *a, int in, int out)
{
	AxisMap m = { .in = in, .out = out, .sums = arena_array(a, struct AxisSum, (size_t)out) };
	memset(m.sums, 0, (size_t)out * sizeof *m.sums);
	return m;
}

void axis_term(Arena *a, AxisMap *m, int out, int in, double coef)
{
	struct AxisSum *s = &m->sums[out];
	assert(in >= 0 && in < m->in && out >= 0 && out < m->out);
	for (int i = 0; i < s->nterms; i++)
		if (s->terms[i].in == in) {
			s->terms[i].coef += coef;
			return;
		}
	if ((s->nterms & (s->nterms - 1)) == 0) { /* full at powers of two */
		AxisTerm *more = arena_array(a, AxisTerm, s->nterms ? 2 * (size_t)s->nterms : 1);
		if (s->nterms)
			memcpy(more, s->terms, (size_t)s->nterms * sizeof *more);
		s->terms = more;
	}
	s->terms[s->nterms++] = (AxisTerm){ in, coef };
}

AxisMap axis_identity(Arena *a, int size)
{
	AxisMap m = axis_map(a, size, size);
	for (int i = 0; i < size; i++)
		axis_term(a, &m, i, i, 1);
	return m;
}

bool axis_is_identity(const AxisMap *m)
{
	bool same = m->in == m->out;
	for (int o = 0; same && o < m->out; o++) {
		const struct AxisSum *s = &m->sums[o];
		same = s->nterms == 1 && s->terms[0].in == o && s->terms[0].coef == 1;
	}
	return same;
}

static int tiles_of(int cols)
{
	return (cols + MIX_RUN - 1) / MIX_RUN;
}

/* Columns of one phase. */
static int phase_cols(const Mix *m, int phase)
{
	return (m->in_cols - phase + m->in_phases - 1) / m->in_phases;
}

/* The place of a matrix that is equal, or that of a new one. */
static int matrix_of(Arena *a, Mix *m, const double matrix[MIX_RUN * MIX_RUN])
{
	const size_t size = MIX_RUN * MIX_RUN;
	for (int i = 0; i < m->nmatrices; i++)
		if (memcmp(m->matrices + (size_t)i * size, matrix, size * sizeof *matrix) == 0)
			return i;
	if ((m->nmatrices & (m->nmatrices - 1)) == 0) {
		double *more =
			arena_array(a, double, size *(m->nmatrices ? 2 * (size_t)m->nmatrices : 1));
		if (m->nmatrices)
			memcpy(more, m->matrices, (size_t)m->nmatrices * size * sizeof *more);
		m->matrices = more;
	}
	memcpy(m->matrices + (size_t)m->nmatrices * size, matrix, size * sizeof *matrix);
	return m->nmatrices++;
}

static int coef_of(Mix *m, double coef)
{
	for (int i = 0; i < m->ncoefs; i++)
		if (m->coefs[i] == coef)
			return i;
	m->coefs[m->ncoefs] = coef;
	return m->ncoefs++;
}

/* The run that begins with the first input column from `from` on that tile t
 * reads of a phase, and its matrix; false if there is none. *end: where to look
 * for the next. */
static bool next_run(const Mix *m, const AxisMap *cols, int t, int phase, int from, MixCol *run,
		     double matrix[MIX_RUN * MIX_RUN], int *end)
{
	const int first = t * MIX_RUN, wide = phase_cols(m, phase);
	const int last = first + MIX_RUN < cols->out ? first + MIX_RUN : cols->out;
	int least = wide;
	for (int o = first; o < last; o++)
		for (int k = 0; k < cols->sums[o].nterms; k++) {
			const int in = cols->sums[o].terms[k].in;
			if (in % m->in_phases == phase && in / m->in_phases >= from &&
			    in / m->in_phases < least)
				least = in / m->in_phases;
		}
	if (least == wide)
		return false;
	const int start = least + MIX_RUN <= wide ? least : wide > MIX_RUN ? wide - MIX_RUN : 0;
	*end = start + MIX_RUN;
	*run = (MixCol){ .start = (uint16_t)start,
			 .pixels = (uint16_t)(wide < MIX_RUN ? wide : MIX_RUN),
			 .phase = (uint16_t)phase };
	memset(matrix, 0, MIX_RUN * MIX_RUN * sizeof *matrix);
	for (int o = first; o < last; o++)
		for (int k = 0; k < cols->sums[o].nterms; k++) {
			const AxisTerm *x = &cols->sums[o].terms[k];
			const int col = x->in / m->in_phases;
			if (x->in % m->in_phases == phase && col >= least && col < *end)
				matrix[(o - first) * MIX_RUN + col - start] = x->coef;
		}
	return true;
}

/* All runs of a tile; counts them, and writes those there is room for. */
static int tile_runs(Arena *a, Mix *m, const AxisMap *cols, int t, MixCol *to, int room)
{
	double matrix[MIX_RUN * MIX_RUN];
	int n = 0;
	for (int phase = 0; phase < m->in_phases; phase++) {
		MixCol run;
		for (int at = 0; next_run(m, cols, t, phase, at, &run, matrix, &at); n++)
			if (n < room) {
				run.tile = (uint16_t)matrix_of(a, m, matrix);
				to[n] = run;
			}
	}
	if (n >= room)
		return n;
	memset(matrix, 0, sizeof matrix);
	const int wide = phase_cols(m, 0);
	MixCol none = { .pixels = (uint16_t)(wide < MIX_RUN ? wide : MIX_RUN) };
	if (n)
		none = to[0];
	none.tile = (uint16_t)matrix_of(a, m, matrix);
	for (int i = n; i < room; i++)
		to[i] = none;
	return n;
}

/* Every tile is the run of its columns. */
static void make_same_cols(Arena *a, Mix *m)
{
	const int tiles = tiles_of(m->out_cols);
	m->col_terms = 1;
	m->cols = arena_array(a, MixCol, (size_t)tiles);
	for (int t = 0; t < tiles; t++) {
		const int left = m->out_cols - t * MIX_RUN;
		m->cols[t] = (MixCol){ .start = (uint16_t)(t * MIX_RUN),
				       .pixels = (uint16_t)(left < MIX_RUN ? left : MIX_RUN) };
	}
}

static void make_cols(Arena *a, Mix *m, const AxisMap *cols)
{
	const int tiles = tiles_of(m->out_cols);
	m->col_terms = 1;
	for (int t = 0; t < tiles; t++) {
		const int n = tile_runs(a, m, cols, t, NULL, 0);
		m->col_terms = n > m->col_terms ? n : m->col_terms;
	}
	m->cols = arena_array(a, MixCol, (size_t)tiles * (size_t)m->col_terms);
	for (int t = 0; t < tiles; t++)
		tile_runs(a, m, cols, t, m->cols + t * m->col_terms, m->col_terms);
}

/* An input row for an output row that reads none. */
static int row_near(const AxisMap *rows, int row)
{
	for (int away = 1; away < rows->out; away++) {
		if (row - away >= 0 && rows->sums[row - away].nterms)
			return rows->sums[row - away].terms[0].in;
		if (row + away < rows->out && rows->sums[row + away].nterms)
			return rows->sums[row + away].terms[0].in;
	}
	return 0;
}

static void make_rows(Arena *a, Mix *m, const AxisMap *rows)
{
	int all = 1;
	m->row_terms = 1;
	for (int y = 0; y < rows->out; y++) {
		const int n = rows->sums[y].nterms;
		m->row_terms = n > m->row_terms ? n : m->row_terms;
		all += n;
	}
	m->rows = arena_array(a, MixRow, (size_t)m->out_rows * (size_t)m->row_terms);
	m->coefs = arena_array(a, double, (size_t)all);
	for (int y = 0; y < rows->out; y++) {
		const struct AxisSum *s = &rows->sums[y];
		for (int k = 0; k < m->row_terms; k++) {
			const int in = k < s->nterms ? s->terms[k].in
				       : s->nterms   ? s->terms[0].in
						     : row_near(rows, y);
			m->rows[y * m->row_terms + k] = (MixRow){
				.row = (uint16_t)in,
				.coef = (uint16_t)coef_of(m, k < s->nterms ? s->terms[k].coef : 0),
			};
		}
	}
}

/* Value v of all matrices, times a coefficient. */
static float weight(const Mix *m, int coef, int v)
{
	return (float)(m->matrices[v] * m->coefs[coef]);
}

/* The matrix unit takes 7 bits of SrcB in a phase. */
static bool seven_bits(float f)
{
	int exponent;
	const float bits = frexpf(f, &exponent) * 128;
	return bits == truncf(bits);
}

Mix *mix_make(Arena *a, const AxisMap *rows, const AxisMap *cols, int in_phases)
{
	Mix *m = arena_new(a, Mix);
	*m = (Mix){ .in_rows = rows->in,
		    .in_cols = cols->in,
		    .in_phases = in_phases,
		    .out_rows = rows->out,
		    .out_cols = cols->out,
		    .across = in_phases != 1 || !axis_is_identity(cols),
		    .phases = 2 };
	if (m->across)
		make_cols(a, m, cols);
	else
		make_same_cols(a, m);
	make_rows(a, m, rows);
	for (int i = 0; i < tiles_of(m->out_cols) * m->col_terms; i++)
		m->cols[i].tile = (uint16_t)(m->cols[i].tile * m->ncoefs);
	for (int c = 0; c < m->ncoefs; c++) {
		if (!m->across && !seven_bits((float)m->coefs[c]))
			m->phases = 4;
		for (int v = 0; v < m->nmatrices * MIX_RUN * MIX_RUN; v++)
			if (!seven_bits(weight(m, c, v)))
				m->phases = 4;
	}
	return m;
}

uint32_t mix_rows_at(const Mix *m)
{
	return (uint32_t)(tiles_of(m->out_cols) * m->col_terms) * (uint32_t)sizeof(MixCol);
}

uint32_t mix_tiles_at(const Mix *m)
{
	const uint32_t rows = (uint32_t)(m->out_rows * m->row_terms) * (uint32_t)sizeof(MixRow);
	return (mix_rows_at(m) + rows + 31) / 32 * 32;
}

uint64_t mix_bytes(const Mix *m)
{
	const uint64_t tiles = (uint64_t)m->nmatrices * (uint64_t)m->ncoefs;
	return mix_tiles_at(m) +
	       (m->across ? tiles * MIX_TILE_BYTES : (uint64_t)m->ncoefs * MIX_ROW_BYTES);
}

static void put_bf16(uint8_t *to, float f)
{
	const uint16_t bits = float_to_bf16(f);
	memcpy(to, &bits, sizeof bits);
}

void mix_pack(const Mix *m, uint8_t *page)
{
	memset(page, 0, mix_bytes(m));
	memcpy(page, m->cols, mix_rows_at(m));
	memcpy(page + mix_rows_at(m), m->rows,
	       (size_t)(m->out_rows * m->row_terms) * sizeof *m->rows);
	uint8_t *to = page + mix_tiles_at(m);
	for (int c = 0; !m->across && c < m->ncoefs; c++)
		for (int i = 0; i < MIX_ROW_BYTES / 2; i++, to += 2)
			put_bf16(to, (float)m->coefs[c]);
	for (int i = 0; i < m->nmatrices * m->ncoefs; i++, to += MIX_TILE_BYTES)
		for (int v = 0; v < MIX_RUN * MIX_RUN; v++) {
			const int out = v / MIX_RUN, in = v % MIX_RUN;
			put_bf16(to + 2 * (in / 16 * 16 * MIX_RUN + out * 16 + in % 16),
				 weight(m, i % m->ncoefs, i / m->ncoefs * MIX_RUN * MIX_RUN + v));
		}
}

void mix_reads(const Mix *m, int first, int end, int *from, int *to)
{
	*from = m->in_rows;
	*to = 0;
	for (int i = first * m->row_terms; i < end * m->row_terms; i++) {
		*from = m->rows[i].row < *from ? m->rows[i].row : *from;
		*to = m->rows[i].row >= *to ? m->rows[i].row + 1 : *to;
	}
}
