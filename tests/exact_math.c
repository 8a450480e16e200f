/*
 * exact_math COUNT [NAME]: matrix and vector unit of the emulator against the
 * vendor's simulator, bit for bit, on COUNT results of each instruction and mode
 * (of those whose name has NAME in it). Skips where there is no simulator
 * (TESSERA_TTSIM).
 */
#include "tests/exact_math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/tensix_ops.h"
#include "tests/ttsim.h"

enum { FP32 = 0, TF32 = 4, BF16 = 5 };
enum { STALL_WHILE_ZERO = 1, GPR_UNPACK = 4, GPR_PACK = 12 };

/* Words of the configuration, by section of the unpacker. */
enum { DESCRIPTOR = 52, REG2 = 60, DEST_ADDRESS = 72, BASE_A = 64, BASE_B = 104, SECTION = 40 };

static void unpacker(Player *p, uint32_t section, uint32_t format)
{
	player_cfg(p, 0, DESCRIPTOR + section, FP32 | 1 << 4 | EXACT_TILE << 16);
	player_cfg(p, 0, DESCRIPTOR + 1 + section, 1 | 1 << 16);
	player_cfg(p, 0, REG2 + section, format | 2 << 4);
	player_cfg(p, 0, REG2 + 1 + section, 0xf000f);
}

static void packers(Player *p, bool wide)
{
	static const uint8_t section[4] = { 56, 84, 96, 124 };
	uint32_t format = wide ? FP32 : BF16, bytes = wide ? 4 : 2;

	player_cfg(p, 2, 8, bytes | 16 * bytes << 12);
	player_cfg(p, 2, 9, 256 * bytes | 1024 * bytes << 12);
	for (uint32_t k = 0; k < 4; k++) {
		player_cfg(p, 2, section[k], 4 << 16);
		player_cfg(p, 2, section[k] + 2u, 1 | FP32 << 4 | format << 8);
		player_cfg(p, 2, section[k] + 3u, 0);
		if (k)
			player_cfg(p, 2, section[k] + 1u, 64 * k - 1);
		player_cfg(p, 2, 24 + k, 1 << 8);
		player_cfg(p, 2, 152 + k, 16 * k);
	}
	player_cfg(p, 2, 14, wide);
	player_cfg(p, 2, 20, 0xffff);
	player_op(p, 2, OP_SETADCXY(0xf, 0, 0, 0, 0, 4));
	player_op(p, 2, OP_SETADCZW(0xf, 0, 0, 0, 0, 4));
	player_op(p, 2, OP_SETADCXX(0, 255, 4));
	player_sync(p, 2);
}

/* Everybody waits for T1's semaphores, so that nobody starts unconfigured. */
void exact_setup(Player *p, bool wide)
{
	uint32_t format = wide ? TF32 : BF16, dst = wide ? FP32 : BF16, bytes = wide ? 4 : 2;

	player_cfg(p, 1, 1, format << 17 | format << 21 | dst << 25 | (wide ? 3u << 29 : 0));
	player_cfg(p, 1, 2, 0);
	player_cfg(p, 0, 44, 16 * bytes << 12);
	player_cfg(p, 0, 45, 256 * bytes);
	player_cfg(p, 0, 47, 256 * bytes);
	unpacker(p, 0, format);
	unpacker(p, SECTION, format);
	player_cfg(p, 0, DEST_ADDRESS, 64 | 64 << 16);
	player_cfg(p, 0, 74, EXACT_TILE | EXACT_TILE << 16);
	player_cfg(p, 0, 41, 1 << 8);
	player_op(p, 0, OP_SETC16(4, 3));
	player_op(p, 0, OP_SETC16(0, 39));
	player_op(p, 0, OP_SETADCXY(0xf, 0, 0, 0, 0, 3));
	player_op(p, 0, OP_SETADCZW(0xf, 0, 0, 0, 0, 3));
	player_op(p, 0, OP_SETADCXX(0, EXACT_TILE - 1, 3));
	player_sync(p, 0);
	packers(p, wide);
	player_op(p, 1, OP_SEMINIT(EXACT_LOADED, 0, 1));
	player_op(p, 1, OP_SEMINIT(EXACT_READY, 0, 1));
	player_op(p, 1, OP_SEMINIT(EXACT_EMPTY, 1, 1));
	player_sync(p, 1);
}

static void unpack(Player *p, uint32_t from, int which, bool to_source)
{
	player_flop(p, 0, GPR_UNPACK, which ? BASE_B : BASE_A, from / 16 - 1);
	player_op(p, 0, OP_UNPACR(1, 0, 0, 0, 0, 0, to_source, 1, 0, 0, 0, 0, which));
}

/* Unpacker 0 serves SrcA and Dst in turn; its configuration changes only when
 * what it has is done. */
void exact_to_a(Player *p, bool wide, uint32_t from)
{
	player_flop(p, 0, GPR_UNPACK, DEST_ADDRESS, 64 | 64 << 16);
	player_sync(p, 0);
	player_op(p, 0, OP_SETC16(4, 3));
	player_cfg(p, 0, REG2, (wide ? TF32 : BF16) | 2 << 4);
	player_cfg(p, 0, REG2 + 1, 0xf000f);
	player_sync(p, 0);
	unpack(p, from, 0, true);
}

void exact_to_b(Player *p, uint32_t from)
{
	unpack(p, from, 1, true);
}

void exact_to_dst(Player *p, uint32_t from, uint32_t to)
{
	uint32_t start = 64 + to * EXACT_TILE;

	player_flop(p, 0, GPR_UNPACK, DEST_ADDRESS, start | start << 16);
	player_sync(p, 0);
	player_op(p, 0, OP_SETC16(0, 3));
	player_cfg(p, 0, REG2, FP32 | 2 << 4);
	player_cfg(p, 0, REG2 + 1, 0xf000f | 1 << 4);
	player_sync(p, 0);
	unpack(p, from, 0, false);
}

void exact_from_dst(Player *p, uint32_t from, uint32_t to)
{
	player_op(p, 2, OP_SETADC(from, 3, 0, 4));
	player_flop(p, 2, GPR_PACK, 57, 0x80000000u | (to / 16 - 1));
	player_op(p, 2, OP_PACR(0, 1, 0, 0, 15, 0, 0));
	player_op(p, 2, OP_PACR(1, 0, 0, 0, 15, 0, 0));
}

void exact_take(Player *p, int thread, uint32_t semaphore)
{
	player_op(p, thread, OP_SEMWAIT(STALL_WHILE_ZERO, semaphore, 1));
	player_op(p, thread, OP_SEMGET(semaphore));
}

void exact_give(Player *p, int thread, uint32_t semaphore)
{
	player_op(p, thread, OP_SEMPOST(semaphore));
}

void exact_fill(Operands *o, uint8_t *tile, unsigned kind)
{
	for (int k = 0; k < EXACT_TILE; k++) {
		uint32_t word = operands_word(o, kind < OPERAND_KINDS ? kind : operands_bits(o));

		memcpy(tile + 4 * k, &word, sizeof word);
	}
}

static long count_differences(const char *what, const uint8_t *ours, const uint8_t *theirs,
			      size_t results)
{
	long wrong = 0, written = 0;

	for (size_t k = 0; k < results * EXACT_TILE; k++) {
		uint32_t a, b;

		memcpy(&a, ours + 4 * k, sizeof a);
		memcpy(&b, theirs + 4 * k, sizeof b);
		written += b != 0xdeadbeef;
		if (a != b && wrong++ < 3)
			fprintf(stderr, "%s: value %zu is %08x, simulator has %08x\n", what, k, a,
				b);
	}
	return written > 0 ? wrong : -1;
}

long exact_compare(const char *what, Player *p, const uint8_t *data, size_t tiles, size_t results)
{
	size_t n = tiles * EXACT_BYTES, first = (tiles - results) * EXACT_BYTES;
	uint8_t *ours = malloc(n), *theirs = malloc(n);
	long wrong = -1;

	if (!ours || !theirs)
		abort();
	memcpy(ours, data, n);
	for (size_t k = first; k < n; k += 4)
		memcpy(ours + k, &(uint32_t){ 0xdeadbeef }, 4);
	memcpy(theirs, ours, n);
	if (player_on_emu(p, ours, n) && player_on_ttsim(p, theirs, n))
		wrong = count_differences(what, ours + first, theirs + first, results);
	free(ours);
	free(theirs);
	return wrong;
}

int main(int argc, char **argv)
{
	long count = argc > 1 ? atol(argv[1]) : EXACT_TILE;
	const char *only = argc > 2 ? argv[2] : "";
	int failed;

	if (!ttsim_there()) {
		puts("no TESSERA_TTSIM, skipped");
		return 77;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	failed = exact_matrix(count, only) + exact_move(count, only) + exact_vector(count, only);
	return failed ? 1 : 0;
}
