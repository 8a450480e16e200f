/* A network on a device, as the files that load and run it share it. */
#ifndef RUNTIME_HOST_PROGRAM_H
#define RUNTIME_HOST_PROGRAM_H

#include "runtime/host/device.h"

/* A run that was submitted. */
typedef struct Run {
	uint32_t number;  /* from 1 */
	bool started;
} Run;

struct TesseraProgram {
	TesseraDevice *device;
	const Ttb *package;
	TesseraLimits limits;
	TesseraPauses pauses;
	size_t paused; /* how often in the run that is under way */
	Run run[TTB_SLOTS]; /* the older first */
	size_t runs;
	uint32_t submitted; /* runs so far */
	bool failed;        /* a run did not end well: nothing is known any more */
	uint8_t **stage;    /* for each part; equal places share one (view.h) */
};

/* The name of op i where ttb_op_text would be too long, even if there is no such op. */
const char *program_op_name(const Ttb *t, uint32_t i, char room[16]);

/* Where the model has the ops that cores are at, and what the words of each say of
 * its op: appended to the detail of `e`. */
void program_explain(TesseraProgram *p, TesseraError *e);

/* Starts the oldest run that is not started, if none is under way. */
bool program_start(TesseraProgram *p, TesseraError *e);

/* Lets the device run until the oldest run is done. */
bool program_finish(TesseraProgram *p, TesseraError *e);

#endif
