/*
 * Rents: what bytes of L1 cost during each step, so that the bound of search_bound.c
 * is high. Where the tree's best solution uses more than there is the rent goes up,
 * where it uses less it goes down (a subgradient method with Polyak's steps). Whatever
 * comes of it is a bound; the better one is kept. Whole numbers, so many rounds.
 */
#include "passes/search_walk.h"

#include <string.h>

enum { PATIENCE = 3, SCALE = 1024 };

static void set_rents(Space *s, const int64_t *of)
{
	for (int i = 0; i < s->bare->nsteps; i++)
		s->rents[i + 1] = s->rents[i] + of[i];
	const int64_t sum = s->rents[s->bare->nsteps];
	const int64_t part = ((int64_t)1 << RENT_SHIFT) - 1;
	s->rent_of_all = (sum * s->room + part) >> RENT_SHIFT;
}

static int64_t bound_with(Space *s, const int64_t *rents)
{
	set_rents(s, rents);
	bound_nodes(s);
	return bound_tree(s) - s->rent_of_all;
}

/* Up where more is used than there is, down elsewhere; false if nothing changes. */
static bool adjust(const Space *s, int64_t *rents, const int64_t *used, int64_t gap)
{
	const int64_t most = MOST_RENT / (s->bare->nsteps + 1);
	int64_t squares = 0;
	bool any = false;
	for (int i = 0; i < s->bare->nsteps; i++) {
		const int64_t over = (used[i] - s->room) / SCALE;
		if (over > 0 || rents[i])
			squares += over * over;
	}
	for (int i = 0; i < s->bare->nsteps && squares; i++) {
		const int64_t over = (used[i] - s->room) / SCALE, was = rents[i];
		rents[i] += gap * SCALE / squares * over;
		rents[i] = rents[i] > most ? most : rents[i] > 0 ? rents[i] : 0;
		any |= rents[i] != was;
	}
	return any;
}

int64_t rent_search(Space *s, int64_t bound, int64_t most, int rounds)
{
	const size_t n = (size_t)s->bare->nsteps + 1;
	int64_t *rents = arena_array(s->arena, int64_t, n);
	int64_t *best = arena_array(s->arena, int64_t, n);
	int64_t *used = arena_array(s->arena, int64_t, n);
	int *shades = arena_array(s->arena, int, s->bare->ntensors + 1);
	for (int i = 0; i + 1 < (int)n; i++)
		best[i] = rents[i] = s->rents[i + 1] - s->rents[i];
	int64_t high = bound, now = bound;
	int waited = 0, part = 1;
	for (int i = 0; i < rounds && high < most && high < NO_WAY / 2; i++) {
		memset(used, 0, n * sizeof *used);
		bound_solution(s, shades);
		bound_uses(s, shades, used);
		if (!adjust(s, rents, used, (most - now) / part))
			break; /* rents are as they were */
		now = bound_with(s, rents);
		if (now > high) {
			high = now;
			waited = 0;
			memcpy(best, rents, n * sizeof *best);
		} else if (++waited == PATIENCE) {
			waited = 0;
			part *= 2;
			memcpy(rents, best, n * sizeof *rents);
			now = bound_with(s, rents);
		}
	}
	return memcmp(rents, best, n * sizeof *rents) == 0 ? high : bound_with(s, best);
}
