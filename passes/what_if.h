/*
 * What else each op could do: the value next to the one that was chosen, of whichever
 * field but fidelity, that costs least. All other choices stay as they are and every plan of that
 * kind is priced and placed whole, so what is told is exact under the model, but it is
 * no search: explain.h looks for the best plan around a choice, in far more time.
 */
#ifndef PASSES_WHAT_IF_H
#define PASSES_WHAT_IF_H

#include "passes/explain.h"

typedef struct WhatIf {
	const char *what;  /* "bands=30"; NULL: no other value is legal and fits */
	ChoiceField field;
	int value;
	int64_t time;      /* of the plan then */
} WhatIf;

/* One for each step of the bare plan; `tried`: how many plans were priced. Of nets with
 * many hundred steps only the first fields are tried: the work has a limit. */
WhatIf *what_if(const Planned *p, int *tried);

#endif
