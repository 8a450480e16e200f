/*
 * A whole net, compiled and run, as ratios within one run.
 *
 *     bench_net [FILE [SHAPE [SMALL]]]   vanilla UNet, 1x3x480x640 and 1x3x96x128
 *     bench_net FILE SHAPE SMALL check   fails if it is slower than was agreed
 *
 * How long compiling takes stage by stage, and memory; the net on emu and on emu:fast
 * with 2 threads, and by unit; per product of two tiles against Tenstorrent's simulator
 * at the small size, where TESSERA_TTSIM names it; against ONNX Runtime where
 * TESSERA_ORT does (bench_ort.h). Random weights.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "frontend/inputs.h"
#include "ir/clock.h"
#include "passes/pass.h"
#include "passes/planner.h"
#include "tests/bench_ort.h"
#include "tests/random_unet.h"
#include "tests/timed.h"

enum { THREADS = 2 };

/* What was agreed for vanilla UNet at 480x640, in seconds, bytes and times. */
static const double most_compile = 3, most_memory = 1e9, most_emu = 45, most_fast = 8;
static const double least_ratio = 12;

typedef struct Net {
	Arena *arena;
	Diag diag;
	Network *network;
	double seconds; /* it took to compile */
	double products; /* of 32x32 tiles, all cores */
	float *in, *out;
} Net;

/* 16 instructions multiply two tiles in one phase. */
static double count_products(const Plan *p)
{
	enum { TILE_MVMULS = 16 };
	double sum = 0;
	for (int i = 0; i < p->nsteps; i++)
		for (int c = 0; c < p->cores && choice_has(&p->steps[i], CHOICE_phases); c++) {
			Counters n = { 0 };
			cost_counters(p, i, c, &n);
			sum += (double)n.mvmuls / TILE_MVMULS / p->steps[i].phases;
		}
	return sum;
}

static double lap(double *from)
{
	const double was = *from;
	*from = clock_now();
	return *from - was;
}

static void compile(Net *n, const char *file, const char *shape)
{
	char *words[] = { "bench_net", "plan", (char *)(uintptr_t)file, "--random-weights=1", "--input",
			  (char *)(uintptr_t)shape };
	const double start = clock_now();
	double from = start;
	Options o;
	Inputs inputs;
	n->arena = arena_create();
	n->diag = (Diag){ .to = stderr };
	if (!options_parse(&o, n->arena, &n->diag, 6, words)
	    || inputs_read(&inputs, n->arena, &n->diag, &o) != EXIT_OK)
		exit(2);
	Graph *g = model_read(n->arena, &n->diag, file, &inputs.model);
	const double read = lap(&from);
	if (!g || !passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		exit(1);
	const double passes = lap(&from);
	const PlanRequest r = { 0 };
	Planned p;
	if (planner_run(g, target_load(n->arena, &n->diag, TARGET_DEFAULT), &r, &p) != PLANNED)
		exit(1);
	const double plan = lap(&from);
	n->network = network_of_plan(g, p.plan);
	if (!n->network)
		exit(1);
	const double program = lap(&from);
	n->seconds = clock_now() - start;
	n->products = count_products(p.plan);
	n->in = arena_array(n->arena, float, network_input_count(n->network));
	n->out = arena_array(n->arena, float, network_output_count(n->network));
	random_image(n->in, network_input_count(n->network), 1, &(NetOptions){ 0 });
	printf("%s %s: compiled in %.2f s: read %.2f, passes %.2f, plan %.2f, program and code %.2f; "
	       "%.0f products of tiles\n", g->name, shape, n->seconds, read, passes, plan, program,
	       n->products);
	fflush(stdout);
}

static void finish(Net *n)
{
	network_free(n->network);
	diag_finish(&n->diag);
	arena_destroy(n->arena);
}

static double processor_seconds(void)
{
	double sum = 0;
	struct rusage use[2];
	getrusage(RUSAGE_SELF, &use[0]);
	getrusage(RUSAGE_CHILDREN, &use[1]); /* libttsim runs in one */
	for (int i = 0; i < 2; i++)
		sum += (double)use[i].ru_utime.tv_sec + 1e-6 * (double)use[i].ru_utime.tv_usec;
	return sum;
}

/* On a busy machine the time of processors says more. */
static double run(const Net *n, const char *device, int repeats)
{
	const double before = processor_seconds();
	const double s = timed_run(n->network, device, n->in, n->out, repeats);
	const double used = (processor_seconds() - before) / repeats;
	printf("%-24s %8.2f s, %7.2f us a product; %.2f s of processors\n",
	       strncmp(device, "ttsim", 5) ? device : "ttsim", s, 1e6 * s / n->products, used);
	fflush(stdout);
	return s;
}

static double peak_memory(void)
{
	struct rusage use;
	getrusage(RUSAGE_SELF, &use);
	return 1024.0 * (double)use.ru_maxrss;
}

static bool agreed(const char *what, double is, double limit, bool most)
{
	const bool ok = most ? is <= limit : is >= limit;
	printf("%s %.3g, %s %.3g: %s\n", what, is, most ? "at most" : "at least", limit,
	       ok ? "ok" : "NOT AS AGREED");
	return ok;
}

int main(int argc, char **argv)
{
	const char *file = argc > 1 ? argv[1] : "models/vanilla_unet.nnef";
	const char *shape = argc > 2 ? argv[2] : "1x3x480x640", *small = argc > 3 ? argv[3] : "1x3x96x128";
	const char *library = getenv("TESSERA_TTSIM");
	char device[4096];
	bool ok = true;
	Net n, m;
	compile(&n, file, shape);
	const double memory = peak_memory();
	snprintf(device, sizeof device, "emu:threads=%d", THREADS);
	const double emu = run(&n, device, 1);
	snprintf(device, sizeof device, "emu:fast,threads=%d", THREADS);
	const double fast = run(&n, device, 1);
	printf("emu takes %.1f times as long as emu:fast\n", emu / fast);
	const double ort = ort_run(n.network->g, THREADS, 3);
	if (ort > 0)
		printf("ONNX Runtime %.2f s: emu takes %.1f, emu:fast %.1f times as long\n", ort, emu / ort,
		       fast / ort);
	compile(&m, file, small);
	snprintf(device, sizeof device, "emu:threads=%d,profile", THREADS);
	run(&m, device, 1);
	snprintf(device, sizeof device, "emu:threads=%d", THREADS);
	const double little = run(&m, device, 3);
	if (library && *library) {
		snprintf(device, sizeof device, "ttsim:%s", library);
		const double sim = run(&m, device, 1);
		ok &= agreed("emu against libttsim, a product", sim / little, least_ratio, false);
	} else {
		puts("TESSERA_TTSIM is not set: not compared with libttsim");
	}
	ok &= agreed("compile, seconds", n.seconds, most_compile, true);
	ok &= agreed("peak memory, bytes", memory, most_memory, true);
	ok &= agreed("emu, seconds", emu, most_emu, true);
	ok &= agreed("emu:fast, seconds", fast, most_fast, true);
	finish(&n);
	finish(&m);
	return ok || argc <= 4 ? EXIT_SUCCESS : EXIT_FAILURE;
}
