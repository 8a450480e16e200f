/*
 * What the commands share: the way from a command line to a graph.
 *
 *     enum ExitCode cmd_opt(Session *s)
 *     {
 *             Graph *g = session_compile(s);
 *             ...
 *     }
 *
 * cmd_*.c and main.c are the only files of frontend/ that know the passes,
 * the executors and the backend.
 */
#ifndef FRONTEND_CMD_SESSION_H
#define FRONTEND_CMD_SESSION_H

#include "frontend/inputs.h"
#include "frontend/options.h"
#include "ir/file.h"
#include "ir/target.h"
#include "passes/pass.h"

typedef struct Session {
	Arena *arena;
	Diag *diag;
	const Options *opt;
	Inputs inputs;
	PassId *passes; /* those to run, npasses of them */
	int npasses;
	int first;      /* how many the selection has before them */
	StrMap dumped;  /* hashes of the constants in --dump-dir */
	double start;   /* in seconds */
	DevTypes act_dtype, weight_dtype; /* of all that may have it; or unset */
	struct Ttb *package; /* what is run, if the model is none but a package */
	const char **written; /* files of -o that are there now, nwritten of them */
	int nwritten;
	struct Layers *layers; /* what looks at every tensor of the run, or NULL */
	struct Counted *counted; /* where what the run counts goes, or NULL */
} Session;

/* Reads what the options name besides the model. Not EXIT_OK: reported. */
enum ExitCode session_begin(Session *s, Arena *a, Diag *d, const Options *o);

/* The target the user wants, or the default one; NULL: reported. */
const Target *session_target(Session *s);

/* The model as read, or NULL, reported. */
Graph *session_read(Session *s);

/* True if the model's file is a package. Opens it: a graph of its edges, or
 * NULL, reported. */
bool session_is_package(const Session *s);
Graph *session_open_package(Session *s);

/* Runs the selected passes; false if that fails, reported. */
bool session_passes(Session *s, Graph *g);

/* Both. */
Graph *session_compile(Session *s);

/* The graph as text, to a file with its weights beside it, or (NULL) to standard output.
 * False if that fails, reported. */
bool session_write_graph(Session *s, Graph *g, const char *path);

/* False if the threads the user wants are too many, reported. */
bool session_device(Session *s);

/* A device with --threads, unless it says how many itself or has none. */
const char *session_with_threads(Session *s, const char *device);

/* True if the user wants the plain executor, or nothing else. */
bool session_on_ref(const Session *s);

/* Runs a graph on the device the user wants, or on the plain executor. Not
 * EXIT_OK: reported. */
enum ExitCode session_run(Session *s, const Graph *g, Tensor *const in[], Tensor *out[]);
enum ExitCode session_run_ref(Session *s, const Graph *g, Tensor *const in[], Tensor *out[]);

/* Notes a file that -o asked for and that is written, for the depfile; NULL is standard
 * output. */
void session_wrote(Session *s, const char *path);

/* No result covers what we read: reported if this one does. A plan may cover the one that
 * it was made of. */
void session_keep_read(const Session *s, const char *path, bool plan);

/* Writes such a file. False if that fails, reported. */
bool session_write_bytes(Session *s, const char *path, Bytes b);

/* Removes all that were noted. */
void session_take_back(Session *s);

/* False if -MD and -MF are given wrongly, reported. */
bool session_depfile_asked(Session *s);

/* What was written depends on all that was read: says so, if -MD is given. False if that
 * cannot be written, reported. */
bool session_depfile(Session *s);

/* --print-effective-config: instead of the command. */
enum ExitCode session_print_config(Session *s);

/* Says on a terminal what is being done, in a line that goes away with the next one, with
 * a message, or (NULL) before something else is printed. */
void session_progress(Session *s, const char *what);

/* Notes a stage's time since `from` (of clock_now), if the user wants to know. */
void session_timing(const Session *s, const char *stage, double from);

/* Prints the totals, if the user wants to know. */
void session_end(Session *s);

#define COMMAND(name, ...) enum ExitCode cmd_##name(Session *s);
#include "frontend/commands.def"

#endif
