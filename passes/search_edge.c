/*
 * What lies between a tensor and its readers: bytes that are kept, rows that are
 * pushed, copies in another cut, the way to DRAM and back.
 */
#include "passes/search_space.h"

#include <string.h>

#include "passes/plan_dram.h"

static int64_t aligned(int64_t bytes) { return (bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM; }

/* A tensor to work out what is kept of it: shards of its own. */
static PlanTensor draft(Space *s, const PlanTensor *t, Shard *shards)
{
	PlanTensor x = *t;
	memcpy(shards, t->shard, (size_t)s->bare->cores * sizeof *shards);
	x.shard = shards;
	return x;
}

/* What a reader reads for a result of value `to` is kept too: rows by the rows it makes,
 * planes by the planes. */
static void keep(Space *s, PlanTensor *t, const Step *reader, int part, const Value *to)
{
	Step r = *reader;
	PlanTensor out = to->tensor;
	r.out = &out;
	if (r.kind == STEP_REDUCE) {
		Part in[MAX_STEP_PARTS];
		memcpy(in, r.in, (size_t)r.nin * sizeof *in);
		in[part].tensor = t;
		r.in = in;
		plan_cut_partial(s->bare, &r);
		r.in = reader->in;
	}
	const Shard *made = to->tensor.shard;
	const int splits = to->cut.splits;
	Region read[MAX_CORES];
	for (int c = 0; c < s->bare->cores; c++) {
		Shard *in = &t->shard[c];
		if (c > splits && range_same(made[c].own.rows, made[c - 1].own.rows)
		    && range_same(made[c].own.planes, made[c - splits].own.planes))
			read[c] = (Region){ read[c - 1].rows, read[c - splits].planes };
		else
			read[c] = step_reads(&r, part, made[c].own);
		in->keep = region_cover(in->keep, read[c]);
	}
}

static int64_t room_of(Space *s, PlanTensor *t)
{
	plan_size_buffer(s->bare, t);
	const bool fits = t->buffer_rows <= MAX_BAND_ROWS
		&& tensor_buffer_planes(t) <= MAX_BAND_PLANES;
	return fits ? aligned(t->bytes) : NO_ROOM;
}

static Room size(Space *s, PlanTensor *t)
{
	const int64_t bytes = room_of(s, t);
	return (Room){ bytes, bytes < NO_ROOM ? cost_halo(&s->cost, s->bare, t, t) : 0 };
}

/* The tensor anew, cut as a result is. */
static PlanTensor recut(Space *s, const PlanTensor *t, Cut cut, Shard *shards)
{
	PlanTensor x = *t;
	plan_recut(&x, cut);
	plan_own_into(s->bare, &x, shards);
	return x;
}

static void price_here(Space *s, const Edge *e, const Value *a, const Value *b, Pair *p,
		       unsigned what)
{
	Shard own[MAX_CORES];
	PlanTensor t = draft(s, &a->tensor, own);
	keep(s, &t, e->like, e->part, b);
	p->bytes = room_of(s, &t);
	if (p->bytes >= NO_ROOM)
		return;
	p->halo_least = cost_halo_least(&s->cost, s->bare, &t);
	if (what & PAIR_HALO)
		p->halo = cost_halo(&s->cost, s->bare, &t, &t);
}

static void price_copy(Space *s, const Edge *e, const Value *a, const Value *b, Pair *p,
		       unsigned what)
{
	Shard own[MAX_CORES];
	PlanTensor copy = recut(s, &a->tensor, b->cut, own);
	keep(s, &copy, e->like, e->part, b);
	p->copy_bytes = room_of(s, &copy);
	p->copy_time = s->cost.launch + cost_halo(&s->cost, s->bare, &a->tensor, &copy);
	if (what & PAIR_BACK)
		p->back_time = s->cost.launch + cost_move(&s->cost, s->bare, &copy, false);
}

const Pair *space_pair(Space *s, int step, int part, int from, int to, unsigned what)
{
	const Edge *e = s->steps[step].edges[part];
	to = e->to->v[to].alike;
	Pair *p = &e->pairs[(int64_t)from * e->to->n + to];
	const unsigned more = what & ~p->known;
	if (more & (PAIR_HERE | PAIR_HALO))
		price_here(s, e, &e->from->v[from], &e->to->v[to], p, what);
	if (more & (PAIR_COPY | PAIR_BACK))
		price_copy(s, e, &e->from->v[from], &e->to->v[to], p, what);
	p->known |= what;
	return p;
}

int space_part(const Step *r, const PlanTensor *t)
{
	int k = 0;
	while (r->in[k].tensor != t)
		k++;
	return k;
}

/* Readers from `first` on find what they read. */
static void keep_all(Space *s, PlanTensor *x, int t, int first, const int *readers)
{
	const TensorSpace *space = &s->tensors[t];
	for (int i = first; i < space->nreaders; i++) {
		const Step *r = &s->bare->steps[space->readers[i]];
		if (readers[i] < 0 || !r->out)
			continue;
		const Value *to = &s->tensors[r->out->id].values->v[readers[i]];
		for (int k = 0; k < r->nin; k++)
			if (r->in[k].tensor->id == t)
				keep(s, x, r, k, to);
	}
}

static int only_reader(const TensorSpace *t, const int *readers)
{
	int only = -1;
	for (int i = 0; i < t->nreaders; i++) {
		if (readers[i] == READ_PARKED || readers[i] == READ_BESIDE)
			return -1;
		if (readers[i] < 0)
			continue;
		if (only >= 0)
			return -1;
		only = i;
	}
	return only;
}

/* For readers from `first` on; 0 is the tensor as it was made, else it came back for
 * reader first - 1 and is cut as that one's result. */
static Room known_buffer(Space *s, int t, int value, int first, const int *readers)
{
	const TensorSpace *space = &s->tensors[t];
	const int n = space->nreaders;
	int *key = s->key;
	key[0] = t;
	key[1] = value;
	key[2] = first;
	memcpy(key + 3, readers, (size_t)n * sizeof *key);
	Room *known = intmap_get(&s->buffers, key, n + 3);
	if (known)
		return *known;
	Shard own[MAX_CORES];
	const PlanTensor *like = &space->values->v[value].tensor;
	PlanTensor x;
	if (first) {
		const Step *r = &s->bare->steps[space->readers[first - 1]];
		const int to = readers[first - 1];
		x = recut(s, like, s->tensors[r->out->id].values->v[to].cut, own);
	} else {
		x = draft(s, like, own);
	}
	keep_all(s, &x, t, first ? first - 1 : 0, readers);
	known = arena_new(s->arena, Room);
	*known = size(s, &x);
	if (first)
		known->halo = cost_move(&s->cost, s->bare, &x, false);
	intmap_put(&s->buffers, s->key, n + 3, known);
	return *known;
}

Room space_buffer(Space *s, int t, int value, const int *readers)
{
	const TensorSpace *space = &s->tensors[t];
	const PlanTensor *bare = s->bare->tensors[t];
	const int one = only_reader(space, readers);
	if (one >= 0) {
		const int step = space->readers[one];
		const Step *r = &s->bare->steps[step];
		int parts = 0;
		for (int k = 0; k < r->nin; k++)
			parts += r->in[k].tensor == bare;
		if (parts == 1) {
			const Pair *p = space_pair(s, step, space_part(r, bare), value,
						   readers[one], PAIR_HERE | PAIR_HALO);
			return (Room){ p->bytes, p->halo };
		}
	}
	return known_buffer(s, t, value, 0, readers);
}

Room space_back(Space *s, int t, int value, int reader, const int *readers)
{
	return known_buffer(s, t, value, reader + 1, readers);
}

int64_t space_spill(Space *s, int t, int value)
{
	Value *v = &s->tensors[t].values->v[value];
	if (v->spill < 0)
		v->spill = cost_move(&s->cost, s->bare, &v->tensor, true);
	return v->spill;
}
