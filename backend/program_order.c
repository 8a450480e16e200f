/* Two runs of the program, op by op. */
#include "backend/program_order.h"

#include <string.h>

#include "backend/routines.h"

/* Op number s is op s % nops of run s / nops. Of [core][other]: the last op number the
 * other is known to be through with, or -1. */
typedef struct Walk {
	const Program *p;
	Arena *a;
	int n;      /* cores */
	int at;     /* op number */
	int fetch, receive; /* routines */
	int *came;  /* of a core when it comes to the op */
	int *known; /* when it begins it, all arrivals there */
	int *was;   /* when it began the one before */
	int *end;   /* when it is through */
	int *first; /* of each core: the first of its rectangle; -1: it shares no weights */
	int *asked; /* of the first core of a rectangle: what its cores knew */
	int **told; /* by op number: when it was through, if any core told others */
} Walk;

static size_t all_bytes(const Walk *w) { return (size_t)w->n * (size_t)w->n * sizeof(int); }

static void swap(int **a, int **b)
{
	int *was = *a;
	*a = *b;
	*b = was;
}

static void learn(const Walk *w, int *mine, int core, const int *theirs, int other)
{
	int *to = &mine[core * w->n];
	const int *from = &theirs[other * w->n];
	for (int i = 0; i < w->n; i++)
		to[i] = from[i] > to[i] ? from[i] : to[i];
}

static bool shares_weights(const Walk *w, const ProgramOp *op, int core)
{
	const int variant = program_runs(op, core, TT_NCRISC);
	const int routine = variant < 0 ? -1 : w->p->variants[variant].routine;
	return routine >= 0 && (routine == w->fetch || routine == w->receive);
}

/* The first core of a core's rectangle; -1: it shares no weights. */
static int rectangle(const Walk *w, const ProgramOp *op, int core)
{
	int c = 0;
	if (!shares_weights(w, op, core))
		return -1;
	const ParamStruct *s = params_at(op->params);
	const int first = params_field(s, "mcast_first")->word;
	const int last = params_field(s, "mcast_last")->word;
	while (!shares_weights(w, op, c)
	       || program_word(op, c, first) != program_word(op, core, first)
	       || program_word(op, c, last) != program_word(op, core, last))
		c++;
	return c;
}

/* What the cores of a rectangle knew when they asked for the first page, to all of
 * them: by its first core. */
static void share(Walk *w, const ProgramOp *op)
{
	const int *known = op->early ? w->was : w->known;
	memset(w->asked, -1, all_bytes(w));
	for (int c = 0; c < w->n; c++) {
		w->first[c] = rectangle(w, op, c);
		if (w->first[c] >= 0)
			learn(w, w->asked, w->first[c], known, c);
	}
	for (int c = 0; c < w->n; c++)
		if (w->first[c] >= 0)
			learn(w, w->end, c, w->asked, w->first[c]);
}

/* From the start of an op to its end. */
static void finish(Walk *w)
{
	const ProgramOp *op = &w->p->ops[w->at % w->p->nops];
	bool tells = false;
	memcpy(w->end, w->known, all_bytes(w));
	share(w, op);
	for (int c = 0; c < w->n; c++) {
		const ProgramOpCore *on = &op->cores[c];
		w->end[c * w->n + c] = w->at;
		for (int i = 0; i < on->npushes; i++) {
			const int to = on->pushes[i].core;
			tells |= to != c;
			if (to != c && on->pushes[i].count && (!i || on->pushes[i - 1].core != to))
				learn(w, w->end, c, w->came, to);
		}
	}
	if (tells) {
		w->told[w->at] = arena_array(w->a, int, w->n * w->n);
		memcpy(w->told[w->at], w->end, all_bytes(w));
	}
	swap(&w->came, &w->end);
	w->at++;
}

/* From the end of the op before to the start of op `at`. */
static void begin(Walk *w)
{
	const int index = w->at % w->p->nops;
	swap(&w->was, &w->known);
	memcpy(w->known, w->came, all_bytes(w));
	for (int c = 0; c < w->n; c++) {
		const ProgramOpCore *on = &w->p->ops[index].cores[c];
		for (int i = 0; i < on->narrivals; i++) {
			const int *told = w->told[w->at - index + on->arrivals[i].op];
			if (told)
				learn(w, w->known, c, told, on->arrivals[i].core);
		}
	}
}

static int *unknown(const Walk *w)
{
	int *all = arena_array(w->a, int, w->n * w->n + 1);
	memset(all, -1, all_bytes(w));
	return all;
}

ProgramUse program_use(Arena *a, const Program *p)
{
	ProgramUse u = { arena_array(a, int, p->ncores + 1), arena_array(a, int, p->ncores + 1) };
	for (int c = 0; c < p->ncores; c++)
		u.wrote[c] = u.used[c] = -1;
	return u;
}

void program_use_add(ProgramUse *u, int core, int op, bool writes)
{
	if (writes && (u->wrote[core] < 0 || op < u->wrote[core]))
		u->wrote[core] = op;
	if (op > u->used[core])
		u->used[core] = op;
}

/* Is the core that begins op `at` sure that all are through with a use of the first run? */
static bool is_over(const Walk *w, int core, const ProgramUse *u)
{
	const int *known = &w->known[core * w->n];
	for (int c = 0; c < w->n; c++)
		if (u->used[c] >= 0 && known[c] < u->used[c])
			return false;
	return true;
}

/* All that is first written by a core in op `at`, behind all others. */
static void compare(const Walk *w, const ProgramUse *uses, int n, ProgramOrder *o)
{
	const int index = w->at % w->p->nops;
	bool *to = w->at < w->p->nops ? o->same : o->next;
	for (int k = 0; k < n; k++)
		for (int c = 0; c < w->n; c++)
			for (int i = 0; uses[k].wrote[c] == index && i < n; i++)
				to[i * n + k] = to[i * n + k] && is_over(w, c, &uses[i]);
}

ProgramOrder program_order(Arena *a, const Program *p, const ProgramUse *uses, int n)
{
	Walk w = { .p = p, .a = a, .n = p->ncores, .fetch = routine_find("weights_fetch"),
		   .receive = routine_find("weights_receive") };
	ProgramOrder o = { arena_array(a, bool, n * n + 1), arena_array(a, bool, n * n + 1) };
	w.came = unknown(&w);
	w.known = unknown(&w);
	w.was = unknown(&w);
	w.end = unknown(&w);
	w.asked = unknown(&w);
	w.first = arena_array(a, int, w.n + 1);
	w.told = arena_array(a, int *, 2 * p->nops + 1);
	memset(o.same, true, (size_t)n * (size_t)n);
	memset(o.next, true, (size_t)n * (size_t)n);
	while (n && w.at < 2 * p->nops) {
		begin(&w);
		compare(&w, uses, n, &o);
		finish(&w);
	}
	return o;
}
