/*
 * A folder that appears whole or not at all.
 *
 * It is filled under another name beside its place and then renamed. A folder
 * that is there already gives way only if it is empty or its graph.nnef starts
 * with our mark.
 */
#ifndef FRONTEND_NNEF_FOLDER_H
#define FRONTEND_NNEF_FOLDER_H

#include "ir/arena.h"
#include "ir/diag.h"

/* First line of every graph.nnef this project writes. */
#define NNEF_MARK "# written by tessera convert"

/* A new folder to fill; false if `dir` may not be replaced, which is reported. */
bool folder_begin(Arena *a, Diag *d, const char *dir, const char **temporary);

/* Puts it in place, or removes it if `keep` is false. */
bool folder_end(Arena *a, Diag *d, const char *dir, const char *temporary, bool keep);

#endif
