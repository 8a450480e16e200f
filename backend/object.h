/*
 * A relocatable ELF file for rv32, read and checked once, so that whoever
 * links it need not doubt an offset or an index any more.
 *
 *     .text._start   PROGBITS alloc exec   0x40 bytes, 3 relocations
 *     .bss           NOBITS   alloc write  0x8 bytes
 */
#ifndef BACKEND_OBJECT_H
#define BACKEND_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/arena.h"
#include "ir/diag.h"
#include "ir/file.h"

/* R_RISCV_ID: number in the psABI, bytes it changes. */
typedef enum RelocKind {
#define RELOC(id, number, bytes) R_RISCV_##id##_KIND = number,
#include "backend/relocs.def"
} RelocKind;

typedef struct Reloc {
	RelocKind kind;
	uint32_t offset; /* in its section; what it changes lies inside */
	int symbol;
	int32_t addend;
} Reloc;

typedef struct ObjSection {
	const char *name;
	bool loaded; /* takes part in the program */
	bool code, writable, empty; /* empty: NOBITS, zero when the program starts */
	uint32_t align, size; /* align is a power of two */
	const uint8_t *data;  /* NULL if empty */
	int nrelocs;
	Reloc *relocs; /* to be applied in this order */
} ObjSection;

enum { SYMBOL_UNDEFINED = -1, SYMBOL_ABSOLUTE = -2 };

typedef struct ObjSymbol {
	const char *name;
	int section; /* or one of the above */
	uint32_t value, size;
	bool global, weak, function;
} ObjSymbol;

typedef struct Object {
	const char *name; /* for messages */
	ObjSection *sections;
	ObjSymbol *symbols;
	int nsections, nsymbols;
} Object;

/* False if the file is not one, which is reported. The object refers to the
 * bytes. */
bool object_read(Object *o, Arena *a, Diag *d, const char *name, Bytes file);

/* The global symbol of that name; -1 if there is none. */
int object_find(const Object *o, const char *name);

#endif
