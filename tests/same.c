#include "tests/same.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/map.h"

enum { WINDOW = TT_L1_END - TT_USER };

typedef struct Loaded {
	TesseraDevice *device;
	TesseraProgram *program;
} Loaded;

static void fail(const TesseraError *e)
{
	fprintf(stderr, "%s\n%s", e->text, e->detail);
	exit(1);
}

static Loaded load(const Network *n, const char *spec)
{
	TesseraError e;
	Loaded l = { .device = tessera_device_open(spec, &e) };
	l.program = l.device ? tessera_load(l.device, n->opened, &e) : NULL;
	if (!l.program)
		fail(&e);
	return l;
}

static void unload(Loaded *l)
{
	tessera_unload(l->program);
	tessera_device_close(l->device);
}

static void run(const Network *n, const Loaded *l, const float *in, float *out)
{
	TesseraError e;
	if (!network_run_loaded(n, l->program, in, out, &e))
		fail(&e);
}

static int64_t differ(const uint8_t *a, const uint8_t *b, int64_t n, const char *what, int core)
{
	int64_t count = 0;
	for (int64_t i = 0; i < n; i++)
		if (a[i] != b[i] && count++ == 0)
			printf("%s %d: first difference at 0x%llx\n", what, core,
			       (unsigned long long)(i + TT_USER));
	return count;
}

/* Bytes of L1 that differ, over all cores of the program. */
static int64_t compare_l1(const Network *n, const Loaded *a, const Loaded *b)
{
	uint8_t *x = xmalloc(WINDOW), *y = xmalloc(WINDOW);
	TesseraError e;
	int64_t count = 0;
	for (int c = 0; c < n->program->ncores; c++) {
		const uint32_t col = (uint32_t)n->program->cores[c].col;
		const uint32_t row = (uint32_t)n->program->cores[c].row;
		if (!tessera_read_l1(a->device, col, row, TT_USER, x, WINDOW, &e) ||
		    !tessera_read_l1(b->device, col, row, TT_USER, y, WINDOW, &e))
			fail(&e);
		count += differ(x, y, WINDOW, "core", c);
	}
	free(x);
	free(y);
	return count;
}

/* Both slots of a tensor on its way out, in all banks. */
static int64_t compare_tensor(const ProgramTensor *t, const Loaded *a, const Loaded *b)
{
	const uint32_t base = (uint32_t)t->base;
	const size_t bytes = 2 * t->slot_bytes;
	uint8_t *x = xmalloc(bytes), *y = xmalloc(bytes);
	TesseraError e;
	int64_t count = 0;
	for (uint32_t bank = 0; bank < TT_DRAM_BANKS; bank++) {
		if (!tessera_read_dram(a->device, bank, base, x, bytes, &e) ||
		    !tessera_read_dram(b->device, bank, base, y, bytes, &e))
			fail(&e);
		count += differ(x, y, (int64_t)bytes, "bank", (int)bank);
	}
	free(x);
	free(y);
	return count;
}

static int64_t compare_dram(const Network *n, const Loaded *a, const Loaded *b)
{
	int64_t count = 0;
	for (int i = 0; i < n->program->noutputs; i++)
		for (int k = 0; k < n->program->outputs[i].nparts; k++)
			count += compare_tensor(&n->program->outputs[i].parts[k].tensor, a, b);
	return count;
}

bool same_memory(const Network *n, const char *ttsim, const float *in, const char *name)
{
	const size_t bytes = (size_t)network_output_count(n) * sizeof(float);
	float *x = xmalloc(bytes), *y = xmalloc(bytes);
	Loaded emu = load(n, "emu"), sim = load(n, ttsim);
	run(n, &emu, in, x);
	run(n, &sim, in, y);
	const int64_t l1 = compare_l1(n, &emu, &sim), dram = compare_dram(n, &emu, &sim);
	const bool out = memcmp(x, y, bytes) == 0;
	printf("%s: %d cores, L1 %lld, DRAM %lld bytes differ, outputs %s\n", name,
	       n->program->ncores, (long long)l1, (long long)dram, out ? "equal" : "DIFFER");
	fflush(stdout);
	unload(&emu);
	unload(&sim);
	free(x);
	free(y);
	return !l1 && !dram && out;
}
