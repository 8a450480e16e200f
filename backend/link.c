#include "backend/link.h"

#include <string.h>

/* Where a relocation is, and what it is told to refer to. */
typedef struct Fixup {
	const Link *l;
	Diag *d;
	int section;
	uint32_t at; /* address of the section */
	uint8_t *bytes;
} Fixup;

static uint32_t align_up(uint32_t v, uint32_t to)
{
	return (v + to - 1) & ~(to - 1);
}

bool link_init(Link *l, Arena *a, Diag *d, const Object *o, uint32_t ram_bytes)
{
	*l = (Link){ .object = o, .start = object_find(o, LINK_START), .ram_bytes = ram_bytes };
	l->apart = arena_array(a, bool, o->nsections);
	l->address = arena_array(a, uint32_t, o->nsections);
	if (l->start < 0 || o->symbols[l->start].section < 0) {
		diag_error(d, (Loc){ .file = o->name }, "link: there is no '%s'", LINK_START);
		return false;
	}
	for (int i = 0; i < o->nsections; i++) {
		const ObjSection *s = &o->sections[i];
		if (s->loaded && s->size && s->writable && !s->empty) {
			diag_error(d, (Loc){ .file = o->name },
				   "link: %s holds first values of variables, which nothing copies",
				   s->name);
			return false;
		}
		if (s->loaded && s->empty && s->size > ram_bytes) {
			diag_error(d, (Loc){ .file = o->name }, "link: %s takes %u bytes of %u", s->name,
				   s->size, ram_bytes);
			return false;
		}
	}
	return true;
}

void link_keep(Link *l, Arena *a, const int sections[], int n)
{
	const Object *o = l->object;
	int *left = arena_array(a, int, o->nsections + n + 1), nleft = 0;
	for (int i = 0; i < o->nsections; i++)
		l->apart[i] = true;
	left[nleft++] = o->symbols[l->start].section;
	for (int i = 0; i < n; i++)
		left[nleft++] = sections[i];
	for (int i = 0; i < nleft; i++)
		l->apart[left[i]] = false;
	while (nleft) {
		const ObjSection *s = &o->sections[left[--nleft]];
		for (int i = 0; i < s->nrelocs; i++) {
			const int to = o->symbols[s->relocs[i].symbol].section;
			if (to >= 0 && l->apart[to]) {
				l->apart[to] = false;
				left[nleft++] = to;
			}
		}
	}
}

typedef enum Turn { START, CODE, CONSTANTS, TURNS, VARIABLES } Turn;

static Turn turn_of(const Link *l, int section)
{
	return l->object->sections[section].empty ? VARIABLES
		: section == l->object->symbols[l->start].section ? START
		: l->object->sections[section].code ? CODE : CONSTANTS;
}

void link_place(Link *l, uint32_t at, uint32_t load)
{
	const Object *o = l->object;
	const ObjSymbol *start = &o->symbols[l->start];
	uint32_t end = at;
	for (Turn turn = START; turn < TURNS; turn++)
		for (int i = 0; i < o->nsections; i++) {
			const ObjSection *s = &o->sections[i];
			if (!s->loaded || !s->size || l->apart[i] || turn_of(l, i) != turn)
				continue;
			end = align_up(end, s->align);
			l->address[i] = end;
			end += s->size;
		}
	l->local_bytes = 0;
	for (int i = 0; i < o->nsections; i++) {
		const ObjSection *s = &o->sections[i];
		if (!s->loaded || !s->empty || l->apart[i])
			continue;
		l->local_bytes = align_up(l->local_bytes, s->align);
		l->address[i] = LINK_LOCAL + l->local_bytes;
		l->local_bytes += s->size;
	}
	l->local_bytes = align_up(l->local_bytes, 4);
	l->at = at;
	l->load = load;
	l->bytes = align_up(end, LINK_ALIGN) - at;
	l->entry = l->address[start->section] + start->value;
}

int link_routine(const Link *l, const char *name)
{
	const size_t n = strlen(LINK_ROUTINE);
	for (int i = 0; i < l->object->nsections; i++) {
		const char *have = l->object->sections[i].name;
		if (strncmp(have, LINK_ROUTINE, n) == 0 && strcmp(have + n, name) == 0)
			return i;
	}
	return -1;
}

static bool made_symbol(const Link *l, const char *name, uint32_t *value)
{
	const struct { const char *name; uint32_t value; } made[] = {
		{ "__bss_start", LINK_LOCAL },
		{ "__bss_end", LINK_LOCAL + l->local_bytes },
		{ "__stack_top", LINK_LOCAL + l->ram_bytes },
	};
	for (size_t i = 0; i < sizeof made / sizeof *made; i++)
		if (strcmp(made[i].name, name) == 0) {
			*value = made[i].value;
			return true;
		}
	return false;
}

static bool symbol_value(const Fixup *f, int index, uint32_t *value)
{
	const Link *l = f->l;
	const ObjSymbol *s = &l->object->symbols[index];
	const Loc loc = { .file = l->object->name };
	if (s->section == f->section) {
		*value = f->at + s->value;
		return true;
	}
	if (s->section == SYMBOL_ABSOLUTE) {
		*value = s->value;
		return true;
	}
	if (s->section == SYMBOL_UNDEFINED) {
		*value = 0;
		if (made_symbol(l, s->name, value) || s->weak || index == 0)
			return true;
		diag_error(f->d, loc, "link: nothing defines '%s'", s->name);
		return false;
	}
	if (!l->object->sections[s->section].loaded || l->apart[s->section]) {
		diag_error(f->d, loc, "link: %s refers to %s, which is not resident",
			   l->object->sections[f->section].name,
			   l->object->sections[s->section].name);
		return false;
	}
	*value = l->address[s->section] + s->value;
	return true;
}

static uint32_t get(const uint8_t *p, int bytes)
{
	uint32_t v = 0;
	for (int i = 0; i < bytes; i++)
		v |= (uint32_t)p[i] << 8 * i;
	return v;
}

static void put(uint8_t *p, int bytes, uint32_t v)
{
	for (int i = 0; i < bytes; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* The immediate of each instruction format, in its bits. */
static uint32_t format_u(uint32_t v) { return (v + 0x800) & 0xfffff000; }
static uint32_t format_i(uint32_t v) { return v << 20; }
static uint32_t format_s(uint32_t v) { return (v & 0x1f) << 7 | (v >> 5 & 0x7f) << 25; }

static uint32_t format_b(uint32_t v)
{
	return (v >> 11 & 1) << 7 | (v >> 1 & 0xf) << 8 | (v >> 5 & 0x3f) << 25
		| (v >> 12 & 1) << 31;
}

static uint32_t format_j(uint32_t v)
{
	return (v >> 12 & 0xff) << 12 | (v >> 11 & 1) << 20 | (v >> 1 & 0x3ff) << 21
		| (v >> 20 & 1) << 31;
}

static void insert(uint8_t *p, uint32_t mask, uint32_t bits)
{
	put(p, 4, (get(p, 4) & ~mask) | (bits & mask));
}

enum {
	MASK_I = (int)0xfff00000u, MASK_S = (int)0xfe000f80u, MASK_U = (int)0xfffff000u,
	REACH_B = 1 << 12, REACH_J = 1 << 20,
};

static bool reaches(const Fixup *f, const Reloc *r, uint32_t distance, uint32_t reach)
{
	if (distance + reach < 2 * reach && !(distance & 1))
		return true;
	diag_error(f->d, (Loc){ .file = f->l->object->name },
		   "link: %s+0x%x cannot reach '%s', 0x%x bytes away",
		   f->l->object->sections[f->section].name, (unsigned)r->offset,
		   f->l->object->symbols[r->symbol].name, (unsigned)distance);
	return false;
}

/* A low part names the instruction with the high part; the value is there. */
static bool high_part(const Fixup *f, const Reloc *low, uint32_t *value)
{
	const ObjSection *s = &f->l->object->sections[f->section];
	const ObjSymbol *label = &f->l->object->symbols[low->symbol];
	for (int i = 0; i < s->nrelocs && label->section == f->section; i++) {
		const Reloc *r = &s->relocs[i];
		if (r->offset != label->value || r->kind != R_RISCV_PCREL_HI20_KIND)
			continue;
		if (!symbol_value(f, r->symbol, value))
			return false;
		*value += (uint32_t)r->addend - (f->at + r->offset);
		return true;
	}
	diag_error(f->d, (Loc){ .file = f->l->object->name },
		   "link: %s+0x%x has no instruction with the high part", s->name,
		   (unsigned)low->offset);
	return false;
}

static bool apply(const Fixup *f, const Reloc *r)
{
	uint8_t *p = f->bytes + r->offset;
	uint32_t v = 0, here = f->at + r->offset;
	const bool low = r->kind == R_RISCV_PCREL_LO12_I_KIND
		|| r->kind == R_RISCV_PCREL_LO12_S_KIND;

	if (low ? !high_part(f, r, &v) : !symbol_value(f, r->symbol, &v))
		return false;
	v += low ? 0 : (uint32_t)r->addend;
	switch (r->kind) {
	case R_RISCV_NONE_KIND:
	case R_RISCV_RELAX_KIND: /* may be shortened: we do not */
	case R_RISCV_ALIGN_KIND: /* nops that may go: they stay */
		break;
	case R_RISCV_32_KIND:
	case R_RISCV_SET32_KIND: put(p, 4, v); break;
	case R_RISCV_32_PCREL_KIND: put(p, 4, v - here); break;
	case R_RISCV_SET8_KIND: put(p, 1, v); break;
	case R_RISCV_SET16_KIND: put(p, 2, v); break;
	case R_RISCV_ADD8_KIND: put(p, 1, get(p, 1) + v); break;
	case R_RISCV_ADD16_KIND: put(p, 2, get(p, 2) + v); break;
	case R_RISCV_ADD32_KIND: put(p, 4, get(p, 4) + v); break;
	case R_RISCV_SUB8_KIND: put(p, 1, get(p, 1) - v); break;
	case R_RISCV_SUB16_KIND: put(p, 2, get(p, 2) - v); break;
	case R_RISCV_SUB32_KIND: put(p, 4, get(p, 4) - v); break;
	case R_RISCV_HI20_KIND: insert(p, (uint32_t)MASK_U, format_u(v)); break;
	case R_RISCV_PCREL_HI20_KIND: insert(p, (uint32_t)MASK_U, format_u(v - here)); break;
	case R_RISCV_LO12_I_KIND:
	case R_RISCV_PCREL_LO12_I_KIND: insert(p, (uint32_t)MASK_I, format_i(v)); break;
	case R_RISCV_LO12_S_KIND:
	case R_RISCV_PCREL_LO12_S_KIND: insert(p, (uint32_t)MASK_S, format_s(v)); break;
	case R_RISCV_CALL_KIND:
	case R_RISCV_CALL_PLT_KIND: /* auipc, jalr */
		insert(p, (uint32_t)MASK_U, format_u(v - here));
		insert(p + 4, (uint32_t)MASK_I, format_i(v - here));
		break;
	case R_RISCV_BRANCH_KIND:
		insert(p, (uint32_t)MASK_S, format_b(v - here));
		return reaches(f, r, v - here, REACH_B);
	case R_RISCV_JAL_KIND:
		insert(p, (uint32_t)MASK_U, format_j(v - here));
		return reaches(f, r, v - here, REACH_J);
	}
	return true;
}

bool link_section(const Link *l, Diag *d, int section, uint32_t at, uint8_t *to)
{
	const ObjSection *s = &l->object->sections[section];
	const Fixup f = { l, d, section, at, to };
	bool ok = true;
	if (s->size)
		memcpy(to, s->data, s->size);
	for (int i = 0; i < s->nrelocs; i++)
		ok &= apply(&f, &s->relocs[i]);
	return ok;
}
