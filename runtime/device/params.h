/*
 * Parameters of ops as C structures: TtTiles, TtEdge, ... made of the rows of
 * params.def.
 */
#ifndef RUNTIME_DEVICE_PARAMS_H
#define RUNTIME_DEVICE_PARAMS_H

#include <stdint.h>

#define PARAMS(params) struct tt_##params {
#define FIELD(params, name, least, most, what) uint32_t name;
#define ARRAY(params, name, count, least, most, what) uint32_t name[count];
#define END(params) };
#include "runtime/device/params.def"

typedef struct tt_tiles TtTiles;
typedef struct tt_edge TtEdge;
typedef struct tt_copy TtCopy;

#endif
