/*
 * A model file in, a verified graph out.
 *
 * model_read looks at the file and hands it to the reader of its format:
 *
 *     model.onnx                  onnx_read   (frontend/onnx*.c)
 *     graph.nnef or its folder    nnef_read   (frontend/nnef*.c)
 *     dump.ir                     text_read   (frontend/text.y)
 *
 * Readers report everything they find wrong and then yield NULL.
 */
#ifndef FRONTEND_MODEL_H
#define FRONTEND_MODEL_H

#include "ir/graph.h"

/* --dim NAME=SIZE */
typedef struct DimOption {
	const char *name;
	int64_t size;
} DimOption;

/* --input NAME=1x3x480x640 */
typedef struct ShapeOption {
	const char *input; /* NULL: the only input */
	Shape shape;
} ShapeOption;

/* A value known for an input, used where an op needs a constant there (the
 * sizes of a Resize, say). The input is then no longer an input. */
typedef struct KnownInput {
	const char *name;
	Tensor *value;
} KnownInput;

/* What to do about weights that are not found. */
#define WEIGHTS_HELP "--weights PATH tells where they are, --random-weights=SEED makes some up, " \
	"--no-weights does without"

typedef struct ModelOptions {
	int ndims, nshapes, nknown, ndata;
	const DimOption *dims;
	const ShapeOption *shapes;
	const ShapeOption *data; /* shapes of the data there is for inputs, by name and
				  * then in order: they close open dims, no others */
	const KnownInput *known;
	const char *weights;  /* --weights: a file or folder that holds weights the
			       * model names but does not have, or NULL */
	bool random_weights;  /* --random-weights=SEED: for weights not found */
	bool no_weights;      /* --no-weights: those not found stay elided, without
			       * a word; what they are for is then not done */
	uint64_t seed;
} ModelOptions;

Graph *model_read(Arena *a, Diag *d, const char *path, const ModelOptions *opt);

Graph *onnx_read(Arena *a, Diag *d, const char *path, const ModelOptions *opt);
Graph *nnef_read(Arena *a, Diag *d, const char *path, const ModelOptions *opt);
Graph *text_read(Arena *a, Diag *d, const char *path, const ModelOptions *opt);

/* IR text from memory; `file` is the name diagnostics use. The text must
 * outlive `d`'s sources. */
Graph *text_parse(Arena *a, Diag *d, const char *file, const char *text,
		  size_t size, const ModelOptions *opt);

/* An ONNX TensorProto file (the .pb of ONNX's backend tests); NULL if it is
 * wrong, which is reported. `name` gets the tensor's name, possibly "". */
Tensor *onnx_read_tensor(Arena *a, Diag *d, const char *path, const char **name);

/* NNEF text from memory, .dat files in `dir`; as text_parse. */
Graph *nnef_parse_text(Arena *a, Diag *d, const char *file, const char *text, size_t size,
		       const char *dir, const ModelOptions *opt);

/* Writes `g` as strict flat NNEF 1.0, graph.nnef with its .dat files, into
 * the folder `dir`, whole or not at all. */
bool nnef_write(const Graph *g, Diag *d, const char *dir);

#endif
