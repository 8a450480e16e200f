/*
 * Ways to do a step once the value of its result is known: blocks of a product,
 * how its weights come, slices.
 *
 * Ways that take more room are only priced if they could be faster than those that
 * take less: a product takes no less than with all weights at hand, and no less
 * than its pages take to arrive.
 */
#include "passes/search_space.h"

#include <stdlib.h>
#include <string.h>

#include "passes/choice_legal.h"
#include "passes/cost_parts.h"
#include "passes/plan_dram.h"

enum { MOST_VALUES = 128 };

/* What is needed to list the ways of a step. */
typedef struct Listing {
	Space *s;
	int step;
	Step x;            /* with the value and parts at hand */
	const Pins *pins;
	Config *v;         /* listed so far; times are the least it can take */
	int n;
	int64_t compute[8]; /* by cout_block; 0: not known */
	Shapes shapes[8];   /* by cout_block; none: not known */
	int64_t slice_bytes; /* with slices as of the step at hand; 0: not known */
} Listing;

static int64_t work(Listing *l, const Choice *c)
{
	Shapes *all = &l->shapes[c->cout_block & 7];
	if (!all->n)
		cost_find_shapes(l->s->bare, &l->x, all);
	return cost_work_of(&l->s->cost, l->s->bare, &l->x, all).total;
}

static bool is_pinned(const Listing *l, ChoiceField f)
{
	return l->pins && l->pins->fixed >> f & 1;
}

static bool allowed(const Listing *l, ChoiceField f, int value)
{
	return !is_pinned(l, f) || choice_get(&l->pins->value, f) == value;
}

/* The list is what is pinned, though lists leave out what is legal but no use. */
static int only(const Listing *l, ChoiceField f, int *values)
{
	values[0] = choice_get(&l->pins->value, f);
	return 1;
}

static int64_t aligned(int64_t n) { return (n + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM; }

static void set_how(Step *x, const Choice *c)
{
	x->slice = c->slice;
	x->single = c->slice_buffer == SLICE_SINGLE;
	if (choice_has(x, CHOICE_k_block))
		plan_set_product(x, c);
}

/* Sizes of the step done so. */
static void size(Listing *l, const Choice *c)
{
	set_how(&l->x, c);
	l->x.scratch_bytes = 0;
	plan_size_step(l->s->bare, &l->x);
}

/* Bytes of L1, and those of the weights. */
static int64_t size_bytes(Listing *l, const Choice *c, int64_t *ahead)
{
	const Step *x = &l->x;
	size(l, c);
	if (x->slice && !l->slice_bytes)
		l->slice_bytes = plan_slice_bytes(l->s->bare, x);
	*ahead = aligned(x->weight_bytes);
	return *ahead + aligned(x->stream.sums_bytes) + aligned(x->scratch_bytes)
		+ (x->slice ? l->slice_bytes : 0);
}

/* The work with all weights at hand, which is the least for its cout_block. */
static int64_t compute(Listing *l, const Choice *c)
{
	int64_t *known = &l->compute[c->cout_block & 7];
	Choice best = *c;
	if (*known)
		return *known;
	best.k_block = best.ring = best.act_block = 0;
	size(l, &best);
	l->x.stream.early = true;
	*known = work(l, &best);
	l->x.stream.early = false;
	return *known;
}

static void append(Listing *l, const Config *one)
{
	l->v = arena_grow(l->s->arena, l->v, l->n, sizeof *one);
	l->v[l->n++] = *one;
}

static void add(Listing *l, const Choice *c)
{
	Config one = { .how = *c };
	one.bytes = size_bytes(l, c, &one.ahead);
	append(l, &one);
}

/* How long weights take: the first page, what is there before the step if they come
 * early, what is left to come during it in either case. */
typedef struct Arrival {
	int64_t first, early, left, left_early;
	bool alone; /* a page comes when the last one is done with: nothing hides it */
} Arrival;

static Arrival arrival(Listing *l)
{
	const CostContext *x = &l->s->cost;
	const Fetch f = cost_fetch_of(x, l->s->bare, &l->x, 0);
	const int64_t all = cost_fetch_pages(x, &f, f.pages);
	Arrival a = { .first = cost_fetch_pages(x, &f, 1),
		      .early = cost_fetch_pages(x, &f, cost_least(f.room, f.pages)),
		      .alone = f.room == 1 };
	a.left = all - a.first;
	a.left_early = all - a.early;
	return a;
}

static bool arrives_sooner(const Arrival *a, const Arrival *b)
{
	return a->first <= b->first && a->early <= b->early && a->left <= b->left
		&& a->left_early <= b->left_early;
}

/* With as many fetchers as some other number is not better than. Times are the least
 * it can take. */
static void add_fetchers(Listing *l, Choice *c, int most)
{
	Arrival seen[MOST_FETCHERS];
	int n = 0;
	const int64_t least = compute(l, c);
	Config one = { .how = *c, .time = least, .early = least };
	one.bytes = size_bytes(l, c, &one.ahead);
	for (int fetchers = 1; fetchers <= most; fetchers++) {
		bool beaten = !allowed(l, CHOICE_fetchers, fetchers);
		l->x.stream.fetchers = fetchers;
		seen[n] = arrival(l);
		for (int i = 0; i < n; i++)
			beaten |= arrives_sooner(&seen[i], &seen[n]);
		if (beaten)
			continue;
		const Arrival *a = &seen[n++];
		one.how.fetchers = fetchers;
		if (!c->slice) {
			const int64_t launch = l->s->cost.launch;
			one.fetch = a->early;
			one.time = a->alone ? least + a->left + a->first
				: cost_most(least, a->left + launch) + a->first;
			one.early = a->alone ? least + a->left_early
				: cost_most(least, a->left_early + launch);
		}
		append(l, &one);
	}
}

/* How pages come, of which a group has one or several. */
static void add_streams(Listing *l, Choice *c)
{
	int acts[MOST_VALUES];
	const Step *bare = &l->s->bare->steps[l->step];
	int nacts = choice_act_blocks(bare, c, acts, MOST_VALUES);
	if (is_pinned(l, CHOICE_act_block)
	    && choice_act_block_ok(bare, c, l->pins->value.act_block)) {
		nacts = only(l, CHOICE_act_block, acts);
		c->act_block = acts[0];
		nacts = choice_pages(bare, c) <= MOST_PAGES ? nacts : 0;
	}
	const int fetchers = choice_most_fetchers(l->s->bare, c);
	for (c->ring = 0; c->ring <= 2; c->ring++) {
		if (!allowed(l, CHOICE_ring, c->ring) || !choice_ring_ok(bare, c, c->ring))
			continue;
		for (int a = 0; a < nacts; a++) {
			c->act_block = acts[a];
			c->fetchers = 1;
			if (allowed(l, CHOICE_act_block, acts[a]))
				add_fetchers(l, c, fetchers);
		}
	}
}

static void add_products(Listing *l, const Value *v, Choice *c)
{
	const Step *bare = &l->s->bare->steps[l->step];
	choice_set_product(bare, l->pins, c);
	int blocks[MOST_VALUES];
	const int nblocks = choice_cout_blocks(bare, blocks, MOST_VALUES);
	for (int b = 0; b < nblocks; b++) {
		int ks[MOST_VALUES];
		c->cout_block = blocks[b];
		if ((bare->kind == STEP_CONV && !(v->blocks & blocks[b]))
		    || !allowed(l, CHOICE_cout_block, blocks[b]))
			continue;
		int n = choice_k_blocks(bare, c, ks, MOST_VALUES);
		if (is_pinned(l, CHOICE_k_block)
		    && choice_k_block_ok(bare, c, l->pins->value.k_block))
			n = only(l, CHOICE_k_block, ks);
		for (int i = 0; i < n; i++) {
			c->k_block = ks[i];
			if (allowed(l, CHOICE_k_block, ks[i]))
				add_streams(l, c);
		}
	}
}

static void add_ways(Listing *l, const Value *v, Choice *c)
{
	if (choice_has(&l->x, CHOICE_k_block))
		add_products(l, v, c);
	else
		add(l, c);
}

static int by_bytes(const void *a, const void *b)
{
	const Config *x = a, *y = b;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time ? 1 : 0;
}

/* Is one of the list as good in everything? */
static bool is_beaten(const Configs *list, const Config *c)
{
	for (int i = 0; i < list->n; i++) {
		const Config *o = &list->v[i];
		if (o->bytes <= c->bytes && o->time <= c->time && o->early <= c->early
		    && ((o->fetch <= c->fetch && o->ahead <= c->ahead) || o->time == o->early))
			return true;
	}
	return false;
}

/* Is another way of the list as good in all that counts for one asked for ahead? */
static bool is_early_beaten(const Configs *list, int q)
{
	const Config *c = &list->v[q];
	for (int i = 0; i < list->n; i++) {
		const Config *o = &list->v[i];
		const bool same = o->ahead == c->ahead && o->bytes == c->bytes
			&& o->early == c->early && o->fetch == c->fetch;
		if (i != q && o->ahead <= c->ahead && o->bytes <= c->bytes && o->early <= c->early
		    && o->fetch <= c->fetch && (!same || i < q))
			return true;
	}
	return false;
}

/* Prices those that could be better than one of less room. */
static Configs *priced(Listing *l)
{
	Configs *out = arena_new(l->s->arena, Configs);
	if (l->n)
		qsort(l->v, (size_t)l->n, sizeof *l->v, by_bytes);
	out->v = arena_array(l->s->arena, Config, l->n + 1);
	for (int i = 0; i < l->n; i++) {
		Config c = l->v[i];
		if (c.bytes > l->s->room || is_beaten(out, &c))
			continue;
		size(l, &c.how);
		c.time = c.early = work(l, &c.how);
		if (choice_has(&l->x, CHOICE_prefetch)) {
			l->x.stream.early = true;
			c.early = work(l, &c.how);
			c.fetch = cost_fetch(&l->s->cost, l->s->bare, &l->x);
			l->x.stream.early = false;
		}
		if (!is_beaten(out, &c))
			out->v[out->n++] = c;
	}
	for (int q = 0; q < out->n; q++)
		out->v[q].dull = is_early_beaten(out, q);
	return out;
}

/* In slices of so many rows, two at a time or one. */
static void add_slices(Listing *l, const Value *v, Choice *c)
{
	if (!allowed(l, CHOICE_slice, c->slice))
		return;
	for (c->slice_buffer = SLICE_DOUBLE; c->slice_buffer <= SLICE_SINGLE; c->slice_buffer++) {
		memset(l->compute, 0, sizeof l->compute);
		l->slice_bytes = 0;
		if (allowed(l, CHOICE_slice_buffer, c->slice_buffer))
			add_ways(l, v, c);
	}
}

static Configs *list(Space *s, int step, int value, const int *parts)
{
	Listing l = { .s = s, .step = step, .x = space_step(s, step, value, parts),
		      .pins = s->pins ? &s->pins[step] : NULL };
	const PlanTensor *t = l.x.out ? l.x.out : l.x.in[0].tensor;
	const Value *v = NULL;
	Choice c = { .bands = t->cut.bands, .splits = t->cut.splits, .type = (int)t->layout.type,
		     .place = (int)t->layout.place };
	if (l.x.out) /* values are shared between tensors of a class */
		v = &s->tensors[s->bare->steps[step].out->id].values->v[value];
	if (!plan_is_sliced(&l.x)) {
		if (allowed(&l, CHOICE_slice, 0) && allowed(&l, CHOICE_slice_buffer, SLICE_DOUBLE))
			add_ways(&l, v, &c);
		return priced(&l);
	}
	int slices[MOST_VALUES];
	int n = choice_slices(t, t->cut.bands, slices, MOST_VALUES);
	if (is_pinned(&l, CHOICE_slice)
	    && choice_slice_ok(t, t->cut.bands, l.pins->value.slice))
		n = only(&l, CHOICE_slice, slices);
	for (int i = 0; i < n; i++) {
		c.slice = slices[i];
		add_slices(&l, v, &c);
	}
	return priced(&l);
}

unsigned space_types(const Space *s, int step)
{
	const Step *r = &s->bare->steps[step];
	return choice_has(r, CHOICE_k_block) ? 2 : 1u << r->nin;
}

bool space_parts(const Space *s, int step, unsigned types, int *parts)
{
	const Step *r = &s->bare->steps[step];
	const bool product = choice_has(r, CHOICE_k_block);
	for (int k = 0; k < r->nin; k++) {
		const Class *c = s->tensors[r->in[k].tensor->id].values;
		const bool block = (product ? types : types >> k) & 1;
		int v = 0;
		while (v < c->n && ((c->v[v].type == DEV_BFP8_B) != block
				    || c->v[v].place != PLACE_L1))
			v++;
		if (v == c->n)
			return false;
		parts[k] = v;
	}
	return true;
}

/* With all weights at hand, and a result in L1. */
static int64_t least_of(Space *s, int step, int value, Step *x)
{
	const Step *r = &s->bare->steps[step];
	const Value *v = &s->tensors[r->out->id].values->v[value];
	int blocks[MOST_VALUES];
	if (!choice_has(r, CHOICE_k_block)) {
		plan_size_step(s->bare, x);
		return cost_work(&s->cost, s->bare, x).total;
	}
	int64_t least = NO_WAY;
	const int n = choice_cout_blocks(r, blocks, MOST_VALUES);
	for (int b = 0; b < n; b++) {
		if (r->kind == STEP_CONV && !(v->blocks & blocks[b]))
			continue;
		Choice c = { .cout_block = blocks[b], .prefetch = 1, .fetchers = 1 };
		choice_set_product(r, s->pins ? &s->pins[step] : NULL, &c);
		plan_set_product(x, &c);
		plan_size_step(s->bare, x);
		const int64_t time = cost_work(&s->cost, s->bare, x).total;
		least = time < least ? time : least;
	}
	return least;
}

int64_t space_least(Space *s, int step, int value)
{
	const Step *r = &s->bare->steps[step];
	const Value *v = &s->tensors[r->out->id].values->v[value];
	int64_t least = NO_WAY;
	PlanTensor out = v->tensor;
	out.layout.place = PLACE_L1;
	for (unsigned types = 0; types < space_types(s, step); types++) {
		int parts[MAX_STEP_PARTS] = { 0 };
		if (!space_parts(s, step, types, parts))
			continue;
		Step x = space_step(s, step, value, parts);
		x.out = &out;
		const int64_t time = least_of(s, step, value, &x);
		least = time < least ? time : least;
	}
	const int64_t moved = v->place == PLACE_DRAM ? cost_move(&s->cost, s->bare, &out, true) : 0;
	return least > moved ? least : moved;
}

const Configs *space_configs(Space *s, int step, int value, const int *parts)
{
	const Step *r = &s->bare->steps[step];
	int key[MAX_STEP_PARTS + 1] = { value };
	for (int k = 0; k < r->nin; k++) {
		const PlanTensor *t = &s->tensors[r->in[k].tensor->id].values->v[parts[k]].tensor;
		key[k + 1] = (int)t->layout.type | (int)t->layout.place << 4
			| (t->partial ? t->height : 0) << 5;
		if (!r->out)
			key[0] = parts[0]; /* it sends what every core owns */
	}
	Configs *c = intmap_get(s->steps[step].configs, key, r->nin + 1);
	if (c)
		return c;
	c = list(s, step, value, parts);
	intmap_put(s->steps[step].configs, key, r->nin + 1, c);
	return c;
}
