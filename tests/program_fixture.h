/*
 * A small program as text: an input, a conv whose weights one core fetches for
 * two, an output, with a row pushed from core to core. Tests edit it.
 */
#ifndef TESTS_PROGRAM_FIXTURE_H
#define TESTS_PROGRAM_FIXTURE_H

#include <string.h>

#include "backend/program_text.h"
#include "backend/program_verify.h"
#include "ir/weight_block.h"
#include "tests/check.h"
#include "tests/fixture.h"

static const char small_program[] =
	"program \"small\" target wormhole_n150 dram_free 0x4000\n"
	"cores (0,0) (1,0)\n"
	"variant in_a = edge_in {part = 0, parts = 1}\n"
	"variant read_a = edge_read {parts = 1}\n"
	"variant unpack_a = conv_unpack {in_type = 1, weight_type = 1, n = 1, hold = 1}\n"
	"variant math_a = conv_math {n = 1, hold = 1, phases = 4}\n"
	"variant store_a = store {out_type = 1, n = 1, hold = 1, relu = 1}\n"
	"variant fetch = weights_fetch {}\n"
	"variant receive = weights_receive {}\n"
	"variant out_a = edge_out {type = 1, part = 0, parts = 1}\n"
	"variant write_a = edge_write {parts = 1, fp32 = 0}\n"
	"buffer \"x\" l1 at 0x20000 bytes 0x2000 life 0..1\n"
	"buffer \"y\" l1 at 0x24000 bytes 0x2000 life 1..2\n"
	"buffer \"w\" l1 at 0x28000 bytes 0x900 life 1..1\n"
	"buffer \"rows\" l1 at 0x30000 bytes 0x1000 life 0..2\n"
	"semaphore \"credit\" id 0 value 0\n"
	"semaphore \"arrived\" id 1 value 0\n"
	"image \"w\" bank 0 page 0x2000 at 0x0 bytes 2176 hash 0x0\n"
	"input \"x\" f32[1,16,4,32] axis 0\n"
	"\tpart [1,16,4,32] of [1,16,4,32] base 0x2000 page 64 slot 0x200\n"
	"output \"y\" f32[1,16,4,32] axis 0\n"
	"\tpart [1,16,4,32] of [1,16,4,32] base 0x2400 page 64 slot 0x200\n"
	"\n"
	"op 0 \"x\" kind \"edge_in\" params edge\n"
	"\tbrisc in_a\n"
	"\tncrisc read_a\n"
	"\tall {base = 0x2000, slot_bytes = 0x200, page_bytes = 0x40, channels = 16, height = 4, "
	"width = 32, rows = 2, at = 0x20000, pitch = 48, buffer_height = 3, total = 1, planes = 1, "
	"scratch = 0x30000, turns = 0x17700}\n"
	"\tcore 0\n"
	"\t\tpush core 1 from 0x20600 to 0x20000 bytes 1536 count 1 step 0 0\n"
	"\t\tzero at 0x20400 bytes 512 count 2 step 1536 planes 1 step 0\n"
	"\tcore 1 {row = 2, y = 1}\n"
	"\n"
	"op 1 \"conv\" kind \"conv\" params tiles absorbed \"bn\" \"relu\" source \"a.nnef:3:7\"\n"
	"\tncrisc receive\n"
	"\ttrisc0 unpack_a\n"
	"\ttrisc1 math_a\n"
	"\ttrisc2 store_a\n"
	"\tcb 0 at 0x28000 page 2176 pages 1\n"
	"\tall {rows = 2, cols = 32, kernel_h = 1, kernel_w = 1, dilation_h = 1, dilation_w = 1, "
	"stride_h = 1, stride_w = 1, segments = 1, in = [0x20000], in_pitch = [48], in_height = [3], "
	"in_total = [1], in_planes = [1], k_block = [1], groups = 1, weights = 0x28000, "
	"page_bytes = 0x880, pages = 1, dram_page = 0x2000, fetch_node = 18720, mcast_first = 18720, "
	"mcast_last = 18736, receivers = 1, arrived_semaphore = 1, out = 0x24000, out_pitch = 48, "
	"out_height = 2, out_total = 1, out_planes = 1}\n"
	"\tcore 0\n"
	"\t\tncrisc fetch\n"
	"\tcore 1 {in_y[0] = 1}\n"
	"\t\tarrival core 0 op 0\n"
	"\n"
	"op 2 \"y\" kind \"edge_out\" params edge\n"
	"\tbrisc write_a\n"
	"\tncrisc out_a\n"
	"\tall {base = 0x2400, slot_bytes = 0x200, page_bytes = 0x40, channels = 16, height = 4, "
	"width = 32, rows = 2, at = 0x24000, pitch = 48, buffer_height = 2, total = 1, planes = 1, "
	"scratch = 0x30000, turns = 0x17700}\n"
	"\tcore 1 {row = 2}\n";

/* A text with the first `from` replaced. */
static inline const char *text_edited(Fixture *t, const char *text, const char *from,
				      const char *to)
{
	const char *at = strstr(text, from);
	if (!at)
		fail_msg("the program has no '%s'", from);
	return arena_printf(t->arena, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static inline const char *program_edited(Fixture *t, const char *from, const char *to)
{
	return text_edited(t, small_program, from, to);
}

static inline Program *program_read(Fixture *t, const char *text)
{
	return program_parse(t->arena, &t->diag, "p", text, strlen(text));
}

/* With weights, of which the text has only a hash: each channel to itself. */
static inline Program *program_small(Fixture *t)
{
	const WeightBlocks w = { DEV_BF16, 1, 16, 16, 1, 1 };
	float identity[16 * 16] = { 0 };
	uint8_t *page = arena_alloc(t->arena, 2176);
	for (int i = 0; i < 16; i++)
		identity[17 * i] = 1;
	weight_blocks_pack(&w, identity, (WeightStrides){ 1, 1, 16 }, page + 128);
	Program *p = program_read(t, small_program);
	if (!p)
		fail_msg("%s", fixture_said(t));
	p->images[0].data = page;
	return p;
}

static inline const Target *program_target(Fixture *t)
{
	return target_load(t->arena, &t->diag, "wormhole_n150");
}

#endif
