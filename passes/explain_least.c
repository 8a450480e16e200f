/*
 * The least room a step can do with, all by itself: no plan gives it less, so if that
 * is too much there is none.
 */
#include "passes/choice_legal.h"
#include "passes/explain_none.h"
#include "passes/plan_dram.h"

enum { MOST_VALUES = 128, MOST_BLOCKS = 4 };

typedef struct Least {
	const Plan *bare;
	const Pins *pins; /* or NULL */
	Step x;           /* cut as it is tried */
	Shard *shards;
} Least;

static bool fixed(const Least *l, ChoiceField f) { return l->pins && l->pins->fixed >> f & 1; }

static bool may(const Least *l, ChoiceField f, int value)
{
	return !fixed(l, f) || choice_get(&l->pins->value, f) == value;
}

static int64_t aligned(int64_t n) { return (n + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM; }

/* So many rows and planes of a tensor, in the smallest type it may have. */
static int64_t bytes_of(const Plan *bare, const PlanTensor *t, int rows, int planes)
{
	Layout l = t->layout;
	if (choice_types(bare, bare->tensors[t->id]) & DEV_BFP8_B)
		l.type = DEV_BFP8_B;
	l.place = PLACE_L1;
	l.pitch = layout_pitch(l.cols, l.phases, l.lead, 0);
	l.rows = rows;
	l.planes = t->images * planes;
	return aligned(layout_bytes(&l));
}

/* Rows and planes of part k, or (k == nin) the result, on the core that has most, of
 * `rows` rows of the result at a time or (0) all it owns. */
static int64_t most_bytes(const Least *l, int k, int rows)
{
	const Step *x = &l->x;
	int high = 0, deep = 0;
	for (int c = 0; c < l->bare->cores; c++) {
		Region own = x->out->shard[c].own;
		if (region_empty(own))
			continue;
		if (rows && own.rows.end > own.rows.first + rows)
			own.rows.end = own.rows.first + rows;
		const Region r = k < x->nin ? step_reads(x, k, own) : own;
		high = range_count(r.rows) > high ? range_count(r.rows) : high;
		deep = range_count(r.planes) > deep ? range_count(r.planes) : deep;
	}
	return bytes_of(l->bare, k < x->nin ? x->in[k].tensor : x->out, high, deep);
}

/* In L1, or one slice of it from DRAM, or two. */
static int64_t held_bytes(const Least *l, int k)
{
	const Step *x = &l->x;
	const PlanTensor *t = l->bare->tensors[(k < x->nin ? x->in[k].tensor : x->out)->id];
	const bool result = k == x->nin;
	const bool dram = choice_dram_ok(l->bare, t)
		&& (!result || may(l, CHOICE_place, PLACE_DRAM));
	const int buffers = may(l, CHOICE_slice_buffer, SLICE_SINGLE) ? 1 : 2;
	const int64_t here = most_bytes(l, k, 0);
	const int64_t slices = dram ? buffers * most_bytes(l, k, x->out->row_unit) : here;
	if (result && !may(l, CHOICE_place, PLACE_L1))
		return dram ? slices : 0;
	return slices < here ? slices : here;
}

/* One page of weights, the smallest, unless pins want more. */
static int64_t page_bytes(const Least *l, const Step *bare, int block, int splits)
{
	int ks[MOST_VALUES];
	Choice c = { .cout_block = block };
	choice_set_product(bare, l->pins, &c);
	int64_t least = INT64_MAX;
	int n = choice_k_blocks(bare, &c, ks, MOST_VALUES);
	if (fixed(l, CHOICE_k_block)) {
		ks[0] = l->pins->value.k_block;
		n = 1;
	}
	for (int i = 0; i < n; i++) {
		c.k_block = ks[i];
		const Step w = choice_product(bare, &c);
		const int64_t all = (int64_t)((w.groups + splits - 1) / splits) * w.stream.chunks;
		const int64_t pages = !fixed(l, CHOICE_ring) ? 1
			: l->pins->value.ring == 0 || all < l->pins->value.ring ? all
			: l->pins->value.ring;
		if (pages * w.page_bytes < least)
			least = pages * w.page_bytes;
	}
	return aligned(least);
}

static bool cut_allowed(const Least *l, Cut c)
{
	const ShardWord w = l->pins ? l->pins->shard : SHARD_ANY;
	return may(l, CHOICE_bands, c.bands) && may(l, CHOICE_splits, c.splits)
		&& (w == SHARD_ANY || w == shard_word(c));
}

static int64_t cut_bytes(Least *l, const Step *bare, Cut cut, int block)
{
	PlanTensor out = *bare->out;
	int64_t sum = 0;
	out.cut = cut;
	if (bare->kind == STEP_CONV && bare->channel_groups == 1)
		out.plane_unit = 2 * block;
	l->x = *bare;
	l->x.out = &out;
	plan_own_into(l->bare, &out, l->shards);
	for (int k = 0; k <= bare->nin; k++) {
		int same = 0;
		while (same < k && (k == bare->nin || bare->in[same].tensor != bare->in[k].tensor))
			same++;
		if (same == k)
			sum += held_bytes(l, k);
	}
	return sum + (block ? page_bytes(l, bare, block, cut.splits) : 0);
}

int64_t explain_least_bytes(const Plan *bare, int step, const Pins *pins)
{
	const Step *s = &bare->steps[step];
	Least l = { .bare = bare, .pins = pins };
	int blocks[MOST_BLOCKS] = { 0 }, n = 1;
	int64_t least = INT64_MAX;
	if (!s->out || s->out->partial || s->kind == STEP_REDUCE || s->out->born != s->out->done)
		return 0;
	l.shards = arena_array(bare->graph->arena, Shard, bare->cores);
	if (choice_has(s, CHOICE_cout_block))
		n = choice_cout_blocks(s, blocks, MOST_BLOCKS);
	for (int b = 0; b < n; b++)
		for (int bands = 1; bands <= bare->cores; bands++)
			for (int splits = 1; bands * splits <= bare->cores; splits++) {
				const Cut cut = { bands, splits };
				if (!choice_cut_ok(bare, s, cut, blocks[b]) || !cut_allowed(&l, cut)
				    || (blocks[b] && !may(&l, CHOICE_cout_block, blocks[b])))
					continue;
				const int64_t bytes = cut_bytes(&l, s, cut, blocks[b]);
				least = bytes < least ? bytes : least;
			}
	return least == INT64_MAX ? 0 : least;
}
