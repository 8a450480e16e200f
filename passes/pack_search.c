/*
 * Packing by trying everything.
 *
 * If boxes can be packed, they can with the least sum of offsets, and then none
 * can be moved down. Taken from the lowest up (by offset, then number) each lies
 * on the highest of those before it that it meets. So it is enough to choose who
 * is next, at the height the others left where it lives (the skyline), not below
 * the last one. And nobody is next as long as another box has room below it: that
 * one could be moved down.
 *
 * A choice is given up when the bytes that are left of some time, on top of the
 * lowest place that any of them finds, do not fit any more.
 */
#include "passes/pack.h"

#include <stdlib.h>

typedef struct Search {
	const Box *v;
	int n, times; /* times that differ: births */
	const int *first, *last; /* of each box */
	int64_t *at;  /* -1: not yet */
	int64_t room;
	int64_t *sky, *left; /* of each time: highest end; bytes of boxes to come, */
	int64_t *base;       /* and the lowest that one of them can lie */
	int *turns;   /* room for the candidates of each depth */
	int by;       /* which of two that may come next comes first */
	int64_t work;
} Search;

static int64_t skyline(Search *s, int i)
{
	int64_t high = 0;
	for (int t = s->first[i]; t <= s->last[i]; t++)
		high = s->sky[t] > high ? s->sky[t] : high;
	s->work -= s->last[i] - s->first[i] + 1;
	return high;
}

/* The lowest that a box to come can lie at some time, and all others on top of it:
 * is that too high? */
static bool is_hopeless(Search *s, int64_t floor, const int64_t *heights)
{
	for (int t = 0; t < s->times; t++)
		s->base[t] = INT64_MAX;
	for (int i = 0; i < s->n; i++) {
		const int64_t at = heights[i] > floor ? heights[i] : floor;
		for (int t = s->first[i]; s->at[i] < 0 && t <= s->last[i]; t++)
			s->base[t] = at < s->base[t] ? at : s->base[t];
	}
	for (int t = 0; t < s->times; t++)
		if (s->left[t] && s->base[t] > s->room - s->left[t])
			return true;
	return false;
}

/* Lower first; then the longer life, or the larger, or the larger of both. */
static bool is_sooner(const Search *s, int a, int64_t at, int b, int64_t bt)
{
	const int64_t la = s->last[a] - s->first[a] + 1, lb = s->last[b] - s->first[b] + 1;
	const int64_t ba = s->v[a].bytes, bb = s->v[b].bytes;
	if (at != bt)
		return at < bt;
	if (s->by == 0 && la != lb)
		return la > lb;
	if (s->by == 1 && ba != bb)
		return ba > bb;
	return la * ba > lb * bb;
}

/* Who may come next, at which height; how many. */
static int candidates(Search *s, int64_t floor, int last, int *turns, int64_t *heights)
{
	int64_t most = INT64_MAX; /* below which some box could lie */
	int n = 0;
	for (int i = 0; i < s->n; i++) {
		if (s->at[i] >= 0)
			continue;
		const int64_t at = skyline(s, i);
		heights[i] = at;
		most = at + s->v[i].bytes < most ? at + s->v[i].bytes : most;
	}
	s->work -= s->n + s->times;
	if (is_hopeless(s, floor, heights))
		return 0;
	for (int i = 0; i < s->n; i++) {
		const int64_t at = heights[i];
		if (s->at[i] >= 0 || at >= most || at < floor || (at == floor && i <= last))
			continue;
		int k = n++;
		for (; k > 0 && is_sooner(s, i, at, turns[k - 1], heights[turns[k - 1]]); k--)
			turns[k] = turns[k - 1];
		turns[k] = i;
	}
	return n;
}

static void put(Search *s, int i, int64_t at)
{
	s->at[i] = at;
	for (int t = s->first[i]; t <= s->last[i]; t++) {
		s->sky[t] = at + s->v[i].bytes;
		s->left[t] -= s->v[i].bytes;
	}
}

/* Boxes of the same size and life go by number. */
static bool is_second(const Search *s, int i)
{
	for (int k = 0; k < i; k++)
		if (s->at[k] < 0 && s->v[k].bytes == s->v[i].bytes && s->first[k] == s->first[i]
		    && s->last[k] == s->last[i])
			return true;
	return false;
}

static bool search(Search *s, int depth, int64_t floor, int last)
{
	int *turns = s->turns + (int64_t)depth * s->n;
	if (depth == s->n)
		return true;
	if (s->work < 0)
		return false;
	int64_t *heights = xmalloc(sizeof *heights * (size_t)(s->n + s->times));
	int64_t *was = heights + s->n;
	const int n = candidates(s, floor, last, turns, heights);
	bool found = false;
	for (int k = 0; k < n && !found; k++) {
		const int i = turns[k];
		if (is_second(s, i))
			continue;
		for (int t = s->first[i]; t <= s->last[i]; t++)
			was[t] = s->sky[t];
		put(s, i, heights[i]);
		found = search(s, depth + 1, heights[i], i);
		if (found)
			break;
		s->at[i] = -1;
		for (int t = s->first[i]; t <= s->last[i]; t++) {
			s->sky[t] = was[t];
			s->left[t] += s->v[i].bytes;
		}
	}
	free(heights);
	return found;
}

static bool search_by(Search *s, int by, int64_t work)
{
	s->by = by;
	s->work = work;
	for (int t = 0; t < s->times; t++)
		s->sky[t] = s->left[t] = 0;
	for (int i = 0; i < s->n; i++) {
		s->at[i] = -1;
		for (int t = s->first[i]; t <= s->last[i]; t++)
			s->left[t] += s->v[i].bytes;
	}
	return search(s, 0, 0, -1);
}

bool pack_search(Box *v, int n, int64_t room, int64_t work, bool *ended)
{
	Arena *a = arena_create();
	Search s = { .v = v, .n = n, .room = room };
	bool found = false;
	const PackTimes when = pack_times(a, v, n);
	s.first = when.first;
	s.last = when.last;
	s.times = when.n;
	s.at = arena_array(a, int64_t, n + 1);
	s.sky = arena_array(a, int64_t, n + 1);
	s.left = arena_array(a, int64_t, n + 1);
	s.base = arena_array(a, int64_t, n + 1);
	s.turns = arena_array(a, int, (int64_t)n * n + 1);
	*ended = false;
	for (int by = 0; by < 3 && !found && !*ended; by++) {
		found = search_by(&s, by, work / 3);
		*ended = s.work >= 0;
	}
	for (int i = 0; i < n && found; i++)
		v[i].at = s.at[i];
	arena_destroy(a);
	return found;
}
