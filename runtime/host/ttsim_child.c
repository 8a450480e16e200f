#include "runtime/host/ttsim_child.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef void Nothing(void);

/* BAR 0: windows of 16 MiB from 0xb000000 on, the first of them number 166;
 * what a window shows stands in 64 bits each from 0x1fc00000 on. */
#define WINDOW        UINT64_C(0xb000000)
#define WINDOW_BYTES  UINT64_C(0x1000000)
#define WINDOW_CONFIG (UINT64_C(0x1fc00000) + 8 * 166)

enum { BAR0_LOW = 0x10, BAR0_HIGH = 0x14, CHUNK = 1 << 20 };

typedef struct Sim {
	int socket;
	uint64_t bar, shown; /* shown: what the window is set to */
	Nothing *init, *exit;
	void (*clock)(uint32_t clocks);
	uint32_t (*config_read)(uint32_t function, uint32_t offset);
	void (*read)(uint64_t address, void *to, uint32_t n);
	void (*write)(uint64_t address, const void *from, uint32_t n);
} Sim;

bool ttsim_send(int socket, const void *from, size_t n)
{
	const uint8_t *at = from;

	while (n) {
		const ssize_t k = send(socket, at, n, MSG_NOSIGNAL);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		at += k;
		n -= (size_t)k;
	}
	return true;
}

bool ttsim_receive(int socket, void *to, size_t n)
{
	uint8_t *at = to;

	while (n) {
		const ssize_t k = recv(socket, at, n, 0);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return false;
		at += k;
		n -= (size_t)k;
	}
	return true;
}

static void answer(int socket, const char *message)
{
	const TtsimAnswer a = { !message, message ? (uint32_t)strlen(message) : 0 };

	if (!ttsim_send(socket, &a, sizeof a) ||
	    (message && !ttsim_send(socket, message, a.message)))
		_exit(1);
}

static _Noreturn void refuse(int socket, const char *message)
{
	answer(socket, message);
	_exit(1);
}

static void open_library(Sim *s, const char *path)
{
	char text[512];
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		refuse(s->socket, dlerror());

	const struct {
		const char *name;
		void *to;
	} symbols[] = {
		{ "libttsim_init", &s->init },
		{ "libttsim_exit", &s->exit },
		{ "libttsim_clock", &s->clock },
		{ "libttsim_pci_config_rd32", &s->config_read },
		{ "libttsim_pci_mem_rd_bytes", &s->read },
		{ "libttsim_pci_mem_wr_bytes", &s->write },
	};
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (!symbol) {
			snprintf(text, sizeof text, "%s: not libttsim: it has no %s", path,
				 symbols[i].name);
			refuse(s->socket, text);
		}
		memcpy(symbols[i].to, &symbol, sizeof symbol);
	}
	s->init();
	const uint64_t high = s->config_read(0, BAR0_HIGH);
	s->bar = high << 32 | (s->config_read(0, BAR0_LOW) & ~UINT32_C(15));
	s->shown = UINT64_MAX;
}

/* Points the window at the address; returns where it shows, and how many bytes
 * there are up to its end, at most `*n`. */
static uint64_t window(Sim *s, const TtsimRequest *r, uint64_t offset, uint64_t *n)
{
	const uint64_t address = r->address + offset, inside = address % WINDOW_BYTES;
	const uint64_t config =
		address / WINDOW_BYTES | (uint64_t)r->x << 12 | (uint64_t)r->y << 18;

	if (config != s->shown)
		s->write(s->bar + WINDOW_CONFIG, &config, sizeof config);
	s->shown = config;
	if (*n > WINDOW_BYTES - inside)
		*n = WINDOW_BYTES - inside;
	return s->bar + WINDOW + inside;
}

/* Piece by piece; a broken socket ends the child. */
static void copy(Sim *s, const TtsimRequest *r, uint8_t *room)
{
	if (r->op == TTSIM_READ)
		answer(s->socket, NULL);
	for (uint64_t at = 0, n; at < r->bytes; at += n) {
		n = r->bytes - at < CHUNK ? r->bytes - at : CHUNK;
		const uint64_t where = window(s, r, at, &n);

		if (r->op == TTSIM_READ) {
			s->read(where, room, (uint32_t)n);
			if (!ttsim_send(s->socket, room, n))
				_exit(1);
		} else {
			if (!ttsim_receive(s->socket, room, n))
				_exit(1);
			s->write(where, room, (uint32_t)n);
		}
	}
	if (r->op == TTSIM_WRITE)
		answer(s->socket, NULL);
}

_Noreturn void ttsim_child(const char *path, int socket)
{
	Sim s = { .socket = socket };
	TtsimRequest r;
	uint8_t *room = malloc(CHUNK);

	if (!room)
		refuse(socket, "out of memory");
	open_library(&s, path);
	answer(socket, NULL);
	while (ttsim_receive(socket, &r, sizeof r)) {
		if (r.op == TTSIM_CLOCK) {
			s.clock(r.clocks);
			answer(socket, NULL);
		} else {
			copy(&s, &r, room);
		}
	}
	s.exit();
	_exit(0);
}
