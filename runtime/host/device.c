#include "runtime/host/device.h"

#include <string.h>
#include <time.h>

#include "runtime/host/error.h"

typedef struct Kind {
	const char *name;
	TesseraDevice *(*open)(const char *rest, TesseraError *e);
} Kind;

static const Kind kinds[] = {
	{ "emu", device_open_emu },
	{ "ttsim", device_open_ttsim },
	{ "card", device_open_card },
};

Place place_worker(uint32_t col, uint32_t row)
{
	return (Place){ TT_VIRTUAL + col, TT_VIRTUAL + row, 0 };
}

Place place_bank(uint32_t bank)
{
	static const uint32_t xy[TT_DRAM_CHANNELS][2] = TT_DRAM_XY;

	return (Place){ xy[bank / 2][0], xy[bank / 2][1],
			(uint64_t)(bank & 1) * TT_DRAM_BANK_BYTES };
}

double device_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

TesseraDevice *tessera_device_open(const char *spec, TesseraError *e)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		const size_t n = strlen(kinds[i].name);

		if (strncmp(spec, kinds[i].name, n) != 0 || (spec[n] != '\0' && spec[n] != ':'))
			continue;
		TesseraDevice *d = kinds[i].open(spec[n] ? spec + n + 1 : "", e);
		if (d && !d->name[0])
			snprintf(d->name, sizeof d->name, "%s", spec);
		return d;
	}
	rt_fail(e, TESSERA_BAD_DEVICE,
		"%s: no such device; there are emu, emu:fast, ttsim:PATH and card:N", spec);
	return NULL;
}

void tessera_device_close(TesseraDevice *d)
{
	if (!d)
		return;
	tessera_unload(d->program);
	d->ops->close(d);
}

const char *tessera_device_name(const TesseraDevice *d)
{
	return d->name;
}

uint64_t tessera_device_steps(const TesseraDevice *d)
{
	return d->ops->steps ? d->ops->steps(d) : 0;
}

bool tessera_read_l1(TesseraDevice *d, uint32_t col, uint32_t row, uint32_t address, void *to,
		     size_t n, TesseraError *e)
{
	const Place w = place_worker(col, row);

	if (col >= TT_GRID_COLS || row >= TT_GRID_ROWS)
		return rt_fail(e, TESSERA_MISUSE, "core (%u,%u) is not one of %d by %d", col, row,
			       TT_GRID_COLS, TT_GRID_ROWS);
	if (n > TT_L1_END || address > TT_L1_END - n)
		return rt_fail(e, TESSERA_MISUSE, "%zu bytes at 0x%x are not within L1", n,
			       address);
	return d->ops->read(d, w.x, w.y, address, to, n, e);
}

bool tessera_read_dram(TesseraDevice *d, uint32_t bank, uint32_t address, void *to, size_t n,
		       TesseraError *e)
{
	if (bank >= TT_DRAM_BANKS || n > TT_DRAM_BANK_BYTES || address > TT_DRAM_BANK_BYTES - n)
		return rt_fail(e, TESSERA_MISUSE,
			       "%zu bytes at 0x%x of bank %u are not within DRAM", n, address,
			       bank);
	const Place b = place_bank(bank);
	return d->ops->read(d, b.x, b.y, b.start + address, to, n, e);
}
