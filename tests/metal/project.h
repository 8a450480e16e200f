/*
 * An emitted project against the direct package, byte by byte: emits it to a folder,
 * compiles NAME.cpp with the C++ compiler, runs it on the small TT-Metal (drive.cpp) with
 * random inputs and compares all bytes of all outputs with those of the package on the
 * emulator.
 */
#ifndef TESTS_METAL_PROJECT_H
#define TESTS_METAL_PROJECT_H

#include "tests/network.h"

/* NULL for one run on one device as it comes. */
typedef struct ProjectTest {
	const char *options; /* of drive.cpp, with blanks between them */
	int runs;            /* other inputs in each; 0: 1 */
	int devices;         /* of the mesh; 0: 1 */
	bool whole;          /* the host runtime is compiled from the project's own copy, too */
} ProjectTest;

/* False: what differs or failed is printed, and the project stays where it was. `name`
 * is for messages and for the folder. */
bool project_same(const Network *n, const char *name, uint64_t seed, const ProjectTest *test);

/* Kernels, programs and launches of those that were run, and how many went past TT-Metal's
 * own headers, which TT_METAL_HOME names. */
typedef struct ProjectCounts {
	int projects, kernels, programs, runs, parsed;
} ProjectCounts;

ProjectCounts project_counts(void);

#endif
