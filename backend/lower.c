#include "backend/lower.h"

#include <string.h>

void lower_set(Lowering *l, ProgramOp *op, int core, const char *field, int index, uint32_t value)
{
	if (core == 0)
		program_set(op, field, index, value);
	program_set_core(l->program, op, core, field, index, value);
}

void lower_run(Lowering *l, ProgramOp *op, TtRisc risc, const char *routine, const uint32_t *args,
	       int nargs)
{
	op->variant[risc] = program_variant(l->program, routine, args, nargs);
}

void lower_step(Lowering *l, const Step *s)
{
	switch (s->kind) {
	case STEP_EDGE_IN:
		lower_edge_in(l, s);
		break;
	case STEP_EDGE_OUT:
		lower_edge_out(l, s);
		break;
	case STEP_CONV:
	case STEP_DECONV2:
		lower_conv(l, s);
		break;
	case STEP_MAX_POOL:
	case STEP_UNARY:
		lower_pool(l, s);
		break;
	case STEP_REDUCE:
		lower_reduce(l, s);
		break;
	case STEP_NORM:
		lower_norm(l, s);
		break;
	case STEP_LANES:
		lower_lanes(l, s);
		break;
	case STEP_MIX:
		lower_mix(l, s);
		break;
	case STEP_CHANNEL:
		lower_channel(l, s);
		break;
	case STEP_BINARY:
	case STEP_PAIR:
		lower_binary(l, s);
		break;
	case STEP_CONSTANT:
		lower_constant(l, s);
		break;
	case STEP_RESHARD:
		lower_reshard(l, s);
		break;
	case STEP_SPILL:
	case STEP_REFILL:
		if (!l->image)
			lower_move_step(l, NULL, s);
		break;
	case STEP_COUNT:
		break;
	}
}

static ProgramBuffer *buffer(Lowering *l, const char *name, uint64_t address, int64_t bytes)
{
	ProgramBuffer *b = program_buffer(l->program, name);
	b->place = PLACE_L1;
	b->core = -1;
	b->address = address;
	b->bytes = (uint64_t)bytes;
	return b;
}

static void buffers(Lowering *l)
{
	const Plan *p = l->plan;
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i];
		if (t->layout.place == PLACE_DRAM)
			continue;
		ProgramBuffer *b = buffer(l, t->name, t->layout.address, t->bytes);
		b->first = l->first_op[t->born];
		b->last = l->last_op[t->dies];
	}
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		const bool weights = s->weight_bytes != 0;
		if (!weights && !s->scratch_bytes)
			continue;
		ProgramBuffer *b = buffer(l, arena_printf(l->arena, "%s.%s%d", s->op->name,
							  weights ? "weights" : "rows", i),
					  weights ? s->weight_address : s->scratch_address,
					  weights ? s->weight_bytes : s->scratch_bytes);
		b->first = l->first_op[i] - (weights && s->stream.early);
		b->last = l->last_op[i];
		if (!s->stream.sums_bytes)
			continue;
		b = buffer(l, arena_printf(l->arena, "%s.sums%d", s->op->name, i),
			   s->stream.sums_address, s->stream.sums_bytes);
		b->first = l->first_op[i];
		b->last = l->last_op[i];
	}
}

void lower_images(Lowering *l, const Step *s)
{
	const int images = (s->out ? s->out : s->in[0].tensor)->images;
	for (l->image = 0; l->image < images; l->image += l->images) {
		l->images = 1;
		lower_step(l, s);
	}
}

/* Without folders: what comes of a model does not depend on where it lies. */
static const char *source(Arena *a, Loc at)
{
	if (!at.file)
		return NULL;
	const char *slash = strrchr(at.file, '/'), *file = slash ? slash + 1 : at.file;
	if (at.line)
		return arena_printf(a, "%s:%d:%d", file, at.line, at.col);
	return at.node ? arena_printf(a, "%s: %s", file, at.node) : file;
}

/* The source map: ops from `first` on are those of the step. */
static void map_source(Program *p, int first, const Step *s)
{
	for (int i = first; i < p->nops; i++) {
		p->ops[i].nabsorbed = s->op->absorbed.n;
		p->ops[i].absorbed = s->op->absorbed.v;
		p->ops[i].source = source(p->arena, s->op->loc);
	}
}

Program *lower(const Plan *plan)
{
	Arena *a = plan->graph->arena;
	Program *p = program_create(a, plan->graph->name, plan->target->name);
	Lowering l = { .plan = plan, .program = p, .arena = a };
	l.first_op = arena_array(a, int, plan->nsteps + 1);
	l.last_op = arena_array(a, int, plan->nsteps + 1);
	for (int c = 0; c < plan->cores; c++)
		program_core(p, c % plan->cols, c / plan->cols);
	lower_semaphores(&l);
	lower_dram_begin(&l);
	for (int i = 0; i < plan->nsteps; i++) {
		const Step *s = &plan->steps[i];
		l.first_op[i] = l.last_op[i] = p->nops;
		l.step = s;
		if (s->beside)
			continue;
		if (s->slice)
			lower_streamed(&l, s);
		else
			lower_images(&l, s);
		l.last_op[i] = p->nops - 1;
		map_source(p, l.first_op[i], s);
		for (int k = i - 1; k >= 0 && plan->steps[k].beside; k--)
			lower_move_step(&l, &p->ops[l.first_op[i]], &plan->steps[k]);
	}
	lower_dram_place(&l);
	buffers(&l);
	p->dram_free = l.dram;
	p->last_op = l.last_op;
	return p;
}
