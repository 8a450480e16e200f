/*
 * Addresses in L1: every buffer gets a fixed one, the same on every core.
 *
 * Largest first, each at the lowest address where no buffer that lives at the
 * same time is in its way.
 */
#include "passes/plan.h"

#include <stdlib.h>

typedef struct Buffer {
	int64_t bytes, at;
	int born, dies;
	int order; /* of creation, to break ties */
	uint32_t *address32;
	uint64_t *address64;
} Buffer;

typedef struct Buffers {
	Buffer *v;
	int n;
} Buffers;

static void add(Buffers *b, int64_t bytes, int born, int dies, uint32_t *a32, uint64_t *a64)
{
	if (!bytes)
		return;
	bytes = (bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	b->v[b->n] = (Buffer){ bytes, -1, born, dies, b->n, a32, a64 };
	b->n++;
}

static Buffers collect(Plan *p)
{
	Buffers b = { arena_array(p->graph->arena, Buffer, p->ntensors + 3 * p->nsteps), 0 };
	for (int i = 0; i < p->ntensors; i++) {
		PlanTensor *t = p->tensors[i];
		add(&b, t->bytes, t->born, t->dies, NULL, &t->layout.address);
	}
	for (int i = 0; i < p->nsteps; i++) {
		Step *s = &p->steps[i];
		add(&b, s->weight_bytes, i - s->stream.early, i, &s->weight_address, NULL);
		add(&b, s->stream.sums_bytes, i, i, &s->stream.sums_address, NULL);
		add(&b, s->scratch_bytes, i, i, &s->scratch_address, NULL);
	}
	return b;
}

static int larger_first(const void *a, const void *b)
{
	const Buffer *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x->order - y->order;
}

static bool meet(const Buffer *a, const Buffer *b)
{
	return a->born <= b->dies && b->born <= a->dies;
}

/* The lowest address at which buffer i meets none of those placed before it. */
static int64_t lowest(const Buffers *b, int i, int64_t first)
{
	const Buffer *me = &b->v[i];
	int64_t at = first;
	for (bool moved = true; moved;) {
		moved = false;
		for (int k = 0; k < i; k++) {
			const Buffer *o = &b->v[k];
			if (meet(me, o) && at < o->at + o->bytes && o->at < at + me->bytes) {
				at = o->at + o->bytes;
				moved = true;
			}
		}
	}
	return at;
}

static void find_peak(Plan *p, const Buffers *b)
{
	for (int s = 0; s < p->nsteps; s++) {
		int64_t sum = 0;
		for (int i = 0; i < b->n; i++)
			if (b->v[i].born <= s && s <= b->v[i].dies)
				sum += b->v[i].bytes;
		if (sum > p->peak) {
			p->peak = sum;
			p->peak_step = s;
		}
	}
}

static bool buffers_fit(const Plan *p)
{
	bool ok = true;
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i];
		const bool high = t->buffer_rows > MAX_BAND_ROWS;
		const bool deep = tensor_buffer_planes(t) > MAX_BAND_PLANES;
		if (!high && !deep)
			continue;
		diag_error(p->graph->diag, t->op->loc,
			   "%s '%s': a core keeps %d %s of it, %d is the most",
			   op_info[t->op->kind].name, t->op->name,
			   high ? t->buffer_rows : tensor_buffer_planes(t),
			   high ? "rows" : "planes of 16 channels",
			   (int)(high ? MAX_BAND_ROWS : MAX_BAND_PLANES));
		ok = false;
	}
	return ok;
}

/* First byte of L1 for buffers. */
static int64_t first_byte(const Target *t)
{
	return (t->l1_first + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
}

/* Where the last byte would lie; the life of a buffer that reaches behind L1. */
static int64_t place(Plan *p, int64_t first, Range *life)
{
	Buffers b = collect(p);
	int64_t end = first;
	qsort(b.v, (size_t)b.n, sizeof *b.v, larger_first);
	p->peak = 0;
	find_peak(p, &b);
	for (int i = 0; i < b.n; i++) {
		Buffer *me = &b.v[i];
		me->at = lowest(&b, i, first);
		end = me->at + me->bytes > end ? me->at + me->bytes : end;
		if (me->at + me->bytes > p->target->l1_end)
			*life = (Range){ me->born, me->dies + 1 };
		if (me->address32)
			*me->address32 = (uint32_t)me->at;
		else
			*me->address64 = (uint64_t)me->at;
	}
	return end;
}

/* The same with less room for weights, if need be. */
static int64_t place_all(Plan *p)
{
	const Target *t = p->target;
	const int64_t first = first_byte(t);
	Range life;
	int64_t end = place(p, first, &life);
	while (end > t->l1_end) {
		if (p->peak > t->l1_end - first) /* nothing else would help */
			life = (Range){ p->peak_step, p->peak_step + 1 };
		if (!plan_stream_more(p, life))
			break;
		end = place(p, first, &life);
	}
	return end;
}

bool plan_fits(Plan *p) { return place_all(p) <= p->target->l1_end; }

bool plan_place(Plan *p)
{
	const Target *t = p->target;
	const int64_t first = first_byte(t), end = place_all(p);
	if (end <= t->l1_end)
		return buffers_fit(p);
	const Step *s = &p->steps[p->peak_step];
	const int64_t room = t->l1_end - first;
	diag_error(p->graph->diag, s->op->loc,
		   "%s '%s': needs %lld bytes of L1 on each of %d cores%s, %s has %lld",
		   op_info[s->op->kind].name, s->op->name,
		   (long long)(p->peak > room ? p->peak : end - first), p->cores,
		   p->peak > room ? "" : " the way buffers are placed", t->name, (long long)room);
	return false;
}
