#include "tests/model.h"

#include "ir/pipeline.h"

enum { STEPS = 1000, TURNS = 18, MOST_CORES = 140, SHARE = 65536 };

double model_step(const Target *t, Counters c)
{
	Counters all = { 0 };
	for (int i = 0; i < STEPS; i++)
		counters_add(&all, &c);
	return (double)cost_predict(t, &all).total / STEPS;
}

double model_rate(const Target *t, int64_t bytes, Counters c)
{
	return (double)bytes / model_step(t, c);
}

/* cv3 (hold 1) issues pixels, then n weight tiles; cv4 pixels of the first row,
 * the weight tile, pixels of the others; mm a tile each, behind two REG2FLOPs of 2
 * cycles, two ADDDMAREGs of 3 and a wait. */
static Pipeline kernel_turn(const Target *t, const KernelRow *r, int64_t together)
{
	const bool mm = r->name[0] == 'm';
	const int count = r->n * r->hold;
	Pipeline p = { .setup = t->unpack_setup, .alone = t->unpack_rate, .together = together };
	for (int i = 0; i < r->hold; i++) {
		if (mm) {
			p.unpack[p.unpacks++] = (PipelineUnpack){ 1, r->b_tile, true, 11 };
		} else {
			p.unpack[p.unpacks++] = (PipelineUnpack){ 1, r->b_tile / 2, false, i > 0 };
			p.unpack[p.unpacks++] = (PipelineUnpack){ 1, r->b_tile / 2, true, 0 };
		}
		for (int o = 0; i == 0 && o < r->n; o++)
			p.unpack[p.unpacks++] =
				(PipelineUnpack){ 0, r->a_tile, true, !mm && count == r->n && !o };
	}
	for (int i = 0; i < count; i++)
		p.product[p.products++] = (PipelineProduct){
			.cost = 16 * r->phases * t->mvmul_cost
				+ 1000 * (1 + (count > 1) + (i + 1 == count)),
			.gives = { r->hold == 1 || i + 1 == count, r->hold > 1 || i + 1 == count },
		};
	return p;
}

/* One output tile of the conv kernels has 18 turns, then bias: a tile each, 8
 * ELWADDs and 14 others; mm.c was measured without. */
static Counters kernel_counters(const Target *t, const KernelRow *r, int64_t together)
{
	const Pipeline p = kernel_turn(t, r, together);
	const int count = r->n * r->hold, bias = r->name[0] == 'm' ? 0 : count;
	int64_t stall = pipeline_turn(&p);
	Counters c = { .mvmuls = TURNS * 16 * r->phases * count, .elw_singles = 8 * bias,
		       .math_others = TURNS * (count * (1 + (count > 1)) + 1) + 14 * bias + 3,
		       .unpacks = TURNS * p.unpacks + bias,
		       .unpack_bytes = TURNS * (r->n * r->a_tile + r->hold * r->b_tile)
			       + bias * BF16_TILE };
	for (int i = 0; i < p.products; i++)
		stall -= p.product[i].cost;
	c.stalls = stall > 0 ? TURNS * stall / 1000 : 0;
	return c;
}

double model_kernel(const Target *t, const KernelRow *r, int64_t together)
{
	const Counters c = kernel_counters(t, r, together);
	return (double)cost_predict(t, &c).total / (TURNS * r->n * r->hold);
}

double model_kernel_product(const Target *t, const KernelRow *r, int64_t together)
{
	const Counters c = kernel_counters(t, r, together);
	return (double)cost_predict(t, &c).cycles[COST_product] / (TURNS * r->n * r->hold);
}

double model_gemm(const Target *t, int a_tile, int b_tile, int n, int phases)
{
	Pipeline p = { .setup = t->unpack_setup, .alone = t->unpack_rate,
		       .together = t->unpack_rate };
	p.unpack[p.unpacks++] = (PipelineUnpack){ 1, b_tile, true, 0 };
	for (int i = 0; i < n; i++) {
		p.unpack[p.unpacks++] = (PipelineUnpack){ 0, a_tile, true, 0 };
		p.product[p.products++] = (PipelineProduct){
			.cost = t->mvmuls * phases * t->mvmul_cost + 1000,
			.gives = { true, i + 1 == n },
		};
	}
	return (double)pipeline_turn(&p) / (1000 * n);
}

double model_tflops(const Target *t, int cores, double cycles)
{
	return cores * 2.0 * 32 * 32 * 32 * (double)t->clock_mhz / cycles / 1e6;
}

double model_stream(const Target *t, int64_t bytes)
{
	const int64_t packets = (bytes + t->noc_packet_bytes - 1) / t->noc_packet_bytes;
	return model_step(t, (Counters){ .noc_transfers = packets, .noc_read_bytes = bytes });
}

double model_bank_stream(const Target *t, int64_t bytes)
{
	const int64_t moving = cost_dram_read(t, bytes, 0, 0) - cost_dram_read(t, 0, 0, 0);
	return (double)(moving > t->noc_issue ? moving : t->noc_issue);
}

double model_dram_write(const Target *t, int64_t bytes, int hops)
{
	return (double)(cost_noc_transfer(t, 0, hops, 0) + t->dram_latency)
		+ (double)bytes * 1000 / (double)t->dram_write_rate;
}

static double dram_cores(const Target *t, int n, Counters each)
{
	Counters cores[MOST_CORES];
	for (int i = 0; i < n; i++)
		cores[i] = each;
	return (double)n * SHARE / (double)cost_op(t, cores, n).total;
}

double model_dram_readers(const Target *t, int cores)
{
	return dram_cores(t, cores,
			  (Counters){ .noc_read_bytes = SHARE, .dram_read_bytes = SHARE });
}

double model_dram_writers(const Target *t, int cores)
{
	return dram_cores(t, cores,
			  (Counters){ .noc_write_bytes = SHARE, .dram_write_bytes = SHARE });
}
