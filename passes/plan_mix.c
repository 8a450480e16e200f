/*
 * Steps that move pixels or take sums of them, the same for every channel: what
 * is a map of rows times a map of columns (spatial_map.h), and column phases.
 *
 * One step does both maps where its tables are small and its sums short. Else two
 * do, one for rows and one for columns, the one that leaves fewer pixels first.
 */
#include "passes/plan_conv.h"
#include "passes/spatial_map.h"

enum {
	MOST_PAGE = 128 * 1024, /* bytes of tables, before rows and columns part */
	MOST_PRODUCTS = 16,     /* of a tile, likewise */
	MOST_TERMS = 255,       /* the routines count them */
};

/* Columns of one phase of the result. */
static AxisMap phase_of(Arena *a, const AxisMap *m, int phase, int phases)
{
	AxisMap part = axis_map(a, m->in, (m->out + phases - 1) / phases);
	for (int o = phase; o < m->out; o += phases)
		part.sums[o / phases] = m->sums[o];
	return part;
}

static void set_maps(Builder *b, Step *s, const AxisMap map[2], int phases)
{
	const Mix **mix = arena_array(b->a, const Mix *, phases);
	Range *rows = arena_array(b->a, Range, map[0].out);
	s->phases = 2;
	for (int i = 0; i < phases; i++) {
		const AxisMap cols = phase_of(b->a, &map[1], i, phases);
		const Mix *m = mix_make(b->a, &map[0], &cols, s->in[0].tensor->layout.phases);
		const int64_t bytes = (int64_t)mix_bytes(m);
		s->page_bytes = bytes > s->page_bytes ? bytes : s->page_bytes;
		s->phases = m->phases > s->phases ? m->phases : s->phases;
		mix[i] = m;
		if (m->row_terms > MOST_TERMS || m->col_terms > MOST_TERMS)
			plan_refuse(b, s->op, "a pixel of it is made of too many rows or columns");
	}
	for (int y = 0; y < map[0].out; y++)
		mix_reads(mix[0], y, y + 1, &rows[y].first, &rows[y].end);
	s->mix = mix;
	s->row_map = rows;
}

/* `in` by the maps, to a tensor in so many phases; `channel` is the first of the
 * op's result. */
static PlanTensor *mixed(Builder *b, const Op *op, const char *suffix, Part in, int channel,
			 const AxisMap map[2], int phases)
{
	Part *part = arena_new(b->a, Part);
	*part = in;
	Step *s = plan_step(b, STEP_MIX, op, (Parts){ part, 1 });
	s->act = (Act){ .kind = OP_INPUT };
	s->channel = channel;
	set_maps(b, s, map, phases);
	PlanTensor *t = plan_tensor(b, op, suffix, channel, in.channels, map[0].out, map[1].out);
	t->layout.phases = phases;
	return plan_finish(b, s, t);
}

static bool in_one_step(Builder *b, const AxisMap map[2])
{
	const Mix *m = mix_make(b->a, &map[0], &map[1], 1);
	return axis_is_identity(&map[0]) || axis_is_identity(&map[1]) ||
	       (mix_bytes(m) <= MOST_PAGE && m->row_terms * m->col_terms <= MOST_PRODUCTS);
}

/* One part of the input, by one step or two; the last has the op's activation. */
static Part mixed_part(Builder *b, const Op *op, const char *suffix, Part in, int channel,
		       const AxisMap map[2])
{
	const bool rows_first = map[0].out < map[0].in;
	AxisMap one[2] = { map[0], map[1] };
	Part at = in;
	if (!in_one_step(b, map)) {
		const AxisMap first[2] = {
			rows_first ? map[0] : axis_identity(b->a, map[0].in),
			rows_first ? axis_identity(b->a, map[1].in) : map[1],
		};
		const char *name = arena_printf(b->a, "%s%d", rows_first ? "rows" : "cols",
						b->plan->ntensors);
		at = (Part){ mixed(b, op, name, in, channel, first, 1), 0, in.channels };
		if (rows_first)
			one[0] = axis_identity(b->a, map[0].out);
		else
			one[1] = axis_identity(b->a, map[1].out);
	}
	PlanTensor *t = mixed(b, op, suffix, at, channel, one, 1);
	b->plan->steps[b->plan->nsteps - 1].act = op->act;
	return (Part){ t, 0, in.channels };
}

static void mix_parts(Builder *b, const Op *op, Parts in, const AxisMap map[2])
{
	Part *v = arena_array(b->a, Part, in.n + 1);
	int channel = 0;
	plan_check_act(b, op);
	for (int i = 0; i < in.n; channel += in.v[i++].channels) {
		const char *suffix = in.n > 1 ? arena_printf(b->a, "part%d", i) : NULL;
		v[i] = mixed_part(b, op, suffix, in.v[i], channel, map);
	}
	plan_made(b, op, v, in.n);
}

void plan_mix(Builder *b, const Op *op)
{
	AxisMap map[2];
	const char *why;
	if (spatial_maps(b->a, op, map, &why))
		mix_parts(b, op, plan_parts(b, op_in(op, 0)), map);
	else
		plan_refuse(b, op, why);
}

void plan_slice(Builder *b, const Op *op)
{
	const sliceAttr *s = &op->attr.slice;
	AxisMap map[2];
	const char *why;
	if (!spatial_maps(b->a, op, map, &why)) {
		plan_refuse(b, op, why);
		return;
	}
	const Parts in = plan_slice_channels(b, op, plan_parts(b, op_in(op, 0)), s->starts.v[1],
					     s->counts.v[1], s->steps.v[1]);
	if (axis_is_identity(&map[0]) && axis_is_identity(&map[1]))
		plan_made(b, op, in.v, in.n);
	else
		mix_parts(b, op, in, map);
}

/* The same pixels in other phases, in the format they have, and in as many parts as
 * buffers take. */
static Parts rephased(Builder *b, const Op *op, const char *what, Parts in, int phases)
{
	const int most = plan_most_channels(b, phases);
	Parts out = { NULL, 0 };
	if (most == 0) {
		plan_refuse(b, op, "its images and column phases are more planes than a buffer holds");
		return in;
	}
	for (int i = 0; i < in.n; i++) {
		const PlanTensor *from = in.v[i].tensor;
		const AxisMap same[2] = { axis_identity(b->a, from->height),
					  axis_identity(b->a, from->layout.cols) };
		for (int at = 0; at < in.v[i].channels; at += most) {
			const int left = in.v[i].channels - at;
			const Part p = { in.v[i].tensor, in.v[i].plane + at / PLANE,
					 left < most ? left : most };
			const char *name = arena_printf(b->a, "%s%d", what, b->plan->ntensors);
			PlanTensor *t = mixed(b, op, name, p, from->channel + at, same, phases);
			t->layout.type = from->layout.type;
			out.v = arena_grow(b->a, out.v, out.n, sizeof(Part));
			out.v[out.n++] = (Part){ t, 0, p.channels };
		}
	}
	return out;
}

Parts plan_phased(Builder *b, const Op *op, Parts in, int phases)
{
	return rephased(b, op, "phased", in, phases);
}

Parts plan_interleave(Builder *b, const Op *op, Parts in)
{
	return rephased(b, op, "columns", in, 1);
}
