/*
 * Linked to a test that runs programs by net_run: each of them is counted too,
 * and the routines that were are listed at the end.
 */
#include <stdlib.h>

#include "tests/counted.h"
#include "tests/device_net.h"

static Compared tally;

static void report(void) { counted_print(&tally); }

void net_emitted(Net *n, const Emission *e)
{
	static bool known;
	if (!known)
		atexit(report);
	known = true;
	if (e->overlays == 0)
		counted_check(n->t->arena, n->p, e, &tally);
}
