/* Packages made by hand: RISC-V code as words, and everything around it. */
#ifndef TESTS_PACKAGE_H
#define TESTS_PACKAGE_H

#include <stdlib.h>
#include <string.h>

#include "runtime/host/ttb.h"
#include "tests/check.h"

enum { ELF_ROOM = 84 + 4096, ELF_CODE = 84 }; /* headers, then code */

/* An executable of one segment; returns its size. */
static inline size_t elf_make(uint8_t elf[ELF_ROOM], uint32_t at, const uint32_t *code,
			      size_t words)
{
	const uint32_t bytes = (uint32_t)words * 4;
	const uint32_t header[] = {
		0x464c457f, 0x00010101, 0, 0,        0x00f30002, 1,  at,    52,    0, 0, 0x00200034,
		1,          0,          1, ELF_CODE, at,         at, bytes, bytes, 5, 4,
	};

	assert_true(ELF_CODE + bytes <= ELF_ROOM);
	memcpy(elf, header, sizeof header);
	memcpy(elf + ELF_CODE, code, bytes);
	return ELF_CODE + bytes;
}

/* What BRISC runs on every core, and the tensors in DRAM. */
typedef struct Sample {
	const uint32_t *code;
	size_t words;
	uint32_t cores;
	int64_t in[4], out[4];
} Sample;

enum {
	SAMPLE_BLOCKS = 0x1000, /* bank 0 */
	SAMPLE_BLOCK = 96,
	SAMPLE_IN = 0x100000,
	SAMPLE_OUT = 0x200000, /* each bank */
	SAMPLE_BUFFER = TT_USER,
	SAMPLE_BUFFER_END = TT_USER + 0x1000,
};

static const uint32_t jump_to_itself[] = { 0x0000006f };

/*
 * BRISC code that copies the input to the output, for runs on devices that
 * execute what they load. Core 0 does the work, the others take notice:
 *
 *     for (last = 0;; last = go) {
 *             while ((go = launch->go) == last)
 *                     ;
 *             TT_OP_WORD = 1, TT_START = 2 * go;
 *             if (launch->core != 0)
 *                     continue;
 *             n = *(uint32_t *)SAMPLE_BUFFER;      an image: bytes of a slot
 *             for (bank = 0; bank < 12; bank++)
 *                     NoC read of n bytes from SAMPLE_IN + slot * n to SAMPLE_BUFFER + 64,
 *                     wait, NoC write to SAMPLE_OUT + slot * n, wait;
 *             launch->done = go;
 *     }
 */
static const uint32_t copies_input[] = {
	0x00000493, 0xffb20537, 0x0001a5b7, 0xd0058593, 0x00017637, 0x000026b7, 0x09068693,
	0x00100713, 0x00200793, 0x00100837, 0x002008b7, 0x00268293, 0x00c00313, 0x00b71393,
	0x00300e13, 0x00500e93, 0x00ae9e93, 0x00ae1f13, 0x00400f93, 0x00062403, 0xfe940ee3,
	0x3ce62823, 0x00141493, 0x38962023, 0x02062903, 0x00040493, 0xfe0912e3, 0xfc05a483,
	0x00c62983, 0x029989b3, 0x00000a13, 0x02f96063, 0x00195a93, 0x00fa8c63, 0x00038a13,
	0x01ca8863, 0x000f0a13, 0x01fa8463, 0x000e8a13, 0x00493a93, 0xfffa8a93, 0x050afa93,
	0x015a6a33, 0x01f91a93, 0x001ada93, 0x013a8ab3, 0x20852b03, 0x010a8bb3, 0x01752023,
	0x01452223, 0x00b52623, 0x02862b83, 0x01752823, 0x00052c23, 0x00d52e23, 0x02952023,
	0x02e52423, 0x02852b83, 0xfe0b9ee3, 0x20852b83, 0xff6b8ee3, 0x20452b03, 0x00b52023,
	0x02862b83, 0x01752223, 0x011a8ab3, 0x01552623, 0x01452823, 0x00052c23, 0x00552e23,
	0x02952023, 0x02e52423, 0x02852a03, 0xfe0a1ee3, 0x20452a03, 0xff6a0ee3, 0x00190913,
	0xf46912e3, 0x00862223, 0x00040493, 0xf0dff06f,
};

/* Two ops, a buffer on each core, an input and an output. */
static inline TtbWriter *sample_writer(const Sample *s)
{
	static const uint8_t blocks[2 * SAMPLE_BLOCK];
	uint8_t elf[ELF_ROOM];
	TtbWriter *w = ttb_writer_create(TTB_ARCH, "wormhole_n150", "sample", "by hand");
	const TtbPart in = ttb_whole_part(s->in, SAMPLE_IN),
		      out = ttb_whole_part(s->out, SAMPLE_OUT);

	assert_non_null(w);
	ttb_writer_elf(w, TT_BRISC, elf, elf_make(elf, 0, s->code, s->words));
	for (int r = 1; r < TT_RISCS; r++)
		ttb_writer_elf(w, (TtRisc)r, elf,
			       elf_make(elf, 0x4000u * (uint32_t)r, jump_to_itself, 1));
	ttb_writer_blocks(w, SAMPLE_BLOCK);
	for (uint32_t i = 0; i < s->cores; i++) {
		const uint32_t at = SAMPLE_BLOCKS + i * (uint32_t)sizeof blocks;

		assert_int_equal(ttb_writer_core(w, i % 8, i / 8, 0, at), i);
		ttb_writer_dram(w, 0, at, blocks, sizeof blocks);
	}
	ttb_writer_op(w, "first", "conv2d");
	ttb_writer_op(w, "second", "relu");
	ttb_writer_source(w, "norm, act", "sample.nnef:3:7");
	ttb_writer_l1(w, TTB_EVERY_CORE, SAMPLE_BUFFER, &in.slot_bytes, sizeof in.slot_bytes);
	ttb_writer_buffer(w, "rows",
			  (TtbBuffer){ .core = TTB_EVERY_CORE, .first = SAMPLE_BUFFER,
				       .end = SAMPLE_BUFFER_END, .dies = 1 });
	ttb_writer_input(w, "x", TESSERA_F32, 4, s->in);
	ttb_writer_part(w, &in);
	ttb_writer_output(w, "y", TESSERA_F32, 4, s->out);
	ttb_writer_part(w, &out);
	ttb_writer_text(w, TTB_PLAN, "the plan\n");
	ttb_writer_text(w, TTB_PROGRAM, "the program\n");
	return w;
}

static inline uint8_t *sample_finish(TtbWriter *w, size_t *n)
{
	TesseraError e = { 0 };
	uint8_t *file = NULL;

	if (!ttb_writer_finish(w, &file, n, &e))
		fail_msg("%s", e.text);
	ttb_writer_destroy(w);
	return file;
}

#endif
