#include "tests/player.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/tensix_ops.h"
#include "runtime/emu/emu.h"
#include "tests/ttsim.h"

enum { THREADS = 3, BETWEEN_SYNCS = 40 };

/* Where things lie in L1 below PLAYER_DATA, and which core it is. */
enum {
	BRISC_CODE = 0, TRISC_CODE = 0x100, CODE_STEP = 0x100,
	DONE = 0xfe0, LISTS = 0x1000, LIST_STEP = 8 * (PLAYER_STORES + 2),
	CORE_X = 1, CORE_Y = 1,
};
_Static_assert(LISTS + THREADS * LIST_STEP <= PLAYER_DATA, "lists reach into the data");

#define SOFT_RESET 0xffb121b0u
#define ONLY_BRISC 0x47000u
#define ALL_BUT_NCRISC 0x40000u
#define PUSH 0xffe40000u
#define SYNC 0xffe80004u
#define CFG 0xffef0000u
#define MOP_CFG 0xffb80000u
#define GPR 0xffe00000u

/* address: 0 ends the list; bit 0 asks for a load after the store. */
typedef struct Store {
	uint32_t address, value;
} Store;

struct Player {
	Store list[THREADS][PLAYER_STORES + 2];
	uint32_t count[THREADS], since_sync[THREADS];
};

Player *player_new(void)
{
	Player *p = calloc(1, sizeof *p);

	assert(p);
	return p;
}

void player_free(Player *p)
{
	free(p);
}

void player_store(Player *p, int thread, uint32_t address, uint32_t value)
{
	assert(p->count[thread] < PLAYER_STORES);
	p->list[thread][p->count[thread]++] = (Store){ address, value };
}

void player_sync(Player *p, int thread)
{
	player_store(p, thread, SYNC | 1, 0);
	p->since_sync[thread] = 0;
}

void player_op(Player *p, int thread, uint32_t instruction)
{
	player_store(p, thread, PUSH, instruction);
	if (++p->since_sync[thread] == BETWEEN_SYNCS)
		player_sync(p, thread);
}

void player_ops(Player *p, int thread, const uint32_t *instructions, size_t n)
{
	for (size_t i = 0; i < n; i++)
		player_op(p, thread, instructions[i]);
}

void player_cfg(Player *p, int thread, uint32_t word, uint32_t value)
{
	player_store(p, thread, CFG + 4 * word, value);
}

void player_mop(Player *p, int thread, uint32_t word, uint32_t value)
{
	player_store(p, thread, MOP_CFG + 4 * word, value);
}

void player_gpr(Player *p, int thread, uint32_t gpr, uint32_t value)
{
	player_store(p, thread, GPR + 4 * gpr, value);
}

void player_flop(Player *p, int thread, uint32_t gpr, uint32_t word, uint32_t value)
{
	player_op(p, thread, OP_SETDMAREG(2 * gpr, 0, value & 0x3fff, value >> 14 & 3));
	player_op(p, thread, OP_SETDMAREG(2 * gpr + 1, 0, value >> 16 & 0x3fff, value >> 30));
	player_op(p, thread, OP_REG2FLOP(gpr, word - 52, 0, 0, 0, 1));
}

/* ---- RISC-V code ---- */

enum { X0 = 0, T0 = 5, T1 = 6, T2 = 7, A0 = 10 };

static uint32_t lui(uint32_t rd, uint32_t value)
{
	return (value & 0xfffff000) | rd << 7 | 0x37;
}

static uint32_t addi(uint32_t rd, uint32_t rs, uint32_t value)
{
	return value << 20 | rs << 15 | rd << 7 | 0x13;
}

static uint32_t andi(uint32_t rd, uint32_t rs, uint32_t value)
{
	return value << 20 | rs << 15 | 7 << 12 | rd << 7 | 0x13;
}

static uint32_t sub(uint32_t rd, uint32_t a, uint32_t b)
{
	return 0x40000000 | b << 20 | a << 15 | rd << 7 | 0x33;
}

static uint32_t lw(uint32_t rd, uint32_t rs, uint32_t offset)
{
	return offset << 20 | rs << 15 | 2 << 12 | rd << 7 | 0x03;
}

static uint32_t sw(uint32_t from, uint32_t rs, uint32_t offset)
{
	return offset >> 5 << 25 | from << 20 | rs << 15 | 2 << 12 | (offset & 31) << 7 | 0x23;
}

/* Offsets in bytes, within 4 KB, even. */
static uint32_t beqz(uint32_t rs, int32_t offset)
{
	uint32_t o = (uint32_t)offset;

	return (o >> 12 & 1) << 31 | (o >> 5 & 63) << 25 | rs << 15 | (o >> 1 & 15) << 8 |
	       (o >> 11 & 1) << 7 | 0x63;
}

typedef struct Code {
	uint32_t *at;
} Code;

static void put(Code *c, uint32_t instruction)
{
	*c->at++ = instruction;
}

static void load_immediate(Code *c, uint32_t rd, uint32_t value)
{
	put(c, lui(rd, value + 0x800));
	put(c, addi(rd, rd, value & 0xfff));
}

static void store_immediate(Code *c, uint32_t address, uint32_t value)
{
	load_immediate(c, T0, address);
	load_immediate(c, T1, value);
	put(c, sw(T1, T0, 0));
}

static void brisc_code(uint32_t *at)
{
	Code c = { at };

	for (uint32_t k = 0; k < THREADS; k++)
		store_immediate(&c, CFG + 4 * (158 + k), TRISC_CODE + k * CODE_STEP);
	store_immediate(&c, CFG + 4 * 161, 7);
	store_immediate(&c, SOFT_RESET, ALL_BUT_NCRISC);
	put(&c, beqz(X0, 0));
}

static void trisc_code(uint32_t *at, uint32_t list, uint32_t done)
{
	Code c = { at };

	load_immediate(&c, A0, list);
	put(&c, lw(T0, A0, 0));
	put(&c, lw(T1, A0, 4));
	put(&c, addi(A0, A0, 8));
	put(&c, beqz(T0, 9 * 4)); /* over this and 8 more: the end */
	put(&c, andi(T2, T0, 1));
	put(&c, sub(T0, T0, T2));
	put(&c, sw(T1, T0, 0));
	put(&c, beqz(T2, -7 * 4));
	put(&c, lw(T1, T0, 0));
	put(&c, andi(T1, T1, 0)); /* a sync counts only when its value is used */
	put(&c, beqz(X0, -10 * 4));
	put(&c, addi(X0, X0, 0));
	store_immediate(&c, done, 1);
	put(&c, beqz(X0, 0));
}

/* L1 below PLAYER_DATA. */
static void make_image(const Player *p, uint8_t image[PLAYER_DATA])
{
	uint32_t code[CODE_STEP / 4] = { 0 };

	memset(image, 0, PLAYER_DATA);
	brisc_code(code);
	memcpy(image + BRISC_CODE, code, sizeof code);
	for (uint32_t k = 0; k < THREADS; k++) {
		const Store end[2] = { { SYNC | 1, 0 }, { 0, 0 } };
		uint32_t list = LISTS + k * LIST_STEP, n = p->count[k] * 8;

		memset(code, 0, sizeof code);
		trisc_code(code, list, DONE + 4 * k);
		memcpy(image + TRISC_CODE + k * CODE_STEP, code, sizeof code);
		memcpy(image + list, p->list[k], n);
		memcpy(image + list + n, end, sizeof end);
	}
}

static bool all_done(const uint32_t done[THREADS])
{
	return done[0] && done[1] && done[2];
}

/* ---- on the emulator ---- */

bool player_on_emu(const Player *p, uint8_t *data, size_t n)
{
	static uint8_t image[PLAYER_DATA];
	uint32_t done[THREADS] = { 0 }, go = ONLY_BRISC;
	Emu *e = emu_open(&(EmuOptions){ .threads = 1 });

	assert(e && n <= PLAYER_ROOM);
	make_image(p, image);
	emu_write(e, CORE_X, CORE_Y, 0, image, sizeof image);
	emu_write(e, CORE_X, CORE_Y, PLAYER_DATA, data, n);
	emu_write(e, CORE_X, CORE_Y, SOFT_RESET, &go, 4);
	for (int k = 0; k < 10000 && !all_done(done); k++) {
		if (emu_run(e, 1000) != EMU_RUNNING)
			break;
		emu_read(e, CORE_X, CORE_Y, DONE, done, sizeof done);
	}
	emu_read(e, CORE_X, CORE_Y, DONE, done, sizeof done);
	emu_read(e, CORE_X, CORE_Y, PLAYER_DATA, data, n);
	if (!all_done(done)) {
		for (size_t k = 0; k < emu_reports(e); k++)
			fprintf(stderr, "%s: %s: %s\n", emu_report(e, k)->check,
			        emu_report(e, k)->risc, emu_report(e, k)->text);
		emu_waits(e, stderr);
	}
	emu_close(e);
	return all_done(done);
}

/* ---- on the vendor's simulator ---- */

typedef struct Shared {
	bool done;
	uint32_t n;
	uint8_t image[PLAYER_DATA];
	uint8_t data[];
} Shared;

static void play(Ttsim *s, void *shared)
{
	Shared *run = shared;
	uint32_t done[THREADS] = { 0 }, go = ONLY_BRISC;

	ttsim_write(s, CORE_X, CORE_Y, 0, run->image, sizeof run->image);
	ttsim_write(s, CORE_X, CORE_Y, PLAYER_DATA, run->data, run->n);
	ttsim_write(s, CORE_X, CORE_Y, SOFT_RESET, &go, 4);
	for (int k = 0; k < 10000 && !all_done(done); k++) {
		ttsim_clock(s, 1000);
		ttsim_read(s, CORE_X, CORE_Y, DONE, done, sizeof done);
	}
	ttsim_read(s, CORE_X, CORE_Y, PLAYER_DATA, run->data, run->n);
	run->done = all_done(done);
}

bool player_on_ttsim(const Player *p, uint8_t *data, size_t n)
{
	Shared *run = calloc(1, sizeof *run + n);
	bool done;

	assert(run && n <= PLAYER_ROOM);
	make_image(p, run->image);
	run->n = (uint32_t)n;
	memcpy(run->data, data, n);
	done = ttsim_run(play, run, sizeof *run + n) && run->done;
	memcpy(data, run->data, n);
	free(run);
	if (!done)
		fprintf(stderr, "the vendor's simulator did not come to the end\n");
	return done;
}
