/*
 * A card behind tt-kmd, the kernel's driver: /dev/tenstorrent/N. Memory is
 * reached through one window of 16 MiB that the driver points at a tile. The
 * calls of the system go through a table, so that a test can be the driver.
 *
 * Untested on silicon.
 */
#ifndef RUNTIME_HOST_CARD_H
#define RUNTIME_HOST_CARD_H

#include "runtime/host/device.h"

/* As the system's own, errno included; mmap returns NULL if it fails. */
typedef struct CardSystem {
	void *context; /* first argument of each */
	int (*open)(void *context, const char *path);
	int (*ioctl)(void *context, int fd, unsigned long request, void *argument);
	void *(*mmap)(void *context, int fd, size_t n, uint64_t offset);
	void (*munmap)(void *context, void *at, size_t n);
	void (*close)(void *context, int fd);
} CardSystem;

TesseraDevice *card_open(const CardSystem *system, uint32_t number, TesseraError *e);

/* What the driver is asked. The numbers of its requests, the magic number of
 * the driver in bits 8 to 15. */
enum {
	KMD_DEVICE_INFO = 0xfa00,
	KMD_ALLOCATE_TLB = 0xfa0b,
	KMD_FREE_TLB = 0xfa0c,
	KMD_CONFIGURE_TLB = 0xfa0d,

	KMD_VENDOR = 0x1e52,
	KMD_WORMHOLE = 0x401e,
	KMD_WINDOW = 1 << 24,
	KMD_ORDER_STRICT = 1, /* a write arrives before the next one, anywhere */
};

typedef struct KmdDeviceInfo {
	uint32_t room; /* bytes there are from `bytes` on */
	uint32_t bytes;
	uint16_t vendor, device, subsystem_vendor, subsystem, bus_dev_fn, max_dma_buf_size_log2;
	uint16_t pci_domain, unused;
} KmdDeviceInfo;

typedef struct KmdAllocateTlb {
	uint64_t size, unused0;
	uint32_t id, unused1;
	uint64_t offset_uncached, offset_combining; /* for mmap */
	uint64_t unused2;
} KmdAllocateTlb;

typedef struct KmdFreeTlb {
	uint32_t id;
} KmdFreeTlb;

typedef struct KmdConfigureTlb {
	uint32_t id, unused0;
	uint64_t address; /* a multiple of the window */
	uint16_t x, y, x_start, y_start;
	uint8_t noc, multicast, ordering, linked, static_vc, unused1[3];
	uint32_t unused2[2];
	uint64_t unused3;
} KmdConfigureTlb;

#endif
