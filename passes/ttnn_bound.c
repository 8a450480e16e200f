/*
 * What is left to pay, at least, once an op has left its result in a place: the way
 * through the ops after it that is cheapest if L1 had no end and everybody else's
 * results lay as they are wanted. Never more than what a plan takes, so that a state
 * that comes to more with it than a plan that is known may be dropped. Nothing is known
 * of a graph with an op whose inputs may lie in too many ways together.
 */
#include "passes/ttnn_search.h"

#include "passes/ttnn_time.h"

enum { MOST_COMBINATIONS = 20000 };

typedef struct Edge {
	int from, to; /* places of the node before and of this one; -1: any */
	int64_t ps;
} Edge;

/* The places a node's result may have, and what it takes from one to another. */
typedef struct Reach {
	int n, nedges;
	int *places;
	IntMap known, edges;
	Edge *list;
} Reach;

typedef struct Visit {
	TtnnSearch *s;
	Reach *reach;
	int from;
} Visit;

static int place_number(TtnnSearch *s, Reach *r, int place)
{
	const int *at = intmap_get(&r->known, &place, 1);
	if (at)
		return *at;
	r->places = arena_grow(s->arena, r->places, r->n, sizeof *r->places);
	r->places[r->n] = place;
	int *number = arena_new(s->arena, int);
	*number = r->n;
	intmap_put(&r->known, &place, 1, number);
	return r->n++;
}

static void note_edge(void *context, const TtnnWay *way)
{
	Visit *v = context;
	Reach *r = v->reach;
	const int64_t gap = ttnn_cost(v->s->t, TTNN_COST_GAP) * 1000;
	const int64_t ps = way->run.ps + way->run.programs * gap;
	const int key[2] = { v->from, place_number(v->s, r, ttnn_pack(&way->run.out)) };
	const int *at = intmap_get(&r->edges, key, 2);
	if (at) {
		r->list[*at].ps = ps < r->list[*at].ps ? ps : r->list[*at].ps;
		return;
	}
	int *number = arena_new(v->s->arena, int);
	*number = r->nedges;
	intmap_put(&r->edges, key, 2, number);
	r->list = arena_grow(v->s->arena, r->list, r->nedges, sizeof *r->list);
	r->list[r->nedges++] = (Edge){ key[0], key[1], ps };
}

/* An input's places as node i finds them, each once; with the node's own number of it
 * if that is the one before. */
static int input_places(TtnnSearch *s, const Reach *all, int i, int k, TtnnInput *to, int *from)
{
	const int node = s->nodes[i].in[k];
	IntMap seen;
	int n = 0;
	intmap_init(&seen, s->arena);
	for (int p = 0; p < all[node].n; p++) {
		const TtnnInput in = ttnn_input(s, i, k, ttnn_unpack(all[node].places[p]));
		TtnnPlace at = in.place;
		if (at.shard == TTNN_DRAM)
			at.rows = at.planes = 0;
		const int key[2] = { ttnn_pack(&at), in.dies };
		const bool before = node == i - 1;
		if (!before && intmap_get(&seen, key, 2))
			continue;
		intmap_put(&seen, key, 2, s);
		to[n] = in;
		from[n++] = before ? p : -1;
	}
	return n;
}

/* Every combination of places of the inputs; false if they are too many to look at. */
static bool reach_node(TtnnSearch *s, Reach *all, int i)
{
	const TtnnNode *node = &s->nodes[i];
	const int nin = node->nin;
	TtnnInput **places = arena_array(s->arena, TtnnInput *, nin + 1);
	TtnnInput *in = arena_array(s->arena, TtnnInput, nin + 1);
	int **from = arena_array(s->arena, int *, nin + 1);
	int *n = arena_array(s->arena, int, nin + 1), *at = arena_array(s->arena, int, nin + 1);
	Visit v = { s, &all[i], -1 };
	int64_t least = INT64_MAX, combinations = 1;
	for (int k = 0; k < nin; k++) {
		const int count = all[node->in[k]].n;
		places[k] = arena_array(s->arena, TtnnInput, count + 1);
		from[k] = arena_array(s->arena, int, count + 1);
		n[k] = input_places(s, all, i, k, places[k], from[k]);
		combinations *= n[k];
		if (!n[k] || combinations > MOST_COMBINATIONS)
			return false;
	}
	for (int k = 0; k < nin || !nin;) {
		v.from = -1;
		for (k = 0; k < nin; k++) {
			in[k] = places[k][at[k]];
			v.from = from[k][at[k]] >= 0 ? from[k][at[k]] : v.from;
		}
		ttnn_ways(s, i, in, 0, note_edge, &v, &least);
		for (k = 0; k < nin && ++at[k] == n[k]; k++)
			at[k] = 0;
		if (k == nin)
			break;
	}
	return true;
}

/* Backwards: of each place of node i the cheapest way from there to the end. */
static void add_up(TtnnSearch *s, const Reach *all)
{
	int64_t *after = NULL;
	for (int i = s->n - 1; i >= 0; i--) {
		int64_t *rest = arena_array(s->arena, int64_t, all[i].n + 1);
		for (int p = 0; p < all[i].n; p++)
			rest[p] = i + 1 < s->n ? INT64_MAX / 4 : 0;
		for (int e = 0; i + 1 < s->n && e < all[i + 1].nedges; e++) {
			const Edge *edge = &all[i + 1].list[e];
			const int64_t ps = edge->ps + after[edge->to];
			for (int p = 0; p < all[i].n; p++)
				if ((edge->from < 0 || edge->from == p) && ps < rest[p])
					rest[p] = ps;
		}
		for (int p = 0; p < all[i].n; p++)
			intmap_put(&s->to_go[i], &all[i].places[p], 1, &rest[p]);
		after = rest;
	}
}

void ttnn_bound(TtnnSearch *s)
{
	TtnnSearch endless = *s;
	Reach *all = arena_array(s->arena, Reach, s->n + 1);
	s->to_go = arena_array(s->arena, IntMap, s->n + 1);
	bool known = true;
	endless.room = INT64_MAX;
	for (int i = 0; i < s->n; i++) {
		intmap_init(&s->to_go[i], s->arena);
		intmap_init(&all[i].known, s->arena);
		intmap_init(&all[i].edges, s->arena);
		known = known && reach_node(&endless, all, i);
	}
	s->blocks = endless.blocks;
	if (known)
		add_up(s, all);
}
