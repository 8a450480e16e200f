#include "backend/metal_write.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "ir/diag.h"
#include "ir/file.h"

enum { LARGEST_COUNT = 0xffff, COLUMNS = 96 };

static const struct {
	int nest;
	const char *spelling;
} lines[] = {
#define LINE(id, nest, spelling) { nest, spelling },
#include "backend/metal_lines.def"
};

static void spell(FILE *f, const char *spelling, va_list *args)
{
	for (const char *s = spelling; *s; s++) {
		if (*s != '%') {
			fputc(*s, f);
			continue;
		}
		uint32_t value;
		switch (*++s) {
		case 's':
			fputs(va_arg(*args, const char *), f);
			break;
		case 'q':
			text_quote(f, va_arg(*args, const char *));
			break;
		case 'd':
			fprintf(f, "%d", va_arg(*args, int));
			break;
		case 'x':
			fprintf(f, "0x%x", va_arg(*args, uint32_t));
			break;
		case 'v':
			value = va_arg(*args, uint32_t);
			fprintf(f, value > LARGEST_COUNT ? "0x%x" : "%u", value);
			break;
		case '%':
			fputc('%', f);
			break;
		default:
			die("a row of metal_lines.def has %%%c", *s);
		}
	}
}

void metal_open(MetalWriter *w)
{
	text_open(&w->out);
	w->depth = 0;
}

void metal_line(MetalWriter *w, MetalLine line, ...)
{
	va_list args;
	if (lines[line].nest < 0)
		w->depth--;
	for (int i = 0; i < w->depth && *lines[line].spelling && *lines[line].spelling != '#'; i++)
		fputc('\t', w->out.f);
	va_start(args, line);
	spell(w->out.f, lines[line].spelling, &args);
	va_end(args);
	fputc('\n', w->out.f);
	if (lines[line].nest > 0)
		w->depth++;
}

const char *metal_spell(Arena *a, MetalLine line, ...)
{
	TextFile t;
	va_list args;
	text_open(&t);
	va_start(args, line);
	spell(t.f, lines[line].spelling, &args);
	va_end(args);
	return text_take(&t, a);
}

/* Names of models may hold anything, also what would begin or end a comment. */
static void comment_text(FILE *f, const char *s, int n)
{
	for (int i = 0; i < n; i++) {
		const bool mark = s[i] == '/' && ((i && s[i - 1] == '*') || s[i + 1] == '*');
		const bool plain = (unsigned char)s[i] >= ' ' && s[i] != 0x7f && s[i] != '\\';
		fputc(mark ? '|' : plain ? s[i] : '?', f);
	}
}

void metal_comment(MetalWriter *w, int indent, const char *text)
{
	for (bool first = true; *text; first = false) {
		const int at = 8 * w->depth + 3 + indent + (first ? 0 : 4);
		const int room = at < COLUMNS - 20 ? COLUMNS - at : 20;
		int n = (int)strlen(text);
		for (int i = n; n > room && i > 0; i--)
			if (text[i] == ' ' && (i <= room || i < n))
				n = i;
		for (int i = 0; i < w->depth; i++)
			fputc('\t', w->out.f);
		fprintf(w->out.f, " *%*s", 1 + indent + (first ? 0 : 4), "");
		comment_text(w->out.f, text, n);
		fputc('\n', w->out.f);
		text += n;
		text += *text == ' ';
	}
}

Bytes metal_close(MetalWriter *w, Arena *a)
{
	const char *text = text_take(&w->out, a);
	return (Bytes){ text, strlen(text) };
}
