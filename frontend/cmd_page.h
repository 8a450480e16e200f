/*
 * A plan as a page to look at: one HTML file with style, script and data in it, which
 * asks nothing of a network.
 *
 *     page_write(f, &planned);
 *
 * The files of frontend/report/ are the page; the data is one object of JSON in it:
 * steps, tensors, buffers and spans as passes/plan_*.h have them, names once, lists of
 * numbers in the order of the lists of names that stand before them. All times are in
 * cycles and predicted.
 */
#ifndef FRONTEND_CMD_PAGE_H
#define FRONTEND_CMD_PAGE_H

#include "frontend/cmd_report.h"
#include "passes/what_if.h"

/* The page. */
void page_write(FILE *f, const Planned *p);

/* Its data alone, as JSON. */
void page_data(FILE *f, const Planned *p);

#endif
