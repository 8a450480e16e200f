#include "passes/choice_legal.h"

#include <string.h>

#include "passes/plan_dram.h"
#include "passes/plan_steps.h"
#include "passes/rewrite.h"

/* Up to so many units of rows a core, slices may be of any number of them. */
enum { FEW_SLICES = 32 };

static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }
static int ratio_up(int a, int b) { return (a + b - 1) / b; }

/* Appends to a list that has room for `most`. */
static void add(int *values, int *n, int most, int value)
{
	if (*n < most)
		values[(*n)++] = value;
}

Choice choice_plain(const Step *s)
{
	Choice c = { .bands = 1, .splits = 1 };
	if (s->out)
		c.type = s->out->layout.type;
	if (choice_has(s, CHOICE_k_block)) {
		c.cout_block = s->held;
		c.weights = (int)s->weights;
		c.phases = s->phases;
		c.fetchers = 1;
	}
	return c;
}

/* ---- cuts ---- */

Cut choice_most_cut(const Step *s, int cout_block)
{
	const PlanTensor *t = s->out;
	const PlanTensor *rows = t->partial ? s->in[0].tensor : t; /* a row for each band of it */
	const bool grouped = s->kind != STEP_CONV || s->channel_groups > 1;
	const int unit = grouped ? t->plane_unit : 2 * cout_block;
	return (Cut){ ratio_up(rows->height, rows->row_unit), ratio_up(t->layout.planes, unit) };
}

bool choice_cut_ok(const Plan *bare, const Step *s, Cut cut, int cout_block)
{
	const Cut most = choice_most_cut(s, cout_block);
	return cut.bands >= 1 && cut.splits >= 1 && cut.bands <= most.bands
		&& cut.splits <= most.splits && cut.bands <= bare->cores / cut.splits;
}

int choice_most_rows(const PlanTensor *t, int bands)
{
	int most = 0;
	for (int i = 0; i < bands; i++)
		most = larger(most, range_count(plan_share(t->height, t->row_unit, i, bands)));
	return most;
}

bool choice_blocks_alike(const PlanTensor *t, int splits, int one, int other)
{
	bool alike = true;
	for (int i = 0; i < splits; i++) {
		const Range a = plan_share(t->layout.planes, 2 * one, i, splits);
		const Range b = plan_share(t->layout.planes, 2 * other, i, splits);
		alike &= a.first == b.first && a.end == b.end;
	}
	return alike;
}

/* ---- types ---- */

static bool types_make(const Step *s, const PlanTensor *t)
{
	const bool kind = s->kind == STEP_CONV || s->kind == STEP_DECONV2 || s->kind == STEP_UNARY
		|| s->kind == STEP_BINARY || s->kind == STEP_MAX_POOL;
	const bool whole = t->channels % PLANE == 0;
	/* Acts that no op has stand on the way to something else. */
	if (!kind || (!whole && (s->act.kind == OP_EXP || s->act.kind == OP_RECIPROCAL)))
		return false;
	if (s->kind == STEP_MAX_POOL
	    && !pool_windows_reach(s->op, op_in(s->op, 0)->shape, s->op->attr.pool.pads))
		return false;
	for (int k = 0; k < s->nin && s->kind != STEP_CONV && s->kind != STEP_DECONV2; k++) {
		const Part *in = &s->in[k];
		const int left = in->tensor->channels - in->plane * PLANE;
		if (!whole && (s->spread[k] || in->channels < left)) /* other channels there */
			return false;
	}
	return true;
}

static bool types_read(const Step *s, const PlanTensor *t)
{
	for (int k = 0; k < s->nin; k++)
		if (s->in[k].tensor == t && s->spread[k])
			return false;
	return s->kind == STEP_CONV || s->kind == STEP_DECONV2 || s->kind == STEP_UNARY
		|| s->kind == STEP_BINARY;
}

/* Whatever else its readers read, but for f32. */
static DevTypes own_types(const Plan *bare, const PlanTensor *t)
{
	const DevTypes is = t->layout.type == DEV_F32 ? t->op->stored & DEV_BF16 : t->layout.type;
	if (t->op->stored != (DEV_BF16 | DEV_BFP8_B) || t->partial || t->layout.phases > 1
	    || (t->channels % PLANE && plan_fills_rest(t->op)))
		return is;
	for (int i = t->born; i <= t->dies; i++) {
		const Step *s = &bare->steps[i];
		if (s->out == t && !types_make(s, t))
			return is;
		if (plan_reads(s, t) && !types_read(s, t))
			return is;
	}
	return DEV_BF16 | DEV_BFP8_B;
}

DevTypes choice_types(const Plan *bare, const PlanTensor *t)
{
	DevTypes types = own_types(bare, t);
	for (int i = 0; i < bare->ntensors && types; i++)
		if (bare->tensors[i]->wide == t->wide)
			types &= own_types(bare, bare->tensors[i]);
	return t->f32 ? types | DEV_F32 : types;
}

const PlanTensor *choice_other_image(const Plan *bare, const PlanTensor *t,
				     const PlanTensor *after)
{
	if (!plan_is_sent(bare, t))
		return NULL;
	for (int i = after ? after->id + 1 : 0; i < bare->ntensors; i++) {
		const PlanTensor *o = bare->tensors[i];
		if (o->op == t->op && o->channel == t->channel && o->image != t->image
		    && plan_is_sent(bare, o))
			return o;
	}
	return NULL;
}

DevTypes choice_tried(const Plan *bare, const PlanTensor *t, const Pins *pins)
{
	DevTypes types = choice_types(bare, t);
	bool pinned = false, asked = false;
	for (int i = 0; i < bare->ntensors; i++) {
		const PlanTensor *o = bare->tensors[i];
		const bool fixed = pins && pins[o->born].fixed >> CHOICE_type & 1;
		if (o->wide != t->wide)
			continue;
		asked |= o->layout.type == DEV_F32;
		pinned |= fixed;
		if (fixed)
			types &= (unsigned)pins[o->born].value.type;
	}
	if (pinned)
		return types;
	return types & DEV_F32 && asked ? DEV_F32 : types & ~(unsigned)DEV_F32;
}

bool choice_parts_alike(const Plan *bare, const Choice *choices, int step)
{
	const Step *s = &bare->steps[step];
	bool alike = true;
	for (int k = 1; k < s->nin && choice_has(s, CHOICE_k_block); k++)
		alike &= choices[s->in[k].tensor->born].type == choices[s->in[0].tensor->born].type;
	return alike;
}

/* ---- places and slices ---- */

bool choice_dram_ok(const Plan *bare, const PlanTensor *t)
{
	return !t->partial && plan_can_slice(bare, t);
}

static bool in_dram(const Choice *choices, const PlanTensor *t)
{
	return choices[t->born].place == PLACE_DRAM;
}

bool choice_is_sliced(const Plan *bare, const Choice *choices, int step)
{
	const Step *s = &bare->steps[step];
	bool any = s->out && in_dram(choices, s->out);
	for (int k = 0; k < s->nin; k++)
		any |= in_dram(choices, s->in[k].tensor);
	return any;
}

const PlanTensor *choice_sliced(const PlanTensor *t) { return t->partial ? t->reduced : t; }

/* Units of rows on the fullest core. */
static int most_units(const PlanTensor *t, int bands)
{
	return ratio_up(choice_most_rows(t, bands), t->row_unit);
}

bool choice_slice_ok(const PlanTensor *result, int bands, int slice)
{
	const PlanTensor *t = choice_sliced(result);
	return slice > 0 && slice % t->row_unit == 0
		&& slice / t->row_unit <= most_units(t, bands);
}

int choice_slices(const PlanTensor *result, int bands, int *values, int most)
{
	const PlanTensor *t = choice_sliced(result);
	const int units = most_units(t, bands);
	int n = 0;
	for (int u = 1; u <= units && units <= FEW_SLICES; u++)
		add(values, &n, most, u * t->row_unit);
	/* From u units on it takes fewer slices at the least height for that number. */
	for (int u = 1; u <= units && units > FEW_SLICES;) {
		add(values, &n, most, u * t->row_unit);
		const int slices = ratio_up(units, u);
		u = slices == 1 ? units + 1 : ratio_up(units, slices - 1);
	}
	return n;
}

/* ---- products ---- */

bool choice_cout_block_ok(const Step *s, int cout_block)
{
	const int tiles = (int)weight_tiles_of((uint32_t)s->out->channels);
	if (s->kind != STEP_CONV)
		return cout_block == s->held;
	return (cout_block == 1 || cout_block == 2 || cout_block == 4)
		&& tiles / s->channel_groups % cout_block == 0 && tiles / cout_block <= MOST_GROUPS;
}

int choice_cout_blocks(const Step *s, int *values, int most)
{
	int n = 0;
	for (int held = 1; held <= 4; held *= 2)
		if (choice_cout_block_ok(s, held))
			add(values, &n, most, held);
	return n;
}

/* Steps of ops without weights, and joins of parts, multiply with ones. */
DevTypes choice_weights(const Step *s)
{
	return s->op->weights && !s->ones ? DEV_BF16 | DEV_BFP8_B | DEV_F32 : s->weights;
}

void choice_set_product(const Step *s, const Pins *p, Choice *c)
{
	const unsigned fixed = p ? p->fixed : 0;
	c->weights = fixed >> CHOICE_weights & 1 ? p->value.weights : (int)s->weights;
	c->phases = fixed >> CHOICE_phases & 1 ? p->value.phases
		  : c->weights == (int)s->weights ? s->phases
		  : plan_phases((DevTypes)c->weights);
}

Step choice_product(const Step *s, const Choice *c)
{
	Step x = *s;
	x.weights = (DevTypes)c->weights;
	x.held = c->cout_block;
	if (s->kind == STEP_CONV)
		x.groups = (int)weight_tiles_of((uint32_t)s->out->channels) / x.held;
	x.stream = (Stream){ .chunk_tiles = c->k_block };
	plan_size_pages(&x);
	return x;
}

static Step with_k_block(const Step *s, const Choice *c, int k_block)
{
	Choice other = *c;
	other.k_block = k_block;
	return choice_product(s, &other);
}

bool choice_k_block_ok(const Step *s, const Choice *c, int k_block)
{
	if (k_block <= 0)
		return k_block == 0;
	const Step x = with_k_block(s, c, k_block);
	const int deepest = plan_deepest_block(&x);
	return k_block % deepest == 0 && k_block / deepest <= step_block_count(&x);
}

static bool same_blocks(const Step *a, const Step *b)
{
	bool same = true;
	for (int i = 0; i < a->nin; i++)
		same &= step_blocks(a, i).k == step_blocks(b, i).k;
	return same;
}

/* Blocks of a page for as many pages as `each` makes: those more of which make a page
 * smaller, as some parts may have smaller blocks than others. Returns the next `each`
 * that makes fewer. */
static int pages_like(const Step *s, const Choice *c, int each, int blocks, int *values, int *n,
		      int most)
{
	const int deepest = plan_deepest_block(s);
	const int next = ratio_up(blocks, ratio_up(blocks, each) - 1);
	int64_t least = INT64_MAX;
	for (; each < next; each++) {
		const int64_t bytes = with_k_block(s, c, each * deepest).page_bytes;
		if (bytes < least)
			add(values, n, most, each * deepest);
		least = bytes < least ? bytes : least;
		if (s->nin == 1)
			break;
	}
	return next;
}

/* Those of which a group is several pages: a page of the same blocks that makes no
 * fewer pages than a smaller one is left out. */
int choice_k_blocks(const Step *s, const Choice *c, int *values, int most)
{
	int n = 0, deep = 1;
	for (int i = 0; i < s->nin; i++)
		deep = larger(deep, (int)step_blocks(s, i).cin / TILE);
	add(values, &n, most, 0);
	Step last = with_k_block(s, c, 0);
	for (int k = 1; k < deep; k++) {
		const Step x = with_k_block(s, c, k);
		if (!choice_k_block_ok(s, c, k) || x.stream.chunks == 1
		    || (x.stream.chunks == last.stream.chunks && same_blocks(&x, &last)
			&& x.page_bytes >= last.page_bytes))
			continue;
		add(values, &n, most, k);
		last = x;
	}
	const Step x = with_k_block(s, c, deep);
	const int deepest = plan_deepest_block(&x), blocks = step_block_count(&x);
	for (int each = ratio_up(deep, deepest); each < blocks;)
		each = pages_like(&x, c, each, blocks, values, &n, most);
	return n;
}

bool choice_ring_ok(const Step *s, const Choice *c, int ring)
{
	return ring >= 0 && ring <= 2 && (ring || choice_product(s, c).stream.chunks == 1);
}

Units choice_units(const Step *s, const Choice *c)
{
	const PlanTensor *t = s->out;
	int rows = 1;
	for (int i = 0; i < c->bands; i++) {
		const Range own = plan_share(t->height, t->row_unit, i, c->bands);
		if (range_count(own))
			rows = larger(rows, range_count(step_positions(s, own)));
	}
	const int hold = plan_hold(c->cout_block, rows);
	return (Units){ ratio_up(step_columns(s), TILE) * ratio_up(rows, hold) * t->images, hold };
}

bool choice_act_block_ok(const Step *s, const Choice *c, int act_block)
{
	if (act_block <= 0)
		return act_block == 0;
	const Units u = choice_units(s, c);
	const int unit = TILE * u.hold;
	return s->kind == STEP_CONV && choice_product(s, c).stream.chunks > 1
		&& act_block % unit == 0 && act_block / unit <= u.count
		&& u.count % (act_block / unit) == 0;
}

/* Of the product as `c` has it, if units are taken as `act_block` says. */
static int64_t pages_of(const Step *s, const Choice *c, const Step *product, Units u, int act_block)
{
	const int block = product->stream.chunks == 1 ? u.count
			: larger(1, act_block / TILE / u.hold);
	const int units = choice_most_cut(s, c->cout_block).splits;
	const int unit = s->kind == STEP_CONV && s->channel_groups == 1 ? 2 * product->held
								       : s->out->plane_unit;
	const int planes = ratio_up(units, c->splits) * unit;
	const int groups = range_count(step_groups(product, (Range){ 0, planes }));
	return (int64_t)smaller(groups, product->groups) * product->stream.chunks
		* ratio_up(u.count, block);
}

int64_t choice_pages(const Step *s, const Choice *c)
{
	const Step x = choice_product(s, c);
	return pages_of(s, c, &x, choice_units(s, c), c->act_block);
}

int choice_act_blocks(const Step *s, const Choice *c, int *values, int most)
{
	const Units u = choice_units(s, c);
	const Step x = choice_product(s, c);
	int n = 0;
	if (pages_of(s, c, &x, u, 0) <= MOST_PAGES)
		add(values, &n, most, 0);
	if (s->kind != STEP_CONV || x.stream.chunks == 1)
		return n;
	for (int block = 2; block <= u.count; block++) {
		const int act_block = block * TILE * u.hold;
		if (u.count % block == 0 && pages_of(s, c, &x, u, act_block) <= MOST_PAGES)
			add(values, &n, most, act_block);
	}
	return n;
}

/* Cores that share weights stand in a rectangle: all of them, or a column if each
 * column has its own split. */
int choice_most_fetchers(const Plan *bare, const Choice *c)
{
	const bool whole = bare->cores == bare->cols * bare->rows;
	int cores = 1;
	if (whole && c->splits == 1)
		cores = bare->cores;
	else if (whole && c->splits == bare->cols && c->bands * c->splits == bare->cores)
		cores = bare->rows;
	return smaller(cores, MOST_FETCHERS);
}

/* ---- moves ---- */

/* Is there no part before it of the same tensor? */
static bool is_first(const Step *s, int part)
{
	for (int k = 0; k < part; k++)
		if (s->in[k].tensor == s->in[part].tensor)
			return false;
	return true;
}

/* Does a host edge send it behind this step? That sends what was made. */
static bool is_sent(const Plan *bare, int step, const PlanTensor *t)
{
	bool any = false;
	for (int i = step + 1; i <= t->dies; i++)
		any |= !bare->steps[i].out && plan_reads(&bare->steps[i], t);
	return any;
}

bool choice_reshard_ok(const Plan *bare, const Choice *choices, int step, int part)
{
	const Step *s = &bare->steps[step];
	const PlanTensor *t = s->in[part].tensor;
	return s->out && is_first(s, part) && !t->partial && !in_dram(choices, t)
		&& !plan_came_back(bare, choices, step, t);
}

bool choice_park_ok(const Plan *bare, const Choice *choices, int step, int part)
{
	const Step *s = &bare->steps[step];
	const PlanTensor *t = s->in[part].tensor;
	return s->out && is_first(s, part) && !in_dram(choices, t) && !t->partial
		&& bare->steps[t->born].kind != STEP_CONSTANT && plan_gap(bare, step, part) >= 2
		&& !is_sent(bare, step, t);
}

bool choice_beside_ok(const Plan *bare, const Choice *choices, int step, int part)
{
	return choice_park_ok(bare, choices, step, part) && plan_can_beside(bare, step, part);
}
