/*
 * Families of ops at random on a device.
 *
 *     test_ops FAMILY FIRST COUNT         on the emulator, against the plain executor
 *     test_ops FAMILY FIRST COUNT race    likewise, as emu:race
 *     test_ops FAMILY FIRST COUNT dram    likewise, tensors wait or lie in DRAM
 *     test_ops FAMILY FIRST COUNT ttsim   emulator and simulator leave the same bytes
 *     test_ops FAMILY FIRST COUNT dram_ttsim   likewise, with those in DRAM
 *     test_ops FAMILY FIRST COUNT counters   the emulator counts what costs.def predicts
 *     test_ops FAMILY FIRST COUNT metal   projects for TT-Metal leave the same bytes
 *
 * Prints a table of data types and layouts. Case `seed` is the same whatever the
 * others. A refusal counts, and fails if it is not for want of L1.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/counted.h"
#include "tests/metal/project.h"
#include "tests/network.h"
#include "tests/ops.h"
#include "tests/same.h"

enum { SKIPPED = 77, TYPES = 2, LAYOUTS = 4 };

static const char *const layouts[LAYOUTS] = { "one core", "height", "width", "block" };

typedef struct Tally {
	int right, wrong, refused;
	int wide; /* of those, how many results are f32 */
	double worst; /* error, of what is allowed */
} Tally;

typedef struct Entry {
	const char *name;
	OpFamily *make;
} Entry;

static const Entry families[] = {
#define FAMILY(name, what) { #name, ops_##name },
#include "tests/ops_families.def"
};

#define MATH_ROUNDS 0.0625 /* of what a packer does */

static Compared compared; /* with "counters" */

static OpChoice choose(Rng *r)
{
	static const int splits[] = { 1, 1, 1, 2, 3, 4 };
	OpChoice c = {
		.stored = (DevTypes)(1 << rng_below(r, DEV_TYPE_COUNT)),
		.weights = (DevTypes)(1 << rng_below(r, DEV_TYPE_COUNT)),
		.integers = rng_below(r, 3) == 0,
		.batch = rng_below(r, 4) ? 1 : 1 + (int)rng_below(r, 3),
	};
	c.plan.cores = 1 + (int)rng_below(r, 12);
	c.plan.cores += c.plan.cores > 8 ? 16 - c.plan.cores : 0; /* whole rows of the grid */
	c.plan.cut.splits = splits[rng_below(r, 6)];
	if (c.plan.cut.splits > c.plan.cores)
		c.plan.cut.splits = c.plan.cores;
	c.plan.cut.bands = rng_below(r, 3) ? c.plan.cores / c.plan.cut.splits : 1;
	c.plan.stacked = rng_below(r, 2);
	return c;
}

/* Whatever else a case has; of all words if `any` will do, else of those that see all bits of
 * multiples of 1/64. */
static const char *fidelity_of(uint64_t seed, bool any)
{
	static const char *const words[] = { NULL, NULL, NULL, "hifi3", "hifi3", "hifi2", "hifi4",
					     "lofi" };
	return words[rng_below(&(Rng){ ~seed }, any ? 8 : 7)];
}

static int layout_of(const PlanOptions *p)
{
	if (p->cut.splits == 1)
		return p->cut.bands > 1;
	return p->cut.bands > 1 ? 3 : 2;
}

/* Whole numbers up to `most`, of either sign, over `unit`. */
static void fill(float *to, int64_t n, Rng *r, int most, float unit)
{
	for (int64_t i = 0; i < n; i++)
		to[i] = (float)(rng_below(r, 2 * most + 1) - most) / unit;
}

static bool is_wide(const Plan *p)
{
	bool any = false;
	for (int i = 0; i < p->ntensors; i++)
		any |= p->tensors[i]->layout.type == DEV_F32;
	return any;
}

/* The largest error over what rounding may make; 0 wanted of whole numbers. Of an f32
 * result, what math makes before packers would round it. */
static double compare(const OpNet *n, bool wide, const float *got, const float *want,
		      int64_t count)
{
	const double step = n->choice.stored == DEV_BF16 ? 0x1p-8 : 0x1p-6;
	const double roundings = n->roundings - (wide && n->roundings ? 1 - MATH_ROUNDS : 0);
	double range = n->scale, worst = 0;
	for (int64_t i = 0; i < count; i++)
		range = fmax(range, fabs((double)want[i]));
	for (int64_t i = 0; i < count; i++) {
		const double error = fabs((double)got[i] - (double)want[i]);
		const double allowed = n->choice.integers ? 0 : roundings * step * range;
		if (allowed > 0 && error < INFINITY)
			worst = fmax(worst, error / allowed);
		else if (!(error <= allowed))
			worst = INFINITY;
	}
	return worst;
}

static bool run(const Network *net, OpNet *n, const char *device, uint64_t seed, double *worst)
{
	const int64_t in = network_input_count(net), out = network_output_count(net);
	float *x = xmalloc((size_t)in * sizeof(float)), *y = xmalloc((size_t)out * sizeof(float));
	float *want = xmalloc((size_t)out * sizeof(float));
	TesseraError e;
	bool ok;
	const bool both = strncmp(device, "ttsim", 5) == 0; /* who need not be exact */
	if (n->choice.integers)
		fill(x, in, &n->rng, 7, 1);
	else
		fill(x, in, &n->rng, both ? 32767 : 127, both ? 16384 : 64);
	if (strcmp(device, "counters") == 0) {
		counted_check(n->g->arena, net->program, &net->emission, &compared);
		ok = true;
	} else if (strcmp(device, "metal") == 0) {
		ok = project_same(net, arena_printf(n->g->arena, "ops_%s_%llu", n->g->name,
						    (unsigned long long)seed), seed, NULL);
	} else if (both) {
		ok = same_memory(net, device, x, arena_printf(n->g->arena, "case %llu",
							      (unsigned long long)seed));
	} else {
		ok = network_run(net, device, x, y, &e);
		if (!ok)
			printf("case %llu: %s\n%s", (unsigned long long)seed, e.text, e.detail);
		network_ref(net, x, want);
		*worst = ok ? compare(n, is_wide(net->plan), y, want, out) : INFINITY;
		ok = *worst <= 1;
	}
	free(x);
	free(y);
	free(want);
	return ok;
}

/* What was said of a refusal; it must be about room. */
static bool is_for_room(const char *said)
{
	return strstr(said, "bytes of L1") || strstr(said, "is the most");
}

/* Tensors wait in DRAM between any two uses, or are taken in slices, or both. */
static void to_dram(PlanOptions *p, uint64_t seed)
{
	p->park = seed % 3 != 1;
	p->slice = seed % 3 ? 1 + (int)(seed % 7) : 0;
	p->single = p->slice && seed % 2;
}

/* Leaves to choose_dtypes what the result is stored in. */
static void widen(Op *op)
{
	int n = 0;
	for (int i = 0; i < op->nhints; i++)
		if (strcmp(op->hints[i].key, "stored") != 0)
			op->hints[n++] = op->hints[i];
	op->nhints = n;
}

static void one_case(const Entry *f, uint64_t seed, const char *mode, const char *device,
		     Tally (*table)[LAYOUTS])
{
	Arena *a = arena_create();
	char *said = NULL;
	size_t nsaid;
	FILE *to = open_memstream(&said, &nsaid);
	Diag d = { .to = to };
	OpNet n = { .rng = { rng_next(&(Rng){ seed }) }, .roundings = 1 };
	n.choice = choose(&n.rng);
	n.choice.wide = n.choice.stored == DEV_BF16 && seed % 5 < 3;
	const bool counted = strcmp(mode, "counters") == 0 || strcmp(mode, "ttsim") == 0 ||
		strcmp(mode, "metal") == 0;
	n.choice.fidelity = fidelity_of(seed, counted || n.choice.integers);
	if (strncmp(mode, "dram", 4) == 0 || (counted && seed % 2))
		to_dram(&n.choice.plan, seed);
	n.g = graph_create(a, &d, f->name);
	Op *last = f->make(&n);
	if (n.choice.wide)
		widen(last);
	const bool typed = op_infer(n.g, graph_insert(n.g, NULL, OP_OUTPUT, "out", 1, &last));
	Network *net = typed ? network_planned(n.g, &n.choice.plan) : NULL;
	Tally *t = &table[n.choice.stored == DEV_BFP8_B][layout_of(&n.choice.plan)];
	fflush(to);
	double worst = 0;
	if (!net) {
		t->refused += is_for_room(said);
		t->wrong += !is_for_room(said);
		printf("case %llu refused: %s", (unsigned long long)seed, said);
	} else if (run(net, &n, device, seed, &worst)) {
		t->wide += is_wide(net->plan);
		t->right++;
		t->worst = fmax(t->worst, worst);
	} else {
		t->wrong++;
		printf("case %llu WRONG: error %g of what is allowed\n", (unsigned long long)seed, worst);
		graph_print(n.g, stdout);
		plan_print(net->plan, stdout);
	}
	network_free(net);
	diag_finish(&d);
	fclose(to);
	free(said);
	arena_destroy(a);
}

static int run_family(const Entry *f, uint64_t first, uint64_t count, const char *mode,
		      const char *device)
{
	Tally table[TYPES][LAYOUTS] = { 0 };
	int wrong = 0, right = 0;
	for (uint64_t seed = first; seed < first + count; seed++)
		one_case(f, seed, mode, device, table);
	for (int t = 0; t < TYPES; t++)
		for (int l = 0; l < LAYOUTS; l++) {
			const Tally *x = &table[t][l];
			if (x->right + x->wrong + x->refused)
				printf("%-10s %-7s %-9s %4d right (%d f32) %3d wrong %3d refused, "
				       "error %.2f of the bound\n",
				       f->name, t ? "bfp8_b" : "bf16", layouts[l], x->right, x->wide,
				       x->wrong, x->refused, x->worst);
			wrong += x->wrong;
			right += x->right;
		}
	if (strcmp(device, "counters") == 0)
		counted_print(&compared);
	return wrong == 0 && right > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	const char *library = getenv("TESSERA_TTSIM"), *mode = argc > 4 ? argv[4] : "emu";
	char device[4096];
	snprintf(device, sizeof device, "%s%s", strcmp(mode, "race") == 0 ? "emu:" : "",
		 strcmp(mode, "dram") == 0 ? "emu" : mode);
	if (strstr(mode, "ttsim")) {
		if (!library) {
			puts("TESSERA_TTSIM is not set, skipped");
			return SKIPPED;
		}
		snprintf(device, sizeof device, "ttsim:%s", library);
	}
	for (size_t i = 0; argc > 3 && i < sizeof families / sizeof *families; i++)
		if (strcmp(families[i].name, argv[1]) == 0)
			return run_family(&families[i], strtoull(argv[2], NULL, 10),
					  strtoull(argv[3], NULL, 10), mode, device);
	fprintf(stderr, "usage: test_ops FAMILY FIRST COUNT [emu|race|dram|ttsim|dram_ttsim|counters|metal]\n");
	return 2;
}
