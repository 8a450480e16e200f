/*
 * A library with the interface of libttsim around a chip that only pretends:
 * once core 0 is out of reset and asked for a run, it copies what the sample
 * package of package.h calls its input to its output.
 *
 * FAKE_TTSIM=die: it ends the process at the first clock, as libttsim does when
 * it dislikes something. FAKE_TTSIM=silent: it never runs anything.
 * FAKE_TTSIM=error: the kernel of core 1 gives up.
 */
#include <stdio.h>

#include "runtime/device/map.h"
#include "tests/chip_memory.h"

#define BAR UINT64_C(0x100000000)

enum { SOFT_RESET_AT = 0xb121b0, BUFFER = TT_USER, IN = 0x100000, OUT = 0x200000 };

void libttsim_init(void);
void libttsim_exit(void);
void libttsim_clock(uint32_t clocks);
uint32_t libttsim_pci_config_rd32(uint32_t function, uint32_t offset);
void libttsim_pci_mem_rd_bytes(uint64_t address, void *to, uint32_t n);
void libttsim_pci_mem_wr_bytes(uint64_t address, const void *from, uint32_t n);

static Chip chip;
static uint64_t window;

void libttsim_init(void)
{
	printf("fake: init\n");
}

void libttsim_exit(void)
{
	chip_clear(&chip);
}

uint32_t libttsim_pci_config_rd32(uint32_t function, uint32_t offset)
{
	(void)function;
	return (uint32_t)(offset == 0x10 ? BAR | 4 : BAR >> 32);
}

/* Where a window access goes; 0 bytes of x, y past 63 count the pages. */
static uint64_t inside(uint64_t address, uint32_t *x, uint32_t *y)
{
	*x = window >> 12 & 63;
	*y = window >> 18 & 63;
	return (window & 0xfff) << 24 | (address - BAR - 0xb000000);
}

void libttsim_pci_mem_rd_bytes(uint64_t address, void *to, uint32_t n)
{
	uint32_t x, y;
	const uint64_t at = inside(address, &x, &y);

	if (x == 63 && n == sizeof chip.pages)
		memcpy(to, &chip.pages, n);
	else
		chip_read(&chip, x, y, at, to, n);
}

void libttsim_pci_mem_wr_bytes(uint64_t address, const void *from, uint32_t n)
{
	uint32_t x, y;

	if (address == BAR + 0x1fc00000 + 8 * 166) {
		memcpy(&window, from, sizeof window);
		return;
	}
	const uint64_t at = inside(address, &x, &y);
	chip_write(&chip, x, y, at, from, n);
}

static void copy_tensor(uint32_t slot)
{
	static const uint32_t xy[TT_DRAM_CHANNELS][2] = TT_DRAM_XY;
	uint8_t page[4096];
	uint32_t bytes;

	chip_read(&chip, TT_VIRTUAL, TT_VIRTUAL, BUFFER, &bytes, sizeof bytes);
	for (uint32_t b = 0; b < TT_DRAM_BANKS && bytes <= sizeof page; b++) {
		const uint64_t at = (uint64_t)(b & 1) * TT_DRAM_BANK_BYTES + slot * bytes;

		chip_read(&chip, xy[b / 2][0], xy[b / 2][1], at + IN, page, bytes);
		chip_write(&chip, xy[b / 2][0], xy[b / 2][1], at + OUT, page, bytes);
	}
}

void libttsim_clock(uint32_t clocks)
{
	const char *mode = getenv("FAKE_TTSIM");
	const uint32_t error = 7;
	uint32_t reset;
	TtLaunch launch;

	(void)clocks;
	if (mode && strcmp(mode, "die") == 0) {
		printf("[12] ERROR: UnsupportedFunctionality: tensix: no such luck\n");
		fflush(stdout);
		_Exit(1);
	}
	chip_read(&chip, TT_VIRTUAL, TT_VIRTUAL, 0xff000000 + SOFT_RESET_AT, &reset, sizeof reset);
	chip_read(&chip, TT_VIRTUAL, TT_VIRTUAL, TT_LAUNCH, &launch, sizeof launch);
	if (mode && strcmp(mode, "error") == 0)
		chip_write(&chip, TT_VIRTUAL + 1, TT_VIRTUAL, TT_LAUNCH + 8, &error, sizeof error);
	if (reset != 0x47000 || launch.go == launch.done || (mode && strcmp(mode, "silent") == 0))
		return;
	copy_tensor(launch.slot);
	chip_write(&chip, TT_VIRTUAL, TT_VIRTUAL, TT_LAUNCH + 4, &launch.go, sizeof launch.go);
}
