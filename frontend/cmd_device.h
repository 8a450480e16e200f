/*
 * From a graph after its passes to a package, and to results on a device:
 * what compile, run and verify share.
 */
#ifndef FRONTEND_CMD_DEVICE_H
#define FRONTEND_CMD_DEVICE_H

#include "backend/emit.h"
#include "frontend/cmd_report.h"
#include "frontend/cmd_session.h"
#include "runtime/host/tessera_rt.h"

/* What compiling has come to so far; later members are NULL or 0 while nobody
 * asked for them. */
typedef struct Compiled {
	Asked asked;
	Planned planned;
	Program *program;
	Emission emission;
} Compiled;

/* The plan that is asked for, of any target. Not EXIT_OK: reported. */
enum ExitCode session_planned(Session *s, const Graph *g, const Asked *a, Planned *p);

/* Says how many fields the plan file left to be chosen. */
void session_tell_open(Session *s, const Planned *p);

/* Is there a device library for the target's architecture? If not, reported. */
enum ExitCode session_check_arch(Session *s, const Target *t);

/* Both what is asked for and the plan. This and what follows does only what is not in
 * *c yet. */
enum ExitCode session_plan(Session *s, const Graph *g, Compiled *c);

/* And the program. */
enum ExitCode session_lower(Session *s, const Graph *g, Compiled *c);

/* And the package. */
enum ExitCode session_emit(Session *s, const Graph *g, Compiled *c);

/* Prints what a debug log of TT-Metal says of memory, beside the program
 * (cmd_from_log.c). Not EXIT_OK: reported. */
enum ExitCode session_from_log(Session *s, const Graph *g, Compiled *c, const char *path);

/* An element type of packages as tensors have it. */
DType session_device_type(TesseraType type);

/* Opens the package the command line names; NULL: reported. */
struct Ttb *session_open_ttb(Session *s);

/* If --min-pcc or --max-err is given, a plan whose outputs are as near to those of the plain
 * executor on a sample, down to its package (cmd_accuracy.c). Not EXIT_OK: reported. */
bool session_accuracy_asked(Session *s); /* false: wrongly, reported */
enum ExitCode session_accurate(Session *s, const Graph *g, Compiled *c);

/* Runs a package made of the graph, once. */
enum ExitCode session_run_package(Session *s, const Graph *g, Bytes package, const char *device,
				  Tensor *const in[], Tensor *out[]);

/* Runs the graph on the device the user named. */
enum ExitCode session_run_device(Session *s, const Graph *g, const char *device,
				 Tensor *const in[], Tensor *out[]);

#endif
