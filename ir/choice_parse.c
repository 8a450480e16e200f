/*
 * Reads a plan file line by line. Lines that say nothing are kept with the next
 * one that does.
 */
#include "ir/choice_text.h"

#include <stdlib.h>
#include <string.h>

#include "ir/quote.h"
#include "ir/strmap.h"

typedef struct Reader {
	const Plan *bare;
	Arena *a;
	Diag *d;
	const char *file;
	ChoiceText *to;
	StrMap steps;    /* "number name" to a step, */
	StrMap tensors;  /* name to a tensor */
	const char *above; /* where lines that say nothing began, or NULL */
	const char *line, *at, *end; /* the one at hand; its end is not part of it */
	int number;
	bool header;     /* was read */
	bool pieces;     /* an op or tensor may have several lines */
} Reader;

/* A line's subject: step `step`, or tensor `tensor` if that is not NULL. */
typedef struct Subject {
	const char *name; /* as it is spelt */
	int step;
	const PlanTensor *tensor;
} Subject;

static Loc here(const Reader *r, const char *at)
{
	return (Loc){ .file = r->file, .line = r->number, .col = (int)(at - r->line) + 1 };
}

static void suggest(Reader *r, Loc at, const char *near)
{
	if (near)
		diag_note(r->d, at, "did you mean '%s'?", near);
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void skip_blanks(Reader *r)
{
	while (r->at < r->end && is_blank(*r->at))
		r->at++;
}

/* Nothing more to be read on the line but a remark. */
static bool at_rest(Reader *r)
{
	skip_blanks(r);
	return r->at == r->end || *r->at == ';' || *r->at == '#';
}

/* As far as the next blank; empty at the end of what is read. */
static char *take_word(Reader *r)
{
	const char *from = r->at;
	while (r->at < r->end && !is_blank(*r->at) && *r->at != ';')
		r->at++;
	return arena_strndup(r->a, from, (size_t)(r->at - from));
}

/* What is left of a line: from # on, with blanks at the end cut off. */
static const char *take_remark(Reader *r)
{
	const char *from = memchr(r->at, '#', (size_t)(r->end - r->at)), *end = r->end;
	while (from && is_blank(end[-1]))
		end--;
	return from ? arena_strndup(r->a, from, (size_t)(end - from)) : NULL;
}

static const char *take_above(Reader *r)
{
	const char *from = r->above;
	r->above = NULL;
	return from ? arena_strndup(r->a, from, (size_t)(r->line - from)) : NULL;
}

/* ---- names ---- */

static const char *key_of(Reader *r, const char *name, int number)
{
	return arena_printf(r->a, "%d %s", number, name);
}

static void list_names(Reader *r)
{
	strmap_init(&r->steps, r->a);
	strmap_init(&r->tensors, r->a);
	for (int i = 0; i < r->bare->nsteps; i++) {
		const StepName n = choice_step_name(r->bare, i);
		strmap_put(&r->steps, key_of(r, n.name, n.number), &r->bare->steps[i]);
	}
	for (int i = 0; i < r->bare->ntensors; i++)
		strmap_put(&r->tensors, r->bare->tensors[i]->name, r->bare->tensors[i]);
}

static const char *nearest_name(Reader *r, const char *spelt, bool tensor)
{
	const int n = tensor ? r->bare->ntensors : r->bare->nsteps;
	const char **names = arena_array(r->a, const char *, n + 1);
	for (int i = 0; i < n; i++)
		names[i] = tensor ? r->bare->tensors[i]->name : choice_step_spelling(r->bare, i);
	return diag_nearest(spelt, names, (size_t)n);
}

/* NAME or NAME@2; false, reported, if there is none such. */
static bool read_subject(Reader *r, bool tensor, Subject *s)
{
	const char *what = tensor ? "tensor" : "op", *from = r->at;
	int number = 0;
	const char *name = at_rest(r) ? NULL : name_read(r->a, &r->at, r->end);
	if (name && r->at < r->end && *r->at == '@' && !tensor) {
		r->at++;
		const char *digits = take_word(r);
		const size_t n = strspn(digits, "0123456789");
		number = n && n <= 9 && !digits[n] && atoi(digits) ? atoi(digits) : -1;
	}
	if (!name || number < 0 || (r->at < r->end && !is_blank(*r->at) && *r->at != ';')) {
		diag_error(r->d, here(r, from), "%s: want a name, in quotes unless it is letters, digits, _ and .",
			   what);
		return false;
	}
	const PlanTensor *t = tensor ? strmap_get(&r->tensors, name) : NULL;
	const Step *step = tensor ? NULL : strmap_get(&r->steps, key_of(r, name, number));
	s->name = number ? arena_printf(r->a, "%s@%d", name, number) : name;
	if (!t && !step) {
		diag_error(r->d, here(r, from), "no %s '%.60s'", what, s->name);
		suggest(r, here(r, from), nearest_name(r, s->name, tensor));
		return false;
	}
	s->tensor = t;
	s->step = t ? t->born : (int)(step - r->bare->steps);
	return true;
}

/* ---- fields ---- */

/* Does a step of such a line have the field? */
static bool belongs(const Reader *r, const Subject *s, ChoiceField f)
{
	return choice_has(&r->bare->steps[s->step], f)
		&& (choice_info[f].who == CHOICE_RESULT) == (s->tensor != NULL);
}

static ChoiceField find_field(Reader *r, const Subject *s, Loc at, const char *key)
{
	const char *keys[CHOICE_COUNT + 1];
	int f = 0, n = 0;
	while (f < CHOICE_COUNT && strcmp(choice_info[f].key, key) != 0)
		f++;
	if (f < CHOICE_COUNT && belongs(r, s, f))
		return f;
	if (f < CHOICE_COUNT && choice_has(&r->bare->steps[s->step], f)) {
		diag_error(r->d, at, "%s: field %s belongs to the %s line", s->name, key,
			   s->tensor ? "op" : "tensor");
		return CHOICE_COUNT;
	}
	if (f < CHOICE_COUNT) {
		diag_error(r->d, at, "%s: a %s has no field %s", s->name,
			   step_names[r->bare->steps[s->step].kind], key);
		return CHOICE_COUNT;
	}
	for (int i = 0; i < CHOICE_COUNT; i++)
		if (belongs(r, s, i))
			keys[n++] = choice_info[i].key;
	if (s->tensor)
		keys[n++] = "shard";
	diag_error(r->d, at, "%s: no field '%.40s'", s->name, key);
	suggest(r, at, diag_nearest(key, keys, (size_t)n));
	return CHOICE_COUNT;
}

/* The step, or all that make the tensor. */
static void set_field(Reader *r, const Subject *s, Loc at, ChoiceField f, int value, bool pinned)
{
	const int last = s->tensor ? s->tensor->done : s->step;
	for (int i = s->step; i <= last; i++) {
		if (s->tensor && r->bare->steps[i].out != s->tensor)
			continue;
		choice_set(&r->to->choices[i], f, value);
		r->to->given[i] |= 1u << f;
		r->to->where[i].at[f] = at;
		if (pinned) {
			choice_set(&r->to->pins[i].value, f, value);
			r->to->pins[i].fixed |= 1u << f;
		}
	}
}

static void read_shard(Reader *r, const Subject *s, Loc at, const char *value)
{
	int word = SHARD_HEIGHT;
	while (word < SHARD_WORDS && strcmp(shard_words[word], value) != 0)
		word++;
	if (word == SHARD_WORDS) {
		diag_error(r->d, at, "%s: field shard wants height|width|block, found '%.40s'", s->name,
			   value);
		return;
	}
	if (r->to->where[s->step].shard.file) {
		diag_error(r->d, at, "%s: field shard is given twice", s->name);
		return;
	}
	for (int i = s->step; i <= s->tensor->done; i++)
		if (r->bare->steps[i].out == s->tensor) {
			r->to->pins[i].shard = (ShardWord)word;
			r->to->where[i].shard = at;
		}
}

/* field=value or field=value! */
static void read_field(Reader *r, const Subject *s)
{
	const Loc at = here(r, r->at);
	char *key = take_word(r), *value = strchr(key, '=');
	if (!value) {
		diag_error(r->d, at, "%s: want field=value, found '%.40s'", s->name, key);
		return;
	}
	*value++ = '\0';
	const size_t n = strlen(value);
	const bool pinned = n && value[n - 1] == '!';
	if (pinned)
		value[n - 1] = '\0';
	if (s->tensor && strcmp(key, "shard") == 0) {
		read_shard(r, s, at, value);
		return;
	}
	const ChoiceField f = find_field(r, s, at, key);
	int v;
	if (f == CHOICE_COUNT)
		return;
	if (r->to->given[s->step] >> f & 1)
		diag_error(r->d, at, "%s: field %s is given twice", s->name, key);
	else if (!choice_read(f, value, &v))
		diag_error(r->d, at, "%s: field %s wants %s, found '%.40s'", s->name, key,
			   choice_form(f), value);
	else
		set_field(r, s, at, f, v, pinned);
}

/* The word behind the name of an op, if that is no field: what it is. */
static void read_kind(Reader *r, const Subject *s)
{
	const char *from = r->at, *is = step_names[r->bare->steps[s->step].kind];
	const char *word = at_rest(r) ? "" : take_word(r);
	if (!*word || strchr(word, '=')) {
		r->at = from;
		return;
	}
	if (strcmp(word, is) != 0)
		diag_error(r->d, here(r, r->at - strlen(word)), "op %s: it is a %s, not a '%.40s'",
			   s->name, is, word);
}

/* ---- lines ---- */

static void read_choice(Reader *r, bool tensor)
{
	const Loc at = here(r, r->line);
	Subject s = { 0 };
	if (!read_subject(r, tensor, &s))
		return;
	ChoicePlace *where = &r->to->where[s.step];
	Loc *line = tensor ? &where->tensor : &where->op;
	ChoiceRemark *remark = tensor ? &r->to->remarks.tensor[s.tensor->id]
				      : &r->to->remarks.op[s.step];
	if (line->file && !r->pieces) {
		diag_error(r->d, at, "%s %s is given twice", tensor ? "tensor" : "op", s.name);
		diag_note(r->d, *line, "here before");
		return;
	}
	*line = at;
	if (!tensor)
		read_kind(r, &s);
	while (!at_rest(r))
		read_field(r, &s);
	remark->above = take_above(r);
	remark->behind = take_remark(r);
}

static void read_cores(Reader *r, Loc at, const char *text)
{
	const int64_t most = r->bare->target->grid_cols * r->bare->target->grid_rows;
	const size_t n = strspn(text, "0123456789");
	const int cores = n && n <= 9 && !text[n] ? atoi(text) : 0;
	if (!cores)
		diag_error(r->d, at, "plan: field cores wants a number, found '%.40s'", text);
	else if (cores > most)
		diag_error(r->d, at, "plan: cores=%d, %s has %lld", cores, r->bare->target->name,
			   (long long)most);
	else
		r->to->cores = cores;
}

/* target=NAME or cores=N; `seen` has a bit for each that was. */
static void read_header_field(Reader *r, unsigned *seen)
{
	static const char *const keys[] = { "target", "cores" };
	const Loc at = here(r, r->at);
	const char *equals = memchr(r->at, '=', (size_t)(r->end - r->at));
	const char *key = equals ? arena_strndup(r->a, r->at, (size_t)(equals - r->at)) : "";
	const int f = strcmp(key, keys[0]) == 0 ? 0 : strcmp(key, keys[1]) == 0 ? 1 : -1;
	if (f < 0) {
		const char *word = take_word(r);
		diag_error(r->d, at, "plan: no field '%.40s'", word);
		suggest(r, at, diag_nearest(arena_strndup(r->a, word, strcspn(word, "=")), keys, 2));
		return;
	}
	r->at = equals + 1;
	if (*seen >> f & 1)
		diag_error(r->d, at, "plan: field %s is given twice", key);
	*seen |= 1u << f;
	if (f == 1) {
		read_cores(r, at, take_word(r));
		return;
	}
	const char *target = name_read(r->a, &r->at, r->end);
	if (!target || (r->at < r->end && !is_blank(*r->at) && *r->at != ';')) {
		diag_error(r->d, at, "plan: field target wants a name, found '%.40s'", take_word(r));
		return;
	}
	r->to->target = target;
	if (strcmp(target, r->bare->target->name) != 0)
		diag_warning(r->d, at, "the plan was made for target %s, this is %s", target,
			     r->bare->target->name);
}

static void read_header(Reader *r)
{
	const char *from = r->at, *model = at_rest(r) ? NULL : name_read(r->a, &r->at, r->end);
	unsigned seen = 0;
	if (!model)
		diag_error(r->d, here(r, from),
			   "plan: want the model's name, in quotes unless it is letters, digits, _ and .");
	else if (strcmp(model, r->bare->graph->name) != 0)
		diag_error(r->d, here(r, from), "a plan for model '%.60s', this is '%.60s'", model,
			   r->bare->graph->name);
	while (model && !at_rest(r))
		read_header_field(r, &seen);
	r->to->remarks.header = (ChoiceRemark){ take_above(r), take_remark(r) };
}

static void read_line(Reader *r)
{
	static const char *const kinds[] = { "op", "tensor", "plan" };
	skip_blanks(r);
	const Loc at = here(r, r->at);
	if (memchr(r->line, '\0', (size_t)(r->end - r->line))) {
		diag_error(r->d, at, "the line has a zero byte");
		return;
	}
	if (r->at == r->end || *r->at == '#') {
		r->above = r->above ? r->above : r->line;
		return;
	}
	const char *word = take_word(r);
	const bool header = strcmp(word, "plan") == 0;
	skip_blanks(r);
	if (!header && !r->header)
		diag_error(r->d, at, "a plan file begins with 'plan', the model's name and target=, not '%.40s'",
			   word);
	else if (header && r->header)
		diag_error(r->d, at, "plan: it is given twice");
	else if (header)
		read_header(r);
	else if (strcmp(word, kinds[0]) == 0 || strcmp(word, kinds[1]) == 0)
		read_choice(r, *word == 't');
	else {
		diag_error(r->d, at, "want a line of op or tensor, found '%.40s'", word);
		suggest(r, at, diag_nearest(word, kinds, 2));
	}
	r->header = true; /* or told */
}

static ChoiceText *parse(const Plan *bare, Diag *d, const char *file, const char *text, size_t size,
			 bool lines)
{
	Arena *a = bare->graph->arena;
	const int errors = d->errors, n = bare->nsteps + 1;
	ChoiceText *to = arena_new(a, ChoiceText);
	*to = (ChoiceText){ .choices = arena_array(a, Choice, n),
			    .given = arena_array(a, unsigned, n),
			    .pins = arena_array(a, Pins, n),
			    .where = arena_array(a, ChoicePlace, n),
			    .remarks.op = arena_array(a, ChoiceRemark, n),
			    .remarks.tensor = arena_array(a, ChoiceRemark, bare->ntensors + 1) };
	Reader r = { .bare = bare, .a = a, .d = d, .file = arena_strdup(a, file), .to = to,
		     .header = lines, .pieces = lines };
	const char *end = text + size;
	diag_add_source(d, r.file, text, size);
	list_names(&r);
	for (r.line = text; r.line < end;) {
		const char *newline = memchr(r.line, '\n', (size_t)(end - r.line));
		r.at = r.line;
		r.end = newline ? newline : end;
		r.number++;
		read_line(&r);
		r.line = newline ? newline + 1 : end;
	}
	if (!r.header)
		diag_error(d, (Loc){ .file = r.file }, "a plan file begins with 'plan', the model's name and target=");
	to->remarks.end.above = take_above(&r);
	return d->errors == errors ? to : NULL;
}

ChoiceText *choice_parse(const Plan *bare, Diag *d, const char *file, const char *text,
			 size_t size)
{
	return parse(bare, d, file, text, size, false);
}

ChoiceText *choice_parse_lines(const Plan *bare, Diag *d, const char *name, const char *text,
			       size_t size)
{
	return parse(bare, d, name, text, size, true);
}

void choice_complete(const Plan *bare, ChoiceText *t, const Choice *rest)
{
	for (int i = 0; i < bare->nsteps; i++)
		for (int f = 0; f < CHOICE_COUNT; f++)
			if (!(t->given[i] >> f & 1))
				choice_set(&t->choices[i], f, choice_get(&rest[i], f));
}

void choice_pin_given(const Plan *bare, ChoiceText *t)
{
	for (int i = 0; i < bare->nsteps; i++) {
		t->pins[i].fixed |= t->given[i];
		t->pins[i].value = t->choices[i];
	}
}
