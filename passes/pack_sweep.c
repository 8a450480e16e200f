/*
 * Packing from the first time to the last: boxes that are born lie at the bottom
 * or at the top of what is free then. What does not go together shows a few times
 * later, however many boxes there are; that others lie in the middle of what is
 * free is left to the search that tries everything (pack_search.c).
 *
 * Room too small for any box that is still to come at a time is lost to it; more
 * than there is to spare, and another way is tried.
 */
#include "passes/pack.h"

#include <stdlib.h>
#include <string.h>

#include "ir/arena.h"

typedef struct Sweep {
	Box *v;
	int n, times;
	PackTimes when;
	int64_t room, work;
	int64_t *spare; /* of each time: room without the boxes that live then */
	int **live;     /* of each time: boxes that have their place, by offset */
	int *nlive;
	bool *placed;
} Sweep;

typedef struct Gap {
	int64_t at, end;
} Gap;

/* What is free below the k-th of the boxes that live, or (k == nlive) at the top. */
static Gap gap_below(const Sweep *s, int t, int k)
{
	Gap g = { 0, s->room };
	if (k > 0)
		g.at = s->v[s->live[t][k - 1]].at + s->v[s->live[t][k - 1]].bytes;
	if (k < s->nlive[t])
		g.end = s->v[s->live[t][k]].at;
	return g;
}

/* Is more lost in gaps that no box fits in than there is to spare? */
static bool is_lost(const Sweep *s, int t)
{
	int64_t least = INT64_MAX, lost = 0;
	for (int i = 0; i < s->n; i++)
		if (!s->placed[i] && s->when.first[i] == t && s->v[i].bytes < least)
			least = s->v[i].bytes;
	for (int k = 0; k <= s->nlive[t] && least < INT64_MAX; k++) {
		const Gap g = gap_below(s, t, k);
		lost += g.end - g.at < least ? g.end - g.at : 0;
	}
	return lost > s->spare[t];
}

static bool sweep(Sweep *s, int t);

/* Box i in the gap below the k-th, and all that follows. */
static bool put(Sweep *s, int t, int i, int k, int64_t at)
{
	int *live = s->live[t];
	s->v[i].at = at;
	s->placed[i] = true;
	memmove(live + k + 1, live + k, sizeof *live * (size_t)(s->nlive[t]++ - k));
	live[k] = i;
	if (!is_lost(s, t) && sweep(s, t))
		return true;
	memmove(live + k, live + k + 1, sizeof *live * (size_t)(--s->nlive[t] - k));
	s->placed[i] = false;
	return false;
}

static bool next_time(Sweep *s, int t)
{
	s->nlive[t + 1] = 0;
	for (int k = 0; k < s->nlive[t]; k++)
		if (s->when.last[s->live[t][k]] > t)
			s->live[t + 1][s->nlive[t + 1]++] = s->live[t][k];
	return !is_lost(s, t + 1) && sweep(s, t + 1);
}

/* Has one like it, of this time, been tried in its place? */
static bool is_again(const Sweep *s, int i)
{
	for (int k = 0; k < i; k++)
		if (!s->placed[k] && s->when.first[k] == s->when.first[i]
		    && s->when.last[k] == s->when.last[i] && s->v[k].bytes == s->v[i].bytes)
			return true;
	return false;
}

/* Boxes come by length of life, so those that stay lie at the edges. */
static bool sweep(Sweep *s, int t)
{
	bool any = false;
	if (t == s->times)
		return true;
	for (int x = 0; x < s->n; x++) {
		const int i = s->when.longest[x];
		if (s->placed[i] || s->when.first[i] != t || is_again(s, i))
			continue;
		any = true;
		for (int k = 0; k <= s->nlive[t]; k++) {
			const Gap g = gap_below(s, t, k);
			const int64_t top = g.end - s->v[i].bytes;
			s->work -= s->nlive[t] + 1;
			if (top < g.at)
				continue;
			if (s->work < 0)
				return false;
			if (put(s, t, i, k, g.at) || (top > g.at && put(s, t, i, k, top)))
				return true;
		}
	}
	return !any && next_time(s, t);
}

bool pack_sweep(Box *v, int n, int64_t room, int64_t work)
{
	Arena *a = arena_create();
	Sweep s = { .v = arena_array(a, Box, n + 1), .n = n, .room = room, .work = work };
	memcpy(s.v, v, sizeof *v * (size_t)n);
	s.when = pack_times(a, v, n);
	s.times = s.when.n;
	s.spare = arena_array(a, int64_t, s.times + 1);
	s.live = arena_array(a, int *, s.times + 1);
	s.nlive = arena_array(a, int, s.times + 1);
	s.placed = arena_array(a, bool, n + 1);
	for (int t = 0; t <= s.times; t++) {
		s.live[t] = arena_array(a, int, n + 1);
		s.spare[t] = room;
		for (int i = 0; i < n; i++)
			if (s.when.first[i] <= t && t <= s.when.last[i])
				s.spare[t] -= v[i].bytes;
	}
	const bool found = sweep(&s, 0);
	if (found)
		memcpy(v, s.v, sizeof *v * (size_t)n);
	arena_destroy(a);
	return found;
}
