/*
 * Memory of a simulated chip: any byte of any tile, zero until it is written.
 * Writing zeros where nothing is leaves nothing, so two chips with the same
 * bytes have the same pages.
 */
#ifndef TESTS_CHIP_MEMORY_H
#define TESTS_CHIP_MEMORY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHIP_PAGE = 4096, CHIP_BUCKETS = 4096 };

typedef struct ChipPage {
	struct ChipPage *next;
	uint32_t x, y;
	uint64_t number;
	uint8_t bytes[CHIP_PAGE];
} ChipPage;

typedef struct Chip {
	ChipPage *bucket[CHIP_BUCKETS];
	size_t pages;
} Chip;

static inline ChipPage *chip_page(Chip *c, uint32_t x, uint32_t y, uint64_t number, bool make)
{
	ChipPage **at = &c->bucket[(number * 31 + x * 7 + y * 257) % CHIP_BUCKETS];

	for (ChipPage *p = *at; p; p = p->next)
		if (p->x == x && p->y == y && p->number == number)
			return p;
	if (!make)
		return NULL;
	ChipPage *p = calloc(1, sizeof *p);
	if (!p)
		abort();
	*p = (ChipPage){ .next = *at, .x = x, .y = y, .number = number };
	c->pages++;
	return *at = p;
}

static inline bool chip_zeros(const uint8_t *p, size_t n)
{
	return n == 0 || (*p == 0 && memcmp(p, p + 1, n - 1) == 0);
}

static inline void chip_write(Chip *c, uint32_t x, uint32_t y, uint64_t address, const void *from,
			      size_t n)
{
	const uint8_t *bytes = from;

	for (size_t k; n; address += k, bytes += k, n -= k) {
		const size_t room = CHIP_PAGE - address % CHIP_PAGE;

		k = n < room ? n : room;
		ChipPage *p = chip_page(c, x, y, address / CHIP_PAGE, !chip_zeros(bytes, k));
		if (p)
			memcpy(p->bytes + address % CHIP_PAGE, bytes, k);
	}
}

static inline void chip_read(Chip *c, uint32_t x, uint32_t y, uint64_t address, void *to, size_t n)
{
	uint8_t *bytes = to;

	for (size_t k; n; address += k, bytes += k, n -= k) {
		const size_t room = CHIP_PAGE - address % CHIP_PAGE;
		const ChipPage *p = chip_page(c, x, y, address / CHIP_PAGE, false);

		k = n < room ? n : room;
		if (p)
			memcpy(bytes, p->bytes + address % CHIP_PAGE, k);
		else
			memset(bytes, 0, k);
	}
}

static inline void chip_clear(Chip *c)
{
	for (size_t i = 0; i < CHIP_BUCKETS; i++)
		for (ChipPage *p = c->bucket[i], *next; p; p = next) {
			next = p->next;
			free(p);
		}
	*c = (Chip){ 0 };
}

#endif
