/*
 * A program as a project for TT-Metal: kernels, a host program that builds and runs
 * them, weights, and what it needs of the runtime and of the device library, which
 * are copied into it unchanged.
 *
 *     MetalProject m;
 *     if (emit_metal(&m, arena, diag, program, plan, target, &(MetalOptions){ .rows = 1, .cols = 1
 * }))
 *             ... m.file[i].path, m.file[i].bytes ...
 *
 *     CMakeLists.txt README.md main.cpp    how to build and to run it
 *     NAME.h NAME.cpp NAME.weights         the net: one TT-Metal program for each device op
 *     tessera/                             what runs it on the host (runtime/metal, runtime/host)
 *     kernels/STEM.cpp                     kernels, named for what they do and a hash
 *     kernels/runtime/device/              the device library
 *
 * Where our own packages have the cores wait for each other between ops, here one
 * TT-Metal program follows the other. The model (metal_model.h) decides what there
 * is, the printers (metal_print_*.c) only spell it, by the rows of metal_lines.def.
 */
#ifndef BACKEND_METAL_H
#define BACKEND_METAL_H

#include "backend/program.h"
#include "ir/file.h"
#include "ir/plan.h"
#include "ir/target.h"

typedef struct MetalOptions {
	int rows, cols; /* of the mesh of devices that is used unless the host says otherwise */
	const char *compiler; /* name and version */
} MetalOptions;

typedef struct MetalFile {
	const char *path; /* within the project */
	Bytes bytes;
} MetalFile;

typedef struct MetalProject {
	const char *name; /* of the net, as an identifier */
	MetalFile *file;
	int nfiles;
	int kernels, programs; /* of all files; launched in a run */
	int lines;             /* of what was printed: kernels, NAME.h and NAME.cpp */
	const char *largest;   /* kernel, by its code: */
	uint32_t largest_bytes;
} MetalProject;

/* False if the target is none of TT-Metal's that there is a device library for, or a
 * limit of TT-Metal is exceeded, which is reported with the op. The plan is the one the
 * program was lowered from, for what is said of ops; or NULL. */
bool emit_metal(MetalProject *m, Arena *a, Diag *d, const Program *p, const Plan *plan,
		const Target *t, const MetalOptions *options);

#endif
