/*
 * How register window counters go on after an instruction (RWCs.md): by one of eight
 * address modifiers, whose sections of the configuration lie a fixed distance apart.
 */
#ifndef RUNTIME_EMU_RWC_H
#define RUNTIME_EMU_RWC_H

#include "runtime/emu/tensix.h"

/* An address modifier as configured. */
typedef struct Modifier {
	uint32_t ab, dst, bias;
} Modifier;

static inline Modifier rwc_modifier(const TensixThread *th, const Rwc *r, uint32_t addr_mode)
{
	uint32_t mode = addr_mode + (r->bias | (th->cfg[TCFG_ADDR_MOD_SET_Base.word] & 1)) * 4;

	return (Modifier){ th->cfg[TCFG_ADDR_MOD_AB_SEC0_SrcAIncr.word + 2 * mode],
			   th->cfg[TCFG_ADDR_MOD_DST_SEC0_DestIncr.word + mode],
			   th->cfg[TCFG_ADDR_MOD_BIAS_SEC0_BiasIncr.word + mode] };
}

/* Whether it asks for what the emulator has. */
static inline bool modifier_dst_known(Modifier m)
{
	return !(m.dst >> 12 & 1 && m.dst >> 10 & 3);
}

static inline bool modifier_bias_known(Modifier m)
{
	return (m.bias & 31) <= 1;
}

/* Bits of a modifier, each 0 or 1. */
typedef struct RwcStep {
	uint32_t incr, from_cr, clear, to_cr;
} RwcStep;

/* Without branches: this follows every matrix instruction. */
static inline void rwc_count(uint32_t *counter, uint32_t *cr, RwcStep s, uint32_t rows)
{
	uint32_t base = (*counter & (s.from_cr - 1)) | (*cr & -s.from_cr);
	uint32_t next = (base + s.incr) & (rows - 1) & (s.clear - 1);
	uint32_t keep = (s.from_cr | s.clear | s.to_cr) - 1;

	*counter = next;
	*cr = (*cr & keep) | (next & ~keep);
}

static inline void rwc_step(Rwc *r, Modifier m, bool fidelity)
{
	uint32_t ab = m.ab, dst = m.dst;

	rwc_count(&r->srca, &r->srca_cr, (RwcStep){ ab & 63, ab >> 6 & 1, ab >> 7 & 1, 0 },
		  SRC_ROWS);
	rwc_count(&r->srcb, &r->srcb_cr,
		  (RwcStep){ ab >> 8 & 63, ab >> 14 & 1, ab >> 15 & 1, 0 }, SRC_ROWS);
	rwc_count(&r->dst, &r->dst_cr,
		  (RwcStep){ dst & 1023, dst >> 10 & 1, dst >> 11 & 1, dst >> 12 & 1 }, DST_ROWS);
	if (fidelity)
		r->fidelity = dst >> 15 ? 0 : (r->fidelity + (dst >> 13 & 3)) & 3;
	r->bias ^= m.bias & 1;
}

#endif
