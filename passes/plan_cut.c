/*
 * Cutting tensors into bands of rows, and how large their buffers get.
 *
 * Core c of n owns rows c*H/n to (c+1)*H/n - 1 of every tensor, so rows that
 * belong together at different resolutions lie on the same or on neighbouring
 * cores. What a core's own steps read beyond its band is kept beside it.
 */
#include "passes/plan.h"

#include <stdlib.h>

/* A reader takes 32 pixels at a time from any column of the window, so it may
 * run past the last row by less than this. */
enum { SLACK_PIXELS = 64 };

/* Rows a host edge works on: two sets of 16 channels for each of two RISC-Vs. */
enum { EDGE_ROOM = 2 * 2 * PLANE };

static int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

static int height(const PlanTensor *t) { return (int)t->op->shape.dim[2]; }

/* A transposed convolution makes both rows of each it reads. */
static void own(Plan *p, PlanTensor *t, const Step *s)
{
	t->band = arena_array(p->graph->arena, Band, p->cores);
	for (int c = 0; c < p->cores; c++) {
		int row = (int)((int64_t)height(t) * c / p->cores);
		int end = (int)((int64_t)height(t) * (c + 1) / p->cores);
		if (s->kind == STEP_DECONV2) {
			row = 2 * s->in[0]->band[c].row;
			end = row + 2 * s->in[0]->band[c].rows;
		}
		t->band[c] = (Band){ row, end - row, row, end };
	}
}

static void keep(Band *b, Rows r)
{
	if (r.first >= r.end)
		return;
	if (b->first >= b->end) {
		b->first = r.first;
		b->end = r.end;
		return;
	}
	b->first = r.first < b->first ? r.first : b->first;
	b->end = r.end > b->end ? r.end : b->end;
}

static void keep_read(Plan *p, const Step *s)
{
	for (int c = 0; c < p->cores; c++) {
		/* A host edge out sends what it owns. */
		if (!s->out)
			continue;
		const Band *o = &s->out->band[c];
		const Rows r = step_reads(s, (Rows){ o->row, o->row + o->rows });
		for (int i = 0; i < s->nin; i++)
			keep(&s->in[i]->band[c], r);
	}
}

static void size_buffer(Plan *p, PlanTensor *t)
{
	Layout *l = &t->layout;
	t->buffer_rows = 1;
	for (int c = 0; c < p->cores; c++) {
		const int rows = t->band[c].end - t->band[c].first;
		t->buffer_rows = rows > t->buffer_rows ? rows : t->buffer_rows;
	}
	l->lead = PITCH_STEP;
	l->pitch = layout_pitch(l->cols, 1, l->lead, 0);
	l->rows = t->buffer_rows;
	l->place = PLACE_L1;
	t->slack = SLACK_PIXELS * (l->type == DEV_BF16 ? 2 : 1) * PLANE;
	t->bytes = layout_bytes(l) + t->slack;
}

void plan_cut(Plan *p, int cores)
{
	p->cores = cores;
	p->cols = cores < p->target->grid_cols ? cores : (int)p->target->grid_cols;
	p->rows = (cores + p->cols - 1) / p->cols;
	for (int i = 0; i < p->nsteps; i++)
		if (p->steps[i].out)
			own(p, p->steps[i].out, &p->steps[i]);
	for (int i = 0; i < p->nsteps; i++)
		keep_read(p, &p->steps[i]);
	for (int i = 0; i < p->ntensors; i++)
		size_buffer(p, p->tensors[i]);
	for (int i = 0; i < p->nsteps; i++) {
		Step *s = &p->steps[i];
		const PlanTensor *t = s->out ? s->out : s->in[0];
		if (s->kind == STEP_EDGE_IN || s->kind == STEP_EDGE_OUT)
			s->scratch_bytes = EDGE_ROOM * round_up(4 * t->layout.cols, ALIGN_DRAM);
	}
}
