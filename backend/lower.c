#include "backend/lower.h"

#include <string.h>

enum { WEIGHTS_CB = 0, CREDIT_SEMAPHORE = 0, ARRIVED_SEMAPHORE = 1 };

void lower_set(Lowering *l, ProgramOp *op, int core, const char *field, int index, uint32_t value)
{
	if (core == 0)
		program_set(op, field, index, value);
	program_set_core(l->program, op, core, field, index, value);
}

/* Input pieces: where each lies and what position (0, 0) of a core reads. */
static void set_input(Lowering *l, ProgramOp *op, const Step *s)
{
	program_set(op, "segments", 0, (uint32_t)s->nin);
	for (int i = 0; i < s->nin; i++) {
		const PlanTensor *t = s->in[i];
		const Layout *y = &t->layout;
		program_set(op, "in", i, (uint32_t)y->address);
		program_set(op, "in_pitch", i, (uint32_t)y->pitch);
		program_set(op, "in_height", i, (uint32_t)t->buffer_rows);
		program_set(op, "in_total", i, (uint32_t)y->planes);
		program_set(op, "in_first", i, 0);
		program_set(op, "in_planes", i, (uint32_t)y->planes);
		program_set(op, "in_x", i, (uint32_t)(y->lead - step_window(s, 1).pad));
		program_set(op, "k_block", i, s->weights ? step_blocks(s, i).k : 0);
		for (int c = 0; c < l->plan->cores; c++) {
			const Band *o = &s->out->band[c];
			const Rows r = step_reads(s, (Rows){ o->row, o->row + o->rows });
			lower_set(l, op, c, "in_y", i,
					 (uint32_t)(r.first - t->band[c].first));
		}
	}
}

static void set_output(Lowering *l, ProgramOp *op, const Step *s)
{
	const PlanTensor *t = s->out;
	const Layout *y = &t->layout;
	program_set(op, "out", 0, (uint32_t)y->address);
	program_set(op, "out_pitch", 0, (uint32_t)y->pitch);
	program_set(op, "out_height", 0, (uint32_t)t->buffer_rows);
	program_set(op, "out_total", 0, (uint32_t)y->planes);
	program_set(op, "out_first", 0, 0);
	program_set(op, "out_planes", 0, (uint32_t)y->planes);
	program_set(op, "out_x", 0, (uint32_t)y->lead);
	for (int c = 0; c < l->plan->cores; c++)
		lower_set(l, op, c, "out_y", 0,
				 (uint32_t)(t->band[c].row - t->band[c].first));
}

static void set_window(Lowering *l, ProgramOp *op, const Step *s)
{
	const Window h = step_window(s, 0), w = step_window(s, 1);
	const int half = s->kind == STEP_DECONV2 ? 2 : 1;
	program_set(op, "cols", 0, (uint32_t)(s->out->layout.cols / half));
	program_set(op, "kernel_h", 0, (uint32_t)h.size);
	program_set(op, "kernel_w", 0, (uint32_t)w.size);
	program_set(op, "dilation_h", 0, (uint32_t)h.dilation);
	program_set(op, "dilation_w", 0, (uint32_t)w.dilation);
	program_set(op, "stride_h", 0, (uint32_t)h.stride);
	program_set(op, "stride_w", 0, (uint32_t)w.stride);
	for (int c = 0; c < l->plan->cores; c++)
		lower_set(l, op, c, "rows", 0,
				 (uint32_t)(s->out->band[c].rows / half));
}

/* Core 0 reads the weights and sends them to all others at once. */
static void set_weights(Lowering *l, ProgramOp *op, const Step *s)
{
	const Plan *p = l->plan;
	const uint32_t first = TT_NODE(TT_VIRTUAL, TT_VIRTUAL);
	program_set(op, "groups", 0, (uint32_t)s->groups);
	program_set(op, "weights_cb", 0, WEIGHTS_CB);
	program_set(op, "weights", 0, s->weight_address);
	program_set(op, "page_bytes", 0, (uint32_t)s->page_bytes);
	program_set(op, "pages", 0, (uint32_t)s->groups);
	program_set(op, "dram_bank", 0, 0);
	program_set(op, "dram_at", 0, (uint32_t)lower_weights(l, s));
	program_set(op, "dram_page", 0, DRAM_PAGE);
	program_set(op, "fetch_node", 0, first);
	program_set(op, "mcast_first", 0, first);
	program_set(op, "mcast_last", 0,
		    TT_NODE(TT_VIRTUAL + p->cols - 1, TT_VIRTUAL + p->rows - 1));
	program_set(op, "receivers", 0, (uint32_t)p->cores - 1);
	program_set(op, "credit_semaphore", 0, CREDIT_SEMAPHORE);
	program_set(op, "arrived_semaphore", 0, ARRIVED_SEMAPHORE);
	ProgramCb *cb = program_cb(l->program, op, WEIGHTS_CB);
	cb->address = s->weight_address;
	cb->page_bytes = (uint32_t)s->page_bytes;
	cb->pages = (uint32_t)s->groups;
	if (p->cores == 1) {
		op->variant[TT_NCRISC] = program_variant(l->program, "weights_read", NULL, 0);
		return;
	}
	op->variant[TT_NCRISC] = program_variant(l->program, "weights_receive", NULL, 0);
	program_run_on(op, 0, TT_NCRISC, program_variant(l->program, "weights_fetch", NULL, 0));
}

/* Rows computed at a time from the same weights, where one output tile leaves
 * room for them in half of Dst. */
static uint32_t rows_held(const Lowering *l, const Step *s)
{
	int most = 1;
	for (int c = 0; c < l->plan->cores && s->held == 1; c++)
		most = s->out->band[c].rows > most ? s->out->band[c].rows : most;
	return most < 4 ? (uint32_t)most : 4;
}

static void set_store(Lowering *l, ProgramOp *op, const Step *s, uint32_t n, uint32_t hold)
{
	const uint32_t type = (uint32_t)s->out->layout.type, relu = s->act.kind == OP_RELU;
	if (s->kind == STEP_DECONV2)
		op->variant[TT_TRISC2] = program_variant(l->program, "store_pairs",
							 (uint32_t[]){ type, relu }, 2);
	else
		op->variant[TT_TRISC2] = program_variant(l->program, "store",
							 (uint32_t[]){ type, n, hold, relu }, 4);
}

static void product(Lowering *l, ProgramOp *op, const Step *s)
{
	const uint32_t n = (uint32_t)s->held, phases = (uint32_t)s->phases;
	const uint32_t hold = rows_held(l, s);
	const uint32_t in = (uint32_t)s->in[0]->layout.type;
	op->variant[TT_TRISC0] = program_variant(
		l->program, "conv_unpack", (uint32_t[]){ in, (uint32_t)s->weights, n, hold }, 4);
	op->variant[TT_TRISC1] = program_variant(
		l->program, "conv_math", (uint32_t[]){ n, hold, phases }, 3);
	set_store(l, op, s, n, hold);
	set_weights(l, op, s);
}

static void window(Lowering *l, ProgramOp *op, const Step *s)
{
	const uint32_t in = (uint32_t)s->in[0]->layout.type;
	const uint32_t strided = step_window(s, 1).stride != 1;
	op->variant[TT_TRISC0] = program_variant(l->program, "window_unpack",
						 (uint32_t[]){ in, strided }, 2);
	op->variant[TT_TRISC1] = program_variant(l->program, "window_math", NULL, 0);
	program_set(op, "image_cols", 0, (uint32_t)s->in[0]->layout.cols);
	for (int c = 0; c < l->plan->cores; c++) {
		const Band *o = &s->out->band[c];
		const Rows r = step_reads(s, (Rows){ o->row, o->row + o->rows });
		lower_set(l, op, c, "image_rows", 0, (uint32_t)(r.end - r.first));
	}
	set_store(l, op, s, 1, 1);
}

static void tiles(Lowering *l, const Step *s)
{
	ProgramOp *op = program_op(l->program, s->op->name, step_names[s->kind], "tiles");
	op->nabsorbed = s->op->absorbed.n;
	op->absorbed = s->op->absorbed.v;
	set_window(l, op, s);
	set_input(l, op, s);
	set_output(l, op, s);
	if (s->weights)
		product(l, op, s);
	else
		window(l, op, s);
	if (s->act.kind == OP_SIGMOID)
		op->act = program_variant(l->program, "act_sigmoid", NULL, 0);
	lower_zeros(l, op, s);
	lower_arrivals(l, op, s);
	lower_pushes(l, op, s);
}

static void buffers(Lowering *l)
{
	const Plan *p = l->plan;
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i];
		ProgramBuffer *b = program_buffer(l->program, t->op->name);
		b->place = PLACE_L1;
		b->core = -1;
		b->address = t->layout.address;
		b->bytes = (uint64_t)t->bytes;
		b->first = t->born;
		b->last = t->dies;
	}
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		const bool weights = s->weight_bytes != 0;
		if (!weights && !s->scratch_bytes)
			continue;
		ProgramBuffer *b = program_buffer(
			l->program, arena_printf(l->arena, "%s.%s", s->op->name,
						 weights ? "weights" : "rows"));
		b->place = PLACE_L1;
		b->core = -1;
		b->address = weights ? s->weight_address : s->scratch_address;
		b->bytes = (uint64_t)(weights ? s->weight_bytes : s->scratch_bytes);
		b->first = b->last = i;
	}
}

Program *lower(const Plan *plan)
{
	Arena *a = plan->graph->arena;
	Program *p = program_create(a, plan->graph->name, plan->target->name);
	Lowering l = { .plan = plan, .program = p, .arena = a };
	for (int c = 0; c < plan->cores; c++)
		program_core(p, c % plan->cols, c / plan->cols);
	program_semaphore(p, "weights.credit")->id = CREDIT_SEMAPHORE;
	program_semaphore(p, "weights.arrived")->id = ARRIVED_SEMAPHORE;
	for (int i = 0; i < plan->nsteps; i++) {
		const Step *s = &plan->steps[i];
		if (s->kind == STEP_EDGE_IN)
			lower_edge_in(&l, s);
		else if (s->kind == STEP_EDGE_OUT)
			lower_edge_out(&l, s);
		else
			tiles(&l, s);
	}
	buffers(&l);
	p->dram_free = l.dram;
	return p;
}
