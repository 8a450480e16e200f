/*
 * Rows from the cores that own them to those that keep them: the core that sends or
 * gets most rules.
 *
 * Bands and splits are regular, so a region lies on few bands in a row, and cores
 * that keep the same follow each other.
 */
#include "passes/cost_parts.h"

#include <string.h>

enum { MAX_CORES = 1024 };

typedef struct Sent {
	int64_t transfers, bytes;
} Sent;

/* A tensor that is pushed, and what its rows come to. */
typedef struct Rows {
	const PlanTensor *from;
	bool same;               /* tensor at both ends: nobody sends to himself */
	bool exponents;
	int64_t row_bytes, sets; /* of a plane; images and phases */
	int band, row;           /* where the last search began, and for which row */
	Sent *sent;              /* of each core */
} Rows;

static Sent run(const Rows *r, int64_t rows, int64_t planes)
{
	const int64_t bytes = rows * r->row_bytes, runs = r->sets * planes;
	return (Sent){ runs * (work_packets(bytes) + r->exponents), runs * bytes };
}

/* A split may have no planes. */
static Range band_rows(const PlanTensor *t, int band)
{
	const Shard *s = &t->shard[band * t->cut.splits];
	int k = 0;
	while (k + 1 < t->cut.splits && region_empty(s[k].own))
		k++;
	return s[k].own.rows;
}

/* From one band to cores `first` and on that keep the same. */
static void send_band(Rows *r, int band, int64_t rows, Range planes, int first, int cores)
{
	const int splits = r->from->cut.splits;
	for (int core = band * splits; core < (band + 1) * splits; core++) {
		const Range own = r->from->shard[core].own.planes;
		const int count = range_count(range_both(own, planes));
		const int to = cores - (r->same && core >= first && core < first + cores);
		if (!count)
			continue;
		const Sent one = run(r, rows, count);
		r->sent[core].transfers += (one.transfers + 1) * to; /* and a word */
		r->sent[core].bytes += one.bytes * to;
	}
}

static void send_to(Rows *r, Region keep, int first, int cores)
{
	const int bands = r->from->cut.bands;
	if (keep.rows.first < r->row)
		r->band = 0;
	r->row = keep.rows.first;
	while (r->band < bands && band_rows(r->from, r->band).end <= keep.rows.first)
		r->band++;
	for (int at = r->band; at < bands; at++) {
		const Range own = band_rows(r->from, at);
		const int rows = range_count(range_both(own, keep.rows));
		if (own.first >= keep.rows.end)
			break;
		if (rows)
			send_band(r, at, rows, keep.planes, first, cores);
	}
}

static int64_t area(Region r) { return (int64_t)range_count(r.rows) * range_count(r.planes); }

/* Bytes that come to the core which gets most. */
static int64_t most_gets(const Plan *p, const Rows *r, const PlanTensor *to)
{
	int64_t most = 0;
	for (int c = 0; c < p->cores; c++) {
		const Region keep = tensor_kept(to, c);
		const int64_t here = r->same ? area(region_both(keep, to->shard[c].own)) : 0;
		most = cost_most(most, area(keep) - here);
	}
	return most * r->sets * r->row_bytes;
}

/* Does every core have the rows of its band and the planes of its split, in what it owns
 * or keeps, and those behind them nothing? Their readers may be cut in more. */
static bool is_grid(const Plan *p, const PlanTensor *t,
		    const Region *(*of)(const PlanTensor *t, int core))
{
	const int splits = t->cut.splits;
	for (int c = 0; c < t->cut.bands * splits; c++) {
		const Region r = *of(t, c), band = *of(t, c - c % splits);
		const Region split = *of(t, c % splits);
		if (!range_same(r.rows, band.rows) || !range_same(r.planes, split.planes))
			return false;
	}
	for (int c = t->cut.bands * splits; c < p->cores; c++)
		if (!region_empty(*of(t, c)))
			return false;
	return true;
}

static const Region *owned(const PlanTensor *t, int core) { return &t->shard[core].own; }
static const Region *kept(const PlanTensor *t, int core) { return &t->shard[core].keep; }

/* One way of a grid: what a band sends to all bands for each plane, or a split has for
 * all splits. */
typedef struct Along {
	int64_t transfers, bytes; /* for one plane of a set; as many planes */
	int64_t cores;            /* to which */
} Along;

/* Bands or splits in order: what is owned, and what is kept of it. */
typedef struct Axis {
	Range own[MAX_CORES], keep[MAX_CORES];
	Along sent[MAX_CORES];
	int from, to;
} Axis;

/* `r` is NULL for planes. */
static void add_along(Along *sum, const Rows *r, int64_t n)
{
	const int64_t bytes = r ? n * r->row_bytes : n;
	sum->transfers += r ? work_packets(bytes) + r->exponents : n;
	sum->bytes += bytes;
	sum->cores++;
}

/* What is owned is in order, so the search goes on where the last one began. */
static void send_along(Axis *x, const Rows *r)
{
	memset(x->sent, 0, sizeof *x->sent * (size_t)x->from);
	for (int i = 0, first = 0, was = 0; i < x->to; i++) {
		const Range keep = x->keep[i];
		if (!range_count(keep))
			continue;
		first = keep.first < was ? 0 : first;
		was = keep.first;
		while (first < x->from && x->own[first].end <= keep.first)
			first++;
		for (int k = first; k < x->from && x->own[k].first < keep.end; k++) {
			const int n = range_count(range_both(x->own[k], keep));
			if (n)
				add_along(&x->sent[k], r, n);
		}
	}
}

static void find_rows(const Rows *r, const PlanTensor *to, Axis *x)
{
	x->from = r->from->cut.bands;
	x->to = to->cut.bands;
	for (int i = 0; i < x->from; i++)
		x->own[i] = r->from->shard[i * r->from->cut.splits].own.rows;
	for (int i = 0; i < x->to; i++)
		x->keep[i] = tensor_kept(to, i * to->cut.splits).rows;
	send_along(x, r);
}

static void find_planes(const Rows *r, const PlanTensor *to, Axis *x)
{
	x->from = r->from->cut.splits;
	x->to = to->cut.splits;
	for (int i = 0; i < x->from; i++)
		x->own[i] = r->from->shard[i].own.planes;
	for (int i = 0; i < x->to; i++)
		x->keep[i] = to->shard[i].keep.planes;
	send_along(x, NULL);
}

/* The most that a core sends, as send_to of every core has it, if all of it is regular:
 * a product of sums over bands and over splits, but for what it keeps itself. */
static Sent send_grid(const Rows *r, const PlanTensor *to)
{
	Axis rows, planes;
	Sent most = { 0, 0 };
	find_rows(r, to, &rows);
	find_planes(r, to, &planes);
	for (int b = 0; b < rows.from; b++) {
		const Range here = range_both(rows.own[b], rows.keep[b]);
		const int high = r->same ? range_count(here) : 0;
		for (int k = 0; k < planes.from; k++) {
			const Along *row = &rows.sent[b], *plane = &planes.sent[k];
			Sent one = { r->sets * plane->transfers * row->transfers
					     + row->cores * plane->cores,
				     r->sets * plane->transfers * row->bytes };
			const int deep = range_count(range_both(planes.own[k], planes.keep[k]));
			if (high && deep) {
				const Sent kept = run(r, high, deep);
				one.transfers -= kept.transfers + 1;
				one.bytes -= kept.bytes;
			}
			most.transfers = cost_most(most.transfers, one.transfers);
			most.bytes = cost_most(most.bytes, one.bytes);
		}
	}
	return most;
}

/* The same core by core. */
static Sent send_each(const Plan *p, Rows *r, const PlanTensor *to)
{
	Sent sent[MAX_CORES], most = { 0, 0 };
	r->sent = sent;
	memset(sent, 0, sizeof *sent * (size_t)p->cores);
	for (int c = 0, cores; c < p->cores; c += cores) {
		const Region keep = tensor_kept(to, c);
		cores = 1;
		while (c + cores < p->cores
		       && memcmp(&to->shard[c + cores].keep, &to->shard[c].keep, sizeof keep) == 0)
			cores++;
		if (!region_empty(keep))
			send_to(r, keep, c, cores);
	}
	for (int c = 0; c < p->cores; c++) {
		most.transfers = cost_most(most.transfers, sent[c].transfers);
		most.bytes = cost_most(most.bytes, sent[c].bytes);
	}
	return most;
}

static Rows rows_of(const PlanTensor *from, const PlanTensor *to)
{
	return (Rows){ .from = from, .same = from == to,
		       .exponents = from->layout.type == DEV_BFP8_B,
		       .row_bytes = cost_row_bytes(from),
		       .sets = (int64_t)from->images * from->layout.phases };
}

static int64_t push_time(const CostContext *x, const Plan *p, const PlanTensor *from,
			 const PlanTensor *to)
{
	Rows r = rows_of(from, to);
	const int64_t gets = most_gets(p, &r, to);
	if (!gets)
		return 0;
	const bool grid = is_grid(p, from, owned) && is_grid(p, to, kept);
	Sent most = grid ? send_grid(&r, to) : send_each(p, &r, to);
	most.bytes = cost_most(most.bytes, gets);
	return cost_most(most.transfers * x->target->noc_issue,
			 most.bytes * 1000 / x->target->noc_rate) + x->round_trip;
}

/* What a host edge reads, at most of what each core owns or keeps. */
static int64_t edge_time(const CostContext *x, const Plan *p, PlanTensor *t, bool all)
{
	Step s = p->steps[t->done];
	s.out = t;
	int64_t most = 0;
	for (int c = 0; c < p->cores; c++) {
		const Region r = all ? tensor_kept(t, c) : t->shard[c].own;
		most = cost_most(most, cost_edge_core(x, &s, range_count(r.rows),
						      range_count(r.planes)));
	}
	return most * t->images;
}

static int64_t constant_time(const CostContext *x, const Plan *p, const PlanTensor *t, bool all)
{
	Traffic sum = { 0 };
	for (int c = 0; c < p->cores; c++) {
		Traffic core = { 0 };
		cost_traffic(&core, t, all ? tensor_kept(t, c) : t->shard[c].own, false);
		cost_traffic_cores(&sum, &core, 1);
	}
	return cost_traffic_time(x, &sum);
}

int64_t cost_halo(CostContext *x, const Plan *p, const PlanTensor *from, const PlanTensor *to)
{
	PlanTensor made = *to;
	if (to->layout.place == PLACE_DRAM)
		return 0;
	if (from != to)
		return push_time(x, p, from, to);
	switch (p->steps[to->done].kind) {
	case STEP_REFILL:
		return 0;
	case STEP_EDGE_IN:
		return edge_time(x, p, &made, true) - edge_time(x, p, &made, false);
	case STEP_CONSTANT:
		return constant_time(x, p, to, true) - constant_time(x, p, to, false);
	default:
		return push_time(x, p, from, to);
	}
}

int64_t cost_halo_least(CostContext *x, const Plan *p, const PlanTensor *t)
{
	if (t->layout.place == PLACE_DRAM || !tensor_pushed(p, t))
		return 0;
	const Rows r = rows_of(t, t);
	const int64_t gets = most_gets(p, &r, t);
	return gets ? gets * 1000 / x->target->noc_rate + x->round_trip : 0;
}
