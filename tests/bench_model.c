/*
 * The cost model against every figure we know that was measured on a card, or on a
 * simulator that is charged as one, and that the model has something to say about.
 *
 *     ROW(arch, name, source, measured, unit, predicted, cause)
 *
 * in bench_model_*.def: `measured` is IS(value) or FROM(least, most); `predicted` an
 * expression over the target t; `cause` NULL, or why the prediction is off. All rows are
 * printed. A row of Wormhole fails if it is off by more than 15 % without a cause, or has
 * a cause and is not off: then the cause is out of date. Blackhole's are not judged.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ir/work.h"
#include "tests/model.h"

enum { MOST_PERCENT = 15 };

typedef struct Row {
	const char *name, *source;
	double measured[2]; /* least, most */
	const char *unit;
	double predicted;
	const char *cause;
} Row;

typedef struct Bench {
	bool judged;
	int rows, exceptions, failed;
} Bench;

/* The words of the tables. */
#define IS(value)            value, value
#define FROM(least, most)    least, most
#define STEP(...)            model_step(t, (Counters){ __VA_ARGS__ })
#define FIELD(name)          ((double)t->name)
#define GEMM(tile, phases)   model_gemm(t, tile, tile, 4, phases)
#define SINGLE(phases)       model_gemm(t, BF16_TILE, BF16_TILE, 1, phases)
#define TFLOPS(cores, tile, phases) model_tflops(t, cores, GEMM(tile, phases))
#define NOC_RATE(bytes)      ((bytes) / model_stream(t, bytes))
#define ROUND(bytes, hops)   ((double)cost_noc_transfer(t, bytes, hops, 0))
#define MCAST(bytes)         model_rate(t, bytes, (Counters){ .mcasts = 1, .mcast_bytes = bytes })
#define DRAM_ROUND(bytes, hops) ((double)cost_dram_read(t, bytes, hops, 0))
#define DRAM_PAGES(bytes) \
	model_rate(t, bytes, (Counters){ .noc_transfers = 1, .noc_read_bytes = bytes, \
					 .dram_read_bytes = bytes })

static double us(const Target *t, int64_t cycles) { return (double)cycles / (double)t->clock_mhz; }

/* One tile of pair_math, of many. */
static double sfpu_add(const Target *t)
{
	enum { ROWS = 1000 };
	const Work w = { .images = 1, .rows = ROWS, .cols = 32, .out_planes = 2 };
	Counters c = { 0 };
	work_count(WORK_pair_math, &w, &c);
	return (double)cost_predict(t, &c).cycles[COST_math] / ROWS;
}

/* Predicted over the nearest measured value; 1 between the least and the most. */
static double ratio(const Row *r)
{
	const double least = r->measured[0], most = r->measured[1];
	return r->predicted > most ? r->predicted / most
		: r->predicted < least ? r->predicted / least : 1;
}

static void print_row(const Row *r)
{
	char measured[32];
	if (r->measured[0] < r->measured[1])
		snprintf(measured, sizeof measured, "%.4g-%.4g", r->measured[0], r->measured[1]);
	else
		snprintf(measured, sizeof measured, "%.4g", r->measured[0]);
	printf("  %-42s %9.4g %11s %-12s %5.2f  %s\n", r->name, r->predicted, measured, r->unit,
	       ratio(r), r->source);
}

static void judge(Bench *b, const Row *r)
{
	const bool off = fabs(ratio(r) - 1) > MOST_PERCENT / 100.;
	print_row(r);
	b->rows++;
	if (r->cause)
		printf("    off: %s\n", r->cause);
	if (!b->judged)
		return;
	b->exceptions += off && r->cause;
	if (off == (r->cause != NULL))
		return;
	printf("    FAILED: %s\n", off ? "off by more than 15 % without a cause"
				     : "within 15 %, so the cause is out of date");
	b->failed++;
}

static const char *format(int tile) { return tile == BF16_TILE ? "bf16" : "bfp8"; }

static void judge_kernel(Bench *b, const Target *t, const KernelRow *k)
{
	char name[64];
	snprintf(name, sizeof name, "%s %s by %s, n %d, hold %d, %d phases", k->name,
		 format(k->b_tile), format(k->a_tile), k->n, k->hold, k->phases);
	if (k->shared > 0)
		judge(b, &(Row){ name, "tt-sim 8b031a6, ran, unpackers share", { IS(k->shared) },
				 "cycles", model_kernel(t, k, t->unpack_rate), NULL });
	judge(b, &(Row){ name, "tt-sim 8b031a6, ran as shipped", { IS(k->shipped) }, "cycles",
			 model_kernel_product(t, k, 2 * t->unpack_rate), NULL });
}

#define ROW(arch_, name, source, measured, unit, predicted, cause) \
	if (strcmp(t->arch, #arch_) == 0) \
		judge(b, &(Row){ name, source, { measured }, unit, predicted, cause });

static void judge_target(Bench *b, const Target *t)
{
	printf("%s: predicted, measured, ratio\nmatrix unit and unpackers\n", t->name);
#include "tests/bench_model_matrix.def"
	puts("RISC-V cores, issue, fixed costs");
#include "tests/bench_model_core.def"
	puts("NoC");
#include "tests/bench_model_noc.def"
	puts("DRAM");
#include "tests/bench_model_dram.def"
}

static void judge_kernels(Bench *b, const Target *t)
{
	const KernelRow rows[] = {
#define KERNEL(...) { __VA_ARGS__ },
#include "tests/model_kernels.def"
	};
	puts("kernels, cycles a tile product");
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		judge_kernel(b, t, &rows[i]);
}

static void print_outside(void)
{
	puts("measured, but nothing the model has");
#define OUT(what, source, why) printf("  %s (%s)\n    %s\n", what, source, why);
#include "tests/bench_model_out.def"
}

int main(void)
{
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	const Target *wormhole = target_load(a, &d, "wormhole_n150");
	const Target *blackhole = target_load(a, &d, "blackhole_p150");
	Bench b = { .judged = true };
	if (wormhole && blackhole) {
		judge_target(&b, wormhole);
		judge_kernels(&b, wormhole);
		printf("%d rows, %d of them exceptions, %d failed\n", b.rows, b.exceptions, b.failed);
		b.judged = false;
		judge_target(&b, blackhole);
		print_outside();
	}
	diag_finish(&d);
	arena_destroy(a);
	return wormhole && blackhole && !b.failed ? 0 : 1;
}
