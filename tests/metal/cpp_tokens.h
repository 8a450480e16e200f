/*
 * C++ headers as tokens, for a test that compares declarations: comments and
 * directives are left out, text in quotes is one token, so are :: -> <=> and ... .
 *
 * Conditions are those of a kernel or a host program for Wormhole: what stands under
 * names of other chips is left out, of everything else both sides are taken. Macros
 * are kept beside: NAME and what follows.
 */
#ifndef TESTS_METAL_CPP_TOKENS_H
#define TESTS_METAL_CPP_TOKENS_H

#include "ir/arena.h"

typedef struct CppMacro {
	const char *name, *value;
} CppMacro;

typedef struct CppTokens {
	const char **text;
	int n;
	CppMacro *macros;
	int nmacros;
} CppTokens;

/* Adds those of one file. */
void cpp_tokens(CppTokens *to, Arena *a, const char *source);

#endif
