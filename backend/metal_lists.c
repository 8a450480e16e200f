/*
 * The programs of an op. Elements of the writer's lists go to the main program while
 * its arguments have room for them. What must be there before the routines start and
 * finds no room goes to programs before it, everything else to programs behind it, in
 * the order of the list: zeros, moves beside, moves behind, rows for other cores.
 */
#include <stdlib.h>
#include <string.h>

#include "backend/blocks.h"
#include "backend/metal_model.h"

enum { LISTS_WORDS = sizeof(TtLists) / sizeof(uint32_t) };

/* The elements of each core: those for before the routines, then the others. */
typedef struct Lists {
	MetalItem **v;
	int *n, *early; /* so many of them are for before */
	int *at;        /* of the others: first that is in no program yet */
} Lists;

static void add(Arena *a, MetalItem **v, int *n, MetalItem item)
{
	*v = arena_grow(a, *v, *n, sizeof **v);
	(*v)[(*n)++] = item;
}

static void add_moves(const MetalModel *m, const ProgramOpCore *on, TtMoveWhen when,
		      MetalItem **v, int *n)
{
	for (int i = 0; i < on->nmoves; i++) {
		const ProgramMove *move = &on->moves[i];
		MetalItem item = { .kind = METAL_MOVE, .from = metal_weights_at(m, move->at) };
		if (move->when != when)
			continue;
		item.move = blocks_move(move);
		item.move.slot_bytes = 0; /* one run ends before the next begins */
		add(m->a, v, n, item);
	}
}

static void add_pushes(Arena *a, const Program *p, const ProgramOpCore *on, MetalItem **v, int *n)
{
	TtPush *rows = arena_array(a, TtPush, on->npushes + 1);
	const int count = blocks_pushes(p, on, rows);
	for (int i = 0; i < count; i++) {
		MetalItem item = { .kind = METAL_PUSH };
		const uint32_t target = rows[i].target;
		if (!(target >> TT_PUSH_COUNT)) /* nobody needs to be told */
			continue;
		item.push.to = (int)(target >> TT_PUSH_CORE & TT_PUSH_CORES);
		item.push.block = target & TT_PUSH_BLOCK;
		item.push.rows = rows[i];
		item.push.rows.target = target >> TT_PUSH_COUNT;
		add(a, v, n, item);
	}
}

static Lists lists_of(MetalModel *m, const MetalOp *op)
{
	const int cores = m->p->ncores;
	Lists l = { arena_array(m->a, MetalItem *, cores + 1), arena_array(m->a, int, cores + 1),
		    arena_array(m->a, int, cores + 1), arena_array(m->a, int, cores + 1) };
	for (int c = 0; c < cores; c++) {
		const ProgramOpCore *on = &op->op->cores[c];
		add_moves(m, on, TT_MOVE_BEFORE, &l.v[c], &l.n[c]);
		l.early[c] = l.at[c] = l.n[c];
		for (int i = 0; i < on->nzeros; i++) {
			const ProgramZero *z = &on->zeros[i];
			const TtZero zero = { z->at,   z->bytes,  z->count,
					      z->step, z->planes, z->plane_step };
			add(m->a, &l.v[c], &l.n[c],
			    (MetalItem){ .kind = METAL_ZERO, .zero = zero });
		}
		add_moves(m, on, TT_MOVE_ALONGSIDE, &l.v[c], &l.n[c]);
		add_moves(m, on, TT_MOVE_AFTER, &l.v[c], &l.n[c]);
		add_pushes(m->a, m->p, on, &l.v[c], &l.n[c]);
	}
	return l;
}

/* Words of an element behind another one, or (NULL) the first of its list. */
static int item_words(const MetalItem *x, const MetalItem *before)
{
	if (x->kind != METAL_PUSH)
		return (int)((x->kind == METAL_ZERO ? sizeof x->zero : sizeof x->move) /
			     sizeof(uint32_t));
	if (before && before->kind == METAL_PUSH && before->push.block == x->push.block &&
	    memcmp(&before->push.rows, &x->push.rows, sizeof x->push.rows) == 0)
		return TT_PUSH_SAME_WORDS;
	return x->push.block ? TT_PUSH_BLOCK_WORDS : TT_PUSH_WORDS;
}

/* How many from `first` to before `end` fit into `room` words, which become fewer. */
static int fitting(const MetalItem *v, int first, int end, int *room)
{
	int i = first;
	for (; i < end; i++) {
		const int words = item_words(&v[i], i > first ? &v[i - 1] : NULL);
		if (words > *room)
			break;
		*room -= words;
	}
	return i - first;
}

/* ---- kernels of the main program ---- */

static MetalCode code_on(const MetalOp *op, int core, MetalKind kind, bool lists)
{
	static const TtRisc first[] = { TT_TRISC0, TT_NCRISC, TT_BRISC };
	static const TtRisc last[] = { TT_TRISC2, TT_NCRISC, TT_BRISC };
	MetalCode code = { .kind = kind, .act = VARIANT_NONE };
	for (int r = 0; r < TT_RISCS; r++)
		code.variant[r] = r >= (int)first[kind] && r <= (int)last[kind]
					  ? program_runs(op->op, core, (TtRisc)r)
					  : VARIANT_NONE;
	if (kind == METAL_COMPUTE)
		code.act = op->op->act;
	code.lists = kind == METAL_WRITER && lists;
	const bool computes = program_runs(op->op, core, TT_TRISC2) >= 0;
	code.ready = op->ready && computes && kind != METAL_READER;
	code.done = op->done && computes && kind != METAL_READER;
	return code;
}

static bool does_anything(const MetalCode *code)
{
	bool any = code->lists || code->ready || code->done;
	for (int r = 0; r < TT_RISCS; r++)
		any |= code->variant[r] >= 0;
	return any;
}

/* Adds a kernel for the cores in `on`. */
static void place(MetalModel *m, const MetalOp *op, MetalProgram *p, const MetalCode *code,
		  const bool on[])
{
	MetalPlace at = { .kernel = metal_kernel(m, code, op->index) };
	at.ncores = metal_cores(m->a, on, m->p->ncores, &at.cores);
	p->places = arena_grow(m->a, p->places, p->nplaces, sizeof at);
	p->places[p->nplaces++] = at;
}

static void place_kind(MetalModel *m, const MetalOp *op, MetalProgram *p, MetalKind kind,
		       bool lists)
{
	const int cores = m->p->ncores;
	bool *done = arena_array(m->a, bool, cores + 1), *on = arena_array(m->a, bool, cores + 1);
	for (int c = 0; c < cores; c++) {
		if (done[c])
			continue;
		const MetalCode code = code_on(op, c, kind, lists);
		for (int k = 0; k < cores; k++) {
			const MetalCode other = code_on(op, k, kind, lists);
			on[k] = memcmp(&code, &other, sizeof code) == 0;
			done[k] |= on[k];
		}
		if (!does_anything(&code))
			continue;
		const int words = metal_params_words(op, &code);
		p->words = words > p->words ? words : p->words;
		place(m, op, p, &code, on);
	}
}

int metal_params_words(const MetalOp *op, const MetalCode *code)
{
	bool any = false;
	for (int r = 0; r < TT_RISCS; r++)
		any |= code->variant[r] >= 0;
	return any ? params_at(op->op->params)->words : 0;
}

/* ---- programs ---- */

static MetalProgram *new_program(MetalModel *m, MetalOp *op)
{
	op->programs = arena_grow(m->a, op->programs, op->nprograms, sizeof *op->programs);
	MetalProgram *p = &op->programs[op->nprograms++];
	*p = (MetalProgram){ 0 };
	return p;
}

/* Takes what fits of each core's list from at[core] to before end[core]; `room` is left for
 * it and becomes less. */
static void take(MetalModel *m, MetalProgram *p, const Lists *l, int at[], const int end[],
		 int room[])
{
	const int cores = m->p->ncores;
	const MetalItem **lists = arena_array(m->a, const MetalItem *, cores + 1);
	int *n = arena_array(m->a, int, cores + 1);
	MetalItem *rows;
	for (int c = 0; c < cores; c++) {
		lists[c] = l->v[c] ? &l->v[c][at[c]] : NULL;
		n[c] = fitting(l->v[c], at[c], end[c], &room[c]);
		at[c] += n[c];
	}
	const int count = metal_rows(m->a, lists, n, cores, &rows);
	for (int i = 0; i < count; i++) {
		p->items = arena_grow(m->a, p->items, p->nitems, sizeof *p->items);
		p->items[p->nitems++] = rows[i];
	}
}

static bool is_left(const MetalModel *m, const int at[], const int end[])
{
	for (int c = 0; c < m->p->ncores; c++)
		if (at[c] < end[c])
			return true;
	return false;
}

static int *room_of(MetalModel *m, int words)
{
	int *room = arena_array(m->a, int, m->p->ncores + 1);
	for (int c = 0; c < m->p->ncores; c++)
		room[c] = METAL_ARGS - LISTS_WORDS - words;
	return room;
}

static void count_words(const MetalModel *m, MetalProgram *p, const int room[])
{
	for (int c = 0; c < m->p->ncores; c++)
		if (METAL_ARGS - room[c] > p->words)
			p->words = METAL_ARGS - room[c];
}

/* A program that has nothing but lists. */
static void only_lists(MetalModel *m, MetalOp *op, const Lists *l, int at[], const int end[])
{
	const MetalCode code = {
		METAL_WRITER,
		{ VARIANT_NONE, VARIANT_NONE, VARIANT_NONE, VARIANT_NONE, VARIANT_NONE },
		VARIANT_NONE,
		true,
		false,
		false
	};
	bool *all = arena_array(m->a, bool, m->p->ncores + 1);
	int *room = room_of(m, 0);
	MetalProgram *p = new_program(m, op);
	memset(all, true, (size_t)m->p->ncores * sizeof *all);
	take(m, p, l, at, end, room);
	count_words(m, p, room);
	place(m, op, p, &code, all);
}

static void clear_turns(MetalModel *m, MetalOp *op)
{
	const Lists l = { arena_array(m->a, MetalItem *, m->p->ncores + 1), NULL, NULL, NULL };
	int *at = arena_array(m->a, int, m->p->ncores + 1),
	    *end = arena_array(m->a, int, m->p->ncores + 1);
	MetalItem clear = { .kind = METAL_ZERO,
			    .zero = { op->turns, METAL_TURNS_BYTES, 1, 0, 1, 0 } };
	for (int c = 0; c < m->p->ncores; c++) {
		l.v[c] = &clear;
		end[c] = 1;
	}
	only_lists(m, op, &l, at, end);
}

static bool has_code(const MetalModel *m, const MetalOp *op)
{
	for (int c = 0; c < m->p->ncores; c++)
		for (int r = 0; r < TT_RISCS; r++)
			if (program_runs(op->op, c, (TtRisc)r) >= 0)
				return true;
	return false;
}

void metal_programs(MetalModel *m, MetalOp *op, bool clear)
{
	const Lists l = lists_of(m, op);
	const bool lists = is_left(m, (int[TT_MAX_CORES]){ 0 }, l.n);
	int *early = arena_array(m->a, int, m->p->ncores + 1), *room = room_of(m, 0);
	int *end = arena_array(m->a, int, m->p->ncores + 1);
	if (!lists && !has_code(m, op))
		return;
	if (clear)
		clear_turns(m, op);
	const MetalCode writer = code_on(op, 0, METAL_WRITER, lists);
	const bool apart = has_code(m, op) && !op->ready; /* nobody would wait for the moves */
	for (int c = 0; c < m->p->ncores; c++) { /* the last ones are left to the main program */
		room[c] -= metal_params_words(op, &writer);
		int some = room[c];
		end[c] = l.early[c];
		for (int k = l.early[c] - 1;
		     k >= 0 && !apart && item_words(&l.v[c][k], NULL) <= some; k--) {
			some -= item_words(&l.v[c][k], NULL);
			end[c] = k;
		}
	}
	while (is_left(m, early, end))
		only_lists(m, op, &l, early, end);
	MetalProgram *p = new_program(m, op);
	p->main = true;
	take(m, p, &l, early, l.early, room);
	take(m, p, &l, l.at, l.n, room);
	count_words(m, p, room);
	for (int k = 0; k < METAL_KINDS; k++)
		place_kind(m, op, p, (MetalKind)k, lists);
	while (is_left(m, l.at, l.n))
		only_lists(m, op, &l, l.at, l.n);
}
