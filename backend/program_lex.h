/* Words of a program's text, and the errors of whoever reads them. */
#ifndef BACKEND_PROGRAM_LEX_H
#define BACKEND_PROGRAM_LEX_H

#include <stdbool.h>
#include <stdint.h>

#include "backend/program.h"
#include "ir/arena.h"
#include "ir/diag.h"

typedef enum TokenKind { TOKEN_END, TOKEN_WORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_MARK } TokenKind;

typedef struct Token {
	TokenKind kind;
	Loc loc;
	const char *text; /* a word; a string, decoded; a mark: one character, or ".." */
	bool minus;
	uint64_t number;  /* its magnitude */
} Token;

typedef struct Lexer {
	Arena *a;
	Diag *d;
	const char *file, *p, *end;
	int line, col;
	Token token; /* the one at hand */
	bool failed; /* an error was reported: everything after it reads as the end */
} Lexer;

/* Could it stand in the text without quotes, as C's identifiers can? */
bool lex_is_word(const char *s);

void lex_init(Lexer *l, Arena *a, Diag *d, const char *file, const char *text, size_t size);
void lex_next(Lexer *l);

/* Reports, once for a text; always false. */
bool lex_error(Lexer *l, Loc at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Reports that `token` is none of the names there are, with the nearest; always
 * false. `what`: "routine". */
bool lex_unknown(Lexer *l, Token token, const char *what, const char *const names[], size_t n);

/* Is the token at hand this word or mark? */
bool lex_at(const Lexer *l, const char *text);

/* If it is, takes it. */
bool lex_take(Lexer *l, const char *text);

/* Takes it, or reports what stands there instead. */
bool lex_expect(Lexer *l, const char *text);

/* Take a value; of another kind or over `most`, 0 or "" and a report. */
const char *lex_word(Lexer *l, const char *what);
const char *lex_string(Lexer *l, const char *what);
uint64_t lex_number(Lexer *l, uint64_t most);
int64_t lex_signed(Lexer *l);

/* lex_expect of the word, then lex_number. */
uint64_t lex_named(Lexer *l, const char *word, uint64_t most);

/* program_parse_op.c: an op, from behind the word `op`, which is at `loc`. */
void program_parse_op(Lexer *l, Program *p, Loc loc);

#endif
