#include "passes/choice_check.h"

#include "ir/file.h"
#include "passes/choice_rules.h"

/* Steps that make one tensor together have these in common. */
static bool is_common(ChoiceField f)
{
	return choice_info[f].who == CHOICE_RESULT || f == CHOICE_cout_block;
}

static const char *maker_of(const Case *e)
{
	return choice_step_spelling(e->k->bare, e->s->out->born);
}

static bool repeats(const Case *e, ChoiceField f)
{
	return is_common(f) && e->s->out && e->s->out->born != e->step;
}

/* The first legal value from `from` to `to` in steps of `by`, added to n of them. */
static int add_legal(const Case *e, ChoiceField f, int from, int to, int by, int *values, int n)
{
	Case x = *e;
	for (int v = from; by > 0 ? v <= to : v >= to; v += by) {
		choice_set(&x.c, f, v);
		if (choice_rules[f].ok(&x)) {
			values[n] = v;
			return n + 1;
		}
	}
	return n;
}

/* A number's neighbours, all words, or the part of a set that are legal. */
static int legal_values(const Case *e, ChoiceField f, int *values)
{
	enum { LAST_WORD = 4 };
	const ChoiceRule *r = &choice_rules[f];
	int n = 0;
	if (repeats(e, f))
		values[n++] = choice_get(&e->k->choices[e->s->out->born], f);
	else if (choice_info[f].kind == CHOICE_PARTS)
		values[n++] = r->most(e);
	if (n)
		return n;
	for (int v = 0; !r->most && v <= LAST_WORD; v++)
		n = add_legal(e, f, v, v, 1, values, n);
	if (!r->most)
		return n;
	const int by = f == CHOICE_act_block ? TILE : 1, value = choice_get(&e->c, f);
	const int most = r->most(e), below = value > most ? most : value - 1;
	n = add_legal(e, f, below / by * by, 0, -by, values, n);
	return add_legal(e, f, value < 0 ? 0 : value / by * by + by, most, by, values, n);
}

static Loc place_of(const Case *e, ChoiceField f)
{
	const ChoicePlace *w = e->k->where ? &e->k->where[e->step] : NULL;
	const bool tensor = choice_info[f].who == CHOICE_RESULT;
	if (w && w->at[f].file)
		return w->at[f];
	if (w && (tensor ? w->tensor : w->op).file)
		return tensor ? w->tensor : w->op;
	return e->s->op->loc;
}

/* "name: field=value is ...; 96 and 160 are" */
static void report(const Case *e, ChoiceField f, const char *why)
{
	int values[CHOICE_COUNT];
	const int n = legal_values(e, f, values);
	TextFile t;
	text_open(&t);
	fprintf(t.f, "%s: %s=", choice_step_spelling(e->k->bare, e->step), choice_info[f].key);
	choice_write(t.f, f, choice_get(&e->c, f));
	fprintf(t.f, " %s", why);
	for (int i = 0; i < n; i++) {
		fputs(i ? " and " : "; ", t.f);
		choice_write(t.f, f, values[i]);
	}
	if (n)
		fprintf(t.f, "%s%s", n > 1 ? " are" : " is",
			choice_info[f].kind == CHOICE_PARTS ? " legal" : "");
	diag_error(e->k->d, place_of(e, f), "%s", text_take(&t, e->k->a));
}

static bool check_field(const Case *e, ChoiceField f)
{
	if (repeats(e, f)) {
		if (choice_get(&e->c, f) == choice_get(&e->k->choices[e->s->out->born], f))
			return true;
		report(e, f, arena_printf(e->k->a, "is not that of %s, which makes the same tensor",
					  maker_of(e)));
		return false;
	}
	if (choice_rules[f].ok(e))
		return true;
	report(e, f, choice_rules[f].why(e));
	return false;
}

/* Fields that are needed to look at others are right before that is done. */
static bool check_step(const Check *k, int step)
{
	const Case e = { k, step, &k->bare->steps[step], k->choices[step] };
	const PlanTensor *t = e.s->out;
	bool ok = true;
	k->cut[step] = !t || t->born == step || k->cut[t->born];
	for (int i = 0; i < CHOICE_COUNT; i++) {
		const ChoiceField f = choice_order[i];
		if (!choice_has(e.s, f) && f != CHOICE_slice)
			continue;
		const bool right = check_field(&e, f);
		ok &= right;
		if (f == CHOICE_cout_block || f == CHOICE_bands || f == CHOICE_splits)
			k->cut[step] &= right;
		if (!k->cut[step] || (!right && f == CHOICE_k_block))
			return ok;
	}
	return ok;
}

bool choice_check(const Plan *bare, const Choice *choices, const ChoicePlace *where, Diag *d)
{
	Arena *a = bare->graph->arena;
	const Check k = { bare, choices, where, d, a, arena_array(a, bool, bare->nsteps + 1) };
	bool ok = true;
	for (int i = 0; i < bare->nsteps; i++)
		ok &= check_step(&k, i);
	return ok;
}
