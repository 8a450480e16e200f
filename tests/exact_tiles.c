#include "tests/exact_math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/tensix_ops.h"

/* Each tile of results takes three of operands: SrcA, SrcB, Dst. */
enum {
	MOST_TILES = 80,
	A_TILES = 0,
	B_TILES = MOST_TILES,
	C_TILES = 2 * MOST_TILES,
	RESULTS = 3 * MOST_TILES
};

enum { SOURCES_VALID = 3 << 10, STALL_MATH = 1 << 6 };

/* Address modifier n: by how much rows of SrcA, SrcB and Dst go on. */
static void modifier(Player *p, uint32_t n, uint32_t a, uint32_t b, uint32_t dst)
{
	enum { MODIFIER_AB = 7, MODIFIER_DST = 23, MODIFIER_BIAS = 48 };

	player_op(p, 1, OP_SETC16(a | b << 8, MODIFIER_AB + 2 * n));
	player_op(p, 1, OP_SETC16(dst, MODIFIER_DST + n));
	player_op(p, 1, OP_SETC16(0, MODIFIER_BIAS + n));
}

/* Fills a tile of Dst, or leaves it as if it had never been written. */
static void start_dst(Player *p, const ExactWay *w, uint32_t k)
{
	if (w->wide)
		exact_take(p, 1, EXACT_LOADED);
	else
		exact_take(p, 1, EXACT_EMPTY);
	for (uint32_t row = 0; row < 64 && !w->wide; row += 8)
		player_op(p, 1, OP_MOVA2D(row, 2, 1, row, 0));
	if (!w->wide)
		player_op(p, 1, OP_SETRWC(7, 0, 0, 0, 0, 1));
	if (k % 4 == 3)
		player_op(p, 1, OP_ZEROACC(0, 0, 3));
	player_op(p, 1, OP_STALLWAIT(SOURCES_VALID, STALL_MATH));
}

static void one_tile(Player *p, const ExactWay *w, uint32_t k)
{
	if (w->wide) {
		exact_take(p, 0, EXACT_EMPTY);
		exact_to_dst(p, exact_at(C_TILES + k), 0);
	} else {
		exact_to_a(p, false, exact_at(C_TILES + k));
	}
	exact_to_a(p, w->wide, exact_at(A_TILES + k));
	exact_to_b(p, exact_at(B_TILES + k));
	if (w->wide)
		exact_give(p, 0, EXACT_LOADED);

	start_dst(p, w, k);
	w->code(p, w, k);
	player_op(p, 1, OP_SETRWC(7, 0, 0, 0, 0, 3));
	exact_give(p, 1, EXACT_READY);

	exact_take(p, 2, EXACT_READY);
	exact_from_dst(p, 0, exact_at(RESULTS + k));
	exact_give(p, 2, EXACT_EMPTY);
}

static void operands(Operands *o, const ExactWay *w, uint8_t *data, uint32_t tiles)
{
	for (uint32_t k = 0; k < tiles; k++) {
		uint8_t *b = data + (B_TILES + k) * EXACT_BYTES;

		exact_fill(o, data + (A_TILES + k) * EXACT_BYTES, operands_bits(o) % 9);
		exact_fill(o, b, operands_bits(o) % 9);
		exact_fill(o, data + (C_TILES + k) * EXACT_BYTES, operands_bits(o) % 9);
		for (int v = 0; v < EXACT_TILE && w->ones; v++)
			memcpy(b + 4 * v, &(float){ 1 }, 4);
	}
}

static long compare(Operands *o, const char *name, const ExactWay *w, uint32_t tiles)
{
	uint8_t *data = calloc(RESULTS + MOST_TILES, EXACT_BYTES);
	Player *p = player_new();
	long wrong;

	if (!data)
		abort();
	operands(o, w, data, tiles);
	exact_setup(p, w->wide);
	if (w->as_bf16)
		player_cfg(p, 1, 0, 5 | 1 << 4); /* overrides the format of SrcA */
	modifier(p, 0, w->a_step, w->b_step, w->dst_step);
	modifier(p, 1, 0, 0, 0);
	player_op(p, 1, OP_SETC16(w->phase, 6));
	player_op(p, 1, OP_SETRWC(15, 0, 0, 0, 0, 0));
	for (uint32_t k = 0; k < tiles; k++)
		one_tile(p, w, k);
	wrong = exact_compare(name, p, data, RESULTS + tiles, tiles);
	player_free(p);
	free(data);
	return wrong;
}

int exact_tiles(long count, const char *only, const ExactWay *w)
{
	Operands o = { 88172645463325252u + w->phase * 2 + w->wide };
	long left = (count + EXACT_TILE - 1) / EXACT_TILE, wrong = 0;
	uint32_t most = w->is_long ? MOST_TILES / 2 : MOST_TILES;
	char name[64];

	snprintf(name, sizeof name, "%s, %s Dst", w->name, w->wide ? "fp32" : "bf16");
	for (const char *c = name; *c; c++)
		o.state += (uint64_t)*c << 7;
	if (!strstr(name, only))
		return 0;
	for (uint32_t tiles; left > 0 && wrong >= 0; left -= tiles) {
		long differ;

		tiles = left < (long)most ? (uint32_t)left : most;
		differ = compare(&o, name, w, tiles);
		wrong = differ < 0 ? -1 : wrong + differ;
	}
	printf("%-36s %ld results, %ld differ\n", name, count, wrong);
	return wrong != 0;
}
