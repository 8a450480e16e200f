/* One emulator and programs on its cores, for tests. */
#ifndef TESTS_CHIP_H
#define TESTS_CHIP_H

#include "runtime/emu/emu.h"
#include "tests/check.h"
#include "tests/rv32.h"

enum {
	OUT = 0x20000, /* where programs leave what they find */
	RELEASE_BRISC = 0x47000,
	RELEASE_ALL = 0,
};

#define SOFT_RESET 0xffb121b0u

static inline Emu *chip_open(int threads, uint32_t quantum)
{
	Emu *e = emu_open(&(EmuOptions){ .threads = threads, .quantum = quantum });

	assert_non_null(e);
	return e;
}

static inline void chip_load(Emu *e, uint32_t x, uint32_t y, uint32_t at, const Code *c)
{
	assert_true(emu_write(e, x, y, at, c->word, rv_bytes(c)));
}

static inline void chip_poke(Emu *e, uint32_t x, uint32_t y, uint32_t at, uint32_t value)
{
	assert_true(emu_write(e, x, y, at, &value, 4));
}

static inline uint32_t chip_peek(Emu *e, uint32_t x, uint32_t y, uint32_t at)
{
	uint32_t value = 0;

	assert_true(emu_read(e, x, y, at, &value, 4));
	return value;
}

/* Runs until nothing goes on; says what went wrong if it does not come to that. */
static inline void chip_run(Emu *e)
{
	for (int i = 0; i < 1000 && !emu_idle(e); i++)
		if (emu_run(e, 10000) == EMU_FAULT)
			fail_msg("%s: %s", emu_report(e, 0)->check, emu_report(e, 0)->text);
	if (!emu_idle(e)) {
		emu_waits(e, stderr);
		fail_msg("does not come to rest");
	}
}

#endif
