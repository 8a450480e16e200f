#include "runtime/host/error.h"

#include <stdarg.h>
#include <string.h>

bool rt_fail(TesseraError *e, TesseraCode code, const char *format, ...)
{
	if (!e)
		return false;
	va_list args;
	va_start(args, format);
	vsnprintf(e->text, sizeof e->text, format, args);
	va_end(args);
	for (char *p = e->text; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	e->code = code;
	e->detail[0] = '\0';
	return false;
}

void rt_detail(TesseraError *e, const char *format, ...)
{
	if (!e)
		return;
	const size_t n = strlen(e->detail);
	va_list args;
	va_start(args, format);
	vsnprintf(e->detail + n, sizeof e->detail - n, format, args);
	va_end(args);
}
