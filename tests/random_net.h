/*
 * Random networks of every op that devices run, with what comes out of them and how
 * far off a device may be.
 *
 *     RandomNet *n = random_net(arena, &diag, seed);
 *     n->g is the graph, n->x its inputs, n->v what the plain executor makes of it
 *
 * A net grows op by op. Each is tried on the values there are: it is kept if it is
 * right, not too large, and if its result can be compared. Of exact nets every value
 * is a whole number of seven bits, on one scale for the tensor: bf16, bfp8_b and every
 * fidelity hold it, so results must be equal. Of others, inputs and constants are
 * multiples of 1/64 below 2, as in ops.h, weights those times a power of two.
 *
 * What rounding may make of a value is known only when the plan is: so each has how
 * much of the error of its operands it takes over, and what its own roundings are of
 * (random_net_error.c).
 */
#ifndef TESTS_RANDOM_NET_H
#define TESTS_RANDOM_NET_H

#include "ir/graph.h"
#include "ir/plan.h"
#include "ir/rng.h"

enum { NET_VALUES = 32, NET_OPERANDS = 5, NET_INPUTS = 3 };

/* How far off a value may be: a sum of all of this. */
typedef struct NetError {
	double gain[NET_OPERANDS]; /* times what its operands are off */
	double rounded; /* times a step of the format it is stored in */
	double weights; /* times a step of the format of its weights */
	double cut;     /* times the part of a factor that is lost to fewer phases */
} NetError;

typedef struct NetValue {
	const char *name;
	OpKind kind;
	Tensor *value;
	double range;  /* greatest magnitude */
	int nin, in[NET_OPERANDS]; /* values it is made of; -1: a constant */
	NetError error;
	bool read;
	bool edge; /* of another rank, only good for an output */
} NetValue;

typedef struct RandomNet {
	Graph *g;
	Rng rng;
	bool exact;
	DevTypes stored, weights; /* hints for all; both: at random; none: no hints */
	int64_t batch;
	Tensor *x[NET_INPUTS];
	int nx;
	NetValue v[NET_VALUES];
	int nv;
	int out[NET_VALUES]; /* values that are outputs */
	int nout;
	FILE *nowhere;
} RandomNet;

/* The first ops of nets with consecutive seeds are of all kinds in turn. */
RandomNet *random_net(Arena *a, Diag *d, uint64_t seed);

/* How far off output `out` of the plan's device may be, given what the passes left of
 * the graph. */
double random_net_allowed(const RandomNet *n, const Plan *p, int out);

/* ---- its parts ---- */

typedef struct Operand {
	int value;
	Tensor *constant; /* or NULL */
} Operand;

typedef struct Candidate {
	OpKind kind;
	Attrs attr;
	int nin;
	Operand in[NET_OPERANDS];
} Candidate;

/* The value of an op if it is fit for the net; -1 if not. */
int net_add(RandomNet *n, const Candidate *c);

/* Appends ops of one kind on some value; -1 if chance made none that is right. */
typedef int NetMaker(RandomNet *n, int x);
extern NetMaker *const net_makers[];
extern const int net_maker_count;

NetMaker net_conv, net_depthwise, net_deconv, net_max_pool, net_linear;

/* The way to an output of another rank; the value it ends with. */
int net_head(RandomNet *n, int x);

int64_t net_pick(RandomNet *n, int64_t least, int64_t most);
bool net_chance(RandomNet *n, int64_t of);

/* Constants that the net's kind of numbers allows; about two of `fan` are not 0 if they are
 * whole, else their squares sum up to about 1. */
Tensor *net_weights(RandomNet *n, Shape shape, int64_t fan);
Tensor *net_constant(RandomNet *n, Shape shape);

/* What the error of a candidate is made of; false if nothing can be said of it. */
bool net_error(const RandomNet *n, const Candidate *c, const Tensor *result, NetError *e);

double net_greatest(const Tensor *t);
double net_least(const Tensor *t); /* magnitude */

#endif
