/*
 * The device a model is compiled for: the rows of target.def, read from a
 * file.
 *
 *     # wormhole_n300.ini
 *     inherit = wormhole_n150
 *     grid_rows = 7
 *
 * The files of ir/targets are part of the library and known by name; any other
 * is given by its path. A file may inherit from another one, which fills in
 * what it does not say itself.
 */
#ifndef IR_TARGET_H
#define IR_TARGET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/arena.h"
#include "ir/diag.h"

typedef struct Target {
	const char *name;
#define TEXT(field, what) const char *field;
#define INT(field, unit, least, most, what) int64_t field;
#include "ir/target.def"
} Target;

/* What is compiled for if nobody says otherwise. */
#define TARGET_DEFAULT "wormhole_n150"

/* By name, or by path if there is a '/' or a '.' in it; NULL if it is wrong,
 * which is reported. */
const Target *target_load(Arena *a, Diag *d, const char *name);

/* As a target file with nothing inherited, each field with its unit and
 * meaning; reads back to the same target. */
void target_print(const Target *t, FILE *f);

/* A constant of the cost model, and where `t` has it. */
typedef struct TargetConstant {
	const char *name, *unit;
	int64_t least, most;
	bool of_ttnn; /* one of ttnn's programs, else of ours */
	int64_t *value;
} TargetConstant;

/* All of them, in the order of target.def; how many. */
int target_constants(Arena *a, Target *t, TargetConstant **all);

/* As a target file that inherits from `base`, which is built in, and says what differs. */
void target_print_heir(const Target *t, const Target *base, FILE *f);

/* The name of built-in target i, or NULL past the last. */
const char *target_name(int i);

#endif
