#include "tests/exact_math.h"

#include <stdio.h>
#include <stdlib.h>

#include "runtime/device/tensix_ops.h"

typedef enum Kind { PRODUCT, ADD, SUB, MUL, AVERAGE, MAXIMUM } Kind;

static const char *const names[] = { "MVMUL", "ELWADD", "ELWSUB", "ELWMUL", "GAPOOL", "GMPOOL" };

static uint32_t instruction(Kind kind, uint32_t broadcast, uint32_t onto)
{
	switch (kind) {
	case PRODUCT:
		return OP_MVMUL(0, 0, 0, 0);
	case ADD:
		return OP_ELWADD(0, 0, broadcast, onto, 0);
	case SUB:
		return OP_ELWSUB(0, 0, broadcast, onto, 0);
	case MUL:
		return OP_ELWMUL(0, 0, broadcast, 0, 0);
	case AVERAGE:
		return OP_GAPOOL(0, 0, 0, 1, 0);
	case MAXIMUM:
		return OP_GMPOOL(0, 0, 0, 1, 0);
	}
	abort();
}

/* All rows of a tile of Dst; SrcA, SrcB by face or row, whatever they hold. */
static void compute(Player *p, const ExactWay *w, uint32_t k)
{
	for (uint32_t row = 0; row < 64; row += w->dst_step)
		player_op(p, 1, instruction(w->what, k & 3, k >> 2 & 1));
}

static int way(long count, const char *only, Kind kind, uint32_t phase, bool wide)
{
	bool pool = kind == AVERAGE || kind == MAXIMUM;
	char name[32];

	snprintf(name, sizeof name, "%s phase %u", names[kind], phase);
	return exact_tiles(count, only,
			   &(ExactWay){
				   .name = name,
				   .wide = wide,
				   .ones = kind == MAXIMUM,
				   .phase = phase,
				   .a_step = kind == PRODUCT || pool ? 16 : 8,
				   .b_step = 8,
				   .dst_step = pool ? 4 : 8,
				   .code = compute,
				   .what = kind,
			   });
}

int exact_matrix(long count, const char *only)
{
	int failed = 0;

	for (Kind kind = PRODUCT; kind <= MAXIMUM; kind++) {
		bool phases = kind == PRODUCT || kind == MUL || kind == AVERAGE;

		for (uint32_t phase = 0; phase < (phases ? 4 : 1); phase++) {
			failed += way(count, only, kind, phase, true);
			failed += way(count, only, kind, phase, false);
		}
	}
	return failed;
}
