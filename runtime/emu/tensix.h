/*
 * State of one core's Tensix coprocessor, shared by the files that emulate its
 * units. Bit patterns are those of tt-isa-documentation (SrcASrcB.md, Dst.md,
 * LReg.md): a file that needs another view of them converts.
 */
#ifndef RUNTIME_EMU_TENSIX_H
#define RUNTIME_EMU_TENSIX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/emu/config.h"
#include "runtime/emu/matrix.h"
#include "runtime/emu/matrix_run.h"

enum {
	TENSIX_THREADS = 3, /* unpack, math, pack: as TRISC0, 1, 2 issue them */
	SRC_ROWS = 64,
	DST_ROWS = 1024, /* 16-bit rows; a 32-bit row takes two of them */
	ROW_VALUES = 16,
	SFPU_LANES = 32,
	SFPU_REGS = 16,
	REPLAY_SLOTS = 32,
	GPRS = 64,
	SEMAPHORES = 8,
	MUTEXES = 8,
	CC_STACK = 8,
	FIFO_SLOTS = 1024, /* what the emulator holds; the strict check warns long before */
};

/* One unpacker's or the packers' address counters, two channels (ADCs.md). */
typedef struct AdcChannel {
	uint32_t x, y, z, w;
	uint32_t x_cr, y_cr, z_cr, w_cr; /* carriage returns */
} AdcChannel;

typedef struct Adc {
	AdcChannel ch[2];
} Adc;

enum { ADC_UNPACK0, ADC_UNPACK1, ADC_PACK, ADCS };

/* Who executes an instruction. */
typedef enum TensixUnitId {
	UNIT_OTHER, /* counters, configuration, scalars, sync */
	UNIT_UNPACK,
	UNIT_MATRIX,
	UNIT_SFPU,
	UNIT_PACK,
	TENSIX_UNITS
} TensixUnitId;

/* What one thread has for itself. */
typedef struct TensixThread {
	uint16_t cfg[THREAD_CFG_WORDS];
	Adc adc[ADCS];
	uint32_t gpr[GPRS];
	Rwc rwc;

	/* Instructions on their way: expanded, not yet executed. A unit that sees
	 * what follows may execute `ahead` more of its kind at once: fifo[head] is the
	 * one it was called with, and it moves head on by those it took beyond that one,
	 * which it has shown to the strict checks itself. */
	uint32_t fifo[FIFO_SLOTS];
	bool expanded[FIFO_SLOTS]; /* came out of a MOP or REPLAY */
	uint32_t head, tail; /* of fifo, free running; equal when empty */
	uint32_t ahead;
	uint32_t mop_cfg[9];
	uint16_t mop_zmask_hi16;
	uint32_t replay[REPLAY_SLOTS];
	uint32_t replay_at, replay_left; /* of a load under way */
	bool replay_exec;
} TensixThread;

/* One source register file: two banks, one with the unpacker, one with the
 * matrix unit. Values stand in the upper 19 bits of a word: sign, 8 bits of
 * exponent, 10 of mantissa. */
typedef struct SrcFile {
	uint32_t rows[2][SRC_ROWS][ROW_VALUES];
	uint32_t changes[2];  /* grows with every instruction that writes the bank */
	bool valid[2];        /* given to the matrix unit, not yet given back */
	uint8_t unpack_bank;  /* the unpacker writes next */
	uint8_t matrix_bank;  /* the matrix unit reads */
} SrcFile;

/* Carried from PACR to PACR of a tile. */
typedef struct PackerState {
	uint32_t tile_x, tile_y, tile_z; /* position for edge masks */
	uint32_t at, exponent_at;        /* next bytes in L1 */
} PackerState;

/* A field that asks for what the emulator has not, and what it holds. */
typedef struct Refusal {
	const char *field; /* NULL: none */
	uint32_t value;
} Refusal;

/* Keeps the first field that should have been zero. */
static inline void refuse(Refusal *r, const char *field, uint32_t value)
{
	if (value && !r->field)
		*r = (Refusal){ field, value };
}

/* What the configuration says about one unpacker (unpack.c). */
typedef struct UnpackPlan {
	uint32_t version; /* of Tensix it was made at; 0: never */
	int thread;
	Refusal refusal;
	uint32_t in, out;     /* data formats */
	uint32_t bits;        /* of a datum in L1 */
	uint32_t y_step, z_step, w_step;       /* data, in L1 */
	uint32_t to_y_step, to_z_step;         /* bytes, in the register file */
	uint32_t to_align;    /* bytes of a datum there */
	uint32_t row_step;    /* bytes from one row of 16 data to the next in L1 */
	uint32_t base_word, offset; /* where the address is configured, added to it */
	uint32_t exponents;   /* bytes before the data */
	uint32_t to;          /* data: where unpacker 0 starts */
	bool add_to;          /* to is added to the counters, else taken instead of them */
	bool haloize, tileize, to_dst, forced_exponent;
	uint8_t exponent;     /* if forced */
	uint32_t burst;       /* rows unpacker 0 writes at once */
} UnpackPlan;

/* What the configuration says about the packers (pack.c). */
typedef struct PackPlan {
	uint32_t version;
	int thread;
	Refusal refusal;
	uint32_t in, out;     /* data formats; `in` is what Dst is read as */
	uint32_t in_align, out_bits;
	uint32_t y_step, z_step, w_step; /* bytes, in Dst */
	bool wide;            /* Dst is read as 32 bits */
	bool accumulate;      /* onto what is in L1 */
	uint32_t relu, threshold;
	uint32_t reads_per_plane;
	uint32_t exponents[4]; /* 16 bytes: a packer's exponents, before its data */
	uint32_t offset[4];   /* Dst row of each packer */
	uint16_t mask[4][16]; /* columns kept, by packer and row; the rest is zero */
	uint16_t known[4];    /* rows whose mask the emulator knows, a bit each */
	bool no_set[4];       /* the packer's set of rows is not one it knows */
} PackPlan;

struct EmuCore;

typedef struct Tensix {
	struct EmuCore *core; /* whose L1 it reads and writes */
	TensixThread thread[TENSIX_THREADS];

	uint32_t cfg[2][CFG_WORDS];
	uint32_t version; /* grows when a word changes that a plan may depend on (config.c) */
	SrcFile a, b;
	uint16_t dst[DST_ROWS][ROW_VALUES];
	bool dst_valid[DST_ROWS]; /* false reads as zero */
	MatrixCache matrix;
	MatrixRun runs[MATRIX_RUNS]; /* seen last */
	bool fast; /* MVMUL in plain fp32; set after tensix_reset */

	uint32_t lreg[SFPU_REGS][SFPU_LANES];
	uint32_t lane_config;
	bool cc_on;
	uint32_t cc; /* a bit per lane */
	bool cc_on_stack[CC_STACK];
	uint32_t cc_stack[CC_STACK];
	uint32_t cc_depth;
	uint32_t prng[SFPU_LANES];

	bool packing; /* between the first and the last PACR of a tile */
	PackerState packer[4];
	UnpackPlan unpack[2];
	PackPlan pack;

	bool profile;
	uint64_t spent[TENSIX_UNITS]; /* ns by unit, while profile is on */

	uint8_t semaphore[SEMAPHORES], semaphore_max[SEMAPHORES];
	uint8_t mutex[MUTEXES]; /* 0 free, else 1 + thread */
} Tensix;

void tensix_reset(Tensix *t, struct EmuCore *core);

/* What executing an instruction came to. */
typedef enum Exec { EXEC_DONE, EXEC_WAIT, EXEC_FAULT } Exec;

/* ---- front end (tensix_front.c) ---- */

/* Takes an instruction from a RISC-V, expanding MOP and REPLAY (`expand` is
 * false for what BRISC pushes, which goes past the MOP expander). */
void tensix_push(Tensix *t, int thread, uint32_t instruction, bool expand);

/* Instructions queued in a thread. */
static inline uint32_t tensix_queued(const Tensix *t, int thread)
{
	return t->thread[thread].tail - t->thread[thread].head;
}

/* Executes up to `most` instructions of one thread; returns how many. Stops
 * where one has to wait. */
uint32_t tensix_step(Tensix *t, int thread, uint32_t most);

/* Its name as the ISA documentation has it; "unknown" if it is none of ours. */
const char *tensix_op_name(uint32_t i);

/* What the thread's next instruction waits for, as "SEMWAIT on semaphore 1 (is
 * 0)"; NULL if its queue is empty. Uses `text`. */
const char *tensix_waits(const Tensix *t, int thread, char *text, size_t n);

/* ---- configuration (config.c) ---- */

/* Stores and loads of configuration words by a RISC-V (Risc of core.h). Words
 * 158 to 163, where RISC-Vs start, land in the core. */
void tensix_cfg_write(Tensix *t, int risc, int bank, uint32_t word, uint32_t value);
uint32_t tensix_cfg_read(Tensix *t, int risc, int bank, uint32_t word);

/* The same by an instruction. */
Exec tensix_cfg_set(Tensix *t, int thread, uint32_t i, uint32_t word, uint32_t value);

/* The bank a thread works with. */
static inline const uint32_t *tensix_cfg(const Tensix *t, int thread)
{
	return t->cfg[t->thread[thread].cfg[0] & 1];
}

/* ---- units: one function an instruction, `i` the encoded instruction ---- */

typedef Exec TensixUnit(Tensix *t, int thread, uint32_t i);

/* The table all rows of tensix_ops.def that are executed stand in: the unit
 * functions are called emu_op_MVMUL and so on. */
#define TENSIX_OP(name, opcode, fields) TensixUnit emu_op_##name;
#include "runtime/device/tensix_ops.def"

/* ---- shared by the units ---- */

/* Bits `high` to `low` of an instruction. */
static inline uint32_t op_bits(uint32_t i, unsigned high, unsigned low)
{
	return i >> low & ((2u << (high - low)) - 1);
}

/* Reports an instruction the emulator does not know, or a mode of it, and
 * returns EXEC_FAULT. */
Exec tensix_unknown(Tensix *t, int thread, uint32_t i, const char *what, uint32_t value);

/* Register window counters after an instruction, by its address modifier. */
void tensix_advance(Tensix *t, int thread, uint32_t addr_mode, bool fidelity);

/* Hands source banks back to the unpackers: bit 0 SrcA, bit 1 SrcB. */
Exec tensix_release(Tensix *t, int thread, uint32_t i, uint32_t mask);

/* Dst is 16-bit rows; a 32-bit row r has its upper halves in row dst32_row(r)
 * and its lower halves 8 rows further (Dst.md). */
static inline uint32_t dst32_row(uint32_t row) { return (row & 0x1f8) << 1 | (row & 0x207); }
enum { DST32_LOW = 8 };

/* Values in Dst stand in their natural bit order: sign, exponent, mantissa. The
 * order of silicon (mantissa above exponent in the upper half, lower halves as
 * they are) would show only to who writes rows of one width or format and reads
 * them as another, which no kernel may do (Dst.md). */

#endif
