/*
 * How deep the stack gets: what each function takes from it stands in its first
 * instructions, and whom it calls in its relocations.
 */
#include "backend/link.h"

#include <string.h>

enum {
	OPCODE = 0x7f, OP_IMM = 0x13, OP = 0x33, SP = 2,
	BRANCH_LINK = 0x6f, /* jal */
};

typedef struct Walk {
	const Object *o;
	Diag *d;
	int64_t *need; /* of each symbol; 0 unknown, -1 being looked at, else bytes + 1 */
} Walk;

static uint32_t word_at(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Bytes the code of a function takes off the stack pointer; -1 if it does so by
 * an amount that is not in the instruction. */
static int64_t frame_of(const Object *o, const ObjSymbol *f)
{
	const uint8_t *code = o->sections[f->section].data + f->value;
	int64_t frame = 0;
	for (uint32_t at = 0; at + 4 <= f->size; at += 4) {
		const uint32_t i = word_at(code + at), rd = i >> 7 & 31, rs1 = i >> 15 & 31;
		if ((i & 3) != 3) { /* a Tensix instruction */
			continue;
		} else if ((i & OPCODE) == OP_IMM && rd == SP && rs1 == SP && (i >> 12 & 7) == 0) {
			const int32_t amount = (int32_t)i >> 20;
			if (amount < 0)
				frame -= amount;
		} else if ((i & OPCODE) == OP && rd == SP) {
			return -1;
		}
	}
	return frame;
}

/* The function a symbol stands for: itself, or the one at its address. */
static int function_at(const Object *o, const Reloc *r)
{
	const ObjSymbol *target = &o->symbols[r->symbol];
	const uint32_t at = target->value + (uint32_t)r->addend;
	for (int i = 0; i < o->nsymbols; i++) {
		const ObjSymbol *s = &o->symbols[i];
		if (s->function && s->section == target->section && s->section >= 0
		    && at >= s->value && at - s->value < s->size)
			return i;
	}
	return -1;
}

static int64_t depth_of(Walk *w, int index)
{
	const ObjSymbol *f = &w->o->symbols[index];
	const ObjSection *s = &w->o->sections[f->section];
	const Loc loc = { .file = w->o->name };
	if (w->need[index] > 0)
		return w->need[index] - 1;
	if (w->need[index] < 0) {
		diag_error(w->d, loc, "stack: '%s' calls itself", f->name);
		return -1;
	}
	w->need[index] = -1;
	const int64_t own = s->data ? frame_of(w->o, f) : 0;
	int64_t deepest = 0;
	if (own < 0) {
		diag_error(w->d, loc, "stack: '%s' takes an amount that is not in its code", f->name);
		return -1;
	}
	for (int i = 0; i < s->nrelocs; i++) {
		const Reloc *r = &s->relocs[i];
		const bool call = r->kind == R_RISCV_CALL_KIND || r->kind == R_RISCV_CALL_PLT_KIND
			|| r->kind == R_RISCV_JAL_KIND;
		if (!call || r->offset < f->value || r->offset - f->value >= f->size)
			continue;
		const int callee = function_at(w->o, r);
		if (callee < 0 || callee == index) /* a jump inside a function is no call */
			continue;
		const int64_t below = depth_of(w, callee);
		if (below < 0)
			return -1;
		deepest = below > deepest ? below : deepest;
	}
	w->need[index] = own + deepest + 1;
	return own + deepest;
}

static bool begins(const char *name, const char *with)
{
	return strncmp(name, with, strlen(with)) == 0;
}

int64_t link_stack(const Link *l, Arena *a, Diag *d)
{
	const Object *o = l->object;
	Walk w = { o, d, arena_array(a, int64_t, o->nsymbols) };
	int64_t resident = 0, routine = 0, act = 0;
	for (int i = 0; i < o->nsymbols; i++) {
		const ObjSymbol *s = &o->symbols[i];
		if (!s->function || s->section < 0 || l->apart[s->section])
			continue;
		const int64_t depth = depth_of(&w, i);
		if (depth < 0)
			return -1;
		const char *section = o->sections[s->section].name;
		int64_t *most = begins(section, LINK_ACT) ? &act
			: begins(section, LINK_ROUTINE) ? &routine : &resident;
		*most = depth > *most ? depth : *most;
	}
	return resident + routine + act;
}
