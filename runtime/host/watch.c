/* Starting runs, and watching them until they are done or something is wrong. */
#include <stddef.h>
#include <string.h>

#include "runtime/host/error.h"
#include "runtime/host/program.h"

enum {
	FIRST_STEPS = 256,
	MAX_STEPS = 65536, /* between two looks at an emulated device */
	LOOKS = 64,        /* at core 0, for each look at all the others */
};

#define TT(field) (TT_LAUNCH + (uint32_t)offsetof(TtLaunch, field))

static bool read_core(TesseraProgram *p, size_t core, uint32_t address, void *to, size_t n,
		      TesseraError *e)
{
	const TtbCore *c = &p->package->core[core];

	return tessera_read_l1(p->device, c->col, c->row, address, to, n, e);
}

static bool write_core(TesseraProgram *p, size_t core, uint32_t address, uint32_t value,
		       TesseraError *e)
{
	const TtbCore *c = &p->package->core[core];
	const Place w = place_worker(c->col, c->row);

	return p->device->ops->write(p->device, w.x, w.y, address, &value, sizeof value, e);
}

const char *program_op_name(const Ttb *t, uint32_t i, char room[16])
{
	if (i < t->ops)
		return ttb_string(t, t->op[i].name);
	snprintf(room, 16, "%u", i);
	return room;
}

/* How far cores may go: to the next pause, or to the end. */
static size_t next_stop(const TesseraProgram *p)
{
	return p->paused < p->pauses.count ? p->pauses.op[p->paused] : p->package->ops;
}

/* The op before `op` of the run that is under way, as cores count them. */
static uint32_t number_of(const TesseraProgram *p, size_t op)
{
	return (p->run[0].number - 1) * (uint32_t)p->package->ops + (uint32_t)op;
}

static bool write_until(TesseraProgram *p, TesseraError *e)
{
	const uint32_t until = number_of(p, next_stop(p));

	for (size_t i = 0; i < p->package->cores; i++)
		if (!write_core(p, i, TT(until), until, e))
			return false;
	return true;
}

/* The slots first: `go` is written last (map.h). */
bool program_start(TesseraProgram *p, TesseraError *e)
{
	Run *run = &p->run[0];

	if (p->runs == 0 || run->started)
		return true;
	p->paused = 0;
	if (!write_until(p, e))
		return false;
	for (size_t i = 0; i < p->package->cores; i++)
		if (!write_core(p, i, TT(slot), (run->number - 1) % TTB_SLOTS, e))
			return false;
	for (size_t i = 0; i < p->package->cores; i++)
		if (!write_core(p, i, TT(go), run->number, e))
			return false;
	run->started = true;
	return true;
}

typedef struct CoreWords {
	uint32_t start, finished[TT_RISCS], op;
} CoreWords;

static bool read_words(TesseraProgram *p, size_t core, CoreWords *w, TesseraError *e)
{
	return read_core(p, core, TT_START, &w->start, sizeof w->start, e) &&
	       read_core(p, core, TT_FINISHED, w->finished, sizeof w->finished, e) &&
	       read_core(p, core, TT_OP_WORD, &w->op, sizeof w->op, e);
}

/* Each op that some core is at, once. */
static void explain_ops(TesseraProgram *p, TesseraError *e)
{
	const size_t cores = p->package->cores;
	uint32_t at[TT_MAX_CORES];
	char room[TTB_OP_TEXT];

	for (size_t i = 0; i < cores; i++) {
		bool seen = !read_core(p, i, TT_OP_WORD, &at[i], sizeof at[i], NULL);

		if (seen)
			at[i] = UINT32_MAX;
		for (size_t k = 0; k < i; k++)
			seen |= at[k] == at[i];
		if (!seen)
			rt_detail(e, "op %s\n", ttb_op_text(p->package, at[i], room));
	}
}

void program_explain(TesseraProgram *p, TesseraError *e)
{
	char room[16];

	explain_ops(p, e);

	for (size_t i = 0; i < p->package->cores; i++) {
		const TtbCore *c = &p->package->core[i];
		CoreWords w;

		if (!read_words(p, i, &w, NULL)) {
			rt_detail(e, "core (%u,%u): cannot be read\n", c->col, c->row);
			continue;
		}
		rt_detail(e, "core (%u,%u): op %s, started %u, finished", c->col, c->row,
			  program_op_name(p->package, w.op, room), w.start);
		for (int r = TT_BRISC + 1; r < TT_RISCS; r++)
			rt_detail(e, " %u", w.finished[r]);
		rt_detail(e, "\n");
	}
	if (p->device->ops->explain)
		p->device->ops->explain(p->device, e);
}

/* Has a kernel given up? */
static bool check_errors(TesseraProgram *p, TesseraError *e)
{
	for (size_t i = 0; i < p->package->cores; i++) {
		const TtbCore *c = &p->package->core[i];
		uint32_t error;
		CoreWords w;
		char room[TTB_OP_TEXT];

		if (!read_core(p, i, TT(error), &error, sizeof error, e))
			return false;
		if (error == 0)
			continue;
		if (!read_words(p, i, &w, e))
			return false;
		rt_fail(e, TESSERA_FAULT, "core (%u,%u), op %s: the kernel gave up with error 0x%x",
			c->col, c->row, ttb_op_text(p->package, w.op, room), error);
		program_explain(p, e);
		return false;
	}
	return true;
}

/* What changes as long as cores get on. */
static bool progress(TesseraProgram *p, uint64_t *sum, TesseraError *e)
{
	*sum = 0;
	for (size_t i = 0; i < p->package->cores; i++) {
		CoreWords w;

		if (!read_words(p, i, &w, e))
			return false;
		*sum = *sum * 31 + w.start;
		for (int r = 0; r < TT_RISCS; r++)
			*sum = *sum * 31 + w.finished[r];
	}
	return true;
}

typedef struct Watch {
	uint64_t first_step, sum;
	double moved; /* when anything last did */
} Watch;

static bool out_of_time(TesseraProgram *p, const char *what, double amount, TesseraError *e)
{
	rt_fail(e, TESSERA_TIMEOUT, "%s: no answer to run %u: %s %g", p->device->name,
		p->run[0].number, what, amount);
	program_explain(p, e);
	return false;
}

/* All cores: errors, progress, limits. */
static bool look_around(TesseraProgram *p, Watch *w, TesseraError *e)
{
	uint64_t sum;

	if (!check_errors(p, e) || !progress(p, &sum, e))
		return false;
	if (sum != w->sum) {
		w->sum = sum;
		w->moved = device_seconds();
	} else if (p->limits.seconds > 0 && device_seconds() - w->moved > p->limits.seconds) {
		return out_of_time(p, "seconds without a new op:", p->limits.seconds, e);
	}
	return true;
}

/* Do all cores wait before the op of the next pause? */
static bool all_wait(TesseraProgram *p, bool *all, TesseraError *e)
{
	const size_t stop = next_stop(p);

	*all = p->paused < p->pauses.count && stop < p->package->ops;
	for (size_t i = 0; *all && i < p->package->cores; i++) {
		CoreWords w;

		if (!read_words(p, i, &w, e))
			return false;
		*all = w.start == number_of(p, stop) && w.op == stop;
	}
	return true;
}

static bool make_pause(TesseraProgram *p, TesseraError *e)
{
	const size_t stop = next_stop(p);

	p->paused++;
	return p->pauses.at(p->pauses.context, stop, e);
}

/* At the end of the run, if there is to be one. */
static bool last_pause(TesseraProgram *p, TesseraError *e)
{
	if (p->paused == p->pauses.count)
		return true;
	if (next_stop(p) != p->package->ops)
		return rt_fail(e, TESSERA_FAULT, "%s: cores did not wait before op %zu",
			       p->device->name, next_stop(p));
	return make_pause(p, e);
}

/* Then they go on. */
static bool pause_if_all_wait(TesseraProgram *p, TesseraError *e)
{
	bool all;

	if (!all_wait(p, &all, e))
		return false;
	return !all || (make_pause(p, e) && write_until(p, e));
}

bool program_finish(TesseraProgram *p, TesseraError *e)
{
	Watch w = { .first_step = tessera_device_steps(p->device), .moved = device_seconds() };
	double looked = w.moved;

	for (uint32_t look = 1;; look++) {
		const uint64_t ran = tessera_device_steps(p->device) - w.first_step;
		uint64_t steps = ran / 8;
		uint32_t done;

		if (!read_core(p, 0, TT(done), &done, sizeof done, e))
			return false;
		if (done == p->run[0].number)
			break;
		if (p->limits.steps && ran >= p->limits.steps)
			return out_of_time(p, "steps:", (double)ran, e);
		if (!pause_if_all_wait(p, e))
			return false;
		steps = steps < FIRST_STEPS ? FIRST_STEPS : steps > MAX_STEPS ? MAX_STEPS : steps;
		if (!p->device->ops->advance(p->device, steps, e)) {
			if (p->device->ops->explain)
				program_explain(p, e);
			return false;
		}
		if (look % LOOKS == 0 || device_seconds() - looked > 0.25) {
			if (!look_around(p, &w, e))
				return false;
			looked = device_seconds();
		}
	}
	return check_errors(p, e) && last_pause(p, e) &&
	       (!p->device->ops->finished ||
		p->device->ops->finished(p->device, p->run[0].number, e));
}
