/*
 * shapes SEED COUNT: COUNT random configurations of unpackers and packers, with
 * random address counters, and random loops of the expanders, on the emulator
 * and on the vendor's simulator. Both have to leave the same bytes in L1, or both
 * to refuse. Skips where there is no simulator (TESSERA_TTSIM).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/tensix_ops.h"
#include "tests/player.h"
#include "tests/ttsim.h"

enum { FP32 = 0, TF32 = 4, BF16 = 5, BFP8 = 6 };
enum { INPUT = 0x10000, BYTES = 0x40000, OUTPUT = PLAYER_DATA + INPUT };
enum { SEMAPHORE = 1 << 1, CONFIGURED = 1 << 2, SEM_ZERO = 1 };

static uint64_t seed;

/* Below n. */
static uint32_t pick(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % n;
}

/* One of n values, at times something else below `rare`. */
static uint32_t one_of(const uint32_t *values, uint32_t n, uint32_t rare)
{
	return pick(60) ? values[pick(n)] : pick(rare);
}

#define ONE_OF(rare, ...) \
	one_of((const uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4, rare)

static uint32_t bytes_of(uint32_t format)
{
	return format == BFP8 ? 1 : format == BF16 ? 2 : 4;
}

/* ---- packers, and a plain way out for what was unpacked ---- */

static const uint8_t section[4] = { 56, 84, 96, 124 };

static void pack_formats(Player *p, uint32_t dst, uint32_t out, bool wide, uint32_t modes)
{
	uint32_t x = bytes_of(dst);

	player_cfg(p, 2, 8, x | 16 * x << 12);
	player_cfg(p, 2, 9, 256 * x | 1024 * x << 12);
	player_cfg(p, 2, 1, (wide ? TF32 : BF16) * (1u << 17 | 1u << 21) | dst << 25 |
	                    (uint32_t)wide << 29);
	player_cfg(p, 2, 14, wide);
	for (uint32_t k = 0; k < 4; k++) {
		player_cfg(p, 2, section[k] + 2u, 1 | out << 4 | dst << 8);
		player_cfg(p, 2, section[k] + 3u, modes);
		player_cfg(p, 2, 152 + k, 16 * k);
	}
	player_op(p, 2, OP_SETADCXY(0xf, 0, 0, 0, 0, 4));
	player_op(p, 2, OP_SETADCZW(0xf, 0, 0, 0, 0, 4));
	player_op(p, 2, OP_SEMINIT(CONFIGURED, 1, 1));
}

static void pack_faces(Player *p)
{
	pack_formats(p, FP32, FP32, true, 0);
	player_cfg(p, 2, 20, 0xffff);
	for (uint32_t k = 0; k < 4; k++) {
		player_cfg(p, 2, section[k], 0);
		player_cfg(p, 2, section[k] + 1u, k * 64 - 1);
		player_cfg(p, 2, 24 + k, 1 << 8);
	}
	player_cfg(p, 2, 57, 0x80000000u | (OUTPUT / 16 - 1));
	player_op(p, 2, OP_SETADCXX(0, 255, 4));
	player_op(p, 2, OP_SEMWAIT(SEM_ZERO, SEMAPHORE, 1));
	player_op(p, 2, OP_PACR(1, 0, 0, 0, 15, 0, 0));
}

/* ---- unpackers ---- */

/* Configuration of unpacker u. Returns the format. */
static uint32_t unpack_config(Player *p, uint32_t u)
{
	static const uint32_t formats[] = { FP32, BF16, BFP8, BFP8 };
	uint32_t in = formats[pick(4)], out = in ? in : pick(2) ? TF32 : BF16;
	uint32_t at = 40 * u, context = pick(8) ? 0 : pick(3);
	uint32_t width = ONE_OF(100, 16, 32, 256, 272, 512);
	uint32_t modes = pick(3) ? 0 : pick(2) << 8 | pick(2) << 9;
	uint32_t stride = modes >> 9 ? ONE_OF(64, 2, 4, 6, 20) : pick(30) == 0;

	player_cfg(p, 0, 44, bytes_of(out) * 16 * pick(5) << 12);
	player_cfg(p, 0, 45 + 2 * u, bytes_of(out) * ONE_OF(300, 0, 64, 256, 512));
	player_cfg(p, 0, 41, pick(8) << 3 | (pick(3) > 0) << 8);
	player_cfg(p, 0, 52 + at, in | 1 << 4 | (pick(40) == 0) << 5 | width << 16);
	player_cfg(p, 0, 53 + at, (pick(6) + 1) | pick(6) << 16);
	player_cfg(p, 0, 60 + at, out | ONE_OF(4, 0, 1, 2) << 4 | modes | stride << 16 |
	                          (pick(40) == 0) << (12 + pick(4)));
	player_cfg(p, 0, 61 + at, 0xf000f | (pick(6) == 0) << 8);
	player_cfg(p, 0, 72, 64 * ONE_OF(3, 1, 1, 2, 5) | 64 * (1 + pick(3)) << 16);
	player_cfg(p, 0, 74, width | (width + 16 * pick(2)) << 16);
	if (!u)
		player_cfg(p, 0, 80 + pick(2), pick(20));
	player_cfg(p, 0, 64 + at, (PLAYER_DATA + 16 * pick(INPUT / 64)) / 16);
	player_cfg(p, 0, 65 + at, (PLAYER_DATA + 16 * pick(INPUT / 64)) / 16);
	player_op(p, 0, OP_SETC16(4, 3));
	player_op(p, 0, OP_SETC16(context << (8 * u), 39));
	return in;
}

/* SrcA or SrcB into Dst, all of it. */
static void move_source(Player *p, uint32_t u)
{
	player_cfg(p, 1, 2, 1); /* denormals stay */
	for (uint32_t row = 0; row < 64; row += 4) {
		if (u)
			player_op(p, 1, OP_MOVB2D(row, 4, 0, row, 0));
		else if (row % 8 == 0)
			player_op(p, 1, OP_MOVA2D(row, 2, 0, row, 0));
	}
}

static void unpack_shape(Player *p)
{
	uint32_t u = pick(2), in = unpack_config(p, u), mask = 1u << u, times = 1 + pick(4);
	uint32_t x = pick(2) ? 0 : in == BFP8 && pick(3) ? 16 * pick(8) : pick(60);
	uint32_t count = ONE_OF(300, 16, 64, 128, 256, 16, 64, 10, 100);

	player_op(p, 0, OP_SETADCXY(0xf, 0, pick(3), 0, pick(2), mask));
	player_op(p, 0, OP_SETADCZW(0xf, pick(3), pick(2), pick(2), pick(80) == 0, mask));
	player_op(p, 0, OP_SETADC(x, 0, 0, mask));
	player_op(p, 0, OP_SETADC(x + count - 1, 0, 1, mask));
	for (uint32_t k = 1; k <= times; k++) {
		uint32_t step = pick(2) ? 0 : ONE_OF(256, 1, 4, 0x10, 0x11, 0x41);

		player_op(p, 0, OP_UNPACR(1, 0, 0, 0, 0, 0, k == times, 1, 0, 0, 0, step, u));
		if (!pick(4))
			player_op(p, 0, OP_INCADCXY(0, pick(3), 0, pick(2), mask));
		if (!pick(4))
			player_op(p, 0, OP_ADDRCRZW(1 + pick(15), pick(3), 0, pick(2), 0, mask));
	}
	move_source(p, u);
}

/* ---- expanders ---- */

/* Something that moves the address counters of unpacker 0, or repeats what does. */
static uint32_t mover(void)
{
	uint32_t n = pick(4);

	switch (pick(7)) {
	case 0: return OP_INCADCXY(0, n, 0, 0, 1);
	case 1: return OP_INCADCZW(n, 0, 0, 0, 1);
	case 2: return OP_ADDRCRXY(2, 0, n, 0, 0, 1);
	case 3: return OP_ADDRCRZW(1, n, 0, 0, 0, 1);
	case 4: return OP_SETADCZW(1, n, 0, 0, 0, 1);
	case 5: return OP_NOP();
	default: return OP_REPLAY(pick(32), ONE_OF(40, 1, 2, 5, 9), 0, 0);
	}
}

/* What the loops did to the counters decides what is unpacked. */
static void expander_shape(Player *p)
{
	for (uint32_t k = 0; k < 32; k += 4) { /* no slot stays empty */
		player_op(p, 0, OP_REPLAY(k, 4, pick(2), 1));
		for (uint32_t slot = 0; slot < 4; slot++)
			player_op(p, 0, OP_INCADCXY(0, pick(3), 0, 0, 1));
	}
	for (uint32_t k = 0; k < 6; k++) {
		player_mop(p, 0, 0, ONE_OF(34, 1, 2, 3));
		player_mop(p, 0, 1, ONE_OF(6, 1, 2, 3));
		for (uint32_t word = 2; word < 9; word++)
			player_mop(p, 0, word, mover());
		player_op(p, 0, OP_MOP_CFG(pick(0x10000)));
		player_op(p, 0, pick(2) ? OP_MOP(1, 0, 0) : OP_MOP(0, pick(24), pick(0x10000)));
		player_op(p, 0, mover());
		player_sync(p, 0);
	}
	player_cfg(p, 0, 45, 512);
	player_cfg(p, 0, 52, BF16 | 1 << 4);
	player_cfg(p, 0, 53, 5 | 1 << 16);
	player_cfg(p, 0, 60, BF16 | 2 << 4);
	player_cfg(p, 0, 61, 0xf000f);
	player_cfg(p, 0, 72, 64);
	player_cfg(p, 0, 74, 16);
	player_cfg(p, 0, 64, PLAYER_DATA / 16 - 1);
	player_op(p, 0, OP_SETC16(4, 3));
	player_op(p, 0, OP_SETC16(0, 39));
	player_op(p, 0, OP_SETADC(255, 0, 1, 1));
	player_op(p, 0, OP_UNPACR(1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0));
	move_source(p, 0);
}

/* ---- packers ---- */

/* Four tiles into Dst: fp32 by the unpacker, or bf16 by way of SrcA. */
static void fill_dst(Player *p, bool wide)
{
	uint32_t format = wide ? FP32 : BF16;

	player_cfg(p, 0, 52, format | 1 << 4);
	player_cfg(p, 0, 53, 1 | 1 << 16);
	player_cfg(p, 0, 60, format | 2 << 4);
	player_cfg(p, 0, 61, wide ? 0xf001f : 0xf000f);
	player_cfg(p, 0, 74, 1024);
	player_op(p, 0, OP_SETC16(wide ? 0 : 4, 3));
	player_op(p, 0, OP_SETC16(0, 39));
	player_op(p, 0, OP_SETADCXY(0xf, 0, 0, 0, 0, 1));
	player_op(p, 0, OP_SETADCZW(0xf, 0, 0, 0, 0, 1));
	player_op(p, 0, OP_SETADCXX(0, 1023, 1));
	for (uint32_t k = 0; k < 4; k++) {
		player_sync(p, 0);
		player_cfg(p, 0, 64, (PLAYER_DATA + k * 4096) / 16 - 1);
		player_cfg(p, 0, 72, 64 + (wide ? k * 1024 : 0));
		player_op(p, 0, OP_UNPACR(1, 0, 0, 0, 0, 0, !wide, 1, 0, 0, 0, 0, 0));
		for (uint32_t row = 0; row < 64 && !wide; row += 8)
			player_op(p, 1, OP_MOVA2D(64 * k + row, 2, 0, row, 0));
		if (!wide)
			player_op(p, 1, OP_SETRWC(0, 0, 0, 0, 0, 1));
	}
	player_op(p, wide ? 0 : 1, OP_SEMPOST(SEMAPHORE));
}

static void pack_edges(Player *p)
{
	player_cfg(p, 2, 20, ONE_OF(0x10000, 0xffff, 0xffff, 1, 0) | (pick(60) == 0) << 16 |
	                     ONE_OF(256, 0, 0x50, 0x55, 0x11) << 17);
	player_cfg(p, 2, 21, ONE_OF(0x10000, 0, 1, 0xffff));
	player_cfg(p, 2, 16, ONE_OF(0x10000, 0, 0x55555555, 0x11111111));
	player_cfg(p, 2, 17, ONE_OF(0x10000, 0, 0x55550000, 0x01010101));
}

static void pack_shape(Player *p)
{
	static const uint32_t modes[][3] = {
		{ FP32, FP32, 1 }, { FP32, BFP8, 1 }, { BF16, BF16, 1 }, { BFP8, BFP8, 1 },
		{ BF16, BF16, 0 }, { BF16, BFP8, 0 }, { BFP8, BFP8, 0 }, { BF16, FP32, 0 },
	};
	const uint32_t *mode = modes[pick(8)];
	uint32_t select = ONE_OF(16, 1, 3, 15, 15), reads = ONE_OF(18, 1, 1, 4, 16, 16);
	uint32_t count = ONE_OF(300, 16, 32, 64, 256, 16, 256, 8, 1), times = 1 + pick(6);
	bool accumulate = pick(4) == 0 && (mode[1] != BFP8 || pick(10) == 0);

	fill_dst(p, mode[2]);
	pack_formats(p, mode[0], mode[1], mode[2], (uint32_t)accumulate << 21);
	pack_edges(p);
	player_cfg(p, 2, 2, pick(4) << 2 | (0x3c00 + pick(0x600)) << 6);
	for (uint32_t k = 0; k < 4; k++) {
		player_cfg(p, 2, section[k], (k + 1) * 64 << 16);
		player_cfg(p, 2, section[k] + 1u, 0x400 * k - 1);
		player_cfg(p, 2, 24 + k, reads << 8);
		player_cfg(p, 2, 152 + k, ONE_OF(1024, 16 * k, 16 * k, 128 * k));
		uint32_t steps = pick(2) | pick(2) << 5 | pick(2) << 12 | pick(2) << 13;

		player_op(p, 2, OP_SETC16(pick(3) ? steps : pick(2) << 4 | pick(16), 31 + k));
	}
	player_op(p, 2, OP_SETADC(count - 1, 0, 1, 4));
	player_op(p, 2, OP_SETADC(pick(4), 3, 0, 4));
	player_op(p, 2, OP_SETADC(pick(3), 1, 0, 4));
	player_op(p, 2, OP_SEMWAIT(SEM_ZERO, SEMAPHORE, 1));
	player_flop(p, 2, 12, 57, (pick(3) ? 0x80000000u : 0) | (OUTPUT / 16 - 1));
	player_op(p, 2, OP_PACR(0, 1, 0, 0, 15, 0, pick(4)));
	for (uint32_t k = 0; k < times; k++) {
		uint32_t last = k + 1 == times || !pick(6);

		player_op(p, 2, OP_PACR(last, !pick(12), pick(2), 0, select, 0, pick(4)));
	}
	player_op(p, 2, OP_PACR(0, 1, 0, 0, 15, 0, 0));
}

/* ---- comparison ---- */

static bool agree(uint32_t number)
{
	uint8_t *ours = malloc(BYTES), *theirs = malloc(BYTES);
	Player *p = player_new();
	static const char *const kinds[] = { "unpack", "expand", "pack" };
	uint32_t kind = pick(3);
	bool same;

	for (uint32_t k = 0; k < BYTES; k++) /* floats around 1, and anything */
		ours[k] = (uint8_t)(pick(4) || k % 4 != 3 ? pick(256) : 0x3f + (pick(2) << 7));
	player_op(p, 0, OP_SEMINIT(SEMAPHORE, 0, 1));
	player_sync(p, 0);
	player_op(p, 1, OP_SEMWAIT(SEM_ZERO, CONFIGURED, 1));
	if (kind < 2) {
		if (kind == 0)
			unpack_shape(p);
		else
			expander_shape(p);
		player_op(p, 1, OP_SEMPOST(SEMAPHORE));
		pack_faces(p);
	} else {
		pack_shape(p);
	}
	memcpy(theirs, ours, BYTES);
	bool we = player_on_emu(p, ours, BYTES), they = player_on_ttsim(p, theirs, BYTES);
	same = we == they && (!we || !memcmp(ours, theirs, BYTES));
	if (!same)
		printf("%u, %s: %s\n", number, kinds[kind],
		       we != they ? we ? "only they refuse" : "only we refuse" : "bytes differ");
	player_free(p);
	free(ours);
	free(theirs);
	return same;
}

int main(int argc, char **argv)
{
	uint32_t first = argc > 1 ? (uint32_t)atol(argv[1]) : 1, failed = 0;
	uint32_t count = argc > 2 ? (uint32_t)atol(argv[2]) : 20;

	if (!ttsim_there()) {
		puts("no TESSERA_TTSIM, skipped");
		return 77;
	}
	for (uint32_t k = first; k < first + count; k++) {
		seed = k * 0x9e3779b97f4a7c15u;
		failed += !agree(k);
	}
	printf("%u of %u differ\n", failed, count);
	return failed ? 1 : 0;
}
