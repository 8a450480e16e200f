#include <stdlib.h>
#include <string.h>

#include "runtime/host/error.h"
#include "runtime/host/ttb.h"

typedef struct Bytes {
	uint8_t *at;
	size_t n, room;
} Bytes;

struct TtbWriter {
	char arch[TTB_ARCH_ROOM];
	TtbFacts facts;
	Bytes section[TTB_SECTIONS];
	TtbSectionId tensors; /* TTB_INPUTS or TTB_OUTPUTS: what parts belong to */
	const char *wrong;    /* the first thing that went wrong, or NULL */
};

static const size_t aligns[TTB_SECTIONS] = {
#define SECTION(id, name, record, align) align,
#include "runtime/host/ttb.def"
};

static void wrong(TtbWriter *w, const char *what)
{
	if (!w->wrong)
		w->wrong = what;
}

/* n bytes more, zero if `from` is NULL. */
static void append(TtbWriter *w, TtbSectionId id, const void *from, size_t n)
{
	Bytes *b = &w->section[id];

	if (w->wrong || n == 0)
		return;
	if (n > b->room - b->n) {
		const size_t room = (b->n + n) * 2;
		uint8_t *at = realloc(b->at, room);

		if (!at) {
			wrong(w, "out of memory");
			return;
		}
		b->at = at;
		b->room = room;
	}
	if (from)
		memcpy(b->at + b->n, from, n);
	else
		memset(b->at + b->n, 0, n);
	b->n += n;
}

static uint32_t string(TtbWriter *w, const char *s)
{
	const size_t at = w->section[TTB_STRINGS].n;

	if (at > UINT32_MAX / 2)
		wrong(w, "too many strings");
	append(w, TTB_STRINGS, s, strlen(s) + 1);
	return (uint32_t)at;
}

TtbWriter *ttb_writer_create(const char *arch, const char *target, const char *model,
			     const char *compiler)
{
	TtbWriter *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	if (strlen(arch) >= sizeof w->arch)
		wrong(w, "the name of the architecture is too long");
	else
		memcpy(w->arch, arch, strlen(arch));
	w->facts.target = string(w, target);
	w->facts.model = string(w, model);
	w->facts.compiler = string(w, compiler);
	return w;
}

void ttb_writer_destroy(TtbWriter *w)
{
	for (int i = 0; w && i < TTB_SECTIONS; i++)
		free(w->section[i].at);
	free(w);
}

void ttb_writer_elf(TtbWriter *w, TtRisc risc, const void *elf, size_t n)
{
	if (w->section[risc].n)
		wrong(w, "two ELFs for one RISC-V");
	append(w, (TtbSectionId)risc, elf, n);
}

void ttb_writer_blocks(TtbWriter *w, uint32_t block_bytes)
{
	w->facts.block_bytes = block_bytes;
}

void ttb_writer_iram(TtbWriter *w, uint32_t from, uint32_t bytes)
{
	w->facts.iram_from = from;
	w->facts.iram_bytes = bytes;
}

uint32_t ttb_writer_core(TtbWriter *w, uint32_t col, uint32_t row, uint32_t block_bank,
			 uint32_t block_at)
{
	const TtbCore c = { col, row, block_bank, block_at };

	append(w, TTB_CORES, &c, sizeof c);
	return (uint32_t)(w->section[TTB_CORES].n / sizeof c - 1);
}

static void image(TtbWriter *w, TtbImage m, const void *bytes, size_t n)
{
	append(w, TTB_DATA, NULL, -w->section[TTB_DATA].n & 63);
	m.at = w->section[TTB_DATA].n;
	m.bytes = n;
	append(w, TTB_DATA, bytes, n);
	append(w, TTB_IMAGES, &m, sizeof m);
}

void ttb_writer_dram(TtbWriter *w, uint32_t bank, uint32_t address, const void *bytes, size_t n)
{
	image(w, (TtbImage){ .place = TTB_DRAM, .where = bank, .address = address }, bytes, n);
}

void ttb_writer_l1(TtbWriter *w, uint32_t core, uint32_t address, const void *bytes, size_t n)
{
	image(w, (TtbImage){ .place = TTB_L1, .where = core, .address = address }, bytes, n);
}

void ttb_writer_buffer(TtbWriter *w, const char *name, TtbBuffer b)
{
	b.name = string(w, name);
	append(w, TTB_BUFFERS, &b, sizeof b);
}

void ttb_writer_op(TtbWriter *w, const char *name, const char *kind)
{
	TtbOp op = { .name = string(w, name) };

	op.kind = string(w, kind);
	op.absorbed = op.source = string(w, "");
	append(w, TTB_OPS, &op, sizeof op);
}

void ttb_writer_source(TtbWriter *w, const char *absorbed, const char *source)
{
	const uint32_t a = string(w, absorbed), s = string(w, source);
	const Bytes *b = &w->section[TTB_OPS];

	if (b->n == 0)
		wrong(w, "the source of no op");
	if (w->wrong)
		return;
	TtbOp *op = (TtbOp *)(void *)(b->at + b->n) - 1;
	op->absorbed = a;
	op->source = s;
}

static void tensor(TtbWriter *w, TtbSectionId id, const char *name, TesseraType type, uint32_t rank,
		   const int64_t *shape)
{
	TtbTensor t = { .type = (uint32_t)type, .rank = rank };

	t.name = string(w, name);
	t.first_part = (uint32_t)(w->section[TTB_PARTS].n / sizeof(TtbPart));
	if (rank > TTB_MAX_RANK)
		wrong(w, "an input or output of too many dims");
	else
		memcpy(t.shape, shape, rank * sizeof *shape);
	if (id < w->tensors)
		wrong(w, "an input after an output");
	w->tensors = id;
	append(w, id, &t, sizeof t);
}

void ttb_writer_input(TtbWriter *w, const char *name, TesseraType type, uint32_t rank,
		      const int64_t *shape)
{
	tensor(w, TTB_INPUTS, name, type, rank, shape);
}

void ttb_writer_output(TtbWriter *w, const char *name, TesseraType type, uint32_t rank,
		       const int64_t *shape)
{
	tensor(w, TTB_OUTPUTS, name, type, rank, shape);
}

void ttb_writer_part(TtbWriter *w, const TtbPart *part)
{
	const Bytes *b = &w->section[w->tensors];

	if (w->tensors != TTB_INPUTS && w->tensors != TTB_OUTPUTS)
		wrong(w, "a part of no input or output");
	if (w->wrong)
		return;
	((TtbTensor *)(void *)(b->at + b->n))[-1].parts++;
	append(w, TTB_PARTS, part, sizeof *part);
}

TtbPart ttb_whole_part(const int64_t nchw[4], uint32_t base)
{
	const int64_t n = ttb_elements(4, nchw);
	TtbPart p = {
		.base = base, .rank = 1, .dims = { n }, .strides = { 1 }, .run = n, .pitch = n
	};

	memcpy(p.nchw, nchw, sizeof p.nchw);
	p.page_bytes = (uint32_t)((nchw[3] * 4 + 31) / 32 * 32);
	p.slot_bytes = (uint32_t)ttb_bank_pages(&p, 0) * p.page_bytes;
	return p;
}

void ttb_writer_text(TtbWriter *w, TtbSectionId id, const char *text)
{
	if (id != TTB_PLAN && id != TTB_PROGRAM)
		wrong(w, "a text that is neither plan nor program");
	else
		append(w, id, text, strlen(text));
}

static uint64_t align_up(uint64_t at, uint64_t align)
{
	return (at + align - 1) / align * align;
}

/* Sections one after the other; returns the size of the file. */
static uint64_t lay_out(const TtbWriter *w, TtbSection table[TTB_SECTIONS])
{
	uint64_t at = sizeof(TtbHeader) + TTB_SECTIONS * sizeof(TtbSection);

	for (int i = 0; i < TTB_SECTIONS; i++) {
		at = align_up(at, aligns[i]);
		table[i] = (TtbSection){ at, w->section[i].n };
		at += w->section[i].n;
	}
	return align_up(at, 64);
}

bool ttb_writer_finish(TtbWriter *w, uint8_t **file, size_t *n, TesseraError *e)
{
	TtbSection table[TTB_SECTIONS];

	if (w->section[TTB_FACTS].n == 0)
		append(w, TTB_FACTS, &w->facts, sizeof w->facts);
	if (w->wrong)
		return rt_fail(e, TESSERA_BAD_PACKAGE, "writing a package: %s", w->wrong);
	const uint64_t bytes = lay_out(w, table);
	uint8_t *at = aligned_alloc(64, bytes);
	if (!at)
		return rt_fail(e, TESSERA_NO_MEMORY, "out of memory: %llu bytes",
			       (unsigned long long)bytes);

	TtbHeader h = { .version = TTB_VERSION, .sections = TTB_SECTIONS, .bytes = bytes };
	memcpy(h.magic, TTB_MAGIC, sizeof h.magic);
	memcpy(h.arch, w->arch, sizeof h.arch);
	memset(at, 0, bytes);
	memcpy(at, &h, sizeof h);
	memcpy(at + sizeof h, table, sizeof table);
	for (int i = 0; i < TTB_SECTIONS; i++)
		if (w->section[i].n)
			memcpy(at + table[i].at, w->section[i].at, w->section[i].n);
	ttb_seal(at, bytes);

	Ttb *t = ttb_open_memory(at, bytes, e);
	if (!t) {
		free(at);
		return false;
	}
	ttb_close(t);
	*file = at;
	*n = bytes;
	return true;
}
