/* Putting a package onto a device. */
#include <stdlib.h>
#include <string.h>

#include "runtime/host/elf32.h"
#include "runtime/host/error.h"
#include "runtime/host/program.h"

static bool write_worker(TesseraProgram *p, size_t core, uint32_t address, const void *from,
			 size_t n, TesseraError *e)
{
	const TtbCore *c = &p->package->core[core];
	const Place w = place_worker(c->col, c->row);

	return p->device->ops->write(p->device, w.x, w.y, address, from, n, e);
}

static bool write_reset(TesseraProgram *p, uint32_t value, TesseraError *e)
{
	for (size_t i = 0; i < p->package->cores; i++)
		if (!write_worker(p, i, SOFT_RESET, &value, sizeof value, e))
			return false;
	return true;
}

static bool write_elfs(TesseraProgram *p, size_t core, TesseraError *e)
{
	for (int r = 0; r < TT_RISCS; r++) {
		size_t n;
		const uint8_t *elf = ttb_section(p->package, (TtbSectionId)r, &n);
		ElfSegment s;

		for (size_t i = 0; n && elf_segment(elf, i, &s); i++)
			if (!write_worker(p, core, s.to, elf + s.offset, s.bytes, e))
				return false;
	}
	return true;
}

static bool write_image(TesseraProgram *p, const TtbImage *m, TesseraError *e)
{
	const void *bytes = ttb_image_bytes(p->package, m);

	if (m->place == TTB_DRAM) {
		const Place b = place_bank(m->where);

		return p->device->ops->write(p->device, b.x, b.y, b.start + m->address, bytes,
					     m->bytes, e);
	}
	if (m->where != TTB_EVERY_CORE)
		return write_worker(p, m->where, m->address, bytes, m->bytes, e);
	for (size_t i = 0; i < p->package->cores; i++)
		if (!write_worker(p, i, m->address, bytes, m->bytes, e))
			return false;
	return true;
}

static bool write_control(TesseraProgram *p, size_t core, TesseraError *e)
{
	const Ttb *t = p->package;
	const Place root = place_worker(t->core[0].col, t->core[0].row);
	const Place bank = place_bank(t->core[core].block_bank);
	uint8_t words[TT_CONTROL_END - TT_CONTROL] = { 0 };
	TtLaunch launch = {
		.ops = (uint32_t)t->ops,
		.block_bytes = t->facts->block_bytes,
		.block_node = TT_NODE(bank.x, bank.y),
		.block_at = (uint32_t)bank.start + t->core[core].block_at,
		.core = (uint32_t)core,
		.cores = (uint32_t)t->cores,
		.root_node = TT_NODE(root.x, root.y),
		.iram_from = t->facts->iram_from,
		.iram_bytes = t->facts->iram_bytes,
	};

	for (int r = 0; r < TT_RISCS; r++) {
		size_t n;
		const uint8_t *elf = ttb_section(t, (TtbSectionId)r, &n);

		launch.entry[r] = n ? elf_entry(elf) : 0;
	}
	memcpy(words + (TT_LAUNCH - TT_CONTROL), &launch, sizeof launch);
	return write_worker(p, core, TT_CONTROL, words, sizeof words, e);
}

static bool load(TesseraProgram *p, TesseraError *e)
{
	const Ttb *t = p->package;

	if (p->device->ops->begin && !p->device->ops->begin(p->device, t, e))
		return false;
	if (!write_reset(p, RESET_ALL, e))
		return false;
	for (size_t i = 0; i < t->cores; i++)
		if (!write_elfs(p, i, e) || !write_control(p, i, e))
			return false;
	for (size_t i = 0; i < t->images; i++)
		if (!write_image(p, &t->image[i], e))
			return false;
	return write_reset(p, RESET_ALL_BUT_BRISC, e);
}

/* Two views of one tensor in DRAM share its bytes. */
static uint8_t *stage_of(const TesseraProgram *p, size_t part)
{
	const TtbPart *a = &p->package->part[part];

	for (size_t i = 0; i < part; i++)
		if (p->package->part[i].base == a->base)
			return p->stage[i];
	return calloc(TT_DRAM_BANKS, a->slot_bytes);
}

static bool make_stages(TesseraProgram *p)
{
	const size_t parts = p->package->parts;

	p->stage = calloc(parts + 1, sizeof *p->stage);
	for (size_t i = 0; p->stage && i < parts; i++) {
		p->stage[i] = stage_of(p, i);
		if (!p->stage[i])
			return false;
	}
	return p->stage;
}

static void free_stages(TesseraProgram *p)
{
	for (size_t i = p->stage ? p->package->parts : 0; i-- > 0;) {
		bool shared = false;

		for (size_t k = 0; k < i; k++)
			shared |= p->stage[k] == p->stage[i];
		if (!shared)
			free(p->stage[i]);
	}
	free(p->stage);
}

TesseraProgram *tessera_load(TesseraDevice *d, const TesseraPackage *package, TesseraError *e)
{
	if (d->program) {
		rt_fail(e, TESSERA_MISUSE, "%s: another program is loaded", d->name);
		return NULL;
	}
	TesseraProgram *p = calloc(1, sizeof *p);
	if (!p) {
		rt_fail(e, TESSERA_NO_MEMORY, "out of memory");
		return NULL;
	}
	*p = (TesseraProgram){ .device = d, .package = package, .limits = d->limits };
	if (make_stages(p) ? load(p, e) : rt_fail(e, TESSERA_NO_MEMORY, "out of memory")) {
		d->program = p;
		return p;
	}
	write_reset(p, RESET_ALL, NULL); /* no core runs half a program */
	free_stages(p);
	free(p);
	return NULL;
}

void tessera_unload(TesseraProgram *p)
{
	if (!p)
		return;
	write_reset(p, RESET_ALL, NULL);
	p->device->program = NULL;
	free_stages(p);
	free(p);
}

void tessera_limit(TesseraProgram *p, TesseraLimits limits)
{
	p->limits = limits;
}

bool tessera_pause(TesseraProgram *p, TesseraPauses pauses, TesseraError *e)
{
	size_t last = 0;

	for (size_t i = 0; i < pauses.count; last = pauses.op[i++])
		if (pauses.op[i] <= last || pauses.op[i] > p->package->ops)
			return rt_fail(e, TESSERA_MISUSE,
				       "a pause before op %zu, behind one before op %zu of %zu",
				       pauses.op[i], last, p->package->ops);
	if (p->runs)
		return rt_fail(e, TESSERA_MISUSE, "%s: runs are under way, wait for them",
			       p->device->name);
	p->pauses = pauses;
	return true;
}
