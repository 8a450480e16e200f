/*
 * Tensors on their way between L1 and DRAM: each core by its NoC link, all of them
 * by the channels they share.
 */
#include "passes/cost_parts.h"

/* Pitch and lead are known once the tensor is sized; before that nearly. */
int64_t cost_row_bytes(const PlanTensor *t)
{
	const Layout *l = &t->layout;
	const int lead = l->lead ? l->lead : PITCH_STEP;
	const int pitch = l->pitch ? l->pitch : layout_pitch(l->cols, l->phases, lead, 0);
	return (int64_t)pitch * (dev_pixel_bytes(l->type) + (l->type == DEV_BFP8_B));
}

void cost_traffic(Traffic *core, const PlanTensor *t, Region r, bool out)
{
	const int64_t rows = range_count(range_both(r.rows, (Range){ 0, t->height }));
	const int64_t runs = (int64_t)range_count(r.planes) * t->images * t->layout.phases;
	const int64_t bytes = rows * cost_row_bytes(t);
	if (!rows)
		return;
	*(out ? &core->write : &core->read) += runs * bytes;
	core->transfers += runs * (work_packets(bytes) + (t->layout.type == DEV_BFP8_B));
}

void cost_traffic_cores(Traffic *all, const Traffic *core, int cores)
{
	all->read = cost_most(all->read, core->read);
	all->write = cost_most(all->write, core->write);
	all->transfers = cost_most(all->transfers, core->transfers);
	all->all_read += cores * core->read;
	all->all_write += cores * core->write;
}

int64_t cost_traffic_time(const CostContext *x, const Traffic *m)
{
	const Target *t = x->target;
	const int64_t alone = cost_most(m->transfers * t->noc_issue,
					cost_most(m->read, m->write) * 1000 / t->noc_rate);
	const int64_t dram = m->all_read * 1000 / t->dram_read_all
		+ m->all_write * 1000 / t->dram_write_all;
	return m->transfers ? cost_most(alone, dram) + x->round_trip + t->dram_latency : 0;
}

int64_t cost_move(CostContext *x, const Plan *p, const PlanTensor *t, bool out)
{
	Traffic all = { 0 };
	for (int c = 0; c < p->cores; c++) {
		Traffic core = { 0 };
		cost_traffic(&core, t, out ? t->shard[c].own : t->shard[c].keep, out);
		cost_traffic_cores(&all, &core, 1);
	}
	return cost_traffic_time(x, &all);
}
