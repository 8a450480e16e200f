/*
 * Weights on their way to the cores: who reads which pages (backend/lower_weights.c)
 * and how long that takes.
 *
 * A page is read, then in place, or sent on to those that share it; then comes the
 * next (runtime/device/weights.h). Only cores that take turns overlap that.
 */
#include "ir/mix.h"
#include "passes/cost_parts.h"

/* Most groups of weights that a split needs. */
static int most_groups(const Plan *p, const Step *s)
{
	const Cut cut = s->out->cut;
	int most = 0;
	if (cut.splits == 1)
		return s->groups;
	for (int c = 0; c < cut.splits && c < p->cores; c++) {
		const int n = range_count(step_groups(s, s->out->shard[c].own.planes));
		most = n > most ? n : most;
	}
	return most;
}

/* How long a page takes. */
static int64_t each(const CostContext *x, const Fetch *f)
{
	const Target *t = x->target;
	const int64_t bytes = f->page_bytes, requests = 1 + bytes / COST_DRAM_PAGE;
	const int64_t read = x->round_trip + t->dram_latency
		+ cost_most(requests * t->noc_issue, bytes * 1000 / t->noc_rate);
	if (!f->fetchers)
		return read;
	/* The page, whose packets reserve their paths in turn; then the word. */
	return read + 2 * t->mcast_latency + (work_packets(bytes) - 1) * t->mcast_setup
		+ bytes * 1000 / t->mcast_rate;
}

Fetch cost_fetch_of(const CostContext *x, const Plan *p, const Step *s, int phase)
{
	const bool mix = s->kind == STEP_MIX;
	const FetchWays ways = step_fetch_ways(p, s);
	const int sharing = ways == FETCH_ALL ? p->cores : p->rows;
	Fetch f = { .pages = 1, .room = 1 };
	f.page_bytes = mix ? (int64_t)mix_bytes(s->mix[phase]) : s->page_bytes;
	if (!mix) {
		f.pages = (int64_t)most_groups(p, s) * s->stream.chunks * s->stream.passes;
		f.room = s->stream.pages;
	}
	if (ways != FETCH_EACH)
		f.fetchers = step_fetchers(s, sharing);
	f.readers = ways == FETCH_ALL ? f.fetchers
		  : ways == FETCH_COLUMNS ? p->cols * f.fetchers : p->cores;
	f.each = each(x, &f);
	return f;
}

int64_t cost_fetch_pages(const CostContext *x, const Fetch *f, int64_t pages)
{
	const int64_t ahead = cost_least(f->fetchers, f->room); /* asked for at a time */
	const int64_t turns = ahead > 1 ? cost_up(pages, ahead) : pages;
	const int64_t sharing = f->fetchers > 1 ? f->readers / f->fetchers : f->readers;
	const int64_t dram = pages * f->page_bytes * sharing * 1000 / x->target->dram_read_all;
	return pages <= 0 ? 0 : cost_most(turns * f->each, dram);
}

int64_t cost_fetch(CostContext *x, const Plan *p, const Step *s)
{
	if (!s->weights)
		return 0;
	const Fetch f = cost_fetch_of(x, p, s, 0);
	return cost_fetch_pages(x, &f, cost_least(f.room, f.pages));
}
