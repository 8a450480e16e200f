/*
 * test_plan_mutated FIRST COUNT: plan files that somebody has been at.
 *
 * Each seed is a small net, legal choices for it at random, and their file, changed in
 * one place. What the parser and choice_check take is a plan that check_plan takes;
 * all else is refused with a line of the file and, where a line has fields to speak of,
 * a field. Nothing crashes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/choice_text.h"
#include "ir/file.h"
#include "passes/check_plan.h"
#include "passes/choice_check.h"
#include "passes/plan_pins.h"
#include "tests/every_plan.h"
#include "tests/small_net.h"

enum { MUTANTS = 25 /* of a net */, MOST_WORDS = 64, MOST_LINES = 128 };

typedef enum Mutation {
	FLIP_DIGIT, SET_VALUE, LEGAL_VALUE, SWAP_WORDS, DROP_FIELD, DOUBLE_FIELD, PIN_FIELD,
	UNKNOWN_FIELD, DOUBLE_LINE, DELETE_LINE, SWAP_LINES, CHANGE_NAME, INSERT_JUNK, CHANGE_BYTE,
	ZERO_BYTE, CUT_OFF, MUTATIONS
} Mutation;

static const char *const mutation_names[MUTATIONS] = {
	"a digit", "a value", "a legal value", "words swapped", "a field dropped", "a field twice",
	"a field pinned", "an unknown field", "a line twice", "a line deleted", "lines swapped",
	"a name", "junk", "a byte", "a zero byte", "cut off",
};

/* Does the line it changes still have the form of one, so that a field can be named? */
static bool speaks_of_fields(Mutation m)
{
	return m == FLIP_DIGIT || m == SET_VALUE || m == LEGAL_VALUE || m == PIN_FIELD
		|| m == UNKNOWN_FIELD || m == DOUBLE_FIELD;
}

static struct {
	int tried[MUTATIONS], refused[MUTATIONS];
	int same, fewer, other, full, wrong;
} seen;

typedef struct Trial {
	uint64_t seed;
	Rng rng;
	Arena *arena;
	Target target;
	const char *net;
	Graph *g;
	Plan *bare;
	Choice base[EVERY_STEPS], other[EVERY_STEPS]; /* legal both */
	Pins *pins;
	const char *file;
	Mutation how;
	const char *text; /* the mutant, which may have zero bytes */
	size_t size;
	int line;         /* that was changed and is still one; 0: not one alone */
} Trial;

/* ---- mutations ---- */

typedef struct Words {
	char *v[MOST_WORDS];
	int n;
} Words;

static Words split(Arena *a, const char *text, char at)
{
	Words w = { 0 };
	char *s = arena_strdup(a, text);
	while (*s && w.n < MOST_WORDS) {
		char *end = strchr(s, at);
		w.v[w.n++] = s;
		if (!end)
			break;
		*end = '\0';
		s = end + 1;
	}
	return w;
}

static const char *joined(Arena *a, const Words *w, char with)
{
	TextFile f;
	text_open(&f);
	for (int i = 0; i < w->n; i++)
		fprintf(f.f, "%s%.1s", w->v[i], i + 1 < w->n || with == '\n' ? &with : "");
	return text_take(&f, a);
}

static void remove_at(Words *w, int i)
{
	memmove(&w->v[i], &w->v[i + 1], (size_t)(--w->n - i) * sizeof *w->v);
}

static void insert_at(Words *w, int i, char *what)
{
	memmove(&w->v[i + 1], &w->v[i], (size_t)(w->n++ - i) * sizeof *w->v);
	w->v[i] = what;
}

static void swap(Trial *t, Words *w, int first)
{
	const int i = any_of(&t->rng, first, w->n - 1), k = any_of(&t->rng, first, w->n - 1);
	char *was = w->v[i];
	w->v[i] = w->v[k];
	w->v[k] = was;
}

static char *flipped(Trial *t, char *word)
{
	char *s = arena_strdup(t->arena, word);
	const int n = (int)strlen(s), from = n ? any_of(&t->rng, 0, n - 1) : 0;
	for (int i = 0; i < n; i++)
		if (s[(from + i) % n] >= '0' && s[(from + i) % n] <= '9') {
			s[(from + i) % n] = (char)('0' + any_of(&t->rng, 0, 9));
			break;
		}
	return s;
}

static char *with_value(Trial *t, const char *word)
{
	static const char *const values[] = {
		"0", "-1", "1", "2", "3", "4", "32", "64", "2147483647", "2147483648",
		"99999999999999999999", "", "x", "1x", "01", "+1", "0x10", "1.5", "all", "none", "0,1",
		"1,0", "0,0", "0,", "31", "0,32", "yes", "no", "dram", "l1", "bf16", "bfp8_b", "lofi",
		"hifi4", "double", "single", "1!!", "!", "=1",
	};
	const char *value = values[any_of(&t->rng, 0, (int)(sizeof values / sizeof *values) - 1)];
	const char *equals = strchr(word, '=');
	const int key = equals ? (int)(equals - word) : (int)strlen(word);
	return arena_printf(t->arena, "%.*s=%s", key, word, value);
}

/* A word that is a field, if there is one. */
static int field(Trial *t, const Words *w)
{
	const int from = any_of(&t->rng, 0, w->n - 1);
	for (int i = 0; i < w->n; i++)
		if (strchr(w->v[(from + i) % w->n], '='))
			return (from + i) % w->n;
	return from;
}

static const char *mutate_words(Trial *t, const char *line)
{
	static char *const unknown[] = { "colour=red", "band=1", "splits", "=", "slice =0", "shard=height",
					 "shard=tall", "cores=4", "\"bands\"=1", "target=x" };
	Words w = split(t->arena, line, ' ');
	const int i = w.n ? field(t, &w) : 0;
	if (!w.n || w.n + 1 >= MOST_WORDS)
		return line;
	if (t->how == FLIP_DIGIT)
		w.v[i] = flipped(t, w.v[i]);
	else if (t->how == SET_VALUE)
		w.v[i] = with_value(t, w.v[i]);
	else if (t->how == SWAP_WORDS)
		swap(t, &w, 0);
	else if (t->how == DROP_FIELD)
		remove_at(&w, i);
	else if (t->how == DOUBLE_FIELD)
		insert_at(&w, i, w.v[i]);
	else if (t->how == PIN_FIELD)
		w.v[i] = arena_printf(t->arena, "%s!", w.v[i]);
	else if (t->how == UNKNOWN_FIELD)
		insert_at(&w, w.n < 3 ? w.n : any_of(&t->rng, 3, w.n),
			  unknown[any_of(&t->rng, 0, 9)]);
	else if (t->how == CHANGE_NAME && w.n > 1)
		w.v[1] = arena_printf(t->arena, "%s%s", w.v[1], any_of(&t->rng, 0, 1) ? "x" : "@2");
	return joined(t->arena, &w, ' ');
}

static const char *mutate_lines(Trial *t)
{
	static char *const junk[] = { "op", "tensor", "nonsense", "op nobody conv bands=1", "# a remark",
				      "plan net target=wormhole_n150", "tensor t0 bands=1", "\t", ";",
				      "op \"", "op t0 edge_in slice=0 ; \"", "!", "\xff\xfe" };
	Words l = split(t->arena, t->file, '\n');
	const int i = any_of(&t->rng, 0, l.n - 1);
	if (t->how == DOUBLE_LINE)
		insert_at(&l, any_of(&t->rng, 0, 1) ? i : any_of(&t->rng, 0, l.n), l.v[i]);
	else if (t->how == DELETE_LINE)
		remove_at(&l, i);
	else if (t->how == SWAP_LINES)
		swap(t, &l, 0);
	else if (t->how == INSERT_JUNK)
		insert_at(&l, i, junk[any_of(&t->rng, 0, (int)(sizeof junk / sizeof *junk) - 1)]);
	else
		l.v[i] = arena_strdup(t->arena, mutate_words(t, l.v[i]));
	t->line = speaks_of_fields(t->how) || t->how == CHANGE_NAME ? i + 1 : 0;
	return joined(t->arena, &l, '\n');
}

static const char *printed(Trial *t, const Choice *choices)
{
	TextFile f;
	text_open(&f);
	choice_print(f.f, t->bare, choices, t->pins, NULL, NULL);
	return text_take(&f, t->arena);
}

/* A value that is legal among others; all who make a tensor have it. */
static const char *mutate_choice(Trial *t)
{
	Choice choices[EVERY_STEPS];
	int step = 0;
	ChoiceField f = CHOICE_bands;
	for (int i = 0; i < 50; i++) {
		if (choice_get(&t->base[step], f) != choice_get(&t->other[step], f))
			break;
		step = any_of(&t->rng, 0, t->bare->nsteps - 1);
		f = (ChoiceField)any_of(&t->rng, 0, CHOICE_COUNT - 1);
	}
	const PlanTensor *out = t->bare->steps[step].out;
	memcpy(choices, t->base, sizeof choices);
	for (int i = 0; i < t->bare->nsteps; i++)
		if (i == step || (out && t->bare->steps[i].out == out))
			choice_set(&choices[i], f, choice_get(&t->other[i], f));
	return printed(t, choices);
}

static void mutate(Trial *t)
{
	const bool bytes = t->how == CHANGE_BYTE || t->how == ZERO_BYTE || t->how == CUT_OFF;
	t->line = 0;
	char *s = arena_strdup(t->arena, bytes ? t->file : t->how == LEGAL_VALUE ? mutate_choice(t)
						      : mutate_lines(t));
	t->size = strlen(s);
	const int at = any_of(&t->rng, 0, (int)t->size - 1);
	if (t->how == CHANGE_BYTE)
		s[at] = (char)any_of(&t->rng, 1, 255);
	else if (t->how == ZERO_BYTE)
		s[at] = '\0';
	else if (t->how == CUT_OFF)
		t->size = (size_t)at;
	t->text = s;
}

/* ---- what becomes of them ---- */

static void wrong(Trial *t, const char *what, const char *said)
{
	if (seen.wrong++ > 4)
		return;
	printf("seed %llu, %s: %s\nsaid: %s\nof:\n", (unsigned long long)t->seed, mutation_names[t->how],
	       what, said);
	fwrite(t->text, 1, t->size, stdout);
	printf("--- was:\n%s--- net:\n%s", t->file, t->net);
}

static int count_lines(const Trial *t)
{
	int n = 1;
	for (size_t i = 0; i < t->size; i++)
		n += t->text[i] == '\n';
	return n;
}

static bool names_a_field(const char *message)
{
	bool any = strstr(message, "field") || strstr(message, "shard=") || strstr(message, "cores=");
	for (int f = 0; f < CHOICE_COUNT && !any; f++) {
		const char *at = strstr(message, choice_info[f].key);
		any = at && at[strlen(choice_info[f].key)] == '=';
	}
	return any;
}

/* Some error has a line of the file, and a field if there is one to name. What is wrong
 * by itself is told where it stands; a step whose line is not there any more at its op. */
static bool is_told(Trial *t, const char *said, bool parsed)
{
	const int lines = count_lines(t);
	bool line = false, named = false;
	const Words all = split(t->arena, said, '\n');
	for (int i = 0; i < all.n; i++) {
		int at = 0;
		const char *error = strstr(all.v[i], ": error: ");
		if (!error)
			continue;
		const bool here = sscanf(all.v[i], "net.plan:%d:", &at) == 1 && at >= 1 && at <= lines;
		if (t->line && !parsed)
			line |= at == t->line;
		else
			line |= here || strncmp(all.v[i], "net.ir:", 7) == 0;
		named |= names_a_field(error);
	}
	return (line || t->size == 0 || strstr(said, "a plan file begins"))
		&& (named || !speaks_of_fields(t->how));
}

static bool is_whole(const Trial *t, const ChoiceText *c)
{
	bool whole = true;
	for (int i = 0; i < t->bare->nsteps; i++)
		for (int f = 0; f < CHOICE_COUNT; f++)
			whole &= !choice_has(&t->bare->steps[i], (ChoiceField)f)
				|| c->given[i] >> f & 1;
	return whole;
}

static void accept(Trial *t, ChoiceText *c, bool whole, Diag *d, const TextFile *said)
{
	int64_t need;
	Range blame;
	Plan *p = plan_apply(t->bare, c->choices);
	if (!place_buffers(p, &need, &blame)) {
		seen.full++;
		return;
	}
	if (!check_plan(p, d)) {
		fflush(said->f);
		wrong(t, "taken, but the plan is not sound", said->text);
	}
	const size_t bytes = (size_t)t->bare->nsteps * sizeof(Choice);
	if (memcmp(c->choices, t->base, bytes) != 0)
		seen.other++;
	else if (whole)
		seen.same++;
	else
		seen.fewer++;
}

static void try_one(Trial *t)
{
	TextFile said;
	text_open(&said);
	Diag d = { .to = said.f, .limit = 1000 };
	plan_grid(t->bare, (int)(t->target.grid_cols * t->target.grid_rows));
	seen.tried[t->how]++;
	ChoiceText *c = choice_parse(t->bare, &d, "net.plan", t->text, t->size);
	bool ok = c && plan_pins_check(t->bare, c->pins, c->where, &d);
	if (ok) {
		const bool whole = is_whole(t, c);
		if (c->cores)
			plan_grid(t->bare, c->cores);
		choice_complete(t->bare, c, t->base);
		ok = choice_check(t->bare, c->choices, c->where, &d);
		if (ok && d.errors)
			wrong(t, "taken, with errors", "");
		if (ok)
			accept(t, c, whole, &d, &said);
	}
	fflush(said.f);
	seen.refused[t->how] += !ok;
	if (!ok && (!d.errors || !is_told(t, said.text, c != NULL)))
		wrong(t, d.errors ? "refused without line or field" : "refused without a word", said.text);
	diag_finish(&d);
	fclose(said.f);
	free(said.text);
}

static void pin_some(Trial *t)
{
	t->pins = arena_array(t->arena, Pins, t->bare->nsteps + 1);
	for (int i = 0; i < t->bare->nsteps; i++)
		for (int k = 0; k < CHOICE_COUNT; k++)
			if (choice_has(&t->bare->steps[i], (ChoiceField)k)
			    && !any_of(&t->rng, 0, 7))
				t->pins[i].fixed |= 1u << k;
}

static void one(uint64_t seed, const Target *target)
{
	Trial t = { .seed = seed, .rng = { seed }, .arena = arena_create(), .target = *target };
	Diag d = { .to = stdout };
	const SmallNet o = { .least = 2, .most = 5, .rows = 8, .cols = 20, .tiles = 3,
			     .types = seed % 3 == 0, .skip = seed % 4 == 0 };
	EveryPlan e;
	t.net = small_net(t.arena, seed, &o);
	t.target.grid_cols = 2;
	t.target.grid_rows = 3;
	t.g = small_graph(t.arena, &d, t.net);
	t.bare = plan_steps(t.g, &t.target, false);
	plan_grid(t.bare, 6);
	const Pins *none = arena_array(t.arena, Pins, t.bare->nsteps + 1);
	every_plan_init(&e, t.bare, t.g, none, true);
	if (every_plan_some(&e, &t.rng, t.base) && every_plan_some(&e, &t.rng, t.other)) {
		pin_some(&t);
		t.file = printed(&t, t.base);
		for (int i = 0; i < MUTANTS; i++) {
			t.how = (Mutation)any_of(&t.rng, 0, MUTATIONS - 1);
			mutate(&t);
			try_one(&t);
		}
	}
	every_plan_finish(&e);
	diag_finish(&d);
	arena_destroy(t.arena);
}

int main(int argc, char **argv)
{
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	const Target *target = target_load(a, &d, "wormhole_n150");
	const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 80;
	int tried = 0, refused = 0;
	for (uint64_t seed = first; seed < first + count; seed++)
		one(seed, target);
	for (int m = 0; m < MUTATIONS; m++) {
		printf("%-16s %5d, %5d refused\n", mutation_names[m], seen.tried[m], seen.refused[m]);
		tried += seen.tried[m];
		refused += seen.refused[m];
	}
	printf("%d files: %d refused; taken: %d mean the same, %d have fewer fields, %d other values, "
	       "%d do not fit; %d wrong\n", tried, refused, seen.same, seen.fewer, seen.other, seen.full,
	       seen.wrong);
	diag_finish(&d);
	arena_destroy(a);
	return seen.wrong || tried == 0;
}
