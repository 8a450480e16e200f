#include "passes/search_side.h"

int64_t side_base(const Value *v)
{
	return v->place == PLACE_L1 ? (v->tensor.bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM
				    : 0;
}

int side_number(const TensorSpace *x, int step)
{
	int j = 0;
	while (x->readers[j] != step)
		j++;
	return j;
}

int side_use_before(const TensorSpace *x, int j) { return j ? x->readers[j - 1] : x->last; }

bool side_may_park(const TensorSpace *x, int j)
{
	return x->parks && x->readers[j] - side_use_before(x, j) >= 2;
}

bool side_may_beside(const TensorSpace *x, int j)
{
	return x->parks && x->readers[j] - side_use_before(x, j) >= BESIDE_GAP;
}

bool side_may_be_back(const TensorSpace *x, int j)
{
	bool any = false;
	for (int i = 0; i < j; i++)
		any |= side_may_park(x, i);
	return any;
}

bool side_is_main(const Space *s, int step, int t)
{
	const Step *r = &s->bare->steps[step];
	return r->out && r->in[s->steps[step].main].tensor->id == t
		&& s->tensors[r->out->id].first == step;
}

int64_t side_spill(Space *s, int t, int value, int j)
{
	return side_may_be_back(&s->tensors[t], j) ? 0
						   : s->cost.launch + space_spill(s, t, value);
}

/* ---- moves beside steps ---- */

static int64_t beyond(const Space *s, int step, int64_t moves)
{
	return moves > s->hide[step] ? moves - s->hide[step] : 0;
}

int64_t side_beside(Space *s, int t, int value, int j, int64_t back, bool there)
{
	const TensorSpace *x = &s->tensors[t];
	const int64_t spill = there || side_may_be_back(x, j) ? 0
		: beyond(s, side_use_before(x, j) + 1, space_spill(s, t, value));
	return spill + beyond(s, x->readers[j] - 1, back);
}

/* What a value takes without early weights, and what early ones may save: the most of
 * either. */
static void look_late(const TensorSpace *x, int64_t *cost, int64_t *saves)
{
	*cost = *saves = 0;
	for (int i = 0; i < x->shade_at[x->values->n]; i++) {
		const Shade *z = &x->shades[i];
		if (x->dead[z->value] || z->early)
			continue;
		*cost = z->cost > *cost ? z->cost : *cost;
		*saves = z->saves > *saves ? z->saves : *saves;
	}
}

/* Whatever a plan does in step k could be done in the cheapest way, no weights being early
 * in it and in the next one: that is in the tree, and so no less than its bound. If the
 * plan's way takes longer than that one, what early weights may save and the slack, it is
 * not good enough. */
void side_sharpen(Space *s, int64_t slack)
{
	s->sharp = true;
	for (int k = 0; k < s->bare->nsteps; k++) {
		const Step *r = &s->bare->steps[k], *next = k + 1 < s->bare->nsteps ? r + 1 : NULL;
		const TensorSpace *x = r->out ? &s->tensors[r->out->id] : NULL;
		int64_t cost = 0, saves = 0, no_matter;
		s->hide[k] = NO_WAY;
		if (!x || x->first != x->last)
			continue;
		if (next && next->out)
			look_late(&s->tensors[next->out->id], &no_matter, &saves);
		look_late(x, &cost, &no_matter);
		s->hide[k] = slack + cost + saves;
	}
}

/* ---- side readers ---- */

static void take(Space *s, const TensorSpace *x, int j, SideRead *best, SideRead one)
{
	const int use = side_use_before(x, j), step = x->readers[j];
	one.least += bound_rent(s, use + 1, step - 2, one.waits)
		+ bound_rent(s, step - 1 > use ? step - 1 : step, step - 1, one.before)
		+ bound_rent(s, step, step, one.at);
	if (one.least < best->least)
		*best = one;
}

/* Whatever the value of its result. */
static SideRead roughly(Space *s, int t, int value, int j)
{
	const TensorSpace *x = &s->tensors[t];
	const int64_t base = side_base(&x->values->v[value]);
	SideRead best = { .least = NO_WAY };
	if (side_may_beside(x, j))
		return (SideRead){ 0 };
	take(s, x, j, &best, (SideRead){ .waits = base, .before = base, .at = base });
	if (s->bare->steps[x->readers[j]].out)
		take(s, x, j, &best, (SideRead){ s->cost.launch, .waits = base, .before = base });
	if (side_may_park(x, j))
		take(s, x, j, &best,
		     (SideRead){ side_spill(s, t, value, j) + s->cost.launch, .waits = 0 });
	return best;
}

/* Made from it, the result has value `to`. */
static void read_for(Space *s, int t, int value, int j, int to, SideRead *best)
{
	const TensorSpace *x = &s->tensors[t];
	const Value *v = &x->values->v[value];
	const int step = x->readers[j];
	const int part = space_part(&s->bare->steps[step], s->bare->tensors[t]);
	const int64_t base = side_base(v);
	const bool parks = side_may_park(x, j);
	const Pair *p = space_pair(s, step, part, value, to,
				   PAIR_HERE | PAIR_COPY | (parks ? PAIR_BACK : 0));
	if (p->bytes < NO_ROOM)
		take(s, x, j, best, (SideRead){ 0, p->bytes, p->bytes, p->bytes });
	const int64_t copy = p->copy_bytes;
	if (copy >= NO_ROOM)
		return;
	take(s, x, j, best, (SideRead){ p->copy_time, base, base, copy });
	if (parks)
		take(s, x, j, best,
		     (SideRead){ side_spill(s, t, value, j) + p->back_time, 0, 0, copy });
	if (side_may_beside(x, j))
		take(s, x, j, best,
		     (SideRead){ side_beside(s, t, value, j, p->back_time - s->cost.launch, false),
				 0, copy, copy });
}

SideRead side_read(Space *s, int t, int value, int j)
{
	const TensorSpace *x = &s->tensors[t];
	const Step *reader = &s->bare->steps[x->readers[j]];
	SideRead best = { .least = NO_WAY };
	if (side_may_be_back(x, j))
		return (SideRead){ 0 };
	if (!s->sharp || !reader->out || x->values->v[value].place != PLACE_L1)
		return roughly(s, t, value, j);
	const TensorSpace *out = &s->tensors[reader->out->id];
	for (int to = 0; to < out->values->n; to++)
		if (!out->dead[to])
			read_for(s, t, value, j, to, &best);
	return best;
}
