#include "backend/routines.h"

#include <stddef.h>
#include <string.h>

#include "runtime/device/params.h"

const char *const risc_spellings[TT_RISCS] = { "brisc", "ncrisc", "trisc0", "trisc1", "trisc2" };

#define WORD(params, name) ((int)(offsetof(struct tt_##params, name) / sizeof(uint32_t)))

/* fields_NAME of each structure. */
#define PARAMS(params) static const ParamField fields_##params[] = {
#define FIELD(params, name, least, most, what) \
	{ #name, what, WORD(params, name), 1, least, most },
#define ARRAY(params, name, count, least, most, what) \
	{ #name, what, WORD(params, name), count, least, most },
#define END(params) };
#include "runtime/device/params.def"

#define COUNT(a) ((int)(sizeof(a) / sizeof *(a)))

static const ParamStruct structs[] = {
#define PARAMS(params) \
	{ #params, (int)(sizeof(struct tt_##params) / sizeof(uint32_t)), \
	  COUNT(fields_##params), fields_##params },
#define FIELD(...)
#define ARRAY(...)
#define END(params)
#include "runtime/device/params.def"
};

enum {
#define PARAMS(params) STRUCT_##params,
#define FIELD(...)
#define ARRAY(...)
#define END(params)
#include "runtime/device/params.def"
};

/* Structure of each routine, so that a row of its own can name fields of it. */
#define ROUTINE(name, riscs, params, what) typedef struct tt_##params params_of_##name;
#define ARG(...)
#define CONSUMES(...)
#define PRODUCES(...)
#include "runtime/device/routines.def"

/* Arguments of all routines, an empty one before those of each; likewise the
 * flows. The enumerators are the places of the empty ones. */
enum {
#define ROUTINE(name, riscs, params, what) ARGS_##name,
#define ARG(name, arg, allowed, what) ARG_##name##_##arg,
#define CONSUMES(...)
#define PRODUCES(...)
#include "runtime/device/routines.def"
};

static const RoutineArg args[] = {
#define ROUTINE(name, riscs, params, what) { NULL, NULL, 0 },
#define ARG(name, arg, allowed, what) { #arg, what, allowed },
#define CONSUMES(...)
#define PRODUCES(...)
#include "runtime/device/routines.def"
	{ NULL, NULL, 0 }
};

enum {
#define ROUTINE(name, riscs, params, what) FLOWS_##name,
#define ARG(...)
#define CONSUMES(name, cb, pages) CONSUMES_##name##_##cb,
#define PRODUCES(name, cb, pages) PRODUCES_##name##_##cb,
#include "runtime/device/routines.def"
};

#define WORD_OF(name, field) ((int)(offsetof(params_of_##name, field) / sizeof(uint32_t)))

static const RoutineFlow flows[] = {
#define ROUTINE(name, riscs, params, what) { false, -1, -1 },
#define ARG(...)
#define CONSUMES(name, cb, pages) { false, WORD_OF(name, cb), WORD_OF(name, pages) },
#define PRODUCES(name, cb, pages) { true, WORD_OF(name, cb), WORD_OF(name, pages) },
#include "runtime/device/routines.def"
	{ false, -1, -1 }
};

static const Routine routines[] = {
#define ROUTINE(name, riscs, params, what) \
	{ #name, what, riscs, false, 0, STRUCT_##params, &args[ARGS_##name + 1], \
	  &flows[FLOWS_##name + 1] },
#define ACT(name, uses, what) \
	{ "act_" #name, what, 1u << TT_TRISC1, true, uses, STRUCT_tiles, &args[ARGS_act_##name + 1], \
	  &flows[FLOWS_act_##name + 1] },
#define ARG(...)
#define CONSUMES(...)
#define PRODUCES(...)
#include "runtime/device/routines.def"
};

const ParamStruct *params_at(int i)
{
	return i >= 0 && i < COUNT(structs) ? &structs[i] : NULL;
}

const Routine *routine_at(int i)
{
	return i >= 0 && i < COUNT(routines) ? &routines[i] : NULL;
}

int params_find(const char *name)
{
	for (int i = 0; i < COUNT(structs); i++)
		if (strcmp(structs[i].name, name) == 0)
			return i;
	return -1;
}

int routine_find(const char *name)
{
	for (int i = 0; i < COUNT(routines); i++)
		if (strcmp(routines[i].name, name) == 0)
			return i;
	return -1;
}

int routine_nargs(const Routine *r)
{
	int n = 0;
	while (r->args[n].name)
		n++;
	return n;
}

const ParamField *params_field_of(const ParamStruct *s, int word)
{
	for (int i = 0; i < s->nfields; i++)
		if (word < s->fields[i].word + s->fields[i].count)
			return &s->fields[i];
	return NULL;
}

const ParamField *params_field(const ParamStruct *s, const char *name)
{
	for (int i = 0; i < s->nfields; i++)
		if (strcmp(s->fields[i].name, name) == 0)
			return &s->fields[i];
	return NULL;
}
