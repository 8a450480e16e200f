#include <limits.h>
#include <string.h>

#include "backend/program_lex.h"
#include "backend/program_text.h"
#include "backend/routines.h"

enum { NAMES_MOST = 4096 };

/* Names to choose from, for did-you-mean. */
typedef struct Names {
	size_t n;
	const char **v;
} Names;

static Names names_new(Lexer *l)
{
	return (Names){ 0, arena_array(l->a, const char *, NAMES_MOST) };
}

static void names_add(Names *names, const char *name)
{
	if (names->n < NAMES_MOST)
		names->v[names->n++] = name;
}

static bool unknown(Lexer *l, Token t, const char *what, Names names)
{
	return lex_unknown(l, t, what, names.v, names.n);
}

static int parse_routine(Lexer *l)
{
	const Token t = l->token;
	const int row = routine_find(lex_word(l, "a routine"));
	if (row < 0 && !l->failed) {
		Names names = names_new(l);
		for (int i = 0; routine_at(i); i++)
			names_add(&names, routine_at(i)->name);
		unknown(l, t, "routine", names);
	}
	return row;
}

static bool parse_arg(Lexer *l, const Routine *r, uint32_t *args, bool *seen)
{
	const Token t = l->token;
	const char *name = lex_word(l, "an argument");
	for (int i = 0; r->args[i].name; i++) {
		if (strcmp(r->args[i].name, name) != 0)
			continue;
		if (seen[i])
			return lex_error(l, t.loc, "'%s' is given twice", name);
		seen[i] = true;
		lex_expect(l, "=");
		args[i] = (uint32_t)lex_number(l, UINT32_MAX);
		return !l->failed;
	}
	if (l->failed)
		return false;
	Names names = names_new(l);
	for (int i = 0; r->args[i].name; i++)
		names_add(&names, r->args[i].name);
	return unknown(l, t, arena_printf(l->a, "argument of %s", r->name), names);
}

static int find_variant(const Program *p, const char *name)
{
	for (int i = 0; i < p->nvariants; i++)
		if (strcmp(p->variants[i].name, name) == 0)
			return i;
	return -1;
}

static void parse_variant(Lexer *l, Program *p)
{
	const Loc loc = l->token.loc;
	const char *name = lex_word(l, "the name of a variant");
	if (!l->failed && find_variant(p, name) >= 0)
		lex_error(l, loc, "there is a variant '%s' already", name);
	lex_expect(l, "=");
	const int row = parse_routine(l);
	if (l->failed)
		return;
	const Routine *r = routine_at(row);
	bool *seen = arena_array(l->a, bool, routine_nargs(r) + 1);
	ProgramVariant *v = program_add_variant(p, name, row);
	v->loc = loc;
	lex_expect(l, "{");
	while (!l->failed && !lex_at(l, "}") && parse_arg(l, r, v->args, seen) && lex_take(l, ","))
		;
	const Loc end = l->token.loc;
	lex_expect(l, "}");
	for (int i = 0; r->args[i].name; i++)
		if (!seen[i])
			lex_error(l, end, "'%s' of %s is missing", r->args[i].name, r->name);
}

/* An op has a list for each core there is when it is made. */
static void parse_cores(Lexer *l, Program *p)
{
	if (p->nops)
		lex_error(l, l->token.loc, "cores come before the first op");
	while (lex_take(l, "(")) {
		const int col = (int)lex_number(l, INT_MAX);
		lex_expect(l, ",");
		program_core(p, col, (int)lex_number(l, INT_MAX));
		lex_expect(l, ")");
	}
}

static void parse_buffer(Lexer *l, Program *p)
{
	const Loc loc = l->token.loc;
	ProgramBuffer *b = program_buffer(p, lex_string(l, "the name of a buffer"));
	b->loc = loc;
	b->place = PLACE_DRAM;
	if (!lex_take(l, "dram")) {
		b->place = PLACE_L1;
		lex_expect(l, "l1");
	}
	if (lex_take(l, "bank"))
		b->bank = (int)lex_number(l, INT_MAX);
	b->address = lex_named(l, "at", INT64_MAX);
	b->bytes = lex_named(l, "bytes", INT64_MAX);
	b->first = (int)lex_named(l, "life", INT_MAX);
	lex_expect(l, "..");
	b->last = (int)lex_number(l, INT_MAX);
	if (lex_take(l, "core"))
		b->core = (int)lex_number(l, INT_MAX);
}

static void parse_semaphore(Lexer *l, Program *p)
{
	const Loc loc = l->token.loc;
	ProgramSemaphore *s = program_semaphore(p, lex_string(l, "the name of a semaphore"));
	s->loc = loc;
	s->id = (int)lex_named(l, "id", INT_MAX);
	s->value = (uint32_t)lex_named(l, "value", UINT32_MAX);
}

static int nibble(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
	return at ? (int)(at - digits) : -1;
}

static void parse_data(Lexer *l, ProgramImage *m)
{
	const Loc loc = l->token.loc;
	const char *hex = lex_string(l, "data in hex");
	const size_t n = strlen(hex);
	uint8_t *data = arena_alloc(l->a, n / 2 + 1);
	bool good = n == 2 * m->bytes;
	for (size_t i = 0; i < n / 2; i++) {
		const int high = nibble(hex[2 * i]), low = nibble(hex[2 * i + 1]);
		good &= high >= 0 && low >= 0;
		data[i] = (uint8_t)(high * 16 + low);
	}
	if (!good)
		lex_error(l, loc, "data are two hex digits for each of %llu bytes",
			  (unsigned long long)m->bytes);
	else if (program_hash(data, m->bytes) != m->hash)
		lex_error(l, loc, "the data of '%s' do not have its hash", m->name);
	m->data = data;
}

static void parse_image(Lexer *l, Program *p)
{
	const Loc loc = l->token.loc;
	ProgramImage *m = program_image(p, lex_string(l, "the name of an image"), NULL, 0);
	m->loc = loc;
	m->bank = (int)lex_named(l, "bank", INT_MAX);
	if (lex_take(l, "page"))
		m->page_bytes = (uint32_t)lex_number(l, UINT32_MAX);
	m->address = lex_named(l, "at", INT64_MAX);
	m->bytes = lex_named(l, "bytes", INT64_MAX);
	m->hash = lex_named(l, "hash", UINT64_MAX);
	if (lex_take(l, "data"))
		parse_data(l, m);
}

/* "[1,2,3]", up to MAX_RANK of them. */
static int parse_dims(Lexer *l, int64_t dims[MAX_RANK])
{
	int n = 0;
	lex_expect(l, "[");
	while (!l->failed && !lex_at(l, "]")) {
		if (n == MAX_RANK)
			lex_error(l, l->token.loc, "more than %d dims", (int)MAX_RANK);
		else
			dims[n++] = lex_signed(l);
		if (!lex_take(l, ","))
			break;
	}
	lex_expect(l, "]");
	return n;
}

static void parse_part(Lexer *l, Program *p, ProgramEdge *e)
{
	ProgramPart *part = program_part(p, e, (Shape){ 0 });
	int64_t dims[MAX_RANK] = { 0 };
	part->shape.rank = parse_dims(l, part->shape.dim);
	lex_expect(l, "of");
	part->tensor.stored = lex_take(l, "f32") ? TT_HOST_F32 : TT_HOST_BF16;
	const Loc loc = l->token.loc;
	if (parse_dims(l, dims) != 4)
		lex_error(l, loc, "a tensor on the device has 4 dims");
	memcpy(part->tensor.shape, dims, sizeof part->tensor.shape);
	part->tensor.base = lex_named(l, "base", INT64_MAX);
	part->tensor.page_bytes = (uint32_t)lex_named(l, "page", UINT32_MAX);
	part->tensor.slot_bytes = lex_named(l, "slot", INT64_MAX);
	if (!lex_take(l, "view"))
		return;
	part->view.offset = lex_signed(l);
	part->view.rank = parse_dims(l, part->view.dims);
	const Loc strides = l->token.loc;
	if (parse_dims(l, part->view.strides) != part->view.rank)
		lex_error(l, strides, "a view has as many strides as dims");
}

static void parse_edge(Lexer *l, Program *p, bool input)
{
	const Loc loc = l->token.loc;
	const char *name = lex_string(l, "the name of a tensor");
	const Token t = l->token;
	const DType dtype = type_by_name(lex_word(l, "a type"));
	Shape shape = { 0 };
	if (dtype == TYPE_NONE && !l->failed) {
		Names names = names_new(l);
		for (int i = TYPE_NONE + 1; i < TYPE_COUNT; i++)
			names_add(&names, type_info[i].name);
		unknown(l, t, "type", names);
	}
	shape.rank = parse_dims(l, shape.dim);
	ProgramEdge *e = input ? program_input(p, name, dtype, shape)
			       : program_output(p, name, dtype, shape);
	e->loc = loc;
	e->axis = (int)lex_named(l, "axis", MAX_RANK);
	while (lex_take(l, "part"))
		parse_part(l, p, e);
}

static void parse_head(Lexer *l, Program *p)
{
	lex_expect(l, "program");
	p->name = lex_string(l, "the name of the program");
	lex_expect(l, "target");
	p->target = l->token.kind == TOKEN_STRING ? lex_string(l, "a target")
						  : lex_word(l, "a target");
	p->dram_free = lex_named(l, "dram_free", INT64_MAX);
}

Program *program_parse(Arena *a, Diag *d, const char *file, const char *text, size_t size)
{
	static const char *const words[] = { "plan", "cores", "variant", "buffer", "semaphore",
					     "image", "input", "output", "op" };
	Lexer l;
	diag_add_source(d, file, text, size);
	lex_init(&l, a, d, file, text, size);
	Program *p = program_create(a, "", "");
	parse_head(&l, p);
	while (!l.failed && l.token.kind != TOKEN_END) {
		const Token t = l.token;
		if (lex_take(&l, "plan"))
			p->plan = lex_string(&l, "the text of a plan");
		else if (lex_take(&l, "cores"))
			parse_cores(&l, p);
		else if (lex_take(&l, "variant"))
			parse_variant(&l, p);
		else if (lex_take(&l, "buffer"))
			parse_buffer(&l, p);
		else if (lex_take(&l, "semaphore"))
			parse_semaphore(&l, p);
		else if (lex_take(&l, "image"))
			parse_image(&l, p);
		else if (lex_at(&l, "input") || lex_at(&l, "output"))
			(lex_next(&l), parse_edge(&l, p, strcmp(t.text, "input") == 0));
		else if (lex_take(&l, "op"))
			program_parse_op(&l, p, t.loc);
		else if (t.kind == TOKEN_WORD)
			lex_unknown(&l, t, "line", words, sizeof words / sizeof *words);
		else
			lex_expect(&l, "op");
	}
	return l.failed ? NULL : p;
}
