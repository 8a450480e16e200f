#include "runtime/emu/machine.h"

#include <stdarg.h>
#include <string.h>

const char *const risc_names[RISCS] = { "brisc", "trisc0", "trisc1", "trisc2", "ncrisc" };

static const char *const thread_names[TENSIX_THREADS] = { "unpack", "math", "pack" };

static uint32_t op_at(const EmuCore *c)
{
	uint32_t op = 0, at = c->emu->program.op_word;

	if (at && at < L1_BYTES - 4)
		memcpy(&op, c->l1 + at, 4);
	return op;
}

void emu_fault(EmuCore *c, int risc, const char *check, uint64_t address, const char *format, ...)
{
	va_list args;

	c->faulted = true;
	if (c->report_count == REPORTS)
		return;
	c->report_step[c->report_count] = c->step;
	EmuReport *to = &c->report[c->report_count++];

	*to = (EmuReport){
		.check = check,
		.x = c->x,
		.y = c->y,
		.risc = risc >= 0 && risc < RISCS ? risc_names[risc] : "noc",
		.pc = risc >= 0 && risc < RISCS ? c->hart[risc].pc : 0,
		.op = op_at(c),
		.address = address,
	};
	va_start(args, format);
	vsnprintf(to->text, sizeof(to->text), format, args);
	va_end(args);
}

void reports_gather(Emu *e)
{
	uint64_t step[REPORTS_KEPT];
	size_t first = e->report_count;

	for (size_t i = 0; i < e->active_count; i++) {
		EmuCore *c = e->active[i];

		e->fault |= c->faulted;
		for (uint32_t k = 0; k < c->report_count && e->report_count < REPORTS_KEPT; k++) {
			size_t at = e->report_count++;

			for (; at > first && step[at - 1] > c->report_step[k]; at--) {
				e->report[at] = e->report[at - 1];
				step[at] = step[at - 1];
			}
			e->report[at] = c->report[k];
			step[at] = c->report_step[k];
		}
		c->report_count = 0;
	}
}

size_t emu_reports(const Emu *e)
{
	return e->report_count;
}

const EmuReport *emu_report(const Emu *e, size_t i)
{
	return i < e->report_count ? &e->report[i] : NULL;
}

static void hart_waits(const EmuCore *c, int r, FILE *f)
{
	const Hart *h = &c->hart[r];

	if (!h->on || (h->poll.asleep && !h->poll.count))
		return;
	fprintf(f, "(%u,%u) %s at 0x%x, op %u: ", c->x, c->y, risc_names[r], h->pc, op_at(c));
	if (h->poll.asleep) {
		fprintf(f, "polls");
		for (int i = 0; i < h->poll.count; i++)
			fprintf(f, "%s 0x%x, which is 0x%x", i ? ";" : "", h->poll.at[i],
				h->poll.value[i]);
	} else if (h->waits) {
		fprintf(f, "waits for %s (0x%x)", h->waits, h->waits_at);
	} else {
		fprintf(f, "runs");
	}
	fprintf(f, "\n");
}

static void thread_waits(const EmuCore *c, int thread, FILE *f)
{
	char text[120];
	const char *why = tensix_waits(&c->tensix, thread, text, sizeof(text));

	if (why)
		fprintf(f, "(%u,%u) tensix %s, op %u: %s, %u behind it\n", c->x, c->y,
			thread_names[thread], op_at(c), why, tensix_queued(&c->tensix, thread) - 1);
}

void emu_waits(const Emu *e, FILE *f)
{
	for (int i = 0; i < WORKERS; i++) {
		for (int r = 0; r < RISCS; r++)
			hart_waits(e->core[i], r, f);
		for (int t = 0; t < TENSIX_THREADS; t++)
			thread_waits(e->core[i], t, f);
	}
}
