#include "tests/check.h"

#include <string.h>

#include "runtime/emu/word_map.h"

enum { WORDS = 10 * WORD_LINE };

static uint32_t seed = 1;

static uint32_t next(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* Words from `first` on have the value of the first one as far as a run says. */
static void check_runs(const WordMap *m, const uint32_t want[WORDS], uint32_t first, uint32_t end)
{
	uint32_t value;

	for (uint32_t w = first, stop; w < end; w = stop) {
		stop = word_run(m, w, end, &value);
		assert_true(stop > w && stop <= end);
		for (uint32_t k = w; k < stop; k++) {
			assert_int_equal(value, want[k]);
			assert_int_equal(word_at(m, k), want[k]);
		}
	}
}

static void a_map_holds_what_an_array_would(void **state)
{
	uint32_t want[WORDS] = { 0 };
	WordMap m;

	(void)state;
	assert_true(word_map_make(&m, WORDS));
	for (int turn = 0; turn < 20000; turn++) {
		const uint32_t first = next(WORDS), end = first + next(WORDS - first + 1);
		const uint32_t clear = next(3) ? next(8) : ~0u, set = next(8);

		word_change(&m, first, end, clear, set);
		for (uint32_t w = first; w < end; w++)
			want[w] = (want[w] & ~clear) | set;
		check_runs(&m, want, next(end + 1), end);
		check_runs(&m, want, 0, WORDS);
	}
	word_map_free(&m);
}

static void a_line_set_bit_by_bit_is_one_run(void **state)
{
	uint32_t value;
	WordMap m;

	(void)state;
	assert_true(word_map_make(&m, WORDS));
	word_change(&m, 3, 4, 0, 1);
	assert_int_equal(word_run(&m, 0, WORDS, &value), 1);
	word_change(&m, 0, 3, 0, 1);
	word_change(&m, 4, WORD_LINE, 0, 1);
	assert_int_equal(word_run(&m, 0, WORDS, &value), WORD_LINE);
	assert_int_equal(value, 1);
	word_map_free(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_map_holds_what_an_array_would),
		cmocka_unit_test(a_line_set_bit_by_bit_is_one_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
