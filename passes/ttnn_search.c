/*
 * Op by op, the cheapest way to each state: where every tensor that is still needed
 * lies. What an op takes and whether it fits depends on the state alone, so nothing but
 * the cheapest way to it is worth remembering, and the last state's is the best plan.
 */
#include "passes/ttnn_search.h"

#include <stdlib.h>
#include <string.h>

#include "passes/ttnn_time.h"

enum { MOST_LIVE = 64 };

typedef struct Label {
	int64_t ps;
	int from;          /* label of the step before */
	TtnnChoice choice;
	int *places;       /* packed, of the live tensors in order */
} Label;

typedef struct Step {
	int n, nlive;
	int live[MOST_LIVE]; /* nodes */
	Label *labels;
} Step;

typedef struct Walk {
	TtnnSearch *s;
	int i;               /* the node at hand */
	const Step *before;
	Step *now;
	int from;            /* label of `before` */
	int key[MOST_LIVE];  /* places of what lives on, without the result's */
	int at;              /* where the result's goes; -1: nobody reads it */
	IntMap known;
} Walk;

int ttnn_pack(const TtnnPlace *p)
{
	return (int)p->shard | p->rows << 2 | p->planes << 12 | (int)p->type << 22
		| (int)p->layout << 23 | (int)p->whole << 24 | (int)p->parked << 25;
}

TtnnPlace ttnn_unpack(int v)
{
	return (TtnnPlace){ v & 3, v >> 2 & 1023, v >> 12 & 1023, v >> 22 & 1, v >> 23 & 1,
			    v >> 24 & 1, v >> 25 & 1 };
}

TtnnInput ttnn_input(const TtnnSearch *s, int i, int k, TtnnPlace place)
{
	const int node = s->nodes[i].in[k];
	if (place.parked && node != i - 1)
		place.shard = TTNN_DRAM;
	const bool dies = s->nodes[node].last == i || place.parked;
	place.parked = false;
	return (TtnnInput){ s->nodes[node].op, place, dies };
}

static void keep(void *context, const TtnnWay *way)
{
	Walk *w = context;
	Step *to = w->now;
	const Label *before = &w->before->labels[w->from];
	const int64_t gap = ttnn_cost(w->s->t, TTNN_COST_GAP) * 1000;
	const int64_t ps = before->ps + way->run.ps + way->run.programs * gap;
	const int place = ttnn_pack(&way->run.out);
	const int64_t *rest = intmap_get(&w->s->to_go[w->i], &place, 1);
	if (rest && w->s->limit && ps + *rest > w->s->limit)
		return;
	if (w->at >= 0)
		w->key[w->at] = place;
	Label *l = intmap_get(&w->known, w->key, to->nlive);
	if (l && l->ps <= ps)
		return;
	if (!l) {
		/* Labels stay where they are until the step is done. */
		l = arena_new(w->s->arena, Label);
		l->places = arena_array(w->s->arena, int, to->nlive ? to->nlive : 1);
		memcpy(l->places, w->key, (size_t)to->nlive * sizeof *w->key);
		intmap_put(&w->known, w->key, to->nlive, l);
	}
	l->ps = ps;
	l->from = w->from;
	l->choice = way->choice;
}

static int by_cost(const void *a, const void *b)
{
	const Label *x = *(Label *const *)a, *y = *(Label *const *)b;
	return x->ps != y->ps ? (x->ps < y->ps ? -1 : 1) : x->from - y->from;
}

/* The cheapest of what was found; false: some are left out. */
static bool take_labels(Walk *w)
{
	Label **all = arena_array(w->s->arena, Label *, w->known.used + 1);
	size_t n = 0;
	for (size_t i = 0; i < w->known.cap; i++)
		if (w->known.slots[i].value)
			all[n++] = w->known.slots[i].value;
	qsort(all, n, sizeof(Label *), by_cost);
	const bool fits = n <= (size_t)w->s->most;
	w->now->n = fits ? (int)n : w->s->most;
	w->now->labels = arena_array(w->s->arena, Label, w->now->n + 1);
	for (int i = 0; i < w->now->n; i++)
		w->now->labels[i] = *all[i];
	return fits;
}

/* What lives behind node i, in the order of the nodes. */
static bool find_live(Walk *w)
{
	const TtnnSearch *s = w->s;
	w->at = -1;
	w->now->nlive = 0;
	for (int j = 0; j <= w->i; j++) {
		if (s->nodes[j].last <= w->i || s->nodes[j].last == j)
			continue;
		if (w->now->nlive == MOST_LIVE)
			return false;
		if (j == w->i)
			w->at = w->now->nlive;
		w->now->live[w->now->nlive++] = j;
	}
	return true;
}

static bool reads(const TtnnNode *n, int node)
{
	for (int k = 0; k < n->nin; k++)
		if (n->in[k] == node)
			return true;
	return false;
}

/* All ways from one label. */
static void advance(Walk *w, int64_t *least)
{
	TtnnSearch *s = w->s;
	const TtnnNode *n = &s->nodes[w->i];
	const int *places = w->before->labels[w->from].places;
	TtnnInput *in = arena_array(s->arena, TtnnInput, n->nin + 1);
	int64_t base = 0;
	for (int l = 0, k = 0; l < w->before->nlive; l++) {
		const int node = w->before->live[l];
		const TtnnPlace p = ttnn_unpack(places[l]);
		for (int j = 0; j < n->nin; j++)
			if (n->in[j] == node)
				in[j] = ttnn_input(s, w->i, j, p);
		if (!reads(n, node) && !p.parked)
			base += ttnn_place_bytes(s->nodes[node].op, &p);
		/* What is in DRAM has forgotten its cores. */
		const TtnnPlace parked = { .shard = TTNN_DRAM, .type = p.type, .layout = p.layout,
					   .whole = p.whole, .parked = true };
		if (s->nodes[node].last > w->i)
			w->key[k++] = p.parked ? ttnn_pack(&parked) : places[l];
	}
	ttnn_ways(s, w->i, in, base, keep, w, least);
}

static TtnnChoice *trace_back(const TtnnSearch *s, const Step *steps)
{
	TtnnChoice *c = arena_array(s->arena, TtnnChoice, s->n);
	for (int i = s->n - 1, at = 0; i >= 0; i--) {
		const Label *l = &steps[i + 1].labels[at];
		c[i] = l->choice;
		at = l->from;
	}
	return c;
}

static TtnnChoice *walk(TtnnSearch *s, bool *best, int *stuck, int64_t *needs, int64_t *ps)
{
	Label start = { 0 };
	Step *steps = arena_array(s->arena, Step, s->n + 1);
	steps[0] = (Step){ .n = 1, .labels = &start };
	*best = true;
	for (int i = 0; i < s->n; i++) {
		Walk w = { .s = s, .i = i, .before = &steps[i], .now = &steps[i + 1] };
		*needs = INT64_MAX;
		*stuck = i;
		intmap_init(&w.known, s->arena);
		if (!find_live(&w))
			return NULL;
		for (w.from = 0; w.from < steps[i].n; w.from++)
			advance(&w, needs);
		*best = take_labels(&w) && *best;
		if (!steps[i + 1].n)
			return NULL;
	}
	*ps = steps[s->n].labels[0].ps;
	return trace_back(s, steps);
}

TtnnChoice *ttnn_search(TtnnSearch *s, bool *best, int *stuck, int64_t *needs)
{
	const int most = s->most;
	int64_t ps = 0, quick = 0;
	ttnn_bound(s);
	/* A quick walk says what need not be gone into. */
	s->limit = 0;
	s->most = most < s->quick ? most : s->quick;
	TtnnChoice *first = walk(s, best, stuck, needs, &quick);
	s->most = most;
	if (*best)
		return first;
	s->limit = quick;
	TtnnChoice *choices = walk(s, best, stuck, needs, &ps);
	*best = *best && choices;
	return choices ? choices : first;
}
