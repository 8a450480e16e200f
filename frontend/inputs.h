/*
 * What --input, --const, --dim and their kin say about a model's inputs.
 *
 *     --input x=1x3x480x640      the shape of input x
 *     --input x=photo.npy        the data of input x
 *     --input photo.npy          the data of the next input not named
 *     --const sizes=sizes.npy    a value the compiler may count on
 *
 * Dims joined by 'x' are a shape, anything else is a file (./1x3 is one).
 */
#ifndef FRONTEND_INPUTS_H
#define FRONTEND_INPUTS_H

#include "frontend/model.h"
#include "frontend/options.h"

/* [NAME=]F.npy, read. */
typedef struct NamedData {
	const char *name; /* or NULL */
	const char *path;
	Tensor *value;
} NamedData;

typedef struct Inputs {
	ModelOptions model;
	int ndata, nexpect, ncalibrate;
	NamedData *data, *expect, *calibrate; /* of --input, --expect and --calibrate */
	bool random;
	uint64_t seed;
} Inputs;

/* Reads the options and the files they name. EXIT_OK, or EXIT_USAGE or
 * EXIT_MODEL, reported. */
enum ExitCode inputs_read(Inputs *in, Arena *a, Diag *d, const Options *o);

/* Gives each of the n edges (OP_INPUT or OP_OUTPUT) of the graph its data, by
 * name and then in order; those without get NULL. False if data is left over,
 * which is reported: `option` is what gave it. */
bool inputs_match(const Graph *g, OpKind edge, const NamedData *data, int ndata,
		  OptionId option, Tensor *out[]);

/* The model's own name for an edge. */
const char *inputs_edge_name(const Op *op);

int inputs_count(const Graph *g, OpKind edge);

/* The data of every input, from files or at random; NULL if one has none,
 * which is reported. */
Tensor **inputs_data(const Graph *g, Arena *a, const Inputs *in);

/* The same of --calibrate, those without any as --random-input=1 makes them. */
Tensor **inputs_sample(const Graph *g, Arena *a, const Inputs *in);

#endif
