/*
 * Names and strings in our texts: a name of letters, digits, _ and . stands as it
 * is, any other in quotes.
 */
#ifndef IR_QUOTE_H
#define IR_QUOTE_H

#include <stdbool.h>
#include <stdio.h>

#include "ir/arena.h"

/* Of the forms that lexers take without quotes; ASCII whatever the locale. */
bool name_is_bare(const char *name);

void quote_print(FILE *f, const char *s);
void name_print(FILE *f, const char *name);

/* Reads what name_print wrote: a string in quotes, or letters, digits, _ and . as
 * many as there are. NULL if there is none or the string is wrong; else *at is
 * behind it. */
const char *name_read(Arena *a, const char **at, const char *end);

#endif
