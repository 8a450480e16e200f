/*
 * SHA-256 (FIPS 180-4), of bytes that come in pieces.
 *
 *     Sha256 h;
 *     sha256_init(&h);
 *     sha256_add(&h, "abc", 3);
 *     sha256_finish(&h, hex);      "ba7816bf8f01cfea414140de5dae2223..."
 */
#ifndef IR_SHA256_H
#define IR_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_HEX = 64 + 1 };

typedef struct Sha256 {
	uint32_t state[8];
	uint64_t bytes; /* so far */
	unsigned char block[64];
} Sha256;

void sha256_init(Sha256 *h);
void sha256_add(Sha256 *h, const void *data, size_t n);

/* A text with its length, so that two in a row are no other two. */
void sha256_add_text(Sha256 *h, const char *text);

/* In lower-case hex digits, ended by NUL; nothing can be added any more. */
void sha256_finish(Sha256 *h, char hex[SHA256_HEX]);

#endif
