/*
 * What BRISC moves beside an op, counted: zeros around tensors, rows to other cores,
 * rows from and to DRAM. The lists are backend/lower_rows.c's and lower_moves.c's.
 */
#include "passes/cost_ops.h"

enum { ZEROS = 1024 }; /* bytes that one write clears */

/* A core and what was counted of it. */
typedef struct Lead {
	const Plan *p;
	int core;
	Work *w;
	bool *told;   /* by core: is it told that this one is done? */
	bool *pushes; /* by core: does it push rows here? */
} Lead;

static bool is_block_float(const PlanTensor *t) { return t->layout.type == DEV_BFP8_B; }

static int64_t value_bytes(const PlanTensor *t) { return dev_pixel_bytes(t->layout.type); }

/* ---- zeros ---- */

static void clear_runs(const Lead *l, int64_t runs, int64_t bytes)
{
	l->w->zeros += runs * cost_up(bytes, ZEROS);
	l->w->zero_bytes += runs * bytes;
}

/* `pixels` from column x of `count` rows of each plane. Packers end a row of
 * exponents with zeros up to 16 bytes. */
static void clear(const Lead *l, const PlanTensor *t, int x, int64_t pixels, int64_t count)
{
	const int64_t runs = count * tensor_buffer_planes(t), ended = (PLANE - x % PLANE) % PLANE;
	if (!pixels || !count)
		return;
	if (is_block_float(t) && pixels > ended)
		clear_runs(l, runs, pixels - ended);
	clear_runs(l, runs, pixels * value_bytes(t));
}

/* Rows that no row of the image fills, each run of them at once, and the slack. */
static void clear_rest(const Lead *l, const PlanTensor *t)
{
	const Region keep = t->shard[l->core].keep;
	const Range rows = tensor_kept(t, l->core).rows;
	const bool any = range_count(rows);
	const int first = region_empty(keep) ? 0 : keep.rows.first;
	const int above = any ? rows.first - first : 0;
	const int below = first + t->buffer_rows - (any ? rows.end : first);
	const int lead = -t->layout.lead;
	clear(l, t, lead, (int64_t)(above > 0 ? above : 0) * t->layout.pitch, 1);
	clear(l, t, lead, (int64_t)(below > 0 ? below : 0) * t->layout.pitch, 1);
	clear_runs(l, 1, t->slack);
}

static void clear_around(const Lead *l, const Step *s)
{
	const PlanTensor *t = s->out;
	const Layout *y = &t->layout;
	const int cols = (y->cols + y->phases - 1) / y->phases;
	const int rows = range_count(tensor_kept(t, l->core).rows);
	const bool tiles = s->kind != STEP_EDGE_IN && s->kind != STEP_DECONV2 && !t->partial;
	clear(l, t, -y->lead, y->lead, rows);
	if (!tiles)
		clear(l, t, cols, y->pitch - y->lead - cols, rows);
	clear_rest(l, t);
}

/* ---- rows to other cores ---- */

static void push_to(const Lead *l, const PlanTensor *a, int to, Region r)
{
	const int64_t runs = (int64_t)a->layout.phases * a->images * range_count(r.planes);
	const int64_t pixels = (int64_t)range_count(r.rows) * a->layout.pitch;
	if (is_block_float(a)) {
		l->w->pushes += runs * work_packets(pixels);
		l->w->push_bytes += runs * pixels;
	}
	l->w->pushes += runs * work_packets(pixels * value_bytes(a));
	l->w->push_bytes += runs * pixels * value_bytes(a);
	l->told[to] |= to != l->core;
}

static void push_rows(const Lead *l, const PlanTensor *a, const PlanTensor *b)
{
	if (!tensor_pushed(l->p, b))
		return;
	for (int c = 0; c < l->p->cores; c++) {
		const Region out = region_both(a->shard[l->core].own, tensor_kept(b, c));
		const Region in = region_both(a->shard[c].own, tensor_kept(b, l->core));
		if (!region_empty(out) && (c != l->core || a != b))
			push_to(l, a, c, out);
		l->pushes[c] |= c != l->core && !region_empty(in);
	}
}

/* ---- rows from and to DRAM ---- */

/* Rows of one page of each plane. */
static void move_page(const Lead *l, const PlanTensor *t, bool out, Region r)
{
	const int64_t runs = (int64_t)t->layout.phases * t->images * range_count(r.planes);
	const int64_t pixels = (int64_t)range_count(r.rows) * t->layout.pitch;
	int64_t *packets = out ? &l->w->writes : &l->w->reads;
	int64_t *bytes = out ? &l->w->write_bytes : &l->w->read_bytes;
	if (!runs || !pixels)
		return;
	*packets += runs * work_packets(pixels * value_bytes(t));
	*bytes += runs * pixels * value_bytes(t);
	if (!is_block_float(t))
		return;
	*packets += runs * work_packets(pixels);
	*bytes += runs * pixels;
}

/* A region of the tensor in buffer `t`. */
static void move(const Lead *l, const PlanTensor *t, bool out, Region r)
{
	const int rows = layout_page_rows(t->layout.type, t->layout.pitch, t->height);
	const Range inside = range_both(r.rows, (Range){ 0, t->height });
	for (int row = inside.first / rows * rows; row < inside.end; row += rows)
		move_page(l, t, out, (Region){ range_both(inside, (Range){ row, row + rows }),
					       r.planes });
}

static bool writes_any(const PlanTensor *t, Region r)
{
	r.rows = range_both(r.rows, (Range){ 0, t->height });
	return !region_empty(r);
}

static void announce(const Lead *l, const PlanTensor *dram)
{
	const Region own = dram->shard[l->core].own;
	for (int c = 0; c < l->p->cores; c++)
		l->told[c] |= c != l->core && plan_reads_dram(l->p, dram, c, own);
}

static void move_step(const Lead *l, const Step *s)
{
	const PlanTensor *from = s->in[0].tensor;
	if (s->kind == STEP_SPILL) {
		move(l, from, true, from->shard[l->core].own);
		l->w->asked_dram |= writes_any(from, from->shard[l->core].own);
		announce(l, s->out);
	} else {
		move(l, s->out, false, s->out->shard[l->core].keep);
		clear_rest(l, s->out);
	}
}

static void constant(const Lead *l, const PlanTensor *t)
{
	const int64_t bytes = t->buffer_rows * t->layout.pitch * value_bytes(t);
	if (region_empty(t->shard[l->core].keep))
		return;
	l->w->reads += t->buffer_planes * work_packets(bytes);
	l->w->read_bytes += t->buffer_planes * bytes;
}

/* ---- slices ---- */

static void read_slice(Arena *a, const Lead *l, const Step *s, int i)
{
	for (int k = 0; k < s->nin; k++) {
		if (!s->slices[k])
			continue;
		const PlanTensor *t = step_slice_tensor(a, l->p, s, k, i);
		move(l, t, false, t->shard[l->core].keep);
		clear_rest(l, t);
	}
}

/* Did this core have anything to write? */
static bool write_slice(Arena *a, const Lead *l, const Step *s, int i)
{
	if (!s->out || !s->slices[s->nin])
		return false;
	const PlanTensor *t = step_slice_tensor(a, l->p, s, s->nin, i);
	move(l, t, true, t->shard[l->core].own);
	return writes_any(t, t->shard[l->core].own);
}

static void around_slice(Arena *a, const Lead *l, const StepOp *o, const Step *s)
{
	const bool first = o->image == 0 && o->phase == 0;
	const bool last = o->number + 1 == o->ops;
	if (first && o->slice + 1 < o->slices && !s->single)
		read_slice(a, l, s, o->slice + 1);
	if (first && o->slice > 0 && !s->single)
		l->w->asked_dram |= write_slice(a, l, s, o->slice - 1);
	if (last || (o->ends && s->single))
		l->w->after |= write_slice(a, l, s, o->slice);
	if (!last)
		return;
	if (s->out && s->slices[s->nin])
		announce(l, s->out);
	else if (s->out)
		push_rows(l, s->out, s->out);
}

/* ---- all of them ---- */

static bool clears(const StepOp *o, const Step *s)
{
	const int buffers = s->slice && s->slices[s->nin] ? step_slice_buffers(s) : 1;
	if (s->kind == STEP_EDGE_IN)
		return o->image == 0;
	return o->phase == 0 && o->image == 0 && s->out->born == o->step && o->slice < buffers;
}

static void around(Arena *a, const Lead *l, const StepOp *o)
{
	const Step *s = &o->p->steps[o->step];
	if (o->reads) {
		read_slice(a, l, s, o->slice);
		return;
	}
	if (s->kind == STEP_SPILL || s->kind == STEP_REFILL) {
		move_step(l, s);
	} else if (s->kind == STEP_RESHARD) {
		clear_around(l, s);
		push_rows(l, s->in[0].tensor, s->out);
	} else if (s->kind == STEP_CONSTANT) {
		constant(l, s->out);
	} else if (s->out) {
		if (clears(o, s))
			clear_around(l, &o->view);
		if (!s->slice && s->out->done == o->step && s->kind != STEP_EDGE_IN
		    && o->number + 1 == o->ops)
			push_rows(l, s->out, s->out);
	}
	if (s->slice)
		around_slice(a, l, o, s);
}

void cost_lead(Arena *a, const StepOp *o, int core, Work *w)
{
	const int cores = o->p->cores;
	const Lead l = { o->p, core, w, arena_array(a, bool, cores), arena_array(a, bool, cores) };
	around(a, &l, o);
	for (int k = o->step - 1; o->number == 0 && k >= 0 && o->p->steps[k].beside; k--)
		move_step(&l, &o->p->steps[k]);
	for (int c = 0; c < cores; c++) {
		w->push_peers += l.told[c];
		w->pushers += l.pushes[c];
	}
	w->asked = w->asked_dram || w->pushers || w->zeros;
}
