/* SHA-256, by the examples of its standard. */
#include <string.h>

#include "ir/sha256.h"
#include "tests/check.h"

static void of_short_texts(void **state)
{
	static const struct {
		const char *text, *hex;
	} known[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	char hex[SHA256_HEX];
	(void)state;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		Sha256 h;
		sha256_init(&h);
		sha256_add(&h, known[i].text, strlen(known[i].text));
		sha256_finish(&h, hex);
		assert_string_equal(hex, known[i].hex);
	}
}

static void of_a_million_letters_whatever_the_pieces(void **state)
{
	char text[1000], hex[SHA256_HEX];
	(void)state;
	memset(text, 'a', sizeof text);
	for (size_t piece = 1; piece <= sizeof text; piece += 37) {
		Sha256 h;
		sha256_init(&h);
		for (size_t left = 1000000; left;) {
			const size_t n = left < piece ? left : piece;
			sha256_add(&h, text, n);
			left -= n;
		}
		sha256_finish(&h, hex);
		assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67"
					 "f1809a48a497200e046d39ccc7112cd0");
	}
}

static void where_one_text_ends_counts(void **state)
{
	static const char *const pairs[2][2] = { { "ab", "c" }, { "a", "bc" } };
	char hex[2][SHA256_HEX];
	(void)state;
	for (int i = 0; i < 2; i++) {
		Sha256 h;
		sha256_init(&h);
		sha256_add_text(&h, pairs[i][0]);
		sha256_add_text(&h, pairs[i][1]);
		sha256_finish(&h, hex[i]);
	}
	assert_string_not_equal(hex[0], hex[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_short_texts),
		cmocka_unit_test(of_a_million_letters_whatever_the_pieces),
		cmocka_unit_test(where_one_text_ends_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
