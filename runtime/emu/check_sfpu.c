/*
 * sfpu_slot: the vector unit's multiply-add and table instructions, and lane
 * rotations, write a slot late; the next vector instruction must not read what
 * they write (SFPMAD.md, SFPLUT.md, SFPSHFT2.md: instruction scheduling). Any
 * other instruction in between is a slot. SFPSWAP takes two cycles as well but
 * holds its successor back by itself.
 */
#include "runtime/emu/shadow_state.h"

enum { INDIRECT_A = 4, INDIRECT_D = 8, SHUFFLE_COPY = 2, ROTATE = 3, SHIFT = 4 };

static uint32_t reg(uint32_t i, int low) { return 1u << (i >> low & 15); }

/* LRegs an instruction reads. */
static uint32_t reads(uint32_t i)
{
	uint32_t d = reg(i, 4), c = reg(i, 8), b = reg(i, 12), mod = i & 15;

	switch (i >> 24) {
	case T_SFPSTORE:
		return reg(i, 20);
	case T_SFPLOADI: /* half a register stays as it is */
		return op_bits(i, 19, 16) == 8 || op_bits(i, 19, 16) == 10 ? reg(i, 20) : 0;
	case T_SFPLUT:
		return 0xf;
	case T_SFPLUTFP32:
		return 0x7f;
	case T_SFPMULI: case T_SFPADDI:
		return d;
	case T_SFPMAD: case T_SFPADD: case T_SFPMUL:
		return c | b | (mod & (INDIRECT_A | INDIRECT_D) ? 0x80 : 0) |
		       (mod & INDIRECT_A ? 0 : reg(i, 16));
	case T_SFPDIVP2: case T_SFPEXEXP: case T_SFPEXMAN: case T_SFPSETCC: case T_SFPMOV:
	case T_SFPABS: case T_SFPNOT: case T_SFPLZ: case T_SFPCAST:
		return c;
	case T_SFPSHFT:
		return d | (mod & 1 ? 0 : c);
	case T_SFPIADD: case T_SFPSETEXP: case T_SFPSETMAN: case T_SFPSETSGN:
		return c | (mod & 1 ? 0 : d);
	case T_SFPAND: case T_SFPOR: case T_SFPXOR: case T_SFPSWAP:
		return c | d;
	case T_SFP_STOCH_RND:
		return c | b;
	case T_SFPTRANSP:
		return 0xff;
	case T_SFPCONFIG:
		return mod & 1 ? 0 : 1;
	case T_SFPSHFT2:
		return mod <= SHUFFLE_COPY ? 0xf | c : mod <= SHIFT ? c : c | b;
	default:
		return 0;
	}
}

/* LRegs that are not there yet when the next instruction starts. */
static uint32_t unfinished(const Tensix *t, uint32_t i)
{
	uint32_t mod = i & 15;

	switch (i >> 24) {
	case T_SFPMAD: case T_SFPADD: case T_SFPMUL:
		return mod & INDIRECT_D ? 1u << (t->lreg[7][0] & 15) : reg(i, 4);
	case T_SFPMULI: case T_SFPADDI: case T_SFPLUTFP32:
		return reg(i, 4);
	case T_SFPLUT:
		return reg(i, 20);
	case T_SFPSHFT2:
		return mod == SHUFFLE_COPY ? 0xf : mod == ROTATE || mod == SHIFT ? reg(i, 4) : 0;
	default:
		return 0;
	}
}

void sfpu_issue(EmuCore *c, int thread, uint32_t i)
{
	ThreadShadow *h = &c->shadow->thread[thread];
	uint32_t early = h->unfinished, op = i >> 24;

	h->unfinished = 0;
	if (op < T_SFPLOAD || op > T_SFPLUTFP32)
		return;
	early &= reads(i);
	if (early)
		emu_fault(c, TRISC0 + thread, "sfpu_slot", i,
			  "reads LReg[%d], which the instruction before it writes a slot late",
			  __builtin_ctz(early));
	h->unfinished = unfinished(&c->tensix, i) & 0xff; /* the rest are constants */
}
