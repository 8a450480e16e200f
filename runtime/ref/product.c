/*
 * The product of weights with windows, in blocks.
 *
 * For PIXELS positions at a time the inputs that the taps meet are laid out
 * as a matrix of doubles, one row per tap and input channel, DEPTH rows at a
 * time; sums[channel][position] then takes up weights * matrix. The weights
 * are laid out beforehand as doubles, CHANNELS output channels side by side.
 * Sums run over rows in order for every element, however the work is cut.
 */
#include "runtime/ref/product.h"

#include <stdlib.h>
#include <string.h>

enum {
	CHANNELS = 4,  /* output channels summed together */
	LANES = 4,     /* positions summed together */
	PIXELS = 64,   /* positions of a block: a multiple of LANES */
	STEPS = PIXELS / LANES,
	DEPTH = 256,   /* rows of the matrix that are in use at a time */
};

/* Positions of a block that lie in one row of the result. */
typedef struct Segment {
	int64_t n, first;      /* of the block's positions */
	int64_t z, y, x;       /* positions along the axes */
} Segment;

typedef struct Blocks {
	const Product *p;
	int64_t rows;          /* of the whole matrix: cin * taps */
	int64_t tiles;         /* groups of CHANNELS output channels */
	int64_t positions, per_group; /* positions, and blocks to cover them */
	double *weights;       /* [groups][tiles][rows][CHANNELS] */
	double *bias;          /* [groups * cout] */
} Blocks;

/* What one thread works with. */
typedef struct Scratch {
	double matrix[STEPS][DEPTH][LANES];
	double sums[][STEPS][CHANNELS][LANES]; /* one per tile */
} Scratch;

static int64_t taps_of(const Product *p)
{
	return p->axis[0].taps * p->axis[1].taps * p->axis[2].taps;
}

/* Which taps of the three axes number `tap` stands for. */
static void split_tap(const Product *p, int64_t tap, int64_t of[SPATIAL])
{
	for (int d = SPATIAL - 1; d >= 0; d--) {
		of[d] = tap % p->axis[d].taps;
		tap /= p->axis[d].taps;
	}
}

static double weight(const Product *p, int64_t group, int64_t o, int64_t i, int64_t tap)
{
	int64_t of[SPATIAL], at;
	double w;
	split_tap(p, tap, of);
	at = p->input_major ? (group * p->cin + i) * p->cout + o
			    : (group * p->cout + o) * p->cin + i;
	for (int d = 0; d < SPATIAL; d++)
		at = at * p->axis[d].kernel + p->axis[d].tap[of[d]];
	ref_load_f64(p->weights, at, 1, 1, &w);
	return w;
}

/* Lays out the weights of tiles from .. to-1, counted over all groups. */
static void lay_out_weights(void *context, int64_t from, int64_t to)
{
	const Blocks *b = context;
	int64_t taps = taps_of(b->p);
	for (int64_t tile = from; tile < to; tile++) {
		double *w = b->weights + tile * b->rows * CHANNELS;
		int64_t first = tile % b->tiles * CHANNELS;
		for (int64_t row = 0; row < b->rows; row++)
			for (int64_t o = first; o < first + CHANNELS; o++)
				*w++ = o >= b->p->cout ? 0
				     : weight(b->p, tile / b->tiles, o, row / taps, row % taps);
	}
}

/* Cuts positions from .. from+n-1 at the ends of rows. */
static int64_t cut(const Product *p, int64_t from, int64_t n, Segment segments[PIXELS])
{
	int64_t count = 0, width = p->axis[2].count, height = p->axis[1].count;
	for (int64_t done = 0; done < n; count++) {
		Segment *s = &segments[count];
		int64_t line = (from + done) / width;
		*s = (Segment){ .first = done, .x = (from + done) % width,
				.y = line % height, .z = line / height };
		s->n = n - done < width - s->x ? n - done : width - s->x;
		done += s->n;
	}
	return count;
}

/* The inputs that a tap meets at the positions of `s`. */
static void meet(const Product *p, int64_t plane, const int64_t of[SPATIAL], const Segment *s,
		 double *to)
{
	const Axis *az = &p->axis[0], *ay = &p->axis[1], *ax = &p->axis[2];
	int64_t z = s->z * az->in_step + az->at[of[0]];
	int64_t y = s->y * ay->in_step + ay->at[of[1]];
	int64_t x = s->x * ax->in_step + ax->at[of[2]];
	int64_t lead, inside = 0;

	if (z >= 0 && z < az->in && y >= 0 && y < ay->in) {
		lead = x >= 0 ? 0 : ref_ceil_div(-x, ax->in_step);
		inside = x >= ax->in ? 0 : ref_ceil_div(ax->in - x, ax->in_step) - lead;
	}
	if (inside <= 0 || lead >= s->n) {
		memset(to, 0, (size_t)s->n * sizeof *to);
		return;
	}
	inside = inside < s->n - lead ? inside : s->n - lead;
	memset(to, 0, (size_t)lead * sizeof *to);
	ref_load_f64(p->x, ((plane * az->in + z) * ay->in + y) * ax->in + x + lead * ax->in_step,
		     ax->in_step, inside, to + lead);
	memset(to + lead + inside, 0, (size_t)(s->n - lead - inside) * sizeof *to);
}

/* Rows row .. row+n-1 of the matrix for one group of one image. */
static void fill_matrix(const Blocks *b, int64_t plane, int64_t row, int64_t n,
			const Segment *segments, int64_t count, Scratch *s)
{
	double line[PIXELS] = { 0 };
	int64_t taps = taps_of(b->p), of[SPATIAL];
	for (int64_t r = 0; r < n; r++) {
		split_tap(b->p, (row + r) % taps, of);
		for (int64_t k = 0; k < count; k++)
			meet(b->p, plane + (row + r) / taps, of, &segments[k],
			     line + segments[k].first);
		for (int64_t lane = 0; lane < STEPS; lane++)
			memcpy(s->matrix[lane][r], line + lane * LANES, sizeof s->matrix[lane][r]);
	}
}

/* sums += weights * matrix, for CHANNELS channels and LANES positions. */
static void multiply(const double *w, const double *matrix, int64_t rows,
		     double sums[CHANNELS][LANES])
{
	double s[CHANNELS][LANES];
	memcpy(s, sums, sizeof s);
	for (int64_t r = 0; r < rows; r++, w += CHANNELS, matrix += LANES)
		for (int c = 0; c < CHANNELS; c++)
			for (int l = 0; l < LANES; l++)
				s[c][l] += w[c] * matrix[l];
	memcpy(sums, s, sizeof s);
}

static void start_sums(const Blocks *b, int64_t channel, int64_t left, double sums[CHANNELS][LANES])
{
	for (int c = 0; c < CHANNELS; c++)
		for (int l = 0; l < LANES; l++)
			sums[c][l] = c < left ? b->bias[channel + c] : 0;
}

/* Writes one channel of a block; `plane` counts planes of the result. */
static void store(const Product *p, int64_t plane, const Segment *segments, int64_t count,
		  const double *line)
{
	const Axis *az = &p->axis[0], *ay = &p->axis[1], *ax = &p->axis[2];
	for (int64_t k = 0; k < count; k++) {
		const Segment *s = &segments[k];
		int64_t z = az->out_from + s->z * az->out_step;
		int64_t y = ay->out_from + s->y * ay->out_step;
		int64_t x = ax->out_from + s->x * ax->out_step;
		ref_store_f64(p->y, ((plane * az->out + z) * ay->out + y) * ax->out + x,
			      ax->out_step, s->n, line + s->first);
	}
}

static void one_block(const Blocks *b, int64_t block, Scratch *s)
{
	const Product *p = b->p;
	int64_t group = block / b->per_group; /* counted over all images */
	int64_t from = block % b->per_group * PIXELS;
	int64_t n = b->positions - from < PIXELS ? b->positions - from : PIXELS;
	int64_t own = group % p->groups * p->cout; /* first output channel */
	int64_t steps = ref_ceil_div(n, LANES);
	Segment segments[PIXELS];
	int64_t count = cut(p, from, n, segments);

	for (int64_t t = 0; t < b->tiles; t++)
		for (int64_t k = 0; k < steps; k++)
			start_sums(b, own + t * CHANNELS, p->cout - t * CHANNELS, s->sums[t][k]);
	for (int64_t row = 0; row < b->rows; row += DEPTH) {
		int64_t depth = b->rows - row < DEPTH ? b->rows - row : DEPTH;
		fill_matrix(b, group * p->cin, row, depth, segments, count, s);
		for (int64_t t = 0; t < b->tiles; t++) {
			const double *w = b->weights +
				((group % p->groups * b->tiles + t) * b->rows + row) * CHANNELS;
			for (int64_t k = 0; k < steps; k++)
				multiply(w, s->matrix[k][0], depth, s->sums[t][k]);
		}
	}
	for (int64_t o = 0; o < p->cout; o++) {
		double line[PIXELS];
		for (int64_t k = 0; k < steps; k++)
			memcpy(line + k * LANES, s->sums[o / CHANNELS][k][o % CHANNELS],
			       LANES * sizeof *line);
		store(p, group * p->cout + o, segments, count, line);
	}
}

static void some_blocks(void *context, int64_t from, int64_t to)
{
	const Blocks *b = context;
	Scratch *s = xmalloc(sizeof *s + (size_t)b->tiles * sizeof s->sums[0]);
	for (int64_t block = from; block < to; block++)
		one_block(b, block, s);
	free(s);
}

static double *zeros(int64_t n)
{
	double *v = xmalloc((size_t)n * sizeof *v);
	for (int64_t i = 0; i < n; i++)
		v[i] = 0;
	return v;
}

void ref_product(const Product *p)
{
	Blocks b = { .p = p, .rows = p->cin * taps_of(p) };
	int64_t channels = p->groups * p->cout;
	b.positions = p->axis[0].count * p->axis[1].count * p->axis[2].count;
	b.per_group = (b.positions + PIXELS - 1) / PIXELS;
	b.tiles = (p->cout + CHANNELS - 1) / CHANNELS;
	if (p->batch * channels * b.positions == 0)
		return;
	b.bias = p->bias ? ref_widen(p->bias) : zeros(channels);
	b.weights = xmalloc((size_t)(p->groups * b.tiles * b.rows * CHANNELS) * sizeof(double));
	ref_parallel(p->threads, p->groups * b.tiles, (double)b.rows * 30, lay_out_weights, &b);
	ref_parallel(p->threads, p->batch * p->groups * b.per_group,
		     (double)(PIXELS * b.rows) * (double)(b.tiles + 1), some_blocks, &b);
	free(b.weights);
	free(b.bias);
}
