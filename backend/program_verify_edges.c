/*
 * Host edges: one RISC-V moves rows, all its parts are there, and all have room for
 * their rows (runtime/device/edge.h). One that is missing would be waited for.
 */
#include <string.h>

#include "backend/program_verify.h"
#include "backend/routines.h"
#include "ir/layout.h"

/* What the RISC-Vs of a core run in an op, and are told. */
typedef struct Told {
	uint32_t parts; /* of who moves; 0 if nobody does */
	int movers, workers;
	uint32_t seen;  /* parts, a bit each */
	bool agree;     /* about how many parts there are, and which way it goes */
	uint32_t fp32;  /* who says that rows are: 1 who moves, 2 a part; 4 one that does not */
} Told;

static uint32_t told_arg(const ProgramVariant *v, const char *name)
{
	const RoutineArg *a = routine_at(v->routine)->args;
	int i = 0;
	while (strcmp(a[i].name, name) != 0)
		i++;
	return v->args[i];
}

static Told what_is_told(const Program *p, const ProgramOp *op, int core)
{
	const int ways[2][2] = { { routine_find("edge_read"), routine_find("edge_in") },
				 { routine_find("edge_write"), routine_find("edge_out") } };
	Told t = { .agree = true };
	uint32_t parts[2] = { 0 };
	for (int r = 0; r < TT_RISCS; r++) {
		const int variant = program_runs(op, core, (TtRisc)r);
		const ProgramVariant *v = variant < 0 ? NULL : &p->variants[variant];
		for (int way = 0; v && way < 2; way++) {
			const bool moves = v->routine == ways[way][0];
			if (!moves && v->routine != ways[way][1])
				continue;
			t.movers += moves;
			t.workers += !moves;
			t.seen |= moves ? 0 : 1u << told_arg(v, "part");
			if (way == 1)
				t.fp32 |= moves ? told_arg(v, "fp32")
					: told_arg(v, "type") == DEV_F32 ? 2 : 4;
			t.agree &= !parts[!way] && (!parts[way] || parts[way] == told_arg(v, "parts"));
			parts[way] = t.parts = told_arg(v, "parts");
		}
	}
	return t;
}

/* Is the output whose part lies there f32 on the device? */
static bool is_f32(const Program *p, uint32_t base)
{
	bool any = false;
	for (int i = 0; i < p->noutputs; i++)
		for (int k = 0; k < p->outputs[i].nparts; k++)
			any |= p->outputs[i].parts[k].tensor.base == base
				&& p->outputs[i].parts[k].tensor.stored == TT_HOST_F32;
	return any;
}

void verify_edge_op(Verifier *v, int index, int core)
{
	const ProgramOp *op = &v->p->ops[index];
	const Told t = what_is_told(v->p, op, core);
	TtEdge p;
	uint32_t words[sizeof p / sizeof(uint32_t)];
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		words[i] = program_word(op, core, (int)i);
	memcpy(&p, words, sizeof p);
	if (t.movers != 1 || !t.agree || t.workers != (int)t.parts || t.seen != (1u << t.parts) - 1)
		verify_wrong(v, op->loc, index, core,
			     "%d RISC-Vs move rows, %d of %u parts are there: one is to, for all",
			     t.movers, t.workers, t.parts);
	const bool fp32 = t.fp32 & 1, host = is_f32(v->p, p.base);
	if (fp32 != host || (t.fp32 & 2) != 2u * host || (t.fp32 & 4 && host))
		verify_wrong(v, op->loc, index, core, "rows of %s for a tensor of %s",
			     fp32 || t.fp32 & 2 ? "fp32" : "bf16", host ? "f32" : "bf16");
	const uint32_t rows = TT_EDGE_SLOTS * (p.channels < PLANE ? p.channels : PLANE);
	if (p.page_bytes % ALIGN_DRAM || p.scratch % ALIGN_DRAM
	    || !verify_inside(v, index, core, p.scratch, (uint64_t)rows * p.page_bytes))
		verify_wrong(v, op->loc, index, core,
			     "%u rows of %u bytes at 0x%x are not on %d bytes in a buffer", rows,
			     p.page_bytes, p.scratch, (int)ALIGN_DRAM);
	if (p.turns != TT_EDGE_TURNS)
		verify_wrong(v, op->loc, index, core, "turns at 0x%x, which are at 0x%x", p.turns,
			     (unsigned)TT_EDGE_TURNS);
}
