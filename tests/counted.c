#include "tests/counted.h"

#include <stdio.h>
#include <string.h>

#include "backend/blocks.h"
#include "backend/routines.h"
#include "runtime/host/tessera_rt.h"
#include "tests/check.h"

enum { MOST = 16, RUNS = 2 };

static void zeros(Arena *a, TesseraArray *to, TesseraTensor t)
{
	*to = tessera_array(&t, arena_calloc(a, 1, t.bytes));
}

/* What was counted by now less what was there. */
static void subtract(const TesseraProgram *program, int op, int core, Counters *c)
{
	int64_t values[COUNTER_COUNT];
	for (size_t id = 0; id < COUNTER_COUNT; id++)
		values[id] = tessera_op_counter(program, (size_t)op, (size_t)core, id)
			- counter_get(c, (CounterId)id);
	memcpy(c, values, sizeof values);
}

Counters *counted_run(Arena *a, const Program *p, const Emission *e, const char *device)
{
	TesseraError error;
	TesseraArray in[MOST], out[MOST];
	TesseraPackage *package = tessera_package_memory(e->package.data, e->package.size, &error);
	TesseraDevice *d = package ? tessera_device_open(device, &error) : NULL;
	TesseraProgram *program = d ? tessera_load(d, package, &error) : NULL;
	if (!program)
		fail_msg("%s\n%s", error.text, error.detail);
	const size_t ins = tessera_input_count(package), outs = tessera_output_count(package);
	assert_true(ins <= MOST && outs <= MOST);
	for (size_t i = 0; i < ins; i++)
		zeros(a, &in[i], tessera_input(package, i));
	for (size_t i = 0; i < outs; i++)
		zeros(a, &out[i], tessera_output(package, i));
	Counters *all = arena_array(a, Counters, (int64_t)p->nops * p->ncores);
	for (int run = 0; run < RUNS; run++) {
		if (!tessera_run(program, in, ins, out, outs, &error))
			fail_msg("%s\n%s", error.text, error.detail);
		for (int i = 0; i < p->nops * p->ncores; i++)
			subtract(program, i / p->ncores, i % p->ncores, &all[i]);
	}
	tessera_unload(program);
	tessera_device_close(d);
	tessera_package_close(package);
	return all;
}

Counters counted_without_blocks(const Program *p, const Counters *all, int first, int ops, int core)
{
	Counters sum = { 0 };
	for (int op = first; op < first + ops; op++) {
		const int64_t next = blocks_bytes(p, (op + 1) % p->nops, core);
		counters_add(&sum, &all[op * p->ncores + core]);
		sum.noc_transfers -= work_packets(next);
		sum.noc_read_bytes -= next;
		sum.dram_read_bytes -= next;
	}
	return sum;
}

static void compare(const Program *p, int op, int core, const Counters *want, const Counters *got,
		    Compared *t)
{
	for (int id = 0; id < COUNTER_COUNT; id++) {
		const int64_t w = counter_get(want, (CounterId)id);
		const int64_t g = counter_get(got, (CounterId)id);
		if (counter_info[id].how != COUNTER_EXACT || w == g)
			continue;
		t->differing++;
		print_error("op %d '%s' (%s), core %d, %s: predicted %lld, counted %lld\n",
			    op, p->ops[op].name, p->ops[op].kind, core, counter_info[id].name,
			    (long long)w, (long long)g);
	}
}

static void add_routine(const Program *p, int op, int core, TtRisc risc, Compared *t)
{
	Counters c = { 0 };
	WorkId routine;
	Work w;
	const int variant = program_runs(&p->ops[op], core, risc);
	if (variant == VARIANT_NONE)
		return;
	if (!predict_work(p, op, core, risc, &w, &routine))
		fail_msg("%s has no rows in ir/costs.def",
			 routine_at(p->variants[variant].routine)->name);
	work_count(routine, &w, &c);
	t->places[routine]++;
	t->places[w.act] += w.act != WORK_none;
	for (int id = 0; id < COUNTER_COUNT; id++)
		if (counter_info[id].how == COUNTER_EXACT && counter_get(&c, (CounterId)id))
			t->values[routine][id]++;
}

/* Weights of an op that is early come while the op before runs, so that what is
 * counted of both together counts. */
static void compare_core(const Program *p, int core, const Counters *want, const Counters *got,
			 Compared *t)
{
	Counters wanted = { 0 }, counted = { 0 };
	for (int op = 0; op < p->nops; op++) {
		counters_add(&wanted, &want[op * p->ncores + core]);
		counters_add(&counted, &got[op * p->ncores + core]);
		if (op + 1 < p->nops && p->ops[op + 1].early)
			continue;
		compare(p, op, core, &wanted, &counted, t);
		memset(&wanted, 0, sizeof wanted);
		memset(&counted, 0, sizeof counted);
	}
}

void counted_check(Arena *a, const Program *p, const Emission *e, Compared *t)
{
	const Counters *want = predict_program(a, p);
	const Counters *got = counted_run(a, p, e, "emu:counters,fast,strict=0,threads=1");
	assert_int_equal(e->overlays, 0);
	for (int op = 0; op < p->nops; op++)
		for (int core = 0; core < p->ncores; core++) {
			for (int r = 0; r < TT_RISCS; r++)
				add_routine(p, op, core, (TtRisc)r, t);
		}
	for (int core = 0; core < p->ncores; core++)
		compare_core(p, core, want, got, t);
	assert_int_equal(t->differing, 0);
}

void counted_print(const Compared *t)
{
	print_message("%-16s %8s %8s  counters\n", "routine", "places", "values");
	for (int r = 0; r < WORK_COUNT; r++) {
		int64_t values = 0;
		for (int id = 0; id < COUNTER_COUNT; id++)
			values += t->values[r][id];
		if (!t->places[r])
			continue;
		print_message("%-16s %8lld %8lld ", work_names[r], (long long)t->places[r],
			      (long long)values);
		for (int id = 0; id < COUNTER_COUNT; id++)
			if (t->values[r][id])
				print_message(" %s", counter_info[id].name);
		print_message("\n");
	}
}
