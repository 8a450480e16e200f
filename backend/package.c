#include "backend/package.h"

#include <stdlib.h>
#include <string.h>

#include "backend/program_text.h"
#include "ir/file.h"
#include "runtime/host/ttb.h"

/* The pages of a spread image that lie in one bank, one behind the other. */
static void add_spread(TtbWriter *w, const ProgramImage *i, uint32_t bank)
{
	const uint64_t pages = (i->bytes + i->page_bytes - 1) / i->page_bytes;
	const uint64_t first = (bank + TT_DRAM_BANKS - (uint32_t)i->bank) % TT_DRAM_BANKS;
	uint64_t n = 0;
	if (first >= pages)
		return;
	uint8_t *gathered = xmalloc((pages / TT_DRAM_BANKS + 1) * i->page_bytes);
	for (uint64_t page = first; page < pages; page += TT_DRAM_BANKS) {
		const uint64_t at = page * i->page_bytes;
		const uint64_t left = i->bytes - at;
		const uint64_t bytes = left < i->page_bytes ? left : i->page_bytes;
		memcpy(gathered + n, i->data + at, bytes);
		n += bytes;
	}
	ttb_writer_dram(w, bank, (uint32_t)i->address, gathered, n);
	free(gathered);
}

static bool add_images(TtbWriter *w, Diag *d, const Program *p)
{
	for (int n = 0; n < p->nimages; n++) {
		const ProgramImage *i = &p->images[n];
		if (!i->data && i->bytes) {
			diag_error(d, i->loc, "image '%s' has no data, only a hash", i->name);
			return false;
		}
		if (i->page_bytes)
			for (uint32_t bank = 0; bank < TT_DRAM_BANKS; bank++)
				add_spread(w, i, bank);
		else if (i->bytes)
			ttb_writer_dram(w, (uint32_t)i->bank, (uint32_t)i->address, i->data,
					i->bytes);
	}
	return true;
}

static void add_code(TtbWriter *w, const Code *c, const Blocks *b)
{
	for (int r = 0; r < TT_RISCS; r++)
		ttb_writer_elf(w, (TtRisc)r, c->elf[r].data, c->elf[r].size);
	if (c->iram_bytes)
		ttb_writer_iram(w, c->iram_from, c->iram_bytes);
	for (int i = 0; i < c->noverlays; i++)
		if (c->overlays[i].bytes)
			ttb_writer_dram(w, (uint32_t)i % TT_DRAM_BANKS, blocks_overlay_at(b, c, i),
					c->overlays[i].data, c->overlays[i].bytes);
}

static void add_blocks(TtbWriter *w, const Program *p, const Blocks *b)
{
	const size_t bytes = (size_t)b->block_bytes * (size_t)p->nops;
	ttb_writer_blocks(w, b->block_bytes);
	for (int c = 0; c < p->ncores; c++) {
		ttb_writer_core(w, (uint32_t)p->cores[c].col, (uint32_t)p->cores[c].row, b->bank[c],
				b->at[c]);
		ttb_writer_dram(w, b->bank[c], b->at[c], b->data[c], bytes);
	}
}

/* Program semaphores that do not start at 0 are set on every core. */
static void add_semaphores(TtbWriter *w, const Program *p)
{
	for (int i = 0; i < p->nsemaphores; i++) {
		const uint32_t words[4] = { p->semaphores[i].value };
		if (words[0])
			ttb_writer_l1(w, TTB_EVERY_CORE,
				      TT_SEMAPHORES + 16 * (uint32_t)p->semaphores[i].id, words,
				      sizeof words);
	}
}

static void add_buffers(TtbWriter *w, Arena *a, const Program *p)
{
	for (int i = 0; i < p->nbuffers; i++) {
		const ProgramBuffer *b = &p->buffers[i];
		const TtbBuffer to = {
			.core = b->core < 0 ? TTB_EVERY_CORE : (uint32_t)b->core,
			.first = (uint32_t)b->address, .end = (uint32_t)(b->address + b->bytes),
			.born = (uint32_t)b->first, .dies = (uint32_t)b->last,
		};
		if (b->place == PLACE_L1)
			ttb_writer_buffer(w, b->name, to);
	}
	for (int o = 0; o < p->nops; o++)
		for (int i = 0; i < p->ops[o].ncbs; i++) {
			const ProgramCb *cb = &p->ops[o].cbs[i];
			const TtbBuffer to = {
				.core = TTB_EVERY_CORE, .first = cb->address,
				.end = cb->address + cb->page_bytes * cb->pages,
				.born = (uint32_t)(o - p->ops[o].early), .dies = (uint32_t)o,
			};
			ttb_writer_buffer(w, arena_printf(a, "%s.cb%d", p->ops[o].name, cb->id), to);
		}
}

/* The source map. */
static void add_ops(TtbWriter *w, Arena *a, const Program *p)
{
	for (int o = 0; o < p->nops; o++) {
		const ProgramOp *op = &p->ops[o];
		const char *absorbed = "";
		for (int i = 0; i < op->nabsorbed; i++)
			absorbed = arena_printf(a, "%s%s%s", absorbed, i ? ", " : "",
						op->absorbed[i]);
		ttb_writer_op(w, op->name, op->kind);
		ttb_writer_source(w, absorbed, op->source ? op->source : "");
	}
}

static int64_t count_from(Shape s, int axis)
{
	int64_t n = 1;
	for (int i = axis; i < s.rank; i++)
		n *= s.dim[i];
	return n;
}

static TesseraType host_type(DType type)
{
	const int host = program_host_type(type);
	if (host < 0)
		die("a package with %s", type_info[type].name);
	return (TesseraType)host;
}

TtbPart package_part(const ProgramEdge *e, int part)
{
	const ProgramPart *from = &e->parts[part];
	const ProgramTensor *t = &from->tensor;
	int64_t before = 0; /* along the axis */
	for (int i = 0; i < part; i++)
		if (e->axis < e->parts[i].shape.rank)
			before += e->parts[i].shape.dim[e->axis];
	TtbPart to = ttb_whole_part(t->shape, (uint32_t)t->base);
	to.stored = t->stored;
	to.page_bytes = t->page_bytes;
	to.slot_bytes = (uint32_t)t->slot_bytes;
	if (from->view.rank) {
		to.rank = (uint32_t)from->view.rank;
		to.offset = from->view.offset;
		memset(to.dims, 0, sizeof to.dims);
		memset(to.strides, 0, sizeof to.strides);
		memcpy(to.dims, from->view.dims, to.rank * sizeof *to.dims);
		memcpy(to.strides, from->view.strides, to.rank * sizeof *to.strides);
	}
	to.run = count_from(from->shape, e->axis);
	to.pitch = count_from(e->shape, e->axis);
	to.start = before * count_from(e->shape, e->axis + 1);
	return to;
}

static void add_edge(TtbWriter *w, const ProgramEdge *e)
{
	for (int i = 0; i < e->nparts; i++) {
		const TtbPart part = package_part(e, i);
		ttb_writer_part(w, &part);
	}
}

static void add_edges(TtbWriter *w, const Program *p)
{
	for (int i = 0; i < p->ninputs; i++) {
		const Shape s = p->inputs[i].shape;
		ttb_writer_input(w, p->inputs[i].name, host_type(p->inputs[i].dtype),
				 (uint32_t)s.rank, s.dim);
		add_edge(w, &p->inputs[i]);
	}
	for (int i = 0; i < p->noutputs; i++) {
		const Shape s = p->outputs[i].shape;
		ttb_writer_output(w, p->outputs[i].name, host_type(p->outputs[i].dtype),
				  (uint32_t)s.rank, s.dim);
		add_edge(w, &p->outputs[i]);
	}
}

static void add_texts(TtbWriter *w, Arena *a, const Program *p)
{
	TextFile text;
	text_open(&text);
	program_print(p, text.f);
	ttb_writer_text(w, TTB_PROGRAM, text_take(&text, a));
	if (p->plan)
		ttb_writer_text(w, TTB_PLAN, p->plan);
}

Bytes package_make(Arena *a, Diag *d, const Program *p, const Target *t, const Code *c,
		   const Blocks *b, const char *compiler)
{
	TtbWriter *w = ttb_writer_create(t->arch, t->name, p->name, compiler);
	TesseraError error;
	uint8_t *file = NULL;
	size_t n = 0;
	if (!w)
		die_out_of_memory(0);
	const bool whole = add_images(w, d, p);
	add_code(w, c, b);
	add_blocks(w, p, b);
	add_semaphores(w, p);
	add_buffers(w, a, p);
	add_ops(w, a, p);
	add_edges(w, p);
	add_texts(w, a, p);
	if (whole && !ttb_writer_finish(w, &file, &n, &error))
		diag_error(d, (Loc){ .file = p->name }, "%s", error.text);
	ttb_writer_destroy(w);
	if (!file)
		return (Bytes){ NULL, 0 };
	char *kept = arena_alloc(a, n);
	memcpy(kept, file, n);
	free(file);
	return (Bytes){ kept, n };
}
