/*
 * What we say when something is wrong.
 *
 * A diagnostic is for mistakes in the model; for mistakes of ours there is
 * assert() and die(), on in every build. Messages start in lower case, name
 * the op, give the value found and the value needed, and end without a
 * period.
 *
 *     unet.nnef:12:9: error: conv: filter has 16 input channels, input has 8
 *         c1 = conv(x, w1);
 *              ^
 *     unet.onnx: node "Conv_3" (Conv): error: ...
 */
#ifndef IR_DIAG_H
#define IR_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdnoreturn.h>

enum ExitCode {
#define EXIT(name, number, what) EXIT_##name = number,
#include "ir/exits.def"
};

typedef struct Loc {
	const char *file;
	const char *node; /* for formats without lines: the node's description */
	int line, col;    /* from 1; 0 if the format has no lines */
} Loc;

typedef struct Source Source;

typedef struct Diag {
	FILE *to;
	int errors, warnings;
	int limit;       /* stop printing after this many errors; 0 = 20 */
	Source *sources; /* texts to quote from */
	bool colors;     /* `to` is a terminal that shows them */
	FILE *copy;      /* where all is printed too, without colours, or NULL */
	const char *erase; /* printed once before the next message, or NULL: takes away progress
			    * from a terminal's line */
} Diag;

/* Prints "file:line:col: error: ..." with the line and a caret, and counts
 * it. Returns nothing to check: callers go on to find more errors, then test
 * diag->errors once. */
void diag_error(Diag *d, Loc at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for what is legal but probably not meant. */
void diag_warning(Diag *d, Loc at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A second line to the error before it, such as a did-you-mean. */
void diag_note(Diag *d, Loc at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Lets diagnostics quote `file`: `text` (`size` bytes) must outlive `d`. */
void diag_add_source(Diag *d, const char *file, const char *text, size_t size);

/* Forgets the sources. */
void diag_finish(Diag *d);

/* "internal error: ..." and exit with EXIT_INTERNAL. */
noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
noreturn void die_out_of_memory(size_t wanted);

/* The candidate nearest to `word` by edit distance, or NULL if none is near
 * enough to suggest. */
const char *diag_nearest(const char *word, const char *const candidates[],
			 size_t n);

#endif
