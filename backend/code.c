#include "backend/code.h"

#include <string.h>

#include "backend/routines.h"
#include "backend/variants.h"

typedef struct Linking {
	Code *c;
	Arena *a;
	Diag *d;
	const Program *p;
	const Target *t;
	const CodeOptions *options;
} Linking;

static uint32_t align_to(uint32_t v, uint32_t step)
{
	return (v + step - 1) / step * step;
}

static uint32_t ram_bytes(const Target *t, TtRisc risc)
{
	return (uint32_t)(risc == TT_BRISC ? t->brisc_ram_bytes
			: risc == TT_NCRISC ? t->ncrisc_ram_bytes : t->trisc_ram_bytes);
}

static int section_of(const Linking *k, TtRisc risc, int variant)
{
	return link_routine(&k->c->link[risc], variant_symbol(k->a, &k->p->variants[variant]));
}

/* Leaves out of an object what the program does not run. */
static bool choose(Linking *k, TtRisc risc)
{
	const ProgramVariant **list =
		arena_array(k->a, const ProgramVariant *, k->p->nvariants + 1);
	const int n = variants_of(k->p, k->a, risc, list);
	int *sections = arena_array(k->a, int, n + 1);
	for (int i = 0; i < n; i++) {
		sections[i] = link_routine(&k->c->link[risc], variant_symbol(k->a, list[i]));
		if (sections[i] < 0) {
			diag_error(k->d, list[i]->loc, "%s has no code for '%s'", risc_spellings[risc],
				   list[i]->name);
			return false;
		}
	}
	link_keep(&k->c->link[risc], k->a, sections, n);
	return true;
}

static bool read_objects(Linking *k, const Bytes objects[TT_RISCS])
{
	Code *c = k->c;
	for (int r = 0; r < TT_RISCS; r++) {
		if (!object_read(&c->object[r], k->a, k->d, risc_spellings[r], objects[r]))
			return false;
		if (!link_init(&c->link[r], k->a, k->d, &c->object[r], ram_bytes(k->t, (TtRisc)r)))
			return false;
		if (!choose(k, (TtRisc)r))
			return false;
		c->stack[r] = link_stack(&c->link[r], k->a, k->d);
		if (c->stack[r] < 0)
			return false;
	}
	return true;
}

/* Bytes of everything resident, and the places of it. */
static uint32_t place(Linking *k)
{
	uint32_t at = 0;
	for (int r = 0; r < TT_RISCS; r++) {
		const bool iram = r == TT_NCRISC && k->options->iram;
		link_place(&k->c->link[r], iram ? TT_IRAM : at, at);
		at += k->c->link[r].bytes;
	}
	return at;
}

/* Does any core need this variant during the op? */
static bool needs(const Program *p, int op, int risc, int variant)
{
	for (int c = 0; c < p->ncores; c++)
		if (program_needs(&p->ops[op], c, (TtRisc)risc, variant))
			return true;
	return false;
}

/* What runs while the op before is at work cannot be in an overlay. */
static bool stays(const Program *p, int risc, int variant)
{
	for (int op = 0; risc == TT_NCRISC && op < p->nops; op++)
		if (p->ops[op].early && needs(p, op, risc, variant))
			return true;
	return false;
}

/* Moves every other variant out of the resident part. */
static void take_apart(Linking *k)
{
	for (int r = 0; r < TT_RISCS; r++)
		for (int v = 0; v < k->p->nvariants; v++) {
			const int s = section_of(k, (TtRisc)r, v);
			if (s >= 0 && !stays(k->p, r, v))
				k->c->link[r].apart[s] = true;
		}
}

/* Gives the variants of an op places at the end of an overlay, unless they are
 * in it already; the new end. */
static uint32_t add_op(const Linking *k, Overlay *o, int op, uint32_t end)
{
	for (int r = 0; r < TT_RISCS; r++)
		for (int v = 0; v < k->p->nvariants; v++) {
			uint32_t *address = &o->address[v * TT_RISCS + r];
			if (*address || !needs(k->p, op, r, v)
			    || !k->c->link[r].apart[section_of(k, (TtRisc)r, v)])
				continue;
			end = align_to(end, LINK_ALIGN);
			*address = k->c->area + end;
			end += k->c->object[r].sections[section_of(k, (TtRisc)r, v)].size;
		}
	return end;
}

static Overlay *open_overlay(Linking *k, int op)
{
	Overlay *o = &k->c->overlays[k->c->noverlays++];
	o->first_op = op;
	o->address = arena_array(k->a, uint32_t, k->p->nvariants * TT_RISCS + 1);
	return o;
}

/* Cuts the ops into overlays, as many to each as fit. */
static bool cut(Linking *k)
{
	Code *c = k->c;
	const size_t n = (size_t)k->p->nvariants * TT_RISCS;
	c->area = align_to(c->bytes, CODE_OVERLAY_ALIGN);
	const uint32_t room = c->area < k->options->budget ? k->options->budget - c->area : 0;
	c->overlays = arena_array(k->a, Overlay, k->p->nops + 1);
	Overlay *o = open_overlay(k, 0);
	uint32_t *before = arena_array(k->a, uint32_t, n + 1);
	for (int op = 0; op < k->p->nops; op++) {
		memcpy(before, o->address, n * sizeof *before);
		uint32_t end = add_op(k, o, op, o->bytes);
		if (end > room && op != o->first_op) {
			memcpy(o->address, before, n * sizeof *before);
			o = open_overlay(k, op);
			end = add_op(k, o, op, 0);
		}
		if (end > room) {
			diag_error(k->d, k->p->ops[op].loc,
				   "code of op '%s' takes %u bytes, %u of %u are free for it",
				   k->p->ops[op].name, end, room, k->options->budget);
			return false;
		}
		o->bytes = align_to(end, CODE_OVERLAY_ALIGN);
		c->area_bytes = o->bytes > c->area_bytes ? o->bytes : c->area_bytes;
	}
	return true;
}

static bool fill(Linking *k, Overlay *o)
{
	bool ok = true;
	o->data = arena_alloc(k->a, o->bytes + 1);
	for (int r = 0; r < TT_RISCS; r++)
		for (int v = 0; v < k->p->nvariants; v++) {
			const uint32_t at = o->address[v * TT_RISCS + r];
			const int section = section_of(k, (TtRisc)r, v);
			if (at)
				ok &= link_section(&k->c->link[r], k->d, section, at,
						   o->data + (at - k->c->area));
		}
	return ok;
}

static bool check_memory(const Linking *k)
{
	const Code *c = k->c;
	const Link *nc = &c->link[TT_NCRISC];
	const int before = k->d->errors;
	for (int r = 0; r < TT_RISCS; r++) {
		const uint32_t has = ram_bytes(k->t, (TtRisc)r);
		if (c->link[r].local_bytes + c->stack[r] > has)
			diag_error(k->d, (Loc){ .file = k->p->name },
				   "%s wants %u bytes of stack and %u for variables, has %u",
				   risc_spellings[r], (unsigned)c->stack[r],
				   c->link[r].local_bytes, has);
	}
	if (k->options->iram && nc->bytes > k->t->iram_bytes)
		diag_error(k->d, (Loc){ .file = k->p->name },
			   "ncrisc has %u bytes of code, its instruction memory %u", nc->bytes,
			   (unsigned)k->t->iram_bytes);
	return k->d->errors == before;
}

static void note_resident(Linking *k)
{
	Code *c = k->c;
	c->address = arena_array(k->a, uint32_t, k->p->nvariants * TT_RISCS + 1);
	for (int r = 0; r < TT_RISCS; r++)
		for (int v = 0; v < k->p->nvariants; v++) {
			const int s = section_of(k, (TtRisc)r, v);
			if (s >= 0 && !c->link[r].apart[s])
				c->address[v * TT_RISCS + r] = c->link[r].address[s];
		}
}

bool code_link(Code *c, Arena *a, Diag *d, const Program *p, const Target *t,
	       const Bytes objects[TT_RISCS], const CodeOptions *options)
{
	*c = (Code){ 0 };
	Linking k = { c, a, d, p, t, options };
	if (!read_objects(&k, objects))
		return false;
	c->bytes = place(&k);
	if (c->bytes > options->budget) {
		take_apart(&k);
		c->bytes = place(&k);
		if (!cut(&k))
			return false;
	}
	if (!check_memory(&k))
		return false;
	note_resident(&k);
	if (options->iram) {
		c->iram_from = c->link[TT_NCRISC].load;
		c->iram_bytes = c->link[TT_NCRISC].bytes;
	}
	bool ok = true;
	for (int r = 0; r < TT_RISCS; r++) {
		c->elf[r] = link_elf(&c->link[r], a, d);
		ok &= c->elf[r].data != NULL;
	}
	for (int i = 0; i < c->noverlays; i++)
		ok &= fill(&k, &c->overlays[i]);
	return ok;
}

int code_overlay(const Code *c, int op)
{
	int i = c->noverlays - 1;
	while (i >= 0 && c->overlays[i].first_op > op)
		i--;
	return i;
}

uint32_t code_address(const Code *c, int op, TtRisc risc, int variant)
{
	const int o = code_overlay(c, op), i = variant * TT_RISCS + (int)risc;
	return o >= 0 && c->overlays[o].address[i] ? c->overlays[o].address[i] : c->address[i];
}
