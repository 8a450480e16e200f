#include "backend/predict.h"

#include <string.h>

#include "backend/blocks.h"
#include "backend/routines.h"
#include "ir/mix_table.h"

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

/* Of a row of a host tensor on its way; 0 if the op has none. */
static int64_t row_bytes(const Seen *s, bool fp32)
{
	const bool edge = s->op->params == params_find("edge");
	const int64_t value = tt_host_bytes(fp32 ? TT_HOST_F32 : TT_HOST_BF16);
	return edge ? (value * word(s, "width", 0) + 3) / 4 * 4 : 0;
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

static int64_t or_one(int64_t count) { return count ? count : 1; }

static void add_tiles(const Seen *s, Work *w)
{
	w->images = word(s, "more_images", 0) + 1;
	w->rows = word(s, "rows", 0);
	w->cols = word(s, "cols", 0);
	w->taps = word(s, "kernel_h", 0) * word(s, "kernel_w", 0);
	w->kernel_h = word(s, "kernel_h", 0);
	w->kernel_w = word(s, "kernel_w", 0);
	w->dilation_h = word(s, "dilation_h", 0);
	w->dilation_w = word(s, "dilation_w", 0);
	w->stride_h = word(s, "stride_h", 0);
	w->stride_w = word(s, "stride_w", 0);
	w->image_rows = word(s, "image_rows", 0);
	w->image_cols = word(s, "image_cols", 0);
	w->pad_top = word(s, "pad_top", 0);
	w->pad_left = word(s, "pad_left", 0);
	w->pieces = word(s, "segments", 0);
	for (int i = 0; i < w->pieces; i++) {
		w->planes[i] = word(s, "in_planes", i);
		w->k_block[i] = word(s, "k_block", i);
	}
	for (int i = 0; i < 2; i++)
		w->spread[i] = word(s, "spread", i);
	w->groups = word(s, "groups", 0);
	w->out_planes = word(s, "out_planes", 0);
	w->page_bytes = word(s, "page_bytes", 0);
	w->dram_page = word(s, "dram_page", 0);
	w->dram_first = word(s, "dram_first", 0);
	w->chunks = or_one(word(s, "chunks", 0));
	w->passes = or_one(word(s, "passes", 0));
	w->chunk_blocks = word(s, "chunk_blocks", 0);
	w->block = word(s, "block", 0);
	w->sums = word(s, "sums_pages", 0) > 0;
	w->fetchers = or_one(word(s, "fetchers", 0));
}

/* Bytes of the weights of this core in the images; NULL if they are not known. */
static const uint8_t *weights(const Seen *s, uint64_t bytes)
{
	const uint64_t at = (uint64_t)word(s, "dram_at", 0), first = (uint64_t)word(s, "dram_first", 0);
	for (int i = 0; i < s->p->nimages; i++) {
		const ProgramImage *m = &s->p->images[i];
		if (m->data && m->bank == word(s, "dram_bank", 0) && m->address == at
		    && first + bytes <= m->bytes)
			return m->data + first;
	}
	return NULL;
}

/* The columns of a mix, from its page. */
static void add_mix(const Seen *s, Work *w)
{
	const int64_t count = (w->cols + MIX_RUN - 1) / MIX_RUN * w->kernel_w;
	const uint8_t *page = weights(s, (uint64_t)count * sizeof(MixCol));
	for (int64_t i = 0; page && i < count; i++) {
		MixCol c;
		memcpy(&c, page + i * (int64_t)sizeof c, sizeof c);
		w->mix_pixels += c.pixels;
		w->mix_cut += c.pixels < MIX_RUN;
	}
}

static void add_edge(const Seen *s, Work *w)
{
	w->edge_rows = word(s, "rows", 0);
	w->edge_cols = word(s, "width", 0);
	w->edge_planes = word(s, "planes", 0);
	w->channels = word(s, "channels", 0) - word(s, "channel", 0);
	w->channels = w->channels > 0 ? w->channels : 0;
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

static void add_constants(const Seen *s, const ProgramVariant *v, Work *w)
{
	w->in_type = (DevTypes)constant(v, "in_type", DEV_UNSET);
	w->weight_type = (DevTypes)constant(v, "weight_type", DEV_UNSET);
	w->out_type = (DevTypes)constant(v, "out_type", DEV_UNSET);
	w->a_type = (DevTypes)constant(v, "a_type", DEV_UNSET);
	w->b_type = (DevTypes)constant(v, "b_type", DEV_UNSET);
	w->op = constant(v, "op", 0);
	w->row_bytes = row_bytes(s, constant(v, "fp32", 0));
	w->kind = constant(v, "kind", 0);
	w->pair = constant(v, "pair", 0);
	w->onto = constant(v, "onto", 0);
	w->pixels = constant(v, "pixels", 0);
	w->sum = constant(v, "sum", 0);
	w->mix_across = constant(v, "across", 0);
	w->n = constant(v, "n", 1);
	w->hold = constant(v, "hold", 1);
	w->phases = constant(v, "phases", 1);
}

/* The cores that push rows to this one in this op. */
static int64_t pushers(const Seen *s)
{
	int64_t count = 0;
	for (int c = 0; c < s->p->ncores; c++) {
		bool to_me = false;
		for (int i = 0; i < s->op->cores[c].npushes; i++)
			to_me |= s->op->cores[c].pushes[i].core == s->core
				&& s->op->cores[c].pushes[i].count;
		count += to_me && c != s->core;
	}
	return count;
}

/* Other cores that are told when an op is done. */
static int64_t told(const ProgramOp *op, int core)
{
	const ProgramOpCore *on = &op->cores[core];
	int64_t count = 0;
	for (int i = 0; i < on->npushes; i++)
		count += on->pushes[i].core != core
			&& (i + 1 == on->npushes || on->pushes[i + 1].core != on->pushes[i].core);
	return count;
}

static bool moves_at(const ProgramOp *op, int core, TtMoveWhen when)
{
	bool any = false;
	for (int i = 0; i < op->cores[core].nmoves; i++)
		any |= op->cores[core].moves[i].when == when;
	return any;
}

static void add_moves(const Seen *s, Work *w)
{
	const ProgramOpCore *on = &s->op->cores[s->core];
	for (int i = 0; i < on->nmoves; i++) {
		const ProgramMove *m = &on->moves[i];
		*(m->out ? &w->writes : &w->reads) += m->count * work_packets(m->bytes);
		*(m->out ? &w->write_bytes : &w->read_bytes) += (int64_t)m->count * m->bytes;
		w->asked_dram |= m->out && m->when == TT_MOVE_ALONGSIDE;
	}
	w->before = moves_at(s->op, s->core, TT_MOVE_BEFORE);
	w->after = moves_at(s->op, s->core, TT_MOVE_AFTER);
}

static void add_rows(const Seen *s, Work *w)
{
	const ProgramOpCore *on = &s->op->cores[s->core];
	w->pushers = pushers(s);
	for (int i = 0; i < on->nzeros; i++) {
		const ProgramZero *z = &on->zeros[i];
		const int64_t runs = (int64_t)z->count * z->planes;
		w->zeros += runs * ((z->bytes + TT_ZERO_BYTES - 1) / TT_ZERO_BYTES);
		w->zero_bytes += runs * z->bytes;
	}
	for (int i = 0; i < on->npushes; i++) {
		const ProgramPush *q = &on->pushes[i];
		w->pushes += q->count * work_packets(q->bytes);
		w->push_bytes += (int64_t)q->count * q->bytes;
	}
	w->push_peers = told(s->op, s->core);
}

/* What is around BRISC's routine. At the end of a run nothing is left under way
 * but the first block. */
static void add_lead(const Seen *s, int op, Work *w)
{
	const int nops = s->p->nops;
	const ProgramOp *before = &s->p->ops[(op + nops - 1) % nops];
	add_rows(s, w);
	add_moves(s, w);
	w->next_bytes = blocks_bytes(s->p, (op + 1) % nops, s->core);
	w->asked = w->asked_dram || w->pushers || w->zeros || (op > 0 && told(before, s->core));
	w->last = op + 1 == nops;
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
	*w = (Work){ .n = 1, .hold = 1, .phases = 1, .fetchers = 1 };
	add_params(&s, w);
	if (risc == TT_BRISC)
		add_lead(&s, op, w);
	if (variant == VARIANT_NONE)
		return false;
	add_constants(&s, &p->variants[variant], w);
	w->act = risc == TT_TRISC1 ? named(p, s.op->act) : WORK_none;
	*routine = named(p, variant);
	w->fetcher = *routine == WORK_weights_fetch ? word(&s, "fetcher", 0) : 0;
	w->lanes = *routine == WORK_lanes_math ? 0 : word(&s, "lanes", 0);
	if (*routine == WORK_mix_unpack)
		add_mix(&s, w);
	if (*routine == WORK_weights_read)
		w->fetchers = 1;
	return *routine != WORK_none;
}

Counters *predict_program(Arena *a, const Program *p)
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
				if (r == TT_BRISC)
					work_count(WORK_lead, &w, c);
			}
		}
	}
	return all;
}
