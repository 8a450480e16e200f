/*
 * Buffers in L1: how long each lives, that those that live at the same time lie
 * apart, and that the core has room for them.
 */
#include "passes/check_plan.h"

#include <stdlib.h>

/* Bytes of every core's L1 for a time. */
typedef struct Span {
	const char *what, *name; /* weights of op y, ... */
	Loc loc;
	uint64_t at, end;
	int first, last; /* steps */
} Span;

typedef struct Spans {
	Span *v;
	int n;
} Spans;

typedef struct Life {
	int born, done, dies;
} Life;

/* As the steps have it. What goes on beside a step does until that one ends. */
static Life life_of(const Checker *c, const PlanTensor *t)
{
	const Step *slices = check_slices_of(c, t);
	Life l = { -1, -1, -1 };
	if (slices) {
		const int i = (int)(slices - c->p->steps);
		return (Life){ i, i, i };
	}
	for (int i = 0; i < c->p->nsteps; i++) {
		const Step *s = &c->p->steps[i];
		bool used = s->out == t;
		for (int k = 0; k < s->nin; k++)
			used |= s->in[k].tensor == t;
		if (s->out == t) {
			l.born = l.born < 0 ? i : l.born;
			l.done = i;
		}
		if (used)
			l.dies = check_runs_in(c->p, i);
	}
	return l;
}

static void check_life(const Checker *c, const PlanTensor *t)
{
	const Life l = life_of(c, t);
	TENSOR_RULE(c, t, t->born == l.born && t->done == l.done && t->dies == l.dies,
		    "it is said to be made in steps %d to %d and used until %d, but is in %d to %d until %d",
		    t->born, t->done, t->dies, l.born, l.done, l.dies);
}

static void add(Spans *s, const char *what, const Op *op, const char *name, uint64_t at,
		int64_t bytes, int first, int last)
{
	if (bytes)
		s->v[s->n++] = (Span){ what, name, op->loc, at, at + (uint64_t)bytes, first, last };
}

/* Everything in L1, each for as long as it is there by the steps. */
static Spans collect(const Checker *c)
{
	const Plan *p = c->p;
	Spans s = { xmalloc(sizeof(Span) * (size_t)(p->ntensors + 3 * p->nsteps + 1)), 0 };
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i];
		const Life l = life_of(c, t);
		if (!check_in_dram(t))
			add(&s, "tensor", t->op, t->name, t->layout.address, t->bytes, l.born, l.dies);
	}
	for (int i = 0; i < p->nsteps; i++) {
		const Step *x = &p->steps[i];
		const int first = x->stream.early ? check_before(p, i) : i;
		const int last = check_runs_in(p, i);
		add(&s, "weights of", x->op, x->op->name, x->weight_address, x->weight_bytes, first, last);
		add(&s, "sums of", x->op, x->op->name, x->stream.sums_address, x->stream.sums_bytes, i,
		    last);
		add(&s, "rows of", x->op, x->op->name, x->scratch_address, x->scratch_bytes, i, last);
	}
	return s;
}

static void check_place(const Checker *c, const Span *s)
{
	const Target *t = c->p->target;
	if (s->at % ALIGN_DRAM)
		diag_error(c->d, s->loc, "%s '%s' at 0x%llx, no multiple of %d", s->what, s->name,
			   (unsigned long long)s->at, (int)ALIGN_DRAM);
	if (s->at < (uint64_t)t->l1_first || s->end > (uint64_t)t->l1_end || s->end < s->at)
		diag_error(c->d, s->loc, "%s '%s', 0x%llx to 0x%llx, is not within 0x%llx to 0x%llx of L1",
			   s->what, s->name, (unsigned long long)s->at,
			   (unsigned long long)s->end, (unsigned long long)t->l1_first,
			   (unsigned long long)t->l1_end);
}

static int by_address(const void *x, const void *y)
{
	const uint64_t a = ((const Span *)x)->at, b = ((const Span *)y)->at;
	return (a > b) - (a < b);
}

static void check_apart(const Checker *c, Spans s)
{
	if (s.n)
		qsort(s.v, (size_t)s.n, sizeof *s.v, by_address);
	for (int i = 0; i < s.n; i++)
		for (int k = i + 1; k < s.n && s.v[k].at < s.v[i].end; k++) {
			const Span *a = &s.v[i], *b = &s.v[k];
			if (a->last < b->first || b->last < a->first)
				continue;
			diag_error(c->d, b->loc, "%s '%s' and %s '%s' share byte 0x%llx during step %d",
				   a->what, a->name, b->what, b->name, (unsigned long long)b->at,
				   a->first > b->first ? a->first : b->first);
		}
}

/* Buffers begin at multiples, so a byte of one takes as much of L1. */
static int64_t bytes_at(Spans s, int step)
{
	int64_t sum = 0;
	for (int i = 0; i < s.n; i++) {
		const int64_t bytes = (int64_t)(s.v[i].end - s.v[i].at);
		if (s.v[i].first <= step && step <= s.v[i].last)
			sum += (bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	}
	return sum;
}

static void check_room(const Checker *c, Spans s)
{
	const Plan *p = c->p;
	const int64_t first = (p->target->l1_first + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	const int64_t room = p->target->l1_end - first;
	int64_t peak = 0;
	int at = 0;
	for (int i = 0; i < p->nsteps; i++) {
		const int64_t bytes = bytes_at(s, i);
		at = bytes > peak ? i : at;
		peak = bytes > peak ? bytes : peak;
	}
	STEP_RULE(c, &p->steps[at], peak <= room, "buffers take %lld bytes of L1, %s has %lld",
		  (long long)peak, p->target->name, (long long)room);
	STEP_RULE(c, &p->steps[at], p->peak == peak && p->peak_step == at,
		  "the fullest step is said to be %d with %lld bytes, this one has %lld", p->peak_step,
		  (long long)p->peak, (long long)peak);
}

void check_memory(const Checker *c)
{
	const int before = c->d->errors;
	for (int i = 0; i < c->p->ntensors; i++)
		check_life(c, c->p->tensors[i]);
	Spans s = collect(c);
	for (int i = 0; i < s.n; i++)
		check_place(c, &s.v[i]);
	if (c->d->errors == before) /* else the same again */
		check_apart(c, s);
	check_room(c, s);
	free(s.v);
}
