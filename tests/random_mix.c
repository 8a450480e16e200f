/*
 * Ops that map rows and columns (spatial_ops.h), between others so that no edge
 * takes them over. Of integer nets those whose coefficients are 1, or parts of 16:
 * these come out exact.
 */
#include "passes/spatial_map.h"
#include "tests/ops.h"
#include "tests/spatial_ops.h"

static const OpKind kinds[] = { OP_RESIZE, OP_AVG_POOL, OP_PAD, OP_SLICE };

/* Does every index copy one, or none? */
static bool is_move(const AxisMap *m)
{
	for (int o = 0; o < m->out; o++)
		if (m->sums[o].nterms > 1 || (m->sums[o].nterms && m->sums[o].terms[0].coef != 1))
			return false;
	return true;
}

static bool power_of_two(double c, double least)
{
	double part = 1;
	while (part > c && part > least)
		part /= 2;
	return part == c;
}

/* Are all coefficients multiples of 1/4, and no sum of them above 1? */
static bool is_exact(const AxisMap *m)
{
	for (int o = 0; o < m->out; o++) {
		double sum = 0;
		for (int k = 0; k < m->sums[o].nterms; k++) {
			const double c = m->sums[o].terms[k].coef;
			if (c != 0.75 && !power_of_two(c, 0.25))
				return false;
			sum += c;
		}
		if (sum > 1)
			return false;
	}
	return true;
}

static double most_gain(const AxisMap *m)
{
	double most = 0;
	for (int o = 0; o < m->out; o++) {
		double sum = 0;
		for (int k = 0; k < m->sums[o].nterms; k++) {
			const double c = m->sums[o].terms[k].coef;
			sum += c < 0 ? -c : c;
		}
		most = sum > most ? sum : most;
	}
	return most;
}

/* Is what this seed makes right, and fit for the net? Then its gain, else 0; and
 * how often it rounds: coefficients, and what each of at most two steps stores. */
static double fits(const OpNet *n, Rng r, Shape shape, int *roundings)
{
	Arena *a = arena_create();
	FILE *nowhere = fopen("/dev/null", "w");
	Diag d = { .to = nowhere };
	Graph *g = graph_create(a, &d, "try");
	Op *x = graph_insert(g, NULL, OP_INPUT, "x", 0, NULL);
	AxisMap map[2];
	const char *why;
	double gain = 0;
	x->dtype = TYPE_F32;
	x->shape = shape;
	const OpKind kind = kinds[rng_below(&r, 4)];
	Op *op = op_infer(g, x) ? spatial_op(a, g, &r, kind, x, 120) : NULL;
	if (op && op->shape.dim[3] < 300 && spatial_maps(a, op, map, &why) &&
	    (!n->choice.integers || (is_exact(&map[0]) && is_exact(&map[1])))) {
		gain = most_gain(&map[0]) * most_gain(&map[1]);
		*roundings = is_move(&map[0]) && is_move(&map[1]) ? 0 : 4;
	}
	diag_finish(&d);
	fclose(nowhere);
	arena_destroy(a);
	return gain;
}

Op *ops_mix(OpNet *n)
{
	const int64_t channels = ops_pick(n, 1, 100);
	const int64_t wide = ops_pick(n, 0, 7) ? 90 : 250;
	Op *x = ops_input(n, channels, ops_pick(n, 1, 14), ops_pick(n, 1, wide));
	const bool before = ops_pick(n, 0, 1);
	if (before)
		x = ops_done(n, ops_insert(n, OP_RELU, x));
	double gain;
	while ((gain = fits(n, n->rng, x->shape, &n->roundings)) == 0)
		rng_next(&n->rng);
	const OpKind kind = kinds[rng_below(&n->rng, 4)];
	Op *y = ops_done(n, spatial_op(n->g->arena, n->g, &n->rng, kind, x, 120));
	n->scale = 2 * gain;
	if (before)
		return y;
	const OpKind act = n->choice.integers || ops_pick(n, 0, 1) ? OP_RELU : OP_SIGMOID;
	n->roundings += act == OP_SIGMOID;
	return ops_done(n, ops_insert(n, act, y));
}
