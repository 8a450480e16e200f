/* An op in NAME.cpp: a function that says what its programs are made of. */
#include <stdlib.h>
#include <string.h>

#include "backend/metal_print.h"

enum { LARGEST_COUNT = 0xffff };

static const char *cores(Arena *a, MetalCores c)
{
	return c.every == 1 ? metal_spell(a, LINE_CORES, c.first, c.last)
			    : metal_spell(a, LINE_CORES_APART, c.first, c.last, c.every);
}

static const char *core_sets(Arena *a, const MetalPlace *p)
{
	const char *text = "{";
	for (int i = 0; i < p->ncores; i++)
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "", cores(a, p->cores[i]));
	return arena_printf(a, "%s}", text);
}

/* ---- words ---- */

/* The tensor of the host that starts there. */
static const char *host_tensor(const MetalModel *m, const MetalOp *op, uint32_t base)
{
	const bool in = strcmp(op->op->kind, "edge_in") == 0;
	const ProgramEdge *edges = in ? m->p->inputs : m->p->outputs;
	for (int i = 0; i < (in ? m->p->ninputs : m->p->noutputs); i++)
		for (int k = 0; k < edges[i].nparts; k++)
			if (edges[i].parts[k].tensor.base == base)
				return metal_spell(m->a, in ? LINE_INPUT_AT : LINE_OUTPUT_AT,
						   metal_tensor_name(m, edges, i, k));
	die("op '%s' is at no tensor of the host", op->op->name);
}

static const char *number(Arena *a, const ParamField *field, uint32_t value)
{
	return metal_spell(a, field->most > LARGEST_COUNT && value ? LINE_HEX : LINE_NUMBER, value);
}

static const char *value_text(const MetalModel *m, const MetalOp *op, int word, uint32_t value)
{
	const ParamField *field = params_field_of(params_at(op->op->params), word);
	switch (metal_word_kind(op, word)) {
	case METAL_EDGE:
		return host_tensor(m, op, value);
	case METAL_NODE:
		return value ? metal_spell(m->a, LINE_NODE, (int)(value >> 4 & 63) - TT_VIRTUAL,
					   (int)(value >> 10 & 63) - TT_VIRTUAL)
			     : "0";
	case METAL_WEIGHTS: {
		const MetalWeights *w = metal_weights_at(m, value);
		return w ? metal_spell(m->a, LINE_WEIGHTS, w->name) : number(m->a, field, value);
	}
	case METAL_NUMBER:
		break;
	}
	return number(m->a, field, value);
}

/* Has the host to look it up even if it is 0? */
static bool is_address(const MetalModel *m, const MetalOp *op, int word)
{
	const MetalWord kind = metal_word_kind(op, word);
	return kind == METAL_EDGE ||
	       (kind == METAL_WEIGHTS &&
		program_word(op->op, 0, params_field(params_at(op->op->params), "groups")->word) &&
		m->nweights);
}

static const char *struct_name(const MetalModel *m, const MetalOp *op)
{
	const char *name = params_at(op->op->params)->name;
	return arena_printf(m->a, "Tt%c%s", *name - 'a' + 'A', name + 1);
}

static void print_common(MetalWriter *w, const MetalModel *m, const MetalOp *op)
{
	const ParamStruct *s = params_at(op->op->params);
	for (int word = 0; word < s->words; word++) {
		const ParamField *field = params_field_of(s, word);
		const uint32_t value = metal_word(op, 0, word);
		if (!value && !is_address(m, op, word))
			continue;
		metal_line(w, LINE_SET,
			   field->count == 1
				   ? field->name
				   : arena_printf(m->a, "%s[%d]", field->name, word - field->word),
			   value_text(m, op, word, value));
	}
}

static void print_value(MetalWriter *w, const MetalModel *m, const MetalOp *op, const MetalValue *v)
{
	const ParamField *field = params_field_of(params_at(op->op->params), v->word);
	const char *on = cores(m->a, v->cores), *type = struct_name(m, op);
	const char *value = value_text(m, op, v->word, v->value);
	const char *step = (int32_t)v->step < 0 ? arena_printf(m->a, "%d", (int32_t)v->step)
						: number(m->a, field, v->step);
	const int at = v->word - field->word;
	if (field->count == 1 && v->step)
		metal_line(w, LINE_SET_RISING_ON, on, type, field->name, value, step);
	else if (field->count == 1)
		metal_line(w, LINE_SET_ON, on, type, field->name, value);
	else if (v->step)
		metal_line(w, LINE_SET_RISING_AT, on, type, field->name, at, value, step);
	else
		metal_line(w, LINE_SET_AT, on, type, field->name, at, value);
}

static void print_params(MetalWriter *w, const MetalModel *m, const MetalOp *op)
{
	if (op->op->params < 0)
		return;
	metal_line(w, LINE_PARAMS_OF, struct_name(m, op));
	print_common(w, m, op);
	for (int i = 0; i < op->nvalues; i++)
		print_value(w, m, op, &op->values[i]);
}

/* ---- lists ---- */

static void print_zero(MetalWriter *w, Arena *a, const MetalItem *x)
{
	const TtZero *z = &x->zero;
	const char *times = z->count == 1 ? "" : metal_spell(a, LINE_TIMES, z->count, z->step);
	const char *planes =
		z->planes == 1 ? "" : metal_spell(a, LINE_PLANES, z->planes, z->plane_step);
	metal_line(w, LINE_ZERO, cores(a, x->cores), z->at, z->bytes, times, planes);
}

static const char *along(Arena *a, const MetalItem *x)
{
	return x->along ? metal_spell(a, LINE_ALONG, x->along) : "";
}

static void print_push(MetalWriter *w, Arena *a, const MetalItem *x)
{
	const TtPush *p = &x->push.rows;
	const char *also = x->push.also ? metal_spell(a, LINE_ALSO, x->push.also) : "";
	const char *times = p->target == 1 ? ""
		: p->from_step == p->to_step ? metal_spell(a, LINE_TIMES, p->target, p->to_step)
		: metal_spell(a, LINE_PUSH_TIMES, p->target, p->from_step, p->to_step);
	const char *values = !x->push.block ? ""
		: metal_spell(a, LINE_PUSH_VALUES, p->values_from, p->values_to);
	metal_line(w, LINE_PUSH, cores(a, x->cores), x->push.to, along(a, x), also, p->from, p->to,
		   p->bytes, times, values);
}

static void print_move(MetalWriter *w, const MetalModel *m, const MetalItem *x)
{
	static const char *const times[TT_MOVE_TIMES] = { "TT_MOVE_BEFORE", "TT_MOVE_ALONGSIDE",
							  "TT_MOVE_AFTER" };
	const TtMove *v = &x->move;
	const uint32_t at = (uint32_t)(v->at - (x->from ? x->from->address : m->dram));
	const char *from = !x->from ? metal_spell(m->a, LINE_DRAM, at)
		: at ? metal_spell(m->a, LINE_WEIGHTS_BEHIND, x->from->name, at)
		     : metal_spell(m->a, LINE_WEIGHTS, x->from->name);
	metal_line(w, LINE_MOVE, v->how & TT_MOVE_OUT ? "write" : "read", cores(m->a, x->cores),
		   times[v->how & TT_MOVE_WHEN]);
	w->depth++;
	metal_line(w, LINE_MOVE_DRAM, (int)(v->how >> TT_MOVE_BANK), from, v->page_bytes,
		   along(m->a, x));
	metal_line(w, v->count == 1 ? LINE_MOVE_L1 : LINE_MOVE_L1_OF, v->l1, v->bytes);
	if (v->count != 1)
		metal_line(w, LINE_MOVE_TIMES, v->count, v->step);
	w->depth--;
}

static void print_items(MetalWriter *w, const MetalModel *m, const MetalProgram *p)
{
	for (int i = 0; i < p->nitems; i++) {
		switch (p->items[i].kind) {
		case METAL_ZERO:
			print_zero(w, m->a, &p->items[i]);
			break;
		case METAL_PUSH:
			print_push(w, m->a, &p->items[i]);
			break;
		case METAL_MOVE:
			print_move(w, m, &p->items[i]);
			break;
		}
	}
}

/* ---- programs ---- */

static void print_kernels(MetalWriter *w, const MetalModel *m, const MetalOp *op,
			  const MetalProgram *p)
{
	static const char *const kinds[METAL_KINDS] = { "compute", "reader", "writer" };
	for (int i = 0; i < p->nplaces; i++) {
		const MetalKernel *k = &m->kernels[p->places[i].kernel];
		metal_line(w,
			   metal_params_words(op, &k->code) ? LINE_KERNEL_PLACED
							    : LINE_KERNEL_LISTS,
			   kinds[k->code.kind], core_sets(m->a, &p->places[i]), k->stem);
	}
}

static void print_program(MetalWriter *w, const MetalModel *m, const MetalOp *op,
			  const MetalProgram *p)
{
	for (int i = 0; p->main && i < op->op->ncbs; i++) {
		const ProgramCb *cb = &op->op->cbs[i];
		metal_line(w, LINE_CB, cb->id, cb->address, cb->page_bytes, cb->pages);
	}
	if (p->main && op->ready)
		metal_line(w, LINE_READY);
	if (p->main && op->done)
		metal_line(w, LINE_DONE);
	if (p->main && op->nsemaphores)
		metal_line(w, LINE_SEMAPHORES, op->nsemaphores);
	if (p->main)
		print_params(w, m, op);
	print_kernels(w, m, op, p);
	print_items(w, m, p);
}

void metal_print_op(MetalWriter *w, const MetalModel *m, const MetalOp *op)
{
	metal_line(w, LINE_COMMENT);
	metal_print_about(w, m, op);
	metal_line(w, LINE_COMMENT_END);
	metal_line(w, op->edge ? LINE_OP_OF_SLOT : LINE_OP, op->function);
	metal_line(w, LINE_BEGIN);
	metal_line(w, LINE_OP_BEGIN, op->op->name);
	metal_line(w, LINE_OP_KIND, op->op->kind, op->op->source ? op->op->source : "");
	for (int i = 0; i < op->nprograms; i++) {
		if (i)
			metal_line(w, LINE_NEXT);
		print_program(w, m, op, &op->programs[i]);
	}
	metal_line(w, LINE_END);
	metal_line(w, LINE_EMPTY);
}
