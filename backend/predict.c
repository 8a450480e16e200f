#include "backend/predict.h"

#include <string.h>

#include "backend/routines.h"

/* An op as one core sees it. */
typedef struct Seen {
	const Program *p;
	const ProgramOp *op;
	int core;
} Seen;

/* A parameter by name; 0 if the op has no such field. */
static int64_t word(const Seen *s, const char *field, int index)
{
	const ParamField *f = s->op->params < 0 ? NULL
						: params_field(params_at(s->op->params), field);
	return f ? program_word(s->op, s->core, f->word + index) : 0;
}

/* A constant of a variant by name; `otherwise` if it has no such argument. */
static int64_t constant(const ProgramVariant *v, const char *name, int64_t otherwise)
{
	const RoutineArg *args = routine_at(v->routine)->args;
	for (int i = 0; args[i].name; i++)
		if (strcmp(args[i].name, name) == 0)
			return v->args[i];
	return otherwise;
}

static void add_tiles(const Seen *s, Work *w)
{
	w->images = word(s, "more_images", 0) + 1;
	w->rows = word(s, "rows", 0);
	w->cols = word(s, "cols", 0);
	w->taps = word(s, "kernel_h", 0) * word(s, "kernel_w", 0);
	w->pieces = word(s, "segments", 0);
	for (int i = 0; i < w->pieces; i++) {
		w->planes[i] = word(s, "in_planes", i);
		w->k_block[i] = word(s, "k_block", i);
	}
	w->groups = word(s, "groups", 0);
	w->out_planes = word(s, "out_planes", 0);
	w->page_bytes = word(s, "page_bytes", 0);
	w->dram_page = word(s, "dram_page", 0);
}

static void add_edge(const Seen *s, Work *w)
{
	w->edge_rows = word(s, "rows", 0);
	w->edge_planes = word(s, "planes", 0);
	w->channels = word(s, "channels", 0);
	w->width = word(s, "width", 0);
}

static void add_copy(const Seen *s, Work *w)
{
	w->runs = word(s, "count", 0);
	w->run_bytes = word(s, "bytes", 0);
}

static void add_params(const Seen *s, Work *w)
{
	static const struct {
		const char *params;
		void (*add)(const Seen *, Work *);
	} kinds[] = { { "tiles", add_tiles }, { "edge", add_edge }, { "copy", add_copy } };
	for (size_t i = 0; s->op->params >= 0 && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(params_at(s->op->params)->name, kinds[i].params) == 0)
			kinds[i].add(s, w);
}

static void add_constants(const ProgramVariant *v, Work *w)
{
	w->in_type = (DevTypes)constant(v, "in_type", DEV_UNSET);
	w->weight_type = (DevTypes)constant(v, "weight_type", DEV_UNSET);
	w->out_type = (DevTypes)constant(v, "out_type", DEV_UNSET);
	w->n = constant(v, "n", 1);
	w->hold = constant(v, "hold", 1);
	w->phases = constant(v, "phases", 1);
	w->part = constant(v, "part", 0);
	w->parts = constant(v, "parts", 1);
}

/* The cores that push to this one in this op. */
static int64_t pushers(const Seen *s)
{
	int64_t count = 0;
	for (int c = 0; c < s->p->ncores; c++) {
		bool to_me = false;
		for (int i = 0; i < s->op->cores[c].npushes; i++)
			to_me |= s->op->cores[c].pushes[i].core == s->core;
		count += to_me;
	}
	return count;
}

static void add_rows(const Seen *s, Work *w)
{
	enum { ZEROS = 1024 }; /* bytes of TT_ZEROS */
	const ProgramOpCore *on = &s->op->cores[s->core];
	w->pushers = pushers(s);
	for (int i = 0; i < on->nzeros; i++) {
		const ProgramZero *z = &on->zeros[i];
		const int64_t runs = (int64_t)z->count * z->planes;
		w->zeros += runs * ((z->bytes + ZEROS - 1) / ZEROS);
		w->zero_bytes += runs * z->bytes;
	}
	for (int i = 0; i < on->npushes; i++) {
		const ProgramPush *q = &on->pushes[i];
		w->pushes += q->count * work_packets(q->bytes);
		w->push_bytes += (int64_t)q->count * q->bytes;
		w->push_peers += i + 1 == on->npushes || q[1].core != q->core;
	}
}

static WorkId named(const Program *p, int variant)
{
	return variant == VARIANT_NONE ? WORK_none
				       : work_find(routine_at(p->variants[variant].routine)->name);
}

bool predict_work(const Program *p, int op, int core, TtRisc risc, Work *w, WorkId *routine)
{
	const Seen s = { p, &p->ops[op], core };
	const int variant = program_runs(s.op, core, risc);
	*w = (Work){ .n = 1, .hold = 1, .phases = 1, .parts = 1 };
	add_params(&s, w);
	if (risc == TT_BRISC) {
		add_rows(&s, w);
		w->left = op > 0 && p->ops[op - 1].cores[core].npushes > 0;
		w->asked = w->left || w->pushers || w->zeros;
		w->last = op + 1 == p->nops;
	}
	if (variant == VARIANT_NONE)
		return false;
	add_constants(&p->variants[variant], w);
	w->act = risc == TT_TRISC1 ? named(p, s.op->act) : WORK_none;
	*routine = named(p, variant);
	return *routine != WORK_none;
}

Counters *predict_program(Arena *a, const Program *p, uint32_t block_bytes)
{
	Counters *all = arena_array(a, Counters, (int64_t)p->nops * p->ncores);
	for (int op = 0; op < p->nops; op++) {
		for (int core = 0; core < p->ncores; core++) {
			Counters *c = &all[op * p->ncores + core];
			for (int r = 0; r < TT_RISCS; r++) {
				WorkId routine;
				Work w;
				if (predict_work(p, op, core, (TtRisc)r, &w, &routine))
					work_count(routine, &w, c);
				w.block_bytes = block_bytes;
				if (r == TT_BRISC)
					work_count(WORK_lead, &w, c);
			}
		}
	}
	return all;
}
