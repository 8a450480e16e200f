/*
 * What TT-Metal allows, op by op.
 *
 * Code is estimated: the machine code of each routine as it is in our packages (clang, -O2),
 * half as much again because TT-Metal's compiler works with -O3 and its start-up and our
 * glue come on top, which take CODE_AROUND bytes. Only a program near the limit would need
 * to know better, and none is: the largest has a quarter of it.
 */
#include <inttypes.h>
#include <string.h>

#include "backend/metal_model.h"
#include "backend/object.h"
#include "backend/variants.h"

enum {
	CODE_AROUND = 1536,
	LISTS_CODE = 2048,
	HALF = 2,
	CB_WORDS = 4,
	SEMAPHORE_BYTES = 16,
	ALIGNED = 16
};

static uint32_t variant_bytes(const MetalModel *m, const Object objects[], TtRisc risc, int variant)
{
	if (variant < 0)
		return 0;
	const Object *o = &objects[risc];
	const int s = object_find(o, variant_symbol(m->a, &m->p->variants[variant]));
	return s < 0 ? 0 : o->symbols[s].size + o->symbols[s].size / HALF;
}

static uint32_t risc_bytes(const MetalModel *m, const MetalCode *code, TtRisc risc)
{
	if (code->variant[risc] < 0 && !(risc == TT_BRISC && code->kind == METAL_WRITER))
		return 0;
	uint32_t bytes = CODE_AROUND + variant_bytes(m, m->objects, risc, code->variant[risc]);
	if (risc == TT_TRISC1)
		bytes += variant_bytes(m, m->objects, risc, code->act);
	if (risc == TT_BRISC && code->lists)
		bytes += LISTS_CODE;
	return bytes;
}

void metal_read_objects(MetalModel *m)
{
	for (int r = 0; r < TT_RISCS; r++)
		if (!object_read(&m->objects[r], m->a, m->d, risc_spellings[r],
				 (Bytes){ precompiled[r].text, precompiled[r].size }))
			die("the routines of %s cannot be read", risc_spellings[r]);
}

uint32_t metal_kernel_bytes(const MetalModel *m, const MetalKernel *k)
{
	uint32_t bytes = 0;
	for (int r = 0; r < TT_RISCS; r++)
		bytes += risc_bytes(m, &k->code, (TtRisc)r);
	return bytes;
}

/* `most` of TT-Metal's, of which this op needs more. */
static bool within(const MetalModel *m, const ProgramOp *op, const char *what, uint64_t needs,
		   uint64_t most)
{
	if (needs <= most)
		return true;
	diag_error(m->d, op->loc, "op '%s' needs %" PRIu64 " %s, TT-Metal has %" PRIu64, op->name,
		   needs, what, most);
	return false;
}

static bool check_program(const MetalModel *m, const MetalOp *op, const MetalProgram *p)
{
	uint64_t bytes = 0;
	bool ok = within(m, op->op, "words of arguments", (uint64_t)p->words, METAL_ARGS);
	for (int i = 0; i < p->nplaces; i++) {
		const MetalKernel *k = &m->kernels[p->places[i].kernel];
		bytes += metal_kernel_bytes(m, k) + METAL_ARGS * sizeof(uint32_t);
		ok &= within(m, op->op, "bytes of code for NCRISC",
			     risc_bytes(m, &k->code, TT_NCRISC), METAL_READER_TEXT);
	}
	bytes += (uint64_t)METAL_CBS * CB_WORDS * sizeof(uint32_t) +
		 METAL_SEMAPHORES * SEMAPHORE_BYTES;
	return ok & within(m, op->op, "bytes of kernels and their arguments", bytes, METAL_RING);
}

static bool check_cbs(const MetalModel *m, const ProgramOp *op)
{
	bool ok = true;
	for (int i = 0; i < op->ncbs; i++) {
		const ProgramCb *cb = &op->cbs[i];
		if (cb->id >= TT_CB_READY || cb->address % ALIGNED || cb->page_bytes % ALIGNED) {
			diag_error(m->d, op->loc,
				   "op '%s': circular buffer %d at 0x%x, pages of %u bytes: "
				   "TT-Metal wants multiples of %d, and %d and %d are taken",
				   op->name, cb->id, cb->address, cb->page_bytes, ALIGNED,
				   TT_CB_READY, TT_CB_DONE);
			ok = false;
		}
	}
	return ok;
}

bool metal_check_region(Diag *d, const Program *p, const Target *t)
{
	if (t->l1_first >= TT_USER && t->l1_end <= TT_L1_END)
		return true;
	diag_error(d, (Loc){ .file = p->name },
		   "the plan's L1, bytes %" PRId64 " to %" PRId64 ", is not within TT-Metal's user "
		   "area, %d to %d: below it TT-Metal keeps its own, 0 to %d",
		   t->l1_first, t->l1_end, TT_USER, TT_L1_END, TT_USER);
	return false;
}

bool metal_check(const MetalModel *m)
{
	bool ok = true;
	for (int o = 0; o < m->nops; o++) {
		const MetalOp *op = &m->ops[o];
		ok &= check_cbs(m, op->op);
		ok &= within(m, op->op, "semaphores", (uint64_t)op->nsemaphores, METAL_SEMAPHORES);
		for (int i = 0; i < op->nprograms; i++)
			ok &= check_program(m, op, &op->programs[i]);
	}
	return ok;
}
