#include "frontend/json.h"

#include <string.h>

static void skip_spaces(Json *j)
{
	while (j->p < j->end && *j->p && strchr(" \t\r\n", *j->p))
		j->p++;
}

static bool fail(Json *j, const char *expected)
{
	if (!j->wrong)
		j->wrong = expected;
	return false;
}

static bool take(Json *j, char c)
{
	skip_spaces(j);
	if (j->wrong || j->p == j->end || *j->p != c)
		return false;
	j->p++;
	return true;
}

void json_open(Json *j, char bracket)
{
	if (!take(j, bracket))
		fail(j, bracket == '{' ? "an object" : "an array");
	j->inside = false;
}

bool json_more(Json *j, char bracket)
{
	if (j->wrong)
		return false;
	if (take(j, bracket)) {
		j->inside = true; /* what closes is a member of what is around it */
		return false;
	}
	if (j->inside && !take(j, ','))
		return fail(j, bracket == '}' ? "',' or '}'" : "',' or ']'");
	j->inside = true;
	return true;
}

/* Four hex digits, or -1. */
static int32_t take_hex(Json *j)
{
	int32_t v = 0;
	if (j->end - j->p < 4)
		return -1;
	for (int i = 0; i < 4; i++, j->p++) {
		const char *digits = "0123456789abcdefABCDEF", *at = strchr(digits, *j->p);
		if (!at || !*at)
			return -1;
		v = v * 16 + (int)(at - digits) - (at - digits > 15 ? 6 : 0);
	}
	return v;
}

/* The code point of a \u escape, whose letter is taken; -1 if it is wrong. */
static int32_t take_code_point(Json *j)
{
	int32_t high = take_hex(j);
	if (high < 0xd800 || high > 0xdfff)
		return high;
	if (high > 0xdbff || j->end - j->p < 2 || j->p[0] != '\\' || j->p[1] != 'u')
		return -1;
	j->p += 2;
	int32_t low = take_hex(j);
	if (low < 0xdc00 || low > 0xdfff)
		return -1;
	return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

static char *put_utf8(char *out, int32_t c)
{
	if (c < 0x80) {
		*out++ = (char)c;
		return out;
	}
	const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	*out++ = (char)((0xf00 >> more & 0xff) | c >> 6 * more);
	for (int i = more - 1; i >= 0; i--)
		*out++ = (char)(0x80 | (c >> 6 * i & 0x3f));
	return out;
}

/* One character, escaped or not, into `out`; NULL if it is wrong. */
static char *take_char(Json *j, char *out)
{
	static const char letters[] = "\"\\/bfnrt", plain[] = "\"\\/\b\f\n\r\t";
	char c = *j->p++;
	if ((unsigned char)c < 0x20)
		return NULL;
	if (c != '\\') {
		*out++ = c;
		return out;
	}
	if (j->p == j->end || !*j->p)
		return NULL;
	c = *j->p++;
	const char *at = strchr(letters, c);
	if (at) {
		*out++ = plain[at - letters];
		return out;
	}
	int32_t code = c == 'u' ? take_code_point(j) : -1;
	return code <= 0 ? NULL : put_utf8(out, code);
}

const char *json_string(Json *j)
{
	if (!take(j, '"')) {
		fail(j, "a string");
		return "";
	}
	/* A character is never longer than its escape. */
	const char *close = j->p;
	while (close < j->end && *close != '"')
		close += *close == '\\' && j->end - close > 1 ? 2 : 1;
	if (close == j->end) {
		fail(j, "the end of a string");
		return "";
	}
	char *s = arena_alloc(j->arena, (size_t)(close - j->p) + 1), *out = s;
	while (j->p < close && out)
		out = take_char(j, out);
	if (!out) {
		fail(j, "a string without NUL, bare control characters or unknown escapes");
		return "";
	}
	j->p = close + 1;
	return s;
}

const char *json_key(Json *j)
{
	const char *key = json_string(j);
	if (!j->wrong && !take(j, ':'))
		fail(j, "':'");
	return key;
}

uint64_t json_uint(Json *j)
{
	uint64_t v = 0;
	skip_spaces(j);
	const char *from = j->p;
	for (; !j->wrong && j->p < j->end && *j->p >= '0' && *j->p <= '9'; j->p++) {
		const uint64_t digit = (uint64_t)(*j->p - '0');
		if (v > (UINT64_MAX - digit) / 10)
			break;
		v = v * 10 + digit;
	}
	const bool more = j->p < j->end && *j->p && strchr("0123456789.eE+-", *j->p);
	if (j->p == from || more || (*from == '0' && j->p > from + 1)) {
		fail(j, "a whole number");
		return 0;
	}
	return v;
}

void json_finish(Json *j)
{
	skip_spaces(j);
	if (!j->wrong && j->p != j->end)
		fail(j, "the end of the header");
}

void json_print_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fputc('\\', f);
		if ((unsigned char)*s < 0x20)
			fprintf(f, "\\u%04x", (unsigned char)*s);
		else
			fputc(*s, f);
	}
	fputc('"', f);
}
