/*
 * Variants and their code.
 *
 * The table of routines allows some 200 variants, and the library is the same
 * for all programs: so each variant is compiled once, when the compiler is built
 * (precompile.c, an object for each RISC-V), and a program is emitted in the
 * time it takes to link, without loading LLVM. EmitOptions.fresh compiles those
 * of one program again, for which LLVM takes a tenth of a second and more.
 */
#ifndef BACKEND_VARIANTS_H
#define BACKEND_VARIANTS_H

#include "backend/program.h"
#include "ir/embed.h"
#include "ir/file.h"

extern const EmbeddedFile precompiled[];
extern const int precompiled_count; /* TT_RISCS */

/* The name of its function: the routine and its constants, parted by '_'. */
const char *variant_symbol(Arena *a, const ProgramVariant *v);

/* Those a RISC-V runs in a program; how many. `list` has room for all. */
int variants_of(const Program *p, Arena *a, TtRisc risc, const ProgramVariant *list[]);

/* Every variant that may run on a RISC-V; how many. */
int variants_all(Arena *a, TtRisc risc, const ProgramVariant ***list);

#endif
