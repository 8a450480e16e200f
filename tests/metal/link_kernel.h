/*
 * A kernel's module, as clang leaves it, at the place where it will run: our own
 * linker (backend/link.h) for the host side, which is C++.
 */
#ifndef TESTS_METAL_LINK_KERNEL_H
#define TESTS_METAL_LINK_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MetalText {
	uint8_t *bytes; /* the caller frees them */
	uint32_t size, entry;
	uint32_t local; /* bytes of private memory: variables and, of a kernel, stack */
} MetalText;

enum { METAL_LINK_WHY = 4096 };

/* False: `why` says why. Of a kernel the deepest stack has to be known. */
bool metal_link(MetalText *to, const char *name, const void *object, size_t n, uint32_t at,
		uint32_t ram_bytes, bool kernel, char why[METAL_LINK_WHY]);

#ifdef __cplusplus
}
#endif

#endif
