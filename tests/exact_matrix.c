#include "tests/exact_math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/tensix_ops.h"

typedef enum Kind { PRODUCT, ADD, SUB, MUL, AVERAGE, MAXIMUM } Kind;

static const char *const names[] = { "MVMUL", "ELWADD", "ELWSUB", "ELWMUL", "GAPOOL", "GMPOOL" };

typedef struct Way {
	Kind kind;
	uint32_t phase;
	bool wide;
} Way;

/* Each tile of results takes three of operands: SrcA, SrcB, Dst. */
enum {
	MOST_TILES = 80,
	A_TILES = 0,
	B_TILES = MOST_TILES,
	C_TILES = 2 * MOST_TILES,
	RESULTS = 3 * MOST_TILES
};

/* Address modifier n: by how much rows of SrcA, SrcB and Dst go on. */
static void modifier(Player *p, uint32_t n, uint32_t a, uint32_t b, uint32_t dst)
{
	enum { MODIFIER_AB = 7, MODIFIER_DST = 23, MODIFIER_BIAS = 48 };

	player_op(p, 1, OP_SETC16(a | b << 8, MODIFIER_AB + 2 * n));
	player_op(p, 1, OP_SETC16(dst, MODIFIER_DST + n));
	player_op(p, 1, OP_SETC16(0, MODIFIER_BIAS + n));
}

static uint32_t instruction(Kind kind, uint32_t broadcast, uint32_t onto)
{
	switch (kind) {
	case PRODUCT:
		return OP_MVMUL(0, 0, 0, 0);
	case ADD:
		return OP_ELWADD(0, 0, broadcast, onto, 0);
	case SUB:
		return OP_ELWSUB(0, 0, broadcast, onto, 0);
	case MUL:
		return OP_ELWMUL(0, 0, broadcast, 0, 0);
	case AVERAGE:
		return OP_GAPOOL(0, 0, 0, 1, 0);
	case MAXIMUM:
		return OP_GMPOOL(0, 0, 0, 1, 0);
	}
	abort();
}

/* Fills a tile of Dst, or leaves it as if it had never been written. */
static void start_dst(Player *p, const Way *w, uint32_t k)
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
}

/* All rows of a tile of Dst; SrcA, SrcB by face or row, whatever they hold. */
static void one_tile(Player *p, const Way *w, uint32_t k)
{
	uint32_t times = w->kind == AVERAGE || w->kind == MAXIMUM ? 16 : 8;

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
	for (uint32_t n = 0; n < times; n++)
		player_op(p, 1, instruction(w->kind, k & 3, k >> 2 & 1));
	player_op(p, 1, OP_SETRWC(7, 0, 0, 0, 0, 3));
	exact_give(p, 1, EXACT_READY);

	exact_take(p, 2, EXACT_READY);
	exact_from_dst(p, 0, exact_at(RESULTS + k));
	exact_give(p, 2, EXACT_EMPTY);
}

static void operands(Operands *o, const Way *w, uint8_t *data, uint32_t tiles)
{
	for (uint32_t k = 0; k < tiles; k++) {
		uint8_t *b = data + (B_TILES + k) * EXACT_BYTES;

		exact_fill(o, data + (A_TILES + k) * EXACT_BYTES, operands_bits(o) % 9);
		exact_fill(o, b, operands_bits(o) % 9);
		exact_fill(o, data + (C_TILES + k) * EXACT_BYTES, operands_bits(o) % 9);
		for (int v = 0; v < EXACT_TILE && w->kind == MAXIMUM; v++)
			memcpy(b + 4 * v, &(float){ 1 }, 4);
	}
}

static long compare(Operands *o, const char *name, const Way *w, uint32_t tiles)
{
	uint8_t *data = calloc(RESULTS + MOST_TILES, EXACT_BYTES);
	uint32_t pool = w->kind == AVERAGE || w->kind == MAXIMUM;
	Player *p = player_new();
	long wrong;

	if (!data)
		abort();
	operands(o, w, data, tiles);
	exact_setup(p, w->wide);
	modifier(p, 0, w->kind == PRODUCT || pool ? 16 : 8, 8, pool ? 4 : 8);
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

static int way(long count, const char *only, const Way *w)
{
	Operands o = { 88172645463325252u + w->kind * 8 + w->phase * 2 + w->wide };
	long left = (count + EXACT_TILE - 1) / EXACT_TILE, wrong = 0;
	char name[64];

	snprintf(name, sizeof name, "%s phase %u, %s Dst", names[w->kind], w->phase,
		 w->wide ? "fp32" : "bf16");
	if (!strstr(name, only))
		return 0;
	for (uint32_t tiles; left > 0 && wrong >= 0; left -= tiles) {
		long differ;

		tiles = left < MOST_TILES ? (uint32_t)left : MOST_TILES;
		differ = compare(&o, name, w, tiles);
		wrong = differ < 0 ? -1 : wrong + differ;
	}
	printf("%-30s %ld results, %ld differ\n", name, count, wrong);
	return wrong != 0;
}

int exact_matrix(long count, const char *only)
{
	int failed = 0;

	for (Kind kind = PRODUCT; kind <= MAXIMUM; kind++) {
		bool phases = kind == PRODUCT || kind == MUL || kind == AVERAGE;

		for (uint32_t phase = 0; phase < (phases ? 4 : 1); phase++) {
			failed += way(count, only, &(Way){ kind, phase, true });
			failed += way(count, only, &(Way){ kind, phase, false });
		}
	}
	return failed;
}
