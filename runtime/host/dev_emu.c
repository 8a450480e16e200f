/*
 * Our emulator. With "race" there are two of them that take turns of different
 * length; what they have in memory after a run has to be the same.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/host/device.h"
#include "runtime/host/emu_options.h"
#include "runtime/host/error.h"
#include "runtime/host/program.h"
#include "runtime/host/race.h"

enum { OTHER_QUANTUM = 61, ANOTHER_QUANTUM = 173, MANY_STEPS = 1000000 };

typedef struct EmuDevice {
	TesseraDevice device;
	EmuOptions options;
	Emu *emu[2]; /* the second with "race" only */
	int emus;
	bool used; /* holds or held a program */
	const Ttb *package;
} EmuDevice;

static void close_emus(EmuDevice *d)
{
	for (int i = 0; i < d->emus; i++) {
		emu_close(d->emu[i]);
		d->emu[i] = NULL;
	}
}

static bool open_emus(EmuDevice *d, TesseraError *e)
{
	EmuOptions options = d->options;

	for (int i = 0; i < d->emus; i++) {
		d->emu[i] = emu_open(&options);
		if (!d->emu[i]) {
			close_emus(d);
			return rt_fail(e, TESSERA_NO_MEMORY,
				       "emu: no memory for the emulated chip");
		}
		options.quantum =
			options.quantum == OTHER_QUANTUM ? ANOTHER_QUANTUM : OTHER_QUANTUM;
	}
	return true;
}

static bool nothing_there(uint32_t x, uint32_t y, uint64_t address, size_t n, TesseraError *e)
{
	return rt_fail(e, TESSERA_DEVICE, "emu: no %zu bytes at 0x%llx of tile (%u,%u)", n,
		       (unsigned long long)address, x, y);
}

static bool emu_device_write(TesseraDevice *device, uint32_t x, uint32_t y, uint64_t address,
			     const void *from, size_t n, TesseraError *e)
{
	EmuDevice *d = (EmuDevice *)device;

	for (int i = 0; i < d->emus; i++)
		if (!emu_write(d->emu[i], x, y, address, from, n))
			return nothing_there(x, y, address, n, e);
	return true;
}

static bool emu_device_read(TesseraDevice *device, uint32_t x, uint32_t y, uint64_t address,
			    void *to, size_t n, TesseraError *e)
{
	EmuDevice *d = (EmuDevice *)device;

	return emu_read(d->emu[0], x, y, address, to, n) || nothing_there(x, y, address, n, e);
}

/* A chip as new, that knows the program. */
static bool emu_device_begin(TesseraDevice *device, const Ttb *t, TesseraError *e)
{
	EmuDevice *d = (EmuDevice *)device;

	if (d->used) {
		EmuDevice fresh = *d;

		memset(fresh.emu, 0, sizeof fresh.emu);
		if (!open_emus(&fresh, e))
			return false;
		close_emus(d);
		*d = fresh;
	}
	d->used = true;
	d->package = t;
	const EmuProgram program = {
		.op_word = TT_OP_WORD,
		.cb_words = TT_CB_WORDS,
		.cb_count = TT_CBS,
		.code_end = TT_USER,
		.counted_ops = d->options.counters ? (uint32_t)t->ops : 0,
	};
	for (int i = 0; i < d->emus; i++) {
		if (!emu_program(d->emu[i], &program))
			return rt_fail(e, TESSERA_NO_MEMORY, "emu: no memory for counters");
		for (size_t k = 0; k < t->buffers; k++) {
			const TtbBuffer *b = &t->buffer[k];
			const bool every = b->core == TTB_EVERY_CORE;
			const size_t end = every ? t->cores : b->core + 1u;

			for (size_t c = every ? 0 : b->core; c < end; c++) {
				const Place w = place_worker(t->core[c].col, t->core[c].row);

				emu_allow(d->emu[i], w.x, w.y, b->first, b->end);
			}
		}
	}
	return true;
}

/* From NoC 0: the grid of workers leaves out column 5 and row 6. */
#define LOGICAL_COL(x) ((x) - ((x) > 5) - 1)
#define LOGICAL_ROW(y) ((y) - ((y) > 6) - 1)

static void tell(const Ttb *t, const EmuReport *r, char *line, size_t n)
{
	const uint32_t col = LOGICAL_COL(r->x), row = LOGICAL_ROW(r->y);
	char room[TTB_OP_TEXT];
	size_t core = 0;

	while (core < t->cores && (t->core[core].col != col || t->core[core].row != row))
		core++;
	const TtbBuffer *b = ttb_buffer_at(t, core, r->address, r->op);
	snprintf(line, n, "%s: core (%u,%u) %s, op %s: %s (pc 0x%x, address 0x%llx%s%s)", r->check,
		 col, row, r->risc, ttb_op_text(t, r->op, room), r->text, r->pc,
		 (unsigned long long)r->address, b ? " in " : "",
		 b ? ttb_string(t, b->name) : "");
}

static bool faulted(const EmuDevice *d, const Emu *emu, TesseraError *e)
{
	char line[480];

	if (emu_reports(emu) == 0)
		return rt_fail(e, TESSERA_FAULT, "emu: a fault without a report");
	tell(d->package, emu_report(emu, 0), line, sizeof line);
	rt_fail(e, TESSERA_FAULT, "%s", line);
	for (size_t i = 1; i < emu_reports(emu); i++) {
		tell(d->package, emu_report(emu, i), line, sizeof line);
		rt_detail(e, "%s\n", line);
	}
	return false;
}

static bool advance(const EmuDevice *d, Emu *emu, uint64_t steps, TesseraError *e)
{
	const bool idle = emu_idle(emu); /* and nothing was written since */
	const uint64_t before = emu_steps(emu);
	const EmuState state = emu_run(emu, steps);

	if (state == EMU_FAULT)
		return faulted(d, emu, e);
	if (state == EMU_STUCK || idle)
		return rt_fail(e, TESSERA_TIMEOUT, "%s: stuck after %llu steps: no core can go on",
			       d->device.name, (unsigned long long)before);
	return true;
}

static uint32_t done_of(const EmuDevice *d, Emu *emu)
{
	const Place root = place_worker(d->package->core[0].col, d->package->core[0].row);
	uint32_t done = 0;

	emu_read(emu, root.x, root.y, TT_LAUNCH + offsetof(TtLaunch, done), &done, sizeof done);
	return done;
}

/* The second one goes on by itself when it is done first; see finished. */
static bool emu_device_advance(TesseraDevice *device, uint64_t steps, TesseraError *e)
{
	EmuDevice *d = (EmuDevice *)device;

	return advance(d, d->emu[0], steps, e);
}

static bool emu_device_finished(TesseraDevice *device, uint32_t run, TesseraError *e)
{
	EmuDevice *d = (EmuDevice *)device;

	if (d->emus == 1)
		return true;
	while (done_of(d, d->emu[1]) != run) {
		if (emu_steps(d->emu[1]) > 16 * emu_steps(d->emu[0]) + MANY_STEPS)
			return rt_fail(e, TESSERA_RACE,
				       "race: run %u: whether it ends depends on timing", run);
		if (!advance(d, d->emu[1], 4096, e))
			return false;
	}
	return race_compare(d->emu[0], d->emu[1], d->package, run, e);
}

/* A line of emu_waits with the names of core and op that others use here. */
static void retell(const Ttb *t, char *line, TesseraError *e)
{
	char *op = strstr(line, ", op ");
	unsigned x, y, number;
	char room[16];
	int core = 0, rest = 0;

	if (op && sscanf(line, "(%u,%u)%n", &x, &y, &core) == 2 &&
	    sscanf(op, ", op %u%n", &number, &rest) == 1) {
		*op = '\0';
		rt_detail(e, "core (%u,%u)%s, op %s%s\n", LOGICAL_COL(x), LOGICAL_ROW(y),
			  line + core, program_op_name(t, number, room), op + rest);
	} else {
		rt_detail(e, "%s\n", line);
	}
}

static void emu_device_explain(TesseraDevice *device, TesseraError *e)
{
	EmuDevice *d = (EmuDevice *)device;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		return;
	emu_waits(d->emu[0], f);
	if (fclose(f) == 0)
		for (char *line = text, *next; *line; line = next) {
			next = line + strcspn(line, "\n");
			if (*next)
				*next++ = '\0';
			retell(d->package, line, e);
		}
	free(text);
}

static uint64_t emu_device_steps(const TesseraDevice *device)
{
	return emu_steps(((const EmuDevice *)device)->emu[0]);
}

static const char *emu_device_counter_name(const TesseraDevice *device, size_t i)
{
	(void)device;
	return emu_counter_name(i);
}

static bool emu_device_time(const TesseraDevice *device, TesseraTime *t)
{
	const EmuDevice *d = (const EmuDevice *)device;
	const EmuTime spent = emu_time(d->emu[0]);

	*t = (TesseraTime){ spent.risc, spent.unpack, spent.matrix, spent.sfpu,
			    spent.pack, spent.noc,    spent.other };
	return d->options.profile;
}

static int64_t emu_device_counter(const TesseraDevice *device, uint32_t x, uint32_t y, size_t i)
{
	return emu_counter(((const EmuDevice *)device)->emu[0], x, y, i);
}

static bool emu_device_counts_ops(const TesseraDevice *device)
{
	return ((const EmuDevice *)device)->options.counters;
}

static int64_t emu_device_op_counter(const TesseraDevice *device, uint32_t x, uint32_t y,
				     uint32_t op, size_t i)
{
	return emu_op_counter(((const EmuDevice *)device)->emu[0], x, y, op, i);
}

static void emu_device_close(TesseraDevice *device)
{
	EmuDevice *d = (EmuDevice *)device;

	close_emus(d);
	free(d);
}

static const DeviceOps emu_ops = {
	.write = emu_device_write,
	.read = emu_device_read,
	.advance = emu_device_advance,
	.close = emu_device_close,
	.begin = emu_device_begin,
	.finished = emu_device_finished,
	.explain = emu_device_explain,
	.steps = emu_device_steps,
	.counter_name = emu_device_counter_name,
	.counter = emu_device_counter,
	.counts_ops = emu_device_counts_ops,
	.op_counter = emu_device_op_counter,
	.time = emu_device_time,
};

TesseraDevice *device_open_emu(const char *rest, TesseraError *e)
{
	EmuOptions options;
	bool race;

	if (!emu_options_parse(rest, &options, &race, e))
		return NULL;
	EmuDevice *d = calloc(1, sizeof *d);
	if (!d) {
		rt_fail(e, TESSERA_NO_MEMORY, "out of memory");
		return NULL;
	}
	*d = (EmuDevice){ .device = { .ops = &emu_ops, .limits.seconds = 600 },
			  .options = options,
			  .emus = race ? 2 : 1 };
	snprintf(d->device.name, sizeof d->device.name, "emu%s%.100s%s", *rest ? ":" : "", rest,
		 options.fast ? " (not bit-exact)" : "");
	if (open_emus(d, e))
		return &d->device;
	free(d);
	return NULL;
}
