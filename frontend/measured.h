/*
 * Measured times op by op, from a table of comma-separated values: that of tt-metal's
 * profiler or of tt-perf-report, or any with the columns of measured.def.
 *
 *     op,kind,measured_us
 *     enc1.c1.conv,conv,2.9
 */
#ifndef FRONTEND_MEASURED_H
#define FRONTEND_MEASURED_H

#include "ir/diag.h"
#include "ir/file.h"

typedef struct MeasuredRow {
	const char *name;
	const char *kind; /* "" if there is no such column */
	double time;      /* in the unit of the table; more than 0 */
	double gap;       /* ns to the op before; 0: not told */
	int line;
} MeasuredRow;

typedef struct Measured {
	const char *path;
	const char *column; /* the header of what is used as time, as it stands there */
	double unit;        /* of time, in ns; 0: cycles */
	MeasuredRow *rows;  /* those that have a time */
	int n, without;     /* how many; how many have none, or 0 */
} Measured;

/* False if it cannot be used, which is reported. */
bool measured_read(Measured *m, Arena *a, Diag *d, const char *path);

/* The same of a text that `path` is the name of. */
bool measured_parse(Measured *m, Arena *a, Diag *d, const char *path, const char *text,
		    size_t size);

#endif
