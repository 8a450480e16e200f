/*
 * How fast the emulator is, as ratios within one run: a dense 3x3 convolution
 * at two phases of fidelity on 1 and on 64 cores, against Tenstorrent's
 * simulator where TESSERA_TTSIM names it.
 *
 *     bench_device [REPEATS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/network.h"
#include "tests/random_unet.h"
#include "tests/timed.h"

typedef struct Case {
	const char *name;
	int cores, height, channels;
} Case;

static void bench(const Case *c, const char *ttsim, int threads, int repeats)
{
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	const NetOptions opt = { .weights = DEV_BFP8_B };
	const ConvShape shape = { c->channels, c->channels, c->height, 32, 3, 1, OP_RELU };
	Network *n = network_of(random_conv(a, &d, 1, &shape, &opt), c->cores);
	if (!n)
		exit(1);
	float *in = arena_array(a, float, network_input_count(n));
	float *out = arena_array(a, float, network_output_count(n));
	random_image(in, network_input_count(n), 1, &opt);
	const char *emu = arena_printf(a, "emu:threads=%d,strict=0", threads);
	const char *fast = arena_printf(a, "emu:fast,threads=%d,strict=0", threads);
	const double macs = 9.0 * c->channels * c->channels * c->height * 32;
	const double exact = timed_run(n, emu, in, out, repeats);
	const double plain = timed_run(n, fast, in, out, repeats);
	printf("%s, %d threads: emu %.1f ms, %.2f GMAC/s a thread; emu:fast %.1f ms, %.1f times emu\n",
	       c->name, threads, 1e3 * exact, 1e-9 * macs / exact / threads, 1e3 * plain,
	       exact / plain);
	timed_run(n, arena_printf(a, "%s,profile", emu), in, out, 1);
	if (ttsim) {
		const double sim = timed_run(n, ttsim, in, out, 1);
		printf("%s: ttsim %.1f ms, emu is %.1f times as fast\n", c->name, 1e3 * sim,
		       sim / exact);
	}
	network_free(n);
	diag_finish(&d);
	arena_destroy(a);
}

int main(int argc, char **argv)
{
	const char *library = getenv("TESSERA_TTSIM");
	const int repeats = argc > 1 ? atoi(argv[1]) : 3;
	char spec[1024];
	snprintf(spec, sizeof spec, "ttsim:%s", library ? library : "");
	bench(&(Case){ "1 core, 256 channels", 1, 8, 256 }, library ? spec : NULL, 1, repeats);
	bench(&(Case){ "64 cores, 256 channels", 64, 64, 256 }, library ? spec : NULL, 2, repeats);
	return 0;
}
