/*
 * The device library as the compiler knows it: the rows of routines.def and
 * params.def.
 */
#ifndef BACKEND_ROUTINES_H
#define BACKEND_ROUTINES_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/device/map.h"

/* One word of a structure, or several. */
typedef struct ParamField {
	const char *name, *what;
	int word, count; /* where it starts, how many words it has */
	uint32_t least, most;
} ParamField;

typedef struct ParamStruct {
	const char *name;
	int words, nfields;
	const ParamField *fields; /* in order */
} ParamStruct;

/* A constant argument: bit v of `allowed` says that it may be v. */
typedef struct RoutineArg {
	const char *name, *what;
	uint32_t allowed;
} RoutineArg;

/* Pages that go through a circular buffer in one op: both numbers stand in
 * fields of the op's parameters. */
typedef struct RoutineFlow {
	bool produces;
	int cb_word, pages_word;
} RoutineFlow;

typedef struct Routine {
	const char *name, *what;
	uint32_t riscs; /* 1 << TtRisc: where it may run */
	bool act;       /* an activation: another routine calls it */
	int act_uses;   /* words of the parameter `act` it is told something by */
	int params;     /* its structure */
	const RoutineArg *args;   /* up to one without a name */
	const RoutineFlow *flows; /* up to one with cb_word < 0 */
} Routine;

extern const char *const risc_spellings[TT_RISCS];

/* NULL past the last. */
const ParamStruct *params_at(int i);
const Routine *routine_at(int i);

/* -1 if there is none of that name. */
int params_find(const char *name);
int routine_find(const char *name);

int routine_nargs(const Routine *r);

/* The field a word belongs to. */
const ParamField *params_field_of(const ParamStruct *s, int word);

/* NULL if there is none of that name. */
const ParamField *params_field(const ParamStruct *s, const char *name);

#endif
