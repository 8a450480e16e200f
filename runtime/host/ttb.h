/*
 * A .ttb package: a compiled network in one file that is mapped and used in
 * place. All numbers are little-endian.
 *
 *     TtbHeader                    magic, version, size, checksum, architecture
 *     TtbSection[TTB_SECTIONS]     where each section of ttb.def lies
 *     sections                     in that order, aligned, zeros between them
 *
 * The file is a multiple of 64 bytes long. The checksum is FNV-1a taken over
 * 64-bit words instead of bytes, over the whole file with the checksum itself
 * as zero.
 *
 * A reader takes its own version only. What ttb_open gives has been checked
 * through: every number in it is in range, so users need not look again.
 *
 *     TtbWriter *w = ttb_writer_create(TTB_ARCH, "wormhole_n150", "unet", "tessera 0.1.0");
 *     for (int r = 0; r < TT_RISCS; r++)
 *             ttb_writer_elf(w, r, elf[r], elf_bytes[r]);
 *     uint32_t core = ttb_writer_core(w, 0, 0, bank, at);
 *     ttb_writer_dram(w, bank, at, blocks, blocks_bytes);
 *     ttb_writer_op(w, "conv1", "conv2d");
 *     ttb_writer_source(w, "norm1, relu1", "unet.nnef:12:9");
 *     ttb_writer_blocks(w, block_bytes);
 *     ttb_writer_input(w, "x", TESSERA_F32, 4, (int64_t[]){ 1, 3, 64, 64 });
 *     ttb_writer_part(w, &part);
 *     ...
 *     bool good = ttb_writer_finish(w, &bytes, &n, &error);
 *     ttb_writer_destroy(w);
 */
#ifndef RUNTIME_HOST_TTB_H
#define RUNTIME_HOST_TTB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "runtime/device/map.h"
#include "runtime/host/tessera_rt.h"

enum {
	TTB_VERSION = 3,
	TTB_MAX_RANK = TESSERA_MAX_RANK,
	TTB_ARCH_ROOM = 32,
	TTB_SLOTS = 2, /* of inputs and outputs */
	TTB_MAX_TENSORS = 256, /* inputs, outputs, parts: of each at most */
};

#define TTB_MAGIC "TESSERA\n"
#define TTB_ARCH  "wormhole" /* what this library can run; targets differ in their grids only */
#define TTB_EVERY_CORE UINT32_MAX

typedef struct TtbHeader {
	char magic[8];
	uint32_t version;
	uint32_t sections; /* TTB_SECTIONS */
	uint64_t bytes;    /* of the file */
	uint64_t checksum;
	char arch[TTB_ARCH_ROOM]; /* ends with a zero byte */
} TtbHeader;

typedef struct TtbSection {
	uint64_t at, bytes; /* whole records */
} TtbSection;

/* Strings are offsets into the section of strings. */
typedef struct TtbFacts {
	uint32_t target, model, compiler; /* strings */
	uint32_t block_bytes;             /* TtLaunch */
	uint32_t iram_from, iram_bytes;
} TtbFacts;

/* A worker that takes part, in the order of TtLaunch.core. Its parameter
 * blocks, one for each op, lie in a bank of DRAM. */
typedef struct TtbCore {
	uint32_t col, row; /* logical */
	uint32_t block_bank, block_at; /* at: from the start of the bank */
} TtbCore;

typedef enum TtbPlace { TTB_DRAM, TTB_L1 } TtbPlace;

/* Bytes to be in memory before the program starts. */
typedef struct TtbImage {
	uint32_t place;    /* TtbPlace */
	uint32_t where;    /* bank, or index of the core, or TTB_EVERY_CORE */
	uint32_t address;  /* in DRAM from the start of the bank, a multiple of 32; in L1 of 16 */
	uint32_t unused;
	uint64_t at, bytes; /* in the section of data; at is a multiple of 64 */
} TtbImage;

/* An input or output as the caller of the library sees it. */
typedef struct TtbTensor {
	uint32_t name; /* string */
	uint32_t type; /* TesseraType */
	uint32_t rank;
	uint32_t first_part, parts; /* in the section of parts */
	uint32_t unused;
	int64_t shape[TTB_MAX_RANK]; /* 0 past the rank */
} TtbTensor;

/*
 * A tensor in DRAM (end of map.h) and how it is part of an input or output of
 * the caller's. Its elements are looked at through a view: element k, in
 * row-major order of dims, is element offset + sum(index * strides) of the
 * NCHW tensor in DRAM. In the caller's row-major array it is element
 * start + k / run * pitch + k % run.
 *
 * The whole of the caller's array at once: run = pitch = elements, start = 0.
 * Parts joined along an axis: run = elements of the part from that axis on,
 * pitch = the same of the whole, start = where the part begins in the first.
 */
typedef struct TtbPart {
	uint32_t base;       /* in each bank, from its start; a multiple of 32 */
	uint32_t page_bytes; /* a multiple of 32, at least a row */
	uint32_t slot_bytes; /* a multiple of 32: pages of a bank, of one slot */
	uint32_t rank;       /* of the view */
	uint32_t stored;     /* TtHost: elements in DRAM, the caller's or bf16 */
	uint32_t unused;     /* 0 */
	int64_t nchw[4];
	int64_t dims[TTB_MAX_RANK], strides[TTB_MAX_RANK]; /* 0 past the rank */
	int64_t offset;
	int64_t start, run, pitch;
} TtbPart;

/* L1 the program may write; also names addresses in reports. Those of
 * different times may overlap. */
typedef struct TtbBuffer {
	uint32_t name; /* string */
	uint32_t core; /* index, or TTB_EVERY_CORE */
	uint32_t first, end;
	uint32_t born, dies; /* ops: first and last that use it */
} TtbBuffer;

/* The source map: op i of the program. All are strings. */
typedef struct TtbOp {
	uint32_t name, kind; /* of the model, of ir/steps.def */
	uint32_t absorbed;   /* names of ops of the model it took in, ", " between them; or "" */
	uint32_t source;     /* where the model has it: "unet.nnef:12:9"; or "" */
} TtbOp;

typedef enum TtbSectionId {
#define SECTION(id, name, record, align) TTB_##id,
#include "runtime/host/ttb.def"
	TTB_SECTIONS
} TtbSectionId;

typedef struct Ttb {
	const uint8_t *file;
	const TtbHeader *header;
	const TtbSection *section;
	const TtbFacts *facts;
	const TtbCore *core;
	const TtbImage *image;
	const TtbTensor *input, *output;
	const TtbPart *part;
	const TtbBuffer *buffer;
	const TtbOp *op;
	size_t cores, images, inputs, outputs, parts, buffers, ops;
	void *owned;    /* memory to free, or NULL */
	size_t mapped;  /* bytes to unmap at `file`, or 0 */
} Ttb;

/* NULL, and why, if it is not a sound package for TTB_ARCH. */
Ttb *ttb_open(const char *path, TesseraError *e);
Ttb *ttb_open_memory(const void *bytes, size_t n, TesseraError *e);
void ttb_close(Ttb *t);

/* What `tessera info` shows. */
void ttb_print(const Ttb *t, FILE *f);

const char *ttb_string(const Ttb *t, uint32_t at);

/* Op i in messages, even if there is none: "conv1 (unet.nnef:12:9, with norm1, relu1)". */
enum { TTB_OP_TEXT = 192 };
const char *ttb_op_text(const Ttb *t, uint32_t i, char room[TTB_OP_TEXT]);
const char *ttb_section_name(TtbSectionId id);
const void *ttb_section(const Ttb *t, TtbSectionId id, size_t *bytes);
const void *ttb_image_bytes(const Ttb *t, const TtbImage *image);

/* 1 for a rank of 0. */
int64_t ttb_elements(uint32_t rank, const int64_t *dims);

/* What lies at an address of L1 while a core is at an op, or was the last to; or NULL. */
const TtbBuffer *ttb_buffer_at(const Ttb *t, size_t core, uint64_t address, uint32_t op);

/* Pages of a part that lie in a bank, of one slot. */
int64_t ttb_bank_pages(const TtbPart *p, uint32_t bank);

/* Writes the checksum of a whole file into it. */
void ttb_seal(void *file, size_t n);

typedef struct TtbWriter TtbWriter;

/* What is given is copied; out of memory or a wrong call is remembered, and
 * said by ttb_writer_finish. */
TtbWriter *ttb_writer_create(const char *arch, const char *target, const char *model,
			     const char *compiler);
void ttb_writer_destroy(TtbWriter *w);

/* A RISC-V without an ELF is never started. BRISC's has its entry at 0. */
void ttb_writer_elf(TtbWriter *w, TtRisc risc, const void *elf, size_t n);
void ttb_writer_blocks(TtbWriter *w, uint32_t block_bytes);
void ttb_writer_iram(TtbWriter *w, uint32_t from, uint32_t bytes);

/* Its index. */
uint32_t ttb_writer_core(TtbWriter *w, uint32_t col, uint32_t row, uint32_t block_bank,
			 uint32_t block_at);
void ttb_writer_dram(TtbWriter *w, uint32_t bank, uint32_t address, const void *bytes, size_t n);
void ttb_writer_l1(TtbWriter *w, uint32_t core, uint32_t address, const void *bytes, size_t n);
void ttb_writer_buffer(TtbWriter *w, const char *name, TtbBuffer b); /* but for its name */
void ttb_writer_op(TtbWriter *w, const char *name, const char *kind);

/* More of the op that was last. */
void ttb_writer_source(TtbWriter *w, const char *absorbed, const char *source);

/* Parts follow the tensor they belong to. ttb_whole_part is that of a tensor
 * that lies in DRAM as the caller sees it, NCHW, from its shape and base; the
 * next free byte of each bank is then base + TTB_SLOTS * slot_bytes. */
void ttb_writer_input(TtbWriter *w, const char *name, TesseraType type, uint32_t rank,
		      const int64_t *shape);
void ttb_writer_output(TtbWriter *w, const char *name, TesseraType type, uint32_t rank,
		       const int64_t *shape);
void ttb_writer_part(TtbWriter *w, const TtbPart *part);
TtbPart ttb_whole_part(const int64_t nchw[4], uint32_t base);

/* TTB_PLAN or TTB_PROGRAM. */
void ttb_writer_text(TtbWriter *w, TtbSectionId id, const char *text);

/* The file, which ttb_open_memory has accepted; free() it. */
bool ttb_writer_finish(TtbWriter *w, uint8_t **file, size_t *n, TesseraError *e);

#endif
