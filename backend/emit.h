/*
 * From a program to what a device runs.
 *
 *     Emission e;
 *     if (emit_program(&e, arena, diag, program, target, &(EmitOptions){ .compiler = "tessera 0.1.0" }))
 *             ... e.package ...
 *
 * The package is a .ttb file (runtime/host/ttb.h). The same bytes can be had as
 * an ELF object for the host, to be linked into a program, with a header that
 * declares them (emit_object.c).
 */
#ifndef BACKEND_EMIT_H
#define BACKEND_EMIT_H

#include "backend/program.h"
#include "ir/file.h"
#include "ir/target.h"

typedef struct EmitOptions {
	const char *compiler; /* name and version, for the package */
	uint32_t code_budget; /* bytes of L1 for code; 0: all below TT_CONTROL */
	bool iram;            /* NCRISC runs from its instruction memory */
	bool fresh;           /* compile the variants again (variants.h) */
} EmitOptions;

/* What came out, for reports. */
typedef struct Emission {
	Bytes package;
	Bytes elf[TT_RISCS];
	uint32_t code_bytes[TT_RISCS]; /* resident */
	uint32_t stack_bytes[TT_RISCS];
	int overlays;
	uint32_t overlay_area;         /* bytes */
	uint32_t block_bytes;          /* of one parameter block */
	uint64_t dram_end;             /* first byte of every bank that is not used */
	double codegen_ms, link_ms, package_ms;
} Emission;

/* Verifies the program first. False if it, or what comes out, does not fit the
 * target, which is reported. */
bool emit_program(Emission *e, Arena *a, Diag *d, const Program *p, const Target *t,
		  const EmitOptions *options);

/* A package as a relocatable object for this machine, symbols tessera_net_NAME
 * and tessera_net_NAME_bytes (no net is called as a function of tessera_rt.h), and
 * the C header that declares them. NAME is `name` with everything that cannot be
 * in an identifier as '_'. */
Bytes emit_object(Arena *a, Bytes package, const char *name);
Bytes emit_object_header(Arena *a, Bytes package, const char *name);

#endif
