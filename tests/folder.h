/* A folder of a test's own, under TMPDIR or where the C library puts such. */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"

enum { FOLDER_ROOM = 256 };

static inline void folder_make(char path[FOLDER_ROOM])
{
	const char *base = getenv("TMPDIR");
	int n = snprintf(path, FOLDER_ROOM - 6, "%s/tessera-", base && *base ? base : P_tmpdir);
	assert_true(n > 0 && n < FOLDER_ROOM - 6);
	memset(path + n, 'X', 6); /* what mkdtemp replaces */
	path[n + 6] = '\0';
	assert_non_null(mkdtemp(path));
}

#endif
