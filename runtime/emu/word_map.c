#include "runtime/emu/word_map.h"

#include <stdlib.h>

bool word_map_make(WordMap *m, uint32_t words)
{
	const uint32_t lines = (words + WORD_LINE - 1) / WORD_LINE;

	*m = (WordMap){ calloc(lines, sizeof(*m->line)),
			calloc((size_t)lines * WORD_LINE, sizeof(*m->word)),
			calloc(lines, sizeof(*m->mixed)) };
	return m->line && m->word && m->mixed;
}

void word_map_free(WordMap *m)
{
	free(m->line);
	free(m->word);
	free(m->mixed);
}

/* A line whose words are the same again is no longer mixed. */
static void settle(WordMap *m, uint32_t line)
{
	const uint32_t *word = m->word + (size_t)line * WORD_LINE;
	uint32_t differs = 0;

	for (uint32_t k = 1; k < WORD_LINE; k++)
		differs |= word[k] ^ word[0];
	m->line[line] = word[0];
	m->mixed[line] = differs != 0;
}

/* Some words of a line. */
static void change_part(WordMap *m, uint32_t first, uint32_t end, uint32_t clear, uint32_t set)
{
	const uint32_t line = first / WORD_LINE, from = line * WORD_LINE, was = m->line[line];

	if (!m->mixed[line] && ((was & ~clear) | set) == was)
		return;
	for (uint32_t k = 0; k < WORD_LINE && !m->mixed[line]; k++)
		m->word[from + k] = was;
	for (uint32_t w = first; w < end; w++)
		m->word[w] = (m->word[w] & ~clear) | set;
	settle(m, line);
}

void word_change(WordMap *m, uint32_t first, uint32_t end, uint32_t clear, uint32_t set)
{
	for (uint32_t w = first, next; w < end; w = next) {
		const uint32_t line = w / WORD_LINE;

		next = (line + 1) * WORD_LINE;
		if (w % WORD_LINE || next > end || (m->mixed[line] && ~clear)) {
			next = next < end ? next : end;
			change_part(m, w, next, clear, set);
			continue;
		}
		m->line[line] = (m->line[line] & ~clear) | set;
		m->mixed[line] = false;
	}
}
