/*
 * What a run on the emulator counted, step by step of the plan, beside what the program
 * was predicted to count.
 *
 *     Counted n;
 *     if (counted_steps(s, g, &compiled, in, &n) == EXIT_OK)
 *             ... n.ran[step * n.cores + core].unpack_bytes
 *
 * Counted is the second run of two, as the first one also brings what stays. Parameters
 * of the next op are asked for in the op before it: both sides have them.
 */
#ifndef FRONTEND_CMD_COUNTED_H
#define FRONTEND_CMD_COUNTED_H

#include "frontend/cmd_device.h"
#include "passes/plan_units.h"

typedef struct Counted {
	const Plan *plan;
	const Program *program;
	const char *device;  /* its spec */
	int cores;
	Counters *ran;       /* of step and core; of steps beside another nothing */
	Counters *predicted; /* the same, backend/predict.h: exact counters only */
	uint64_t steps;      /* that the emulator took for the run */
} Counted;

/* Compiles what is not, and runs it on the emulator that --device names. Not EXIT_OK:
 * reported. */
enum ExitCode counted_steps(Session *s, const Graph *g, Compiled *c, Tensor *const in[],
			    Counted *n);

/* Runs a program that is loaded and takes down what it counts: for session_run_package. */
bool counted_run(Counted *n, TesseraProgram *p, const TesseraArray *in, size_t nin,
		 const TesseraArray *out, size_t nout, TesseraError *e);

/* A timeline of the run: counters at the prices of the target (ir/costs.def); a step lasts
 * as long as its busiest unit. */
StepSpan *counted_spans(const Counted *n);

/* How often an exact counter of a step on a core is not what was predicted. */
int counted_differing(const Counted *n);

#endif
