#include "ir/plan.h"

const char *const step_names[STEP_COUNT] = {
#define STEP(id, name, what) [STEP_##id] = name,
#include "ir/steps.def"
};

/* The most input tiles that divide them all and fit a block of n times as many. */
static uint32_t block_depth(uint32_t tiles, uint32_t n)
{
	uint32_t k = tiles;
	while (k > 1 && (tiles % k || k * n > MAX_BLOCK_TILES))
		k--;
	return k;
}

WeightBlocks step_blocks(const Step *s, int part)
{
	const uint32_t tiles = (uint32_t)(s->in[part]->layout.planes + 1) / 2;
	const uint32_t n = (uint32_t)s->held;
	return (WeightBlocks){
		.type = (uint32_t)s->weights, .taps = (uint32_t)s->taps, .cin = tiles * TILE,
		.cout = (uint32_t)s->groups * n * TILE, .k = block_depth(tiles, n), .n = n,
	};
}

Window step_window(const Step *s, int axis)
{
	if (s->kind == STEP_CONV) {
		const convAttr *c = &s->op->attr.conv;
		return (Window){ (int)op_in(s->op, 1)->shape.dim[2 + axis], 1,
				 (int)c->dilations.v[axis], (int)c->pads.v[axis] };
	}
	if (s->kind == STEP_MAX_POOL) {
		const poolAttr *p = &s->op->attr.pool;
		return (Window){ (int)p->kernel.v[axis], (int)p->strides.v[axis],
				 (int)p->dilations.v[axis], (int)p->pads.v[axis] };
	}
	return (Window){ 1, 1, 1, 0 };
}

Rows step_reads(const Step *s, Rows out)
{
	if (out.first >= out.end)
		return (Rows){ 0, 0 };
	if (s->kind == STEP_DECONV2)
		return (Rows){ out.first / 2, (out.end + 1) / 2 };
	const Window w = step_window(s, 0);
	return (Rows){ out.first * w.stride - w.pad,
		       (out.end - 1) * w.stride - w.pad + (w.size - 1) * w.dilation + 1 };
}

static void print_tensor(const Plan *p, const PlanTensor *t, FILE *f)
{
	const Layout *l = &t->layout;
	fprintf(f, "tensor %s channels=%d+%d ", t->op->name, t->channel, t->channels);
	Layout shown = *l;
	shown.row = t->band[0].row;
	shown.rows = t->band[0].rows;
	layout_print(&shown, f);
	fprintf(f, " buffer_rows=%d bytes=%lld life=%d..%d\n", t->buffer_rows,
		(long long)t->bytes, t->born, t->dies);
	fprintf(f, "  bands");
	for (int c = 0; c < p->cores; c++)
		fprintf(f, " %d+%d", t->band[c].row, t->band[c].rows);
	fprintf(f, "\n");
}

static void print_step(const Step *s, int i, FILE *f)
{
	fprintf(f, "step %d %s %s", i, step_names[s->kind], s->op->name);
	for (int k = 0; k < s->nin; k++)
		fprintf(f, "%s%s", k ? "," : " in=", s->in[k]->op->name);
	if (s->weights)
		fprintf(f, " held=%d groups=%d phases=%d weights=%lld@0x%x", s->held, s->groups,
			s->phases, (long long)s->weight_bytes, (unsigned)s->weight_address);
	if (s->scratch_bytes)
		fprintf(f, " scratch=%lld@0x%x", (long long)s->scratch_bytes,
			(unsigned)s->scratch_address);
	fprintf(f, "\n");
}

void plan_print(const Plan *p, FILE *f)
{
	fprintf(f, "plan %s target=%s cores=%d grid=%dx%d peak=%lld at step %d\n", p->graph->name,
		p->target->name, p->cores, p->cols, p->rows, (long long)p->peak, p->peak_step);
	for (int i = 0; i < p->ntensors; i++)
		print_tensor(p, p->tensors[i], f);
	for (int i = 0; i < p->nsteps; i++)
		print_step(&p->steps[i], i, f);
}
