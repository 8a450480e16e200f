/*
 * The ONNX reader, apart from onnx_read (model.h): its list of ops, and what
 * tests need of it.
 */
#ifndef FRONTEND_ONNX_H
#define FRONTEND_ONNX_H

#include "frontend/model.h"
#include "ir/file.h"

/* A row of onnx_ops.def. */
typedef struct OnnxOpRow {
	const char *name;
	int since;           /* the least opset whose form of the op is read */
	int min_in, max_in;  /* inputs */
	int max_out;         /* outputs */
	OpKind kind;         /* what it becomes, or is mainly made of */
	const char *note;    /* what of it is not read, or "" */
} OnnxOpRow;

/* For `tessera ops`: row i; NULL past the last. */
const OnnxOpRow *onnx_op_row(int i);

/* A model in memory that outlives the graph, whose weights lie there; `file` is
 * the name diagnostics use, and external data is looked for in its folder. */
Graph *onnx_parse(Arena *a, Diag *d, const char *file, Bytes bytes, const ModelOptions *opt);

/* What a model says of itself. */
typedef struct OnnxOutline {
	const char *beyond; /* what of it the reader does not cover: ops, forms of
			     * ops older than it knows, element types; or NULL */
	int ninputs;
	const char **inputs; /* their names; initializers are none */
} OnnxOutline;

/* False if the file is no model, which is reported. */
bool onnx_outline(Arena *a, Diag *d, const char *path, OnnxOutline *out);

#endif
