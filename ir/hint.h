/*
 * The plan choices a model file may pin (the rows of hints.def).
 */
#ifndef IR_HINT_H
#define IR_HINT_H

#include "ir/diag.h"
#include "ir/graph.h"

/* Adds a hint to `op`. An unknown key, a value of the wrong form or a second
 * hint with the same key is reported at `at`. */
void op_add_hint(Graph *g, Op *op, Loc at, const char *key, const char *value);

/* The value of a hint, or NULL. */
const char *op_hint(const Op *op, const char *key);

/* Does the op have such a hint, with this value? */
bool op_asks(const Op *op, const char *key, const char *value);

/* For `tessera ops`: key, form and meaning of row i; false past the last. */
bool hint_row(int i, const char **key, const char **form, const char **what);

#endif
