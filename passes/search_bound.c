/*
 * Lower bounds on the tree of main inputs: every tensor hangs below the one its step
 * reads that was made last.
 *
 * L1 is no limit here but has a price: bytes in use during a step cost the step's
 * rent, and what all of L1 would cost is taken off the sum. A plan that fits takes no
 * less than that, whatever the rents are; search_rent.c looks for good ones.
 *
 * What of the plan's time and rent a term stands for:
 *   shade  a tensor's steps (search_shade.c)
 *   node   its own region while it is made, side readers (those whose result hangs below
 *          another tensor) and host edges out
 *   link   what its reader in the tree adds: the halo, of which each of k children
 *          counts the k-th part since all of it is no less than that of any one; the
 *          buffer since the use before; a copy or a way through DRAM instead
 *   wait   for weights that the step before is too short to hide
 */
#include "passes/search_side.h"

#include <stdlib.h>

static int64_t less(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t bound_rent(const Space *s, int first, int last, int64_t bytes)
{
	if (last < first)
		return 0;
	return (s->rents[last + 1] - s->rents[first]) * less(bytes, MOST_RENTED) >> RENT_SHIFT;
}

/* A host edge out of this value. */
static int64_t leaf(Space *s, int step, int value)
{
	const TensorSpace *x = &s->tensors[s->bare->steps[step].in[0].tensor->id];
	if (!bound_is_plain(s, x, value))
		return 0;
	int64_t least;
	bound_way(s, step, -1, &value, &least);
	return least;
}

static int64_t node(Space *s, int t, int value)
{
	TensorSpace *x = &s->tensors[t];
	int64_t sum = bound_rent(s, x->first, x->last, side_base(&x->values->v[value]));
	for (int j = 0; j < x->nreaders && sum < NO_WAY; j++) {
		int64_t *side = &x->sides[(int64_t)j * x->values->n + value];
		*side = side_is_main(s, x->readers[j], t) ? 0 : side_read(s, t, value, j).least;
		sum += *side;
		if (!s->bare->steps[x->readers[j]].out)
			sum += leaf(s, x->readers[j], value);
	}
	return sum;
}

/* ---- links ---- */

/* Read where it lies; what is not below `most` need not be exact. */
static int64_t direct(Space *s, int t, int from, int to, int64_t most)
{
	const TensorSpace *x = &s->tensors[t], *p = &s->tensors[x->parent];
	const Value *v = &p->values->v[from];
	const int j = side_number(p, x->first), main = s->steps[x->first].main;
	if (side_may_be_back(p, j))
		return 0;
	const Pair *pair = space_pair(s, x->first, main, from, to, PAIR_HERE);
	if (pair->bytes >= NO_ROOM)
		return NO_WAY;
	const int64_t more = bound_rent(s, p->first, p->last, pair->bytes - side_base(v));
	const int64_t rest = bound_rent(s, side_use_before(p, j) + 1, x->first, pair->bytes);
	const int64_t least = (pair->halo_least + more) / p->children + rest;
	if (least >= most)
		return least;
	pair = space_pair(s, x->first, main, from, to, PAIR_HERE | PAIR_HALO);
	return (pair->halo + more) / p->children + rest;
}

/* From a copy or through DRAM. */
static int64_t moved(Space *s, int t, int from, int to, int how, bool made)
{
	const TensorSpace *x = &s->tensors[t], *p = &s->tensors[x->parent];
	const Value *v = &p->values->v[from];
	const int j = side_number(p, x->first);
	if (how == READ_PARKED && !side_may_park(p, j))
		return NO_WAY;
	const Pair *pair = space_pair(s, x->first, s->steps[x->first].main, from, to,
				      PAIR_COPY | (how == READ_PARKED ? PAIR_BACK : 0));
	if (pair->copy_bytes >= NO_ROOM)
		return NO_WAY;
	const int64_t time = how == READ_COPIED ? pair->copy_time : pair->back_time;
	int64_t sum = time + bound_rent(s, x->first, x->first, pair->copy_bytes);
	if (how == READ_COPIED && !made && !side_may_be_back(p, j))
		sum += bound_rent(s, side_use_before(p, j) + 1, x->first - 1, side_base(v));
	if (how == READ_PARKED && !made)
		sum += side_spill(s, x->parent, from, j);
	return sum;
}

/* What weights that do not come early may cost more: so much more may a move that
 * forbids it be cheaper and yet be worse. */
static int64_t lateness(const TensorSpace *x, int value)
{
	int64_t least = NO_WAY, most = 0;
	for (int i = x->shade_at[value]; i < x->shade_at[value + 1]; i++) {
		least = less(least, x->shades[i].cost);
		most = x->shades[i].cost > most ? x->shades[i].cost : most;
	}
	return most > least ? most - least : 0;
}

static Link link(Space *s, int t, int from, int to)
{
	const TensorSpace *x = &s->tensors[t], *p = &s->tensors[x->parent];
	const Value *v = &p->values->v[from];
	if (v->place == PLACE_DRAM) { /* it is read at some time */
		const int64_t time = cost_move(&s->cost, s->bare, &v->tensor, false);
		const int64_t rest = time > x->floor[to] ? time - x->floor[to] : 0;
		return (Link){ rest, rest, 0 };
	}
	if (side_may_beside(p, side_number(p, x->first)))
		return (Link){ 0 };
	Link l = { .moved = less(moved(s, t, from, to, READ_COPIED, false),
				 moved(s, t, from, to, READ_PARKED, false)) };
	l.direct = direct(s, t, from, to, l.moved + lateness(x, to));
	return l;
}

/* What `link` looks at beside values and rents: tensors for which it is the same share
 * what comes of it. */
static Link *rentless(Space *s, int t)
{
	const TensorSpace *x = &s->tensors[t], *p = &s->tensors[x->parent];
	const StepSpace *made = &s->steps[x->first];
	const int j = side_number(p, x->first);
	const char *key = arena_printf(s->arena, "%p %p %d %d %d %d %d %d %d",
		(void *)made->edges[made->main], (void *)made->configs, made->main, p->children,
		x->first == x->last ? -1 : t, j == 0, side_may_park(p, j), side_may_beside(p, j),
		side_may_be_back(p, j));
	Link *known = strmap_get(&s->bounds, key);
	if (known)
		return known;
	known = arena_array(s->arena, Link, (int64_t)x->values->n * p->values->n + 1);
	strmap_put(&s->bounds, key, known);
	return known;
}

const Link *bound_link(Space *s, int t, int from, int to)
{
	TensorSpace *x = &s->tensors[t];
	const int n = x->values->n;
	const bool free = !s->rents[s->bare->nsteps];
	const int version = free ? 1 + s->coarse + 2 * s->dram : s->version;
	Link **all = free ? &x->rentless : &x->links;
	if (!*all)
		*all = free ? rentless(s, t)
			    : arena_array(s->arena, Link,
					  (int64_t)n * s->tensors[x->parent].values->n + 1);
	Link *known = &(*all)[(int64_t)from * n + to];
	if (known->version != version) {
		*known = link(s, t, from, to);
		known->version = version;
	}
	return known;
}

Link bound_read(Space *s, int t, int from, int to, int how)
{
	const Value *v = &s->tensors[s->tensors[t].parent].values->v[from];
	if (how == READ_BESIDE)
		return (Link){ 0 };
	if (how == READ_OPEN || v->place == PLACE_DRAM)
		return *bound_link(s, t, from, to);
	return (Link){ NO_WAY, moved(s, t, from, to, how, true), 0 };
}

int64_t bound_edge(const Space *s, int t, const Link *l, int64_t hides, int shade)
{
	const TensorSpace *x = &s->tensors[t];
	const Shade *z = &x->shades[shade];
	if (!z->early)
		return less(l->direct, l->moved);
	const bool next = x->first == s->tensors[x->parent].last + 1;
	return l->direct + (next && z->fetch > hides ? z->fetch - hides : 0);
}

bool bound_takes(const Space *s, int t, int from, int shade)
{
	const TensorSpace *x = &s->tensors[t];
	const DevTypes type = x->shades[shade].type;
	return !type || type == s->tensors[x->parent].values->v[from].type;
}

/* So much for a result of value `to`. */
static int64_t side_later(Space *s, int step, int part, int from, int to, int how, bool there)
{
	const int t = s->bare->steps[step].in[part].tensor->id;
	const Pair *p = space_pair(s, step, part, from, to, PAIR_COPY | PAIR_BACK);
	if (p->copy_bytes >= NO_ROOM)
		return NO_WAY;
	if (how != READ_BESIDE)
		return (how == READ_COPIED ? p->copy_time : p->back_time)
			+ bound_rent(s, step, step, p->copy_bytes);
	return side_beside(s, t, from, side_number(&s->tensors[t], step),
			   p->back_time - s->cost.launch, there)
		+ bound_rent(s, step - 1, step, p->copy_bytes);
}

int64_t bound_side(Space *s, int step, int part, int from, int how, bool there)
{
	const Step *r = &s->bare->steps[step];
	const int key[] = { -1, step, part, from, how, there };
	int64_t *known = intmap_get(&s->given, key, 6);
	if (known)
		return *known;
	known = arena_new(s->arena, int64_t);
	if (!r->out) {
		*known = leaf(s, step, from);
	} else if (s->tensors[r->in[part].tensor->id].values->v[from].place != PLACE_DRAM
		   && (s->sharp || how != READ_BESIDE)) {
		const TensorSpace *x = &s->tensors[r->out->id];
		*known = NO_WAY;
		for (int i = 0; i < x->values->n; i++)
			if (!x->dead[i])
				*known = less(*known, side_later(s, step, part, from, i, how,
								 there));
	}
	intmap_put(&s->given, key, 6, known);
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

static void nodes_of(Space *s, int t)
{
	TensorSpace *x = &s->tensors[t];
	x->shade_at[x->values->n] = 0;
	for (int v = 0; v < x->values->n; v++) {
		bound_shades(s, t, v);
		if (x->dead[v])
			continue;
		x->least[v] = node(s, t, v);
		x->dead[v] = x->least[v] >= NO_WAY;
	}
}

/* Rents are new: what depends on them is worked out again. Parents come first. */
void bound_nodes(Space *s)
{
	s->version++;
	intmap_init(&s->given, s->arena);
	for (int k = 0; k < s->bare->nsteps; k++) {
		const PlanTensor *t = s->bare->steps[k].out;
		if (t && s->tensors[t->id].first == k)
			nodes_of(s, t->id);
	}
}

/* ---- what the tree's best solution keeps in L1 ---- */

static void use(int64_t *list, int first, int last, int64_t bytes)
{
	for (int i = first; i <= last; i++)
		list[i] += bytes;
}

static void use_way(Space *s, int step, int value, const int *parts, int64_t *list)
{
	int64_t least;
	const Config *c = bound_way(s, step, value, parts, &least);
	if (c)
		use(list, step, step, c->bytes);
}

static void use_work(Space *s, int t, const Shade *z, int64_t *list)
{
	const TensorSpace *x = &s->tensors[t];
	if (z->way)
		use(list, x->first, x->first, z->way->bytes);
	if (z->way && z->early)
		use(list, x->first - 1, x->first - 1, z->way->ahead);
	if (z->way || !bound_is_plain(s, x, z->value))
		return;
	for (int i = x->first; i <= x->last; i++) {
		int parts[MAX_STEP_PARTS] = { 0 };
		if (s->bare->steps[i].out == s->bare->tensors[t]
		    && (space_parts(s, i, 0, parts) || space_parts(s, i, 1, parts)))
			use_way(s, i, z->value, parts, list);
	}
}

static void use_sides(Space *s, int t, int value, int64_t *list)
{
	const TensorSpace *x = &s->tensors[t];
	const int64_t base = side_base(&x->values->v[value]);
	use(list, x->first, x->last, base);
	for (int j = 0; j < x->nreaders; j++) {
		const int from = side_use_before(x, j) + 1, step = x->readers[j];
		if (!s->bare->steps[step].out && bound_is_plain(s, x, value))
			use_way(s, step, -1, &value, list);
		if (side_is_main(s, step, t))
			continue;
		const SideRead r = side_read(s, t, value, j);
		use(list, from, step - 2, r.waits);
		use(list, step - 1 < from ? step : step - 1, step - 1, r.before);
		use(list, step, step, r.at);
	}
}

static void use_link(Space *s, int t, int from, const Shade *z, int64_t *list)
{
	const TensorSpace *x = &s->tensors[t], *p = &s->tensors[x->parent];
	const Value *v = &p->values->v[from];
	const int j = side_number(p, x->first), first = side_use_before(p, j) + 1;
	if (v->place == PLACE_DRAM || side_may_beside(p, j))
		return;
	const Pair *pair = space_pair(s, x->first, s->steps[x->first].main, from, z->value,
				      PAIR_HERE | PAIR_COPY);
	const Link *l = bound_link(s, t, from, z->value);
	if (z->early || l->direct <= l->moved) {
		if (side_may_be_back(p, j))
			return;
		use(list, first, x->first, pair->bytes);
		use(list, p->first, p->last, (pair->bytes - side_base(v)) / p->children);
	} else {
		use(list, x->first, x->first, pair->copy_bytes);
		if (l->moved == moved(s, t, from, z->value, READ_COPIED, false)
		    && !side_may_be_back(p, j))
			use(list, first, x->first - 1, side_base(v));
	}
}

void bound_uses(Space *s, const int *shades, int64_t *list)
{
	for (int t = 0; t < s->bare->ntensors; t++) {
		const TensorSpace *x = &s->tensors[t];
		const Shade *z = &x->shades[shades[t]];
		use_sides(s, t, z->value, list);
		use_work(s, t, z, list);
		if (x->parent >= 0)
			use_link(s, t, s->tensors[x->parent].shades[shades[x->parent]].value, z,
				 list);
	}
}
