#include "frontend/cmd_memory.h"

#include <stdlib.h>
#include <string.h>

#include "ir/file.h"
#include "passes/pressure.h"

typedef struct Memory {
	Session *s;
	const Compiled *c;
	const Plan *plan;
	const PlanTime *time;
	const Counted *ran;
	const char *dir;
	int64_t room;
	Pressure *pressure, net;
	PlanBuffer *buffers; /* by address */
	int nbuffers;
} Memory;

static int by_address(const void *a, const void *b)
{
	const PlanBuffer *x = a, *y = b;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return (x->born > y->born) - (x->born < y->born);
}

static bool alive(const PlanBuffer *b, int step) { return b->born <= step && step <= b->dies; }

static uint64_t first_byte(const Memory *m)
{
	const uint64_t l1 = (uint64_t)m->plan->target->l1_first;
	return (l1 + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
}

/* ---- what is free ---- */

typedef struct Free {
	int64_t used, largest; /* bytes of a core */
} Free;

static Free free_in(const Memory *m, int step)
{
	Free f = { 0 };
	uint64_t at = first_byte(m);
	for (int i = 0; i < m->nbuffers; i++) {
		const PlanBuffer *b = &m->buffers[i];
		if (!alive(b, step))
			continue;
		if ((int64_t)(b->address - at) > f.largest)
			f.largest = (int64_t)(b->address - at);
		at = b->address + (uint64_t)b->bytes;
		f.used += b->bytes;
	}
	const int64_t rest = (int64_t)(first_byte(m) + (uint64_t)m->room - at);
	f.largest = rest > f.largest ? rest : f.largest;
	return f;
}

static void begin_row(FILE *f, const Memory *m, int step)
{
	fprintf(f, "%d,", step);
	report_csv_name(f, plan_step_name(&m->plan->steps[step]));
}

static void put_l1_summary(FILE *f, const Memory *m)
{
	fputs("Program ID,Op,Largest Contiguous Free Block (B),Total Free L1 Space (B)\n", f);
	for (int i = 0; i < m->plan->nsteps; i++) {
		const Free x = free_in(m, i);
		begin_row(f, m, i);
		fprintf(f, ",%lld,%lld\n", (long long)x.largest,
			(long long)(m->room - x.used) * m->plan->cores);
	}
}

/* Of a bank; the program is loaded whole, so it is the same in all steps. */
static int64_t dram_used(const Memory *m) { return (int64_t)m->c->emission.dram_end; }

static void put_memory(FILE *f, const Memory *m, int step, const char *name, int64_t all,
		       int64_t used, int64_t largest)
{
	begin_row(f, m, step);
	fprintf(f, ",%s,%lld,%lld,%lld,%lld\n", name, (long long)all, (long long)used,
		(long long)(all - used), (long long)largest);
}

static void put_memory_summary(FILE *f, const Memory *m)
{
	const int64_t bank = m->plan->target->dram_bank_bytes, dram = dram_used(m);
	fputs("Program ID,Op,Memory,Total Allocatable Size (B),Total Allocated (B),"
	      "Total Free (B),Largest Free Block (B)\n", f);
	for (int i = 0; i < m->plan->nsteps; i++) {
		const Free x = free_in(m, i);
		put_memory(f, m, i, "DRAM", bank, dram, bank - dram);
		put_memory(f, m, i, "L1", m->room, x.used, x.largest);
		put_memory(f, m, i, "TRACE", 0, 0, 0);
	}
}

/* A tensor's buffer is read where it lies; the others are stacked for their step. */
static const char *backing(const PlanBuffer *b) { return b->tensor ? "tensor" : "stacked"; }

static void put_block(FILE *f, const Memory *m, int step, uint64_t at, uint64_t end,
		      const PlanBuffer *b)
{
	if (at >= end)
		return;
	begin_row(f, m, step);
	fprintf(f, ",L1,0x%llx,%llu,%s,%s,", (unsigned long long)at,
		(unsigned long long)(end - at), b ? "yes" : "no", b ? backing(b) : "");
	fprintf(f, "%s,", b ? buffer_kinds[b->kind] : "");
	report_csv_name(f, b ? b->name : "");
	const Held h = b ? plan_held_bytes(m->plan, b, 0) : (Held){ 0 };
	fprintf(f, ",%lld,%lld\n", (long long)h.own, (long long)h.halo);
}

static void put_detail(FILE *f, const Memory *m)
{
	fputs("Program ID,Op,Memory,Address,Size (B),Allocated,Backing,Kind,Buffer,"
	      "Own on core 0 (B),Halo on core 0 (B)\n", f);
	for (int i = 0; i < m->plan->nsteps; i++) {
		uint64_t at = first_byte(m);
		for (int k = 0; k < m->nbuffers; k++) {
			const PlanBuffer *b = &m->buffers[k];
			if (!alive(b, i))
				continue;
			put_block(f, m, i, at, b->address, NULL);
			at = b->address + (uint64_t)b->bytes;
			put_block(f, m, i, b->address, at, b);
		}
		put_block(f, m, i, at, first_byte(m) + (uint64_t)m->room, NULL);
	}
}

/* ---- circular buffers ---- */

static const char *us(const Memory *m, int64_t cycles)
{
	return report_us(m->s->arena, m->plan->target, cycles);
}

static void put_cb(FILE *f, const Memory *m, const CbUse *c)
{
	begin_row(f, m, c->step);
	fputc(',', f);
	report_csv_name(f, c->name);
	fprintf(f, ",%s,%s,0x%llx,%lld,%lld,%lld,%lld,%lld,", c->role,
		c->in_tensor ? "tensor" : "stacked", (unsigned long long)c->address,
		(long long)c->page_bytes, (long long)c->pages,
		(long long)(c->page_tiles * c->pages), (long long)c->page_tiles,
		(long long)c->tiles);
	if (!c->modelled) {
		fputs(",,,,,\n", f);
		return;
	}
	fprintf(f, "%lld,%lld,%s,%lld,%s,%s\n", (long long)c->come, (long long)c->run.misses,
		report_percent(m->s->arena, c->run.misses, c->come), (long long)c->run.high,
		us(m, c->run.waits), us(m, c->run.blocked));
}

static void put_cbs(FILE *f, const Memory *m)
{
	fputs("Program ID,Op,Buffer,Role,Backing,Address,Page (B),Pages,Capacity (tiles),"
	      "Tiles in a page,Tiles needed per block,Pages that come by,Predicted misses,"
	      "Predicted miss rate (%),Predicted high-water mark (pages),"
	      "Predicted wait for pages (us),Predicted wait for room (us)\n", f);
	for (int i = 0; i < m->plan->nsteps; i++) {
		CbUse *v;
		const int n = step_cbs(m->plan, m->time, i, &v);
		for (int k = 0; k < n; k++)
			put_cb(f, m, &v[k]);
	}
}

/* ---- pressure ---- */

static const char *tenth(const Memory *m, int tenths)
{
	return report_percent(m->s->arena, tenths, 1000);
}

static void put_counted(FILE *f, const Memory *m, int step)
{
	Counters ran = { 0 }, predicted = { 0 };
	for (int core = 0; core < m->ran->cores; core++) {
		counters_add(&ran, &m->ran->ran[step * m->ran->cores + core]);
		counters_add(&predicted, &m->ran->predicted[step * m->ran->cores + core]);
	}
	for (int id = 0; id < COUNTER_COUNT; id++)
		if (counter_info[id].how == COUNTER_EXACT)
			fprintf(f, ",%lld,%lld", (long long)counter_get(&predicted, id),
				(long long)counter_get(&ran, id));
}

static void put_pressure(FILE *f, const Memory *m)
{
	fputs("Program ID,Op,Score,Risk,Pressure by utilisation,Predicted miss rate (%),"
	      "Predicted utilisation (%),L1 fill (%),Workload,Advice,Ring as planned (B),"
	      "Predicted wait as planned (us),Ring of two pages (B),"
	      "Predicted wait with two pages (us)", f);
	for (int id = 0; m->ran && id < COUNTER_COUNT; id++)
		if (counter_info[id].how == COUNTER_EXACT)
			fprintf(f, ",Predicted %s,Counted %s", counter_info[id].name,
				counter_info[id].name);
	fputc('\n', f);
	for (int i = 0; i < m->plan->nsteps; i++) {
		const Pressure *x = &m->pressure[i];
		const WorkloadInfo *w = &workload_info[x->workload];
		begin_row(f, m, i);
		fprintf(f, ",%d,%s,%s,%s,%s,%s,", x->score, level_names[x->risk],
			level_names[x->by_utilisation], tenth(m, x->miss),
			tenth(m, x->utilisation), tenth(m, x->fill));
		report_csv_name(f, x->come ? w->name : "");
		fputc(',', f);
		report_csv_name(f, x->come ? w->advice : "");
		fprintf(f, ",%lld,%s,%lld,%s", (long long)x->ring_bytes, us(m, x->waits),
			(long long)x->fixed_bytes, us(m, x->fixed_waits));
		if (m->ran)
			put_counted(f, m, i);
		fputc('\n', f);
	}
}

/* ---- the whole ---- */

static void put_figure(FILE *f, const char *what, int64_t value, const char *unit)
{
	fprintf(f, "%s,%lld,%s\n", what, (long long)value, unit);
}

static void put_device(FILE *f, const Memory *m)
{
	static const char *const riscs[TT_RISCS] = { "BRISC", "NCRISC", "TRISC0", "TRISC1",
						     "TRISC2" };
	const Target *t = m->plan->target;
	const Emission *e = &m->c->emission;
	fputs("Figure,Value,Unit\n", f);
	put_figure(f, "L1 of a core for the plan", m->room, "bytes");
	put_figure(f, "L1 of a core in use at the fullest step", m->plan->peak, "bytes");
	put_figure(f, "L1 of all cores in use at the fullest step",
		   m->plan->peak * m->plan->cores, "bytes");
	for (int r = 0; r < TT_RISCS; r++) {
		fprintf(f, "Code of %s,%u,bytes\n", riscs[r], e->code_bytes[r]);
		fprintf(f, "Stack of %s,%u,bytes\n", riscs[r], e->stack_bytes[r]);
	}
	put_figure(f, "Code overlays", e->overlays, "overlays");
	put_figure(f, "Area of overlays", e->overlay_area, "bytes");
	put_figure(f, "Parameter block of an op", e->block_bytes, "bytes");
	put_figure(f, "DRAM of a bank", t->dram_bank_bytes, "bytes");
	put_figure(f, "DRAM of a bank in use", dram_used(m), "bytes");
	put_figure(f, "DRAM of all banks in use", dram_used(m) * t->dram_banks, "bytes");
	put_figure(f, "Trace region (the net is one program: nothing is replayed)", 0, "bytes");
	put_figure(f, "Rings as planned: the largest step", m->net.ring_bytes, "bytes");
	put_figure(f, "Rings of two pages throughout: the largest step", m->net.fixed_bytes,
		   "bytes");
	put_figure(f, "Predicted wait for pages as planned", m->net.waits, "cycles");
	put_figure(f, "Predicted wait for pages with rings of two", m->net.fixed_waits, "cycles");
}

static bool write_file(const Memory *m, const char *name, void put(FILE *f, const Memory *m))
{
	const char *path = path_join(m->s->arena, m->dir, name);
	OutFile out;
	if (!out_open(&out, m->s->arena, m->s->diag, path))
		return false;
	put(out.f, m);
	if (!out_commit(&out, m->s->diag))
		return false;
	session_wrote(m->s, path);
	return true;
}

enum ExitCode memory_write(Session *s, const Graph *g, Compiled *c, const Counted *ran,
			   const char *dir)
{
	const enum ExitCode code = session_emit(s, g, c);
	if (code != EXIT_OK)
		return code;
	const Planned *p = &c->planned;
	Memory m = { .s = s, .c = c, .plan = p->plan, .time = &p->time, .ran = ran, .dir = dir,
		     .room = planner_room(p->plan->target, p->request) };
	m.pressure = plan_pressure(p->plan, &p->time, m.room, &m.net);
	m.nbuffers = plan_buffers(p->plan, &m.buffers);
	if (m.nbuffers)
		qsort(m.buffers, (size_t)m.nbuffers, sizeof *m.buffers, by_address);
	const bool ok = make_folder(s->diag, dir)
		&& write_file(&m, "l1_usage_summary.csv", put_l1_summary)
		&& write_file(&m, "memory_usage_summary.csv", put_memory_summary)
		&& write_file(&m, "detailed_memory_usage.csv", put_detail)
		&& write_file(&m, "circular_buffers.csv", put_cbs)
		&& write_file(&m, "pressure.csv", put_pressure)
		&& write_file(&m, "device.csv", put_device);
	return ok ? EXIT_OK : EXIT_MODEL;
}

void memory_print(FILE *f, const Planned *p)
{
	Arena *a = p->bare->graph->arena;
	const Target *t = p->plan->target;
	const int64_t room = planner_room(t, p->request);
	Pressure net;
	const Pressure *v = plan_pressure(p->plan, &p->time, room, &net);
	int hot = 0, risk[LEVELS] = { 0 };
	for (int i = 0; i < p->plan->nsteps; i++) {
		risk[v[i].risk]++;
		hot = v[i].score > v[hot].score ? i : hot;
	}
	fprintf(f, "pressure    %d of 100, risk of thrashing %s; highest %d at %s\n", net.score,
		level_names[net.risk], v[hot].score, plan_step_name(&p->plan->steps[hot]));
	fprintf(f, "  risk      %d steps high, %d medium, %d low\n", risk[LEVEL_HIGH],
		risk[LEVEL_MEDIUM], risk[LEVEL_LOW]);
	fprintf(f, "  weights   %lld pages come by, %s%% are waited for, %s us predicted\n",
		(long long)net.come, report_percent(a, net.misses, net.come),
		report_us(a, t, net.waits));
	fprintf(f, "  rings     %lld bytes at most as planned; of two pages %lld bytes, %s us waited\n",
		(long long)net.ring_bytes, (long long)net.fixed_bytes,
		report_us(a, t, net.fixed_waits));
}
