/*
 * Where a plan loses accuracy, and what is to be had for time.
 *
 *     Accuracy *a = accuracy_create(arena);
 *     ... accuracy_seen for every tensor of a run of the graph in full precision
 *     accuracy_noise(a, &planned)       noise over signal that is to be expected
 *     accuracy_raises(a, &planned, &n)  what may be stored or multiplied better,
 *                                       that which costs least for what it brings first
 *
 * The model: every rounding adds noise of its own, independent of the others, and what
 * follows carries it on as it carries the signal, so shares of energy add up. A result
 * is rounded to its format; a product sees its weights in theirs, and as many bits of
 * both factors as its fidelity has phases for. What is measured in the end decides;
 * the model says where to begin.
 *
 * What a user, a plan file or the model has fixed is not raised.
 */
#ifndef PASSES_ACCURACY_H
#define PASSES_ACCURACY_H

#include "passes/planner.h"

typedef struct Accuracy Accuracy;

Accuracy *accuracy_create(Arena *a);

/* What an op yields for the sample; `accuracy` is one (as RefOptions.seen has it). */
void accuracy_seen(void *accuracy, const Op *op, const Tensor *t);

double accuracy_noise(const Accuracy *a, const Planned *p);

typedef enum RaiseKind {
	RAISE_TYPE,     /* of tensors, to bf16: all that products read together */
	RAISE_FIDELITY, /* of a step, by one phase */
	RAISE_WEIGHTS,  /* of an op, to bf16: Op.weights, which is no field of a plan */
} RaiseKind;

typedef struct Raise {
	RaiseKind kind;
	const Op *op;     /* of the step, of the first tensor */
	const char *pins; /* lines of a plan file that say so; none for weights */
	const char *field; /* of fidelity: what its pins begin with; raised again, the last holds */
	const char *what; /* for people: "op a fidelity=hifi4 (was hifi2)" */
	double gain;      /* noise less, of accuracy_noise; may be negative */
	int64_t cost;     /* cycles more if all else of the plan stays */
} Raise;

/* In the arena of the graph; `n` of them. `raised` are those the plan has pins for: fidelity
 * goes on from there. */
Raise *accuracy_raises(const Accuracy *a, const Planned *p, const Raise *raised, int nraised,
		       int *n);

/* How many of the first raises bring the noise down from `is` to `wanted`, both as
 * measured: at least `least`, at most all. */
int accuracy_enough(const Accuracy *a, const Planned *p, const Raise *raises, int n, double is,
		    double wanted, int least);

#endif
