/* How long a network takes on a device, for benchmarks. */
#ifndef TESTS_TIMED_H
#define TESTS_TIMED_H

#include "tests/network.h"

/* Seconds of the fastest of so many runs; with "profile" among the device's options the
 * time by unit is printed. Ends the program if the device cannot. */
double timed_run(const Network *n, const char *device, const float *in, float *out, int repeats);

#endif
