#include "runtime/emu/riscv.h"

static uint32_t signed_field(uint32_t word, int low)
{
	return (uint32_t)((int32_t)word >> low);
}

static uint32_t store_offset(uint32_t w)
{
	return (signed_field(w, 20) & ~31u) | (w >> 7 & 31);
}

static uint32_t branch_offset(uint32_t w)
{
	return (signed_field(w, 19) & ~0xfffu) | (w << 4 & 0x800) | (w >> 20 & 0x7e0)
	       | (w >> 7 & 0x1e);
}

static uint32_t jump_offset(uint32_t w)
{
	return (signed_field(w, 11) & ~0xfffffu) | (w & 0xff000) | (w >> 9 & 0x800)
	       | (w >> 20 & 0x7fe);
}

static RvOp alu_op(uint32_t funct3, uint32_t funct7)
{
	static const uint8_t plain[8] = { RV_ADD, RV_SLL, RV_SLT, RV_SLTU, RV_XOR, RV_SRL, RV_OR,
					  RV_AND };

	if (funct7 == 1)
		return (RvOp)(RV_MUL + funct3);
	if (funct7 == 0)
		return plain[funct3];
	if (funct7 == 32 && funct3 == 0)
		return RV_SUB;
	if (funct7 == 32 && funct3 == 5)
		return RV_SRA;
	return RV_UNKNOWN;
}

static RvOp immediate_op(uint32_t funct3, uint32_t funct7)
{
	static const uint8_t plain[8] = { RV_ADDI, RV_SLLI, RV_SLTI, RV_SLTIU, RV_XORI, RV_SRLI,
					  RV_ORI, RV_ANDI };

	if ((funct3 == 1 && funct7 != 0) || (funct3 == 5 && funct7 != 0 && funct7 != 32))
		return RV_UNKNOWN;
	return funct3 == 5 && funct7 == 32 ? RV_SRAI : plain[funct3];
}

static RvOp load_op(uint32_t funct3)
{
	static const uint8_t ops[8] = { RV_LB, RV_LH, RV_LW, RV_UNKNOWN, RV_LBU, RV_LHU, RV_UNKNOWN,
					RV_UNKNOWN };

	return ops[funct3];
}

static RvOp branch_op(uint32_t funct3)
{
	static const uint8_t ops[8] = { RV_BEQ, RV_BNE, RV_UNKNOWN, RV_UNKNOWN, RV_BLT, RV_BGE,
					RV_BLTU, RV_BGEU };

	return ops[funct3];
}

/* Whether an instruction reads a register. */
static bool reads(uint32_t word, uint32_t reg)
{
	uint32_t major = word >> 2 & 31;
	bool one = (word >> 15 & 31) == reg, two = (word >> 20 & 31) == reg;

	if ((word & 3) != 3)
		return false;
	switch (major) {
	case 0x00: case 0x04: case 0x19: /* loads, immediate, JALR */
		return one;
	case 0x08: case 0x0c: case 0x18: /* stores, registers, branches */
		return one || two;
	default:
		return false;
	}
}

RvCode riscv_decode(uint32_t w, uint32_t pc, uint32_t next)
{
	uint32_t funct3 = w >> 12 & 7, rd = w >> 7 & 31;
	RvCode c = { .rd = (uint8_t)(rd ? rd : 32), .a = w >> 15 & 31, .b = w >> 20 & 31,
		     .imm = signed_field(w, 20) };

	if ((w & 3) != 3)
		return (RvCode){ .op = RV_TENSIX, .rd = 32, .imm = w >> 2 | w << 30 };
	switch (w >> 2 & 31) {
	case 0x00:
		c.op = load_op(funct3);
		c.b = rd && reads(next, rd);
		break;
	case 0x03:
		c.op = funct3 ? RV_UNKNOWN : RV_FENCE;
		break;
	case 0x04:
		c.op = immediate_op(funct3, w >> 25);
		c.imm = funct3 == 1 || funct3 == 5 ? c.b : c.imm;
		break;
	case 0x05: /* AUIPC: the address is known */
	case 0x0d:
		c.op = RV_LUI;
		c.imm = (w & ~0xfffu) + ((w >> 2 & 31) == 0x05 ? pc : 0);
		break;
	case 0x08:
		c.op = funct3 < 3 ? RV_SB + funct3 : RV_UNKNOWN;
		c.imm = store_offset(w);
		break;
	case 0x0c:
		c.op = alu_op(funct3, w >> 25);
		break;
	case 0x18:
		c.op = branch_op(funct3);
		c.imm = branch_offset(w);
		break;
	case 0x19:
		c.op = funct3 ? RV_UNKNOWN : RV_JALR;
		break;
	case 0x1b:
		c.op = RV_JAL;
		c.imm = jump_offset(w);
		break;
	default:
		c.op = RV_UNKNOWN;
	}
	if (c.op == RV_UNKNOWN)
		c.imm = w;
	return c;
}
