/*
 * tessera report --from-log: what TT-Metal says it set up, beside the plan.
 *
 * Circular buffers as comma-separated values: those of the n-th program of the log beside
 * those of our n-th op, of those that have any, as they are on the first core that has them;
 * then what was allocated, and clashes.
 */
#include "frontend/cmd_device.h"
#include "frontend/metal_log.h"
#include "ir/file.h"

typedef struct Beside {
	const MetalLog *log;
	const Program *program;
	int *op; /* those with circular buffers */
	int nops;
	int same, differing, logged, planned;
} Beside;

static const LogCb *logged_cb(const MetalLog *l, int program, int id)
{
	for (int i = 0; i < l->ncbs; i++)
		if (l->cbs[i].program == program && l->cbs[i].id == id)
			return &l->cbs[i];
	return NULL;
}

static const ProgramCb *planned_cb(const Beside *b, int number, int id)
{
	const ProgramOp *op = number < b->nops ? &b->program->ops[b->op[number]] : NULL;
	for (int i = 0; op && i < op->ncbs; i++)
		if (op->cbs[i].id == id)
			return &op->cbs[i];
	return NULL;
}

static void print_cb(Beside *b, int number, int id)
{
	const LogCb *l = logged_cb(b->log, number, id);
	const ProgramCb *p = planned_cb(b, number, id);
	if (!l && !p)
		return;
	const bool same = l && p && l->address == p->address && l->page_bytes == p->page_bytes
		&& l->pages == p->pages;
	printf("%d,", number);
	report_csv_name(stdout, number < b->nops ? b->program->ops[b->op[number]].name : "");
	printf(",%d,", id);
	if (l)
		printf("0x%llx,%llu,%llu,", (unsigned long long)l->address,
		       (unsigned long long)l->page_bytes, (unsigned long long)l->pages);
	else
		fputs(",,,", stdout);
	if (p)
		printf("0x%x,%u,%u,", p->address, p->page_bytes, p->pages);
	else
		fputs(",,,", stdout);
	puts(same ? "same" : !p ? "log only" : !l ? "plan only" : "differs");
	b->same += same;
	b->differing += l && p && !same;
	b->logged += l && !p;
	b->planned += p && !l;
}

/* Bytes of circular buffers on the core with most of them. */
static int64_t most_bytes(const MetalLog *l, int program, int *col, int *row)
{
	int64_t most = 0;
	for (int i = 0; i < l->ncbs; i++) {
		int64_t sum = 0;
		if (l->cbs[i].program != program)
			continue;
		for (int k = 0; k < l->ncbs && l->cbs[k].program <= program; k++)
			if (l->cbs[k].program == program && l->cbs[k].col == l->cbs[i].col
			    && l->cbs[k].row == l->cbs[i].row)
				sum += (int64_t)(l->cbs[k].page_bytes * l->cbs[k].pages);
		if (sum <= most)
			continue;
		most = sum;
		*col = l->cbs[i].col;
		*row = l->cbs[i].row;
	}
	return most;
}

static void print_totals(const Beside *b, const Planned *p)
{
	static const char *const names[LOG_MEMORIES] = { "DRAM", "L1", "system memory", "L1_SMALL",
							 "trace region" };
	const MetalLog *l = b->log;
	int64_t most = 0;
	int at = 0, col = 0, row = 0;
	for (int i = 0; i < l->programs; i++) {
		int c = 0, r = 0;
		const int64_t bytes = most_bytes(l, i, &c, &r);
		if (bytes <= most)
			continue;
		most = bytes;
		at = i;
		col = c;
		row = r;
	}
	printf("circular buffers: %d same, %d differ, %d in the log only, %d in the plan only; "
	       "%d programs in the log, %d ops that have any in the plan\n", b->same, b->differing,
	       b->logged, b->planned, l->programs, b->nops);
	if (most)
		printf("fullest in the log: program %d has %lld bytes on core (%d,%d)\n", at,
		       (long long)most, col, row);
	for (int m = 0; m < LOG_MEMORIES; m++)
		if (l->buffers[m])
			printf("allocated in the log: %s, %d buffers, %lld bytes\n", names[m],
			       l->buffers[m], (long long)l->bytes[m]);
	printf("planned: L1, %lld bytes of each core at the fullest step\n",
	       (long long)p->plan->peak);
	for (int i = 0; i < l->nclashes; i++)
		printf("clash in the log: %s\n", l->clashes[i]);
}

enum ExitCode session_from_log(Session *s, const Graph *g, Compiled *c, const char *path)
{
	MetalLog log;
	const Bytes text = file_map(s->arena, s->diag, (Loc){ 0 }, path);
	if (!text.data)
		return EXIT_MODEL;
	metal_log_read(&log, s->arena, (const char *)text.data, text.size);
	if (metal_log_empty(&log)) {
		diag_error(s->diag, (Loc){ .file = path }, "no circular buffer and no allocation of "
			   "TT-Metal: run it with TT_LOGGER_LEVEL=debug");
		return EXIT_MODEL;
	}
	const enum ExitCode code = session_lower(s, g, c);
	if (code != EXIT_OK)
		return code;
	Beside b = { .log = &log, .program = c->program };
	b.op = arena_array(s->arena, int, c->program->nops + 1);
	for (int i = 0; i < c->program->nops; i++)
		if (c->program->ops[i].ncbs)
			b.op[b.nops++] = i;
	const int n = log.programs > b.nops ? log.programs : b.nops;
	puts("Program,Op,CB,Logged address,Logged page (B),Logged pages,Planned address,"
	     "Planned page (B),Planned pages,Beside each other");
	for (int i = 0; i < n; i++)
		for (int id = 0; id < TT_CBS; id++)
			print_cb(&b, i, id);
	print_totals(&b, &c->planned);
	return EXIT_OK;
}
