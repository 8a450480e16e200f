/* What each RISC-V of each core is told to do in an op. */
#include <inttypes.h>

#include "backend/program_verify.h"
#include "backend/routines.h"

static void check_cbs(Verifier *v, int index)
{
	const ProgramOp *op = &v->p->ops[index];
	const int64_t most = v->t->circular_buffers < TT_CBS ? v->t->circular_buffers : TT_CBS;
	for (int i = 0; i < op->ncbs; i++) {
		const ProgramCb *cb = &op->cbs[i];
		const uint64_t bytes = (uint64_t)cb->page_bytes * cb->pages;
		if (cb->id < 0 || cb->id >= most)
			verify_wrong(v, cb->loc, index, -1, "circular buffer %d is not in 0..%d",
				     cb->id, (int)most - 1);
		if (i > 0 && op->cbs[i - 1].id == cb->id)
			verify_wrong(v, cb->loc, index, -1, "circular buffer %d is there twice", cb->id);
		if (cb->address % ALIGN_L1 || cb->page_bytes % ALIGN_L1 || bytes == 0)
			verify_wrong(v, cb->loc, index, -1,
				     "circular buffer %d: %u pages of %u bytes at 0x%x are not on %d bytes",
				     cb->id, cb->pages, cb->page_bytes, cb->address, (int)ALIGN_L1);
		else if (!verify_inside(v, index, -1, cb->address, bytes))
			verify_wrong(v, cb->loc, index, -1,
				     "circular buffer %d, 0x%x to 0x%" PRIx64 ", is in no buffer",
				     cb->id, cb->address, cb->address + bytes);
		for (int k = 0; k < i; k++) {
			const ProgramCb *o = &op->cbs[k];
			const uint64_t end = o->address + (uint64_t)o->page_bytes * o->pages;
			if (o->id == cb->id)
				continue;
			if (cb->address < end && o->address < cb->address + bytes)
				verify_wrong(v, cb->loc, index, -1,
					     "circular buffers %d and %d share bytes", o->id, cb->id);
		}
	}
}

/* Pages through each circular buffer on one core. */
typedef struct Flow {
	int producers, consumers;
	uint32_t pushed, popped;
	const char *by; /* the last routine that was counted */
} Flow;

static void count_flows(Verifier *v, int index, int core, const Routine *r, Flow flows[TT_CBS])
{
	const ProgramOp *op = &v->p->ops[index];
	for (const RoutineFlow *f = r->flows; f->cb_word >= 0; f++) {
		const uint32_t cb = program_word(op, core, f->cb_word);
		const uint32_t pages = program_word(op, core, f->pages_word);
		bool declared = false;
		for (int i = 0; i < op->ncbs; i++)
			declared |= op->cbs[i].id == (int)cb;
		if (pages == 0)
			continue;
		if (cb >= TT_CBS || !declared) {
			verify_wrong(v, op->loc, index, core, "%s uses circular buffer %u, which is not there",
				     r->name, cb);
			continue;
		}
		flows[cb].by = r->name;
		if (f->produces) {
			flows[cb].producers++;
			flows[cb].pushed += pages;
		} else {
			flows[cb].consumers++;
			flows[cb].popped += pages;
		}
	}
}

static void check_flows(Verifier *v, int index, int core, const Flow flows[TT_CBS])
{
	const Loc loc = v->p->ops[index].loc;
	for (int i = 0; i < TT_CBS; i++) {
		const Flow *f = &flows[i];
		if (f->producers > 1 || f->consumers > 1)
			verify_wrong(v, loc, index, core,
				     "%d routines push to circular buffer %d and %d pop from it",
				     f->producers, i, f->consumers);
		else if (f->pushed != f->popped)
			verify_wrong(v, loc, index, core,
				     "%u pages are pushed to circular buffer %d and %u popped (%s)",
				     f->pushed, i, f->popped, f->by);
	}
}

static void check_params(Verifier *v, int index, int core)
{
	const ProgramOp *op = &v->p->ops[index];
	const ParamStruct *s = params_at(op->params);
	for (int i = 0; i < s->nfields; i++) {
		const ParamField *f = &s->fields[i];
		for (int k = 0; k < f->count; k++) {
			const uint32_t value = program_word(op, core, f->word + k);
			if (value < f->least || value > f->most)
				verify_wrong(v, op->loc, index, core, "%s[%d] is %u, not in %u..%u (%s)",
					     f->name, k, value, f->least, f->most, f->what);
		}
	}
}

/* True if the core does anything at all. */
static bool check_core(Verifier *v, int index, int core)
{
	const ProgramOp *op = &v->p->ops[index];
	Flow flows[TT_CBS] = { 0 };
	bool busy = false;
	for (int r = 0; r < TT_RISCS; r++) {
		const int variant = program_runs(op, core, (TtRisc)r);
		if (variant == VARIANT_NONE)
			continue;
		const Routine *routine = variant < v->p->nvariants && variant >= 0
			? routine_at(v->p->variants[variant].routine) : NULL;
		if (!routine) {
			verify_wrong(v, op->loc, index, core, "variant %d is not there", variant);
		} else if (routine->act) {
			verify_wrong(v, op->loc, index, core, "%s is for another routine to call, as act",
				     routine->name);
		} else if (!(routine->riscs >> r & 1)) {
			verify_wrong(v, op->loc, index, core, "%s cannot run on %s", routine->name,
				     risc_spellings[r]);
		} else if (routine->params != op->params) {
			verify_wrong(v, op->loc, index, core, "%s wants parameters %s, the op has %s",
				     routine->name, params_at(routine->params)->name,
				     op->params < 0 ? "none" : params_at(op->params)->name);
		} else {
			count_flows(v, index, core, routine, flows);
			busy = true;
		}
	}
	check_flows(v, index, core, flows);
	return busy;
}

void verify_op(Verifier *v, int op)
{
	const int before = v->d->errors;
	check_cbs(v, op);
	verify_act(v, op);
	for (int core = 0; core < v->p->ncores; core++) {
		if (!check_core(v, op, core) || v->d->errors != before)
			continue;
		check_params(v, op, core);
		if (v->d->errors == before && v->p->ops[op].params == params_find("tiles"))
			verify_tiles(v, op, core);
		if (v->d->errors == before && v->p->ops[op].params == params_find("edge"))
			verify_edge_op(v, op, core);
	}
	if (v->d->errors == before)
		verify_senders(v, op);
	if (v->d->errors == before)
		verify_early(v, op);
}
