#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "runtime/host/card.h"
#include "runtime/host/error.h"

_Static_assert(sizeof(KmdDeviceInfo) == 24 && sizeof(KmdAllocateTlb) == 48, "the driver's");
_Static_assert(sizeof(KmdConfigureTlb) == 48 && offsetof(KmdConfigureTlb, address) == 8,
	       "the driver's");

typedef struct Card {
	TesseraDevice device;
	CardSystem system;
	int fd;
	bool allocated;
	KmdAllocateTlb tlb;
	KmdConfigureTlb shown; /* what the window is set to */
	bool shows;
	volatile uint32_t *window;
} Card;

static int system_open(void *context, const char *path)
{
	(void)context;
	return open(path, O_RDWR | O_CLOEXEC);
}

static int system_ioctl(void *context, int fd, unsigned long request, void *argument)
{
	(void)context;
	return ioctl(fd, request, argument);
}

static void *system_mmap(void *context, int fd, size_t n, uint64_t offset)
{
	(void)context;
	void *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
	return at == MAP_FAILED ? NULL : at;
}

static void system_munmap(void *context, void *at, size_t n)
{
	(void)context;
	munmap(at, n);
}

static void system_close(void *context, int fd)
{
	(void)context;
	close(fd);
}

static bool show(Card *c, uint32_t x, uint32_t y, uint64_t address, TesseraError *e)
{
	KmdConfigureTlb want = {
		.id = c->tlb.id,
		.address = address / KMD_WINDOW * KMD_WINDOW,
		.x = (uint16_t)x,
		.y = (uint16_t)y,
		.ordering = KMD_ORDER_STRICT,
	};

	if (c->shows && memcmp(&want, &c->shown, sizeof want) == 0)
		return true;
	c->shows = false;
	c->shown = want;
	if (c->system.ioctl(c->system.context, c->fd, KMD_CONFIGURE_TLB, &want) != 0)
		return rt_fail(e, TESSERA_DEVICE, "%s: the window cannot be moved: %s",
			       c->device.name, strerror(errno));
	c->shows = true;
	return true;
}

/* Whole words, as registers want them: the bytes around a transfer that is not
 * aligned are read and written back. */
static void put(volatile uint32_t *window, uint64_t at, const uint8_t *from, size_t n)
{
	while (n) {
		const size_t skip = at % 4, k = n < 4 - skip ? n : 4 - skip;
		uint32_t word = k < 4 ? window[at / 4] : 0;

		memcpy((uint8_t *)&word + skip, from, k);
		window[at / 4] = word;
		at += k;
		from += k;
		n -= k;
	}
}

static void get(volatile uint32_t *window, uint64_t at, uint8_t *to, size_t n)
{
	while (n) {
		const size_t skip = at % 4, k = n < 4 - skip ? n : 4 - skip;
		const uint32_t word = window[at / 4];

		memcpy(to, (const uint8_t *)&word + skip, k);
		at += k;
		to += k;
		n -= k;
	}
}

static size_t piece(uint64_t address, size_t n)
{
	const uint64_t rest = KMD_WINDOW - address % KMD_WINDOW;

	return n < rest ? n : (size_t)rest;
}

static bool card_write(TesseraDevice *d, uint32_t x, uint32_t y, uint64_t address, const void *from,
		       size_t n, TesseraError *e)
{
	Card *c = (Card *)d;
	const uint8_t *bytes = from;

	for (size_t k; n; address += k, bytes += k, n -= k) {
		k = piece(address, n);
		if (!show(c, x, y, address, e))
			return false;
		put(c->window, address % KMD_WINDOW, bytes, k);
	}
	return true;
}

static bool card_read(TesseraDevice *d, uint32_t x, uint32_t y, uint64_t address, void *to,
		      size_t n, TesseraError *e)
{
	Card *c = (Card *)d;
	uint8_t *bytes = to;

	for (size_t k; n; address += k, bytes += k, n -= k) {
		k = piece(address, n);
		if (!show(c, x, y, address, e))
			return false;
		get(c->window, address % KMD_WINDOW, bytes, k);
	}
	return true;
}

static bool card_advance(TesseraDevice *d, uint64_t steps, TesseraError *e)
{
	(void)d, (void)steps, (void)e;
	nanosleep(&(struct timespec){ .tv_nsec = 20000 }, NULL);
	return true;
}

static void card_close(TesseraDevice *d)
{
	Card *c = (Card *)d;

	if (c->window)
		c->system.munmap(c->system.context, (void *)(uintptr_t)c->window, KMD_WINDOW);
	if (c->allocated)
		c->system.ioctl(c->system.context, c->fd, KMD_FREE_TLB, &(KmdFreeTlb){ c->tlb.id });
	if (c->fd >= 0)
		c->system.close(c->system.context, c->fd);
	free(c);
}

static const DeviceOps card_ops = {
	.write = card_write,
	.read = card_read,
	.advance = card_advance,
	.close = card_close,
};

static bool is_wormhole(Card *c, const char *path, TesseraError *e)
{
	KmdDeviceInfo info = { .room = sizeof info - offsetof(KmdDeviceInfo, bytes) };

	if (c->system.ioctl(c->system.context, c->fd, KMD_DEVICE_INFO, &info) != 0)
		return rt_fail(e, TESSERA_BAD_DEVICE, "%s: not a Tenstorrent card: %s", path,
			       strerror(errno));
	if (info.vendor != KMD_VENDOR || info.device != KMD_WORMHOLE)
		return rt_fail(e, TESSERA_BAD_DEVICE,
			       "%s: device %04x:%04x is not a Wormhole, which is %04x:%04x", path,
			       info.vendor, info.device, KMD_VENDOR, KMD_WORMHOLE);
	return true;
}

static bool connect_card(Card *c, const char *path, TesseraError *e)
{
	const CardSystem *s = &c->system;

	c->fd = s->open(s->context, path);
	if (c->fd < 0)
		return rt_fail(e, TESSERA_BAD_DEVICE, "%s: %s", path, strerror(errno));
	if (!is_wormhole(c, path, e))
		return false;
	c->tlb.size = KMD_WINDOW;
	if (s->ioctl(s->context, c->fd, KMD_ALLOCATE_TLB, &c->tlb) != 0)
		return rt_fail(e, TESSERA_DEVICE, "%s: the driver gives no window: %s", path,
			       strerror(errno));
	c->allocated = true;
	c->window = s->mmap(s->context, c->fd, KMD_WINDOW, c->tlb.offset_uncached);
	return c->window || rt_fail(e, TESSERA_DEVICE, "%s: the window cannot be mapped: %s", path,
				    strerror(errno));
}

TesseraDevice *card_open(const CardSystem *system, uint32_t number, TesseraError *e)
{
	char path[64];
	Card *c = calloc(1, sizeof *c);
	if (!c) {
		rt_fail(e, TESSERA_NO_MEMORY, "out of memory");
		return NULL;
	}
	*c = (Card){ .device = { .ops = &card_ops, .limits.seconds = 10 },
		     .system = *system,
		     .fd = -1 };
	snprintf(c->device.name, sizeof c->device.name, "card:%u (untested on silicon)", number);
	snprintf(path, sizeof path, "/dev/tenstorrent/%u", number);
	if (!connect_card(c, path, e)) {
		card_close(&c->device);
		return NULL;
	}
	return &c->device;
}

TesseraDevice *device_open_card(const char *rest, TesseraError *e)
{
	static const CardSystem system = {
		NULL, system_open, system_ioctl, system_mmap, system_munmap, system_close,
	};
	char *end;
	const unsigned long number = strtoul(rest, &end, 10);

	if (*rest < '0' || *rest > '9' || *end || number > 255) {
		rt_fail(e, TESSERA_BAD_DEVICE, "card:%s: give the number of the card: card:N",
			rest);
		return NULL;
	}
	return card_open(&system, (uint32_t)number, e);
}
