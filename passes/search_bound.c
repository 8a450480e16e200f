/*
 * Lower bounds on the tree of main inputs: every tensor hangs below the one its step
 * reads that was made last.
 *
 * L1 is no limit here but has a price: bytes in use during a step cost the step's
 * rent, and what all of L1 would cost is taken off the sum. A plan that fits takes no
 * less than that, whatever the rents are; search_rent.c looks for good ones.
 *
 * What of the plan's time and rent a term stands for:
 *   node   a tensor's steps in the cheapest way, its own region while it is made, side
 *          readers (those whose result hangs below another tensor) and host edges out
 *   edge   what its reader in the tree adds: the halo, of which each of k children
 *          counts the k-th part since all of it is no less than that of any one; the
 *          buffer since the use before; a copy or a way through DRAM instead; weights
 *          that the step before is too short to hide
 */
#include "passes/search_walk.h"

#include <stdlib.h>

int64_t bound_rent(const Space *s, int first, int last, int64_t bytes)
{
	return last < first ? 0 : (s->rents[last + 1] - s->rents[first]) * bytes >> RENT_SHIFT;
}

static int64_t less(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- a step by itself ---- */

/* The cheapest of the ways if the step before hides weights for so long; NO_WAY: all
 * of them, -1: they do not come early. */
static int64_t cheapest(Space *s, int step, const Configs *c, int64_t before)
{
	int64_t least = NO_WAY;
	for (int i = 0; i < c->n; i++) {
		const Config *one = &c->v[i];
		const int64_t wait = one->fetch > before ? one->fetch - before : 0;
		const int64_t room = bound_rent(s, step, step, one->bytes);
		least = less(least, one->time + room);
		if (before >= 0 && step > 0)
			least = less(least, one->early + wait + room
				     + bound_rent(s, step - 1, step - 1, one->ahead));
	}
	return least;
}

/* The ways of a product's step from inputs of one type; NULL: there are no such. */
static const Configs *ways_of(Space *s, int step, int value, unsigned types)
{
	static const Configs none = { NULL, 0 };
	TensorSpace *x = &s->tensors[s->bare->steps[step].out->id];
	int parts[MAX_STEP_PARTS] = { 0 };
	if (x->first != x->last || types > 1)
		return space_parts(s, step, types, parts) ? space_configs(s, step, value, parts)
							  : &none;
	const Configs **known = &x->ways[2 * value + (int)types];
	if (!*known)
		*known = space_parts(s, step, types, parts) ? space_configs(s, step, value, parts)
							    : &none;
	return *known;
}

/* Of a step whose result has this value, with parts of main type `type` (0: any). */
static int64_t step_least(Space *s, int step, int value, DevTypes type, int64_t before)
{
	const Step *r = &s->bare->steps[step];
	const int main = s->steps[step].main > 0 ? s->steps[step].main : 0;
	const bool product = choice_has(r, CHOICE_k_block);
	int64_t least = NO_WAY;
	for (unsigned types = 0; types < space_types(s, step); types++) {
		const bool block = (product ? types : types >> main) & 1;
		if (type && r->nin && block != (type == DEV_BFP8_B))
			continue;
		least = less(least, cheapest(s, step, ways_of(s, step, value, types), before));
	}
	return least;
}

/* Is all its work known from its value and the type of its main input? */
static bool is_plain(const Space *s, const TensorSpace *x, int value)
{
	return !s->dram && !s->coarse && x->values->v[value].place == PLACE_L1;
}

/* Does one step make it? May its weights come early, too? */
static bool is_one(const Space *s, const TensorSpace *x, int value)
{
	return is_plain(s, x, value) && x->first == x->last;
}

static bool is_single(const Space *s, const TensorSpace *x, int value)
{
	return is_one(s, x, value) && choice_has(&s->bare->steps[x->first], CHOICE_prefetch);
}

static int type_at(DevTypes type) { return type == DEV_BFP8_B; }

int64_t bound_late(Space *s, int t, int value, DevTypes type)
{
	TensorSpace *x = &s->tensors[t];
	int64_t *known = &x->late[2 * value + type_at(type)];
	if (!is_one(s, x, value))
		return x->least[value];
	if (!*known)
		*known = step_least(s, x->first, value, type, -1) + 1;
	return *known - 1;
}

/* Work of the steps that make a tensor. */
static int64_t work_of(Space *s, int t, int value)
{
	const TensorSpace *x = &s->tensors[t];
	int64_t sum = 0;
	if (!is_plain(s, x, value))
		return x->floor[value];
	for (int i = x->first; i <= x->last; i++)
		if (s->bare->steps[i].out == s->bare->tensors[t])
			sum += step_least(s, i, value, DEV_UNSET, NO_WAY);
	return sum;
}

/* ---- readers ---- */

static int64_t base_bytes(const Value *v)
{
	return v->place == PLACE_L1 ? (v->tensor.bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM
				    : 0;
}

static int reader_number(const TensorSpace *x, int step)
{
	int j = 0;
	while (x->readers[j] != step)
		j++;
	return j;
}

static int use_before(const TensorSpace *x, int j) { return j ? x->readers[j - 1] : x->last; }

static bool may_park(const TensorSpace *x, int j)
{
	return x->parks && x->readers[j] - use_before(x, j) >= 2;
}

/* May it move while others run, and so for nothing? */
static bool may_beside(const TensorSpace *x, int j)
{
	return x->parks && x->readers[j] - use_before(x, j) >= BESIDE_GAP;
}

/* May it have come back from DRAM for a reader before this one? */
static bool may_be_back(const TensorSpace *x, int j)
{
	bool any = false;
	for (int i = 0; i < j; i++)
		any |= may_park(x, i);
	return any;
}

static int64_t spill_time(Space *s, int t, int value, int j)
{
	return j ? 0 : s->cost.launch + space_spill(s, t, value);
}

/* A side reader, whatever the value of its result. */
static int64_t side_least(Space *s, int t, int value, int j)
{
	const TensorSpace *x = &s->tensors[t];
	const int64_t base = base_bytes(&x->values->v[value]);
	const int use = use_before(x, j), step = x->readers[j];
	if (may_be_back(x, j) || may_beside(x, j))
		return 0;
	int64_t least = bound_rent(s, use + 1, step, base);
	if (s->bare->steps[step].out)
		least = less(least, bound_rent(s, use + 1, step - 1, base) + s->cost.launch);
	if (may_park(x, j))
		least = less(least, spill_time(s, t, value, j) + s->cost.launch);
	return least;
}

/* A host edge out of this value. */
static int64_t leaf(Space *s, int step, int value)
{
	const TensorSpace *x = &s->tensors[s->bare->steps[step].in[0].tensor->id];
	if (!is_plain(s, x, value))
		return 0;
	return cheapest(s, step, space_configs(s, step, -1, &value), -1);
}

static bool is_main(const Space *s, int step, int t)
{
	const Step *r = &s->bare->steps[step];
	return r->out && r->in[s->steps[step].main].tensor->id == t
		&& s->tensors[r->out->id].first == step;
}

static int64_t node(Space *s, int t, int value)
{
	const TensorSpace *x = &s->tensors[t];
	int64_t sum = work_of(s, t, value)
		+ bound_rent(s, x->first, x->last, base_bytes(&x->values->v[value]));
	for (int j = 0; j < x->nreaders && sum < NO_WAY; j++) {
		if (!is_main(s, x->readers[j], t))
			sum += side_least(s, t, value, j);
		if (!s->bare->steps[x->readers[j]].out)
			sum += leaf(s, x->readers[j], value);
	}
	return sum;
}

/* ---- edges ---- */

/* What the step of a child takes beyond its node. */
static int64_t exposed(Space *s, int t, int to, DevTypes type, int64_t before)
{
	const TensorSpace *x = &s->tensors[t];
	if (!is_single(s, x, to))
		return 0;
	const int64_t with = before < 0 ? bound_late(s, t, to, type)
					: step_least(s, x->first, to, type, before);
	const int64_t free = x->free[to];
	return with > free ? with - free : 0;
}

/* How long the step before hides weights. What it is charged with is never more than
 * this, so if it takes longer that pays for what more it hides. */
static int64_t hides(Space *s, int t, int value)
{
	const TensorSpace *x = &s->tensors[t];
	int64_t most = 0;
	for (int block = 0; block < 2; block++) {
		const int64_t one = bound_late(s, t, value, block ? DEV_BFP8_B : DEV_BF16);
		most = one < NO_WAY && one > most ? one : most;
	}
	return is_one(s, x, value) && most ? most : NO_WAY;
}

/* Read where it lies; what is not below `most` need not be exact. */
static int64_t direct(Space *s, int t, int from, int to, int64_t most)
{
	const TensorSpace *x = &s->tensors[t], *p = &s->tensors[x->parent];
	const Value *v = &p->values->v[from];
	const int j = reader_number(p, x->first);
	const bool next = is_one(s, p, from) && x->first == p->last + 1;
	const int64_t wait = exposed(s, t, to, v->type, next ? hides(s, x->parent, from) : NO_WAY);
	if (may_be_back(p, j))
		return wait;
	const int main = s->steps[x->first].main;
	const Pair *pair = space_pair(s, x->first, main, from, to, PAIR_HERE);
	if (pair->bytes >= NO_ROOM)
		return NO_WAY;
	const int64_t more = bound_rent(s, p->first, p->last, pair->bytes - base_bytes(v));
	const int64_t rest = wait + bound_rent(s, use_before(p, j) + 1, x->first, pair->bytes);
	const int64_t least = (pair->halo_least + more) / p->children + rest;
	if (least >= most)
		return least;
	pair = space_pair(s, x->first, main, from, to, PAIR_HERE | PAIR_HALO);
	return (pair->halo + more) / p->children + rest;
}

/* From a copy or through DRAM: nothing comes early behind a move. */
static int64_t moved(Space *s, int t, int from, int to, int how, bool made)
{
	const TensorSpace *x = &s->tensors[t], *p = &s->tensors[x->parent];
	const Value *v = &p->values->v[from];
	const int j = reader_number(p, x->first);
	if (how == READ_PARKED && !may_park(p, j))
		return NO_WAY;
	const Pair *pair = space_pair(s, x->first, s->steps[x->first].main, from, to,
				      PAIR_COPY | (how == READ_PARKED ? PAIR_BACK : 0));
	if (pair->copy_bytes >= NO_ROOM)
		return NO_WAY;
	const int64_t time = how == READ_COPIED ? pair->copy_time : pair->back_time;
	int64_t sum = time + exposed(s, t, to, v->type, -1)
		+ bound_rent(s, x->first, x->first, pair->copy_bytes);
	if (how == READ_COPIED && !made && !may_be_back(p, j))
		sum += bound_rent(s, use_before(p, j) + 1, x->first - 1, base_bytes(v));
	if (how == READ_PARKED && !made)
		sum += spill_time(s, x->parent, from, j);
	return sum;
}

static int64_t edge(Space *s, int t, int from, int to)
{
	const TensorSpace *x = &s->tensors[t];
	const Value *v = &s->tensors[x->parent].values->v[from];
	if (v->place == PLACE_DRAM) { /* it is read at some time */
		const int64_t time = cost_move(&s->cost, s->bare, &v->tensor, false);
		return time > x->floor[to] ? time - x->floor[to] : 0;
	}
	const TensorSpace *p = &s->tensors[x->parent];
	if (may_beside(p, reader_number(p, x->first)))
		return 0;
	const int64_t least = less(moved(s, t, from, to, READ_COPIED, false),
				   moved(s, t, from, to, READ_PARKED, false));
	return less(direct(s, t, from, to, least), least);
}

/* What `edge` looks at beside values and rents: tensors for which it is the same share
 * what comes of it. */
static Known *rentless(Space *s, int t)
{
	const TensorSpace *x = &s->tensors[t], *p = &s->tensors[x->parent];
	const StepSpace *made = &s->steps[x->first];
	const int j = reader_number(p, x->first);
	const char *key = arena_printf(s->arena, "%p %p %p %d %d %d %d %d %d %d %d %d",
		(void *)made->edges[made->main], (void *)made->configs,
		(void *)s->steps[p->first].configs, made->main, p->children,
		x->first == x->last ? -1 : t, p->first == p->last, x->first == p->last + 1,
		j == 0, may_park(p, j), may_beside(p, j), may_be_back(p, j));
	Known *known = strmap_get(&s->bounds, key);
	if (known)
		return known;
	known = arena_array(s->arena, Known, (int64_t)x->values->n * p->values->n + 1);
	strmap_put(&s->bounds, key, known);
	return known;
}

int64_t bound_edge(Space *s, int t, int from, int to)
{
	TensorSpace *x = &s->tensors[t];
	const int n = x->values->n;
	const bool free = !s->rents[s->bare->nsteps];
	const int version = free ? 1 + s->coarse + 2 * s->dram : s->version;
	Known **all = free ? &x->rentless : &x->edge;
	if (!*all)
		*all = free ? rentless(s, t)
			    : arena_array(s->arena, Known,
					  (int64_t)n * s->tensors[x->parent].values->n + 1);
	Known *known = &(*all)[(int64_t)from * n + to];
	if (known->version != version)
		*known = (Known){ edge(s, t, from, to), version };
	return known->value;
}

int64_t bound_read(Space *s, int t, int from, int to, int how)
{
	const Value *v = &s->tensors[s->tensors[t].parent].values->v[from];
	if (how == READ_BESIDE)
		return 0;
	if (how == READ_OPEN || v->place == PLACE_DRAM)
		return bound_edge(s, t, from, to);
	return moved(s, t, from, to, how, true);
}

int64_t bound_side(Space *s, int step, int part, int from, int how)
{
	const Step *r = &s->bare->steps[step];
	const int key[] = { -1, step, part, from, how };
	int64_t *known = intmap_get(&s->given, key, 5);
	if (known)
		return *known;
	known = arena_new(s->arena, int64_t);
	if (!r->out) {
		*known = leaf(s, step, from);
	} else if (s->tensors[r->in[part].tensor->id].values->v[from].place != PLACE_DRAM) {
		const TensorSpace *x = &s->tensors[r->out->id];
		*known = NO_WAY;
		for (int i = 0; i < x->values->n; i++) {
			const Pair *p = x->dead[i] ? NULL : space_pair(s, step, part, from, i,
								       PAIR_COPY | PAIR_BACK);
			if (!p || p->copy_bytes >= NO_ROOM)
				continue;
			const int64_t time = how == READ_COPIED ? p->copy_time : p->back_time;
			*known = less(*known, time + bound_rent(s, step, step, p->copy_bytes));
		}
	}
	intmap_put(&s->given, key, 5, known);
	return *known;
}

/* ---- nodes of all values ---- */

void bound_floor(Space *s)
{
	for (int t = 0; t < s->bare->ntensors; t++) {
		TensorSpace *x = &s->tensors[t];
		for (int v = 0; v < x->values->n; v++) {
			for (int i = x->first; i <= x->last && !x->dead[v]; i++)
				if (s->bare->steps[i].out == s->bare->tensors[t])
					x->floor[v] += space_least(s, i, v);
			x->dead[v] |= x->floor[v] >= NO_WAY;
		}
	}
}

/* Rents are new: what depends on them is worked out again. */
void bound_nodes(Space *s)
{
	s->version++;
	intmap_init(&s->given, s->arena);
	for (int t = 0; t < s->bare->ntensors; t++) {
		TensorSpace *x = &s->tensors[t];
		for (int v = 0; v < x->values->n; v++) {
			x->late[2 * v] = x->late[2 * v + 1] = 0;
			if (x->dead[v])
				continue;
			x->least[v] = node(s, t, v);
			x->dead[v] |= x->least[v] >= NO_WAY;
			if (x->dead[v] || !is_one(s, x, v))
				continue;
			x->free[v] = step_least(s, x->first, v, DEV_UNSET, NO_WAY);
		}
	}
}

/* ---- what the tree's best solution keeps in L1 ---- */

static void use(int64_t *list, int first, int last, int64_t bytes)
{
	for (int i = first; i <= last; i++)
		list[i] += bytes;
}

static void use_config(Space *s, int step, const Configs *c, int64_t before, int64_t *list)
{
	const int64_t least = cheapest(s, step, c, before);
	for (int i = 0; i < c->n; i++) {
		const Configs one = { &c->v[i], 1 };
		if (cheapest(s, step, &one, before) > least)
			continue;
		use(list, step, step, c->v[i].bytes);
		if (cheapest(s, step, &one, -1) > least)
			use(list, step - 1, step - 1, c->v[i].ahead);
		return;
	}
}

static void use_work(Space *s, int t, int value, DevTypes type, int64_t before, int64_t *list)
{
	const TensorSpace *x = &s->tensors[t];
	for (int i = x->first; i <= x->last && is_plain(s, x, value); i++) {
		int parts[MAX_STEP_PARTS] = { 0 };
		if (s->bare->steps[i].out != s->bare->tensors[t])
			continue;
		if (space_parts(s, i, type == DEV_BFP8_B, parts) || space_parts(s, i, 0, parts))
			use_config(s, i, space_configs(s, i, value, parts), before, list);
	}
}

static void use_sides(Space *s, int t, int value, int64_t *list)
{
	const TensorSpace *x = &s->tensors[t];
	const int64_t base = base_bytes(&x->values->v[value]);
	use(list, x->first, x->last, base);
	for (int j = 0; j < x->nreaders; j++) {
		const int from = use_before(x, j) + 1, step = x->readers[j];
		if (!s->bare->steps[step].out && is_plain(s, x, value))
			use_config(s, step, space_configs(s, step, -1, &value), -1, list);
		if (is_main(s, step, t) || may_be_back(x, j) || may_beside(x, j))
			continue;
		const int64_t least = side_least(s, t, value, j);
		if (least == bound_rent(s, from, step, base))
			use(list, from, step, base);
		else if (s->bare->steps[step].out
			 && least == bound_rent(s, from, step - 1, base) + s->cost.launch)
			use(list, from, step - 1, base);
	}
}

static void use_edge(Space *s, int t, int from, int to, int64_t *list)
{
	const TensorSpace *x = &s->tensors[t], *p = &s->tensors[x->parent];
	const Value *v = &p->values->v[from];
	const int j = reader_number(p, x->first), first = use_before(p, j) + 1;
	if (v->place == PLACE_DRAM || may_beside(p, j))
		return;
	const int64_t least = bound_edge(s, t, from, to);
	const Pair *pair = space_pair(s, x->first, s->steps[x->first].main, from, to,
				      PAIR_HERE | PAIR_COPY);
	const bool next = is_one(s, p, from) && x->first == p->last + 1;
	const bool here = least == direct(s, t, from, to, NO_WAY);
	use_work(s, t, to, v->type, !here ? -1 : next ? hides(s, x->parent, from) : NO_WAY, list);
	if (here && !may_be_back(p, j)) {
		use(list, first, x->first, pair->bytes);
		use(list, p->first, p->last, (pair->bytes - base_bytes(v)) / p->children);
	} else if (!here) {
		use(list, x->first, x->first, pair->copy_bytes);
		if (least == moved(s, t, from, to, READ_COPIED, false) && !may_be_back(p, j))
			use(list, first, x->first - 1, base_bytes(v));
	}
}

void bound_uses(Space *s, const int *values, int64_t *list)
{
	for (int t = 0; t < s->bare->ntensors; t++) {
		const TensorSpace *x = &s->tensors[t];
		use_sides(s, t, values[t], list);
		if (x->parent < 0)
			use_work(s, t, values[t], DEV_UNSET, NO_WAY, list);
		else
			use_edge(s, t, values[x->parent], values[t], list);
	}
}
