/* What each core counts, op by op (ir/counters.def). */
#include <stdlib.h>
#include <string.h>

#include "ir/cost.h"
#include "runtime/emu/machine.h"

enum { SLOT_BYTES = COUNTER_COUNT * sizeof(int64_t) };

bool counters_make(EmuCore *c, uint32_t ops)
{
	int64_t *counted = calloc(ops + 1, SLOT_BYTES);

	if (!counted)
		return false;
	free(c->counted);
	c->counted = c->counters = counted;
	c->counted_ops = ops;
	return true;
}

/* Slot 0 is what comes before the first op. */
void counters_turn(EmuCore *c, uint32_t op)
{
	if (op < c->counted_ops)
		c->counters = c->counted + (size_t)(op + 1) * COUNTER_COUNT;
}

const char *emu_counter_name(size_t i)
{
	static const char *const names[COUNTER_COUNT] = {
#define COUNTER(name, unit, how, what) #name,
#include "ir/counters.def"
	};

	return i < COUNTER_COUNT ? names[i] : NULL;
}

int64_t emu_counter(const Emu *e, uint32_t x, uint32_t y, size_t i)
{
	const EmuCore *c = core_at(e, x, y);
	int64_t sum = 0;

	for (uint32_t op = 0; c && i < COUNTER_COUNT && op <= c->counted_ops; op++)
		sum += c->counted[(size_t)op * COUNTER_COUNT + i];
	return sum;
}

int64_t emu_op_counter(const Emu *e, uint32_t x, uint32_t y, uint32_t op, size_t i)
{
	const EmuCore *c = core_at(e, x, y);

	if (!c || i >= COUNTER_COUNT || op >= c->counted_ops)
		return 0;
	return c->counted[(size_t)(op + 1) * COUNTER_COUNT + i];
}

void emu_counters_clear(Emu *e)
{
	for (int i = 0; i < WORKERS; i++)
		memset(e->core[i]->counted, 0, (e->core[i]->counted_ops + 1) * SLOT_BYTES);
}
