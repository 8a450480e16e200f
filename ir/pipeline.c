#include "ir/pipeline.h"

#include <stddef.h>

enum {
	BANKS = 2,
	FIRST_TURNS = 12, /* until it repeats itself; then as many are measured */
	TURNS = 2 * FIRST_TURNS,
	CYCLE = 1000,
};

typedef struct Unpacker {
	const PipelineUnpack *job; /* NULL: idle */
	int64_t setup, left;       /* cycles, then bytes */
} Unpacker;

typedef struct State {
	const Pipeline *p;
	int64_t now;            /* cycle */
	int full[2];            /* banks of SrcA, SrcB that the matrix unit has */
	Unpacker unpacker[2];
	int next_unpack;        /* of a turn */
	int64_t issue_at;       /* cycle the thread goes on */
	bool waited;            /* what is before the next one has been issued */
	int next_product;
	int64_t busy_until;     /* thousandths; of the product under way, if there is one */
	bool busy;
	int turns;
	int64_t turn_end[TURNS];
} State;

static void issue(State *s)
{
	while (s->issue_at <= s->now) {
		const PipelineUnpack *u = &s->p->unpack[s->next_unpack];
		Unpacker *by = &s->unpacker[u->unpacker];
		if (u->before && !s->waited) {
			s->issue_at = s->now + u->before;
			s->waited = true;
			continue;
		}
		if (by->job || s->full[u->unpacker] == BANKS)
			return;
		*by = (Unpacker){ u, s->p->setup, u->bytes };
		s->issue_at = s->now + s->p->setup;
		s->waited = false;
		s->next_unpack = (s->next_unpack + 1) % s->p->unpacks;
	}
}

static void read_l1(State *s)
{
	int active = 0;
	for (int i = 0; i < 2; i++)
		active += s->unpacker[i].job && !s->unpacker[i].setup;
	const int64_t share = s->p->together / 2;
	const int64_t rate = active < 2 || share > s->p->alone ? s->p->alone : share;
	for (int i = 0; i < 2; i++) {
		Unpacker *u = &s->unpacker[i];
		if (!u->job)
			continue;
		if (u->setup) {
			u->setup--;
			continue;
		}
		u->left -= rate;
		if (u->left > 0)
			continue;
		s->full[i] += u->job->hands_over;
		u->job = NULL;
	}
}

/* The next one starts where the last ended if its operands are there. */
static void multiply(State *s)
{
	for (;;) {
		const PipelineProduct *q = &s->p->product[s->next_product];
		if (s->busy && s->busy_until > s->now * CYCLE)
			return;
		if (s->busy) {
			s->full[0] -= q->gives[0];
			s->full[1] -= q->gives[1];
			s->busy = false;
			s->next_product = (s->next_product + 1) % s->p->products;
			if (!s->next_product && s->turns < TURNS)
				s->turn_end[s->turns++] = s->busy_until;
			continue;
		}
		if (!s->full[0] || !s->full[1])
			return;
		if (s->busy_until < (s->now - 1) * CYCLE)
			s->busy_until = s->now * CYCLE;
		s->busy_until += q->cost;
		s->busy = true;
	}
}

int64_t pipeline_turn(const Pipeline *p)
{
	State s = { .p = p };
	for (; s.turns < TURNS; s.now++) {
		multiply(&s);
		issue(&s);
		read_l1(&s);
	}
	return (s.turn_end[TURNS - 1] - s.turn_end[FIRST_TURNS - 1]) / FIRST_TURNS;
}
