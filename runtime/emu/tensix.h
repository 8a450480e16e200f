/*
 * State of one core's Tensix coprocessor, shared by the files that emulate its
 * units. Bit patterns are those of tt-isa-documentation (SrcASrcB.md, Dst.md,
 * LReg.md): a file that needs another view of them converts.
 */
#ifndef RUNTIME_EMU_TENSIX_H
#define RUNTIME_EMU_TENSIX_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/emu/config.h"

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

/* What one thread has for itself. */
typedef struct TensixThread {
	uint16_t cfg[THREAD_CFG_WORDS];
	Adc adc[ADCS];
	uint32_t gpr[GPRS];
	/* Register window counters (RWCs.md), math thread in practice. */
	uint32_t srca, srca_cr, srcb, srcb_cr, dst, dst_cr, bias, fidelity;

	/* Instructions on their way: expanded, not yet executed. */
	uint32_t fifo[FIFO_SLOTS];
	uint32_t head, tail; /* of fifo, free running; equal when empty */
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
	bool valid[2];        /* given to the matrix unit, not yet given back */
	uint8_t unpack_bank;  /* the unpacker writes next */
	uint8_t matrix_bank;  /* the matrix unit reads */
} SrcFile;

/* Carried from PACR to PACR of a tile. */
typedef struct PackerState {
	uint32_t tile_x, tile_y, tile_z; /* position for edge masks */
	uint32_t at, exponent_at;        /* next bytes in L1 */
} PackerState;

struct EmuCore;

typedef struct Tensix {
	struct EmuCore *core; /* whose L1 it reads and writes */
	TensixThread thread[TENSIX_THREADS];

	uint32_t cfg[2][CFG_WORDS];
	SrcFile a, b;
	uint16_t dst[DST_ROWS][ROW_VALUES];
	bool dst_valid[DST_ROWS]; /* false reads as zero */

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

/* Stores and loads of configuration words by a RISC-V. */
void tensix_cfg_write(Tensix *t, int bank, uint32_t word, uint32_t value);
uint32_t tensix_cfg_read(Tensix *t, int bank, uint32_t word);

/* ---- units: one function an instruction, `i` the encoded instruction ---- */

typedef Exec TensixUnit(Tensix *t, int thread, uint32_t i);

/* The table all rows of tensix_ops.def that are executed stand in: the unit
 * functions are called emu_op_MVMUL and so on. */
#define TENSIX_OP(name, opcode, fields) TensixUnit emu_op_##name;
#include "runtime/device/tensix_ops.def"

/* ---- shared by the units ---- */

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
 * order of silicon (mantissa above exponent) shows only to who writes one
 * format and reads another, which the emulator refuses. */

#endif
