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
#include "tests/network.h"
#include "tests/random_unet.h"
#include "tests/same.h"

enum { SKIPPED = 77 };

static bool check_net(Network *n, const char *ttsim, const float *in, uint64_t seed,
		      const char *name)
{
	float *random = NULL;
	if (!in) {
		random = xmalloc((size_t)network_input_count(n) * sizeof(float));
		random_image(random, network_input_count(n), seed, &(NetOptions){ 0 });
	}
	const bool ok = same_memory(n, ttsim, in ? in : random, name);
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
