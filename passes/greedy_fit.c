#include "passes/greedy_fit.h"

#include "passes/choice_legal.h"
#include "passes/cost_step.h"
#include "passes/plan_dram.h"

enum {
	MOST_VALUES = 128,
	SHORT_SLICE = 4,      /* times lower than could be */
	FEW_BYTES = 64 << 10, /* of weights */
	PAGE_BYTES = 32 << 10,
};

/* What is small of a way that is good. */
typedef struct Merit {
	int passes, rank, pages;
} Merit;

/* A way to do a step that may turn out to be the best there is. */
typedef struct Fitting {
	const Greedy *g;
	const Plan *p;
	Step x;
	const Step *bare;
	int step;
	int64_t bytes;
	int passes;
	int buffer; /* for slices, unless that is fixed */
	bool found;
	Choice best;
	Merit merit;
} Fitting;

bool greedy_fixed(const Greedy *g, int step, ChoiceField f)
{
	return g->pins && g->pins[step].fixed >> f & 1;
}

bool greedy_may(const Greedy *g, int step, ChoiceField f, int value)
{
	return !greedy_fixed(g, step, f) || choice_get(&g->pins[step].value, f) == value;
}

static int64_t aligned(int64_t n) { return (n + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM; }

int64_t greedy_step_bytes(const Plan *p, Step *x, const Choice *c)
{
	x->slice = c->slice;
	x->single = c->slice_buffer == SLICE_SINGLE;
	if (choice_has(x, CHOICE_k_block))
		plan_set_product(x, c);
	plan_size_step(p, x);
	return aligned(x->weight_bytes) + aligned(x->stream.sums_bytes) + aligned(x->scratch_bytes)
		+ (x->slice ? plan_slice_bytes(p, x) : 0);
}

/* Weights that are few stay; of others, small pages soon follow each other. */
static int rank(const Step *x)
{
	const Stream *w = &x->stream;
	if (w->ring == 0)
		return x->weight_bytes <= FEW_BYTES ? 0 : 3;
	if (w->ring == 2)
		return x->page_bytes <= PAGE_BYTES ? 1 : 2;
	return 4;
}

/* Fewer passes, then a better rank, then fewer pages. */
static void try(Fitting *f, const Choice *c)
{
	if (choice_has(f->bare, CHOICE_k_block) && choice_pages(f->bare, c) > MOST_PAGES)
		return;
	const bool fits = greedy_step_bytes(f->p, &f->x, c) <= f->bytes;
	const Stream *w = &f->x.stream;
	if (!fits || (f->passes && w->passes > f->passes))
		return;
	const Merit m = { w->passes, rank(&f->x), w->chunks };
	const Merit b = f->merit;
	if (f->found && (m.passes != b.passes ? m.passes > b.passes
			 : m.rank != b.rank ? m.rank > b.rank : m.pages >= b.pages))
		return;
	f->found = true;
	f->best = *c;
	f->merit = m;
}

/* What is fixed, or the list. */
static int listed(const Fitting *f, ChoiceField field, int *values, int n)
{
	if (!greedy_fixed(f->g, f->step, field))
		return n;
	values[0] = choice_get(&f->g->pins[f->step].value, field);
	return 1;
}

static void try_rings(Fitting *f, Choice c)
{
	static const int rings[] = { 0, 2, 1 };
	for (int r = 0; r < 3; r++)
		if (choice_ring_ok(f->bare, &c, rings[r])
		    && greedy_may(f->g, f->step, CHOICE_ring, rings[r])) {
			c.ring = rings[r];
			try(f, &c);
		}
}

static void try_products(Fitting *f, Choice c)
{
	int ks[MOST_VALUES], acts[MOST_VALUES];
	c.k_block = c.act_block = 0;
	const int nk = listed(f, CHOICE_k_block, ks, choice_k_blocks(f->bare, &c, ks, MOST_VALUES));
	for (int k = 0; k < nk; k++) {
		c.k_block = ks[k];
		c.act_block = 0;
		const int na = listed(f, CHOICE_act_block, acts,
				      choice_act_blocks(f->bare, &c, acts, MOST_VALUES));
		for (int a = na - 1; a >= 0; a--) {
			c.act_block = acts[a];
			try_rings(f, c);
			if (f->passes == 1 || (f->found && f->merit.rank == 0))
				break; /* others have more of them, or it is as good as can be */
		}
		if (f->found && f->merit.rank == 0)
			return;
	}
}

static void try_ways(Fitting *f, const Choice *c)
{
	if (choice_has(f->bare, CHOICE_k_block))
		try_products(f, *c);
	else
		try(f, c);
}

/* Do the rows of a slice stay within what routines can address? */
static bool is_low(const Fitting *f, int slice)
{
	bool low = slice <= MAX_BAND_ROWS;
	for (int k = 0; k < f->bare->nin && f->bare->out && !f->bare->out->partial; k++) {
		const Region out = { { 0, slice }, { 0, f->bare->out->layout.planes } };
		low &= range_count(step_reads(&f->x, k, out).rows) <= MAX_BAND_ROWS;
	}
	return low;
}

/* The highest slices, as long as they are not much lower than they could be. */
static void try_slices(Fitting *f, Choice c)
{
	int slices[MOST_VALUES];
	const PlanTensor *t = f->x.out ? f->x.out : f->x.in[0].tensor;
	const int n = listed(f, CHOICE_slice, slices,
			     choice_slices(t, t->cut.bands, slices, MOST_VALUES));
	const int passes = f->passes;
	listed(f, CHOICE_slice_buffer, &f->buffer, 1);
	c.slice_buffer = f->buffer;
	f->passes = 1;
	for (int i = n - 1; i >= 0 && !f->found; i--)
		if (slices[i] >= slices[n - 1] / SHORT_SLICE && is_low(f, slices[i])) {
			c.slice = slices[i];
			try_ways(f, &c);
		}
	f->passes = passes;
	for (int i = n - 1; i >= 0 && !f->found; i--)
		if (is_low(f, slices[i])) {
			c.slice = slices[i];
			try_ways(f, &c);
		}
}

static bool fit(Greedy *g, const Plan *p, const Step *x, int step, int64_t bytes, int passes,
		int buffer)
{
	Fitting f = { .g = g, .p = p, .x = *x, .bare = &g->bare->steps[step], .step = step,
		      .bytes = bytes, .passes = passes, .buffer = buffer };
	Choice c = g->choices[step];
	c.slice = 0;
	c.slice_buffer = SLICE_DOUBLE;
	if (choice_is_sliced(g->bare, g->choices, step) != plan_is_sliced(x))
		return true; /* a tensor has moved since: the next plan will tell */
	if (plan_is_sliced(x))
		try_slices(&f, c);
	else
		try_ways(&f, &c);
	if (f.found)
		g->choices[step] = f.best;
	return f.found;
}

bool greedy_fit(Greedy *g, const Plan *p, const Step *x, int step, int64_t bytes, int passes)
{
	return fit(g, p, x, step, bytes, passes, SLICE_DOUBLE);
}

bool greedy_fit_slices(Greedy *g, const Plan *p, const Step *x, int step, int64_t bytes)
{
	Fitting f = { .g = g, .p = p, .x = *x, .bare = &g->bare->steps[step], .step = step,
		      .bytes = bytes };
	CostContext cost = cost_context(p->target);
	const PlanTensor *t = x->out ? x->out : x->in[0].tensor;
	int slices[MOST_VALUES];
	const int n = listed(&f, CHOICE_slice, slices,
			     choice_slices(t, t->cut.bands, slices, MOST_VALUES));
	int64_t least = INT64_MAX;
	Choice best = g->choices[step];
	for (int i = 0; i < 2 * n; i++) {
		Choice c = g->choices[step];
		c.slice = slices[i / 2];
		c.slice_buffer = i % 2 ? SLICE_SINGLE : SLICE_DOUBLE;
		if (!is_low(&f, c.slice)
		    || !greedy_may(g, step, CHOICE_slice_buffer, c.slice_buffer))
			continue;
		f.found = false;
		for (f.passes = 1; f.passes >= 0 && !f.found; f.passes--)
			try_ways(&f, &c);
		if (!f.found)
			continue;
		greedy_step_bytes(p, &f.x, &f.best);
		const int64_t time = cost_work(&cost, p, &f.x).total;
		best = time < least ? f.best : best;
		least = time < least ? time : least;
	}
	g->choices[step] = best;
	return least < INT64_MAX;
}

bool greedy_fit_single(Greedy *g, const Plan *p, const Step *x, int step, int64_t bytes)
{
	return plan_is_sliced(x) && fit(g, p, x, step, bytes, 0, SLICE_SINGLE);
}
