/* The vector unit's ways to Dst, to immediates and to its own configuration
 * (SFPLOAD.md, SFPSTORE.md, SFPLOADI.md, SFPCONFIG.md). */
#include "runtime/emu/sfpu.h"

#include "runtime/emu/dst.h"
#include "runtime/emu/fpu.h"

/* instr_mod0 of SFPLOAD and SFPSTORE. */
enum {
	MOD_IMPLIED = 0,
	MOD_BF16 = 2,
	MOD_FP32 = 3,
	MOD_INT32 = 4, /* any 32 bits */
	MOD_UINT16 = 6,
	MOD_RAW32 = 7, /* the rest in the order silicon has */
	MOD_SWAPPED = 9,
	MOD_SIGNED32 = 12, /* two's complement here, sign and magnitude in Dst */
	MOD_LOW16 = 14,
	MOD_HIGH16 = 15,
};

enum {
	BOTH_MODS = 1 << MOD_IMPLIED | 1 << MOD_BF16 | 1 << MOD_FP32 | 1 << MOD_INT32 |
		1 << MOD_UINT16 | 1 << MOD_SIGNED32 | 1 << MOD_LOW16 | 1 << MOD_HIGH16,
	STORE_MODS = BOTH_MODS | 1 << MOD_RAW32 | 1 << MOD_SWAPPED,
	IMPLIED_FORMATS = (FPU_INT16_TOO & ~(1 << FPU_TF32)),
};

typedef struct Access {
	uint32_t mod, reg, row;
} Access;

/* Decodes SFPLOAD or SFPSTORE. */
static Exec access_of(Tensix *t, int thread, uint32_t i, uint32_t mods, uint32_t formats,
		      Access *a)
{
	const uint32_t *cfg = tensix_cfg(t, thread);
	uint32_t address = op_bits(i, 9, 0),
		 format = cfg_field(cfg, CFG_ALU_FORMAT_SPEC_REG1_SrcB);

	*a = (Access){ op_bits(i, 19, 16), op_bits(i, 23, 20),
		       fpu_dst_row(t, thread, address) % DST_ROWS };
	if (address & 1)
		return tensix_unknown(t, thread, i, "dest_reg_addr", address);
	if (!(mods >> a->mod & 1))
		return tensix_unknown(t, thread, i, "instr_mod0", a->mod);
	if (a->reg >= 12)
		return tensix_unknown(t, thread, i, "lreg_ind", a->reg);
	if (a->mod == MOD_IMPLIED) {
		a->mod = cfg_field(cfg, CFG_ALU_ACC_CTRL_SFPU_Fp32_enabled) ? MOD_FP32 : MOD_BF16;
		if (a->mod == MOD_BF16 && !(formats >> format & 1))
			return tensix_unknown(t, thread, i, "format of SrcB", format);
	}
	if (a->row & 1)
		return tensix_unknown(t, thread, i, "row of Dst", a->row);
	return EXEC_DONE;
}

enum {
	WIDE_MODS = 1 << MOD_FP32 | 1 << MOD_INT32 | 1 << MOD_RAW32 | 1 << MOD_SWAPPED |
		1 << MOD_SIGNED32,
};

/* Where lanes lie in Dst: four rows of eight, in the even columns or the odd
 * ones. 16-bit values are upper halves of words here. */
static void read_lanes(const Tensix *t, Access a, uint32_t v[SFPU_LANES])
{
	bool wide = WIDE_MODS >> a.mod & 1;

	for (uint32_t n = 0; n < 4; n++, v += 8) {
		uint32_t row = (a.row & ~3u) + n, at = wide ? dst32_row(row) : row;
		const uint16_t *high = t->dst[at] + (a.row >> 1 & 1);
		const uint16_t *low = wide ? t->dst[at + DST32_LOW] + (a.row >> 1 & 1) : NULL;

		if (!t->dst_valid[at]) {
			memset(v, 0, 8 * sizeof *v);
			continue;
		}
		for (int k = 0; k < 8; k++)
			v[k] = (uint32_t)high[2 * k] << 16;
		for (int k = 0; k < 8 && low; k++)
			v[k] |= low[2 * k];
	}
}

/* Only lanes that take part are written; a row one of them is in counts as
 * written. */
static void write_lanes(Tensix *t, Access a, const uint32_t v[SFPU_LANES])
{
	bool wide = WIDE_MODS >> a.mod & 1;
	uint32_t lanes = sfpu_lanes(t);

	for (uint32_t n = 0; n < 4; n++, v += 8, lanes >>= 8) {
		uint32_t row = (a.row & ~3u) + n, at = wide ? dst32_row(row) : row;
		uint16_t *high = t->dst[at] + (a.row >> 1 & 1);
		uint16_t *low = wide ? t->dst[at + DST32_LOW] + (a.row >> 1 & 1) : NULL;

		for (int k = 0; k < 8; k++) {
			if (!(lanes >> k & 1))
				continue;
			high[2 * k] = (uint16_t)(v[k] >> 16);
			if (low)
				low[2 * k] = (uint16_t)v[k];
		}
		t->dst_valid[at] |= (lanes & 0xff) != 0;
	}
}

/* A word of Dst as a register gets it, if it is not a number. */
static uint32_t loaded(uint32_t mod, uint32_t word, uint32_t was)
{
	uint32_t raw = dst_raw((uint16_t)(word >> 16));

	switch (mod) {
	case MOD_UINT16:
		return raw;
	case MOD_LOW16:
		return (was & 0xffff0000) | raw;
	case MOD_HIGH16:
		return raw << 16 | (was & 0xffff);
	case MOD_SIGNED32:
		return word >> 31 ? -(word & 0x7fffffff) : word;
	default:
		return word;
	}
}

Exec emu_op_SFPLOAD(Tensix *t, int thread, uint32_t i)
{
	Access a;
	uint32_t v[SFPU_LANES];

	if (access_of(t, thread, i, BOTH_MODS, IMPLIED_FORMATS, &a) != EXEC_DONE)
		return EXEC_FAULT;
	if (a.reg < SFPU_GENERAL) {
		read_lanes(t, a, v);
		for (int lane = 0; lane < SFPU_LANES && a.mod > MOD_INT32; lane++)
			v[lane] = loaded(a.mod, v[lane], t->lreg[a.reg][lane]);
		sfpu_put(t, a.reg, v);
	}
	tensix_advance(t, thread, op_bits(i, 15, 14), false);
	return EXEC_DONE;
}

/* A register as a word of Dst; of a number, denormals would be zero. */
static uint32_t stored(uint32_t mod, uint32_t value)
{
	uint32_t raw = value;

	switch (mod) {
	case MOD_UINT16:
	case MOD_LOW16:
		raw = value << 16;
		break;
	case MOD_RAW32:
	case MOD_HIGH16:
		break;
	case MOD_SWAPPED:
		raw = value << 16 | value >> 16;
		break;
	case MOD_SIGNED32:
		return value >> 31 ? 0x80000000 | -value : value;
	default:
		return value;
	}
	return (uint32_t)dst_natural((uint16_t)(raw >> 16)) << 16 | (raw & 0xffff);
}

Exec emu_op_SFPSTORE(Tensix *t, int thread, uint32_t i)
{
	Access a;
	uint32_t v[SFPU_LANES];

	if (access_of(t, thread, i, STORE_MODS, IMPLIED_FORMATS | 1 << FPU_BFP2, &a) != EXEC_DONE)
		return EXEC_FAULT;
	for (int lane = 0; lane < SFPU_LANES; lane++) {
		uint32_t value = t->lreg[a.reg][lane];

		v[lane] = value & (value & 0x7f800000 ? 0xffffffff : 0x80000000);
	}
	for (int lane = 0; lane < SFPU_LANES && a.mod > MOD_FP32; lane++)
		v[lane] = stored(a.mod, t->lreg[a.reg][lane]);
	write_lanes(t, a, v);
	tensix_advance(t, thread, op_bits(i, 15, 14), false);
	return EXEC_DONE;
}

Exec emu_op_SFPLOADI(Tensix *t, int thread, uint32_t i)
{
	enum { BF16, FP16, UINT16, SINT16 = 4, HIGH = 8, LOW = 10 };
	uint32_t imm = op_bits(i, 15, 0), mod = op_bits(i, 19, 16), reg = op_bits(i, 23, 20);
	uint32_t keep = mod == HIGH ? 0xffff : mod == LOW ? 0xffff0000 : 0, value, v[SFPU_LANES];

	if (reg >= SFPU_GENERAL)
		return tensix_unknown(t, thread, i, "lreg_ind", reg);
	switch (mod) {
	case BF16:
	case HIGH:
		value = imm << 16;
		break;
	case FP16: /* only the exponent is moved; infinities become numbers */
		value = (imm & 0x8000) << 16 | ((imm & 0x7fff) + (112 << 10)) << 13;
		break;
	case UINT16:
	case LOW:
		value = imm;
		break;
	case SINT16:
		value = imm & 0x8000 ? imm | 0xffff0000 : imm;
		break;
	default:
		return tensix_unknown(t, thread, i, "instr_mod0", mod);
	}
	for (int lane = 0; lane < SFPU_LANES; lane++)
		v[lane] = (t->lreg[reg][lane] & keep) | value;
	sfpu_put(t, reg, v);
	return EXEC_DONE;
}

/* Constants of registers 11 to 14 and the behaviour of SFPSWAP. Destinations 0
 * to 8 configure SFPLOADMACRO, which the emulator does not have. */
static Exec configure(Tensix *t, int thread, uint32_t i, uint32_t value)
{
	enum { MINUS_ONE = 11, LANE_CONFIG = 15, LANE_CONFIG_KNOWN = 0x104 };
	uint32_t to = sfpu_dest(i), imm = op_bits(i, 23, 8), immediate = sfpu_mod(i);

	if (to == LANE_CONFIG) {
		if (value & ~(uint32_t)LANE_CONFIG_KNOWN)
			return tensix_unknown(t, thread, i, "lane configuration", value);
		t->lane_config = value;
		return EXEC_DONE;
	}
	if ((to < 4 && immediate) || (to == 8 && !immediate) || to == 9 || to == 10 ||
	    (to > MINUS_ONE && immediate))
		return tensix_unknown(t, thread, i, "config_dest", to);
	if ((to == 8 && imm > 0xfff) || (to >= MINUS_ONE && imm))
		return tensix_unknown(t, thread, i, "imm16_math", imm);
	for (int lane = 0; lane < SFPU_LANES && to >= MINUS_ONE; lane++)
		t->lreg[to][lane] = immediate ? 0xbf800000 : value;
	return EXEC_DONE;
}

Exec emu_op_SFPCONFIG(Tensix *t, int thread, uint32_t i)
{
	uint32_t imm = op_bits(i, 23, 8), immediate = sfpu_mod(i);

	if (immediate > 1)
		return tensix_unknown(t, thread, i, "instr_mod1", immediate);
	for (int lane = 1; lane < SFPU_LANES && !immediate; lane++)
		if (t->lreg[0][lane] != t->lreg[0][0])
			return tensix_unknown(t, thread, i, "lane that differs from lane 0",
					      (uint32_t)lane);
	if (!immediate && imm)
		return tensix_unknown(t, thread, i, "imm16_math", imm);
	if (sfpu_lanes(t) != 0xffffffff)
		return tensix_unknown(t, thread, i, "lanes that take part", sfpu_lanes(t));
	return configure(t, thread, i, immediate ? imm : t->lreg[0][0]);
}
