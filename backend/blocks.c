#include "backend/blocks.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "backend/routines.h"

enum { BLOCK_ALIGN = 32, WORDS = sizeof(TtOp) / sizeof(uint32_t) };

static uint32_t core_node(const Program *p, int core)
{
	return TT_NODE(TT_VIRTUAL + p->cores[core].col, TT_VIRTUAL + p->cores[core].row);
}

static uint32_t bank_node(uint32_t bank)
{
	static const uint8_t xy[TT_DRAM_CHANNELS][2] = TT_DRAM_XY;
	return TT_NODE(xy[bank / 2][0], xy[bank / 2][1]);
}

/* A block as far as it is made: the head, then lists one behind the other. */
typedef struct Block {
	uint32_t *words; /* or NULL: only the length is wanted */
	uint32_t n;
} Block;

static void append(Block *b, const void *from, size_t bytes)
{
	if (b->words && bytes)
		memcpy(b->words + b->n, from, bytes);
	b->n += (uint32_t)(bytes / sizeof(uint32_t));
}

/* Does it put rows on another core, which must have entered the op? */
static bool gives_rows(const ProgramPush *x, int from, int to)
{
	return x->core == to && to != from && x->count;
}

/* Cores whose rows go to `core`, each once. */
static uint32_t append_pushers(Block *b, const Program *p, const ProgramOp *op, int core)
{
	uint32_t n = 0;
	for (int c = 0; c < p->ncores; c++) {
		const ProgramOpCore *on = &op->cores[c];
		int i = 0;
		while (i < on->npushes && !gives_rows(&on->pushes[i], c, core))
			i++;
		if (i == on->npushes)
			continue;
		append(b, &(uint32_t){ core_node(p, c) }, sizeof(uint32_t));
		n++;
	}
	return n;
}

/* Are these the exponents and the values of the same pixels? */
static bool is_block(const ProgramPush *x, const ProgramPush *y)
{
	return y->core == x->core && y->count == x->count && x->count
		&& y->bytes == 16 * x->bytes && y->from_step == 16 * x->from_step
		&& y->to_step == 16 * x->to_step;
}

/* All of a push but LAST and SAME; how many of the program's it stands for. */
static int encode(const Program *p, const ProgramPush *x, const ProgramPush *end, TtPush *to)
{
	const bool block = x + 1 < end && is_block(x, x + 1);
	*to = (TtPush){ core_node(p, x->core) >> 4 | (uint32_t)x->core << TT_PUSH_CORE
				| x->count << TT_PUSH_COUNT,
			x->from, x->to, x->bytes, x->from_step, x->to_step, 0, 0 };
	if (block) {
		to->target |= TT_PUSH_BLOCK;
		to->values_from = x[1].from;
		to->values_to = x[1].to;
	}
	return 1 + block;
}

/* The same rows to the same place of another core? */
static bool is_same(const TtPush *x, const TtPush *y)
{
	const uint32_t node_and_core = (1u << 19) - 1;
	return ((x->target ^ y->target) & ~node_and_core) == 0
		&& memcmp(&x->from, &y->from, sizeof *x - offsetof(TtPush, from)) == 0;
}

/* Puts those that are the same behind each other, in the order of the first of them. */
static void gather_same(TtPush *v, int n)
{
	for (int i = 0; i < n; i++)
		for (int k = i + 1, to = i; k < n; k++) {
			if (!is_same(&v[i], &v[k]))
				continue;
			const TtPush one = v[k];
			memmove(&v[to + 2], &v[to + 1], (size_t)(k - to - 1) * sizeof one);
			v[++to] = one;
		}
}

int blocks_pushes(const Program *p, const ProgramOpCore *on, TtPush v[])
{
	int n = 0;
	for (int i = 0; i < on->npushes; n++)
		i += encode(p, &on->pushes[i], on->pushes + on->npushes, &v[n]);
	gather_same(v, n);
	return n;
}

TtMove blocks_move(const ProgramMove *m)
{
	const uint32_t how = (uint32_t)m->when | (m->out ? TT_MOVE_OUT : 0)
		| (uint32_t)m->bank << TT_MOVE_BANK;
	return (TtMove){ how, m->at, m->page_bytes, m->slot_bytes, m->l1, m->bytes, m->count,
			 m->step };
}

/* How many there are. A core that all others want the same rows of says once which. */
static uint32_t append_pushes(Block *b, const Program *p, const ProgramOpCore *on)
{
	TtPush *v = xmalloc((size_t)(on->npushes + 1) * sizeof *v);
	bool told[TT_MAX_CORES] = { 0 };
	const int n = blocks_pushes(p, on, v);
	for (int i = n - 1; i >= 0; i--) {
		bool *core = &told[v[i].target >> TT_PUSH_CORE & TT_PUSH_CORES];
		if (i && is_same(&v[i - 1], &v[i]))
			v[i].target |= TT_PUSH_SAME;
		v[i].target |= *core ? 0 : TT_PUSH_LAST;
		*core = true;
	}
	for (int i = 0; i < n; i++)
		append(b, &v[i], sizeof(uint32_t) * (v[i].target & TT_PUSH_SAME ? TT_PUSH_SAME_WORDS
			: v[i].target & TT_PUSH_BLOCK ? TT_PUSH_BLOCK_WORDS : TT_PUSH_WORDS));
	free(v);
	return (uint32_t)n;
}

static void append_moves(Block *b, const ProgramOpCore *on)
{
	for (int i = 0; i < on->nmoves; i++) {
		const TtMove m = blocks_move(&on->moves[i]);
		append(b, &m, sizeof m);
	}
}

static void append_params(Block *b, const ProgramOp *op, const ProgramOpCore *on)
{
	if (op->params < 0)
		return;
	const uint32_t at = b->n;
	append(b, op->words, (size_t)params_at(op->params)->words * sizeof(uint32_t));
	for (int i = 0; b->words && i < on->nvalues; i++)
		b->words[at + (uint32_t)on->values[i].word] = on->values[i].value;
}

/* Everything but the head; what the head has to say about it in *h. */
static void append_lists(Block *b, TtOp *h, const Program *p, const ProgramOp *op, int core)
{
	const ProgramOpCore *on = &op->cores[core];
	h->pushers_at = b->n;
	h->pushers = append_pushers(b, p, op, core);
	h->arrivals_at = b->n;
	h->arrivals = (uint32_t)on->narrivals;
	for (int i = 0; i < on->narrivals; i++)
		append(b, &(TtArrival){ (uint32_t)on->arrivals[i].core
					| (uint32_t)on->arrivals[i].op << TT_ARRIVAL_OP },
		       sizeof(TtArrival));
	h->pushes_at = b->n;
	h->pushes = append_pushes(b, p, on);
	h->zeros_at = b->n;
	h->zeros = (uint32_t)on->nzeros;
	for (int i = 0; i < on->nzeros; i++) {
		const ProgramZero *z = &on->zeros[i];
		append(b, &(TtZero){ z->at, z->bytes, z->count, z->step, z->planes, z->plane_step },
		       sizeof(TtZero));
	}
	h->moves_at = b->n;
	h->moves = (uint32_t)on->nmoves;
	append_moves(b, on);
	h->params_at = b->n;
	append_params(b, op, on);
}

uint32_t blocks_bytes(const Program *p, int op, int core)
{
	Block b = { NULL, WORDS };
	TtOp head;
	append_lists(&b, &head, p, &p->ops[op], core);
	const uint32_t bytes = b.n * (uint32_t)sizeof(uint32_t);
	return (bytes + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
}

static void write_block(const Blocks *all, const Program *p, const Code *c, int op, int core,
			uint8_t *to)
{
	uint32_t words[TT_MAX_BLOCK / sizeof(uint32_t)] = { 0 };
	Block b = { words, WORDS };
	TtOp head = { .op = (uint32_t)op, .early = p->ops[op].early,
		      .next_bytes = blocks_bytes(p, (op + 1) % p->nops, core) };
	append_lists(&b, &head, p, &p->ops[op], core);
	for (int r = 0; r < TT_RISCS; r++) {
		const int variant = program_runs(&p->ops[op], core, (TtRisc)r);
		if (variant >= 0)
			head.routine[r] = code_address(c, op, (TtRisc)r, variant);
	}
	if (head.routine[TT_TRISC1] && p->ops[op].act >= 0)
		head.act = code_address(c, op, TT_TRISC1, p->ops[op].act);
	const int o = code_overlay(c, op);
	if (o >= 0 && c->overlays[o].first_op == op) {
		const uint32_t bank = (uint32_t)o % TT_DRAM_BANKS;
		head.overlay_node = bank_node(bank);
		head.overlay_from = blocks_overlay_at(all, c, o) + (bank & 1) * TT_DRAM_BANK_BYTES;
		head.overlay_to = c->area;
		head.overlay_bytes = c->overlays[o].bytes;
	}
	memcpy(words, &head, sizeof head);
	memcpy(to, words, all->block_bytes);
}

uint32_t blocks_overlay_at(const Blocks *b, const Code *c, int overlay)
{
	return b->overlay_at + (uint32_t)overlay / TT_DRAM_BANKS * c->area_bytes;
}

/* The longest block any core needs. */
static bool measure(Blocks *b, Diag *d, const Program *p)
{
	for (int o = 0; o < p->nops; o++)
		for (int core = 0; core < p->ncores; core++) {
			const uint32_t bytes = blocks_bytes(p, o, core);
			if (bytes > TT_MAX_BLOCK) {
				diag_error(d, p->ops[o].loc,
					   "parameters of op '%s' take %u bytes on core %d, %d is the most",
					   p->ops[o].name, bytes, core, (int)TT_MAX_BLOCK);
				return false;
			}
			b->block_bytes = bytes > b->block_bytes ? bytes : b->block_bytes;
		}
	return true;
}

/* Of n things dealt over the banks, how many the fullest has. */
static uint64_t dealt(int n)
{
	return (uint64_t)(n + TT_DRAM_BANKS - 1) / TT_DRAM_BANKS;
}

bool blocks_make(Blocks *b, Arena *a, Diag *d, const Program *p, const Target *t, const Code *c)
{
	*b = (Blocks){ 0 };
	if (!measure(b, d, p))
		return false;
	const uint64_t each = (uint64_t)b->block_bytes * (uint64_t)p->nops;
	const uint64_t first = (p->dram_free + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
	const uint64_t overlays = first + dealt(p->ncores) * each;
	b->end = overlays + dealt(c->noverlays) * c->area_bytes;
	if (b->end > (uint64_t)t->dram_bank_bytes) {
		diag_error(d, (Loc){ .file = p->name },
			   "parameters and overlays need DRAM up to byte %llu of each bank, which has %lld; "
			   "tensors and weights need it up to %llu", (unsigned long long)b->end,
			   (long long)t->dram_bank_bytes, (unsigned long long)p->dram_free);
		return false;
	}
	b->overlay_at = (uint32_t)overlays;
	b->data = arena_array(a, uint8_t *, p->ncores + 1);
	b->bank = arena_array(a, uint32_t, p->ncores + 1);
	b->at = arena_array(a, uint32_t, p->ncores + 1);
	for (int core = 0; core < p->ncores; core++) {
		b->bank[core] = (uint32_t)core % TT_DRAM_BANKS;
		b->at[core] = (uint32_t)(first + (uint64_t)core / TT_DRAM_BANKS * each);
		b->data[core] = arena_alloc(a, each + 1);
		for (int o = 0; o < p->nops; o++)
			write_block(b, p, c, o, core,
				    b->data[core] + (size_t)o * b->block_bytes);
	}
	return true;
}
