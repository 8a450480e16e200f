/* The caller's arrays against what a network takes and gives. */
#ifndef RUNTIME_HOST_ARRAYS_H
#define RUNTIME_HOST_ARRAYS_H

#include "runtime/host/tessera_rt.h"

/* Has it the type, the shape and the bytes of `t`? If not, says what it has. */
bool array_check(const TesseraTensor *t, const TesseraArray *a, TesseraError *e);

#endif
