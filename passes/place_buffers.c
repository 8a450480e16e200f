/*
 * Addresses in L1: every buffer gets a fixed one, the same on every core, apart
 * from all that live at the same time (pack.h).
 */
#include "passes/pack.h"
#include "passes/plan.h"

typedef struct Buffers {
	Box *box;
	uint32_t **address32; /* one of the two for each */
	uint64_t **address64;
	int n;
} Buffers;

static void add(Buffers *b, int64_t bytes, int born, int dies, uint32_t *a32, uint64_t *a64)
{
	if (!bytes)
		return;
	bytes = (bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	b->box[b->n] = (Box){ bytes, born, dies, 0 };
	b->address32[b->n] = a32;
	b->address64[b->n++] = a64;
}

int plan_fetched_in(const Plan *p, int step)
{
	int i = step;
	if (!p->steps[step].stream.early)
		return step;
	do
		i--;
	while (i > 0 && p->steps[i].beside);
	return i;
}

static Buffers collect(Plan *p, Arena *a)
{
	const int most = p->ntensors + 3 * p->nsteps + 1;
	Buffers b = { arena_array(a, Box, most), arena_array(a, uint32_t *, most),
		      arena_array(a, uint64_t *, most), 0 };
	for (int i = 0; i < p->ntensors; i++) {
		PlanTensor *t = p->tensors[i];
		add(&b, t->bytes, t->born, t->dies, NULL, &t->layout.address);
	}
	for (int i = 0; i < p->nsteps; i++) {
		Step *s = &p->steps[i];
		add(&b, s->weight_bytes, plan_fetched_in(p, i), i, &s->weight_address, NULL);
		add(&b, s->stream.sums_bytes, i, i, &s->stream.sums_address, NULL);
		add(&b, s->scratch_bytes, i, i, &s->scratch_address, NULL);
	}
	return b;
}

static void find_peak(Plan *p, const Buffers *b)
{
	p->peak = 0;
	for (int s = 0; s < p->nsteps; s++) {
		int64_t sum = 0;
		for (int i = 0; i < b->n; i++)
			if (b->box[i].born <= s && s <= b->box[i].dies)
				sum += b->box[i].bytes;
		if (sum > p->peak) {
			p->peak = sum;
			p->peak_step = s;
		}
	}
}

bool place_buffers(Plan *p, int64_t *need, Range *blame)
{
	Arena *a = arena_create();
	const int64_t first = (p->target->l1_first + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	const Buffers b = collect(p, a);
	int highest;
	find_peak(p, &b);
	const bool fits = pack_boxes(b.box, b.n, p->target->l1_end - first, need, &highest);
	*need += first;
	*blame = (Range){ p->peak_step, p->peak_step + 1 };
	if (b.n && p->peak <= p->target->l1_end - first)
		*blame = (Range){ b.box[highest].born, b.box[highest].dies + 1 };
	for (int i = 0; i < b.n; i++)
		if (b.address32[i])
			*b.address32[i] = (uint32_t)(first + b.box[i].at);
		else
			*b.address64[i] = (uint64_t)(first + b.box[i].at);
	arena_destroy(a);
	return fits;
}
