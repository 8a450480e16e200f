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
 * or keeps? */
static bool is_grid(const PlanTensor *t, const Region *(*of)(const PlanTensor *t, int core))
{
	const int splits = t->cut.splits;
	for (int c = 0; c < t->cut.bands * splits; c++) {
		const Region r = *of(t, c), band = *of(t, c - c % splits);
		const Region split = *of(t, c % splits);
		if (memcmp(&r.rows, &band.rows, sizeof r.rows) != 0
		    || memcmp(&r.planes, &split.planes, sizeof r.planes) != 0)
			return false;
	}
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

static Along rows_to(const Rows *r, Range own, const PlanTensor *to)
{
	Along sum = { 0 };
	for (int i = 0; i < to->cut.bands; i++) {
		const Range keep = tensor_kept(to, i * to->cut.splits).rows;
		const int64_t rows = range_count(range_both(own, keep));
		if (!rows)
			continue;
		sum.transfers += work_packets(rows * r->row_bytes) + r->exponents;
		sum.bytes += rows * r->row_bytes;
		sum.cores++;
	}
	return sum;
}

static Along planes_to(Range own, const PlanTensor *to)
{
	Along sum = { 0 };
	for (int i = 0; i < to->cut.splits; i++) {
		const int64_t planes = range_count(range_both(own, to->shard[i].keep.planes));
		sum.transfers += planes;
		sum.cores += planes > 0;
	}
	return sum;
}

/* The same as send_to of every core, if all of it is regular: what a core sends is a
 * product of sums over bands and over splits. */
static void send_grid(Rows *r, const PlanTensor *to)
{
	const Cut cut = r->from->cut;
	Along planes[MAX_CORES];
	for (int k = 0; k < cut.splits; k++)
		planes[k] = planes_to(r->from->shard[k].own.planes, to);
	for (int c = 0; c < cut.bands * cut.splits; c += cut.splits) {
		const Along rows = rows_to(r, r->from->shard[c].own.rows, to);
		for (int k = 0; k < cut.splits; k++)
			r->sent[c + k] = (Sent){
				r->sets * planes[k].transfers * rows.transfers
					+ rows.cores * planes[k].cores,
				r->sets * planes[k].transfers * rows.bytes,
			};
	}
}

static Rows rows_of(const PlanTensor *from, const PlanTensor *to, Sent *sent)
{
	return (Rows){ .from = from, .same = from == to, .sent = sent,
		       .exponents = from->layout.type != DEV_BF16,
		       .row_bytes = cost_row_bytes(from),
		       .sets = (int64_t)from->images * from->layout.phases };
}

static int64_t push_time(const CostContext *x, const Plan *p, const PlanTensor *from,
			 const PlanTensor *to)
{
	Sent sent[MAX_CORES];
	Rows r = rows_of(from, to, sent);
	const int64_t gets = most_gets(p, &r, to);
	if (!gets)
		return 0;
	memset(sent, 0, sizeof *sent * (size_t)p->cores);
	const bool grid = !r.same && is_grid(from, owned) && is_grid(to, kept);
	if (grid)
		send_grid(&r, to);
	for (int c = 0, cores; c < p->cores && !grid; c += cores) {
		const Region keep = tensor_kept(to, c);
		cores = 1;
		while (c + cores < p->cores
		       && memcmp(&to->shard[c + cores].keep, &to->shard[c].keep, sizeof keep) == 0)
			cores++;
		if (!region_empty(keep))
			send_to(&r, keep, c, cores);
	}
	Sent most = { 0, gets };
	for (int c = 0; c < p->cores; c++) {
		most.transfers = cost_most(most.transfers, sent[c].transfers);
		most.bytes = cost_most(most.bytes, sent[c].bytes);
	}
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
	const Rows r = rows_of(t, t, NULL);
	const int64_t gets = most_gets(p, &r, t);
	return gets ? gets * 1000 / x->target->noc_rate + x->round_trip : 0;
}
