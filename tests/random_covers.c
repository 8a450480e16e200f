#include "tests/random_covers.h"

#include <stdio.h>

static void see(Covers *c, CoverId id, bool seen) { c->seen[id] += seen; }

static void strides(Covers *c, Ints s)
{
	static const CoverId by[] = { COVER_stride_1, COVER_stride_2, COVER_stride_3,
				      COVER_stride_4 };
	for (int i = 0; i < s.n; i++)
		if (s.v[i] <= 4)
			c->seen[by[s.v[i] - 1]]++;
	see(c, COVER_stride_mixed, s.n == 2 && s.v[0] != s.v[1]);
}

static void pads(Covers *c, Ints p)
{
	see(c, COVER_pads_uneven, p.n == 4 && (p.v[0] != p.v[2] || p.v[1] != p.v[3]));
}

static void conv(Covers *c, const Op *op)
{
	const convAttr *a = &op->attr.conv;
	const Shape w = op_in(op, 1)->shape;
	const int64_t groups = a->groups, ins = op_in(op, 0)->shape.dim[1];
	const bool deep = op->kind == OP_CONV && groups > 1 && groups == ins;
	if (op->kind == OP_CONV)
		strides(c, a->strides);
	else
		see(c, COVER_deconv_stride, !ints_all(a->strides, 1));
	pads(c, a->pads);
	see(c, COVER_dilation, !ints_all(a->dilations, 1));
	see(c, COVER_groups, op->kind == OP_CONV && groups > 1 && groups < ins);
	see(c, COVER_deconv_groups, op->kind == OP_CONV_TRANSPOSE && groups > 1);
	see(c, COVER_depthwise, deep && op->shape.dim[1] == ins);
	see(c, COVER_multiplied, deep && op->shape.dim[1] > ins);
	see(c, COVER_kernel_even, w.dim[2] % 2 == 0 || w.dim[3] % 2 == 0);
	see(c, COVER_kernel_large, w.dim[2] >= 5 || w.dim[3] >= 5);
}

static void image(Covers *c, Shape s)
{
	see(c, COVER_one_pixel, s.dim[2] == 1 && s.dim[3] == 1);
	see(c, COVER_one_row, s.dim[2] == 1 && s.dim[3] > 1);
	see(c, COVER_one_column, s.dim[2] > 1 && s.dim[3] == 1);
	see(c, COVER_ragged_width, s.dim[3] % 32 != 0);
	see(c, COVER_channels_1, s.dim[1] == 1);
	see(c, COVER_channels_odd, s.dim[1] % 2 == 1);
	see(c, COVER_channels_1000, s.dim[1] >= 1000);
	see(c, COVER_channels_4000, s.dim[1] >= 4000);
}

static void op_seen(Covers *c, const Op *op)
{
	c->ops[op->kind]++;
	if (op->kind != OP_CONSTANT && op->shape.rank == 4)
		image(c, op->shape);
	if (op->kind == OP_CONV || op->kind == OP_CONV_TRANSPOSE)
		conv(c, op);
	if (op->kind == OP_MAX_POOL || op->kind == OP_AVG_POOL) {
		strides(c, op->attr.pool.strides);
		pads(c, op->attr.pool.pads);
		see(c, COVER_dilation_pool, !ints_all(op->attr.pool.dilations, 1));
		see(c, COVER_ceil, op->attr.pool.ceil);
	}
	see(c, COVER_spread, op_is(op, ELTWISE) && op->nin == 2
	    && !shape_equal(op_in(op, 0)->shape, op_in(op, 1)->shape));
}

void covers_net(Covers *c, const RandomNet *n)
{
	static const CoverId batches[] = { COVER_batch_1, COVER_batch_2, COVER_batch_3,
					   COVER_batch_4 };
	for_each_op(op, n->g)
		op_seen(c, op);
	for (int i = 0; i < n->nv; i++)
		for (int k = 0; k < n->v[i].nin; k++)
			see(c, COVER_skip, n->v[i].in[k] >= 0 && n->v[i].in[k] < i - 2);
	c->seen[batches[n->batch - 1]]++;
	see(c, COVER_exact, n->exact);
	see(c, COVER_rounded, !n->exact);
	see(c, COVER_two_inputs, n->nx > 1);
	see(c, COVER_two_outputs, n->nout > 1);
	for (int i = 0; i < n->nx; i++)
		see(c, COVER_bytes, n->x[i]->dtype == TYPE_U8);
}

/* Views are made by a pass. */
void covers_graph(Covers *c, const Graph *g)
{
	for_each_op(op, g)
		c->ops[OP_VIEW] += op->kind == OP_VIEW;
}

static void product(Covers *c, const Step *s)
{
	see(c, COVER_weights_bf16, s->weights == DEV_BF16);
	see(c, COVER_weights_f32, s->weights == DEV_F32);
	see(c, COVER_weights_bfp8_b, s->weights == DEV_BFP8_B);
	see(c, COVER_early, s->stream.early);
	see(c, COVER_pages, s->stream.chunks > 1);
	see(c, COVER_ring, s->stream.ring > 0);
	see(c, COVER_sums, s->stream.sums_bytes > 0);
	see(c, COVER_fetchers, s->stream.fetchers > 1);
	see(c, COVER_lofi, s->phases == 1);
	see(c, COVER_hifi2, s->phases == 2);
	see(c, COVER_hifi3, s->phases == 3);
	see(c, COVER_hifi4, s->phases == 4);
}

void covers_plan(Covers *c, const Plan *p)
{
	static const CoverId cuts[] = { COVER_one_shard, COVER_height, COVER_width, COVER_block };
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i];
		c->seen[cuts[shard_word(t->cut)]]++;
		see(c, COVER_bf16, t->layout.type == DEV_BF16);
		see(c, COVER_bfp8_b, t->layout.type == DEV_BFP8_B);
		see(c, COVER_f32, t->layout.type == DEV_F32);
	}
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		c->steps[s->kind]++;
		see(c, COVER_slices, s->slice && !s->single);
		see(c, COVER_slices_single, s->slice && s->single);
		see(c, COVER_beside, s->beside);
		if (s->weights && s->kind != STEP_CHANNEL && s->kind != STEP_MIX)
			product(c, s);
	}
	see(c, COVER_cores_1, p->cores == 1);
	see(c, COVER_cores_64, p->cores == 64);
}

static int row(const char *what, const char *name, int count, int refused)
{
	printf("  %-6s %-42s %6d", what, name, count);
	if (refused)
		printf("  (%d more cannot be)", refused);
	puts(count ? "" : "  MISSING");
	return !count;
}

int covers_print(const Covers *c)
{
	static const char *const whats[] = {
#define COVER(id, what) what,
#include "tests/random_covers.def"
	};
	int missing = 0;
	for (OpKind k = 0; k < OP_COUNT; k++)
		if (op_info[k].traits & DEVICE || c->ops[k])
			missing += row("op", op_info[k].name, c->ops[k], 0);
	for (StepKind k = 0; k < STEP_COUNT; k++)
		missing += row("step", step_names[k], c->steps[k], 0);
	for (int f = 0; f <= CHOICE_COUNT; f++)
		missing += row("pin", f < CHOICE_COUNT ? choice_info[f].key : "shard", c->pins[f],
			       c->pins_refused[f]);
	for (int i = 0; i < COVER_COUNT; i++)
		missing += row("net", whats[i], c->seen[i], 0);
	return missing;
}
