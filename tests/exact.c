/*
 * exact COUNT: unpackers and packers of the emulator against the vendor's
 * simulator, bit for bit, on COUNT random operands of each way in and out. Skips
 * where there is no simulator (TESSERA_TTSIM).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/tensix_ops.h"
#include "tests/player.h"
#include "tests/ttsim.h"

enum { FP32 = 0, TF32 = 4, BF16 = 5, BFP8 = 6 };
enum { TILE = 1024, TILE_ROOM = 4096, MOST_TILES = 150 };
enum { OUTPUTS = PLAYER_DATA + MOST_TILES * TILE_ROOM };
enum { SEMAPHORE = 1 << 1, CONFIGURED = 1 << 2, SEM_ZERO = 1, SEM_MAX = 2 };

/* A way from L1 through the register files and back. */
typedef struct Way {
	const char *name;
	int unpacker;      /* 0, 1; -1: unpacker 0 into Dst */
	uint32_t in, src;  /* format in L1 and in the source register */
	uint32_t alu;      /* what the matrix unit takes it for: TF32 fills Dst 32 bits wide */
	uint32_t dst, out; /* format Dst is read in, and format in L1 */
} Way;

static const Way ways[] = {
	{ "unpack 0 fp32 as tf32", 0, FP32, TF32, TF32, FP32, FP32 },
	{ "unpack 0 fp32 as bf16", 0, FP32, BF16, TF32, FP32, FP32 },
	{ "unpack 0 bf16", 0, BF16, BF16, TF32, FP32, FP32 },
	{ "unpack 0 bfp8", 0, BFP8, BFP8, TF32, FP32, FP32 },
	{ "unpack 1 fp32 as tf32", 1, FP32, TF32, TF32, FP32, FP32 },
	{ "unpack 1 bf16", 1, BF16, BF16, TF32, FP32, FP32 },
	{ "unpack 1 bfp8", 1, BFP8, BFP8, TF32, FP32, FP32 },
	{ "pack fp32 to fp32", -1, FP32, FP32, TF32, FP32, FP32 },
	{ "pack fp32 to bfp8", -1, FP32, FP32, TF32, FP32, BFP8 },
	{ "pack fp32 as bf16 to bf16", -1, FP32, FP32, TF32, BF16, BF16 },
	{ "pack fp32 as bfp8 to bfp8", -1, FP32, FP32, TF32, BFP8, BFP8 },
	{ "pack bf16 to fp32", 0, BF16, BF16, BF16, BF16, FP32 },
	{ "pack bf16 to bf16", 0, BF16, BF16, BF16, BF16, BF16 },
	{ "pack bf16 to bfp8", 0, BF16, BF16, BF16, BF16, BFP8 },
	{ "pack bf16 as bfp8 to fp32", 0, BF16, BF16, BF16, BFP8, FP32 },
	{ "pack bf16 as bfp8 to bf16", 0, BF16, BF16, BF16, BFP8, BF16 },
	{ "pack bf16 as bfp8 to bfp8", 0, BF16, BF16, BF16, BFP8, BFP8 },
};

static uint64_t seed = 1;

static uint32_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 16);
}

static uint32_t bytes_of(uint32_t format)
{
	return format == BFP8 ? 1 : format == BF16 ? 2 : 4;
}

/* ---- operands ---- */

/* Bits of a float: any, of a narrow range of exponents, or a special one. */
static uint32_t operand(void)
{
	static const uint32_t special[] = {
		0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff,
		0x7f800000, 0xff800000, 0x7f800001, 0xffc00000, 0x7fffffff, 0x3f7fffff, 0x3f808000,
		0x3f818000, 0xbf7f8000, 0x007f8000, 0x00808000,
	};
	uint32_t kind = next() % 8, v = next();

	if (kind == 0)
		return special[next() % (sizeof special / sizeof *special)];
	if (kind < 3)
		return v;
	return (v & 0x807fffff) | (120 + next() % 12) << 23;
}

static void fill(uint8_t *tile, uint32_t format)
{
	for (uint32_t k = 0; k < TILE; k++) {
		uint32_t v = operand();

		if (format == BFP8)
			tile[k] = (uint8_t)v;
		else if (format == BF16)
			memcpy(tile + 2 * k, (uint8_t *)&v + 2, 2);
		else
			memcpy(tile + 4 * k, &v, 4);
	}
	for (uint32_t k = 0; format == BFP8 && k < TILE / 16; k++)
		tile[TILE + k] = (uint8_t)next();
}

/* ---- programs ---- */

static void unpack_config(Player *p, const Way *w)
{
	int u = w->unpacker == 1;
	uint32_t section = u ? 40 : 0;

	player_cfg(p, 0, 44, 16 * bytes_of(w->src) << 12);
	player_cfg(p, 0, 45 + 2 * (uint32_t)u, 256 * bytes_of(w->src));
	player_cfg(p, 0, 52 + section, w->in | 1 << 4 | TILE << 16);
	player_cfg(p, 0, 53 + section, 1 | 1 << 16);
	player_cfg(p, 0, 60 + section, w->src | 2 << 4);
	player_cfg(p, 0, 61 + section, 0xf000f | (w->unpacker < 0 ? 1 << 4 : 0));
	player_cfg(p, 0, 72, 64 | 64 << 16);
	player_cfg(p, 0, 74, TILE | TILE << 16);
	player_cfg(p, 0, 41, 1 << 8);
	player_op(p, 0, OP_SETC16(w->unpacker < 0 ? 0 : 4, 3));
	player_op(p, 0, OP_SETC16(0, 39));
	player_op(p, 0, OP_SETADCXY(0xf, 0, 0, 0, 0, 3));
	player_op(p, 0, OP_SETADCZW(0xf, 0, 0, 0, 0, 3));
	player_op(p, 0, OP_SETADCXX(0, TILE - 1, 3));
	player_op(p, 0, OP_SEMINIT(SEMAPHORE, 0, 1));
	player_sync(p, 0);
	player_op(p, 1, OP_SEMWAIT(SEM_ZERO, CONFIGURED, 1));
}

static void pack_config(Player *p, const Way *w, uint32_t relu, uint32_t threshold)
{
	static const uint8_t section[4] = { 56, 84, 96, 124 };
	uint32_t x = bytes_of(w->dst), bfp = w->out == BFP8;
	uint32_t face = bfp ? 1 : 16 * bytes_of(w->out);
	bool wide = w->alu == TF32;

	player_cfg(p, 2, 8, x | 16 * x << 12);
	player_cfg(p, 2, 9, 256 * x | 1024 * x << 12);
	player_cfg(p, 2, 1, w->alu << 17 | w->alu << 21 | w->dst << 25 | (uint32_t)wide << 29);
	player_cfg(p, 2, 2, 1 | relu << 2 | threshold << 6);
	for (uint32_t k = 0; k < 4; k++) {
		player_cfg(p, 2, section[k], (bfp ? 4 + 15 * k : 4) << 16);
		player_cfg(p, 2, section[k] + 2u, 1 | w->out << 4 | w->dst << 8);
		player_cfg(p, 2, section[k] + 3u, 0);
		if (k)
			player_cfg(p, 2, section[k] + 1u, k * face - 1);
		player_cfg(p, 2, 24 + k, 1 << 8);
		player_cfg(p, 2, 152 + k, 16 * k);
	}
	player_cfg(p, 2, 14, wide);
	player_cfg(p, 2, 20, 0xffff);
	player_op(p, 2, OP_SETADCXY(0xf, 0, 0, 0, 0, 4));
	player_op(p, 2, OP_SETADCZW(0xf, 0, 0, 0, 0, 4));
	player_op(p, 2, OP_SETADCXX(0, 255, 4));
	player_op(p, 2, OP_SEMINIT(CONFIGURED, 1, 1));
	player_sync(p, 2);
}

/* Source registers into Dst, 8 or 4 rows at a time. */
static void move(Player *p, const Way *w)
{
	for (uint32_t row = 0; row < 64; row += 8) {
		if (w->unpacker == 0) {
			player_op(p, 1, OP_MOVA2D(row, 2, 0, row, 0));
			continue;
		}
		player_op(p, 1, OP_MOVB2D(row, 4, 0, row, 0));
		player_op(p, 1, OP_MOVB2D(row + 4, 4, 0, row + 4, 0));
	}
	player_op(p, 1, OP_SETRWC(7, 0, 0, 0, 0, w->unpacker ? 2 : 1));
}

static void tile(Player *p, const Way *w, uint32_t k)
{
	uint32_t from = PLAYER_DATA + k * TILE_ROOM, to = OUTPUTS + k * TILE_ROOM;
	int producer = w->unpacker < 0 ? 0 : 1;
	bool srcb = w->unpacker == 1;

	player_flop(p, 0, 4, srcb ? 104 : 64, from / 16 - 1);
	player_op(p, producer, OP_SEMWAIT(SEM_MAX, SEMAPHORE, 1));
	player_op(p, 0, OP_UNPACR(1, 0, 0, 0, 0, 0, w->unpacker >= 0, 1, 0, 0, 0, 0, srcb));
	if (w->unpacker >= 0)
		move(p, w);
	player_op(p, producer, OP_SEMPOST(SEMAPHORE));

	player_op(p, 2, OP_SEMWAIT(SEM_ZERO, SEMAPHORE, 1));
	player_flop(p, 2, 12, 57, 0x80000000u | (to / 16 - 1));
	player_op(p, 2, OP_PACR(0, 1, 0, 0, 15, 0, 0));
	player_op(p, 2, OP_PACR(1, 0, 0, 0, 15, 0, 0));
	player_op(p, 2, OP_SEMGET(SEMAPHORE));
}

/* ---- comparison ---- */

/* Bytes that differ, or -1 if one of the two did not come to its end. */
static long compare(const Way *w, uint32_t tiles)
{
	size_t n = (size_t)(OUTPUTS - PLAYER_DATA) + (size_t)tiles * TILE_ROOM;
	uint8_t *ours = calloc(1, n), *theirs = calloc(1, n);
	Player *p = player_new();
	uint32_t relu = next() % 4;
	long wrong = 0, written = 0;

	for (uint32_t k = 0; k < tiles; k++)
		fill(ours + (size_t)k * TILE_ROOM, w->in);
	unpack_config(p, w);
	pack_config(p, w, relu, relu > 1 ? 0x3c00 + next() % 0x600 : 0); /* around 1 */
	for (uint32_t k = 0; k < tiles; k++)
		tile(p, w, k);
	memcpy(theirs, ours, n);
	if (!player_on_emu(p, ours, n) || !player_on_ttsim(p, theirs, n))
		wrong = -1;
	for (size_t k = 0; wrong >= 0 && k < n; k++) {
		wrong += ours[k] != theirs[k];
		written += k >= OUTPUTS - PLAYER_DATA && theirs[k];
	}
	if (written < TILE / 4) /* nothing was compared */
		wrong = -1;
	player_free(p);
	free(ours);
	free(theirs);
	return wrong;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : TILE, failed = 0;

	if (!ttsim_there()) {
		puts("no TESSERA_TTSIM, skipped");
		return 77;
	}
	for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
		long left = (count + TILE - 1) / TILE, wrong = 0;

		while (left > 0 && wrong >= 0) {
			uint32_t tiles = left < MOST_TILES ? (uint32_t)left : MOST_TILES;
			long differ = compare(&ways[k], tiles);

			wrong = differ < 0 ? -1 : wrong + differ;
			left -= tiles;
		}
		printf("%-28s %ld operands, %ld bytes differ\n", ways[k].name, count, wrong);
		failed += wrong != 0;
	}
	return failed ? 1 : 0;
}
