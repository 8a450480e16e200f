/*
 * What is copied into a project for TT-Metal as it is: the device library, and what runs
 * a net on the host. Both are put into the compiler when it is built, by their path from
 * the top of the tree.
 */
#ifndef BACKEND_METAL_LIBRARY_H
#define BACKEND_METAL_LIBRARY_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/arena.h"
#include "ir/embed.h"

extern const EmbeddedFile metal_device[]; /* headers of the device library */
extern const int metal_device_count;
extern const EmbeddedFile metal_host[]; /* runtime/metal, and what it needs of runtime/host */
extern const int metal_host_count;
extern const EmbeddedFile metal_templates[]; /* with @NAME@ and the like in them */
extern const int metal_templates_count;

/* Of all of the device library. */
uint64_t metal_library_hash(void);

/* The header that defines a routine, "runtime/device/conv_unpack.h". */
const char *metal_header_of(Arena *a, const char *routine);

/* Those that some text includes, and what these include: flags by place in the table. */
void metal_library_included(const char *text, bool included[]);

#endif
