#include "backend/ttcnn_writer.h"

#include <assert.h>
#include <stdarg.h>

#include "ir/file.h"

static void indent(const Py *p) { fprintf(p->f, "%*s", 4 * p->depth, ""); }

/* Where the next argument stands. */
static void next_arg(Py *p, const char *keyword)
{
	assert(p->calls > 0);
	const int call = p->calls - 1;
	if (p->mode[call] == PY_LINES)
		indent(p);
	else if (p->args[call])
		fputs(", ", p->f);
	p->args[call]++;
	if (keyword)
		fprintf(p->f, "%s=", keyword);
}

static void arg_done(const Py *p)
{
	if (p->calls && p->mode[p->calls - 1] == PY_LINES)
		fputs(",\n", p->f);
}

static void open_call(Py *p, const char *callee, PyMode mode)
{
	assert(p->calls < PY_DEEPEST);
	fprintf(p->f, "%s(", callee);
	p->mode[p->calls] = mode;
	p->args[p->calls++] = 0;
	if (mode == PY_LINE)
		return;
	fputc('\n', p->f);
	p->depth++;
}

void py_call(Py *p, const char *target, const char *callee, PyMode mode)
{
	indent(p);
	if (target)
		fprintf(p->f, "%s = ", target);
	open_call(p, callee, mode);
}

void py_nest(Py *p, const char *keyword, const char *callee, PyMode mode)
{
	next_arg(p, keyword);
	open_call(p, callee, mode);
}

void py_end(Py *p)
{
	if (p->mode[--p->calls] == PY_LINES) {
		p->depth--;
		indent(p);
	}
	fputc(')', p->f);
	if (p->calls)
		arg_done(p);
	else
		fputc('\n', p->f);
}

void py_arg(Py *p, const char *keyword, const char *fmt, ...)
{
	va_list args;
	next_arg(p, keyword);
	va_start(args, fmt);
	vfprintf(p->f, fmt, args);
	va_end(args);
	arg_done(p);
}

void py_flag(Py *p, const char *keyword, bool value)
{
	py_arg(p, keyword, "%s", value ? "True" : "False");
}

void py_text(Py *p, const char *keyword, const char *value)
{
	next_arg(p, keyword);
	text_quote(p->f, value);
	arg_done(p);
}

static void put_line(const Py *p, const char *end, const char *fmt, va_list args)
{
	indent(p);
	vfprintf(p->f, fmt, args);
	fputs(end, p->f);
}

void py_block(Py *p, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	put_line(p, ":\n", fmt, args);
	va_end(args);
	p->depth++;
}

void py_leave(Py *p) { p->depth--; }

void py_line(Py *p, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	put_line(p, "\n", fmt, args);
	va_end(args);
}

void py_blank(Py *p) { fputc('\n', p->f); }
