#include "tests/metal/chip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/emu/emu.h"
#include "runtime/host/device.h"
#include "runtime/host/emu_options.h"

enum { SHOWN = 8 }; /* reports of what is wrong */

struct MetalChip {
	Emu *emu; /* or */
	TesseraDevice *device;
};

static bool fail(char why[METAL_WHY], const char *text)
{
	snprintf(why, METAL_WHY, "%s", text);
	return false;
}

static bool open_emu(MetalChip *c, const char *rest, char why[METAL_WHY])
{
	const EmuProgram program = { .op_word = TT_OP_WORD,
				     .cb_words = TT_CB_WORDS,
				     .cb_count = TT_CBS,
				     .code_end = TT_USER };
	EmuOptions options = { .strict = true };
	TesseraError e = { 0 };
	bool race = false;

	if (!emu_options_parse(rest, &options, &race, &e))
		return fail(why, e.text);
	if (race)
		return fail(why, "emu:race is not for programs that come one by one");
	c->emu = emu_open(&options);
	return (c->emu && emu_program(c->emu, &program)) || fail(why, "emu: no memory");
}

static bool open_chip(MetalChip *c, const char *spec, char why[METAL_WHY])
{
	TesseraError e = { 0 };

	if (strcmp(spec, "emu") == 0 || strncmp(spec, "emu:", 4) == 0)
		return open_emu(c, spec[3] ? spec + 4 : "", why);
	if (strncmp(spec, "ttsim:", 6) != 0)
		return fail(why, "a chip is emu or ttsim:LIBRARY");
	c->device = device_open_ttsim(spec + 6, &e);
	return c->device || fail(why, e.text);
}

MetalChip *metal_chip_open(const char *spec, char why[METAL_WHY])
{
	MetalChip *c = calloc(1, sizeof *c);

	if (!c || !open_chip(c, spec, why)) {
		metal_chip_close(c);
		return NULL;
	}
	return c;
}

void metal_chip_close(MetalChip *c)
{
	if (!c)
		return;
	if (c->emu)
		emu_close(c->emu);
	if (c->device)
		c->device->ops->close(c->device);
	free(c);
}

static bool chip_write(MetalChip *c, Place p, uint64_t address, const void *from, size_t n,
		       char why[METAL_WHY])
{
	TesseraError e = { 0 };

	address += p.start;
	if (c->emu ? emu_write(c->emu, p.x, p.y, address, from, n)
		   : c->device->ops->write(c->device, p.x, p.y, address, from, n, &e))
		return true;
	snprintf(why, METAL_WHY, "(%u,%u) has no %zu bytes at 0x%llx to write %s", p.x, p.y, n,
		 (unsigned long long)address, e.text);
	return false;
}

static bool chip_read(MetalChip *c, Place p, uint64_t address, void *to, size_t n,
		      char why[METAL_WHY])
{
	TesseraError e = { 0 };

	address += p.start;
	if (c->emu ? emu_read(c->emu, p.x, p.y, address, to, n)
		   : c->device->ops->read(c->device, p.x, p.y, address, to, n, &e))
		return true;
	snprintf(why, METAL_WHY, "(%u,%u) has no %zu bytes at 0x%llx to read %s", p.x, p.y, n,
		 (unsigned long long)address, e.text);
	return false;
}

bool metal_worker_write(MetalChip *c, uint32_t col, uint32_t row, uint64_t address,
			const void *from, size_t n, char why[METAL_WHY])
{
	return chip_write(c, place_worker(col, row), address, from, n, why);
}

bool metal_worker_read(MetalChip *c, uint32_t col, uint32_t row, uint64_t address, void *to,
		       size_t n, char why[METAL_WHY])
{
	return chip_read(c, place_worker(col, row), address, to, n, why);
}

bool metal_bank_write(MetalChip *c, uint32_t bank, uint64_t address, const void *from, size_t n,
		      char why[METAL_WHY])
{
	return chip_write(c, place_bank(bank), address, from, n, why);
}

bool metal_bank_read(MetalChip *c, uint32_t bank, uint64_t address, void *to, size_t n,
		     char why[METAL_WHY])
{
	return chip_read(c, place_bank(bank), address, to, n, why);
}

void metal_chip_allow(MetalChip *c, uint32_t col, uint32_t row, uint32_t first, uint32_t end)
{
	const Place p = place_worker(col, row);

	if (c->emu)
		emu_allow(c->emu, p.x, p.y, first, end);
}

static bool faulted(const Emu *e, char why[METAL_WHY])
{
	size_t at = 0;

	for (size_t i = 0; i < emu_reports(e) && i < SHOWN && at < METAL_WHY; i++) {
		const EmuReport *r = emu_report(e, i);
		const int n = snprintf(
			why + at, METAL_WHY - at,
			"%s: core (%u,%u) %s, launch %u: %s (pc 0x%x, address 0x%llx)\n", r->check,
			r->x, r->y, r->risc, r->op, r->text, r->pc, (unsigned long long)r->address);
		at += n > 0 ? (size_t)n : 0;
	}
	return false;
}

static bool stuck(const Emu *e, char why[METAL_WHY])
{
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return fail(why, "stuck");
	emu_waits(e, f);
	fclose(f);
	snprintf(why, METAL_WHY, "stuck: no core can go on\n%s", text);
	free(text);
	return false;
}

bool metal_chip_advance(MetalChip *c, uint64_t steps, char why[METAL_WHY])
{
	TesseraError e = { 0 };

	if (!c->emu)
		return c->device->ops->advance(c->device, steps, &e) || fail(why, e.text);
	const bool idle = emu_idle(c->emu); /* and nothing was written since */
	const EmuState state = emu_run(c->emu, steps);
	if (state == EMU_FAULT)
		return faulted(c->emu, why);
	return (state != EMU_STUCK && !idle) || stuck(c->emu, why);
}
