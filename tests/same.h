/*
 * What a run leaves in memory, on the emulator and on Tenstorrent's simulator.
 */
#ifndef TESTS_SAME_H
#define TESTS_SAME_H

#include "tests/network.h"

/* Runs the network on both and prints one line: are the plan's window of L1 on
 * every core and the outputs in DRAM the same? */
bool same_memory(const Network *n, const char *ttsim, const float *in, const char *name);

#endif
