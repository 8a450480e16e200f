/* Filling in errors, and growing arrays that may fail to. */
#ifndef RUNTIME_HOST_ERROR_H
#define RUNTIME_HOST_ERROR_H

#include "runtime/host/tessera_rt.h"

/* Returns false, so that a failure is one line. `e` may be NULL. The line is
 * cut at the room there is; newlines in it become blanks. */
bool rt_fail(TesseraError *e, TesseraCode code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Appends to the detail of an error. */
void rt_detail(TesseraError *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
