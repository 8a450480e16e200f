/*
 * Text made of the rows of metal_lines.def: the only place where C++ is spelled.
 *
 *     metal_line(w, LINE_CB, id, address, page_bytes, pages);
 *
 * What stands between lines that open and those that close is indented. In a row %s
 * stands for a string, %q for one in quotes, %d for an int, %x for a uint32_t in hex, %v
 * for one in the way its reader wants it (hex if it is no count), %% for itself.
 */
#ifndef BACKEND_METAL_WRITE_H
#define BACKEND_METAL_WRITE_H

#include <stdio.h>

#include "ir/arena.h"
#include "ir/file.h"

typedef enum MetalLine {
#define LINE(id, nest, spelling) LINE_##id,
#include "backend/metal_lines.def"
	LINE_COUNT
} MetalLine;

typedef struct MetalWriter {
	TextFile out;
	int depth;
} MetalWriter;

void metal_open(MetalWriter *w);
void metal_line(MetalWriter *w, MetalLine line, ...);

/* The same as a string, without indentation and end of line. */
const char *metal_spell(Arena *a, MetalLine line, ...);

/* Text in lines of a comment that is open, `indent` spaces in, those behind the first 4
 * more. */
void metal_comment(MetalWriter *w, int indent, const char *text);

Bytes metal_close(MetalWriter *w, Arena *a);

#endif
