#include "passes/choice_rules.h"

#include "passes/choice_legal.h"
#include "passes/plan_dram.h"

static const char *maker_of(const Case *e, const PlanTensor *t)
{
	return choice_step_spelling(e->k->bare, t->born);
}

/* ---- cout_block, bands, splits ---- */

static int tiles_of(const Step *s)
{
	return (int)weight_tiles_of((uint32_t)s->out->channels) / s->channel_groups;
}

static bool cout_block_ok(const Case *e)
{
	return choice_cout_block_ok(e->s, e->c.cout_block);
}

static const char *cout_block_why(const Case *e)
{
	if (e->s->kind != STEP_CONV)
		return "is not what a 2x2 transposed convolution has";
	return arena_printf(e->k->a, "is no 1, 2 or 4 that divides %d output tiles%s", tiles_of(e->s),
			    tiles_of(e->s) > MOST_GROUPS ? " into at most 255" : "");
}

static int cout_block_most(const Case *e)
{
	(void)e;
	return 4;
}

static Cut most_cut(const Case *e) { return choice_most_cut(e->s, e->c.cout_block); }

static bool bands_ok(const Case *e)
{
	const int bands = e->c.bands;
	return bands >= 1 && bands <= most_cut(e).bands && bands <= e->k->bare->cores;
}

static const char *bands_why(const Case *e)
{
	if (e->c.bands > e->k->bare->cores)
		return arena_printf(e->k->a, "is not within the %d cores of the plan",
				    e->k->bare->cores);
	return arena_printf(e->k->a, "is not from 1 to %d, the units of rows there are",
			    most_cut(e).bands);
}

static int bands_most(const Case *e) { return most_cut(e).bands; }

static bool splits_ok(const Case *e)
{
	return choice_cut_ok(e->k->bare, e->s, (Cut){ e->c.bands, e->c.splits }, e->c.cout_block);
}

static const char *splits_why(const Case *e)
{
	const Cut most = most_cut(e);
	if (e->c.splits < 1 || e->c.splits > most.splits)
		return arena_printf(e->k->a, "is not from 1 to %d, the units of planes there are",
				    most.splits);
	return arena_printf(e->k->a, "is not within the %d cores of the plan, times bands=%d",
			    e->k->bare->cores, e->c.bands);
}

static int splits_most(const Case *e) { return most_cut(e).splits; }

/* ---- type, place, slice ---- */

/* The first input of a product, whose type the others have to have; NULL if it is
 * this tensor or there is no such product. */
static const PlanTensor *read_with(const Case *e)
{
	const Plan *p = e->k->bare;
	const PlanTensor *t = e->s->out;
	for (int i = t->born; i <= t->dies; i++) {
		const Step *s = &p->steps[i];
		if (choice_has(s, CHOICE_k_block) && plan_reads(s, t)
		    && e->k->choices[s->in[0].tensor->born].type != e->c.type
		    && s->in[0].tensor != t)
			return s->in[0].tensor;
	}
	return NULL;
}

/* Another image of the same result, of which one alone is f32; NULL if there is none. */
static const PlanTensor *sent_with(const Case *e)
{
	const PlanTensor *t = e->s->out, *o = NULL;
	while ((o = choice_other_image(e->k->bare, t, o)))
		if ((e->k->choices[o->born].type == DEV_F32) != (e->c.type == DEV_F32))
			return o;
	return NULL;
}

static bool is_format(int type)
{
	return type == DEV_BF16 || type == DEV_BFP8_B || type == DEV_F32;
}

static bool is_allowed_type(const Case *e)
{
	return is_format(e->c.type) && choice_types(e->k->bare, e->s->out) & (unsigned)e->c.type;
}

static bool type_ok(const Case *e)
{
	return is_allowed_type(e) && !read_with(e) && !sent_with(e);
}

static const char *type_why(const Case *e)
{
	if (!is_allowed_type(e))
		return "is not a format that the op and all who make and read the tensor take";
	if (sent_with(e))
		return arena_printf(e->k->a, "is not that of %s, which is another image of it",
				    maker_of(e, sent_with(e)));
	return arena_printf(e->k->a, "is not that of %s, which a product reads with it",
			    maker_of(e, read_with(e)));
}

static bool place_ok(const Case *e)
{
	const bool dram = e->c.place == PLACE_DRAM;
	return e->c.place == PLACE_L1 || (dram && choice_dram_ok(e->k->bare, e->s->out));
}

/* What works on the tensor but not in slices, or NULL. */
static const char *unsliced(const Case *e)
{
	const Plan *p = e->k->bare;
	const PlanTensor *t = e->s->out;
	for (int i = t->born; i <= t->dies; i++) {
		const Step *s = &p->steps[i];
		const bool pieces = s->out && s->out->born != s->out->done;
		const bool pixel = s->out == t && s->kind == STEP_REDUCE;
		if ((s->out == t || plan_reads(s, t)) && (pieces || pixel || !step_can_slice(s)))
			return choice_step_spelling(p, i);
	}
	return NULL;
}

static const char *place_why(const Case *e)
{
	const char *who = unsliced(e);
	if (e->c.place == PLACE_DRAM && who)
		return arena_printf(e->k->a, "is not possible, %s cannot work in slices", who);
	return "is no place for it";
}

/* What is cut into slices. */
static const PlanTensor *sliced(const Case *e)
{
	return e->s->out ? e->s->out : e->s->in[0].tensor;
}

/* If it is not legally cut that has been told. */
static bool slice_ok(const Case *e)
{
	const PlanTensor *t = sliced(e);
	const int bands = e->s->out ? e->c.bands : e->k->choices[t->born].bands;
	if (!choice_is_sliced(e->k->bare, e->k->choices, e->step))
		return e->c.slice == 0;
	return !e->k->cut[t->born] || choice_slice_ok(t, bands, e->c.slice);
}

static int slice_most(const Case *e)
{
	const PlanTensor *t = sliced(e), *rows = choice_sliced(t);
	if (!e->k->cut[t->born])
		return 0;
	return choice_most_rows(rows, e->k->choices[t->born].bands) + rows->row_unit - 1;
}

static const char *slice_why(const Case *e)
{
	const PlanTensor *t = sliced(e), *rows = choice_sliced(t);
	if (!choice_is_sliced(e->k->bare, e->k->choices, e->step))
		return "is not possible for a step without a tensor in DRAM";
	return arena_printf(e->k->a, "is no multiple of %d up to the %d rows of a core, whose tensor lies in DRAM",
			    rows->row_unit,
			    choice_most_rows(rows, e->k->choices[t->born].bands));
}

static bool slice_buffer_ok(const Case *e)
{
	return e->c.slice_buffer == SLICE_DOUBLE
		|| (e->c.slice_buffer == SLICE_SINGLE
		    && choice_is_sliced(e->k->bare, e->k->choices, e->step));
}

static const char *slice_buffer_why(const Case *e)
{
	(void)e;
	return "is not possible for a step without a tensor in DRAM";
}

/* ---- weights ---- */

static bool weights_ok(const Case *e)
{
	return is_format(e->c.weights) && choice_weights(e->s) & (unsigned)e->c.weights;
}

static const char *weights_why(const Case *e)
{
	(void)e;
	return "is no format for ones that bring channels together";
}

static bool phases_ok(const Case *e)
{
	return e->c.phases >= 1 && e->c.phases <= 4;
}

static const char *phases_why(const Case *e)
{
	(void)e;
	return "is no fidelity";
}

static int chunks_of(const Case *e) { return choice_product(e->s, &e->c).stream.chunks; }

static bool k_block_ok(const Case *e)
{
	return choice_k_block_ok(e->s, &e->c, e->c.k_block)
		&& choice_pages(e->s, &e->c) <= MOST_PAGES;
}

static int k_block_most(const Case *e)
{
	const Choice c = { .cout_block = e->c.cout_block, .weights = e->c.weights };
	const Step x = choice_product(e->s, &c);
	return plan_deepest_block(&x) * step_block_count(&x);
}

static const char *k_block_why(const Case *e)
{
	const Step x = choice_product(e->s, &e->c);
	const int deepest = plan_deepest_block(&x);
	if (choice_k_block_ok(e->s, &e->c, e->c.k_block))
		return arena_printf(e->k->a, "is not possible, %lld pages would come by and %d can",
				    (long long)choice_pages(e->s, &e->c), (int)MOST_PAGES);
	return arena_printf(e->k->a, "is no multiple of %d, the tiles of a block, up to %d", deepest,
			    deepest * step_block_count(&x));
}

static bool ring_ok(const Case *e) { return choice_ring_ok(e->s, &e->c, e->c.ring); }

static const char *ring_why(const Case *e)
{
	return arena_printf(e->k->a, "is not for %d pages a group", chunks_of(e));
}

static bool act_block_ok(const Case *e)
{
	return choice_act_block_ok(e->s, &e->c, e->c.act_block);
}

static int act_block_most(const Case *e)
{
	const Units u = choice_units(e->s, &e->c);
	return u.count * u.hold * TILE;
}

static const char *act_block_why(const Case *e)
{
	if (e->s->kind == STEP_DECONV2)
		return "is not possible for a 2x2 transposed convolution, which keeps no sums";
	if (chunks_of(e) == 1)
		return "is not possible without k_block, for weights in one page a group";
	return arena_printf(e->k->a, "is no multiple of %d that divides the %d positions of a core",
			    TILE * choice_units(e->s, &e->c).hold, act_block_most(e));
}

static int fetchers_most(const Case *e) { return choice_most_fetchers(e->k->bare, &e->c); }

static bool fetchers_ok(const Case *e)
{
	return e->c.fetchers >= 1 && e->c.fetchers <= fetchers_most(e);
}

static const char *fetchers_why(const Case *e)
{
	if (fetchers_most(e) == 1 && e->c.fetchers > 1)
		return "is not possible where cores share no weights: want splits=1, or one for each column";
	return arena_printf(e->k->a, "is not from 1 to %d", fetchers_most(e));
}

static bool prefetch_ok(const Case *e)
{
	return e->c.prefetch == 0
		|| (e->c.prefetch == 1 && plan_can_prefetch(e->k->bare, e->k->choices, e->step));
}

static const char *prefetch_why(const Case *e)
{
	(void)e;
	return "is not possible without a step right before it, behind a move or in slices";
}

/* ---- parts ---- */

typedef bool PartRule(const Plan *bare, const Choice *choices, int step, int part);

/* The inputs of a set that a rule takes. */
static int taken(const Case *e, int set, PartRule *rule)
{
	int ok = 0;
	for (int i = 0; i < e->s->nin; i++)
		if (set >> i & 1 && rule(e->k->bare, e->k->choices, e->step, i))
			ok |= 1 << i;
	return ok;
}

static const char *part_why(const Case *e, int set, int ok, const char *what)
{
	const unsigned wrong = (unsigned)set & ~(unsigned)ok;
	int part = 0;
	while (!(wrong >> part & 1))
		part++;
	if (part >= e->s->nin)
		return arena_printf(e->k->a, "names input %d of %d", part, e->s->nin);
	return arena_printf(e->k->a, "names input %d, %s, but %s", part,
			    maker_of(e, e->s->in[part].tensor), what);
}

/* What is parked comes back in that cut anyhow. */
static int reshard_best(const Case *e)
{
	return taken(e, e->c.reshard, choice_reshard_ok) & ~e->k->choices[e->step].park;
}

static bool reshard_ok(const Case *e) { return e->c.reshard == reshard_best(e); }

static const char *reshard_why(const Case *e)
{
	return part_why(e, e->c.reshard, reshard_best(e),
			"only what lies in L1 in whole rows and was not parked is copied, once");
}

static int park_best(const Case *e) { return taken(e, e->c.park, choice_park_ok); }

static bool park_ok(const Case *e) { return e->c.park == park_best(e); }

static const char *park_why(const Case *e)
{
	return part_why(e, e->c.park, park_best(e),
			"only what lies in L1, is no constant and was not used by the step before can wait in DRAM");
}

static int beside_best(const Case *e)
{
	return taken(e, e->c.beside, choice_beside_ok) & e->k->choices[e->step].park;
}

static bool beside_ok(const Case *e) { return e->c.beside == beside_best(e); }

static const char *beside_why(const Case *e)
{
	return part_why(e, e->c.beside, beside_best(e),
			"only what is parked for four steps or more moves beside them");
}

/* ---- all of them ---- */

const ChoiceRule choice_rules[CHOICE_COUNT] = {
	[CHOICE_cout_block] = { cout_block_ok, cout_block_why, cout_block_most },
	[CHOICE_bands] = { bands_ok, bands_why, bands_most },
	[CHOICE_splits] = { splits_ok, splits_why, splits_most },
	[CHOICE_type] = { type_ok, type_why, NULL },
	[CHOICE_place] = { place_ok, place_why, NULL },
	[CHOICE_slice] = { slice_ok, slice_why, slice_most },
	[CHOICE_slice_buffer] = { slice_buffer_ok, slice_buffer_why, NULL },
	[CHOICE_weights] = { weights_ok, weights_why, NULL },
	[CHOICE_phases] = { phases_ok, phases_why, NULL },
	[CHOICE_k_block] = { k_block_ok, k_block_why, k_block_most },
	[CHOICE_ring] = { ring_ok, ring_why, NULL },
	[CHOICE_act_block] = { act_block_ok, act_block_why, act_block_most },
	[CHOICE_fetchers] = { fetchers_ok, fetchers_why, fetchers_most },
	[CHOICE_prefetch] = { prefetch_ok, prefetch_why, NULL },
	[CHOICE_reshard] = { reshard_ok, reshard_why, reshard_best },
	[CHOICE_park] = { park_ok, park_why, park_best },
	[CHOICE_beside] = { beside_ok, beside_why, beside_best },
};

const ChoiceField choice_order[CHOICE_COUNT] = {
	CHOICE_cout_block, CHOICE_bands,    CHOICE_splits,   CHOICE_type,    CHOICE_place,
	CHOICE_slice,      CHOICE_slice_buffer,
	CHOICE_weights,    CHOICE_phases,  CHOICE_k_block,  CHOICE_ring,     CHOICE_act_block,
	CHOICE_fetchers,   CHOICE_prefetch, CHOICE_reshard,  CHOICE_park,    CHOICE_beside,
};
