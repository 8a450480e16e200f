/*
 * What passes/explain.h and explain_none.h find, for people (cmd_explain.c) and for
 * programs (cmd_explain_json.c: cycles and bytes, nothing rounded).
 */
#ifndef FRONTEND_CMD_EXPLAIN_H
#define FRONTEND_CMD_EXPLAIN_H

#include "frontend/cmd_request.h"
#include "passes/explain.h"
#include "passes/explain_none.h"

void explain_print(FILE *f, const Explained *e);
void explain_print_none(FILE *f, const ExplainedNone *e);

void explain_json(FILE *f, const Explained *e);
void explain_json_none(FILE *f, const ExplainedNone *e);

/* Where most of the step's time goes; would more L1 make the plan faster? */
CauseId explain_cause(const Explained *e);
bool explain_binds(const Explained *e);

#endif
