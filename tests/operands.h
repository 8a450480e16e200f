/* Random operands for arithmetic that has to be right to the bit: numbers near
 * each other, numbers far apart, zeros of both signs, denormals, infinities and
 * NaN. */
#ifndef TESTS_OPERANDS_H
#define TESTS_OPERANDS_H

#include <stdint.h>
#include <string.h>

typedef struct Operands {
	uint64_t state;
} Operands;

static inline uint32_t operands_bits(Operands *o)
{
	o->state ^= o->state << 13;
	o->state ^= o->state >> 7;
	o->state ^= o->state << 17;
	return (uint32_t)(o->state >> 16);
}

static inline uint32_t operands_float(float v)
{
	uint32_t bits;

	memcpy(&bits, &v, sizeof bits);
	return bits;
}

enum { OPERAND_KINDS = 7 };

/* An fp32 word of one of the kinds; a set of operands is of one kind or of all,
 * as the caller likes. */
static inline uint32_t operands_word(Operands *o, unsigned kind)
{
	uint32_t bits = operands_bits(o), rest = bits & 0x807fffff, more = operands_bits(o);

	switch (kind % OPERAND_KINDS) {
	case 0: /* anything */
		return bits;
	case 1: /* around one */
		return rest | (120 + more % 14) << 23;
	case 2: /* a third of them zero or denormal */
		return more % 3    ? rest | (110 + more / 3 % 30) << 23
			: more & 4 ? rest
				   : bits & 0x80000000;
	case 3: /* two scales far apart */
		return rest | (more & 3 ? 60 + more / 4 % 10 : 180 + more / 4 % 70) << 23;
	case 4: /* powers of two: ties and cancellation */
		return more % 5 ? (bits & 0x80000000) | (126 + more / 8 % 4) << 23
				: bits & 0xff800000;
	case 5: /* the ends of the range */
		return rest | (more & 1 ? 255 - (more >> 1) % 8 : (more >> 1) % 8) << 23;
	default: /* few bits: exact results, whole zeros */
		return more & 1 ? 0 : (rest & 0x80700000) | (127 + more / 2 % 3) << 23;
	}
}

#endif
