#include "ir/sha256.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 64, ROUNDS = 64 };

/* The first 32 bits of the fractions of the cube roots of the first 64 primes. */
static const uint32_t constants[ROUNDS] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void spread(const unsigned char *block, uint32_t w[ROUNDS])
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16
			| (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < ROUNDS; i++) {
		const uint32_t a = w[i - 15], b = w[i - 2];
		w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7]
			+ (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
	}
}

static void take_in(Sha256 *h, const unsigned char *block)
{
	uint32_t w[ROUNDS], v[8 + ROUNDS]; /* a round's eight end where the last one's began */
	spread(block, w);
	memcpy(v + ROUNDS, h->state, sizeof h->state);
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t *now = v + ROUNDS - i;
		const uint32_t a = now[0], e = now[4];
		const uint32_t one = now[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25))
			+ ((e & now[5]) ^ (~e & now[6])) + constants[i] + w[i];
		const uint32_t two = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22))
			+ ((a & now[1]) ^ (a & now[2]) ^ (now[1] & now[2]));
		now[3] += one;
		now[-1] = one + two;
	}
	for (int i = 0; i < 8; i++)
		h->state[i] += v[i];
}

void sha256_init(Sha256 *h)
{
	*h = (Sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
				  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(Sha256 *h, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t used = h->bytes % BLOCK;
	h->bytes += n;
	for (; n && used; n--) {
		h->block[used++] = *p++;
		if (used == BLOCK) {
			take_in(h, h->block);
			used = 0;
		}
	}
	for (; n >= BLOCK; n -= BLOCK, p += BLOCK)
		take_in(h, p);
	if (n)
		memcpy(h->block + used, p, n);
}

void sha256_add_text(Sha256 *h, const char *text)
{
	const uint64_t n = strlen(text);
	unsigned char length[8];
	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(n >> 8 * i);
	sha256_add(h, length, sizeof length);
	sha256_add(h, text, n);
}

void sha256_finish(Sha256 *h, char hex[SHA256_HEX])
{
	const uint64_t bits = 8 * h->bytes;
	unsigned char length[8];
	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> 8 * (7 - i));
	sha256_add(h, "\x80", 1);
	while (h->bytes % BLOCK != BLOCK - sizeof length)
		sha256_add(h, "", 1);
	sha256_add(h, length, sizeof length);
	for (int i = 0; i < 8; i++)
		snprintf(hex + 8 * i, 9, "%08x", (unsigned)h->state[i]);
}
