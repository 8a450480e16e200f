/*
 * --cache-dir: what compile writes and says, kept by all that determines it.
 *
 * That is: this program, byte by byte, and its LLVM; every option and value that is not
 * about where results go; the graph as it was read, weights and all; the target as a file;
 * the plan file; the inputs of --calibrate. The key is the SHA-256 of these. The model is
 * read in any case, and what is said while reading is said.
 *
 * An entry holds what was said afterwards, the summary in each form, and the files of -o,
 * each behind its name without the folder.
 */
#ifndef FRONTEND_CMD_CACHE_H
#define FRONTEND_CMD_CACHE_H

#include "frontend/cmd_device.h"
#include "ir/sha256.h"

typedef struct Cache {
	const char *dir; /* NULL: there is none, and nothing here does anything */
	char key[SHA256_HEX];
	TextFile said;
} Cache;

/* False if --cache-dir cannot be used as asked, reported. */
bool session_cache_asked(Session *s);

/* The key of the graph that was read. From here on what is said is kept. Not EXIT_OK:
 * reported. */
enum ExitCode session_cache_begin(Session *s, Cache *c, const Graph *g);

/* True if there is an entry: then *code is how writing its files went. */
bool session_cache_use(Session *s, Cache *c, enum ExitCode *code);

/* Keeps all that was written, and the summary, if there is a plan. */
void session_cache_keep(Session *s, Cache *c, const Planned *p);

/* Keeps nothing. */
void session_cache_drop(Session *s, Cache *c);

#endif
