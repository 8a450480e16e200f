/*
 * cfg_stall, flop_stall: configuration and who reads it.
 *
 * A RISC-V store to configuration or to a general register and a pushed
 * instruction travel different ways; a STALLWAIT on C13 pushed between them,
 * or loading the word back, puts them in order (BackendConfiguration.md).
 * WRCFG takes two cycles (WRCFG.md). Whoever changes configuration under an
 * instruction still in a unit has to wait for that unit first.
 */
#include <string.h>

#include "runtime/emu/shadow_state.h"

/* STALLWAIT.md: what the bits of the two masks stand for. */
enum {
	BLOCK_TDMA = 1, BLOCK_SYNC = 2, BLOCK_PACK = 4, BLOCK_UNPACK = 8, BLOCK_SCALAR = 0x20,
	BLOCK_MATRIX = 0x40, BLOCK_CFG = 0x80, BLOCK_VECTOR = 0x100, BLOCK_ALL = 0x1ff,
	ON_SCALAR = 1, ON_DEFAULT = 0x7f, ON_RISC = 0x2000,
};

enum { THCON_FIRST_WORD = 52, THCON_WORDS = 100 };

/* Kinds of unit, as rows of Shadow.reads. */
static const uint32_t reader_units[CFG_READERS] = {
	USE_UNPACK0, USE_UNPACK1, USE_PACK, USE_MATRIX, USE_VECTOR,
};

static const struct {
	const char *prefix;
	int reader;
} field_readers[] = {
	{ "ALU_FORMAT_SPEC_REG_Dstacc", 2 }, { "ALU_FORMAT_SPEC_REG2_Dstacc", 2 },
	{ "ALU_FORMAT_SPEC", 3 },
	{ "ALU_ROUNDING_MODE_Gasket", 2 }, { "ALU_ROUNDING_MODE_Packer", 2 },
	{ "ALU_ROUNDING_MODE", 3 },
	{ "ALU_ACC_CTRL_SFPU", 4 }, { "ALU_ACC_CTRL", 3 },
	{ "STACC_RELU", 2 }, { "PCK", 2 }, { "TILE_ROW_SET", 2 }, { "PACK_COUNTERS", 2 },
	{ "DEST_TARGET_REG_CFG_PACK", 2 },
	{ "UNP0", 0 }, { "UNP1", 1 },
	{ "THCON_SEC0_REG1_", 2 }, { "THCON_SEC0_REG8_", 2 },
	{ "THCON_SEC1_REG1_", 2 }, { "THCON_SEC1_REG8_", 2 },
	{ "THCON_SEC0", 0 }, { "THCON_SEC1", 1 },
};

static void add_field(Shadow *s, const char *name, int word, int shift, int width)
{
	size_t n = sizeof(field_readers) / sizeof(field_readers[0]);

	for (size_t i = 0; i < n; i++) {
		if (strncmp(name, field_readers[i].prefix, strlen(field_readers[i].prefix)) == 0) {
			uint32_t bits = width == 32 ? ~0u : ((1u << width) - 1) << shift;
			s->reads[field_readers[i].reader][word] |= bits;
			return;
		}
	}
}

void cfg_init(Shadow *s)
{
#define THREAD_FIELD(name, word, shift, width)
#define CFG_FIELD(name, word, shift, width) add_field(s, #name, word, shift, width);
#include "runtime/device/tensix_cfg.def"
	/* Descriptors are more than one word wide. */
	for (int w = 1; w < 4; w++) {
		s->reads[0][52 + w] = ~0u;
		s->reads[1][92 + w] = ~0u;
	}
}

static uint32_t readers(const Shadow *s, uint32_t word, uint32_t bits)
{
	uint32_t units = 0;

	for (int k = 0; k < CFG_READERS; k++)
		if (word < CFG_WORDS && s->reads[k][word] & bits)
			units |= reader_units[k];
	return units;
}

/* The bits of a block mask that hold an instruction back. */
static uint32_t blocked_by(uint32_t i)
{
	uint32_t op = i >> 24;

	switch (op) {
	case T_STALLWAIT:
		return BLOCK_ALL;
	case T_NOP:
		return 0;
	case T_PACR:
		return BLOCK_TDMA | BLOCK_PACK;
	case T_UNPACR: case T_UNPACR_NOP:
		return BLOCK_TDMA | BLOCK_UNPACK;
	case T_SETDMAREG: case T_REG2FLOP: case T_ADDDMAREG: case T_MULDMAREG: case T_DMANOP:
	case T_STOREREG:
		return BLOCK_TDMA | BLOCK_SCALAR;
	case T_SETADC: case T_SETADCXX: case T_SETADCXY: case T_SETADCZW: case T_INCADCXY:
	case T_INCADCZW: case T_ADDRCRXY: case T_ADDRCRZW: case T_SETDVALID:
		return BLOCK_TDMA;
	case T_SETC16: case T_WRCFG: case T_RDCFG:
	case T_RMWCIB0: case T_RMWCIB1: case T_RMWCIB2: case T_RMWCIB3:
		return BLOCK_CFG;
	case T_SEMINIT: case T_SEMPOST: case T_SEMGET: case T_SEMWAIT: case T_ATGETM: case T_ATRELM:
		return BLOCK_SYNC;
	default:
		return op >= T_SFPLOAD && op <= T_SFPLUTFP32 ? BLOCK_VECTOR : BLOCK_MATRIX;
	}
}

uint32_t units_used(uint32_t i)
{
	uint32_t packers;

	switch (i >> 24) {
	case T_UNPACR: case T_UNPACR_NOP:
		return op_bits(i, 23, 23) ? USE_UNPACK1 : USE_UNPACK0;
	case T_PACR:
		packers = op_bits(i, 11, 8);
		return (packers ? packers : 1) * USE_PACK0;
	case T_MVMUL: case T_ELWMUL: case T_ELWADD: case T_ELWSUB: case T_GMPOOL: case T_GAPOOL:
	case T_MOVA2D: case T_MOVB2D: case T_MOVD2A: case T_MOVD2B: case T_MOVB2A: case T_ZEROACC:
		return USE_MATRIX;
	case T_SFPLOAD: case T_SFPSTORE:
		return USE_VECTOR;
	default:
		return 0;
	}
}

/* General registers an instruction reads, a bit each. */
static uint64_t gprs_read(uint32_t i)
{
	uint32_t a = op_bits(i, 5, 0);
	bool wide;

	switch (i >> 24) {
	case T_WRCFG:
		a = op_bits(i, 21, 16);
		wide = op_bits(i, 15, 15);
		break;
	case T_REG2FLOP:
		wide = op_bits(i, 23, 20) == 0;
		break;
	case T_ADDDMAREG: case T_MULDMAREG:
		return 1ull << a | (op_bits(i, 23, 23) ? 0 : 1ull << op_bits(i, 11, 6));
	case T_STOREREG:
		return 1ull << op_bits(i, 23, 18);
	default:
		return 0;
	}
	return wide ? 15ull << (a & ~3u) : 1ull << a;
}

/* Units whose configuration an instruction needs: a flush has none. */
static uint32_t units_configured(uint32_t i)
{
	return i >> 24 == T_PACR && op_bits(i, 1, 1) ? 0 : units_used(i);
}

/* What was stored before the queue's place `at` has been written. */
static void written_before(ThreadShadow *h, uint32_t at)
{
	for (int k = 0; k < CFG_READERS; k++)
		if ((int32_t)(at - h->stored_at[k]) >= 0)
			h->stored &= ~reader_units[k];
	for (uint64_t left = h->stored_gprs; left; left &= left - 1)
		if ((int32_t)(at - h->gpr_at[__builtin_ctzll(left)]) >= 0)
			h->stored_gprs &= ~(left & -left);
}

/* The wait at the gate has held back an instruction, so its conditions held. */
static void resolve(ThreadShadow *h, int thread)
{
	Latch *l = &h->latch;

	l->on = false;
	h->open &= ~(l->conditions >> 1 & 0x7f); /* C1 to C7: unpackers, packers, matrix unit */
	if (l->conditions & 0x4000)
		h->open &= ~(uint32_t)USE_VECTOR;
	if (l->conditions & ON_SCALAR)
		h->flop = 0;
	if (l->conditions & ON_RISC)
		written_before(h, l->at);
	know_done(&h->know, thread, h->open);
	know_join(&h->know, &l->acquires);
}

static void latch(EmuCore *c, int thread, uint32_t i)
{
	ThreadShadow *h = &c->shadow->thread[thread];
	Latch *l = &h->latch;
	uint32_t block = op_bits(i, 23, 15);
	bool semaphores = i >> 24 == T_SEMWAIT && op_bits(i, 1, 0);

	*l = (Latch){ .on = true, .block = block ? block : BLOCK_MATRIX,
		      .at = c->tensix.thread[thread].head };
	if (semaphores) {
		for (int k = 0; k < SEMAPHORES; k++)
			if (op_bits(i, 9, 2) >> k & 1)
				know_join(&l->acquires, &c->shadow->semaphore[k]);
		return;
	}
	l->conditions = i >> 24 == T_STALLWAIT ? op_bits(i, 14, 0) : 0;
	if (!l->conditions)
		l->conditions = ON_DEFAULT;
}

/* An instruction of the thread writes bits of a configuration word. */
static void changes(EmuCore *c, int thread, uint32_t i, uint32_t word, uint32_t value)
{
	Shadow *s = c->shadow;
	uint32_t bank = thread_field(c->tensix.thread[thread].cfg, TCFG_CFG_STATE_ID_StateID);
	uint32_t units;

	if (word >= CFG_WORDS)
		return;
	units = readers(s, word, s->cfg[bank][word] ^ value);
	s->cfg[bank][word] = value;
	if (units & s->thread[thread].open)
		emu_fault(c, TRISC0 + thread, "cfg_stall", i,
			  "configuration word %u changes under an instruction that reads it",
			  (unsigned)word);
}

static void writes(EmuCore *c, int thread, uint32_t i)
{
	const uint32_t *gpr = c->tensix.thread[thread].gpr;
	ThreadShadow *h = &c->shadow->thread[thread];
	uint32_t bank = thread_field(c->tensix.thread[thread].cfg, TCFG_CFG_STATE_ID_StateID);
	uint32_t word, wide, op = i >> 24;

	switch (op) {
	case T_WRCFG:
		wide = op_bits(i, 15, 15);
		word = op_bits(i, 10, 0) & (wide ? ~3u : ~0u);
		for (uint32_t k = 0; k < (wide ? 4 : 1); k++) {
			changes(c, thread, i, word + k,
				gpr[(op_bits(i, 21, 16) & (wide ? ~3u : ~0u)) + k]);
			h->wrcfg |= readers(c->shadow, word + k, ~0u);
		}
		break;
	case T_RMWCIB0: case T_RMWCIB1: case T_RMWCIB2: case T_RMWCIB3: {
		uint32_t shift = 8 * (op - T_RMWCIB0), mask = op_bits(i, 23, 16) << shift;

		word = op_bits(i, 7, 0);
		if (word < CFG_WORDS)
			changes(c, thread, i, word, (c->tensix.cfg[bank][word] & ~mask) |
				(op_bits(i, 15, 8) << shift & mask));
		break;
	}
	case T_REG2FLOP:
		word = op_bits(i, 12, 6);
		if (op_bits(i, 21, 20) >= 2) { /* address counters */
			uint32_t adc = word >> 3 & 3;
			h->flop |= adc == 0 ? USE_UNPACK0 : adc == 1 ? USE_UNPACK1 : USE_PACK;
		} else if (word < THCON_WORDS) {
			h->flop |= readers(c->shadow, THCON_FIRST_WORD + word, ~0u);
		}
		break;
	}
}

void cfg_issue(EmuCore *c, int thread, uint32_t i)
{
	ThreadShadow *h = &c->shadow->thread[thread];
	uint32_t uses = units_configured(i), op = i >> 24, wrcfg = h->wrcfg;

	if (h->latch.on && h->latch.block & blocked_by(i))
		resolve(h, thread);
	else if (op == T_SEMWAIT)
		h->latch.on = false; /* forgotten (SEMWAIT.md) */
	h->wrcfg = 0;
	if (uses & wrcfg)
		emu_fault(c, TRISC0 + thread, "cfg_stall", i,
			  "configuration that the WRCFG just before writes");
	if (uses & h->stored || gprs_read(i) & h->stored_gprs)
		emu_fault(c, TRISC0 + thread, "cfg_stall", i,
			  "no stall on C13 after the RISC-V's store to 0x%08x",
			  (unsigned)h->stored_address);
	if (uses & h->flop)
		emu_fault(c, TRISC0 + thread, "flop_stall", i,
			  "no stall on C0 after the REG2FLOP that writes its configuration");
	writes(c, thread, i);
	h->open |= units_used(i);
	if (op == T_STALLWAIT || op == T_SEMWAIT)
		latch(c, thread, i);
}

static bool waits_in_queue(const TensixThread *t, uint32_t units, uint64_t gprs)
{
	for (uint32_t k = t->head; k != t->tail; k++) {
		uint32_t i = t->fifo[k % FIFO_SLOTS];

		if (units_configured(i) & units || gprs_read(i) & gprs)
			return true;
	}
	return false;
}

static void stored(EmuCore *c, int thread, uint32_t units, uint64_t gprs, uint32_t address)
{
	ThreadShadow *h = &c->shadow->thread[thread];

	if (!units && !gprs)
		return;
	if (units & h->open || waits_in_queue(&c->tensix.thread[thread], units, gprs))
		emu_fault(c, TRISC0 + thread, "cfg_stall", address,
			  "stored while an instruction that reads it is under way");
	h->stored |= units;
	h->stored_gprs |= gprs;
	for (int k = 0; k < CFG_READERS; k++)
		if (units & reader_units[k])
			h->stored_at[k] = c->tensix.thread[thread].tail;
	if (gprs)
		h->gpr_at[__builtin_ctzll(gprs)] = c->tensix.thread[thread].tail;
	h->stored_address = address;
}

void cfg_store(EmuCore *c, Risc r, uint32_t address, uint32_t value)
{
	Shadow *s = c->shadow;
	uint32_t word = (address & 0xffff) / 4, bank = word / CFG_WORDS, bits;

	if (bank > 1)
		return;
	word %= CFG_WORDS;
	bits = s->cfg[bank][word] ^ value;
	s->cfg[bank][word] = value;
	if (is_trisc(r))
		stored(c, (int)r - TRISC0, readers(s, word, bits), 0, address);
}

void gpr_store(EmuCore *c, Risc r, uint32_t address)
{
	if (is_trisc(r))
		stored(c, (int)r - TRISC0, 0, 1ull << (address / 4 % GPRS), address);
}

/* TTSync.md: a MOP reads its configuration while it is expanded. */
void mop_store(EmuCore *c, Risc r, uint32_t address)
{
	if (c->shadow->hart[r].mop)
		emu_fault(c, (int)r, "cfg_stall", address,
			  "MOP configuration stored without a sync after the last MOP");
}

/* A word loaded back has been written. */
void cfg_load(EmuCore *c, Risc r, uint32_t address)
{
	ThreadShadow *h;

	if (!is_trisc(r))
		return;
	h = &c->shadow->thread[r - TRISC0];
	if (h->stored_address == address)
		h->stored = 0, h->stored_gprs = 0;
}
