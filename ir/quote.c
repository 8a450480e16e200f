#include "ir/quote.h"

#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_part(char c) { return is_letter(c) || is_digit(c) || c == '.'; }

bool name_is_bare(const char *name)
{
	const size_t digits = strspn(name, "0123456789");
	if (digits)
		return name[digits] == '\0';
	if (!is_letter(*name))
		return false;
	while (is_part(*name))
		name++;
	return *name == '\0';
}

void quote_print(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c == '\n')
			fputs("\\n", f);
		else if (c < ' ' || c > '~')
			fprintf(f, "\\x%02x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

void name_print(FILE *f, const char *name)
{
	if (name_is_bare(name))
		fputs(name, f);
	else
		quote_print(f, name);
}

static int hex(char c)
{
	if (is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character that is spelt at *at, which is moved behind it; 0 if it is wrong. */
static char character(const char **at, const char *end)
{
	const char c = *(*at)++;
	if (c != '\\')
		return c;
	if (*at == end)
		return '\0';
	const char kind = *(*at)++;
	if (kind == '"' || kind == '\\')
		return kind;
	if (kind == 'n')
		return '\n';
	if (kind != 'x' || end - *at < 2 || hex((*at)[0]) < 0 || hex((*at)[1]) < 0)
		return '\0';
	*at += 2;
	return (char)(hex((*at)[-2]) << 4 | hex((*at)[-1]));
}

const char *name_read(Arena *a, const char **at, const char *end)
{
	const char *p = *at;
	while (p < end && is_part(*p))
		p++;
	if (p > *at || p == end || *p != '"') {
		const char *bare = p > *at ? arena_strndup(a, *at, (size_t)(p - *at)) : NULL;
		*at = p;
		return bare;
	}
	char *name = arena_alloc(a, (size_t)(end - p) + 1), *to = name;
	for (p++; p < end && *p != '"'; to++) {
		*to = character(&p, end);
		if (!*to)
			return NULL;
	}
	if (p == end)
		return NULL;
	*at = p + 1;
	return name;
}
