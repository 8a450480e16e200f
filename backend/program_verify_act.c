/* The activation of an op: that TRISC1 runs something that calls it, and what it is
 * told (the ACT rows of routines.def). */
#include <math.h>
#include <string.h>

#include "backend/program_verify.h"
#include "backend/routines.h"
#include "runtime/device/params.h"

enum { ACT_WORDS = sizeof((TtTiles){ 0 }.act) / sizeof(uint32_t) };

/* What the act uses is a number, what it does not is 0. Only the bounds of a clip
 * may be infinite. */
static void check_word(Verifier *v, int op, int core, const Routine *act, int index, float value)
{
	const bool clips = strcmp(act->name, "act_clip") == 0;
	const Loc loc = v->p->ops[op].loc;
	if (index >= act->act_uses && value != 0)
		verify_wrong(v, loc, op, core, "act[%d] is %g, which %s does not use", index,
			     (double)value, act->name);
	else if (isnan(value) || (isinf(value) && !clips))
		verify_wrong(v, loc, op, core, "act[%d] of %s is %g, which is no number", index,
			     act->name, (double)value);
	else if (index == 0 && value < 0 && strcmp(act->name, "act_rsqrt") == 0)
		verify_wrong(v, loc, op, core, "act[0] of %s is %g, not 0 or more", act->name,
			     (double)value);
}

static void check_params(Verifier *v, int op, int core, const Routine *act)
{
	const ParamField *f = params_field(params_at(act->params), "act");
	float value[ACT_WORDS];
	for (int i = 0; i < ACT_WORDS; i++) {
		const uint32_t bits = program_word(&v->p->ops[op], core, f->word + i);
		memcpy(&value[i], &bits, sizeof bits);
		check_word(v, op, core, act, i, value[i]);
	}
	if (strcmp(act->name, "act_clip") == 0 && value[1] > value[0])
		verify_wrong(v, v->p->ops[op].loc, op, core, "act[1] of %s is %g, above act[0], %g",
			     act->name, (double)value[1], (double)value[0]);
}

void verify_act(Verifier *v, int index)
{
	const ProgramOp *op = &v->p->ops[index];
	bool called = false;
	if (op->act == VARIANT_NONE)
		return;
	const Routine *act = op->act < v->p->nvariants && op->act >= 0
		? routine_at(v->p->variants[op->act].routine) : NULL;
	for (int c = 0; c < v->p->ncores; c++)
		called |= program_runs(op, c, TT_TRISC1) >= 0;
	if (!act)
		verify_wrong(v, op->loc, index, -1, "act: variant %d is not there", op->act);
	else if (!act->act)
		verify_wrong(v, op->loc, index, -1, "act: %s is not an activation", act->name);
	else if (!called || act->params != op->params)
		verify_wrong(v, op->loc, index, -1, "act: nothing that runs on trisc1 calls %s",
			     act->name);
	else
		for (int c = 0; c < v->p->ncores; c++)
			if (program_runs(op, c, TT_TRISC1) >= 0)
				check_params(v, index, c, act);
}
