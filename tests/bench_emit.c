/*
 * How long it takes from a plan to a package, and how much code comes out: it
 * grows with variants, not with ops. Variants were compiled when the compiler
 * was built; how long that takes for one program is printed too.
 *
 *     bench_emit [check]    check: fail if one conv takes more than a quarter of compiling its
 *                           variants, or an op of 300 more than 1.5 times one of 10
 *
 * All by the processor time of this process, the best of some times.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "backend/lower.h"
#include "passes/pass.h"
#include "passes/plan.h"
#include "tests/network.h"
#include "tests/random_unet.h"

enum { TIMES = 3 };

typedef struct Emitted {
	double seconds;
	size_t code; /* bytes of a core */
	int variants, ops;
} Emitted;

static Emitted measure_once(int convs, bool fresh)
{
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	Graph *g = random_chain(a, &d, 1, convs, 16, 8);
	passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 });
	const Target *t = target_load(a, &d, "wormhole_n150");
	const Plan *plan = plan_bands(g, t, NULL);
	const clock_t from = clock();
	Program *p = lower(plan);
	Emission emission = { 0 };
	const bool ok = emit_program(&emission, a, &d, p, t, &(EmitOptions){ .compiler = "test", .fresh = fresh });
	Emitted e = { (double)(clock() - from) / CLOCKS_PER_SEC, 0, p->nvariants, p->nops };
	for (int r = 0; ok && r < TT_RISCS; r++)
		e.code += emission.code_bytes[r];
	diag_finish(&d);
	arena_destroy(a);
	return e;
}

static Emitted measure(int convs, bool fresh)
{
	Emitted best = measure_once(convs, fresh);
	for (int i = 1; i < TIMES; i++) {
		const Emitted e = measure_once(convs, fresh);
		best = e.seconds < best.seconds ? e : best;
	}
	return best;
}

static double each(const Emitted *e) { return e->seconds / e->ops; }

int main(int argc, char **argv)
{
	const bool check = argc > 1 && strcmp(argv[1], "check") == 0;
	const int convs[] = { 1, 10, 100, 298 };
	Emitted e[4];
	for (int i = 0; i < 4; i++) {
		e[i] = measure(convs[i], false);
		printf("%d ops, %d variants: %.1f ms, %zu bytes of code\n", e[i].ops, e[i].variants,
		       1e3 * e[i].seconds, e[i].code);
	}
	const Emitted fresh = measure(1, true);
	printf("%d ops through LLVM again: %.1f ms, %zu bytes of code\n", fresh.ops,
	       1e3 * fresh.seconds, fresh.code);
	if (!e[0].code || e[3].code > e[1].code) {
		puts("code grows with ops");
		return 1;
	}
	return check && (4 * e[0].seconds > fresh.seconds || each(&e[3]) > 1.5 * each(&e[1]));
}
