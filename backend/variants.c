#include "backend/variants.h"

#include "backend/routines.h"

enum { ARGUMENT_VALUES = 32 };

const char *variant_symbol(Arena *a, const ProgramVariant *v)
{
	const Routine *r = routine_at(v->routine);
	const char *name = r->name;
	for (int i = 0; r->args[i].name; i++)
		name = arena_printf(a, "%s_%u", name, v->args[i]);
	return name;
}

int variants_of(const Program *p, Arena *a, TtRisc risc, const ProgramVariant *list[])
{
	int n = 0;
	bool *used = arena_array(a, bool, p->nvariants + 1);
	for (int o = 0; o < p->nops; o++)
		for (int c = 0; c < p->ncores; c++)
			for (int v = 0; v < p->nvariants; v++)
				if (!used[v] && program_needs(&p->ops[o], c, risc, v)) {
					used[v] = true;
					list[n++] = &p->variants[v];
				}
	return n;
}

static int combinations(const Routine *r)
{
	int n = 1;
	for (int i = 0; r->args[i].name; i++)
		n *= __builtin_popcount(r->args[i].allowed);
	return n;
}

/* The k-th combination of allowed constants. */
static const ProgramVariant *combination(Arena *a, int row, int k)
{
	const Routine *r = routine_at(row);
	ProgramVariant *v = arena_new(a, ProgramVariant);
	v->routine = row;
	v->args = arena_array(a, uint32_t, routine_nargs(r) + 1);
	for (int i = 0; r->args[i].name; i++) {
		int skip = k % __builtin_popcount(r->args[i].allowed);
		k /= __builtin_popcount(r->args[i].allowed);
		for (uint32_t value = 0; value < ARGUMENT_VALUES; value++)
			if (r->args[i].allowed >> value & 1 && skip-- == 0)
				v->args[i] = value;
	}
	v->name = variant_symbol(a, v);
	return v;
}

int variants_all(Arena *a, TtRisc risc, const ProgramVariant ***list)
{
	int most = 0, n = 0;
	for (int i = 0; routine_at(i); i++)
		most += combinations(routine_at(i));
	*list = arena_array(a, const ProgramVariant *, most + 1);
	for (int i = 0; routine_at(i); i++) {
		if (!(routine_at(i)->riscs >> risc & 1))
			continue;
		for (int k = 0; k < combinations(routine_at(i)); k++)
			(*list)[n++] = combination(a, i, k);
	}
	return n;
}
