/* Ops of the program as those of a project for TT-Metal. */
#include "backend/metal_model.h"

#include <stdlib.h>
#include <string.h>

#include "backend/metal_library.h"
#include "ir/choice.h"

static bool is_edge(const ProgramOp *op)
{
	return op->params >= 0 && op->params == params_find("edge");
}

static bool is_tiles(const ProgramOp *op)
{
	return op->params >= 0 && op->params == params_find("tiles");
}

static int word_of(const ProgramOp *op, const char *field)
{
	return params_field(params_at(op->params), field)->word;
}

/* ---- semaphores: those that an op uses are counted from 0 ---- */

static bool shares_weights(const MetalModel *m, const ProgramOp *op, int core)
{
	const int v = program_runs(op, core, TT_NCRISC);
	if (v < 0 || !is_tiles(op))
		return false;
	const char *name = routine_at(m->p->variants[v].routine)->name;
	return strcmp(name, "weights_fetch") == 0 || strcmp(name, "weights_receive") == 0;
}

static void use(MetalModel *m, MetalOp *op, int id)
{
	int at = 0;
	while (at < op->nsemaphores && op->semaphores[at] < id)
		at++;
	if (at < op->nsemaphores && op->semaphores[at] == id)
		return;
	op->semaphores = arena_grow(m->a, op->semaphores, op->nsemaphores, sizeof id);
	memmove(&op->semaphores[at + 1], &op->semaphores[at],
		(size_t)(op->nsemaphores++ - at) * sizeof id);
	op->semaphores[at] = id;
}

static void find_semaphores(MetalModel *m, MetalOp *op)
{
	for (int c = 0; c < m->p->ncores; c++) {
		if (!shares_weights(m, op->op, c))
			continue;
		const int first =
			(int)program_word(op->op, c, word_of(op->op, "arrived_semaphore"));
		const int fetchers = (int)program_word(op->op, c, word_of(op->op, "fetchers"));
		use(m, op, (int)program_word(op->op, c, word_of(op->op, "credit_semaphore")));
		for (int f = 0; f < (fetchers ? fetchers : 1); f++)
			use(m, op, first + f);
	}
}

static uint32_t renumbered(const MetalOp *op, uint32_t id)
{
	for (int i = 0; i < op->nsemaphores; i++)
		if (op->semaphores[i] == (int)id)
			return (uint32_t)i;
	return 0; /* it is not used */
}

/* ---- words ---- */

MetalWord metal_word_kind(const MetalOp *op, int word)
{
	static const struct {
		const char *field;
		MetalWord kind;
	} kinds[] = { { "fetch_node", METAL_NODE },  { "fetch_nodes", METAL_NODE },
		      { "mcast_first", METAL_NODE }, { "mcast_last", METAL_NODE },
		      { "dram_at", METAL_WEIGHTS },  { "base", METAL_EDGE } };
	const char *name = params_field_of(params_at(op->op->params), word)->name;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].field, name) == 0)
			return kinds[i].kind;
	return METAL_NUMBER;
}

uint32_t metal_word(const MetalOp *op, int core, int word)
{
	const uint32_t value = program_word(op->op, core, word);
	const char *name = params_field_of(params_at(op->op->params), word)->name;
	if (strcmp(name, "slot_bytes") == 0) /* every slot is a buffer of its own */
		return 0;
	if (strcmp(name, "turns") == 0)
		return op->turns;
	if (strcmp(name, "credit_semaphore") == 0 || strcmp(name, "arrived_semaphore") == 0)
		return renumbered(op, value);
	return value;
}

/* ---- what an op is called, and what is said of it ---- */

static char *identifier(Arena *a, const char *text)
{
	char *s = arena_printf(a, "%s%s", *text >= '0' && *text <= '9' ? "_" : "", text);
	for (char *p = s; *p; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_' ||
		      (*p >= '0' && *p <= '9')))
			*p = '_';
	return s;
}

static bool is_taken(const MetalModel *m, const char *name)
{
	for (int i = 0; i < m->nops; i++)
		if (strcmp(m->ops[i].function, name) == 0)
			return true;
	return false;
}

/* Of name and kind, so that ops that come or go elsewhere do not change it. */
static const char *function_name(const MetalModel *m, int index)
{
	const ProgramOp *op = &m->p->ops[index];
	const char *first = identifier(m->a, arena_printf(m->a, "%s_%s", op->name, op->kind));
	const char *name = first;
	for (int i = 2; is_taken(m, name); i++)
		name = arena_printf(m->a, "%s_%d", first, i);
	return name;
}

static const Step *step_of(const MetalModel *m, int op)
{
	for (int i = 0; i < m->plan->nsteps; i++)
		if (!m->plan->steps[i].beside && m->p->last_op[i] >= op)
			return &m->plan->steps[i];
	die("op %d of '%s' is no step's", op, m->p->name);
}

static const char *counted(Arena *a, uint32_t n, const char *what)
{
	return arena_printf(a, "%u %s%s", n, what, n == 1 ? "" : "s");
}

static const char *layout(const MetalModel *m, const MetalOp *op)
{
	if (!m->plan)
		return arena_printf(m->a, "%dx%d cores", m->cols, m->rows);
	const Step *s = step_of(m, op->index);
	const PlanTensor *t = s->out ? s->out : s->in[0].tensor;
	const char *text = arena_printf(
		m->a, "%s, %s of rows, %s of planes on %dx%d cores",
		shard_words[shard_word(t->cut)], counted(m->a, (uint32_t)t->cut.bands, "band"),
		counted(m->a, (uint32_t)t->cut.splits, "split"), m->cols, m->rows);
	if (s->stream.block)
		text = arena_printf(m->a, "%s, act_block_h %d", text,
				    s->stream.block * TILE * s->stream.hold);
	return s->slice ? arena_printf(m->a, "%s, slices of %d rows", text, s->slice) : text;
}

static const char *about(const MetalModel *m, const MetalOp *op)
{
	const char *text = layout(m, op);
	for (int i = 0; i < op->op->ncbs; i++) {
		const ProgramCb *cb = &op->op->cbs[i];
		text = arena_printf(m->a, "%s, cb %d: %s of %u bytes", text, cb->id,
				    counted(m->a, cb->pages, "page"), cb->page_bytes);
	}
	return text;
}

/* ---- the arena, tensors in DRAM, weights ---- */

static void find_room(MetalModel *m)
{
	uint64_t l1 = TT_L1_END, first = UINT64_MAX, end = 0;
	for (int i = 0; i < m->p->nbuffers; i++) {
		const ProgramBuffer *b = &m->p->buffers[i];
		if (b->place == PLACE_L1) {
			l1 = b->address < l1 ? b->address : l1;
			continue;
		}
		first = b->address < first ? b->address : first;
		end = b->address + b->bytes > end ? b->address + b->bytes : end;
	}
	m->l1 = (uint32_t)(l1 / ALIGN_DRAM * ALIGN_DRAM);
	m->dram = end ? first : 0;
	m->dram_bytes = end - m->dram;
}

/* The op that reads it first, and how many others its cores read before. */
static const ProgramOp *reader_of(const MetalModel *m, const ProgramImage *image, int *before)
{
	for (int o = 0; o < m->p->nops; o++) {
		const ProgramOp *op = &m->p->ops[o];
		uint32_t last = 0;
		*before = 0;
		for (int c = 0; is_tiles(op) && c < m->p->ncores; c++) {
			const uint32_t at = program_word(op, c, word_of(op, "dram_at"));
			if (!program_word(op, c, word_of(op, "groups")))
				continue;
			if (at == image->address)
				return op;
			*before += at != last;
			last = at;
		}
		for (int c = 0; c < m->p->ncores; c++)
			for (int i = 0; i < op->cores[c].nmoves; i++)
				if (op->cores[c].moves[i].at == image->address)
					return op;
	}
	die("image '%s' is nobody's", image->name);
}

static uint64_t bytes_of_bank(const ProgramImage *image)
{
	const uint64_t row = (uint64_t)image->page_bytes * TT_DRAM_BANKS;
	if (image->bank || !row)
		die("image '%s' is not in pages over all banks", image->name);
	return (image->bytes + row - 1) / row * image->page_bytes;
}

/* Weights are named for the op that has them first, and counted there. */
static const char *weights_name(const MetalModel *m, const ProgramOp *op, int before)
{
	const char *first = before ? arena_printf(m->a, "%s.%d", op->name, before) : op->name;
	const char *name = first;
	for (int k = 0, n = 2; k < m->nweights; k++)
		if (strcmp(m->weights[k].name, name) == 0)
			name = arena_printf(m->a, "%s+%d", first, n++);
	return name;
}

void metal_weights(MetalModel *m)
{
	const ProgramOp *last = NULL;
	MetalWeights *w = NULL;
	m->weights = arena_array(m->a, MetalWeights, m->p->nimages + 1);
	for (int i = 0; i < m->p->nimages; i++) {
		const ProgramImage *image = &m->p->images[i];
		int before;
		const ProgramOp *op = reader_of(m, image, &before);
		if (is_tiles(op) || op != last || image->address != w->address + w->each) {
			const uint64_t at = w ? w->at + metal_weights_bytes(w) : 0;
			w = &m->weights[m->nweights];
			*w = (MetalWeights){ .name = weights_name(m, op, before), .image = image,
					     .address = image->address, .at = at };
			m->nweights++;
		}
		w->images++;
		w->each += bytes_of_bank(image);
		last = op;
	}
}

uint64_t metal_weights_bytes(const MetalWeights *w)
{
	return (w->each + METAL_PAGE - 1) / METAL_PAGE * METAL_ROW;
}

const MetalWeights *metal_weights_at(const MetalModel *m, uint64_t address)
{
	for (int i = 0; i < m->nweights; i++)
		if (address - m->weights[i].address < m->weights[i].each)
			return &m->weights[i];
	return NULL;
}

/* ---- words of host edges ---- */

static bool is_covered(const MetalModel *m, uint64_t at, int first, int last)
{
	for (int i = 0; i < m->p->nbuffers; i++) {
		const ProgramBuffer *b = &m->p->buffers[i];
		if (b->place == PLACE_L1 && b->first <= last && first <= b->last &&
		    at < b->address + b->bytes && b->address < at + METAL_TURNS_BYTES)
			return true;
	}
	return false;
}

/* The highest place that is free from op `first` to `last`: at the top, or below a buffer. */
static uint32_t free_place(const MetalModel *m, int first, int last)
{
	uint64_t best = 0;
	for (int i = -1; i < m->p->nbuffers; i++) {
		const ProgramBuffer *b = i < 0 ? NULL : &m->p->buffers[i];
		const uint64_t end = b ? b->address / ALIGN_DRAM * ALIGN_DRAM
				       : TT_L1_END / ALIGN_DRAM * ALIGN_DRAM;
		if (b && b->place != PLACE_L1)
			continue;
		const uint64_t at = end - METAL_TURNS_BYTES;
		if (at >= m->l1 && at > best && !is_covered(m, at, first, last))
			best = at;
	}
	return (uint32_t)best;
}

bool metal_turns(const MetalModel *m, const MetalOp *op, uint32_t *at, bool *clear)
{
	*at = free_place(m, 0, m->p->nops - 1);
	*clear = !*at;
	if (*clear)
		*at = free_place(m, op->index, op->index);
	return *at != 0;
}

/* ---- all of it ---- */

static bool has_moves(const ProgramOp *op, int ncores, TtMoveWhen when)
{
	for (int c = 0; c < ncores; c++)
		for (int i = 0; i < op->cores[c].nmoves; i++)
			if (op->cores[c].moves[i].when == when)
				return true;
	return false;
}

static bool has_pushes(const ProgramOp *op, int ncores)
{
	for (int c = 0; c < ncores; c++)
		for (int i = 0; i < op->cores[c].npushes; i++)
			if (op->cores[c].pushes[i].count)
				return true;
	return false;
}

static bool computes(const ProgramOp *op)
{
	return op->variant[TT_TRISC2] >= 0;
}

static bool add_op(MetalModel *m, int index)
{
	MetalOp *op = &m->ops[m->nops];
	const ProgramOp *from = &m->p->ops[index];
	bool clear = false;
	*op = (MetalOp){ .op = from,
			 .index = index,
			 .function = function_name(m, index),
			 .edge = is_edge(from) };
	op->about = about(m, op);
	if (op->edge && !metal_turns(m, op, &op->turns, &clear)) {
		diag_error(m->d, from->loc,
			   "op '%s': no %d bytes of L1 are free for the words of a host "
			   "edge; --l1 can leave some",
			   from->name, METAL_TURNS_BYTES);
		return false;
	}
	op->ready = computes(from) && !op->edge && has_moves(from, m->p->ncores, TT_MOVE_BEFORE);
	op->done = computes(from) && !op->edge &&
		   (has_moves(from, m->p->ncores, TT_MOVE_AFTER) || has_pushes(from, m->p->ncores));
	find_semaphores(m, op);
	if (from->params >= 0)
		metal_values(m, op);
	metal_programs(m, op, clear);
	m->nops += op->nprograms > 0;
	return true;
}

static void find_grid(MetalModel *m)
{
	for (int c = 0; c < m->p->ncores; c++) {
		const ProgramCore *at = &m->p->cores[c];
		m->cols = at->col + 1 > m->cols ? at->col + 1 : m->cols;
		m->rows = at->row + 1 > m->rows ? at->row + 1 : m->rows;
	}
	for (int c = 0; c < m->p->ncores; c++)
		if (m->p->cores[c].col != c % m->cols || m->p->cores[c].row != c / m->cols)
			die("cores of '%s' are not counted row by row", m->p->name);
}

bool metal_model(MetalModel *m)
{
	m->name = identifier(m->a, m->p->name);
	if (strcmp(m->name, "main") == 0) /* there is a main.cpp */
		m->name = "main_net";
	m->ops = arena_array(m->a, MetalOp, m->p->nops + 1);
	m->library = metal_library_hash();
	metal_read_objects(m);
	find_grid(m);
	find_room(m);
	metal_weights(m);
	bool ok = true;
	for (int i = 0; i < m->p->nops; i++)
		ok &= add_op(m, i);
	metal_kernels_close(m);
	return ok && metal_check(m);
}
