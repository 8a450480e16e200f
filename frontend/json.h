/*
 * A strict reader of the JSON that .safetensors headers are made of: objects,
 * arrays, strings, and whole numbers, taken one piece at a time.
 *
 *     Json j = { .p = text, .end = text + size, .arena = a };
 *     json_open(&j, '{');
 *     while (json_more(&j, '}')) {
 *             const char *key = json_key(&j);
 *             ...
 *     }
 *
 * The first thing that does not fit sets `wrong` and from there on nothing is
 * taken: json_more says no, strings are "", numbers 0. Nothing recurses.
 */
#ifndef FRONTEND_JSON_H
#define FRONTEND_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/arena.h"

typedef struct Json {
	const char *p, *end;
	Arena *arena;
	const char *wrong; /* what was expected, or NULL */
	bool inside;       /* the object or array has a member before this one */
} Json;

/* Takes '{' or '['. */
void json_open(Json *j, char bracket);

/* True if a member follows, after taking the comma before it; false after
 * taking `bracket`. */
bool json_more(Json *j, char bracket);

/* A string in arena memory, without NUL inside; never a NULL pointer. */
const char *json_string(Json *j);

/* A string and the colon behind it. */
const char *json_key(Json *j);

/* A number without sign, fraction or exponent. */
uint64_t json_uint(Json *j);

/* Nothing but spaces may follow. */
void json_finish(Json *j);

/* A string as it is read: in quotes, bytes from 128 on as they are. */
void json_print_string(FILE *f, const char *s);

#endif
