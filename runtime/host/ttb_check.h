/* The checks behind ttb_open that look at what sections say. */
#ifndef RUNTIME_HOST_TTB_CHECK_H
#define RUNTIME_HOST_TTB_CHECK_H

#include "runtime/host/ttb.h"

/* The sections lie within the file and hold whole records; is the rest true? */
bool ttb_check(const Ttb *t, TesseraError *e);

/* The same for parts of inputs and outputs alone. */
bool ttb_check_tensors(const Ttb *t, TesseraError *e);

/* Do no two things lie in the same place of L1 or of DRAM? */
bool ttb_check_overlaps(const Ttb *t, TesseraError *e);

#endif
