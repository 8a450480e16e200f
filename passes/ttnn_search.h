/*
 * What the parts of the planner for ttnn share.
 */
#ifndef PASSES_TTNN_SEARCH_H
#define PASSES_TTNN_SEARCH_H

#include "ir/intmap.h"
#include "passes/ttnn_plan.h"
#include "passes/ttnn_run.h"

typedef struct TtnnNode {
	const Op *op;
	int nin, *in;  /* nodes it reads */
	int last;      /* the last that reads it; its own number: nobody does */
	bool later;    /* one that reads it is not the next */
} TtnnNode;

typedef struct TtnnSearch {
	Arena *arena;
	const Graph *graph;
	const Target *t;
	int64_t room;
	int n;
	TtnnNode *nodes;
	const TtnnPin *pins;
	bool spills;   /* tensors may go to DRAM that the next op alone reads */
	int most;      /* labels at a step, */
	int quick;     /* and of a first walk that gives a limit to the second */
	IntMap *to_go; /* of each node: a place of its result to the least time of what is
			* left, if only that is known */
	int64_t limit; /* ps; no plan that takes longer is of interest; 0: every plan is */
	IntMap blocks; /* of convolutions: what ttnn_blocks_best came to */
} TtnnSearch;

/* One way to call an op, from one state. */
typedef struct TtnnWay {
	TtnnChoice choice;
	TtnnRun run;
} TtnnWay;

typedef void TtnnVisit(void *context, const TtnnWay *way);

/* Calls visit for each way to call node i that fits beside `base` bytes and the pins
 * allow. The least any way needs is in *least. */
void ttnn_ways(TtnnSearch *s, int i, const TtnnInput *in, int64_t base, TtnnVisit *visit,
	       void *context, int64_t *least);

/* Blocks of a convolution on a grid that are worth trying: each takes longer than the
 * one before, and less L1. */
typedef struct TtnnBlockList {
	int n;
	struct {
		int v[4]; /* of ttnn_block_fields */
		int64_t ps, bytes;
	} *list;
} TtnnBlockList;

extern const TtnnField ttnn_block_fields[4];

const TtnnBlockList *ttnn_blocks_best(TtnnSearch *s, int i, const TtnnConv *c, TtnnRows layout,
				      const TtnnChoice *choice);

/* The values of a field to try: the pinned one, or those given. */
int ttnn_values(const TtnnSearch *s, int i, TtnnField f, const int *all, int n, int *to);

/* Pins of a plan file and of lines of one, for each node; NULL: reported. */
TtnnPin *ttnn_pins(const TtnnSearch *s, const TtnnRequest *r, int64_t *l1_small);

/* The cheapest choices, or NULL: then the node where it ends, and the bytes that would
 * be needed there. *best: nothing was left out. */
TtnnChoice *ttnn_search(TtnnSearch *s, bool *best, int *stuck, int64_t *needs);

/* The ops of s->graph, and who reads whom. */
void ttnn_nodes(TtnnSearch *s);

/* Fills s->to_go. */
void ttnn_bound(TtnnSearch *s);

/* A place in a number. */
int ttnn_pack(const TtnnPlace *p);
TtnnPlace ttnn_unpack(int v);

/* What stands in DRAM or on the cores when a node runs. */
TtnnInput ttnn_input(const TtnnSearch *s, int i, int k, TtnnPlace place);

#endif
