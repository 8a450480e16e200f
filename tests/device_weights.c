#include "tests/device_weights.h"

#include <string.h>

#include "backend/routines.h"
#include "ir/weight_block.h"
#include "tests/check.h"

enum { SUMS_CB = 1, EARLY_CB = 2 };
enum { ARRIVED = 1, CREDITS = 5, DRAM_BANK = 5, DRAM_PAGE = 2048, SUM_BYTES = 4096 };

static uint32_t word(const ProgramOp *op, const char *field, int index)
{
	return program_word(op, 0, params_field(params_at(op->params), field)->word + index);
}

static uint32_t arg(const Net *n, const ProgramOp *op, int index)
{
	return n->p->variants[op->variant[TT_TRISC0]].args[index];
}

static uint32_t round_up(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

/* Bytes of block `number` of a group, or 0 behind the last. */
static uint32_t block_bytes(const Net *n, const ProgramOp *op, uint32_t number)
{
	const uint32_t type = arg(n, op, 1), count = arg(n, op, 2);
	for (uint32_t s = 0; s < word(op, "segments", 0); s++) {
		const uint32_t k = word(op, "k_block", (int)s);
		const WeightBlocks w = { type, word(op, "kernel_h", 0) * word(op, "kernel_w", 0),
					 TILE * round_up(word(op, "in_planes", (int)s), 2),
					 TILE * count, k, count };
		if (number < weight_block_count(&w))
			return weight_block_bytes(&w);
		number -= weight_block_count(&w);
	}
	return 0;
}

static uint32_t count_blocks(const Net *n, const ProgramOp *op)
{
	uint32_t blocks = 0;
	while (block_bytes(n, op, blocks))
		blocks++;
	return blocks;
}

/* Blocks from `first` on, `count` of them at most, to the end of a page. */
static uint32_t chunk_bytes(const Net *n, const ProgramOp *op, uint32_t first, uint32_t count)
{
	uint32_t bytes = 0;
	for (uint32_t i = first; i < first + count; i++)
		bytes += block_bytes(n, op, i);
	return bytes;
}

/* The image of groups again, each cut into pages that start with its bias. */
static uint8_t *cut(Net *n, const ProgramOp *op, const uint8_t *from, uint32_t old_page,
		    uint32_t each, uint32_t chunks, uint32_t page, uint32_t first)
{
	const uint32_t bias = 128 * arg(n, op, 2), groups = word(op, "groups", 0);
	const size_t bytes = first + (size_t)groups * chunks * page;
	uint8_t *to = arena_alloc(n->t->arena, bytes), *at = to + first;
	memset(to, 0xa5, bytes);
	for (uint32_t g = 0; g < groups; g++, from += old_page) {
		const uint8_t *blocks = from + bias;
		for (uint32_t c = 0; c < chunks; c++, at += page) {
			const uint32_t part = chunk_bytes(n, op, c * each, each);
			memcpy(at, from, bias);
			memcpy(at + bias, blocks, part);
			blocks += part;
		}
	}
	return to;
}

static uint32_t take(Net *n, const char *what, uint64_t bytes)
{
	ProgramBuffer *b = program_buffer(n->p, arena_printf(n->t->arena, "%s%d", what, n->p->nops));
	b->place = PLACE_L1;
	b->core = -1;
	b->address = n->l1;
	b->bytes = (bytes + 31) / 32 * 32;
	n->l1 += (uint32_t)b->bytes;
	return (uint32_t)b->address;
}

static void semaphores(Net *n)
{
	for (int id = n->p->nsemaphores; id < TT_SEMAPHORE_COUNT; id++)
		program_semaphore(n->p, arena_printf(n->t->arena, "s%d", id))->id = id;
}

/* Sizes of the pages and of what is kept between them. */
static void set_chunks(Net *n, ProgramOp *op, const Stream *s)
{
	const uint32_t count = arg(n, op, 2), hold = arg(n, op, 3), blocks = count_blocks(n, op);
	const uint32_t each = s->chunk_blocks ? (uint32_t)s->chunk_blocks : blocks;
	const uint32_t chunks = round_up(blocks, each), groups = word(op, "groups", 0);
	const uint32_t high = round_up(word(op, "rows", 0), hold);
	const uint32_t units = high * round_up(word(op, "cols", 0), TILE);
	const uint32_t block = s->block ? (uint32_t)s->block : chunks > 1 ? 1 : units;
	uint32_t page = 0;
	for (uint32_t c = 0; c < chunks; c++) {
		const uint32_t bytes = 128 * count + chunk_bytes(n, op, c * each, each);
		page = bytes > page ? bytes : page;
	}
	ProgramImage *image = &n->p->images[n->p->nimages - 1];
	const uint8_t *data = cut(n, op, image->data, word(op, "page_bytes", 0), each, chunks, page,
				  (uint32_t)s->first);
	const char *name = image->name;
	const uint64_t bytes = (uint64_t)s->first + (uint64_t)groups * chunks * page;
	n->p->nimages--;
	image = program_image(n->p, name, data, bytes);
	image->page_bytes = DRAM_PAGE;
	image->bank = DRAM_BANK;
	image->address = n->dram;
	n->dram += (image->bytes / DRAM_PAGE / TT_DRAM_BANKS + 1) * DRAM_PAGE;
	const uint32_t ring = take(n, "stream", (uint64_t)page * (uint64_t)s->pages);
	op->cbs[0].address = ring;
	op->cbs[0].page_bytes = page;
	op->cbs[0].pages = (uint32_t)s->pages;
	program_set(op, "dram_at", 0, (uint32_t)image->address);
	program_set(op, "dram_first", 0, (uint32_t)s->first);
	program_set(op, "weights", 0, ring);
	program_set(op, "page_bytes", 0, page);
	program_set(op, "pages", 0, (uint32_t)s->pages);
	program_set(op, "chunks", 0, chunks);
	program_set(op, "chunk_blocks", 0, each);
	program_set(op, "block", 0, block);
	program_set(op, "passes", 0, round_up(units, block));
	if (chunks == 1 || block == 1)
		return;
	const uint32_t sums = SUM_BYTES * (hold > 1 ? hold : count);
	*program_cb(n->p, op, SUMS_CB) =
		(ProgramCb){ .id = SUMS_CB, .page_bytes = sums, .pages = block,
			     .address = take(n, "sums", (uint64_t)sums * block) };
	program_set(op, "sums_cb", 0, SUMS_CB);
	program_set(op, "sums", 0, op->cbs[1].address);
	program_set(op, "sums_pages", 0, block);
}

static uint32_t node_of(const Net *n, int core)
{
	return TT_NODE(TT_VIRTUAL + n->p->cores[core].col, TT_VIRTUAL + n->p->cores[core].row);
}

static int core_at(const Net *n, int col, int row)
{
	for (int c = 0; c < n->p->ncores; c++)
		if (n->p->cores[c].col == col && n->p->cores[c].row == row)
			return c;
	fail_msg("no core at (%d, %d)", col, row);
	return -1;
}

/* A rectangle whose first core is at (col, row): fetchers are its last cores, in
 * turn with the op. */
static void set_rectangle(Net *n, ProgramOp *op, const Stream *s, int col, int row)
{
	const int cores = s->cols * s->rows;
	for (int i = 0; i < cores; i++) {
		const int core = core_at(n, col + i % s->cols, row + i / s->cols);
		const int which = (i + n->p->nops) % cores;
		program_set_core(n->p, op, core, "mcast_first", 0, node_of(n, core_at(n, col, row)));
		program_set_core(n->p, op, core, "mcast_last", 0,
				 node_of(n, core_at(n, col + s->cols - 1, row + s->rows - 1)));
		program_set_core(n->p, op, core, "receivers", 0, (uint32_t)cores - 1);
		for (int k = 0; k < cores; k++) {
			const int other = core_at(n, col + k % s->cols, row + k / s->cols);
			const int place = (k + n->p->nops) % cores;
			if (place >= s->fetchers)
				continue;
			program_set_core(n->p, op, core, place ? "fetch_nodes" : "fetch_node",
					 place ? place - 1 : 0, node_of(n, other));
		}
		program_set_core(n->p, op, core, "fetcher", 0, which < s->fetchers ? (uint32_t)which : 0);
		program_run_on(op, core, TT_NCRISC,
			       program_variant(n->p, which < s->fetchers ? "weights_fetch" : "weights_receive",
					       NULL, 0));
	}
}

void net_stream(Net *n, Stream s)
{
	ProgramOp *op = &n->p->ops[n->p->nops - 1];
	op->early = s.early;
	/* The one that is not in use in the op before. */
	const ProgramOp *before = op - 1;
	const bool other = s.early && before->ncbs && before->cbs[0].id == 0;
	semaphores(n);
	set_chunks(n, op, &s);
	if (other) {
		const ProgramCb ring = op->cbs[0];
		op->ncbs--;
		if (op->ncbs)
			op->cbs[0] = op->cbs[1];
		*program_cb(n->p, op, EARLY_CB) = (ProgramCb){ .id = EARLY_CB, .pages = ring.pages,
			.address = ring.address, .page_bytes = ring.page_bytes };
		program_set(op, "weights_cb", 0, EARLY_CB);
	}
	if (s.cols * s.rows == 1) {
		for (int c = 0; c < n->p->ncores; c++)
			program_run_on(op, c, TT_NCRISC, program_variant(n->p, "weights_read", NULL, 0));
		return;
	}
	/* A semaphore for each shape of rectangles. */
	const int shape = __builtin_ctz((unsigned)s.cols) * 2 + __builtin_ctz((unsigned)s.rows);
	program_set(op, "credit_semaphore", 0, (uint32_t)(CREDITS + shape));
	program_set(op, "arrived_semaphore", 0, ARRIVED);
	program_set(op, "fetchers", 0, (uint32_t)s.fetchers);
	for (int c = 0; c < n->p->ncores; c++) {
		const ProgramCore *at = &n->p->cores[c];
		if (at->col % s.cols == 0 && at->row % s.rows == 0)
			set_rectangle(n, op, &s, at->col, at->row);
	}
}

void net_stay(Net *n)
{
	static const char *const same[] = { "chunks", "chunk_blocks", "block", "passes", "weights_cb",
					    "weights", "page_bytes", "pages", "dram_at", "dram_first" };
	ProgramOp *op = &n->p->ops[n->p->nops - 1];
	for (size_t i = 0; i < sizeof same / sizeof *same; i++)
		program_set(op, same[i], 0, word(op - 1, same[i], 0));
	op->cbs[0].address = op[-1].cbs[0].address;
	op->cbs[0].page_bytes = op[-1].cbs[0].page_bytes;
	op->cbs[0].pages = op[-1].cbs[0].pages;
	for (int c = 0; c < n->p->ncores; c++)
		program_run_on(op, c, TT_NCRISC, program_variant(n->p, "weights_stay", NULL, 0));
}
