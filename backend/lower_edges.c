/*
 * Host tensors in DRAM, and the steps that turn their rows into planes and
 * back. All RISC-Vs of a core have a share in it.
 */
#include "backend/lower.h"

#include <string.h>

_Static_assert(EDGE_SLOTS == (int)TT_EDGE_SLOTS, "slots of the scratch");
_Static_assert(DEV_BF16 == (int)TT_TYPE_BF16 && DEV_BFP8_B == (int)TT_TYPE_BFP8_B
	       && DEV_F32 == (int)TT_TYPE_FP32, "types of planes");

/* A DRAM tensor of two slots; a row of a channel is a page. */
static ProgramTensor host_tensor(Lowering *l, TtHost stored, int64_t images, int64_t channels,
				 int64_t height, int64_t width)
{
	const int64_t row = width * tt_host_bytes(stored);
	const uint32_t page = (uint32_t)((row + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM);
	const int64_t pages = (images * channels * height + TT_DRAM_BANKS - 1) / TT_DRAM_BANKS;
	const uint64_t slot = (uint64_t)pages * page;
	return (ProgramTensor){
		.shape = { images, channels, height, width },
		.stored = stored, .page_bytes = page, .slot_bytes = slot,
		.base = lower_dram_all(l, 2 * slot),
	};
}

/* What is the same on all cores. */
static void edge_params(Lowering *l, ProgramOp *op, const Step *s, const ProgramTensor *host,
			const PlanTensor *t)
{
	const Layout *y = &t->layout;
	program_set(op, "base", 0, (uint32_t)host->base);
	program_set(op, "slot_bytes", 0, (uint32_t)host->slot_bytes);
	program_set(op, "page_bytes", 0, host->page_bytes);
	program_set(op, "channels", 0, (uint32_t)host->shape[1]);
	program_set(op, "height", 0, (uint32_t)host->shape[2]);
	program_set(op, "width", 0, (uint32_t)host->shape[3]);
	program_set(op, "batch", 0, (uint32_t)(s->image + l->image));
	program_set(op, "at", 0, (uint32_t)y->address);
	program_set(op, "pitch", 0, (uint32_t)y->pitch);
	program_set(op, "buffer_height", 0, (uint32_t)t->buffer_rows);
	program_set(op, "total", 0, (uint32_t)tensor_buffer_planes(t));
	program_set(op, "x", 0, (uint32_t)y->lead);
	program_set(op, "scratch", 0, s->scratch_address);
	program_set(op, "turns", 0, TT_EDGE_TURNS);
}

/* A region of the tensor; `plane` is the one whose first channel is the host
 * tensor's first. */
static void edge_region(Lowering *l, ProgramOp *op, int core, const PlanTensor *t, Region r,
			int plane)
{
	const bool idle = region_empty(r);
	const Region *keep = &t->shard[core].keep;
	lower_set(l, op, core, "row", 0, idle ? 0 : (uint32_t)r.rows.first);
	lower_set(l, op, core, "rows", 0, idle ? 0 : (uint32_t)range_count(r.rows));
	lower_set(l, op, core, "y", 0, idle ? 0 : (uint32_t)(r.rows.first - keep->rows.first));
	lower_set(l, op, core, "first", 0,
		  idle ? 0 : lower_plane(t, core, 0, l->image, r.planes.first));
	lower_set(l, op, core, "planes", 0, idle ? 0 : (uint32_t)range_count(r.planes));
	lower_set(l, op, core, "channel", 0,
		  idle ? 0 : (uint32_t)(PLANE * (r.planes.first - plane)));
}

/* One RISC-V moves rows, the others have a part of the columns each. DRAM is read
 * over NoC 0, which is NCRISC's, and written over NoC 1. */
static void share(Lowering *l, ProgramOp *op, bool in, const PlanTensor *t)
{
	const TtRisc mover = in ? TT_NCRISC : TT_BRISC;
	const uint32_t parts = TT_RISCS - 1;
	uint32_t args[] = { (uint32_t)t->layout.type, 0, parts };
	const uint32_t moved[] = { parts, t->layout.type == DEV_F32 };
	op->variant[mover] = in ? program_variant(l->program, "edge_read", moved, 1)
				: program_variant(l->program, "edge_write", moved, 2);
	for (int r = 0; r < TT_RISCS; r++) {
		if (r == (int)mover)
			continue;
		op->variant[r] = in ? program_variant(l->program, "edge_in", args + 1, 2)
				    : program_variant(l->program, "edge_out", args, 3);
		args[1]++;
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

/* The host's tensor of an input or part of an output, made for the first image. */
static ProgramPart *host_part(Lowering *l, ProgramEdge *edge, Shape shape, const PlanTensor *t,
			      int channels)
{
	ProgramPart *part = program_part(l->program, edge, shape);
	part->tensor = host_tensor(l, t->layout.type == DEV_F32 ? TT_HOST_F32 : TT_HOST_BF16,
				   t->op->shape.dim[0], channels, t->height, t->layout.cols);
	return part;
}

static const ProgramTensor *input_tensor(Lowering *l, const Step *s)
{
	Program *p = l->program;
	for (int i = 0; i < p->ninputs; i++)
		if (strcmp(p->inputs[i].name, s->op->name) == 0)
			return &p->inputs[i].parts[0].tensor;
	const Shape caller = op_callers_shape(s->op);
	ProgramEdge *edge = program_input(p, s->op->name, s->op->dtype, caller);
	ProgramPart *part = host_part(l, edge, caller, s->out, (int)s->op->shape.dim[1]);
	part->view = input_view(s->op);
	return &part->tensor;
}

void lower_edge_in(Lowering *l, const Step *s)
{
	const PlanTensor *t = s->out;
	const ProgramTensor host = *input_tensor(l, s);
	ProgramOp *op = program_op(l->program, s->op->name, step_names[s->kind], "edge");
	edge_params(l, op, s, &host, t);
	for (int c = 0; c < l->plan->cores; c++) {
		Region r = t->shard[c].keep;
		r.rows = range_both(r.rows, (Range){ 0, t->height });
		edge_region(l, op, c, t, r, -t->channel / PLANE);
	}
	share(l, op, true, t);
	if (l->image == 0)
		lower_zeros(l, op, s);
}

/* The output of this op, made when its first part comes. */
static ProgramEdge *output_of(Lowering *l, const Step *s)
{
	Program *p = l->program;
	const char *name = s->op->node ? s->op->node : s->op->name; /* the model's */
	for (int i = 0; i < p->noutputs; i++)
		if (p->outputs[i].name == name)
			return &p->outputs[i];
	ProgramEdge *edge = program_output(p, name, s->op->dtype, s->op->shape);
	const bool view = op_in(s->op, 0)->kind == OP_VIEW; /* of any rank */
	edge->axis = s->op->nin > 1 ? (int)s->op->attr.axis.axis : !view;
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
	if (!v.rank) { /* one element: of rank 0 a view is none */
		v.rank = 1;
		v.dims[0] = v.strides[0] = 1;
	}
	for (int i = 0; i < a->dims.n; i++) {
		v.dims[i] = a->dims.v[i];
		v.strides[i] = a->strides.v[i];
	}
	return v;
}

static const ProgramTensor *output_tensor(Lowering *l, const Step *s)
{
	const Op *from = op_in(s->op, s->from);
	ProgramEdge *edge = output_of(l, s);
	if (s->piece < edge->nparts)
		return &edge->parts[s->piece].tensor;
	Shape shape = from->shape;
	if (from->kind != OP_VIEW)
		shape.dim[1] = s->in[0].channels;
	ProgramPart *part = host_part(l, edge, shape, s->in[0].tensor, s->in[0].channels);
	part->view = output_view(from);
	return &part->tensor;
}

void lower_edge_out(Lowering *l, const Step *s)
{
	const Part *in = &s->in[0];
	const PlanTensor *t = in->tensor;
	const ProgramTensor host = *output_tensor(l, s);
	ProgramOp *op = program_op(l->program, s->op->name, step_names[s->kind], "edge");
	edge_params(l, op, s, &host, t);
	for (int c = 0; c < l->plan->cores; c++) {
		Region r = t->shard[c].own;
		r.planes = range_both(r.planes, (Range){ in->plane, in->plane + part_planes(in) });
		edge_region(l, op, c, t, r, in->plane);
	}
	share(l, op, false, t);
}
