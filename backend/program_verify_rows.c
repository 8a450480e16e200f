/* Rows on their way between cores, and zeros. */
#include <stdlib.h>

#include "backend/program_verify.h"

/* A push as its receiver counts it: from a core, in an op. */
typedef struct Push {
	int to, from, op;
	Loc loc;
	bool awaited;
} Push;

typedef struct Pushes {
	Push *v;
	int n;
} Pushes;

static int by_receiver(const void *x, const void *y)
{
	const Push *a = x, *b = y;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

/* Does a run of runs lie in one buffer? */
static bool all_inside(const Verifier *v, int op, int core, uint64_t at, uint32_t bytes,
		       uint32_t count, uint32_t step)
{
	return count > 0 && bytes > 0
		&& verify_inside(v, op, core, at, (uint64_t)(count - 1) * step + bytes);
}

/* Nothing but the word that says how far this core is. */
static bool is_announcement(const ProgramPush *x)
{
	return !(x->count | x->bytes | x->from | x->to | x->from_step | x->to_step);
}

static void check_push(Verifier *v, int index, int core, const ProgramPush *x)
{
	if (x->core < 0 || x->core >= v->p->ncores) {
		verify_wrong(v, x->loc, index, core, "rows cannot be pushed to core %d", x->core);
		return;
	}
	if (is_announcement(x)) {
		if (x->core == core)
			verify_wrong(v, x->loc, index, core, "a core does not tell itself");
		return;
	}
	if ((x->from | x->to | x->bytes | x->from_step | x->to_step) % ALIGN_L1)
		verify_wrong(v, x->loc, index, core,
			     "a push of %u bytes from 0x%x to 0x%x, in steps of %u and %u, is not on %d",
			     x->bytes, x->from, x->to, x->from_step, x->to_step, (int)ALIGN_L1);
	if (x->count > TT_PUSH_MOST)
		verify_wrong(v, x->loc, index, core, "a push has %u runs, %d are the most", x->count,
			     (int)TT_PUSH_MOST);
	if (!all_inside(v, index, core, x->from, x->bytes, x->count, x->from_step))
		verify_wrong(v, x->loc, index, core, "what is pushed from 0x%x is in no buffer", x->from);
	if (!all_inside(v, index, x->core, x->to, x->bytes, x->count, x->to_step))
		verify_wrong(v, x->loc, index, core,
			     "a push to 0x%x of core %d leads outside of its buffers", x->to, x->core);
	const uint64_t runs = x->count - 1;
	if (x->core == core && x->from < x->to + runs * x->to_step + x->bytes
	    && x->to < x->from + runs * x->from_step + x->bytes)
		verify_wrong(v, x->loc, index, core,
			     "a push from 0x%x to 0x%x of the core itself overlaps", x->from, x->to);
}

static void check_zero(Verifier *v, int index, int core, const ProgramZero *z)
{
	const uint64_t last = (uint64_t)(z->planes ? z->planes - 1 : 0) * z->plane_step
		+ (uint64_t)(z->count ? z->count - 1 : 0) * z->step;
	if ((z->at | z->bytes | z->step | z->plane_step) % ALIGN_L1 || !z->planes || !z->count)
		verify_wrong(v, z->loc, index, core, "zeros of %u bytes at 0x%x are not on %d bytes",
			     z->bytes, z->at, (int)ALIGN_L1);
	else if (!verify_inside(v, index, core, z->at, last + z->bytes))
		verify_wrong(v, z->loc, index, core, "zeros at 0x%x reach outside of a buffer", z->at);
}

/* Checks each push and notes one for each receiver, sender and op. */
static void collect(Verifier *v, int index, int core, Pushes *all)
{
	const ProgramOpCore *on = &v->p->ops[index].cores[core];
	for (int i = 0; i < on->npushes; i++) {
		const ProgramPush *x = &on->pushes[i];
		check_push(v, index, core, x);
		if (i > 0 && x[-1].core == x->core)
			continue;
		for (int k = 0; k < i; k++)
			if (on->pushes[k].core == x->core) {
				verify_wrong(v, x->loc, index, core,
					     "the pushes to core %d do not stand together", x->core);
				break;
			}
		all->v[all->n++] = (Push){ x->core, core, index, x->loc, x->core == core };
	}
}

static void check_arrivals(Verifier *v, int index, int core, Pushes *all)
{
	const ProgramOpCore *on = &v->p->ops[index].cores[core];
	for (int i = 0; i < on->narrivals; i++) {
		const ProgramArrival *x = &on->arrivals[i];
		const Push key = { core, x->core, x->op, x->loc, false };
		Push *found = bsearch(&key, all->v, (size_t)all->n, sizeof key, by_receiver);
		if (x->op >= index)
			verify_wrong(v, x->loc, index, core, "waits for rows of op %d, which is not over",
				     x->op);
		else if (!found || x->core == core)
			verify_wrong(v, x->loc, index, core,
				     "waits for rows of op %d from core %d, which pushes none", x->op,
				     x->core);
		else
			found->awaited = true;
	}
}

void verify_rows(Verifier *v)
{
	const Program *p = v->p;
	size_t most = 0;
	for (int o = 0; o < p->nops; o++)
		for (int c = 0; c < p->ncores; c++)
			most += (size_t)p->ops[o].cores[c].npushes;
	Pushes all = { arena_array(v->a, Push, most + 1), 0 };
	for (int o = 0; o < p->nops; o++)
		for (int c = 0; c < p->ncores; c++) {
			collect(v, o, c, &all);
			for (int i = 0; i < p->ops[o].cores[c].nzeros; i++)
				check_zero(v, o, c, &p->ops[o].cores[c].zeros[i]);
		}
	qsort(all.v, (size_t)all.n, sizeof *all.v, by_receiver);
	for (int o = 0; o < p->nops; o++)
		for (int c = 0; c < p->ncores; c++)
			check_arrivals(v, o, c, &all);
	for (int i = 0; i < all.n; i++)
		if (!all.v[i].awaited)
			verify_wrong(v, all.v[i].loc, all.v[i].op, all.v[i].from,
				     "pushes rows to core %d, which never waits for them", all.v[i].to);
}
