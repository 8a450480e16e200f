/*
 * How weights reach a core: pages of chunks, how often they come by, sums between
 * them, who reads and who receives (runtime/device/DEVICE.md, Weights).
 */
#include <stdlib.h>
#include <string.h>

#include "backend/program_verify.h"
#include "backend/routines.h"
#include "ir/weight_block.h"

enum {
	MOST_BLOCK = 255,   /* tiles: z of a descriptor */
	MOST_PAGES = 65535, /* a page's number is half of a word */
	BIAS_BYTES = 4 * TILE,
	SUM_BYTES = 4 * TILE_VALUES,
};

typedef struct Weights {
	Verifier *v;
	int op, core;
	const TtTiles *p;
	ProductTold told;
} Weights;

#define WRONG(w, ...) \
	verify_wrong((w)->v, (w)->v->p->ops[(w)->op].loc, (w)->op, (w)->core, __VA_ARGS__)

static WeightBlocks piece(const Weights *w, uint32_t s)
{
	return (WeightBlocks){ w->told.weight_type, w->p->kernel_h * w->p->kernel_w,
			       TILE * ((w->p->in_planes[s] + 1) / 2), TILE * w->told.n,
			       w->p->k_block[s], w->told.n };
}

/* Blocks of a group, all pieces; 0, reported, if one is not what it should be. */
static uint32_t count_blocks(const Weights *w)
{
	uint32_t blocks = 0;
	for (uint32_t s = 0; s < w->p->segments; s++) {
		const uint32_t tiles = (w->p->in_planes[s] + 1) / 2, k = w->p->k_block[s];
		if (!k || tiles % k || k * w->told.n > MOST_BLOCK) {
			WRONG(w, "piece %u: blocks of %u of %u input tiles, times %u; at most %d in all", s,
			      k, tiles, w->told.n, (int)MOST_BLOCK);
			return 0;
		}
		const WeightBlocks b = piece(w, s);
		blocks += weight_block_count(&b);
	}
	return blocks;
}

/* Bytes of blocks first to end - 1 of a group. */
static uint64_t block_bytes(const Weights *w, uint32_t first, uint32_t end)
{
	uint64_t bytes = 0;
	uint32_t number = 0;
	for (uint32_t s = 0; s < w->p->segments; s++) {
		const WeightBlocks b = piece(w, s);
		const uint32_t after = number + weight_block_count(&b);
		const uint32_t from = first > number ? first : number;
		const uint32_t to = end < after ? end : after;
		if (from < to)
			bytes += (uint64_t)(to - from) * weight_block_bytes(&b);
		number = after;
	}
	return bytes;
}

static void check_pages(const Weights *w, uint32_t blocks)
{
	const TtTiles *p = w->p;
	const uint32_t chunks = p->chunks ? p->chunks : 1;
	const uint32_t each = p->chunk_blocks ? p->chunk_blocks : blocks;
	uint64_t most = 0;
	if (chunks != (blocks + each - 1) / each) {
		WRONG(w, "chunks: %u of chunk_blocks %u for %u blocks", p->chunks, p->chunk_blocks, blocks);
		return;
	}
	for (uint32_t c = 0; c < chunks; c++) {
		const uint64_t bytes = block_bytes(w, c * each, (c + 1) * each);
		most = bytes > most ? bytes : most;
	}
	most += (uint64_t)w->told.n * BIAS_BYTES;
	if (most != p->page_bytes)
		WRONG(w, "pages of %u bytes, of which the kernels walk %llu", p->page_bytes,
		      (unsigned long long)most);
	if (p->dram_first % ALIGN_DRAM)
		WRONG(w, "dram_first: %u is not on %d", p->dram_first, (int)ALIGN_DRAM);
}

static void check_ring(const Weights *w, const char *what, uint32_t id, uint32_t at,
		       uint32_t page_bytes, uint32_t pages)
{
	const ProgramOp *op = &w->v->p->ops[w->op];
	for (int i = 0; i < op->ncbs; i++) {
		const ProgramCb *cb = &op->cbs[i];
		if (cb->id != (int)id)
			continue;
		if (cb->address != at || cb->page_bytes != page_bytes || cb->pages != pages)
			WRONG(w, "%s: circular buffer %u has %u pages of %u bytes at 0x%x, not %u of %u at 0x%x",
			      what, id, cb->pages, cb->page_bytes, cb->address, pages, page_bytes,
			      at);
	}
}

/* Passes and the sums between chunks. */
static void check_passes(const Weights *w)
{
	const TtTiles *p = w->p;
	const uint64_t passes = p->passes ? p->passes : 1, chunks = p->chunks ? p->chunks : 1;
	const uint64_t high = (p->rows + w->told.hold - 1) / w->told.hold;
	const uint64_t units = (p->cols + TILE - 1) / TILE * high * (p->more_images + 1);
	if (p->block ? passes * p->block < units : passes > 1)
		WRONG(w, "passes: %u of block %u for %llu units of positions", p->passes, p->block,
		      (unsigned long long)units);
	if (chunks > 1 && !p->block)
		WRONG(w, "block: 0, but weights come in %u chunks", p->chunks);
	if (chunks > 1 && p->block > 1 && p->sums_pages < p->block)
		WRONG(w, "sums_pages: %u for block %u", p->sums_pages, p->block);
	if (p->groups * chunks * passes > MOST_PAGES)
		WRONG(w, "groups, chunks and passes make %llu pages, %d is the most",
		      (unsigned long long)(p->groups * chunks * passes), (int)MOST_PAGES);
	if (!p->sums_pages)
		return;
	if (chunks == 1 || w->told.pairs)
		WRONG(w, "sums_pages: %u, with %llu chunks and %s", p->sums_pages,
		      (unsigned long long)chunks, w->told.pairs ? "store_pairs" : "store");
	if (p->sums_cb == p->weights_cb)
		WRONG(w, "sums_cb: %u is that of the weights", p->sums_cb);
	check_ring(w, "sums", p->sums_cb, p->sums,
		   (w->told.hold > 1 ? w->told.hold : w->told.n) * SUM_BYTES, p->sums_pages);
}

void verify_weights(Verifier *v, int op, int core, const TtTiles *p, ProductTold told)
{
	const Weights w = { v, op, core, p, told };
	const uint32_t blocks = count_blocks(&w);
	if (p->weights % ALIGN_DRAM || p->page_bytes % ALIGN_DRAM)
		WRONG(&w, "pages of %u bytes at 0x%x are not on %d, as reads from DRAM want",
		      p->page_bytes, p->weights, (int)ALIGN_DRAM);
	if (!blocks)
		return;
	check_pages(&w, blocks);
	check_passes(&w);
	check_ring(&w, "weights", p->weights_cb, p->weights, p->page_bytes, p->pages);
}

/* ---- who sends to whom ---- */

static bool runs(const Verifier *v, int op, int core, const char *routine)
{
	const int variant = program_runs(&v->p->ops[op], core, TT_NCRISC);
	return variant >= 0 && v->p->variants[variant].routine == routine_find(routine);
}

static uint32_t word(const Verifier *v, int op, int core, const char *field, int index)
{
	const ProgramOp *o = &v->p->ops[op];
	return program_word(o, core, params_field(params_at(o->params), field)->word + index);
}

static uint32_t node_of(const ProgramCore *c)
{
	return TT_NODE(TT_VIRTUAL + c->col, TT_VIRTUAL + c->row);
}

static bool between(uint32_t node, uint32_t first, uint32_t last)
{
	const uint32_t x = node >> 4 & 63, y = node >> 10 & 63;
	return x >= (first >> 4 & 63) && x <= (last >> 4 & 63) && y >= (first >> 10 & 63)
		&& y <= (last >> 10 & 63);
}

/* Cores of the rectangle between two nodes; each acknowledges what is sent. */
static uint32_t nodes_between(uint32_t first, uint32_t last)
{
	const uint32_t cols = (last >> 4 & 63) - (first >> 4 & 63) + 1;
	const uint32_t rows = (last >> 10 & 63) - (first >> 10 & 63) + 1;
	return cols * rows;
}

/* What all cores of a rectangle are told alike. */
static const char *const alike[] = {
	"groups", "chunks", "passes", "weights_cb", "weights", "page_bytes", "pages", "fetch_node",
	"fetchers", "mcast_first", "mcast_last", "receivers", "credit_semaphore",
	"arrived_semaphore", "dram_bank", "dram_at", "dram_page", "dram_first",
};

enum { ALIKE = sizeof alike / sizeof *alike };

/* What all pairs of cores are held against, looked up once: words of `alike` as each core
 * has them, routines. */
typedef struct Names {
	uint32_t (*told)[ALIKE];
	int fetch, receive;
} Names;

static Names names_of(const Program *p, const ProgramOp *op)
{
	Names n = { .told = xmalloc((size_t)p->ncores * sizeof *n.told),
		    .fetch = routine_find("weights_fetch"),
		    .receive = routine_find("weights_receive") };
	for (int i = 0; i < ALIKE; i++) {
		const int at = params_field(params_at(op->params), alike[i])->word;
		for (int c = 0; c < p->ncores; c++)
			n.told[c][i] = program_word(op, c, at);
	}
	return n;
}

static void check_alike(Verifier *v, int op, const Names *n, int core, int other)
{
	for (int i = 0; i < ALIKE; i++) {
		const uint32_t mine = n->told[core][i], its = n->told[other][i];
		if (mine != its)
			verify_wrong(v, v->p->ops[op].loc, op, core,
				     "%s: %u, but core %d of the same rectangle has %u", alike[i], mine,
				     other, its);
	}
}

static void check_semaphore(Verifier *v, int op, int core, const char *field, uint32_t id)
{
	for (int k = 0; k < v->p->nsemaphores; k++)
		if ((uint32_t)v->p->semaphores[k].id == id)
			return;
	verify_wrong(v, v->p->ops[op].loc, op, core, "%s %u is not a semaphore of the program", field, id);
}

/* The rectangle of a core, as its own words have it. A sender waits for as many
 * credits as there are receivers, and for as many acknowledgements; a receiver
 * waits for each sender in turn. */
static void check_rectangle(Verifier *v, int op, const Names *n, int core)
{
	const Program *p = v->p;
	const uint32_t first = word(v, op, core, "mcast_first", 0), last = word(v, op, core, "mcast_last", 0);
	const uint32_t said = word(v, op, core, "receivers", 0), nodes = nodes_between(first, last);
	const uint32_t stated = word(v, op, core, "fetchers", 0), fetchers = stated ? stated : 1;
	uint32_t senders = 0, receivers = 0;
	for (int c = 0; c < p->ncores; c++) {
		if (!between(node_of(&p->cores[c]), first, last))
			continue;
		const int variant = program_runs(&p->ops[op], c, TT_NCRISC);
		const int routine = variant < 0 ? -1 : p->variants[variant].routine;
		senders += routine == n->fetch;
		receivers += routine == n->receive;
		check_alike(v, op, n, core, c);
		if (routine != n->fetch)
			continue;
		const uint32_t which = word(v, op, c, "fetcher", 0);
		const uint32_t at = which ? word(v, op, core, "fetch_nodes", (int)which - 1)
					  : word(v, op, core, "fetch_node", 0);
		if (which >= fetchers || at != node_of(&p->cores[c]))
			verify_wrong(v, p->ops[op].loc, op, c, "fetcher: %u of %u, at node %u, not at %u",
				     which, fetchers, at, node_of(&p->cores[c]));
	}
	if (!between(node_of(&p->cores[core]), first, last))
		verify_wrong(v, p->ops[op].loc, op, core, "mcast_first, mcast_last: it is not among them");
	if (nodes != said + 1)
		verify_wrong(v, p->ops[op].loc, op, core,
			     "weights go to a rectangle of %u cores, 1 sends and %u receive", nodes, said);
	if (senders != fetchers || senders + receivers != said + 1)
		verify_wrong(v, p->ops[op].loc, op, core,
			     "%u cores send weights and %u receive them, the semaphores count %u and %u",
			     senders, receivers, fetchers, said + 1 - fetchers);
	check_semaphore(v, op, core, "credit_semaphore", word(v, op, core, "credit_semaphore", 0));
	for (uint32_t f = 0; f < fetchers; f++)
		check_semaphore(v, op, core, "arrived_semaphore",
				word(v, op, core, "arrived_semaphore", 0) + f);
	if (word(v, op, core, "credit_semaphore", 0) - word(v, op, core, "arrived_semaphore", 0) < fetchers)
		verify_wrong(v, p->ops[op].loc, op, core, "credit_semaphore: one of the arrived ones");
}

static bool takes_part(const Verifier *v, int op, int core)
{
	return runs(v, op, core, "weights_fetch") || runs(v, op, core, "weights_receive");
}

static bool runs_nothing(const ProgramOp *op, int core)
{
	bool none = true;
	for (int r = 0; r < TT_RISCS; r++)
		none &= program_runs(op, core, (TtRisc)r) < 0;
	return none;
}

/* The last op before this one that is more than moves; -1. In between the pages keep
 * their place: what is moved stays in buffers of its own. */
static int op_before(const Verifier *v, int op, int core)
{
	const uint64_t at = word(v, op, core, "weights", 0);
	const uint64_t bytes = (uint64_t)word(v, op, core, "page_bytes", 0)
		* word(v, op, core, "pages", 0);
	int last = op - 1;
	while (last >= 0 && runs_nothing(&v->p->ops[last], core)
	       && verify_inside(v, last, core, at, bytes))
		last--;
	return last;
}

/* Weights that stay are those the op before had, all of them, at the same place. */
static void check_stay(Verifier *v, int op, int core)
{
	static const char *const same[] = { "groups", "chunks", "weights", "page_bytes", "pages",
					    "dram_bank", "dram_at", "dram_page", "dram_first" };
	const uint32_t chunks = word(v, op, core, "chunks", 0);
	const uint32_t pages = word(v, op, core, "groups", 0) * (chunks ? chunks : 1);
	const int last = op_before(v, op, core);
	const bool before = last >= 0 && v->p->ops[last].params == v->p->ops[op].params;
	if (word(v, op, core, "passes", 0) > 1 || pages > word(v, op, core, "pages", 0))
		verify_wrong(v, v->p->ops[op].loc, op, core,
			     "weights_stay: passes %u, and pages: %u for %u; not all of them stay",
			     word(v, op, core, "passes", 0), word(v, op, core, "pages", 0), pages);
	if (!before || program_runs(&v->p->ops[last], core, TT_NCRISC) < 0) {
		verify_wrong(v, v->p->ops[op].loc, op, core, "weights_stay: the op before has none");
		return;
	}
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		const uint32_t now = word(v, op, core, same[i], 0);
		const uint32_t then = word(v, last, core, same[i], 0);
		if (now != then)
			verify_wrong(v, v->p->ops[op].loc, op, core,
				     "weights_stay: %s is %u, in the op before %u", same[i], now, then);
	}
}

void verify_senders(Verifier *v, int op)
{
	Names n = { 0 };
	const int before = v->d->errors; /* more cores would say the same */
	for (int c = 0; c < v->p->ncores && v->d->errors == before; c++) {
		if (takes_part(v, op, c)) {
			if (!n.told)
				n = names_of(v->p, &v->p->ops[op]);
			check_rectangle(v, op, &n, c);
		}
		if (runs(v, op, c, "weights_stay"))
			check_stay(v, op, c);
	}
	free(n.told);
}

/* A semaphore that counts credits serves one rectangle of a core: a core of
 * another one may be ahead and give its credits early. */
void verify_credits(Verifier *v)
{
	const Program *p = v->p;
	for (int c = 0; c < p->ncores; c++) {
		int by[TT_SEMAPHORE_COUNT];
		memset(by, -1, sizeof by);
		for (int op = 0; op < p->nops; op++) {
			if (!takes_part(v, op, c))
				continue;
			int *other = &by[word(v, op, c, "credit_semaphore", 0)];
			if (*other >= 0
			    && (word(v, op, c, "mcast_first", 0) != word(v, *other, c, "mcast_first", 0)
				|| word(v, op, c, "mcast_last", 0) != word(v, *other, c, "mcast_last", 0)))
				verify_wrong(v, p->ops[op].loc, op, c,
					     "credit_semaphore: %u is that of another rectangle in op '%s'",
					     word(v, op, c, "credit_semaphore", 0), p->ops[*other].name);
			*other = op;
		}
	}
}

/* ---- weights that come while the op before runs ---- */

/* One buffer that has the bytes in this op and in the one before. */
static bool lies_there(const Verifier *v, int op, const ProgramCb *cb)
{
	const uint64_t end = cb->address + (uint64_t)cb->page_bytes * cb->pages;
	for (int i = 0; i < v->p->nbuffers; i++) {
		const ProgramBuffer *b = &v->p->buffers[i];
		if (b->place == PLACE_L1 && b->core < 0 && b->first < op && op <= b->last
		    && cb->address >= b->address && end <= b->address + b->bytes)
			return true;
	}
	return false;
}

void verify_early(Verifier *v, int index)
{
	const ProgramOp *op = &v->p->ops[index];
	if (!op->early)
		return;
	if (index == 0 || op->params != params_find("tiles")) {
		verify_wrong(v, op->loc, index, -1, "early: only weights of a later op than the first can be");
		return;
	}
	for (int c = 0; c < v->p->ncores; c++) {
		const int id = (int)word(v, index, c, "weights_cb", 0);
		const int variant = program_runs(op, c, TT_NCRISC);
		if (variant < 0)
			continue;
		if (strncmp(routine_at(v->p->variants[variant].routine)->name, "weights_", 8) != 0)
			verify_wrong(v, op->loc, index, c, "early: ncrisc brings no weights");
		if (program_has_cb(op - 1, id))
			verify_wrong(v, op->loc, index, c, "early: weights_cb %d is in use in the op before", id);
		for (int i = 0; i < op->ncbs; i++)
			if (op->cbs[i].id == id && !lies_there(v, index, &op->cbs[i]))
				verify_wrong(v, op->loc, index, c,
					     "early: the weights' buffer is not there in the op before");
	}
}
