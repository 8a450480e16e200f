/*
 * What host and device agree on: where things lie in L1 and in DRAM, the words
 * they talk through, and how one op follows another. Plain C on stdint, read
 * by kernels, loader and compiler.
 *
 * L1 of a worker core:
 *
 *     0 ............. TT_CONTROL   code of the five RISC-Vs, read-only data,
 *                                  the overlay area
 *     TT_CONTROL .... TT_USER      the words below
 *     TT_USER ....... TT_L1_END    buffers of the plan
 *
 * A run. The host writes the input into its DRAM slot and the number of the
 * run into `go` of every core. Each core works through the ops in order. All
 * cores have the same code; what differs between them stands in parameter
 * blocks, one for each op and core, that BRISC fetches from DRAM one op ahead.
 * Op i of run r (from 1) has the number (r - 1) * ops + i + 1, which only
 * grows; the words that cores and RISC-Vs show each other hold such numbers,
 * so a reader waits until a word has reached a number (by signed difference)
 * and nobody ever resets one.
 *
 *   BRISC, at op number s:
 *     1. TT_OP_WORD = i; waits until the host lets it (`until` >= s, which is so for
 *        all ops of a run unless somebody looks at memory between two of them), until
 *        the block is there, and the overlay if the op needs one;
 *     2. tells every core that pushes rows to it in this op: TT_ENTERED[me] = s
 *        (all earlier ops are done here, so the op's buffers are free);
 *     3. waits for the rows the op reads: TT_PUSHED[peer] >= the number of the
 *        op that produced them, for each peer; then reads what it wants from
 *        DRAM before it starts (TtMove);
 *     4. TT_START = s, and all five RISC-Vs run their routine of the op, BRISC
 *        its own (edges to zero, host edges, ...), beside it the moves that go
 *        alongside;
 *     5. fetches the next block, TT_READY = s + 1; waits for TT_FINISHED of the
 *        others, and for the moves; writes to DRAM what is to be written after
 *        the op;
 *     6. for each core that needs rows of the result: waits for
 *        TT_ENTERED[peer] >= s, writes the rows; when all writes are
 *        acknowledged, TT_PUSHED[me] = s on each of them. A core that gets no
 *        rows but is told (it reads from DRAM what was written there) need not
 *        have entered the op; a core that pushes to itself tells nobody.
 *   The others: wait for TT_START >= s, run, TT_FINISHED[risc] = s. If the op is
 *   `early` NCRISC waits for TT_READY >= s alone: it brings the op's weights while
 *   the others are at op s - 1. It is never further ahead, since TT_READY is not.
 *
 * After the last op every core increments TT_DONE_COUNT of core 0; when all
 * have, core 0 sets `done` to the number of the run.
 */
#ifndef RUNTIME_DEVICE_MAP_H
#define RUNTIME_DEVICE_MAP_H

#include <stdint.h>

enum {
	TT_L1_END = 1499136,
	TT_USER = 105664,    /* TT-Metal's first user byte */
	TT_CONTROL = 0x17000,

	TT_GRID_COLS = 8, /* workers of a chip, logical; targets leave some out */
	TT_GRID_ROWS = 10,
	TT_MAX_CORES = TT_GRID_COLS * TT_GRID_ROWS,
	TT_MAX_BLOCK = 4160, /* bytes of a parameter block; a multiple of 32 */

	TT_LAUNCH = TT_CONTROL,            /* TtLaunch */
	TT_ENTERED = TT_CONTROL + 0x100,   /* a word for each core */
	TT_PUSHED = TT_CONTROL + 0x240,    /* a word for each core */
	TT_START = TT_CONTROL + 0x380,     /* op number BRISC has opened */
	TT_FINISHED = TT_CONTROL + 0x390,  /* a word for each RISC-V: TtRisc */
	TT_DONE_COUNT = TT_CONTROL + 0x3b0, /* on core 0; atomics want 16 bytes of alignment */
	TT_ATOMIC_RETURN = TT_CONTROL + 0x3c0, /* where atomics leave what they found */
	TT_OP_WORD = TT_CONTROL + 0x3d0,   /* index of the op the core is at */
	TT_READY = TT_CONTROL + 0x3e0,     /* op number whose block is there */
	TT_SEMAPHORES = TT_CONTROL + 0x400, /* 16 of 16 bytes, of the program */
	TT_CB_WORDS = TT_CONTROL + 0x500,  /* TtCbWords for each of 32 circular buffers */
	TT_EDGE_TURNS = TT_CONTROL + 0x700, /* turns of a host edge: edge.h */
	TT_ZEROS = TT_CONTROL + 0x800,     /* TT_ZERO_BYTES zero bytes */
	TT_BLOCKS = TT_CONTROL + 0xc00,    /* two parameter blocks, TT_MAX_BLOCK apart */
	TT_CONTROL_END = TT_BLOCKS + 2 * TT_MAX_BLOCK,

	TT_ZERO_BYTES = 1024,
	TT_EDGE_SLOTS = 4, /* turns of a host edge under way: edge.h */
	TT_CBS = 32,
	TT_SEMAPHORE_COUNT = 16,
	TT_FETCHERS = 4, /* cores that read weights for others, at most */
};

#ifndef __cplusplus
_Static_assert(TT_CONTROL_END <= TT_USER, "the control words reach into the plan's window");
#endif

/* In this order everywhere: ELFs of a package, routine[] of an op, TT_FINISHED. */
typedef enum TtRisc { TT_BRISC, TT_NCRISC, TT_TRISC0, TT_TRISC1, TT_TRISC2, TT_RISCS } TtRisc;

/* A place in DRAM: banks are the two halves of each channel. */
enum {
	TT_DRAM_BANKS = 12,
	TT_DRAM_CHANNELS = 6,
};

#define TT_DRAM_BANK_BYTES 0x40000000u

/* NCRISC instruction memory */
#define TT_IRAM       0xffc00000u
#define TT_IRAM_BYTES 16384u

/* NoC 0 coordinates of bank b: x, y of TT_DRAM_XY row b / 2; the bank starts at
 * (b & 1) * TT_DRAM_BANK_BYTES there. */
#define TT_DRAM_XY { { 0, 0 }, { 0, 5 }, { 5, 0 }, { 5, 2 }, { 5, 3 }, { 5, 5 } }

/* Workers are addressed by virtual coordinates, which skip fused-off rows:
 * logical (col, row) is (TT_VIRTUAL + col, TT_VIRTUAL + row). */
enum { TT_VIRTUAL = 18 };

/* A node of the NoC as kernels hold it: bits 4 to 9 x, 10 to 15 y, which is
 * where the address registers want them. */
#define TT_NODE(x, y) ((uint32_t)(x) << 4 | (uint32_t)(y) << 10)

/* Written by the loader, except `done` and `error`. */
typedef struct TtLaunch {
	uint32_t go;    /* number of the run the host asked for, from 1; written last */
	uint32_t done;  /* on core 0: number of the run that is done */
	uint32_t error; /* 0, or what a kernel gave up with */
	uint32_t slot;  /* of `go`: (go - 1) % 2. Kernels count runs instead, see DEVICE.md */
	uint32_t ops;
	uint32_t block_bytes; /* of every parameter block; a multiple of 32 */
	uint32_t block_node, block_at; /* this core's first block in DRAM */
	uint32_t core, cores; /* this one, how many take part */
	uint32_t root_node;   /* core 0 */
	uint32_t entry[TT_RISCS]; /* where each RISC-V starts; BRISC's is 0 */
	uint32_t iram_from, iram_bytes; /* NCRISC code to load into its IRAM; 0: it runs from L1 */
	uint32_t until; /* number of the last op that may begin; written before `go`, then raised */
} TtLaunch;

/* Pages a producer has put in and a consumer taken out, free running; pages
 * there are, for whoever watches. */
typedef struct TtCbWords {
	uint32_t received, acked, pages, unused;
} TtCbWords;

/* Every parameter block starts with this. Word offsets are from its start. */
typedef struct TtOp {
	uint32_t op;      /* its index in the program */
	uint32_t routine[TT_RISCS]; /* which variant each RISC-V runs; 0: none */
	uint32_t act;     /* what TRISC1's calls for each half of Dst it has filled; 0: nothing */
	uint32_t overlay_node, overlay_from, overlay_to, overlay_bytes; /* 0 bytes: none */
	uint32_t pushers, pushers_at;   /* nodes of the cores that push to this one, a word each */
	uint32_t arrivals, arrivals_at; /* what to wait for before starting: TtArrival */
	uint32_t pushes, pushes_at;     /* what to write when done: TtPush */
	uint32_t zeros, zeros_at;       /* what to clear before others read the result: TtZero */
	uint32_t params_at;             /* of the op's own structure (params.def) */
	uint32_t moves, moves_at;       /* between DRAM and this core's L1: TtMove */
	uint32_t next_bytes;            /* of the block that follows; 32 or a multiple */
	uint32_t early;                 /* 1: NCRISC starts when the block is there */
} TtOp;

/* Lists of a block are as long as there are cores, so their elements are short. */
typedef struct TtArrival {
	uint32_t from; /* core, the word of TT_PUSHED: who pushed; and index of the op
	                  whose rows it says have arrived: op << TT_ARRIVAL_OP */
} TtArrival;

/* `count` runs of `bytes`, `step` apart on both sides; 0 runs: only tell. */
typedef struct TtPush {
	uint32_t target; /* node >> 4 | core << TT_PUSH_CORE | count << TT_PUSH_COUNT;
	                    TT_PUSH_LAST: the last to this core in this op, tell it;
	                    TT_PUSH_BLOCK; TT_PUSH_SAME: as the one before in all but
	                    the core, and only this word */
	uint32_t from, to, bytes, from_step, to_step;
	uint32_t values_from, values_to; /* only with TT_PUSH_BLOCK, else the next one */
} TtPush;

enum { TT_PUSH_SAME_WORDS = 1, TT_PUSH_WORDS = 6, TT_PUSH_BLOCK_WORDS = 8 };

enum {
	TT_ARRIVAL_OP = 8,
	TT_PUSH_CORE = 12,
	TT_PUSH_CORES = 127, /* mask behind the shift */
	TT_PUSH_LAST = 1 << 19,
	TT_PUSH_BLOCK = 1 << 20, /* exponents; then, 16 times as long, their values */
	TT_PUSH_SAME = 1 << 21,
	TT_PUSH_COUNT = 22,
	TT_PUSH_MOST = 1023, /* runs */
};

/*
 * `count` runs of `bytes` between pages in DRAM and this core's L1, `step` apart
 * there. Run i is in page i: in bank (bank + i) % TT_DRAM_BANKS at
 * at + (bank + i) / TT_DRAM_BANKS * page_bytes, plus slot_bytes in every second
 * run of the net: a core may be one run ahead of another.
 *
 * Reads want DRAM and L1 to be equal modulo 32 bytes, writes modulo 16.
 */
typedef struct TtMove {
	uint32_t how; /* TtMoveWhen, TT_MOVE_OUT, bank << TT_MOVE_BANK */
	uint32_t at, page_bytes, slot_bytes;
	uint32_t l1, bytes, count, step;
} TtMove;

/* Before the routines start: reads only. Alongside them, done before the op is:
 * neither what the op writes may be touched, nor what it reads be overwritten.
 * After them, before others are told: writes only. */
typedef enum TtMoveWhen {
	TT_MOVE_BEFORE,
	TT_MOVE_ALONGSIDE,
	TT_MOVE_AFTER,
	TT_MOVE_TIMES
} TtMoveWhen;

enum { TT_MOVE_WHEN = 3, TT_MOVE_OUT = 4, TT_MOVE_BANK = 8 };

/* `count` runs of `bytes` zeros, `step` apart, `planes` times `plane_step`. */
typedef struct TtZero {
	uint32_t at, bytes, count, step, planes, plane_step;
} TtZero;

/* The lists of an op as the writer kernel of a TT-Metal program gets them: how many of
 * each, then as many TtZero, TtMove, and words of TtPush. */
typedef struct TtLists {
	uint32_t zeros, moves, pushes;
} TtLists;

/* Circular buffers of such a program besides those of the plan; nothing is in them.
 * A page of the first says that the moves before the op are done, one of the second
 * that the routines are. */
enum { TT_CB_READY = 30, TT_CB_DONE = 31, TT_CB_SIGNAL_BYTES = 16 };

/* Types of planes and weights, as ir/devtypes.h numbers them. */
enum { TT_TYPE_BF16 = 1, TT_TYPE_BFP8_B = 2, TT_TYPE_FP32 = 4 };

/* Elements of host tensors, as the caller has them. */
typedef enum TtHost { TT_HOST_F32, TT_HOST_BF16, TT_HOST_F16, TT_HOST_U8, TT_HOSTS } TtHost;

static inline uint32_t tt_host_bytes(uint32_t host)
{
	return host == TT_HOST_F32 ? 4 : host == TT_HOST_U8 ? 1 : 2;
}

/*
 * Host tensors in DRAM: NCHW of bf16, or of fp32 if the device has the output so; a
 * row of one channel is a page. Page p =
 * (n * C + c) * H + y lies in bank p % TT_DRAM_BANKS at
 * base + slot * slot_bytes + p / TT_DRAM_BANKS * page_bytes.
 */

#endif
