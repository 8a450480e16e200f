#include "passes/greedy.h"

#include "ir/file.h"
#include "passes/choice_check.h"
#include "passes/choice_legal.h"
#include "passes/greedy_fit.h"
#include "passes/greedy_room.h"

enum {
	MOST_BLOCKS = 4,
	MOST_TURNS = 12, /* to pack it, each for a fiftieth of L1 less */
};

static int ratio_up(int a, int b) { return (a + b - 1) / b; }

/* ---- cuts ---- */

/* A cut of a step's result. */
typedef struct Draft {
	Cut cut;
	int block;     /* output tiles side by side, 0: it is no product */
	int64_t area;  /* planes and units of rows of the largest shard */
	bool shares;   /* cores read weights for each other */
	bool inherits; /* its input is cut so */
} Draft;

static bool is_better(const Draft *a, const Draft *b)
{
	if (a->shares != b->shares)
		return a->shares ? a->area <= 2 * b->area : 2 * a->area < b->area;
	if (a->area != b->area)
		return a->area < b->area;
	if (a->cut.splits != b->cut.splits)
		return a->cut.splits < b->cut.splits;
	if (a->inherits != b->inherits)
		return a->inherits;
	return a->block > b->block;
}

static bool word_allows(ShardWord w, Cut c)
{
	return w == SHARD_ANY || (w == SHARD_HEIGHT && c.splits == 1)
		|| (w == SHARD_WIDTH && c.bands == 1)
		|| (w == SHARD_BLOCK && c.bands > 1 && c.splits > 1);
}

static Cut input_cut(const Greedy *g, const Step *s)
{
	if (!s->nin)
		return (Cut){ 0, 0 };
	const Choice *c = &g->choices[s->in[0].tensor->born];
	return (Cut){ c->bands, c->splits };
}

static void try_cut(const Greedy *g, int step, Cut cut, int block, Draft *best)
{
	const Step *s = &g->bare->steps[step];
	const ShardWord word = g->pins ? g->pins[step].shard : SHARD_ANY;
	const Cut most = choice_most_cut(s, block), in = input_cut(g, s);
	if (!choice_cut_ok(g->bare, s, cut, block) || !word_allows(word, cut)
	    || !greedy_may(g, step, CHOICE_bands, cut.bands)
	    || !greedy_may(g, step, CHOICE_splits, cut.splits))
		return;
	const int planes = ratio_up(s->out->layout.planes, most.splits);
	const Choice c = { .bands = cut.bands, .splits = cut.splits };
	const Draft d = {
		.cut = cut, .block = block,
		.area = (int64_t)ratio_up(most.bands, cut.bands) * ratio_up(most.splits, cut.splits)
			* planes,
		.shares = choice_has(s, CHOICE_fetchers) && choice_most_fetchers(g->bare, &c) > 1,
		.inherits = in.bands == cut.bands && in.splits == cut.splits,
	};
	if (!best->area || is_better(&d, best))
		*best = d;
}

/* Every number of splits with the fewest bands that make bands as low as can be. */
static void try_cuts(const Greedy *g, int step, int block, Draft *best)
{
	const Step *s = &g->bare->steps[step];
	const Cut most = choice_most_cut(s, block);
	for (int splits = 1; splits <= most.splits && splits <= g->bare->cores; splits++) {
		int bands = g->bare->cores / splits;
		bands = bands < most.bands ? bands : most.bands;
		bands = ratio_up(most.bands, ratio_up(most.bands, bands));
		if (greedy_fixed(g, step, CHOICE_bands))
			bands = g->pins[step].value.bands;
		else if (g->pins && g->pins[step].shard == SHARD_WIDTH)
			bands = 1;
		try_cut(g, step, (Cut){ bands, splits }, block, best);
	}
	if (s->nin)
		try_cut(g, step, input_cut(g, s), block, best);
}

/* False if pins leave none. */
static bool choose_cut(Greedy *g, int step)
{
	const Step *s = &g->bare->steps[step];
	Choice *c = &g->choices[step];
	int blocks[MOST_BLOCKS] = { 0 }, n = 1;
	Draft best = { .area = 0 };
	if (choice_has(s, CHOICE_cout_block))
		n = choice_cout_blocks(s, blocks, MOST_BLOCKS);
	for (int b = n - 1; b >= 0; b--)
		if (!blocks[b] || greedy_may(g, step, CHOICE_cout_block, blocks[b]))
			try_cuts(g, step, blocks[b], &best);
	c->bands = best.cut.bands;
	c->splits = best.cut.splits;
	if (best.block)
		c->cout_block = best.block;
	return best.area > 0;
}

/* What is fixed, and what follows from nothing else. */
static bool choose(Greedy *g, int step)
{
	const Step *s = &g->bare->steps[step];
	Choice *c = &g->choices[step];
	*c = choice_plain(s);
	for (int f = 0; f < CHOICE_COUNT; f++)
		if (greedy_fixed(g, step, f))
			choice_set(c, f, choice_get(&g->pins[step].value, f));
	if (choice_has(s, CHOICE_weights))
		choice_set_product(s, g->pins ? &g->pins[step] : NULL, c);
	if (!s->out)
		return true;
	const DevTypes tried = choice_tried(g->bare, s->out, g->pins);
	if (!(tried & (unsigned)c->type))
		c->type = (int)(tried & DEV_BF16 ? DEV_BF16 : tried);
	if (s->out->born != step) {
		const Choice *first = &g->choices[s->out->born];
		c->bands = first->bands;
		c->splits = first->splits;
		c->type = first->type;
		c->place = first->place;
		if (!greedy_fixed(g, step, CHOICE_cout_block))
			c->cout_block = choice_has(s, CHOICE_cout_block) ? first->cout_block : 0;
	} else if (!choose_cut(g, step)) {
		return false;
	}
	if (choice_has(s, CHOICE_fetchers) && !greedy_fixed(g, step, CHOICE_fetchers))
		c->fetchers = choice_most_fetchers(g->bare, c);
	return true;
}

/* Does a core read rows of what comes from the host that others own? They would come
 * from there twice. */
static bool reads_host(const Plan *p, const Step *s, int part)
{
	const PlanTensor *t = s->in[part].tensor;
	bool more = false;
	for (int c = 0; c < p->cores; c++)
		more |= range_count(t->shard[c].keep.rows) > range_count(t->shard[c].own.rows);
	return more && p->steps[t->born].kind == STEP_EDGE_IN;
}

static void choose_reshards(Greedy *g)
{
	const Plan *p = plan_apply(g->bare, g->choices);
	for (int k = 0, i = 0; k < p->nsteps; k++) {
		const Step *s = &p->steps[k];
		if (step_moves(s))
			continue;
		Choice *c = &g->choices[i];
		for (int k2 = 0; k2 < s->nin && s->out && !greedy_fixed(g, i, CHOICE_reshard); k2++)
			if ((plan_is_wasteful(p, s, k2) || reads_host(p, s, k2))
			    && !(c->park >> k2 & 1)
			    && choice_reshard_ok(g->bare, g->choices, i, k2))
				c->reshard |= 1 << k2;
		i++;
	}
}

static bool is_legal(const Greedy *g)
{
	TextFile unread;
	text_open(&unread);
	Diag d = { .to = unread.f };
	const bool ok = choice_check(g->bare, g->choices, NULL, &d);
	text_take(&unread, g->bare->graph->arena);
	return ok;
}

/* All of it for so much room; `packs`: it has a place for every buffer, too. */
static bool attempt(Greedy *g, bool *packs)
{
	*packs = true;
	for (int i = 0; i < g->bare->nsteps; i++)
		if (!choose(g, i))
			return false;
	greedy_slice_pinned(g);
	if (!is_legal(g))
		return false;
	choose_reshards(g);
	if (!greedy_make_room(g) || !is_legal(g))
		return false;
	greedy_prefetch(g);
	*packs = greedy_packs(g);
	if (!*packs) {
		greedy_no_prefetch(g);
		*packs = greedy_packs(g);
	}
	return is_legal(g);
}

/* A try at all of it, from the choices there are or from none. */
typedef bool Attempt(Greedy *g, bool *packs);

static bool repair(Greedy *g, bool *packs)
{
	if (!is_legal(g) || !greedy_relieve(g))
		return false;
	*packs = greedy_packs(g);
	return is_legal(g);
}

/* In so much room, or ever less until buffers have a place, too. */
static bool attempts(Plan *bare, const Pins *pins, int64_t room, Choice *choices,
		     Attempt *attempt_in)
{
	const Target *t = bare->target;
	const int64_t first = (t->l1_first + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	const int64_t all = room ? room : (t->l1_end - first) / ALIGN_DRAM * ALIGN_DRAM;
	Arena *own = arena_create(); /* plans on the way to the last one */
	Graph graph = *bare->graph;
	Plan plan = *bare;
	graph.arena = own;
	plan.graph = &graph;
	bool ok = true, packs = false;
	for (int turn = 0; turn < MOST_TURNS && ok && !packs; turn++) {
		Greedy g = { .bare = &plan, .pins = pins, .choices = choices,
			     .room = all - all / 50 * turn };
		ok = attempt_in(&g, &packs);
	}
	arena_destroy(own);
	return ok && packs;
}

bool greedy_choices(Plan *bare, const Pins *pins, int64_t room, Choice *choices)
{
	return attempts(bare, pins, room, choices, attempt);
}

bool greedy_repair(Plan *bare, const Pins *pins, int64_t room, Choice *choices)
{
	return attempts(bare, pins, room, choices, repair);
}
