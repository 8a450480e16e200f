/*
 * rv32im encoders, for programs small enough to write down instruction by
 * instruction.
 *
 *     Code c = { 0 };
 *     rv_li(&c, 5, 0x20000);
 *     rv(&c, rv_sw(6, 5, 0));
 *     rv_rest(&c);
 *     emu_write(e, x, y, 0, c.word, rv_bytes(&c));
 */
#ifndef TESTS_RV32_H
#define TESTS_RV32_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Code {
	uint32_t word[4096];
	size_t n;
} Code;

static inline void rv(Code *c, uint32_t word)
{
	assert(c->n < sizeof(c->word) / sizeof(*c->word));
	c->word[c->n++] = word;
}

static inline size_t rv_bytes(const Code *c) { return c->n * 4; }

static inline uint32_t rv_r(uint32_t f7, uint32_t f3, uint32_t rd, uint32_t a, uint32_t b)
{
	return f7 << 25 | b << 20 | a << 15 | f3 << 12 | rd << 7 | 0x33;
}

static inline uint32_t rv_i(uint32_t major, uint32_t f3, uint32_t rd, uint32_t a, int32_t imm)
{
	return (uint32_t)imm << 20 | a << 15 | f3 << 12 | rd << 7 | major;
}

static inline uint32_t rv_addi(uint32_t rd, uint32_t a, int32_t imm)
{
	return rv_i(0x13, 0, rd, a, imm);
}

static inline uint32_t rv_lw(uint32_t rd, uint32_t base, int32_t offset)
{
	return rv_i(0x03, 2, rd, base, offset);
}

/* f3: 0 byte, 1 half, 2 word. */
static inline uint32_t rv_s(uint32_t f3, uint32_t value, uint32_t base, int32_t offset)
{
	uint32_t o = (uint32_t)offset;

	return (o >> 5 & 127) << 25 | value << 20 | base << 15 | f3 << 12 | (o & 31) << 7 | 0x23;
}

static inline uint32_t rv_sw(uint32_t value, uint32_t base, int32_t offset)
{
	return rv_s(2, value, base, offset);
}

/* f3: 0 beq, 1 bne, 4 blt, 5 bge, 6 bltu, 7 bgeu. Offset in bytes from here. */
static inline uint32_t rv_b(uint32_t f3, uint32_t a, uint32_t b, int32_t offset)
{
	uint32_t o = (uint32_t)offset;

	return (o >> 12 & 1) << 31 | (o >> 5 & 63) << 25 | b << 20 | a << 15 | f3 << 12
	       | (o >> 1 & 15) << 8 | (o >> 11 & 1) << 7 | 0x63;
}

static inline uint32_t rv_jal(uint32_t rd, int32_t offset)
{
	uint32_t o = (uint32_t)offset;

	return (o >> 20 & 1) << 31 | (o >> 1 & 1023) << 21 | (o >> 11 & 1) << 20
	       | (o >> 12 & 255) << 12 | rd << 7 | 0x6f;
}

static inline uint32_t rv_lui(uint32_t rd, uint32_t value)
{
	return (value & 0xfffff000) | rd << 7 | 0x37;
}

static inline void rv_li(Code *c, uint32_t rd, uint32_t value)
{
	uint32_t upper = (value + 0x800) & 0xfffff000;

	rv(c, rv_lui(rd, upper));
	rv(c, rv_addi(rd, rd, (int32_t)(value - upper)));
}

/* Stores a constant; uses x30 and x31. */
static inline void rv_poke(Code *c, uint32_t address, uint32_t value)
{
	rv_li(c, 30, address);
	rv_li(c, 31, value);
	rv(c, rv_sw(31, 30, 0));
}

/* Waits until the word at an address is `value`; uses x29 to x31. */
static inline void rv_await(Code *c, uint32_t address, uint32_t value)
{
	rv_li(c, 30, address);
	rv_li(c, 31, value);
	rv(c, rv_lw(29, 30, 0));
	rv(c, rv_b(1, 29, 31, -4));
}

static inline void rv_rest(Code *c) { rv(c, rv_jal(0, 0)); }

/* A Tensix instruction in the stream. */
static inline void rv_tensix(Code *c, uint32_t i) { rv(c, i << 2 | i >> 30); }

#endif
