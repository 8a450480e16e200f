#include "passes/choice_check.h"

#include "ir/file.h"
#include "passes/choice_legal.h"
#include "passes/choice_rules.h"
#include "passes/plan_dram.h"
#include "passes/plan_pins.h"

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
		const Choice *first = &e->k->choices[e->s->out->born];
		const int value = choice_get(&e->c, f);
		if (value == choice_get(first, f))
			return true;
		if (f == CHOICE_cout_block && choice_rules[f].ok(e)
		    && choice_blocks_alike(e->s->out, first->splits, first->cout_block, value))
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

/* ---- pins ---- */

enum { MOST_VALUES = 128 };

/* Is the field legal with one of the pages of weights it may be used with? */
static bool with_pages(Case *e, const Pins *p, ChoiceField f)
{
	int ks[MOST_VALUES];
	const bool open = (f == CHOICE_ring || f == CHOICE_act_block)
		&& !pin_is_fixed(p, CHOICE_k_block);
	const int n = open ? choice_k_blocks(e->s, &e->c, ks, MOST_VALUES) : 0;
	bool ok = choice_rules[f].ok(e);
	for (int i = 0; i < n && !ok; i++) {
		e->c.k_block = ks[i];
		ok = choice_rules[f].ok(e);
	}
	return ok;
}

static bool with_bands(Case *e, const Pins *p, ChoiceField f)
{
	const bool open = (f == CHOICE_slice || f == CHOICE_act_block || f == CHOICE_k_block)
		&& e->s->out && !pin_is_fixed(p, CHOICE_bands);
	const int most = open ? choice_most_cut(e->s, e->c.cout_block).bands : 0;
	bool ok = with_pages(e, p, f);
	for (int n = 1; n <= most && n <= e->k->bare->cores && !ok; n++) {
		e->c.bands = n;
		ok = with_pages(e, p, f);
	}
	return ok;
}

/* Of all that have its format an earlier one, which is pinned to another; NULL: there is none. */
static const PlanTensor *pinned_otherwise(const Case *e, const Pins *pins)
{
	const Plan *p = e->k->bare;
	const PlanTensor *t = e->s->out;
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *o = p->tensors[i];
		if (o->born < t->born && o->wide == t->wide
		    && pin_is_fixed(&pins[o->born], CHOICE_type)
		    && pins[o->born].value.type != e->c.type)
			return o;
	}
	return NULL;
}

static bool pin_ok(const Case *all, const Pins *pins, ChoiceField f)
{
	int blocks[MOST_VALUES];
	Case e = *all;
	const Pins *p = &pins[e.step];
	if (f == CHOICE_type) /* agreeing with what is not pinned is up to that */
		return (choice_types(e.k->bare, e.s->out) & (unsigned)e.c.type) != 0
			&& !pinned_otherwise(&e, pins);
	if ((f == CHOICE_slice || f == CHOICE_slice_buffer)
	    && !choice_is_sliced(e.k->bare, e.k->choices, e.step))
		return true; /* it may yet be */
	const bool open = e.s->kind == STEP_CONV && f != CHOICE_cout_block
		&& !pin_is_fixed(p, CHOICE_cout_block);
	const int n = open ? choice_cout_blocks(e.s, blocks, MOST_VALUES) : 0;
	bool ok = with_bands(&e, p, f);
	for (int i = 0; i < n && !ok; i++) {
		e = *all;
		e.c.cout_block = blocks[i];
		ok = with_bands(&e, p, f);
	}
	return ok;
}

/* What a block of positions may be with several pages, if that is left open. */
static Case with_a_page(const Case *all, const Pins *p, ChoiceField f)
{
	int ks[MOST_VALUES];
	Case e = *all;
	if (f != CHOICE_act_block || pin_is_fixed(p, CHOICE_k_block))
		return e;
	const int n = choice_k_blocks(e.s, &e.c, ks, MOST_VALUES);
	e.c.k_block = n > 1 ? ks[1] : e.c.k_block;
	return e;
}

/* What another step says too is looked at there, but other fields go by the block. */
static bool is_left(const Case *e, ChoiceField f)
{
	return repeats(e, f) && (f != CHOICE_cout_block || choice_rules[f].ok(e));
}

/* Why both are of one format. */
static const char *tie(const Plan *p, const PlanTensor *t, const PlanTensor *o)
{
	if (o->op == t->op)
		return "which is another image of it";
	for (int i = t->born; i <= t->dies; i++)
		if (choice_has(&p->steps[i], CHOICE_k_block) && plan_reads(&p->steps[i], t)
		    && plan_reads(&p->steps[i], o))
			return "which a product reads with it";
	return "which is of its format by what products read with both";
}

static const char *pin_why(const Case *e, const Pins *pins, ChoiceField f)
{
	const PlanTensor *o = f == CHOICE_type ? pinned_otherwise(e, pins) : NULL;
	if (!o || !(choice_types(e->k->bare, e->s->out) & (unsigned)e->c.type))
		return choice_rules[f].why(e);
	return arena_printf(e->k->a, "is not that of %s, %s",
			    choice_step_spelling(e->k->bare, o->born),
			    tie(e->k->bare, e->s->out, o));
}

bool choice_check_pins(const Plan *bare, const Pins *pins, const ChoicePlace *where, Diag *d)
{
	Arena *a = bare->graph->arena;
	Choice *c = arena_array(a, Choice, bare->nsteps + 1);
	bool *cut = arena_array(a, bool, bare->nsteps + 1);
	for (int i = 0; i < bare->nsteps; i++) {
		c[i] = choice_plain(&bare->steps[i]);
		cut[i] = true;
		for (int f = 0; f < CHOICE_COUNT; f++)
			if (pin_is_fixed(&pins[i], f))
				choice_set(&c[i], f, choice_get(&pins[i].value, f));
	}
	const Check k = { bare, c, where, d, a, cut };
	bool ok = true;
	for (int i = 0; i < bare->nsteps; i++) {
		const Case e = { &k, i, &bare->steps[i], c[i] };
		for (int n = 0; n < CHOICE_COUNT; n++) {
			const ChoiceField f = choice_order[n];
			if (!pin_is_fixed(&pins[i], f) || is_left(&e, f) || pin_ok(&e, pins, f))
				continue;
			const Case told = with_a_page(&e, &pins[i], f);
			report(&told, f, pin_why(&told, pins, f));
			ok = false;
			if (f == CHOICE_cout_block || f == CHOICE_bands || f == CHOICE_splits)
				break; /* others look at these */
		}
	}
	return ok;
}
