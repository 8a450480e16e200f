/*
 * What C++ headers declare, each in one line that says no more than who calls it can
 * see: scope, and the declaration without names of parameters, bodies, attributes and
 * specifiers that do not matter.
 *
 *     tt::tt_metal | uint32_t CreateSemaphore(Program &, const std::variant<...> &, uint32_t)
 *     tt::tt_metal::BufferType | L1 = 1
 *     tt::tt_metal::ComputeConfig | bool fp32_dest_acc_en = false
 *
 * What is private or a friend is left out.
 */
#ifndef TESTS_METAL_CPP_DECLARATIONS_H
#define TESTS_METAL_CPP_DECLARATIONS_H

#include "tests/metal/cpp_tokens.h"

typedef struct CppDeclaration {
	const char *scope, *text;
	bool field; /* of a structure: their order counts */
} CppDeclaration;

typedef struct CppDeclarations {
	CppDeclaration *list; /* in the order of the text */
	int n;
} CppDeclarations;

void cpp_declarations(CppDeclarations *to, Arena *a, const CppTokens *tokens);

#endif
