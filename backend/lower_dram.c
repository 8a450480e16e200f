/*
 * Where tensors lie in DRAM: in each bank at the same address, two of them at the same
 * if one is through with it before the other begins (program_order.h). One that every
 * core is known to be through with before any writes it again in the next run has one
 * place, else two, for runs in turn.
 */
#include <stdlib.h>

#include "backend/lower.h"
#include "backend/program_order.h"

typedef struct Held {
	PlanTensor *t;
	int number;      /* in order of the plan */
	uint64_t bytes;  /* of a slot, in each bank */
	uint64_t at;
	int first, last; /* ops that use it */
	bool twice;      /* it has two slots */
} Held;

typedef struct Placing {
	Held *v;
	int n;
	ProgramUse *uses; /* by number */
	ProgramOrder order;
} Placing;

static uint64_t slot_bytes(const PlanTensor *t)
{
	const uint32_t last = lower_dram_page(t, t->layout.phases - 1, t->images - 1,
					      t->layout.planes - 1, t->height - 1);
	return (uint64_t)(last / TT_DRAM_BANKS + 1) * lower_page_bytes(t);
}

static uint64_t all_bytes(const Held *h) { return h->twice ? 2 * h->bytes : h->bytes; }

void lower_dram_begin(Lowering *l)
{
	for (int i = 0; i < l->plan->ntensors; i++)
		if (l->plan->tensors[i]->layout.place == PLACE_DRAM)
			l->plan->tensors[i]->layout.address = 0;
}

void lower_dram_moved(Lowering *l, const ProgramOp *op, int core, const PlanTensor *dram)
{
	l->moved = arena_grow(l->arena, l->moved, l->nmoved, sizeof *l->moved);
	l->moved[l->nmoved++] = (LowerMoved){ .op = (int)(op - l->program->ops), .core = core,
					      .move = op->cores[core].nmoves - 1, .dram = dram };
}

static ProgramMove *move_of(const Lowering *l, const LowerMoved *m)
{
	return &l->program->ops[m->op].cores[m->core].moves[m->move];
}

static void find_uses(Lowering *l, Placing *p)
{
	int *number = arena_array(l->arena, int, l->plan->ntensors + 1);
	for (int i = 0; i < p->n; i++) {
		number[p->v[i].t->id] = i;
		p->uses[i] = program_use(l->arena, l->program);
	}
	for (int i = 0; i < l->nmoved; i++) {
		const LowerMoved *m = &l->moved[i];
		const int k = number[m->dram->id];
		Held *h = &p->v[k];
		program_use_add(&p->uses[k], m->core, m->op, move_of(l, m)->out);
		h->first = m->op < h->first ? m->op : h->first;
		h->last = m->op > h->last ? m->op : h->last;
	}
}

/* Nothing of `a` is used any more when `b` begins, in this run and in the next. */
static bool makes_room(const Placing *p, const Held *a, const Held *b)
{
	return a->last < b->first && p->order.same[a->number * p->n + b->number]
		&& p->order.next[b->number * p->n + a->number];
}

static bool may_share(const Placing *p, const Held *a, const Held *b)
{
	return !a->twice && !b->twice && (makes_room(p, a, b) || makes_room(p, b, a));
}

static int largest_first(const void *x, const void *y)
{
	const Held *a = x, *b = y;
	const uint64_t m = all_bytes(a), n = all_bytes(b);
	return m != n ? (m < n ? 1 : -1) : a->number - b->number;
}

/* Is nothing in its way at this place? */
static bool is_free(const Placing *p, const Held *h, uint64_t at, int placed)
{
	for (int i = 0; i < placed; i++) {
		const Held *o = &p->v[i];
		if (at < o->at + all_bytes(o) && o->at < at + all_bytes(h) && !may_share(p, o, h))
			return false;
	}
	return true;
}

/* Each as low as it can lie: at the start, or behind one that is placed. */
static void place(Placing *p)
{
	if (p->n)
		qsort(p->v, (size_t)p->n, sizeof *p->v, largest_first);
	for (int i = 0; i < p->n; i++) {
		Held *h = &p->v[i];
		uint64_t best = UINT64_MAX;
		for (int k = -1; k < i; k++) {
			const uint64_t at = k < 0 ? 0 : p->v[k].at + all_bytes(&p->v[k]);
			if (at < best && is_free(p, h, at, i))
				best = at;
		}
		h->at = best;
	}
}

static void settle(Lowering *l, const Placing *p)
{
	uint64_t end = 0;
	for (int i = 0; i < p->n; i++) {
		const uint64_t behind = p->v[i].at + all_bytes(&p->v[i]);
		end = behind > end ? behind : end;
	}
	const uint64_t base = lower_dram_all(l, end);
	for (int i = 0; i < p->n; i++) {
		const Held *h = &p->v[i];
		ProgramBuffer *b = program_buffer(l->program, h->t->name);
		b->place = PLACE_DRAM;
		b->address = h->t->layout.address = base + h->at;
		b->bytes = all_bytes(h);
		b->first = h->first;
		b->last = h->last;
		for (int k = 0; k < l->nmoved; k++) {
			if (l->moved[k].dram != h->t)
				continue;
			ProgramMove *m = move_of(l, &l->moved[k]);
			m->at += (uint32_t)b->address;
			m->slot_bytes = h->twice ? (uint32_t)h->bytes : 0;
		}
	}
}

void lower_dram_place(Lowering *l)
{
	const Plan *plan = l->plan;
	Placing p = { arena_array(l->arena, Held, plan->ntensors + 1), 0,
		      arena_array(l->arena, ProgramUse, plan->ntensors + 1), { 0 } };
	for (int i = 0; i < plan->ntensors; i++) {
		PlanTensor *t = plan->tensors[i];
		if (t->layout.place == PLACE_DRAM) {
			p.v[p.n] = (Held){ .t = t, .number = p.n, .bytes = slot_bytes(t),
					   .first = l->program->nops - 1 };
			p.n++;
		}
	}
	find_uses(l, &p);
	p.order = program_order(l->arena, l->program, p.uses, p.n);
	for (int i = 0; i < p.n; i++)
		p.v[i].twice = !p.order.next[i * p.n + i];
	place(&p);
	settle(l, &p);
}
