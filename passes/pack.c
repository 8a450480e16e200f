#include "passes/pack.h"

#include <stdlib.h>
#include <string.h>

#include "ir/arena.h"

enum {
	BUMPS = 60,           /* orders tried from each of those below */
	SWEEP = 1500000,      /* boxes looked at, each way */
	SEARCH = 6000000,     /* times of boxes looked at */
};

typedef struct Packer {
	Box *v; /* one of the ways tried */
	Box *best;
	int n;
	int64_t room, end; /* of the best */
	int64_t *load;     /* of each box: most bytes that live at a time with it */
	int *order, *below; /* boxes by turn; those placed, by offset */
} Packer;

/* Bytes that live when a box is born: there is most at some birth. */
static int64_t bytes_at(const Packer *p, int t)
{
	int64_t sum = 0;
	for (int i = 0; i < p->n; i++)
		if (p->v[i].born <= t && t <= p->v[i].dies)
			sum += p->v[i].bytes;
	return sum;
}

/* The lowest offset where a box meets none of those placed. */
static int64_t lowest(const Packer *p, int placed, const Box *me)
{
	int64_t at = 0;
	for (int i = 0; i < placed; i++) {
		const Box *o = &p->v[p->below[i]];
		if (!box_meets(me, o))
			continue;
		if (o->at - at >= me->bytes)
			break;
		at = o->at + o->bytes > at ? o->at + o->bytes : at;
	}
	return at;
}

/* In the order at hand; which turn was the first that did not fit, or -1. */
static int place(Packer *p)
{
	int64_t end = 0;
	int failed = -1;
	for (int turn = 0; turn < p->n; turn++) {
		Box *me = &p->v[p->order[turn]];
		me->at = lowest(p, turn, me);
		int i = turn;
		for (; i > 0 && p->v[p->below[i - 1]].at > me->at; i--)
			p->below[i] = p->below[i - 1];
		p->below[i] = p->order[turn];
		end = me->at + me->bytes > end ? me->at + me->bytes : end;
		if (failed < 0 && me->at + me->bytes > p->room)
			failed = turn;
	}
	if (end < p->end) {
		p->end = end;
		memcpy(p->best, p->v, sizeof *p->v * (size_t)p->n);
	}
	return failed;
}

/* By what boxes come early: the greater the earlier. */
typedef enum By { BY_BYTES, BY_AREA, BY_LIFE, BY_BIRTH, BY_LOAD, BY_COUNT } By;

static int64_t weight(const Packer *p, By by, int box)
{
	const Box *b = &p->v[box];
	const int64_t life = (int64_t)b->dies - b->born + 1;
	switch (by) {
	case BY_BYTES:
		return b->bytes;
	case BY_AREA:
		return b->bytes * life;
	case BY_LIFE:
		return life;
	case BY_BIRTH:
		return -b->born;
	case BY_LOAD:
	case BY_COUNT:
		break;
	}
	return p->load[box];
}

/* Boxes of the same weight: the larger, then the first. */
static void sort(Packer *p, By by)
{
	for (int i = 0; i < p->n; i++) {
		const int64_t mine = weight(p, by, i);
		int k = i;
		for (; k > 0; k--) {
			const int64_t its = weight(p, by, p->order[k - 1]);
			const int64_t more = p->v[i].bytes - p->v[p->order[k - 1]].bytes;
			if (its > mine || (its == mine && more <= 0))
				break;
			p->order[k] = p->order[k - 1];
		}
		p->order[k] = i;
	}
}

/* A box that did not fit comes twice as early. */
static void bump(Packer *p, int turn)
{
	const int box = p->order[turn], to = turn / 2;
	for (int i = turn; i > to; i--)
		p->order[i] = p->order[i - 1];
	p->order[to] = box;
}

static void try_orders(Packer *p, int bumps)
{
	for (By by = BY_BYTES; by < BY_COUNT; by++) {
		sort(p, by);
		for (int i = 0, failed = 0; i <= bumps; i++) {
			if (i > 0)
				bump(p, failed);
			failed = place(p);
			if (failed < 0)
				return;
		}
	}
}

/* The load of every box, and the most of all. */
static int64_t set_loads(Packer *p, int64_t *births)
{
	int64_t most = 0;
	for (int i = 0; i < p->n; i++)
		births[i] = bytes_at(p, p->v[i].born);
	for (int i = 0; i < p->n; i++) {
		for (int k = 0; k < p->n; k++) {
			const int at = p->v[k].born;
			if (p->v[i].born <= at && at <= p->v[i].dies && births[k] > p->load[i])
				p->load[i] = births[k];
		}
		most = p->load[i] > most ? p->load[i] : most;
	}
	return most;
}

/* The first time becomes the last. */
static void turn_around(Box *v, int n)
{
	for (int i = 0; i < n; i++) {
		const int born = v[i].born;
		v[i].born = -v[i].dies;
		v[i].dies = -born;
	}
}

static bool along_time(Box *v, int n, int64_t room)
{
	if (pack_sweep(v, n, room, SWEEP))
		return true;
	turn_around(v, n);
	const bool found = pack_sweep(v, n, room, SWEEP);
	turn_around(v, n);
	return found;
}

bool pack_boxes(Box *v, int n, int64_t room, int64_t *end, int *blame)
{
	Arena *a = arena_create();
	Packer p = { .v = arena_array(a, Box, n + 1), .best = v, .n = n, .room = room,
		     .end = INT64_MAX, .load = arena_array(a, int64_t, n + 1),
		     .order = arena_array(a, int, n + 1), .below = arena_array(a, int, n + 1) };
	bool ended;
	if (n)
		memcpy(p.v, v, sizeof *v * (size_t)n);
	const bool hopeless = set_loads(&p, arena_array(a, int64_t, n + 1)) > room;
	*end = *blame = 0;
	try_orders(&p, hopeless ? 0 : BUMPS);
	if (p.end > room && n && !hopeless && !along_time(v, n, room))
		pack_search(v, n, room, SEARCH, &ended);
	arena_destroy(a);
	for (int i = 0; i < n; i++)
		if (v[i].at + v[i].bytes > *end) {
			*end = v[i].at + v[i].bytes;
			*blame = i;
		}
	return *end <= room;
}
