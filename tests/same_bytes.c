/*
 * What the emulator leaves in memory against what Tenstorrent's simulator
 * does: the plan's window of L1 on every core and the outputs in DRAM.
 *
 *     same_bytes nets FIRST COUNT      random networks by seed
 *     same_bytes wild FIRST COUNT      likewise, of any shape, if the device takes it
 *     same_bytes conv SIZE CHANNELS    3x3, one row a core
 *     same_bytes MODEL IN.npy          a model file
 *
 * TESSERA_TTSIM names the simulator's library; without it there is nothing to
 * compare with, and the test is skipped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/model.h"
#include "frontend/weights.h"
#include "runtime/device/map.h"
#include "tests/network.h"
#include "tests/random_unet.h"

enum { SKIPPED = 77, WINDOW = TT_L1_END - TT_USER };

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
	const TesseraTensor x = tessera_input(n->opened, 0), y = tessera_output(n->opened, 0);
	const TesseraArray from = tessera_array(&x, (void *)(uintptr_t)in);
	const TesseraArray to = tessera_array(&y, out);
	if (!tessera_run(l->program, &from, 1, &to, 1, &e))
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

static bool same(const Network *n, const char *ttsim, const float *in, const char *name)
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

static bool check_net(Network *n, const char *ttsim, const float *in, uint64_t seed,
		      const char *name)
{
	float *random = NULL;
	if (!in) {
		random = xmalloc((size_t)network_input_count(n) * sizeof(float));
		random_image(random, network_input_count(n), seed, &(NetOptions){ 0 });
	}
	const bool ok = same(n, ttsim, in ? in : random, name);
	free(random);
	network_free(n);
	return ok;
}

static bool check(Graph *g, int cores, const char *ttsim, const float *in, uint64_t seed,
		  const char *name)
{
	Network *n = g ? network_of(g, cores) : NULL;
	if (!n)
		exit(1);
	return check_net(n, ttsim, in, seed, name);
}

static bool wild(const char *ttsim, uint64_t first, uint64_t count)
{
	uint64_t compared = 0;
	bool ok = true;
	for (uint64_t seed = first; seed < first + count; seed++) {
		Arena *a = arena_create();
		Diag d = { .to = stdout };
		const NetOptions opt = wild_options(seed);
		Network *n = network_of(random_wild(a, &d, seed, &opt), 0);
		const char *name = arena_printf(a, "net %llu", (unsigned long long)seed);
		ok = (!n || check_net(n, ttsim, NULL, seed, name)) && ok;
		compared += n != NULL;
		diag_finish(&d);
		arena_destroy(a);
	}
	return ok && compared;
}

static bool nets(Arena *a, Diag *d, const char *ttsim, uint64_t first, uint64_t count)
{
	bool ok = true;
	for (uint64_t seed = first; seed < first + count; seed++) {
		const bool block = seed % 3 == 2; /* a pool reads bf16 */
		const DevTypes stored = block ? DEV_BFP8_B : DEV_UNSET;
		const NetOptions opt = { .levels = block ? 0 : 2, .stored = stored };
		const char *name = arena_printf(a, "net %llu", (unsigned long long)seed);
		ok = check(random_unet(a, d, seed, &opt), 0, ttsim, NULL, seed, name) && ok;
	}
	return ok;
}

int main(int argc, char **argv)
{
	const char *library = getenv("TESSERA_TTSIM");
	if (!library) {
		puts("TESSERA_TTSIM is not set, skipped");
		return SKIPPED;
	}
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	const char *ttsim = arena_printf(a, "ttsim:%s", library);
	bool ok = false;
	if (argc == 4 && strcmp(argv[1], "nets") == 0) {
		ok = nets(a, &d, ttsim, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	} else if (argc == 4 && strcmp(argv[1], "wild") == 0) {
		ok = wild(ttsim, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	} else if (argc == 4 && strcmp(argv[1], "conv") == 0) {
		const int size = atoi(argv[2]), channels = atoi(argv[3]);
		const ConvShape c = { channels, channels, size, 32, 3, 1, OP_RELU };
		ok = check(random_conv(a, &d, 1, &c, &(NetOptions){ 0 }), size, ttsim, NULL, 1, "conv");
	} else if (argc == 3) {
		Graph *g = model_read(a, &d, argv[1], &(ModelOptions){ 0 });
		Tensor *in = npy_read(a, &d, argv[2]);
		if (!in)
			return 1;
		ok = check(g, 0, ttsim, in->data, 0, argv[1]);
	}
	diag_finish(&d);
	arena_destroy(a);
	return ok ? 0 : 1;
}
