#include <limits.h>
#include <string.h>

#include "backend/program_lex.h"
#include "backend/routines.h"

static int parse_params(Lexer *l)
{
	const Token t = l->token;
	const int found = params_find(lex_word(l, "parameters"));
	if (found < 0 && !l->failed) {
		const char *names[64];
		size_t n = 0;
		for (int i = 0; params_at(i) && n < sizeof names / sizeof *names; i++)
			names[n++] = params_at(i)->name;
		lex_unknown(l, t, "structure", names, n);
	}
	return found;
}

static const ParamField *parse_field(Lexer *l, const ParamStruct *s)
{
	const Token t = l->token;
	const ParamField *field = params_field(s, lex_word(l, "a field"));
	if (!field && !l->failed) {
		const char **names = arena_array(l->a, const char *, s->nfields);
		for (int i = 0; i < s->nfields; i++)
			names[i] = s->fields[i].name;
		lex_unknown(l, t, arena_printf(l->a, "field of %s", s->name), names,
			    (size_t)s->nfields);
	}
	return field;
}

/* "= 5" or "= [1, 2]" */
static void parse_all_value(Lexer *l, const ParamField *field, uint32_t *words)
{
	int n = 0;
	lex_expect(l, "=");
	if (field->count == 1) {
		words[field->word] = (uint32_t)lex_number(l, UINT32_MAX);
		return;
	}
	lex_expect(l, "[");
	while (!l->failed && !lex_at(l, "]")) {
		if (n == field->count)
			lex_error(l, l->token.loc, "'%s' has %d elements", field->name, field->count);
		else
			words[field->word + n++] = (uint32_t)lex_number(l, UINT32_MAX);
		if (!lex_take(l, ","))
			break;
	}
	lex_expect(l, "]");
}

/* The fields of all cores, or those that differ on one (core >= 0). */
static void parse_values(Lexer *l, Program *p, ProgramOp *op, int core)
{
	if (op->params < 0) {
		lex_error(l, l->token.loc, "op '%s' has no parameters", op->name);
		return;
	}
	const ParamStruct *s = params_at(op->params);
	lex_expect(l, "{");
	while (!l->failed && !lex_at(l, "}")) {
		const ParamField *field = parse_field(l, s);
		if (!field)
			return;
		if (core < 0) {
			parse_all_value(l, field, op->words);
		} else {
			int index = 0;
			if (field->count > 1) {
				lex_expect(l, "[");
				index = (int)lex_number(l, (uint64_t)field->count - 1);
				lex_expect(l, "]");
			}
			lex_expect(l, "=");
			program_set_core(p, op, core, field->name, index,
					 (uint32_t)lex_number(l, UINT32_MAX));
		}
		if (!lex_take(l, ","))
			break;
	}
	lex_expect(l, "}");
}

static int parse_variant_name(Lexer *l, const Program *p)
{
	const Token t = l->token;
	if (lex_take(l, "none"))
		return VARIANT_NONE;
	const char *name = lex_word(l, "a variant");
	const char **names = arena_array(l->a, const char *, p->nvariants + 1);
	for (int i = 0; i < p->nvariants; i++) {
		if (strcmp(p->variants[i].name, name) == 0)
			return i;
		names[i] = p->variants[i].name;
	}
	lex_unknown(l, t, "variant", names, (size_t)p->nvariants);
	return VARIANT_NONE;
}

/* "trisc0 conv_a", if that is what stands here. */
static bool parse_run(Lexer *l, const Program *p, int variant[TT_RISCS])
{
	for (int r = 0; r < TT_RISCS; r++)
		if (lex_take(l, risc_spellings[r])) {
			variant[r] = parse_variant_name(l, p);
			return true;
		}
	return false;
}

static void parse_cb(Lexer *l, Program *p, ProgramOp *op, Loc loc)
{
	ProgramCb *cb = program_cb(p, op, (int)lex_number(l, INT_MAX));
	cb->loc = loc;
	cb->address = (uint32_t)lex_named(l, "at", UINT32_MAX);
	cb->page_bytes = (uint32_t)lex_named(l, "page", UINT32_MAX);
	cb->pages = (uint32_t)lex_named(l, "pages", UINT32_MAX);
}

static void parse_push(Lexer *l, Program *p, ProgramOp *op, int core, Loc loc)
{
	ProgramPush x = { .loc = loc, .core = (int)lex_named(l, "core", INT_MAX) };
	x.from = (uint32_t)lex_named(l, "from", UINT32_MAX);
	x.to = (uint32_t)lex_named(l, "to", UINT32_MAX);
	x.bytes = (uint32_t)lex_named(l, "bytes", UINT32_MAX);
	x.count = (uint32_t)lex_named(l, "count", UINT32_MAX);
	x.from_step = (uint32_t)lex_named(l, "step", UINT32_MAX);
	x.to_step = (uint32_t)lex_number(l, UINT32_MAX);
	program_push(p, op, core, x);
}

static void parse_zero(Lexer *l, Program *p, ProgramOp *op, int core, Loc loc)
{
	ProgramZero z = { .loc = loc, .at = (uint32_t)lex_named(l, "at", UINT32_MAX) };
	z.bytes = (uint32_t)lex_named(l, "bytes", UINT32_MAX);
	z.count = (uint32_t)lex_named(l, "count", UINT32_MAX);
	z.step = (uint32_t)lex_named(l, "step", UINT32_MAX);
	z.planes = (uint32_t)lex_named(l, "planes", UINT32_MAX);
	z.plane_step = (uint32_t)lex_named(l, "step", UINT32_MAX);
	program_zero(p, op, core, z);
}

static TtMoveWhen parse_when(Lexer *l)
{
	const Token t = l->token;
	const char *name = lex_word(l, "a time");
	for (int i = 0; i < TT_MOVE_TIMES; i++)
		if (strcmp(move_spellings[i], name) == 0)
			return (TtMoveWhen)i;
	lex_unknown(l, t, "time of a move", move_spellings, TT_MOVE_TIMES);
	return TT_MOVE_BEFORE;
}

static void parse_move(Lexer *l, Program *p, ProgramOp *op, int core, Loc loc)
{
	ProgramMove m = { .loc = loc, .out = lex_take(l, "out") };
	if (!m.out)
		lex_expect(l, "in");
	m.when = parse_when(l);
	m.bank = (int)lex_named(l, "bank", INT_MAX);
	m.at = (uint32_t)lex_named(l, "at", UINT32_MAX);
	m.page_bytes = (uint32_t)lex_named(l, "page", UINT32_MAX);
	m.slot_bytes = (uint32_t)lex_named(l, "slot", UINT32_MAX);
	m.l1 = (uint32_t)lex_named(l, "l1", UINT32_MAX);
	m.bytes = (uint32_t)lex_named(l, "bytes", UINT32_MAX);
	m.count = (uint32_t)lex_named(l, "count", UINT32_MAX);
	m.step = (uint32_t)lex_named(l, "step", UINT32_MAX);
	program_move(p, op, core, m);
}

static void parse_core(Lexer *l, Program *p, ProgramOp *op, Loc loc)
{
	const Loc at = l->token.loc;
	const int core = (int)lex_number(l, INT_MAX);
	if (core >= p->ncores)
		lex_error(l, at, "core %d is not one of %d", core, p->ncores);
	if (l->failed)
		return;
	op->cores[core].loc = loc;
	if (lex_at(l, "{"))
		parse_values(l, p, op, core);
	while (!l->failed) {
		const Loc here = l->token.loc;
		if (parse_run(l, p, op->cores[core].variant))
			continue;
		if (lex_take(l, "arrival")) {
			ProgramArrival x = { .loc = here, .core = (int)lex_named(l, "core", INT_MAX) };
			x.op = (int)lex_named(l, "op", INT_MAX);
			program_arrival(p, op, core, x);
		} else if (lex_take(l, "push")) {
			parse_push(l, p, op, core, here);
		} else if (lex_take(l, "zero")) {
			parse_zero(l, p, op, core, here);
		} else if (lex_take(l, "move")) {
			parse_move(l, p, op, core, here);
		} else {
			break;
		}
	}
}

void program_parse_op(Lexer *l, Program *p, Loc loc)
{
	const Loc at = l->token.loc;
	const int index = (int)lex_number(l, INT_MAX);
	const char *name = lex_string(l, "the name of an op"), *kind = NULL;
	int params = -1;
	if (index != p->nops)
		lex_error(l, at, "this is op %d, not %d", p->nops, index);
	if (lex_expect(l, "kind"))
		kind = lex_string(l, "the kind of the op");
	if (lex_take(l, "params"))
		params = parse_params(l);
	if (l->failed)
		return;
	ProgramOp *op = program_op(p, name, kind, params < 0 ? NULL : params_at(params)->name);
	op->loc = loc;
	if (lex_take(l, "absorbed"))
		while (l->token.kind == TOKEN_STRING)
			program_absorbed(p, op, lex_string(l, "a name"));
	if (lex_take(l, "source"))
		op->source = lex_string(l, "where the model has the op");
	while (!l->failed) {
		const Loc here = l->token.loc;
		if (parse_run(l, p, op->variant))
			continue;
		if (lex_take(l, "act"))
			op->act = parse_variant_name(l, p);
		else if (lex_take(l, "early"))
			op->early = true;
		else if (lex_take(l, "cb"))
			parse_cb(l, p, op, here);
		else if (lex_take(l, "all"))
			parse_values(l, p, op, -1);
		else if (lex_take(l, "core"))
			parse_core(l, p, op, here);
		else
			break;
	}
}
