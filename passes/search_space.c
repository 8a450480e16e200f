/*
 * Values of tensors, and what lies between a tensor and its readers.
 */
#include "passes/search_space.h"

#include <string.h>

#include "passes/choice_legal.h"
#include "passes/plan_dram.h"

enum { MOST_BLOCKS = 4 };

static DevTypes tried(const Space *s, const PlanTensor *t)
{
	return choice_tried(s->bare, t, s->pins);
}

static const char *class_key(Space *s, const PlanTensor *t, const Step *made)
{
	/* Rows of what bands make of their own are those of the bands. */
	const PlanTensor *rows = t->partial || made->kind == STEP_REDUCE ? made->in[0].tensor : t;
	return arena_printf(s->arena, "%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d",
			    t->channels, rows->height, rows->row_unit, t->height, t->images,
			    t->row_unit, t->plane_unit, (int)t->layout.type,
			    t->layout.planes, t->layout.cols, t->layout.phases, t->layout.lead,
			    t->partial, (int)made->kind, made->channel_groups,
			    (int)tried(s, t), choice_dram_ok(s->bare, t));
}

static bool pinned(const Space *s, int step, ChoiceField f, int value)
{
	const Pins *p = s->pins ? &s->pins[step] : NULL;
	return p && p->fixed >> f & 1 && choice_get(&p->value, f) != value;
}

/* Do both cut rows and planes at the same places? */
static bool are_alike(const Space *s, const Value *a, const Value *b)
{
	if (a->cut.bands != b->cut.bands || a->cut.splits != b->cut.splits)
		return false;
	for (int c = 0; c < s->bare->cores; c++)
		if (memcmp(&a->tensor.shard[c].own, &b->tensor.shard[c].own, sizeof(Region)) != 0)
			return false;
	return true;
}

/* Adds a value; one that another cout_block made already is that one. */
static void add_value(Space *s, Class *c, const Step *made, Cut cut, DevTypes type, Place place,
		      int block)
{
	Value v = { .cut = cut, .type = type, .place = place, .blocks = block, .spill = -1,
		    .tensor = *c->like };
	v.tensor.cut = cut;
	v.tensor.layout.type = type;
	v.tensor.layout.place = place;
	plan_align_rows(&v.tensor.layout);
	if (made->kind == STEP_CONV && made->channel_groups == 1)
		v.tensor.plane_unit = 2 * block;
	if (v.tensor.partial || made->kind == STEP_REDUCE) {
		Step x = *made;
		x.out = &v.tensor;
		plan_cut_partial(s->bare, &x);
	}
	plan_own(s->bare, &v.tensor);
	for (int i = c->n - 1; i >= 0 && c->v[i].cut.bands == cut.bands
	     && c->v[i].cut.splits == cut.splits; i--)
		if (c->v[i].type == type && c->v[i].place == place && are_alike(s, &c->v[i], &v)) {
			c->v[i].blocks += block;
			return;
		}
	while (v.alike < c->n && !are_alike(s, &c->v[v.alike], &v))
		v.alike++;
	plan_size_buffer(s->bare, &v.tensor);
	c->v = arena_grow(s->arena, c->v, c->n, sizeof v);
	c->v[c->n++] = v;
}

static void add_values(Space *s, Class *c, const Step *made, DevTypes type, Place place)
{
	int blocks[MOST_BLOCKS] = { 0 };
	int n = made->kind == STEP_CONV ? choice_cout_blocks(made, blocks, MOST_BLOCKS) : 1;
	for (int bands = 1; bands <= s->bare->cores; bands++)
		for (int splits = 1; bands * splits <= s->bare->cores; splits++)
			for (int b = 0; b < n; b++)
				if (choice_cut_ok(s->bare, made, (Cut){ bands, splits }, blocks[b]))
					add_value(s, c, made, (Cut){ bands, splits }, type, place,
						  blocks[b]);
}

static Class *class_of(Space *s, const PlanTensor *t, const Step *made)
{
	const char *key = class_key(s, t, made);
	Class *c = strmap_get(&s->classes, key);
	if (c)
		return c;
	c = arena_new(s->arena, Class);
	c->like = t;
	strmap_put(&s->classes, key, c);
	const DevTypes types = tried(s, t);
	for (int place = PLACE_L1; place <= PLACE_DRAM; place++)
		for (unsigned type = DEV_BF16; type <= DEV_F32; type <<= 1)
			if (types & type
			    && (place == PLACE_L1 || (s->dram && choice_dram_ok(s->bare, t))))
				add_values(s, c, made, (DevTypes)type, (Place)place);
	return c;
}

bool space_bars(const Space *s, int step, Cut cut, int type, int place)
{
	const Choice *c = s->pins ? s->pins[step].barred : NULL;
	return c && c->bands == cut.bands && c->splits == cut.splits && c->type == type
		&& c->place == place;
}

/* Values that a pin rules out are dead from the start. */
static void pin_values(Space *s, TensorSpace *t, int step)
{
	for (int i = 0; i < t->values->n; i++) {
		const Value *v = &t->values->v[i];
		const ShardWord word = s->pins ? s->pins[step].shard : SHARD_ANY;
		const bool cut = word == SHARD_ANY || (word == SHARD_HEIGHT && v->cut.splits == 1)
			|| (word == SHARD_WIDTH && v->cut.bands == 1)
			|| (word == SHARD_BLOCK && v->cut.bands > 1 && v->cut.splits > 1);
		t->dead[i] |= !cut || space_bars(s, step, v->cut, (int)v->type, (int)v->place)
			|| pinned(s, step, CHOICE_bands, v->cut.bands)
			|| pinned(s, step, CHOICE_splits, v->cut.splits)
			|| pinned(s, step, CHOICE_type, (int)v->type)
			|| pinned(s, step, CHOICE_place, (int)v->place);
	}
}

static void init_tensor(Space *s, int id)
{
	const Plan *p = s->bare;
	const PlanTensor *t = p->tensors[id];
	TensorSpace *x = &s->tensors[id];
	x->first = t->born;
	x->last = t->done;
	x->values = class_of(s, t, &p->steps[t->born]);
	x->dead = arena_array(s->arena, bool, x->values->n + 1);
	x->least = arena_array(s->arena, int64_t, x->values->n + 1);
	x->shade_at = arena_array(s->arena, int, x->values->n + 1);
	x->floor = arena_array(s->arena, int64_t, x->values->n + 1);
	x->ways = arena_array(s->arena, const Configs *, 2 * (x->values->n + 1));
	x->parks = plan_can_park(p, t);
	for (int i = 0; i < p->nsteps; i++) {
		if (p->steps[i].out == t)
			pin_values(s, x, i);
		if (!plan_reads(&p->steps[i], t))
			continue;
		x->readers = arena_grow(s->arena, x->readers, x->nreaders, sizeof(int));
		x->readers[x->nreaders++] = i;
	}
	x->sides = arena_array(s->arena, int64_t, (int64_t)x->nreaders * x->values->n + 1);
}

static Edge *edge_of(Space *s, int step, int part)
{
	const Step *r = &s->bare->steps[step];
	const Window *w = r->window;
	Class *from = s->tensors[r->in[part].tensor->id].values;
	Class *to = s->tensors[r->out->id].values;
	const char *key = arena_printf(s->arena, "%p %p %d %d %d %d %d %d %d %d %d %d %d %p",
				       (void *)from, (void *)to, (int)r->kind, r->in[part].plane,
				       r->in[part].channels, w[0].size, w[0].stride, w[0].dilation,
				       w[0].pad, r->row, r->row_step, r->spread[part],
				       r->channel_groups, (const void *)r->row_map);
	Edge *e = strmap_get(&s->edges, key);
	if (e)
		return e;
	e = arena_new(s->arena, Edge);
	*e = (Edge){ .from = from, .to = to, .like = r, .part = part };
	e->pairs = arena_array(s->arena, Pair, (int64_t)from->n * to->n + 1);
	strmap_put(&s->edges, key, e);
	return e;
}

/* The input of a step that was made last. */
static int main_part(const Step *s)
{
	int main = -1;
	for (int k = 0; k < s->nin; k++)
		if (main < 0 || s->in[k].tensor->done > s->in[main].tensor->done)
			main = k;
	return main;
}

/* Steps that do the same to tensors of the same classes have the same ways to do it. */
static IntMap *configs_of(Space *s, int i)
{
	const Step *r = &s->bare->steps[i];
	const Window *w = r->window;
	const char *key = arena_printf(s->arena, "%d %d %p %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d "
				       "%d %d %p %p %d %d %g %d %d %d", (int)r->kind, (int)r->act.kind,
				       r->out ? (void *)s->tensors[r->out->id].values : NULL,
				       w[0].size, w[0].stride, w[0].dilation, w[0].pad, w[1].size,
				       w[1].stride, w[1].dilation, w[1].pad, r->row, r->row_step,
				       r->column_phase, (int)r->weights, r->taps, r->held,
				       r->groups, r->channel_groups, r->phases, (int)r->arith,
				       (const void *)r->row_map, (const void *)r->mix,
				       (int)r->reduce.kind, r->reduce.pair, (double)r->reduce.scale,
				       (int)r->op->dtype, r->bias != NULL,
				       s->pins && (s->pins[i].fixed || s->pins[i].shard) ? i : -1);
	for (int k = 0; k < r->nin; k++)
		key = arena_printf(s->arena, "%s %p %d %d %d", key,
				   (void *)s->tensors[r->in[k].tensor->id].values,
				   r->in[k].plane, r->in[k].channels, r->spread[k]);
	IntMap *m = strmap_get(&s->works, key);
	if (m)
		return m;
	m = arena_new(s->arena, IntMap);
	intmap_init(m, s->arena);
	strmap_put(&s->works, key, m);
	return m;
}

static void init_step(Space *s, int i)
{
	const Step *r = &s->bare->steps[i];
	StepSpace *x = &s->steps[i];
	x->configs = configs_of(s, i);
	x->main = main_part(r);
	if (!r->out)
		return;
	x->edges = arena_array(s->arena, Edge *, r->nin + 1);
	for (int k = 0; k < r->nin; k++)
		x->edges[k] = edge_of(s, i, k);
	TensorSpace *out = &s->tensors[r->out->id];
	if (i != out->first)
		return;
	out->parent = x->main < 0 ? -1 : r->in[x->main].tensor->id;
	if (out->parent >= 0)
		s->tensors[out->parent].children++;
}

void space_init(Space *s, Plan *bare, const SearchOptions *o, bool dram)
{
	const Target *t = bare->target;
	*s = (Space){ .bare = bare, .arena = arena_create(), .pins = o->pins, .dram = dram };
	const int64_t first = (t->l1_first + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	s->room = o->room ? o->room : t->l1_end - first;
	s->cost = cost_context(t);
	strmap_init(&s->classes, s->arena);
	strmap_init(&s->edges, s->arena);
	strmap_init(&s->works, s->arena);
	strmap_init(&s->bounds, s->arena);
	intmap_init(&s->buffers, s->arena);
	s->key = arena_array(s->arena, int, bare->nsteps + MAX_STEP_PARTS + 4);
	s->as_was = arena_array(s->arena, PlanTensor, bare->ntensors + 1);
	s->steps_as_were = arena_array(s->arena, Step, bare->nsteps + 1);
	for (int i = 0; i < bare->ntensors; i++)
		s->as_was[i] = *bare->tensors[i];
	memcpy(s->steps_as_were, bare->steps, (size_t)bare->nsteps * sizeof *bare->steps);
	for (int i = 0; i < bare->ntensors; i++) /* leads do not depend on cuts */
		bare->tensors[i]->cut = (Cut){ 1, 1 };
	plan_shards(bare);
	s->tensors = arena_array(s->arena, TensorSpace, bare->ntensors + 1);
	s->steps = arena_array(s->arena, StepSpace, bare->nsteps + 1);
	s->rents = arena_array(s->arena, int64_t, bare->nsteps + 1);
	s->hide = arena_array(s->arena, int64_t, bare->nsteps + 1);
	s->version = 1;
	for (int i = 0; i < bare->ntensors; i++)
		init_tensor(s, i);
	for (int i = 0; i < bare->nsteps; i++)
		init_step(s, i);
}

void space_swap(Space *s)
{
	Plan *p = s->bare;
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor since = *p->tensors[i];
		*p->tensors[i] = s->as_was[i];
		s->as_was[i] = since;
	}
	for (int i = 0; i < p->nsteps; i++) {
		const Step since = p->steps[i];
		p->steps[i] = s->steps_as_were[i];
		s->steps_as_were[i] = since;
	}
}

void space_finish(Space *s)
{
	space_swap(s);
	arena_destroy(s->arena);
}

Step space_step(Space *s, int step, int value, const int *parts)
{
	const Step *r = &s->bare->steps[step];
	Step x = *r;
	x.in = arena_array(s->arena, Part, r->nin + 1);
	for (int k = 0; k < r->nin; k++) {
		x.in[k] = r->in[k];
		x.in[k].tensor = &s->tensors[r->in[k].tensor->id].values->v[parts[k]].tensor;
	}
	if (r->out)
		x.out = &s->tensors[r->out->id].values->v[value].tensor;
	if (r->kind == STEP_REDUCE)
		plan_cut_partial(s->bare, &x);
	return x;
}
