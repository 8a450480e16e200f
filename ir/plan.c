#include "ir/plan.h"

#include <assert.h>

const char *const step_names[STEP_COUNT] = {
#define STEP(id, name, reads, slices, f32, what) [STEP_##id] = name,
#include "ir/steps.def"
};

typedef enum StepPlanes { READS_ALL, READS_SAME } StepPlanes;

static const StepPlanes step_planes[STEP_COUNT] = {
#define STEP(id, name, reads, slices, f32, what) [STEP_##id] = READS_##reads,
#include "ir/steps.def"
};

enum { NO, YES };

static const bool step_slicing[STEP_COUNT] = {
#define STEP(id, name, reads, slices, f32, what) [STEP_##id] = slices,
#include "ir/steps.def"
};

enum { NONE, MAKES, READS, BOTH };

static const unsigned char step_f32[STEP_COUNT] = {
#define STEP(id, name, reads, slices, f32, what) [STEP_##id] = f32,
#include "ir/steps.def"
};

/* Two pixels whose sum it is are bf16. */
bool step_makes_f32(const Step *s)
{
	return step_f32[s->kind] & MAKES && !(s->kind == STEP_REDUCE && s->reduce.pair);
}

bool step_reads_f32(const Step *s) { return step_f32[s->kind] & READS; }

bool step_moves(const Step *s)
{
	return s->kind == STEP_RESHARD || s->kind == STEP_SPILL || s->kind == STEP_REFILL;
}

/* What is left of each band is reduced to one pixel at once. */
bool step_can_slice(const Step *s)
{
	return step_slicing[s->kind] && (s->kind != STEP_REDUCE || s->out->partial);
}

static int larger(int a, int b) { return a > b ? a : b; }
static int smaller(int a, int b) { return a < b ? a : b; }

/* The most input tiles, up to `most` unless it is 0, that divide them all and fit
 * a block of n times as many. */
static uint32_t block_depth(uint32_t tiles, uint32_t n, uint32_t most)
{
	uint32_t k = most && most < tiles ? most : tiles;
	while (k > 1 && (tiles % k || k * n > MAX_BLOCK_TILES))
		k--;
	return k;
}

WeightBlocks step_blocks(const Step *s, int part)
{
	const int planes = part_planes(&s->in[part]) / s->channel_groups;
	const uint32_t tiles = weight_tiles_of((uint32_t)planes * PLANE);
	const uint32_t n = (uint32_t)s->held;
	return (WeightBlocks){
		.type = (uint32_t)s->weights, .taps = (uint32_t)s->taps, .cin = tiles * TILE,
		.cout = (uint32_t)s->groups * n * TILE, .n = n,
		.k = block_depth(tiles, n, (uint32_t)s->stream.chunk_tiles),
	};
}

int step_block_count(const Step *s)
{
	int blocks = 0;
	for (int i = 0; i < s->nin; i++) {
		const WeightBlocks w = step_blocks(s, i);
		blocks += (int)weight_block_count(&w) / s->groups;
	}
	return blocks;
}

int64_t step_block_bytes(const Step *s, int first, int end)
{
	int64_t bytes = 0;
	int number = 0;
	for (int i = 0; i < s->nin; i++) {
		const WeightBlocks w = step_blocks(s, i);
		const Range mine = { number, number + (int)weight_block_count(&w) / s->groups };
		bytes += (int64_t)range_count(range_both(mine, (Range){ first, end }))
			* weight_block_bytes(&w);
		number = mine.end;
	}
	return bytes;
}

/* Output planes of a group, less than one if a tile of them takes several. */
Range step_groups(const Step *s, Range planes)
{
	const int tiles = s->kind == STEP_DECONV2 ? 4 : 1; /* of weights for one of the output */
	const int first = planes.first / 2 * tiles, end = (planes.end + 1) / 2 * tiles;
	if (!range_count(planes))
		return (Range){ 0, 0 };
	return (Range){ first / s->held, (end + s->held - 1) / s->held };
}

static int div_up(int a, int b) { return a > 0 ? (a + b - 1) / b : -(-a / b); }

Range step_positions(const Step *s, Range rows)
{
	if (s->kind == STEP_DECONV2)
		return (Range){ rows.first / 2, (rows.end + 1) / 2 };
	if (s->row_step == 1) /* most of them: divisions take long */
		return (Range){ rows.first - s->row, rows.end - s->row };
	return (Range){ div_up(rows.first - s->row, s->row_step),
			div_up(rows.end - s->row, s->row_step) };
}

int step_columns(const Step *s)
{
	const Layout *l = &s->out->layout;
	return s->kind == STEP_DECONV2 ? l->cols / 2
				       : div_up(l->cols - s->column_phase, l->phases);
}

/* As binary_math and pair_math count them. */
int step_arith(const Step *s)
{
	static const OpKind kinds[] = { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_PRELU, OP_MIN, OP_MAX };
	int i = 0;
	while (i < (int)(sizeof kinds / sizeof *kinds) && kinds[i] != s->arith)
		i++;
	assert(i < (int)(sizeof kinds / sizeof *kinds));
	return i;
}

static Range read_rows(const Step *s, int part, Range out)
{
	if (s->spread[part] & SPREAD_ROWS)
		return (Range){ 0, 1 };
	if (s->row_map) {
		Range all = { 0, 0 };
		for (int y = out.first; y < out.end; y++)
			all = range_cover(all, s->row_map[y]);
		return all;
	}
	const Window w = s->window[0];
	const Range at = step_positions(s, out);
	if (!range_count(at))
		return (Range){ 0, 0 };
	return (Range){ at.first * w.stride - w.pad,
			(at.end - 1) * w.stride - w.pad + (w.size - 1) * w.dilation + 1 };
}

static Range read_planes(const Step *s, int part, Range out)
{
	const Part *in = &s->in[part];
	if (s->spread[part] & SPREAD_PLANES)
		return (Range){ in->plane, in->plane + 1 };
	if (step_planes[s->kind] == READS_ALL)
		return (Range){ in->plane, in->plane + part_planes(in) };
	return (Range){ in->plane + out.first, in->plane + out.end };
}

Region step_reads(const Step *s, int part, Region out)
{
	if (region_empty(out))
		return (Region){ 0 };
	return (Region){ read_rows(s, part, out.rows), read_planes(s, part, out.planes) };
}

static const PlanTensor *worked_on(const Step *s) { return s->out ? s->out : s->in[0].tensor; }

Range step_sliced_rows(const Step *s, Region own)
{
	if (s->kind == STEP_REDUCE)
		return region_empty(own) ? (Range){ 0, 0 } : s->row_map[own.rows.first];
	return own.rows;
}

Range step_slice_of(const Step *s, Range rows, int i)
{
	rows.first += i * s->slice;
	rows.end = smaller(rows.end, rows.first + s->slice);
	return range_count(rows) ? rows : (Range){ 0, 0 };
}

int step_slices(const Plan *p, const Step *s)
{
	int most = 1;
	for (int c = 0; c < p->cores; c++) {
		const int rows = range_count(step_sliced_rows(s, worked_on(s)->shard[c].own));
		most = larger(most, (rows + s->slice - 1) / s->slice);
	}
	return most;
}

int step_slice_buffers(const Step *s) { return s->single ? 1 : 2; }

Region step_slice(const Step *s, int k, int core, int i)
{
	Region r = worked_on(s)->shard[core].own;
	const Range rows = step_slice_of(s, step_sliced_rows(s, r), i);
	if (s->kind != STEP_REDUCE || !range_count(rows))
		r.rows = rows;
	if (k == s->nin || !s->out)
		return r;
	const Region read = step_reads(s, k, r);
	return s->kind == STEP_REDUCE && k == 0 ? (Region){ rows, read.planes } : read;
}

static void print_range(Range r, FILE *f)
{
	fprintf(f, "%d+%d", range_count(r) ? r.first : 0, range_count(r));
}

static void print_tensor(const Plan *p, const PlanTensor *t, FILE *f)
{
	Layout shown = t->layout;
	fprintf(f, "tensor %s channels=%d+%d ", t->name, t->channel, t->channels);
	shown.rows = t->height;
	layout_print(&shown, f);
	fprintf(f, " images=%d bands=%d splits=%d buffer=%dx%d bytes=%lld life=%d..%d\n", t->images,
		t->cut.bands, t->cut.splits, t->buffer_planes, t->buffer_rows, (long long)t->bytes,
		t->born, t->dies);
	fprintf(f, "  shards");
	for (int c = 0; c < p->cores; c++) {
		fprintf(f, " ");
		print_range(t->shard[c].own.rows, f);
		fprintf(f, "/");
		print_range(t->shard[c].own.planes, f);
	}
	fprintf(f, "\n");
}

static void print_step(const Step *s, int i, FILE *f)
{
	fprintf(f, "step %d %s %s", i, step_names[s->kind], s->op->name);
	for (int k = 0; k < s->nin; k++)
		fprintf(f, "%s%s", k ? "," : " in=", s->in[k].tensor->name);
	if (s->weights)
		fprintf(f, " held=%d groups=%d phases=%d weights=%lld@0x%x", s->held, s->groups,
			s->phases, (long long)s->weight_bytes, (unsigned)s->weight_address);
	if (s->stream.chunks > 1)
		fprintf(f, " chunks=%d block=%d passes=%d sums=%lld@0x%x", s->stream.chunks,
			s->stream.block, s->stream.passes, (long long)s->stream.sums_bytes,
			(unsigned)s->stream.sums_address);
	if (s->stream.early)
		fprintf(f, " early");
	if (s->scratch_bytes)
		fprintf(f, " scratch=%lld@0x%x", (long long)s->scratch_bytes,
			(unsigned)s->scratch_address);
	if (s->slice)
		fprintf(f, " slice=%d%s", s->slice, s->single ? " single" : "");
	fprintf(f, s->beside ? " beside\n" : "\n");
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
