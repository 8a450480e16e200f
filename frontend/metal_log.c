#include "frontend/metal_log.h"

#include <stdio.h>
#include <string.h>

enum { MOST_LINE = 4096 };

/* Is this circular buffer of this core among those of the program already? */
static bool begins_program(const MetalLog *l, const LogCb *c)
{
	for (int i = l->ncbs - 1; i >= 0 && l->cbs[i].program == l->programs - 1; i--)
		if (l->cbs[i].id == c->id && l->cbs[i].col == c->col && l->cbs[i].row == c->row)
			return true;
	return l->programs == 0;
}

static bool read_cb(MetalLog *l, Arena *a, const char *line)
{
	LogCb c = { 0 };
	const char *at = strstr(line, "Core(");
	unsigned long long address, page, pages;
	if (!at || sscanf(at, "Core(%d,%d) CB[%d]: addr=0x%llx page_size=%llu num_pages=%llu", &c.col,
			  &c.row, &c.id, &address, &page, &pages) != 6)
		return false;
	c.address = address;
	c.page_bytes = page;
	c.pages = pages;
	l->programs += begins_program(l, &c);
	c.program = l->programs - 1;
	l->cbs = arena_grow(a, l->cbs, l->ncbs, sizeof *l->cbs);
	l->cbs[l->ncbs++] = c;
	return true;
}

static void allocated(MetalLog *l, unsigned memory, long long bytes)
{
	if (memory >= LOG_MEMORIES || bytes < 0)
		return;
	l->buffers[memory]++;
	l->bytes[memory] += bytes;
}

static bool read_allocation(MetalLog *l, const char *line)
{
	unsigned memory;
	long long bytes;
	int device;
	const char *at = strstr(line, "record_allocation (");
	if (!at || sscanf(at, "record_allocation (device_id=%d, type=%u, size=%lld B", &device,
			  &memory, &bytes) != 3)
		return false;
	allocated(l, memory, bytes);
	return true;
}

static bool read_create(MetalLog *l, const char *line)
{
	static const char *const names[LOG_MEMORIES] = { "DRAM", "L1", "SYSTEM_MEMORY", "L1_SMALL",
							 "TRACE" };
	char name[64];
	long long bytes, page;
	const char *at = strstr(line, "CaptureBufferCreate: ");
	if (!at || sscanf(at, "CaptureBufferCreate: size: %lld page_size: %lld buffer_type: %63s",
			  &bytes, &page, name) != 3)
		return false;
	const char *last = strrchr(name, ':');
	for (unsigned m = 0; m < LOG_MEMORIES; m++)
		if (strcmp(last ? last + 1 : name, names[m]) == 0)
			allocated(l, m, bytes);
	return true;
}

static void read_clash(MetalLog *l, Arena *a, const char *line)
{
	const char *at = strstr(line, "Statically allocated circular buffers ");
	if (!at)
		return;
	l->clashes = arena_grow(a, l->clashes, l->nclashes, sizeof *l->clashes);
	l->clashes[l->nclashes++] = arena_printf(a, "%s", at);
}

void metal_log_read(MetalLog *l, Arena *a, const char *text, size_t size)
{
	const char *end = text + size;
	*l = (MetalLog){ 0 };
	for (const char *next; text < end; text = next) {
		char line[MOST_LINE];
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((stop ? stop : end) - text);
		next = stop ? stop + 1 : end;
		n = n < sizeof line ? n : sizeof line - 1;
		memcpy(line, text, n);
		line[n] = '\0';
		if (!read_cb(l, a, line) && !read_allocation(l, line) && !read_create(l, line))
			read_clash(l, a, line);
	}
}

bool metal_log_empty(const MetalLog *l)
{
	int n = l->ncbs + l->nclashes;
	for (int m = 0; m < LOG_MEMORIES; m++)
		n += l->buffers[m];
	return n == 0;
}
