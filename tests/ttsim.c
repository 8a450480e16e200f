#include "tests/ttsim.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* One window of 16 MiB is enough: the 11th kind in BAR 0. Its configuration has
 * the upper address bits, then x, then y (libttsim_api.md). */
enum {
	WINDOW = 166,
	WINDOW_AT = 0x0b000000,
	WINDOW_BYTES = 1 << 24,
	WINDOW_CONFIG = 0x1fc00000 + 8 * WINDOW,
};

struct Ttsim {
	uint64_t bar, config;
	void (*init)(void);
	void (*clock)(uint32_t clocks);
	uint32_t (*config_read)(uint32_t function, uint32_t offset);
	void (*read)(uint64_t address, void *to, uint32_t n);
	void (*write)(uint64_t address, const void *from, uint32_t n);
};

static void *symbol(void *library, const char *name)
{
	void *at = dlsym(library, name);

	if (!at) {
		fprintf(stderr, "TESSERA_TTSIM: no symbol %s\n", name);
		_exit(2);
	}
	return at;
}

static void open_chip(Ttsim *s)
{
	void *library = dlopen(getenv("TESSERA_TTSIM"), RTLD_NOW | RTLD_LOCAL);

	if (!library) {
		fprintf(stderr, "TESSERA_TTSIM: %s\n", dlerror());
		_exit(2);
	}
	*(void **)&s->init = symbol(library, "libttsim_init");
	*(void **)&s->clock = symbol(library, "libttsim_clock");
	*(void **)&s->config_read = symbol(library, "libttsim_pci_config_rd32");
	*(void **)&s->read = symbol(library, "libttsim_pci_mem_rd_bytes");
	*(void **)&s->write = symbol(library, "libttsim_pci_mem_wr_bytes");
	s->init();
	s->bar = (uint64_t)s->config_read(0, 0x14) << 32 | (s->config_read(0, 0x10) & ~15u);
	s->config = ~(uint64_t)0;
}

bool ttsim_there(void)
{
	const char *path = getenv("TESSERA_TTSIM");

	return path && *path;
}

bool ttsim_run(TtsimBody *body, void *shared, size_t n)
{
	void *map = mmap(NULL, n + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = -1;
	pid_t child;

	if (map == MAP_FAILED)
		return false;
	memcpy(map, shared, n);
	fflush(NULL);
	child = fork();
	if (child == 0) {
		Ttsim s;

		open_chip(&s);
		body(&s, map);
		((uint8_t *)map)[n] = 1; /* the library leaves with any status */
		_exit(0);
	}
	if (child > 0)
		waitpid(child, &status, 0);
	bool done = status == 0 && ((uint8_t *)map)[n];

	if (done)
		memcpy(shared, map, n);
	munmap(map, n + 1);
	return done;
}

/* Where the window shows an address; *n is cut to what it shows. */
static uint64_t window(Ttsim *s, uint32_t x, uint32_t y, uint64_t address, size_t *n)
{
	uint64_t config = address / WINDOW_BYTES | (uint64_t)x << 12 | (uint64_t)y << 18;
	uint64_t offset = address % WINDOW_BYTES;

	if (config != s->config)
		s->write(s->bar + WINDOW_CONFIG, &config, sizeof(config));
	s->config = config;
	if (*n > WINDOW_BYTES - offset)
		*n = WINDOW_BYTES - offset;
	return s->bar + WINDOW_AT + offset;
}

void ttsim_write(Ttsim *s, uint32_t x, uint32_t y, uint64_t address, const void *from, size_t n)
{
	for (size_t done = 0, part; done < n; done += part) {
		part = n - done;
		uint64_t at = window(s, x, y, address + done, &part);

		s->write(at, (const uint8_t *)from + done, (uint32_t)part);
	}
}

void ttsim_read(Ttsim *s, uint32_t x, uint32_t y, uint64_t address, void *to, size_t n)
{
	for (size_t done = 0, part; done < n; done += part) {
		part = n - done;
		uint64_t at = window(s, x, y, address + done, &part);

		s->read(at, (uint8_t *)to + done, (uint32_t)part);
	}
}

void ttsim_clock(Ttsim *s, uint32_t clocks)
{
	s->clock(clocks);
}
