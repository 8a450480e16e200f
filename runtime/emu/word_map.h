/*
 * A number for every word of L1, most of which are like their neighbours'.
 *
 * Where all words of a line have the same, it stands once, in `line`; only the words
 * of lines that are `mixed` have their own. A range is gone through in runs:
 *
 *     for (uint32_t w = first, next; w < end; w = next) {
 *             next = word_run(m, w, end, &value);
 *             ... words w to next - 1 have `value`
 */
#ifndef RUNTIME_EMU_WORD_MAP_H
#define RUNTIME_EMU_WORD_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { WORD_LINE = 16 };

typedef struct WordMap {
	uint32_t *line, *word;
	bool *mixed; /* by line */
} WordMap;

/* All zero; false if the memory cannot be had. */
bool word_map_make(WordMap *m, uint32_t words);
void word_map_free(WordMap *m);

static inline uint32_t word_at(const WordMap *m, uint32_t w)
{
	return m->mixed[w / WORD_LINE] ? m->word[w] : m->line[w / WORD_LINE];
}

/* How far words have the value of word w, or as far as that is easy to tell; `end` at
 * most. */
static inline uint32_t word_run(const WordMap *m, uint32_t w, uint32_t end, uint32_t *value)
{
	const uint32_t line = w / WORD_LINE, stop = (line + 1) * WORD_LINE;

	*value = word_at(m, w);
	if (m->mixed[line])
		return w + 1;
	return stop < end ? stop : end;
}

/* Words from first to before end: without the bits of `clear`, and then with those of
 * `set`. */
void word_change(WordMap *m, uint32_t first, uint32_t end, uint32_t clear, uint32_t set);

static inline void word_set(WordMap *m, uint32_t first, uint32_t end, uint32_t value)
{
	word_change(m, first, end, ~0u, value);
}

#endif
