/*
 * Between the parts of the NNEF writer: a graph on its way to text.
 *
 * Every op becomes one or more statements; the last assigns its identifier.
 * What a strict NNEF operation cannot take as it is (a vector where it wants
 * [1,C], fewer dims than the other operand) is brought into form on the way.
 *
 *     nnef_write.c         identifiers, variables, files
 *     nnef_write_ops.c     what each kind of op becomes
 *     nnef_write_window.c  convolutions, pools, resizing
 *     nnef_write_move.c    ops that move elements about
 */
#ifndef FRONTEND_NNEF_WRITE_H
#define FRONTEND_NNEF_WRITE_H

#include <stdio.h>

#include "ir/graph.h"

/* A weight file to be written. */
typedef struct Stored {
	const char *label;
	const Tensor *value;
} Stored;

typedef struct Writer {
	const Graph *g;
	Arena *arena;
	Diag *diag;
	FILE *head, *body; /* externals and variables; the other statements */
	StrMap taken;      /* identifiers and labels in use */
	StrMap idents;     /* op name -> identifier */
	StrMap variables;  /* op name and shape -> identifier */
	const Op *op;      /* being written */
	int nstored, cap;
	Stored *stored;
} Writer;

/* An identifier like `wanted` that nothing else has. */
const char *writer_fresh(Writer *w, const char *wanted);

/* A fresh identifier for a step on the way to `id`. */
const char *writer_part(Writer *w, const char *id, const char *suffix);

/* A statement: "id = ...;" */
void writer_say(Writer *w, const char *id, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Reports that this op has no strict NNEF form. */
void writer_refuse(Writer *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* What stands for op's value in a statement: an identifier, or a literal for
 * a constant without dims. */
const char *writer_ref(Writer *w, const Op *op);

/* The same under another shape with as many elements. */
const char *writer_ref_as(Writer *w, const Op *op, Shape shape);

/* The same with ones in front up to `rank` dims: IR lines dims up at the last
 * one, NNEF at the first. Scalars stay as they are. */
const char *writer_operand(Writer *w, const Op *op, int rank);

/* A variable that is no op of the graph. */
const char *writer_variable(Writer *w, const char *wanted, Tensor *value);

/* "[1, 2]", "[(1, 1), (0, 2)]" */
const char *writer_ints(Writer *w, const int64_t *v, int n);
const char *writer_pairs(Writer *w, const int64_t *first, const int64_t *second, int n);

/* A float as a literal; it must be finite. */
const char *writer_scalar(Writer *w, double v);

/* nnef_write_ops.c: all statements of an op, the last for `id`. */
void writer_op(Writer *w, const Op *op, const char *id);

/* nnef_write_window.c */
void writer_conv(Writer *w, const Op *op, const char *id);
void writer_deconv(Writer *w, const Op *op, const char *id);
void writer_pool(Writer *w, const Op *op, const char *id);
void writer_resize(Writer *w, const Op *op, const char *id);

/* nnef_write_move.c */
void writer_slice(Writer *w, const Op *op, const char *id);
void writer_pad(Writer *w, const Op *op, const char *id);
void writer_expand(Writer *w, const Op *op, const char *id);
void writer_gather(Writer *w, const Op *op, const char *id);
void writer_blocks(Writer *w, const Op *op, const char *id);
void writer_view(Writer *w, const Op *op, const char *id);

#endif
