/*
 * Host tensors in DRAM, and the steps that turn their rows into planes and
 * back. Both data-movement RISC-Vs share the rows.
 */
#include "backend/lower.h"

#include <string.h>

/* A DRAM tensor of two slots; a row of a channel is a page. */
static ProgramTensor host_tensor(Lowering *l, int64_t channels, int64_t height, int64_t width)
{
	const uint32_t page = (uint32_t)((width * 4 + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM);
	const int64_t pages = (channels * height + TT_DRAM_BANKS - 1) / TT_DRAM_BANKS;
	const uint64_t slot = (uint64_t)pages * page;
	return (ProgramTensor){
		.shape = { 1, channels, height, width }, .page_bytes = page, .slot_bytes = slot,
		.base = lower_dram_all(l, 2 * slot),
	};
}

/* The rows each core moves are given by `rows`. */
static void edge_params(ProgramOp *op, const Step *s, const ProgramTensor *host,
			const PlanTensor *t)
{
	const Layout *y = &t->layout;
	program_set(op, "base", 0, (uint32_t)host->base);
	program_set(op, "slot_bytes", 0, (uint32_t)host->slot_bytes);
	program_set(op, "page_bytes", 0, host->page_bytes);
	program_set(op, "channels", 0, (uint32_t)host->shape[1]);
	program_set(op, "height", 0, (uint32_t)host->shape[2]);
	program_set(op, "width", 0, (uint32_t)host->shape[3]);
	program_set(op, "batch", 0, 0);
	program_set(op, "at", 0, (uint32_t)y->address);
	program_set(op, "pitch", 0, (uint32_t)y->pitch);
	program_set(op, "buffer_height", 0, (uint32_t)t->buffer_rows);
	program_set(op, "total", 0, (uint32_t)y->planes);
	program_set(op, "first", 0, 0);
	program_set(op, "planes", 0, (uint32_t)y->planes);
	program_set(op, "x", 0, (uint32_t)y->lead);
	program_set(op, "scratch", 0, s->scratch_address);
}

static void edge_rows(Lowering *l, ProgramOp *op, int core, const Band *b, Rows r)
{
	lower_set(l, op, core, "row", 0, (uint32_t)r.first);
	lower_set(l, op, core, "rows", 0, (uint32_t)(r.end - r.first));
	lower_set(l, op, core, "y", 0, (uint32_t)(r.first - b->first));
}

static void both_riscs(Lowering *l, ProgramOp *op, const char *routine, const PlanTensor *t)
{
	const uint32_t type = (uint32_t)t->layout.type;
	const bool in = strcmp(routine, "edge_in") == 0;
	for (uint32_t part = 0; part < 2; part++) {
		const uint32_t args[] = { type, part, 2 };
		op->variant[part ? TT_NCRISC : TT_BRISC] =
			program_variant(l->program, routine, in ? args + 1 : args, in ? 2 : 3);
	}
}

/* The caller's array is transposed by the input's perm. */
static ProgramView input_view(const Op *op)
{
	const Ints *perm = &op->attr.input.perm;
	const Shape caller = op_callers_shape(op);
	ProgramView v = { 0 };
	if (!perm->n)
		return v;
	int64_t strides[MAX_RANK];
	shape_strides(op->shape, strides);
	v.rank = caller.rank;
	for (int i = 0; i < caller.rank; i++) {
		v.dims[i] = caller.dim[i];
		v.strides[perm->v[i]] = strides[i];
	}
	return v;
}

void lower_edge_in(Lowering *l, const Step *s)
{
	const PlanTensor *t = s->out;
	const Shape caller = op_callers_shape(s->op);
	const int64_t *dim = s->op->shape.dim;
	ProgramEdge *edge = program_input(l->program, s->op->name, s->op->dtype, caller);
	ProgramPart *part = program_part(l->program, edge, caller);
	const ProgramTensor host = host_tensor(l, dim[1], dim[2], dim[3]);
	part->tensor = host;
	part->view = input_view(s->op);
	ProgramOp *op = program_op(l->program, s->op->name, step_names[s->kind], "edge");
	edge_params(op, s, &host, t);
	for (int c = 0; c < l->plan->cores; c++) {
		const Band *b = &t->band[c];
		const int first = b->first < 0 ? 0 : b->first;
		const int end = b->end > dim[2] ? (int)dim[2] : b->end;
		edge_rows(l, op, c, b, (Rows){ first, end });
	}
	both_riscs(l, op, "edge_in", t);
	lower_zeros(l, op, s);
}

/* The output of this op, made when its first part comes. */
static ProgramEdge *output_of(Lowering *l, const Step *s)
{
	Program *p = l->program;
	if (s->op == l->output)
		return &p->outputs[p->noutputs - 1];
	const char *name = s->op->node ? s->op->node : s->op->name; /* the model's */
	ProgramEdge *edge = program_output(p, name, s->op->dtype, s->op->shape);
	const bool view = op_in(s->op, 0)->kind == OP_VIEW; /* of any rank */
	edge->axis = s->op->nin > 1 ? (int)s->op->attr.axis.axis : !view;
	l->output = s->op;
	return edge;
}

/* A look at what an output reads; none if it reads the tensor as it is. */
static ProgramView output_view(const Op *from)
{
	ProgramView v = { 0 };
	if (from->kind != OP_VIEW)
		return v;
	const viewAttr *a = &from->attr.view;
	v.rank = a->dims.n;
	v.offset = a->offset;
	for (int i = 0; i < v.rank; i++) {
		v.dims[i] = a->dims.v[i];
		v.strides[i] = a->strides.v[i];
	}
	return v;
}

void lower_edge_out(Lowering *l, const Step *s)
{
	const PlanTensor *t = s->in[0];
	const Op *from = op_in(s->op, s->from);
	const int64_t *dim = t->op->shape.dim;
	ProgramEdge *edge = output_of(l, s);
	Shape shape = from->shape;
	if (from->kind != OP_VIEW)
		shape.dim[1] = t->channels;
	ProgramPart *part = program_part(l->program, edge, shape);
	const ProgramTensor host = host_tensor(l, t->channels, dim[2], dim[3]);
	part->tensor = host;
	part->view = output_view(from);
	ProgramOp *op = program_op(l->program, s->op->name, step_names[s->kind], "edge");
	edge_params(op, s, &host, t);
	for (int c = 0; c < l->plan->cores; c++)
		edge_rows(l, op, c, &t->band[c],
			  (Rows){ t->band[c].row, t->band[c].row + t->band[c].rows });
	both_riscs(l, op, "edge_out", t);
}
