/*
 * Reads what is fixed of a plan for ttnn: the lines of a plan file, or single ones.
 *
 *     ttnn_plan vanilla_unet target=wormhole_n150 l1_small=98304
 *     op enc1.c1 conv2d shard=height! act_block_h_override=480! ; 285.4 us
 */
#include "passes/ttnn_search.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir/file.h"
#include "ir/quote.h"

typedef struct Reader {
	const TtnnSearch *s;
	const char *file, *line, *at, *end;
	int number;
	bool whole, header;   /* all fields hold; there is a first line */
	TtnnPin *pins;
	int64_t *l1_small;
} Reader;

static Loc place_of(const Reader *r, const char *at)
{
	const int col = (int)(at - r->line) + 1;
	return (Loc){ .file = r->file, .line = r->number, .col = col };
}

/* About what stands at `at`. */
__attribute__((format(printf, 3, 4)))
static void complain(Reader *r, const char *at, const char *fmt, ...)
{
	TextFile text;
	va_list args;
	text_open(&text);
	va_start(args, fmt);
	vfprintf(text.f, fmt, args);
	va_end(args);
	diag_error(r->s->graph->diag, place_of(r, at), "%s", text_take(&text, r->s->arena));
}

/* A word up to a blank; "" at a remark or the end. */
static const char *next_word(Reader *r)
{
	r->at += strspn(r->at, " \t\r");
	const size_t n = r->at < r->end && !strchr(";#", *r->at) ? strcspn(r->at, " \t\r\n;") : 0;
	const char *word = arena_strndup(r->s->arena, r->at, n);
	r->at += n;
	return word;
}

static void did_you_mean(const Reader *r, const char *word, const char *const *all, size_t n)
{
	const char *near = diag_nearest(word, all, n);
	if (near)
		diag_note(r->s->graph->diag, (Loc){ 0 }, "did you mean '%s'?", near);
}

static void read_header(Reader *r)
{
	const char *at = r->at, *word = next_word(r);
	if (strcmp(word, "ttnn_plan") != 0) {
		complain(r, at, "no plan for ttnn: its first line begins with 'ttnn_plan'");
		return;
	}
	r->at += strspn(r->at, " \t");
	if (!name_read(r->s->arena, &r->at, r->end))
		complain(r, r->at, "the name of the network is missing");
	for (at = r->at; *(word = next_word(r)); at = r->at) {
		if (strncmp(word, "target=", 7) == 0 && strcmp(word + 7, r->s->t->name) != 0)
			diag_warning(r->s->graph->diag, place_of(r, at), "the plan was made for "
				     "target %s, this is %s", word + 7, r->s->t->name);
		else if (strncmp(word, "l1_small=", 9) == 0 && strspn(word + 9, "0123456789") < 9)
			*r->l1_small = atoll(word + 9);
		else if (strncmp(word, "target=", 7) != 0)
			complain(r, at, "'%s' is neither target= nor l1_small=", word);
	}
}

static int find_op(Reader *r, const char *at, const char *name)
{
	const char **names = arena_array(r->s->arena, const char *, r->s->n);
	for (int i = 0; i < r->s->n; i++) {
		names[i] = r->s->nodes[i].op->name;
		if (strcmp(names[i], name) == 0)
			return i;
	}
	complain(r, at, "there is no op '%s'", name);
	did_you_mean(r, name, names, (size_t)r->s->n);
	return -1;
}

static int find_field(Reader *r, const char *at, const char *name, const Op *op)
{
	const char *names[TTNN_FIELDS];
	int n = 0;
	for (int f = 0; f < TTNN_FIELDS; f++) {
		if (!ttnn_has(op->kind, f))
			continue;
		names[n++] = ttnn_field_info[f].name;
		if (strcmp(name, names[n - 1]) == 0)
			return f;
	}
	complain(r, at, "%s %s has no field '%s'", op_info[op->kind].name,
		   op->name, name);
	did_you_mean(r, name, names, (size_t)n);
	return -1;
}

static const char *words_of(const Reader *r, TtnnField f)
{
	const TtnnFieldInfo *info = &ttnn_field_info[f];
	const char *list = info->words ? info->words[0] : "a number";
	for (int i = 1; i < info->nwords; i++)
		list = arena_printf(r->s->arena, "%s|%s", list, info->words[i]);
	return list;
}

/* field=value, with ! if it has to hold. */
static void read_field(Reader *r, const char *at, char *word, int op)
{
	char *value = strchr(word, '=');
	if (!value) {
		complain(r, at, "'%s' is no FIELD=VALUE", word);
		return;
	}
	*value++ = '\0';
	const int f = find_field(r, at, word, r->s->nodes[op].op);
	const size_t n = strlen(value);
	const bool holds = n && value[n - 1] == '!';
	TtnnPin *p = &r->pins[op];
	if (holds)
		value[n - 1] = '\0';
	if (f < 0)
		return;
	int v;
	if (!ttnn_read(f, value, &v))
		complain(r, at, "%s is %s, not '%s'", word, words_of(r, f),
			   value);
	else if (f == TTNN_ABH && v % TTNN_SIDE)
		complain(r, at, "%s is a multiple of 32, not %d", word, v);
	else if (holds || r->whole) {
		p->fixed |= 1u << f;
		p->value.v[f] = v;
		p->at = (Loc){ .file = r->file, .line = r->number };
	}
}

static void read_op(Reader *r)
{
	r->at += strspn(r->at, " \t");
	const char *at = r->at, *name = name_read(r->s->arena, &r->at, r->end);
	const int op = name ? find_op(r, at, name) : -1;
	if (!name)
		complain(r, at, "the name of an op is missing");
	if (op < 0)
		return;
	const char *const ours = ttnn_op_info(r->s->nodes[op].op->kind)->name;
	for (at = r->at;; at = r->at) {
		char *word = (char *)(uintptr_t)next_word(r);
		if (!*word)
			return;
		if (strchr(word, '='))
			read_field(r, at + strspn(at, " \t"), word, op);
		else if (strcmp(word, ours) != 0)
			complain(r, at + strspn(at, " \t"), "%s is a %s, not a %s", name,
				   ours, word);
	}
}

static void read_lines(Reader *r, const char *text, const char *end)
{
	for (const char *next; text < end; text = next) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		next = stop ? stop + 1 : end;
		r->number++;
		r->line = r->at = arena_strndup(r->s->arena, text,
						(size_t)((stop ? stop : end) - text));
		r->end = r->line + strlen(r->line);
		const char *at = r->line + strspn(r->line, " \t\r");
		if (!*at || *at == '#' || *at == ';')
			continue;
		if (r->header) {
			read_header(r);
			r->header = false;
		} else if (strcmp(next_word(r), "op") == 0) {
			read_op(r);
		} else {
			complain(r, at, "a line begins with 'op'");
		}
	}
}

TtnnPin *ttnn_pins(const TtnnSearch *s, const TtnnRequest *q, int64_t *l1_small)
{
	const int errors = s->graph->diag->errors;
	TtnnPin *pins = arena_array(s->arena, TtnnPin, s->n + 1);
	Reader r = { .s = s, .file = q->file, .whole = q->whole, .header = true, .pins = pins,
		     .l1_small = l1_small };
	if (q->text)
		read_lines(&r, q->text, q->text + q->size);
	Reader line = { .s = s, .file = "--pin", .whole = true, .pins = pins, .l1_small = l1_small };
	if (q->pins)
		read_lines(&line, q->pins, q->pins + strlen(q->pins));
	return s->graph->diag->errors == errors ? pins : NULL;
}
