/*
 * The rules of choice_check, one for each field: is it legal, as those before it
 * are, and if not, why.
 */
#ifndef PASSES_CHOICE_RULES_H
#define PASSES_CHOICE_RULES_H

#include "passes/choice_check.h"

typedef struct Check {
	const Plan *bare;
	const Choice *choices;
	const ChoicePlace *where;
	Diag *d;
	Arena *a;
	bool *cut; /* by step: its result has a legal cut */
} Check;

/* A step, and what it would be with a field changed. */
typedef struct Case {
	const Check *k;
	int step;
	const Step *s;
	Choice c;
} Case;

typedef struct ChoiceRule {
	bool (*ok)(const Case *e);
	const char *(*why)(const Case *e); /* behind "name: field=value" */
	int (*most)(const Case *e);        /* that a number may be, or what of a set is legal */
} ChoiceRule;

extern const ChoiceRule choice_rules[CHOICE_COUNT];

/* Fields, each behind those its rule looks at. */
extern const ChoiceField choice_order[CHOICE_COUNT];

#endif
