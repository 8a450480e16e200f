/*
 * Steps on tensors that lie in DRAM: an op for each slice of rows, on buffers that
 * hold one slice. There are two of each: while a slice is computed the next one is
 * read and the last one is written. Or one: then every slice is read by an op of its
 * own, and written when it is computed.
 */
#include "backend/lower.h"

static void read_slice(Lowering *l, int op, const Step *s, int i)
{
	ProgramOp *at = &l->program->ops[op];
	for (int k = 0; k < s->nin; k++) {
		if (!s->slices[k])
			continue;
		const PlanTensor *t = step_slice_tensor(l->arena, l->plan, s, k, i);
		for (int c = 0; c < l->plan->cores; c++)
			lower_move(l, at, c, t, s->in[k].tensor, false, TT_MOVE_ALONGSIDE,
				   t->shard[c].keep);
		lower_rest(l, at, t);
	}
}

static void write_slice(Lowering *l, int op, const Step *s, int i, TtMoveWhen when)
{
	if (!s->out || !s->slices[s->nin])
		return;
	const PlanTensor *t = step_slice_tensor(l->arena, l->plan, s, s->nin, i);
	for (int c = 0; c < l->plan->cores; c++)
		lower_move(l, &l->program->ops[op], c, t, s->out, true, when, t->shard[c].own);
}

/* Reads a slice that is needed next: nothing can go on beside that. */
static void read_alone(Lowering *l, const Step *s, int i)
{
	bool any = false;
	for (int k = 0; k < s->nin; k++)
		any |= s->slices[k] != NULL;
	if (!any)
		return;
	ProgramOp *op = program_op(l->program, s->op->name, "slice", NULL);
	for (int k = 0; k < s->nin && i == 0; k++)
		if (s->slices[k])
			lower_await(l, op, s, k);
	read_slice(l, l->program->nops - 1, s, i);
}

void lower_streamed(Lowering *l, const Step *s)
{
	const int n = step_slices(l->plan, s);
	for (l->slice = 0; l->slice < n; l->slice++) {
		const Step x = step_slice_step(l->arena, l->plan, s, l->slice);
		if (l->slice == 0 || s->single)
			read_alone(l, s, l->slice);
		const int first = l->program->nops;
		lower_images(l, &x);
		if (l->slice + 1 < n && !s->single)
			read_slice(l, first, s, l->slice + 1);
		if (l->slice > 0 && !s->single)
			write_slice(l, first, s, l->slice - 1, TT_MOVE_ALONGSIDE);
		if (l->slice + 1 == n || s->single)
			write_slice(l, l->program->nops - 1, s, l->slice, TT_MOVE_AFTER);
	}
	const int last = l->program->nops - 1;
	l->slice = 0;
	if (s->out && s->slices[s->nin])
		lower_announce(l, &l->program->ops[last], s->out);
	else if (s->out)
		lower_pushes(l, &l->program->ops[last], s->out, s->out);
}
