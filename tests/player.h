/*
 * Plays Tensix instructions, and stores around them, on one core of the emulator
 * or of the vendor's simulator, without a compiler for RISC-V.
 *
 *     Player *p = player_new();
 *     player_cfg(p, 0, 52, 0x15);              // configuration word 52, by TRISC0
 *     player_op(p, 0, OP_SETADCXX(0, 255, 3)); // an instruction, by TRISC0
 *     assert_true(player_on_emu(p, data, n));
 *     player_free(p);
 *
 * A thread is a list of stores that its TRISC works off in order; `data` is L1
 * from PLAYER_DATA on, before and after. Every few instructions the list waits
 * until its thread has executed them, so that queues never overflow.
 */
#ifndef TESTS_PLAYER_H
#define TESTS_PLAYER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PLAYER_DATA = 0x20000,      /* L1 from here on is the test's */
	PLAYER_ROOM = 1499136 - PLAYER_DATA,
	PLAYER_STORES = 5000,       /* at most, of a thread */
};

typedef struct Player Player;

Player *player_new(void);
void player_free(Player *p);

/* Stores `value` at `address`, as TRISC `thread` sees it. */
void player_store(Player *p, int thread, uint32_t address, uint32_t value);

void player_op(Player *p, int thread, uint32_t instruction);
void player_ops(Player *p, int thread, const uint32_t *instructions, size_t n);
void player_cfg(Player *p, int thread, uint32_t word, uint32_t value);
void player_mop(Player *p, int thread, uint32_t word, uint32_t value);

/* Waits until the thread's instructions are executed. */
void player_sync(Player *p, int thread);

/* A general purpose register, and a configuration word by REG2FLOP from it. */
void player_gpr(Player *p, int thread, uint32_t gpr, uint32_t value);
void player_flop(Player *p, int thread, uint32_t gpr, uint32_t word, uint32_t value);

/* Plays it. False, and a line on stderr, if it did not come to its end. */
bool player_on_emu(const Player *p, uint8_t *data, size_t n);
bool player_on_ttsim(const Player *p, uint8_t *data, size_t n);

#endif
