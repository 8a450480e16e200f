#include "runtime/host/emu_options.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/host/error.h"

/* A number after "name=" that takes up the whole of the word. */
static bool number(const char *word, size_t n, const char *name, unsigned long most,
		   unsigned long *value)
{
	const size_t skip = strlen(name);
	char *end;

	if (n <= skip + 1 || strncmp(word, name, skip) != 0 || word[skip] != '=' ||
	    word[skip + 1] < '0' || word[skip + 1] > '9')
		return false;
	*value = strtoul(word + skip + 1, &end, 10);
	return end == word + n && *value <= most;
}

static bool is(const char *word, size_t n, const char *name)
{
	return n == strlen(name) && strncmp(word, name, n) == 0;
}

bool emu_options_parse(const char *text, EmuOptions *options, bool *race, TesseraError *e)
{
	*options = (EmuOptions){ .strict = true };
	*race = false;
	while (*text) {
		const size_t n = strcspn(text, ",");
		unsigned long value;

		if (is(text, n, "fast"))
			options->fast = true;
		else if (is(text, n, "race"))
			*race = true;
		else if (is(text, n, "profile"))
			options->profile = true;
		else if (is(text, n, "counters"))
			options->counters = true;
		else if (number(text, n, "threads", EMU_MOST_THREADS, &value))
			options->threads = (int)value;
		else if (number(text, n, "quantum", 1000000, &value))
			options->quantum = (uint32_t)value;
		else if (number(text, n, "strict", 1, &value))
			options->strict = value;
		else
			return rt_fail(e, TESSERA_BAD_DEVICE,
				       "emu: no such option: %.*s; there are fast, race, "
				       "profile, counters, threads=N up to %d, quantum=N and strict=0",
				       (int)(n < 64 ? n : 64), text, EMU_MOST_THREADS);
		text += n + (text[n] == ',');
	}
	return true;
}
