#include "backend/program_lex.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { TOKEN_LONGEST = 60 }; /* shown in an error */

void lex_init(Lexer *l, Arena *a, Diag *d, const char *file, const char *text, size_t size)
{
	*l = (Lexer){ .a = a, .d = d, .file = file, .p = text, .end = text + size,
		      .line = 1, .col = 1 };
	lex_next(l);
}

bool lex_error(Lexer *l, Loc at, const char *fmt, ...)
{
	char text[512];
	va_list ap;
	if (l->failed)
		return false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_error(l->d, at, "%s", text);
	l->failed = true;
	l->token.kind = TOKEN_END;
	l->p = l->end;
	return false;
}

bool lex_unknown(Lexer *l, Token token, const char *what, const char *const names[], size_t n)
{
	if (l->failed)
		return false;
	const char *near = diag_nearest(token.text, names, n);
	lex_error(l, token.loc, "there is no %s '%.*s'", what, TOKEN_LONGEST, token.text);
	if (near)
		diag_note(l->d, token.loc, "did you mean '%s'?", near);
	return false;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool lex_is_word(const char *s)
{
	if (!is_letter(*s))
		return false;
	while (is_letter(*s) || is_digit(*s))
		s++;
	return !*s;
}

static int hex_value(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void step(Lexer *l)
{
	if (*l->p++ == '\n') {
		l->line++;
		l->col = 1;
	} else {
		l->col++;
	}
}

static void skip_space(Lexer *l)
{
	while (l->p < l->end && (*l->p == ' ' || *l->p == '\t' || *l->p == '\n' || *l->p == '\r'))
		step(l);
}

static void read_number(Lexer *l)
{
	Token *t = &l->token;
	uint64_t base = 10;
	t->kind = TOKEN_NUMBER;
	t->minus = *l->p == '-';
	if (t->minus)
		step(l);
	if (l->end - l->p > 2 && l->p[0] == '0' && l->p[1] == 'x' && hex_value(l->p[2]) >= 0) {
		base = 16;
		step(l);
		step(l);
	} else if (l->p == l->end || !is_digit(*l->p)) {
		lex_error(l, t->loc, "a '-' without a number");
		return;
	}
	while (l->p < l->end) {
		const int digit = hex_value(*l->p);
		if (digit < 0 || digit >= (int)base)
			break;
		if (t->number > (UINT64_MAX - (uint64_t)digit) / base) {
			lex_error(l, t->loc, "the number is too large");
			return;
		}
		t->number = t->number * base + (uint64_t)digit;
		step(l);
	}
}

/* The character behind a backslash; 0 if that is wrong. */
static char escaped(Lexer *l)
{
	const char c = l->p < l->end ? *l->p : '\0';
	if (c == '"' || c == '\\')
		return c;
	if (c == 'n')
		return '\n';
	if (c != 'x' || l->end - l->p < 3 || hex_value(l->p[1]) < 0 || hex_value(l->p[2]) < 0)
		return '\0';
	const char value = (char)(hex_value(l->p[1]) << 4 | hex_value(l->p[2]));
	step(l);
	step(l);
	return value;
}

static void read_string(Lexer *l)
{
	Token *t = &l->token;
	const char *from = l->p + 1, *close = from;
	while (close < l->end && *close != '"')
		close += *close == '\\' && l->end - close > 1 ? 2 : 1;
	if (close >= l->end) {
		lex_error(l, t->loc, "the string does not end");
		return;
	}
	char *to = arena_alloc(l->a, (size_t)(close - from) + 1);
	t->kind = TOKEN_STRING;
	t->text = to;
	for (step(l); l->p < close; step(l)) {
		const Loc here = { .file = l->file, .line = l->line, .col = l->col };
		char c = *l->p;
		if (c == '\\') {
			step(l);
			c = escaped(l);
		}
		if (!c) {
			lex_error(l, here, "an escape is \\\", \\\\, \\n or \\x and two digits, and no zero");
			return;
		}
		*to++ = c;
	}
	step(l);
}

void lex_next(Lexer *l)
{
	if (l->failed)
		return;
	skip_space(l);
	l->token = (Token){ .loc = { .file = l->file, .line = l->line, .col = l->col } };
	if (l->p == l->end)
		return;
	const char *from = l->p;
	if (is_digit(*from) || *from == '-') {
		read_number(l);
	} else if (*from == '"') {
		read_string(l);
	} else if (is_letter(*from)) {
		while (l->p < l->end && (is_letter(*l->p) || is_digit(*l->p)))
			step(l);
		l->token.kind = TOKEN_WORD;
		l->token.text = arena_strndup(l->a, from, (size_t)(l->p - from));
	} else if (strchr("(),={}[].", *from) && *from) {
		step(l);
		if (*from == '.' && l->p < l->end && *l->p == '.')
			step(l);
		l->token.kind = TOKEN_MARK;
		l->token.text = arena_strndup(l->a, from, (size_t)(l->p - from));
	} else {
		lex_error(l, l->token.loc, "character 0x%02x has no place here", (unsigned char)*from);
	}
}

bool lex_at(const Lexer *l, const char *text)
{
	return (l->token.kind == TOKEN_WORD || l->token.kind == TOKEN_MARK)
		&& strcmp(l->token.text, text) == 0;
}

bool lex_take(Lexer *l, const char *text)
{
	if (!lex_at(l, text))
		return false;
	lex_next(l);
	return true;
}

static bool misplaced(Lexer *l, const char *wanted)
{
	const Token *t = &l->token;
	switch (t->kind) {
	case TOKEN_END: return lex_error(l, t->loc, "%s is missing at the end", wanted);
	case TOKEN_NUMBER:
		return lex_error(l, t->loc, "%s%" PRIu64 " stands where %s should", t->minus ? "-" : "",
				 t->number, wanted);
	case TOKEN_STRING:
		return lex_error(l, t->loc, "a string stands where %s should", wanted);
	case TOKEN_WORD:
	case TOKEN_MARK: break;
	}
	return lex_error(l, t->loc, "'%.*s' stands where %s should", TOKEN_LONGEST, t->text, wanted);
}

bool lex_expect(Lexer *l, const char *text)
{
	if (lex_take(l, text))
		return true;
	return misplaced(l, arena_printf(l->a, "'%s'", text));
}

const char *lex_word(Lexer *l, const char *what)
{
	const char *text = l->token.text;
	if (l->token.kind != TOKEN_WORD)
		misplaced(l, what);
	else
		lex_next(l);
	return l->failed ? "" : text;
}

const char *lex_string(Lexer *l, const char *what)
{
	const char *text = l->token.text;
	if (l->token.kind != TOKEN_STRING)
		misplaced(l, what);
	else
		lex_next(l);
	return l->failed ? "" : text;
}

uint64_t lex_number(Lexer *l, uint64_t most)
{
	const Token t = l->token;
	if (t.kind != TOKEN_NUMBER)
		misplaced(l, "a number");
	else if (t.minus || t.number > most)
		lex_error(l, t.loc, "%s%" PRIu64 " is not in 0..%" PRIu64, t.minus ? "-" : "", t.number,
			  most);
	else
		lex_next(l);
	return l->failed ? 0 : t.number;
}

int64_t lex_signed(Lexer *l)
{
	const bool minus = l->token.kind == TOKEN_NUMBER && l->token.minus;
	l->token.minus = false;
	const int64_t magnitude = (int64_t)lex_number(l, INT64_MAX);
	return minus ? -magnitude : magnitude;
}

uint64_t lex_named(Lexer *l, const char *word, uint64_t most)
{
	return lex_expect(l, word) ? lex_number(l, most) : 0;
}
