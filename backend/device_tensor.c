#include "backend/device_tensor.h"

#include <stdlib.h>
#include <string.h>

#include "backend/lower.h"
#include "ir/blockfloat.h"

typedef struct Reading {
	const Plan *plan;
	const PlanTensor *t;
	TesseraDevice *device;
	Tensor *to;
	uint8_t *bytes; /* of a core's buffer, or of a page */
	TesseraError *error;
} Reading;

static float value_of(DevTypes type, const uint8_t *values, const uint8_t *exponent, int i)
{
	float f;
	if (type == DEV_BFP8_B)
		return blockfloat_value(*exponent, values[i]);
	if (type == DEV_BF16)
		return bf16_to_float((uint16_t)(values[2 * i] | values[2 * i + 1] << 8));
	memcpy(&f, values + 4 * i, sizeof f);
	return f;
}

/* The channels of one pixel: to column x of a row. */
static void put_pixel(const Reading *r, int image, int plane, int row, int x,
		      const uint8_t *values, const uint8_t *exponent)
{
	const PlanTensor *t = r->t;
	const int64_t step = (int64_t)t->height * t->layout.cols;
	const int left = t->channels - plane * PLANE, n = left < PLANE ? left : PLANE;
	float *to = tensor_f32_data(r->to)
		+ ((int64_t)image * t->channels + plane * PLANE) * step
		+ (int64_t)row * t->layout.cols + x;
	for (int i = 0; i < n; i++, to += step)
		*to = value_of(t->layout.type, values, exponent, i);
}

static void put_row(const Reading *r, int core, int image, int plane, int row)
{
	const PlanTensor *t = r->t;
	const int phases = t->layout.phases;
	const uint32_t from = (uint32_t)t->layout.address;
	for (int x = 0; x < t->layout.cols; x++) {
		const int at = x / phases, phase = x % phases;
		const uint32_t values = lower_values(t, core, phase, image, plane, row, at);
		const uint32_t exponent = lower_exponent(t, core, phase, image, plane, row, at);
		put_pixel(r, image, plane, row, x, r->bytes + (values - from),
			  r->bytes + (exponent - from));
	}
}

static bool read_core(const Reading *r, int core)
{
	const PlanTensor *t = r->t;
	Region own = t->shard[core].own;
	own.rows = range_both(own.rows, (Range){ 0, t->height });
	if (region_empty(own))
		return true;
	const int cols = r->plan->cols;
	if (!tessera_read_l1(r->device, (uint32_t)(core % cols), (uint32_t)(core / cols),
			     (uint32_t)t->layout.address, r->bytes, (size_t)t->bytes, r->error))
		return false;
	for (int image = 0; image < t->images; image++)
		for (int plane = own.planes.first; plane < own.planes.end; plane++)
			for (int y = own.rows.first; y < own.rows.end; y++)
				put_row(r, core, image, plane, y);
	return true;
}

/* Rows of one page, of a plane of an image and phase. */
static bool read_page(const Reading *r, int image, int plane, int phase, Range rows)
{
	const PlanTensor *t = r->t;
	const Layout *l = &t->layout;
	const uint32_t page = lower_dram_page(t, phase, image, plane, rows.first);
	const int unit = dev_pixel_bytes(l->type);
	const int64_t exponents =
		l->type == DEV_BFP8_B ? (int64_t)lower_page_rows(t) * l->pitch : 0;
	const uint8_t *values = r->bytes + exponents;
	if (!tessera_read_dram(r->device, page % TT_DRAM_BANKS, lower_dram_at(t, page), r->bytes,
			       lower_page_bytes(t), r->error))
		return false;
	for (int y = rows.first; y < rows.end; y++)
		for (int x = phase; x < l->cols; x += l->phases) {
			const int64_t n = (int64_t)(y - rows.first) * l->pitch + l->lead
				+ x / l->phases;
			put_pixel(r, image, plane, y, x, values + n * unit, r->bytes + n);
		}
	return true;
}

/* One plane of one image. */
static bool read_plane(const Reading *r, int image, int plane)
{
	const PlanTensor *t = r->t;
	const int rows = lower_page_rows(t);
	bool ok = true;
	for (int phase = 0; phase < t->layout.phases; phase++)
		for (int y = 0; ok && y < t->height; y += rows)
			ok = read_page(r, image, plane, phase,
				       range_both((Range){ y, y + rows }, (Range){ 0, t->height }));
	return ok;
}

static bool read_all(const Reading *r)
{
	bool ok = true;
	if (r->t->layout.place == PLACE_L1)
		for (int core = 0; ok && core < r->plan->cores; core++)
			ok = read_core(r, core);
	else
		for (int i = 0; ok && i < r->t->images * r->t->layout.planes; i++)
			ok = read_plane(r, i / r->t->layout.planes, i % r->t->layout.planes);
	return ok;
}

static Tensor *read_tensor(Arena *a, const Plan *p, const PlanTensor *t, TesseraDevice *d,
			   TesseraError *e)
{
	const Shape shape = { .rank = 4,
			      .dim = { t->images, t->channels, t->height, t->layout.cols } };
	const bool l1 = t->layout.place == PLACE_L1;
	Reading r = { .plan = p, .t = t, .device = d, .error = e,
		      .to = tensor_create(a, TYPE_F32, shape),
		      .bytes = xmalloc(l1 ? (size_t)t->bytes : lower_page_bytes(t)) };
	const bool ok = read_all(&r);
	free(r.bytes);
	return ok ? r.to : NULL;
}

static bool is_slice(const Plan *p, const PlanTensor *t)
{
	for (int i = 0; i < p->nsteps; i++)
		for (int k = 0; p->steps[i].slices && k <= p->steps[i].nin; k++)
			if (p->steps[i].slices[k] == t)
				return true;
	return false;
}

PlanTensor **device_tensors(Arena *a, const Plan *p, int *n)
{
	PlanTensor **list = arena_array(a, PlanTensor *, p->ntensors + 1);
	*n = 0;
	for (int step = 0; step < p->nsteps; step++)
		for (int i = 0; i < p->ntensors; i++)
			if (p->tensors[i]->done == step && !is_slice(p, p->tensors[i]))
				list[(*n)++] = p->tensors[i];
	return list;
}

/* The first op at which a tensor is there. */
static size_t ready(const DeviceWatch *w, int i)
{
	return (size_t)w->program->last_op[w->tensors[i]->done] + 1;
}

static bool show(void *context, size_t op, TesseraError *e)
{
	const DeviceWatch *w = context;
	bool ok = true;
	for (int i = 0; ok && i < w->n; i++) {
		if (ready(w, i) != op)
			continue;
		Arena *a = arena_create();
		const Tensor *value = read_tensor(a, w->plan, w->tensors[i], w->device, e);
		ok = value != NULL;
		if (ok)
			w->seen(w->context, i, value);
		arena_destroy(a);
	}
	return ok;
}

bool device_watch(DeviceWatch *w, Arena *a, TesseraProgram *loaded, TesseraError *e)
{
	size_t *ops = arena_array(a, size_t, w->n + 1), n = 0;
	for (int i = 0; i < w->n; i++)
		if (n == 0 || ops[n - 1] != ready(w, i))
			ops[n++] = ready(w, i);
	return tessera_pause(loaded, (TesseraPauses){ ops, n, show, w }, e);
}
