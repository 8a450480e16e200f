#include "passes/greedy_room.h"

#include "passes/choice_legal.h"
#include "passes/plan_dram.h"

enum { MOST_SWEEPS = 400, FEW_PASSES = 4 };

/* A plan of the choices so far, and what it takes. */
typedef struct Sweep {
	Greedy *g;
	Plan *p;
	int *bare;      /* of each step: which of the bare plan it is, or belongs to */
	int *origin;    /* of each tensor: which of the bare plan it is a copy of; -1: a slice */
	int64_t *used;  /* of each step: bytes */
	bool changed;
} Sweep;

static int64_t aligned(int64_t n) { return (n + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM; }

/* What a step takes for itself alone. */
static int64_t own_bytes(const Step *s)
{
	int64_t sum = aligned(s->weight_bytes) + aligned(s->stream.sums_bytes)
		+ aligned(s->scratch_bytes);
	for (int k = 0; s->slice && k <= s->nin; k++)
		sum += s->slices[k] ? aligned(s->slices[k]->bytes) : 0;
	return sum;
}

static void name_origins(Sweep *w)
{
	const Plan *p = w->p, *bare = w->g->bare;
	int next = 0;
	for (int i = 0; i < p->ntensors; i++)
		w->origin[i] = i < bare->ntensors ? i : -1;
	for (int k = 0; k < p->nsteps; k++) {
		const Step *s = &p->steps[k];
		const bool behind = s->kind == STEP_SPILL && !s->beside;
		w->bare[k] = behind ? next - 1 : next;
		if (step_moves(s))
			w->origin[s->out->id] = w->origin[s->in[0].tensor->id];
		else
			next++;
	}
}

static Sweep begin(Greedy *g)
{
	Plan *p = plan_apply(g->bare, g->choices);
	Arena *a = p->graph->arena;
	Sweep w = { .g = g, .p = p, .bare = arena_array(a, int, p->nsteps + 1),
		    .origin = arena_array(a, int, p->ntensors + 1),
		    .used = arena_array(a, int64_t, p->nsteps + 2) };
	name_origins(&w);
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i];
		if (w.origin[i] < 0) /* slices are the step's own */
			continue;
		w.used[t->born] += aligned(t->bytes);
		w.used[t->dies + 1] -= aligned(t->bytes);
	}
	for (int k = 1; k < p->nsteps; k++)
		w.used[k] += w.used[k - 1];
	for (int k = 0; k < p->nsteps; k++) {
		w.used[k] += own_bytes(&p->steps[k]);
		if (p->steps[k].stream.early)
			w.used[plan_fetched_in(p, k)] += aligned(p->steps[k].weight_bytes);
	}
	return w;
}

/* ---- skips ---- */

static int next_use(const Plan *bare, const PlanTensor *t, int step, int *part)
{
	for (int j = step + 1; j <= t->dies; j++)
		for (int k = 0; k < bare->steps[j].nin; k++)
			if (bare->steps[j].in[k].tensor == t) {
				*part = k;
				return j;
			}
	return -1;
}

static bool waits(const Plan *bare, const PlanTensor *t, int step)
{
	return t->done < step && step < t->dies && !plan_reads(&bare->steps[step], t);
}

/* Steps between two bare ones are so much emptier. */
static void less(Sweep *w, int after, int before, int64_t bytes)
{
	for (int k = 0; k < w->p->nsteps; k++)
		if (w->bare[k] > after && w->bare[k] < before)
			w->used[k] -= bytes;
}

static int most_owned(const Plan *p, const PlanTensor *t)
{
	int most = 0;
	for (int c = 0; c < p->cores; c++)
		most = range_count(t->shard[c].own.rows) > most ? range_count(t->shard[c].own.rows)
								: most;
	return most;
}

static bool may_copy(const Sweep *w, int step, int part)
{
	const Greedy *g = w->g;
	const Choice *c = &g->choices[step];
	const PlanTensor *t = w->p->tensors[g->bare->steps[step].in[part].tensor->id];
	return !((c->park | c->reshard) >> part & 1) && !greedy_fixed(g, step, CHOICE_reshard)
		&& choice_reshard_ok(g->bare, g->choices, step, part)
		&& t->buffer_rows > most_owned(w->p, t);
}

static bool may_park(const Sweep *w, int step, int part)
{
	const Greedy *g = w->g;
	const Choice *c = &g->choices[step];
	return !(c->park >> part & 1) && choice_park_ok(g->bare, g->choices, step, part)
		&& !greedy_fixed(g, step, CHOICE_park)
		&& !(c->reshard >> part & 1 && greedy_fixed(g, step, CHOICE_reshard));
}

/* Of what waits during a step, what is used last of all that `may`. */
static const PlanTensor *last_used(const Sweep *w, int step, bool (*may)(const Sweep *, int, int),
				   int *at, int *part)
{
	const Plan *bare = w->g->bare;
	const PlanTensor *last = NULL;
	*at = -1;
	for (int i = 0; i < bare->ntensors; i++) {
		const PlanTensor *t = bare->tensors[i];
		int k = 0;
		const int j = waits(bare, t, step) ? next_use(bare, t, step, &k) : -1;
		if (j <= *at || !may(w, j, k))
			continue;
		last = t;
		*at = j;
		*part = k;
	}
	return last;
}

/* It waits without the rows that its reader wants of other cores. */
static bool copy_one(Sweep *w, int step)
{
	int at, part;
	const PlanTensor *t = last_used(w, step, may_copy, &at, &part);
	if (!t)
		return false;
	const PlanTensor *is = w->p->tensors[t->id];
	const int rest = is->buffer_rows - most_owned(w->p, is);
	w->g->choices[at].reshard |= 1 << part;
	less(w, t->done, at, is->bytes * rest / is->buffer_rows);
	return true;
}

static bool park_one(Sweep *w, int step)
{
	Greedy *g = w->g;
	int at, part;
	const PlanTensor *victim = last_used(w, step, may_park, &at, &part);
	if (!victim)
		return false;
	Choice *c = &g->choices[at];
	const bool beside = choice_beside_ok(g->bare, g->choices, at, part)
		&& !greedy_fixed(g, at, CHOICE_beside);
	c->park |= 1 << part;
	c->reshard &= ~(1 << part);
	if (beside)
		c->beside |= 1 << part;
	const int after = at - plan_gap(g->bare, at, part) + beside;
	less(w, after, at - beside, aligned(w->p->tensors[victim->id]->bytes));
	return true;
}

/* What moves beside a step moves by itself. */
static bool hurry_one(Sweep *w, int step)
{
	Greedy *g = w->g;
	for (int i = 0; i < g->bare->ntensors; i++) {
		const PlanTensor *t = g->bare->tensors[i];
		int k = 0;
		const int j = waits(g->bare, t, step) ? next_use(g->bare, t, step, &k) : -1;
		if (j < 0 || !(g->choices[j].beside >> k & 1) || greedy_fixed(g, j, CHOICE_beside))
			continue;
		g->choices[j].beside &= ~(1 << k);
		return true;
	}
	return false;
}

/* Weights that are there before their step begins, in the room of another, are not. */
static bool delay_one(Sweep *w, int k)
{
	Greedy *g = w->g;
	for (int j = k + 1; j < w->p->nsteps; j++) {
		const int step = w->bare[j];
		if (!w->p->steps[j].stream.early || plan_fetched_in(w->p, j) != k
		    || greedy_fixed(g, step, CHOICE_prefetch))
			continue;
		g->choices[step].prefetch = 0;
		return true;
	}
	return false;
}

/* ---- copies and slices ---- */

static bool unshard_one(Sweep *w, int step)
{
	Choice *c = &w->g->choices[step];
	if (!c->reshard || greedy_fixed(w->g, step, CHOICE_reshard))
		return false;
	c->reshard &= c->reshard - 1;
	return true;
}

static void slice_low(Greedy *g, int step)
{
	const Step *s = &g->bare->steps[step];
	Choice *c = &g->choices[step];
	if (!greedy_fixed(g, step, CHOICE_slice) && !c->slice)
		c->slice = choice_sliced(s->out ? s->out : s->in[0].tensor)->row_unit;
	c->prefetch = 0;
}

/* Pins that say how a step reads the tensor hold it in L1. */
static bool may_slice(const Greedy *g, const PlanTensor *t)
{
	const unsigned moves = 1u << CHOICE_reshard | 1u << CHOICE_park | 1u << CHOICE_prefetch;
	if (g->choices[t->born].place == PLACE_DRAM || !choice_dram_ok(g->bare, t)
	    || greedy_fixed(g, t->born, CHOICE_place))
		return false;
	for (int i = t->born; i <= t->dies && g->pins; i++) {
		const Step *s = &g->bare->steps[i];
		const Choice *v = &g->pins[i].value;
		if ((s->out == t || plan_reads(s, t)) && g->pins[i].fixed & moves
		    && (v->reshard || v->park || v->prefetch))
			return false;
		if ((s->out == t || plan_reads(s, t)) && greedy_fixed(g, i, CHOICE_slice)
		    && !v->slice)
			return false;
	}
	return true;
}

static void to_dram(Sweep *w, const PlanTensor *t)
{
	Greedy *g = w->g;
	g->choices[t->born].place = PLACE_DRAM;
	for (int i = t->born; i <= t->dies; i++) {
		const Step *s = &g->bare->steps[i];
		Choice *c = &g->choices[i];
		if (s->out == t || plan_reads(s, t))
			slice_low(g, i);
		for (int k = 0; k < s->nin; k++)
			if (s->in[k].tensor == t) {
				c->reshard &= ~(1 << k);
				c->park &= ~(1 << k);
				c->beside &= ~(1 << k);
			}
	}
	less(w, t->born - 1, t->dies + 1, aligned(w->p->tensors[t->id]->bytes));
	w->changed = true;
}

/* Part k of a step, or (k == nin) its result. */
static const PlanTensor *part_of(const Step *s, int k)
{
	return k < s->nin ? s->in[k].tensor : s->out;
}

/* Are so many slices of the fewest rows lower than what is in L1 now? */
static bool gains(const Step *s, int k, int slices, const PlanTensor *now)
{
	const int unit = choice_sliced(s->out ? s->out : now)->row_unit;
	const Region out = { { 0, unit }, { 0, 1 } };
	const Range rows = k < s->nin && s->out ? step_reads(s, k, out).rows : out.rows;
	return slices * range_count(rows) < now->buffer_rows;
}

/* Of what step k of the plan has in L1, copies too: the largest that gains from so many
 * slices at a time. */
static const PlanTensor *largest(const Sweep *w, int k, int slices)
{
	const Step *s = &w->g->bare->steps[w->bare[k]], *x = &w->p->steps[k];
	const PlanTensor *most = NULL;
	int64_t bytes = 0;
	for (int i = 0; i <= s->nin; i++) {
		const PlanTensor *t = part_of(s, i);
		const PlanTensor *now = t && step_moves(x) ? w->p->tensors[t->id] : part_of(x, i);
		if (!t || !may_slice(w->g, t) || !gains(s, i, slices, now) || now->bytes <= bytes)
			continue;
		most = t;
		bytes = now->bytes;
	}
	return most;
}

static bool slice_one(Sweep *w, int k, int buffer)
{
	const PlanTensor *most = NULL;
	if (greedy_may(w->g, w->bare[k], CHOICE_slice_buffer, buffer))
		most = largest(w, k, buffer == SLICE_DOUBLE ? 2 : 1);
	if (most)
		to_dram(w, most);
	return most != NULL;
}

/* Tensors of which a core would keep more rows than routines can address. */
static bool slice_high(Sweep *w)
{
	for (int i = 0; i < w->p->ntensors; i++) {
		const PlanTensor *t = w->p->tensors[i];
		if (w->origin[i] < 0 || t->layout.place != PLACE_L1
		    || t->buffer_rows <= MAX_BAND_ROWS)
			continue;
		const PlanTensor *bare = w->g->bare->tensors[w->origin[i]];
		if (w->g->choices[bare->born].place == PLACE_DRAM)
			continue;
		if (!may_slice(w->g, bare))
			return false;
		to_dram(w, bare);
	}
	return true;
}

void greedy_slice_pinned(Greedy *g)
{
	for (int i = 0; i < g->bare->nsteps; i++)
		if (choice_is_sliced(g->bare, g->choices, i))
			slice_low(g, i);
}

/* ---- cuts ---- */

static void set_cut(Greedy *g, int step, Cut cut)
{
	static const ChoiceField weights[] = { CHOICE_k_block, CHOICE_ring, CHOICE_act_block };
	Choice *c = &g->choices[step];
	c->bands = cut.bands;
	c->splits = cut.splits;
	for (int i = 0; i < 3; i++)
		if (!greedy_fixed(g, step, weights[i]))
			choice_set(c, weights[i], 0);
	if (!greedy_fixed(g, step, CHOICE_fetchers))
		c->fetchers = choice_most_fetchers(g->bare, c);
}

/* The result of a product in more splits: a core has fewer channels of it, and of its
 * weights. */
static bool split_one(Sweep *w, int step)
{
	Greedy *g = w->g;
	const Step *s = &g->bare->steps[step];
	const Choice *c = &g->choices[step];
	if (!choice_has(s, CHOICE_k_block) || s->out->born != s->out->done
	    || greedy_fixed(g, step, CHOICE_bands) || greedy_fixed(g, step, CHOICE_splits)
	    || (g->pins && g->pins[step].shard != SHARD_ANY))
		return false;
	const Cut most = choice_most_cut(s, c->cout_block);
	for (int splits = c->splits + 1; splits <= most.splits; splits++) {
		const int bands = g->bare->cores / splits;
		const Cut cut = { bands < most.bands ? bands : most.bands, splits };
		if (!bands || !choice_cut_ok(g->bare, s, cut, c->cout_block))
			continue;
		set_cut(g, step, cut);
		return true;
	}
	return false;
}

/* ---- all steps ---- */

static bool relieve(Sweep *w, int k)
{
	Greedy *g = w->g;
	const Step *s = &w->p->steps[k];
	const int step = w->bare[k];
	const int64_t left = g->room - (w->used[k] - own_bytes(s));
	const bool works = !step_moves(s);
	return (works && greedy_fit(g, w->p, s, step, left, 1)) || delay_one(w, k)
		|| copy_one(w, step)
		|| (works && greedy_fit(g, w->p, s, step, left, FEW_PASSES))
		|| park_one(w, step)
		|| (works && greedy_fit(g, w->p, s, step, left, 0)) || hurry_one(w, step)
		|| unshard_one(w, step) || slice_one(w, k, SLICE_DOUBLE)
		|| (works && greedy_fit_single(g, w->p, s, step, left))
		|| slice_one(w, k, SLICE_SINGLE) || (works && split_one(w, step));
}

/* The best way in the room that is left now. */
static void use_room(Greedy *g)
{
	const Sweep w = begin(g);
	for (int k = 0; k < w.p->nsteps; k++) {
		const Step *s = &w.p->steps[k];
		const int64_t left = g->room - (w.used[k] - own_bytes(s));
		if (step_moves(s) || (s->slice && greedy_fit_slices(g, w.p, s, w.bare[k], left)))
			continue;
		if ((s->weights || s->slice) && !s->stream.early
		    && !greedy_fit(g, w.p, s, w.bare[k], left, 1)
		    && !greedy_fit(g, w.p, s, w.bare[k], left, 0))
			greedy_fit_single(g, w.p, s, w.bare[k], left);
	}
}

/* Pins may leave a step that works on a tensor in DRAM without rows for its slices. */
static bool has_slices(const Greedy *g)
{
	bool all = true;
	for (int i = 0; i < g->bare->nsteps; i++)
		all &= g->choices[i].slice > 0 || !choice_is_sliced(g->bare, g->choices, i);
	return all;
}

bool greedy_relieve(Greedy *g)
{
	for (int turn = 0; turn < MOST_SWEEPS; turn++) {
		if (!has_slices(g))
			return false;
		Sweep w = begin(g);
		if (!slice_high(&w))
			return false;
		for (int k = 0; k < w.p->nsteps; k++) {
			if (w.used[k] <= g->room)
				continue;
			if (!relieve(&w, k))
				return false;
			w.changed = true;
		}
		if (!w.changed)
			return true;
	}
	return false;
}

bool greedy_make_room(Greedy *g)
{
	if (!greedy_relieve(g))
		return false;
	use_room(g);
	return true;
}

/* The last step that is not beside another. */
static int before(const Plan *p, int k)
{
	while (--k > 0 && p->steps[k].beside)
		;
	return k;
}

void greedy_prefetch(Greedy *g)
{
	Sweep w = begin(g);
	for (int k = 1; k < w.p->nsteps; k++) {
		const Step *s = &w.p->steps[k];
		const int step = w.bare[k], in = before(w.p, k);
		const int64_t bytes = aligned(s->weight_bytes);
		if (step_moves(s) || !choice_has(s, CHOICE_prefetch) || s->stream.early
		    || greedy_fixed(g, step, CHOICE_prefetch)
		    || !plan_can_prefetch(g->bare, g->choices, step)
		    || w.used[in] + bytes > g->room)
			continue;
		g->choices[step].prefetch = 1;
		w.used[in] += bytes;
	}
}

void greedy_no_prefetch(Greedy *g)
{
	for (int i = 0; i < g->bare->nsteps; i++)
		if (!greedy_fixed(g, i, CHOICE_prefetch))
			g->choices[i].prefetch = 0;
}

bool greedy_packs(const Greedy *g)
{
	int64_t end;
	Range blame;
	return place_buffers(plan_apply(g->bare, g->choices), &end, &blame);
}
