/*
 * From a graph after its passes to a package, and to results on a device:
 * what compile, run and verify share.
 */
#ifndef FRONTEND_CMD_DEVICE_H
#define FRONTEND_CMD_DEVICE_H

#include "backend/emit.h"
#include "frontend/cmd_session.h"
#include "passes/plan.h"
#include "runtime/host/tessera_rt.h"

/* What compiling has come to so far; later members are NULL or 0 while nobody
 * asked for them. */
typedef struct Compiled {
	const Target *target;
	Plan *plan;
	Program *program;
	Emission emission;
} Compiled;

/* Plan, for any target. Not EXIT_OK: reported. */
enum ExitCode session_plan(Session *s, const Graph *g, Compiled *c);

/* And program, if there is a device library for the target's architecture. */
enum ExitCode session_lower(Session *s, const Graph *g, Compiled *c);

/* And the package. */
enum ExitCode session_emit(Session *s, const Graph *g, Compiled *c);

/* An element type of packages as tensors have it. */
DType session_device_type(TesseraType type);

/* Opens the package the command line names; NULL: reported. */
struct Ttb *session_open_ttb(Session *s);

/* Runs the graph on the device the user named. */
enum ExitCode session_run_device(Session *s, const Graph *g, const char *device,
				 Tensor *const in[], Tensor *out[]);

#endif
