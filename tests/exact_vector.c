#include "tests/exact_math.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/tensix_ops.h"

/*
 * Every case is an instruction in the middle of this, for each of 32 steps
 * through a tile of a wide Dst:
 *
 *     registers 0 to 6 = operands, 7 = 0, all lanes take part
 *     (lanes with a negative register 6 only)
 *     the instruction
 *     7 = a mark, in lanes that take part now; all lanes again
 *     the register the case names, exclusive or 7, is stored
 */
typedef struct Case {
	const char *name;
	uint32_t instruction;
	uint8_t out, load, store; /* register; modes of SFPLOAD and SFPSTORE */
} Case;

enum { ANY = 4, STORE_ANY = 4 };

/* D: register 0, C: register 1, others as they come. */
#define CASE(name, instruction) { name, instruction, 0, ANY, STORE_ANY }

static const Case cases[] = {
	CASE("SFPMAD", OP_SFPMAD(0, 0, 2, 1, 0)),
	CASE("SFPADD", OP_SFPADD(0, 0, 2, 1, 10)),
	CASE("SFPADD swapped", OP_SFPADD(0, 0, 2, 10, 1)),
	CASE("SFPMUL", OP_SFPMUL(0, 0, 9, 1, 0)),
	CASE("SFPMULI", OP_SFPMULI(0, 0, 0x3fa7)),
	CASE("SFPMULI tiny", OP_SFPMULI(0, 0, 0x0087)),
	CASE("SFPMULI huge", OP_SFPMULI(0, 0, 0xff01)),
	CASE("SFPADDI", OP_SFPADDI(0, 0, 0xbf9d)),
	CASE("SFPADDI infinity", OP_SFPADDI(0, 0, 0x7f80)),
	CASE("SFPLUT", OP_SFPLUT(4, 0)),
	CASE("SFPLUTFP32", OP_SFPLUTFP32(2, 0)),
	CASE("SFPDIVP2 set", OP_SFPDIVP2(0, 0, 1, 0x7e)),
	CASE("SFPDIVP2 add", OP_SFPDIVP2(1, 0, 1, 3)),
	CASE("SFPDIVP2 subtract", OP_SFPDIVP2(1, 0, 1, 0xffd)),
	CASE("SFPEXEXP", OP_SFPEXEXP(0, 0, 1)),
	CASE("SFPEXEXP biased", OP_SFPEXEXP(1, 0, 1)),
	CASE("SFPEXEXP if negative", OP_SFPEXEXP(2, 0, 1)),
	CASE("SFPEXEXP if not", OP_SFPEXEXP(10, 0, 1)),
	CASE("SFPEXMAN", OP_SFPEXMAN(0, 0, 1)),
	CASE("SFPEXMAN bare", OP_SFPEXMAN(1, 0, 1)),
	CASE("SFPIADD", OP_SFPIADD(0, 0, 1, 0)),
	CASE("SFPIADD immediate", OP_SFPIADD(1, 0, 1, 0x923)),
	CASE("SFPIADD subtract", OP_SFPIADD(2, 0, 1, 0)),
	CASE("SFPIADD mod 4", OP_SFPIADD(4, 0, 1, 0)),
	CASE("SFPIADD mod 5", OP_SFPIADD(5, 0, 1, 0x7ff)),
	CASE("SFPIADD mod 6", OP_SFPIADD(6, 0, 1, 0)),
	CASE("SFPIADD mod 8", OP_SFPIADD(8, 0, 1, 0)),
	CASE("SFPIADD mod 9", OP_SFPIADD(9, 0, 1, 0x801)),
	CASE("SFPIADD mod 10", OP_SFPIADD(10, 0, 1, 0)),
	CASE("SFPSHFT", OP_SFPSHFT(0, 0, 1, 0)),
	CASE("SFPSHFT left", OP_SFPSHFT(1, 0, 1, 5)),
	CASE("SFPSHFT right", OP_SFPSHFT(1, 0, 1, 0xfed)),
	CASE("SFPSHFT2 rotate", OP_SFPSHFT2(3, 0, 1, 0)),
	CASE("SFPSHFT2 rotate itself", OP_SFPSHFT2(3, 0, 0, 0)),
	CASE("SFPSHFT2 shift", OP_SFPSHFT2(5, 0, 1, 2)),
	CASE("SFPSETCC negative", OP_SFPSETCC(0, 0, 1, 0)),
	CASE("SFPSETCC not zero", OP_SFPSETCC(2, 0, 1, 0)),
	CASE("SFPSETCC not negative", OP_SFPSETCC(4, 0, 1, 0)),
	CASE("SFPSETCC zero", OP_SFPSETCC(6, 0, 1, 0)),
	CASE("SFPCOMPC", OP_SFPCOMPC(0)),
	CASE("SFPENCC off", OP_SFPENCC(10, 0, 0)),
	CASE("SFPMOV", OP_SFPMOV(0, 0, 1)),
	CASE("SFPMOV negate", OP_SFPMOV(1, 0, 1)),
	CASE("SFPMOV all", OP_SFPMOV(2, 0, 1)),
	CASE("SFPMOV random", OP_SFPMOV(8, 0, 9)),
	CASE("SFPMOV constant", OP_SFPMOV(0, 0, 15)),
	CASE("SFPABS integer", OP_SFPABS(0, 0, 1)),
	CASE("SFPABS float", OP_SFPABS(1, 0, 1)),
	CASE("SFPAND", OP_SFPAND(0, 0, 1, 0)),
	CASE("SFPOR", OP_SFPOR(0, 0, 1, 0)),
	CASE("SFPXOR", OP_SFPXOR(0, 1)),
	CASE("SFPNOT", OP_SFPNOT(0, 1)),
	CASE("SFPLZ", OP_SFPLZ(0, 0, 1)),
	CASE("SFPLZ if not zero", OP_SFPLZ(2, 0, 1)),
	CASE("SFPLZ without sign", OP_SFPLZ(4, 0, 1)),
	CASE("SFPSETEXP", OP_SFPSETEXP(0, 0, 1, 0)),
	CASE("SFPSETEXP immediate", OP_SFPSETEXP(1, 0, 1, 0x81)),
	CASE("SFPSETEXP of d", OP_SFPSETEXP(2, 0, 1, 0)),
	CASE("SFPSETMAN", OP_SFPSETMAN(0, 0, 1, 0)),
	CASE("SFPSETMAN immediate", OP_SFPSETMAN(1, 0, 1, 0)),
	CASE("SFPSETSGN", OP_SFPSETSGN(0, 0, 1, 0)),
	CASE("SFPSETSGN immediate", OP_SFPSETSGN(1, 0, 1, 1)),
	CASE("SFPCAST", OP_SFPCAST(0, 0, 1)),
	CASE("SFP_STOCH_RND bf16", OP_SFP_STOCH_RND(1, 0, 1, 0, 0, 0)),
	CASE("SFP_STOCH_RND uint8", OP_SFP_STOCH_RND(2, 0, 1, 0, 0, 0)),
	CASE("SFP_STOCH_RND int8", OP_SFP_STOCH_RND(3, 0, 1, 0, 0, 0)),
	CASE("SFP_STOCH_RND uint16", OP_SFP_STOCH_RND(6, 0, 1, 0, 0, 0)),
	CASE("SFP_STOCH_RND int16", OP_SFP_STOCH_RND(7, 0, 1, 0, 0, 0)),
	CASE("SFPSWAP", OP_SFPSWAP(0, 0, 1)),
	CASE("SFPSWAP least", OP_SFPSWAP(1, 0, 1)),
	CASE("SFPSWAP halves", OP_SFPSWAP(2, 0, 1)),
	CASE("SFPSWAP eights", OP_SFPSWAP(3, 0, 1)),
	CASE("SFPSWAP most", OP_SFPSWAP(9, 0, 1)),
	{ "SFPSWAP other", OP_SFPSWAP(1, 0, 1), 1, ANY, STORE_ANY },
	{ "SFPSWAP other most", OP_SFPSWAP(9, 0, 1), 1, ANY, STORE_ANY },
	CASE("SFPTRANSP", OP_SFPTRANSP(0)),
	{ "SFPTRANSP 3", OP_SFPTRANSP(0), 3, ANY, STORE_ANY },
	{ "SFPTRANSP 5", OP_SFPTRANSP(0), 5, ANY, STORE_ANY },
	CASE("SFPLOADI bf16", OP_SFPLOADI(0xc123, 0, 0)),
	CASE("SFPLOADI fp16", OP_SFPLOADI(0xfedc, 1, 0)),
	CASE("SFPLOADI uint16", OP_SFPLOADI(0xfedc, 2, 0)),
	CASE("SFPLOADI sint16", OP_SFPLOADI(0xfedc, 4, 0)),
	CASE("SFPLOADI high", OP_SFPLOADI(0xfedc, 8, 0)),
	CASE("SFPLOADI low", OP_SFPLOADI(0xfedc, 10, 0)),
	{ "SFPLOAD implied", OP_SFPNOP(), 0, 0, STORE_ANY },
	{ "SFPLOAD fp32", OP_SFPNOP(), 0, 3, STORE_ANY },
	{ "SFPLOAD signed", OP_SFPNOP(), 0, 12, STORE_ANY },
	{ "SFPSTORE implied", OP_SFPNOP(), 0, ANY, 0 },
	{ "SFPSTORE fp32", OP_SFPNOP(), 0, ANY, 3 },
	{ "SFPSTORE raw", OP_SFPNOP(), 0, ANY, 7 },
	{ "SFPSTORE swapped", OP_SFPNOP(), 0, ANY, 9 },
	{ "SFPSTORE signed", OP_SFPNOP(), 0, ANY, 12 },
};

/* Each group of operands, tiles 0 to 2 of Dst, serves five cases, tiles 3 to 7. */
enum { CASES = sizeof cases / sizeof *cases, TOGETHER = 5, MOST_GROUPS = 30 };
enum { RESULTS = 3 * MOST_GROUPS };

/* What one step plays, from Dst tiles 0 to 2 to tile `to`. At most 32. */
static uint32_t step(const Case *c, uint32_t to, bool some, uint32_t code[32])
{
	enum { MARK = 0x5aa5, ALL = 3, SIGN = 6 };
	uint32_t n = 0;

	code[n++] = OP_SFPENCC(10, 0, ALL);
	for (uint32_t reg = 0; reg < 7; reg++)
		code[n++] = OP_SFPLOAD(reg * 5 % 3 * 64, 0, c->load, reg);
	code[n++] = OP_SFPLOADI(0, 2, 7);
	if (some)
		code[n++] = OP_SFPSETCC(0, 0, SIGN, 0);
	code[n++] = c->instruction;
	code[n++] = OP_SFPLOADI(MARK, 2, 7);
	code[n++] = OP_SFPENCC(10, 0, ALL);
	code[n++] = OP_SFPXOR(c->out, 7);
	code[n++] = OP_SFPSTORE(to * 64, 1, c->store, c->out);
	return n;
}

static void compute(Player *p, const Case *c, uint32_t to, bool some)
{
	uint32_t code[32], n = step(c, to, some, code), replay = OP_REPLAY(0, n, 0, 0);

	player_op(p, 1, OP_REPLAY(0, n, 0, 1));
	player_ops(p, 1, code, n);
	player_op(p, 1, OP_SETRWC(4, 0, 0, 0, 0, 0));
	player_sync(p, 1);
	for (uint32_t word = 5; word <= 8; word++)
		player_mop(p, 1, word, word == 6 ? OP_NOP() : replay);
	for (int half = 0; half < 2; half++) {
		player_op(p, 1, OP_MOP(1, 0, 0));
		player_sync(p, 1);
	}
}

static void group(Player *p, uint32_t first, uint32_t k)
{
	exact_take(p, 0, EXACT_EMPTY);
	for (uint32_t operand = 0; operand < 3; operand++)
		exact_to_dst(p, exact_at(3 * k + operand), operand);
	exact_give(p, 0, EXACT_LOADED);

	exact_take(p, 1, EXACT_LOADED);
	for (uint32_t c = 0; c < TOGETHER; c++)
		compute(p, &cases[(first + c) % CASES], 3 + c, k & 1);
	exact_give(p, 1, EXACT_READY);

	exact_take(p, 2, EXACT_READY);
	for (uint32_t c = 0; c < TOGETHER; c++)
		exact_from_dst(p, 3 + c, exact_at(RESULTS + TOGETHER * k + c));
	exact_give(p, 2, EXACT_EMPTY);
}

/* The third tile is sometimes nearly minus the product of the others. */
static void operands(Operands *o, uint8_t *data)
{
	for (int operand = 0; operand < 3; operand++)
		exact_fill(o, data + operand * EXACT_BYTES, operands_bits(o) % 9);
	for (int k = 0; k < EXACT_TILE && operands_bits(o) & 1; k++) {
		float a, b;
		uint32_t c;

		memcpy(&a, data + 4 * k, 4);
		memcpy(&b, data + EXACT_BYTES + 4 * k, 4);
		a = -a * b;
		memcpy(&c, &a, 4);
		c ^= operands_bits(o) & 3;
		memcpy(data + 2 * EXACT_BYTES + 4 * k, &c, 4);
	}
}

static void configure(Player *p)
{
	static const uint32_t mop[5] = { 1, 16, OP_NOP(), OP_NOP(), OP_NOP() };

	exact_setup(p, true);
	player_op(p, 1, OP_SETC16(0, 7));
	player_op(p, 1, OP_SETC16(0, 9));
	player_op(p, 1, OP_SETC16(0, 23));
	player_op(p, 1, OP_SETC16(2, 24)); /* modifier 1: two rows on */
	player_op(p, 1, OP_SETC16(0, 48));
	player_op(p, 1, OP_SETC16(0, 49));
	player_op(p, 1, OP_SETRWC(15, 0, 0, 0, 0, 0));
	player_cfg(p, 1, 164, 0x12345678); /* random bits start here */
	for (uint32_t word = 0; word < 5; word++)
		player_mop(p, 1, word, mop[word]);
}

static long compare(Operands *o, const char *name, uint32_t first, uint32_t groups)
{
	uint8_t *data = calloc(RESULTS + TOGETHER * groups, EXACT_BYTES);
	Player *p = player_new();
	long wrong;

	if (!data)
		abort();
	configure(p);
	for (uint32_t k = 0; k < groups; k++) {
		operands(o, data + (size_t)3 * k * EXACT_BYTES);
		group(p, first, k);
	}
	wrong = exact_compare(name, p, data, RESULTS + TOGETHER * groups, TOGETHER * groups);
	player_free(p);
	free(data);
	return wrong;
}

int exact_vector(long count, const char *only)
{
	int failed = 0;

	for (uint32_t first = 0; first < CASES; first += TOGETHER) {
		Operands o = { 362436069362436069u + first };
		long left = (count + EXACT_TILE - 1) / EXACT_TILE, wrong = 0;
		char name[256] = "";

		for (uint32_t c = 0; c < TOGETHER; c++)
			snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s",
				 c ? ", " : "", cases[(first + c) % CASES].name);
		if (!strstr(name, only))
			continue;
		for (uint32_t groups; left > 0 && wrong >= 0; left -= groups) {
			long differ;

			groups = left < MOST_GROUPS ? (uint32_t)left : MOST_GROUPS;
			differ = compare(&o, name, first, groups);
			wrong = differ < 0 ? -1 : wrong + differ;
		}
		printf("%s: %ld results each, %ld differ\n", name, count, wrong);
		failed += wrong != 0;
	}
	return failed;
}
