/*
 * Files that are part of a library, put there at build time by embed.sh; here
 * the target files. A NUL follows the last byte.
 */
#ifndef IR_EMBED_H
#define IR_EMBED_H

#include <stddef.h>

typedef struct EmbeddedFile {
	const char *name; /* without folder and suffix */
	const char *text;
	size_t size;
} EmbeddedFile;

extern const EmbeddedFile embedded_targets[];
extern const int embedded_targets_count;

#endif
