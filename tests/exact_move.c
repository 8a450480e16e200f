#include "tests/exact_math.h"

#include <stddef.h>

#include "runtime/device/tensix_ops.h"

static void play(Player *p, uint32_t instruction)
{
	player_op(p, 1, instruction);
}

/* What is in SrcA, and in SrcB, into Dst to be seen. */
static void show_a(Player *p)
{
	for (uint32_t row = 0; row < 64; row += 8)
		play(p, OP_MOVA2D(row, 2, 1, row, 0));
}

static void show_b(Player *p, uint32_t low)
{
	for (uint32_t row = 0; row < 64; row += 4)
		play(p, OP_MOVB2D(row, 4, 1, row, low));
}

static void a_to_dst(Player *p, const ExactWay *w, uint32_t k)
{
	(void)k;
	for (uint32_t row = 0; row < 64; row += 8)
		play(p, OP_MOVA2D(row, 2, 1, 56 - row, w->what));
}

/* By instr_mod: rows, one column for all, one row for all, one value. */
static void b_to_dst(Player *p, const ExactWay *w, uint32_t k)
{
	uint32_t mode = 2 + k % 4, rows = mode & 2 ? 8 : 4;

	for (uint32_t row = 0; row < 64; row += rows)
		play(p, OP_MOVB2D(row, mode, 1, 64 - rows - row, w->what));
}

static void dst_to_a(Player *p, const ExactWay *w, uint32_t k)
{
	(void)w;
	for (uint32_t row = 0; row < 64; row += 8)
		play(p, OP_MOVD2A(row, 2, 1, (row + 4 * k) & 60, 0));
	show_a(p);
}

static void dst_to_b(Player *p, const ExactWay *w, uint32_t k)
{
	for (uint32_t row = 0; row < 64; row += 8)
		play(p, OP_MOVD2B(row, k & 1 ? 2 : 0, 1, (row + 4 * k) & 60, w->what));
	show_b(p, w->as_bf16);
}

static void b_to_a(Player *p, const ExactWay *w, uint32_t k)
{
	(void)w;
	for (uint32_t row = 0; row < 64; row += 8)
		play(p, OP_MOVB2A(row, 2, 1, (row + 4 * k) & 60));
	show_a(p);
}

static void transpose(Player *p, const ExactWay *w, uint32_t k)
{
	(void)w, (void)k;
	play(p, OP_TRNSPSRCB());
	show_b(p, 0);
}

/* Rows by the counters alone: counted on, or set from where the line began. */
static void counters(Player *p, const ExactWay *w, uint32_t k)
{
	(void)w;
	for (uint32_t row = 0; row < 64; row += 8) {
		play(p, OP_MOVA2D(0, 2, 1, 0, 0));
		if (k % 3 == 2)
			play(p, OP_SETRWC(7, 8, 8, 8, 7, 0));
		else
			play(p, OP_INCRWC(8, 8, 8, k % 3 ? 4 : 0));
	}
}

static void zero_dst(Player *p, const ExactWay *w, uint32_t k)
{
	(void)w;
	switch (k % 4) {
	case 0:
		for (uint32_t row = k % 7; row < 64; row += 5)
			play(p, OP_ZEROACC(row, 1, 0));
		break;
	case 1:
		play(p, OP_ZEROACC(k / 4 % 4, 1, 1));
		break;
	case 2:
		play(p, OP_ZEROACC(k / 4 & 1, 1, 2 | (k & 4)));
	}
}

static void zero_sources(Player *p, const ExactWay *w, uint32_t k)
{
	(void)w;
	play(p, OP_ZEROSRC(1 + k % 3, 0, 1, 0));
	for (uint32_t row = 0; row < 64; row += 8)
		play(p, OP_ELWADD(0, 0, 0, 0, 0));
}

/* Through register 0, with modes of SFPLOAD and SFPSTORE that take 16 bits; two
 * of the three that are combined change. */
static void through_vector(Player *p, const ExactWay *w, uint32_t k)
{
	(void)k;
	for (uint32_t row = 0; row < 64; row += 2) {
		play(p, OP_SFPLOAD(row, 1, w->what >> 4, 0));
		play(p, OP_SFPSTORE(row, 1, w->what & 15, 0));
	}
}

#define WIDE .wide = true
#define BF16 .wide = true, .as_bf16 = true
#define STEPS .a_step = 8, .b_step = 8, .dst_step = 8

static const ExactWay ways[] = {
	{ "MOVA2D", WIDE, .code = a_to_dst },
	{ "MOVA2D", .code = a_to_dst },
	{ "MOVA2D lower halves", BF16, .code = a_to_dst, .what = 1 },
	{ "MOVB2D", WIDE, .code = b_to_dst },
	{ "MOVB2D", .code = b_to_dst },
	{ "MOVB2D lower halves", BF16, .code = b_to_dst, .what = 1 },
	{ "MOVD2A", WIDE, .code = dst_to_a },
	{ "MOVD2A", .code = dst_to_a },
	{ "MOVD2B", WIDE, .code = dst_to_b },
	{ "MOVD2B", .code = dst_to_b },
	{ "MOVD2B as bf16", BF16, .code = dst_to_b },
	{ "MOVD2B lower halves", BF16, .code = dst_to_b, .what = 1 },
	{ "MOVB2A", WIDE, .code = b_to_a },
	{ "MOVB2A", .code = b_to_a },
	{ "TRNSPSRCB", WIDE, .code = transpose },
	{ "TRNSPSRCB", .code = transpose },
	{ "INCRWC, SETRWC", WIDE, .code = counters },
	{ "INCRWC, SETRWC", .code = counters },
	{ "ZEROACC", WIDE, .code = zero_dst },
	{ "ZEROACC", .code = zero_dst },
	{ "ZEROSRC", WIDE, STEPS, .code = zero_sources },
	{ "ZEROSRC", STEPS, .code = zero_sources },
	{ "SFPLOAD, SFPSTORE implied", .code = through_vector, .is_long = true, .what = 0x00 },
	{ "SFPLOAD, SFPSTORE bf16", .code = through_vector, .is_long = true, .what = 0x22 },
	{ "SFPLOAD, SFPSTORE uint16", .code = through_vector, .is_long = true, .what = 0x66 },
	{ "SFPLOAD uint16, SFPSTORE bf16", .code = through_vector, .is_long = true,
	  .what = 0x62 },
	{ "SFPLOAD bf16, SFPSTORE uint16", .code = through_vector, .is_long = true,
	  .what = 0x26 },
	{ "SFPLOAD, SFPSTORE low", .code = through_vector, .is_long = true, .what = 0xee },
	{ "SFPLOAD, SFPSTORE high", .code = through_vector, .is_long = true, .what = 0xff },
	{ "SFPLOAD high, SFPSTORE low", .code = through_vector, .is_long = true, .what = 0xfe },
	{ "SFPLOAD low, SFPSTORE bf16", .code = through_vector, .is_long = true, .what = 0xe2 },
};

int exact_move(long count, const char *only)
{
	int failed = 0;

	for (size_t k = 0; k < sizeof ways / sizeof *ways; k++)
		failed += exact_tiles(count, only, &ways[k]);
	return failed;
}
