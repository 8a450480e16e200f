/* A mix as an op of a small net (device_net.h). */
#ifndef TESTS_DEVICE_MIX_H
#define TESTS_DEVICE_MIX_H

#include "ir/mix.h"
#include "tests/device_net.h"

/* Planes of `in` to planes of `to`. The maps are of the whole
 * image; cores own as many rows of `in` and `to` each. With column phases, `in`
 * holds the planes of one phase after the other. `first`: plane of `to` to write
 * first. */
void net_mix(Net *n, const Mix *m, const Planes *in, Planes *to, int first);

#endif
