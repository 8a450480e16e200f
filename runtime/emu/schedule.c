#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "ir/clock.h"
#include "runtime/emu/machine.h"
#include "runtime/emu/shadow.h"

enum {
	SLICE = 256,        /* instructions a RISC-V runs before the next does */
	TENSIX_BURST = 64,  /* instructions a Tensix thread runs before the next does */
	SPINS = 2000,       /* turns to wait before sleeping */
};

/* Workers wait for `turn` to move, take cores one by one, and say when they are
 * through. Which thread runs a core does not matter: cores meet only in
 * noc_apply, which the caller's thread does. */
struct Pool {
	Emu *e;
	int workers;
	pthread_t thread[EMU_MOST_THREADS];
	pthread_mutex_t lock;
	pthread_cond_t moved, through;
	atomic_uint turn;
	atomic_size_t next;
	atomic_int running;
	uint32_t steps;
	bool leave;
};

/* The three threads in turn until all of them wait. */
static bool tensix_run(EmuCore *c)
{
	bool any = false, more = true;

	while (more && !c->faulted) {
		more = false;
		for (int i = 0; i < TENSIX_THREADS; i++)
			if (tensix_queued(&c->tensix, i))
				more |= tensix_step(&c->tensix, i, TENSIX_BURST) != 0;
		any |= more;
	}
	return any;
}

static bool harts_run(EmuCore *c, uint32_t steps)
{
	bool any = false;

	for (int r = 0; r < RISCS; r++)
		any |= hart_run(c, (Risc)r, steps) != 0;
	return any;
}

static bool slice_run(EmuCore *c, uint32_t steps)
{
	bool timed = c->emu->profile;
	double t0 = timed ? clock_now() : 0;
	bool harts = harts_run(c, steps);
	double t1 = timed ? clock_now() : 0;
	bool tensix = tensix_run(c);

	if (timed) {
		c->risc_time += t1 - t0;
		c->tensix_time += clock_now() - t1;
	}
	return harts || tensix;
}

void core_run(EmuCore *c, uint32_t steps)
{
	bool busy = true;

	c->step = c->emu->steps;
	for (uint32_t done = 0; done < steps && !c->faulted && busy; done += SLICE) {
		uint32_t part = steps - done < SLICE ? steps - done : SLICE;

		busy = slice_run(c, part);
		c->step += part;
	}
	c->emu->resting[c->index] = !busy || c->faulted;
}

static void take_cores(struct Pool *p)
{
	size_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->e->active_count)
		core_run(p->e->active[i], p->steps);
}

static void await_turn(struct Pool *p, unsigned seen)
{
	for (int i = 0; i < SPINS; i++)
		if (atomic_load(&p->turn) != seen)
			return;
	pthread_mutex_lock(&p->lock);
	while (atomic_load(&p->turn) == seen)
		pthread_cond_wait(&p->moved, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void *work(void *of)
{
	struct Pool *p = of;

	for (unsigned seen = 0;; seen++) {
		await_turn(p, seen);
		if (p->leave)
			return NULL;
		take_cores(p);
		if (atomic_fetch_sub(&p->running, 1) == 1) {
			pthread_mutex_lock(&p->lock);
			pthread_cond_signal(&p->through);
			pthread_mutex_unlock(&p->lock);
		}
	}
}

static void next_turn(struct Pool *p)
{
	atomic_store(&p->next, 0);
	atomic_store(&p->running, p->workers);
	pthread_mutex_lock(&p->lock);
	atomic_fetch_add(&p->turn, 1);
	pthread_cond_broadcast(&p->moved);
	pthread_mutex_unlock(&p->lock);
}

struct Pool *pool_create(Emu *e, int threads)
{
	struct Pool *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->e = e;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->moved, NULL);
	pthread_cond_init(&p->through, NULL);
	while (p->workers < threads - 1
	       && pthread_create(&p->thread[p->workers], NULL, work, p) == 0)
		p->workers++;
	return p;
}

void pool_destroy(struct Pool *p)
{
	if (!p)
		return;
	p->leave = true;
	next_turn(p);
	for (int i = 0; i < p->workers; i++)
		pthread_join(p->thread[i], NULL);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->moved);
	pthread_cond_destroy(&p->through);
	free(p);
}

void pool_run(struct Pool *p, uint32_t steps)
{
	if (!p->workers || p->e->active_count < 2) {
		for (size_t i = 0; i < p->e->active_count; i++)
			core_run(p->e->active[i], steps);
		return;
	}
	p->steps = steps;
	next_turn(p);
	take_cores(p);
	for (int i = 0; i < SPINS && atomic_load(&p->running); i++)
		;
	pthread_mutex_lock(&p->lock);
	while (atomic_load(&p->running))
		pthread_cond_wait(&p->through, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

static void find_active(Emu *e)
{
	e->active_count = 0;
	for (int i = 0; i < WORKERS; i++)
		if (!e->resting[i])
			e->active[e->active_count++] = e->core[i];
	e->idle = e->active_count == 0;
}

static void quantum_run(Emu *e)
{
	double from;

	pool_run(e->pool, e->options.quantum);
	from = e->profile ? clock_now() : 0;
	for (size_t i = 0; i < e->active_count; i++)
		noc_apply(e->active[i]);
	e->noc_time += e->profile ? clock_now() - from : 0;
	e->steps += e->options.quantum;
	reports_gather(e);
	find_active(e);
}

/* Somebody waits for the coprocessor or a mailbox, and nobody polls. */
static bool is_stuck(const Emu *e)
{
	bool waits = false;

	for (int i = 0; i < WORKERS; i++) {
		for (int r = 0; r < RISCS; r++) {
			const Hart *h = &e->core[i]->hart[r];

			if (h->on && h->poll.asleep && h->poll.count)
				return false;
			waits |= h->on && h->waits;
		}
	}
	return waits;
}

/* What the strict checks have to say about it. */
static EmuState stuck(Emu *e)
{
	if (!e->options.strict)
		return EMU_STUCK;
	for (int i = 0; i < WORKERS; i++) {
		shadow_stuck(e->core[i]);
		e->active[i] = e->core[i];
	}
	e->active_count = WORKERS;
	reports_gather(e);
	return EMU_STUCK;
}

EmuState emu_run(Emu *e, uint64_t steps)
{
	uint64_t end = e->steps + steps;

	find_active(e);
	while (e->steps < end && !e->idle && !e->fault)
		quantum_run(e);
	while (e->steps < end && !e->fault)
		e->steps += e->options.quantum;
	if (e->fault)
		return EMU_FAULT;
	return e->idle && is_stuck(e) ? stuck(e) : EMU_RUNNING;
}

bool emu_idle(const Emu *e)
{
	return e->idle;
}

uint64_t emu_steps(const Emu *e)
{
	return e->steps;
}
