/* The two ways in which elements are moved about: by strides and by maps. */
#include "runtime/ref/ref_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct Move {
	char *to;
	const char *from;
	size_t size; /* of an element */
	Shape dims;
	int64_t row; /* the last of dims */
	int64_t strides[MAX_RANK];
	int64_t *const *map;
	const void *fill;
} Move;

#define EACH(T) \
	for (int64_t i = 0; i < n; i++) \
		memcpy(to + (size_t)i * sizeof(T), from + i * step * (int64_t)sizeof(T), sizeof(T))

static void copy_run(char *to, const char *from, int64_t step, int64_t n, size_t size)
{
	if (step == 1)
		memcpy(to, from, (size_t)n * size);
	else if (size == 1)
		EACH(uint8_t);
	else if (size == 2)
		EACH(uint16_t);
	else if (size == 4)
		EACH(uint32_t);
	else
		EACH(uint64_t);
}

static void strided_rows(void *context, int64_t from, int64_t to)
{
	const Move *m = context;
	int last = m->dims.rank - 1;
	for (int64_t row = from; row < to; row++) {
		int64_t at = 0, rest = row;
		for (int d = last - 1; d >= 0; d--) {
			at += rest % m->dims.dim[d] * m->strides[d];
			rest /= m->dims.dim[d];
		}
		copy_run(m->to + (size_t)(row * m->row) * m->size,
			 m->from + at * (int64_t)m->size, m->strides[last], m->row, m->size);
	}
}

void ref_copy_strided(const Tensor *out, const Tensor *in, Shape dims, int64_t offset,
		      const int64_t strides[MAX_RANK], int threads)
{
	Move m = { .to = ref_bytes(out), .size = ref_size(out), .dims = dims };
	int64_t count = shape_count(dims);
	if (count == 0)
		return;
	if (m.dims.rank == 0)
		m.dims = SHAPE(1);
	if (!in->splat)
		memcpy(m.strides, strides, (size_t)dims.rank * sizeof *strides);
	m.from = (const char *)in->data + (in->splat ? 0 : offset) * (int64_t)m.size;
	m.row = m.dims.dim[m.dims.rank - 1];
	ref_parallel(threads, count / m.row, (double)m.row, strided_rows, &m);
}

static void mapped_row(const Move *m, char *to, int64_t at)
{
	const int64_t *map = m->map[m->dims.rank - 1];
	int64_t step = m->strides[m->dims.rank - 1];
	for (int64_t i = 0; i < m->row; i++) {
		if (map[i] < 0)
			memcpy(to + (size_t)i * m->size, m->fill, m->size);
		else
			memcpy(to + (size_t)i * m->size,
			       m->from + (at + map[i] * step) * (int64_t)m->size, m->size);
	}
}

static void mapped_rows(void *context, int64_t from, int64_t to)
{
	const Move *m = context;
	for (int64_t row = from; row < to; row++) {
		char *to_row = m->to + (size_t)(row * m->row) * m->size;
		int64_t at = 0, rest = row;
		bool outside = false;
		for (int d = m->dims.rank - 2; d >= 0; d--) {
			int64_t index = m->map[d][rest % m->dims.dim[d]];
			rest /= m->dims.dim[d];
			at += index * m->strides[d];
			outside |= index < 0;
		}
		if (outside)
			copy_run(to_row, m->fill, 0, m->row, m->size);
		else
			mapped_row(m, to_row, at);
	}
}

void ref_copy_mapped(const Tensor *out, Shape to, const Tensor *in, Shape from,
		     int64_t *const map[MAX_RANK], const void *fill, int threads)
{
	int64_t none = 0, *const only[] = { &none };
	Move m = { .to = ref_bytes(out), .from = in->data, .size = ref_size(out),
		   .dims = to, .map = map, .fill = fill };
	int64_t count = shape_count(to);
	if (count == 0)
		return;
	if (m.dims.rank == 0) {
		m.dims = SHAPE(1);
		m.map = only;
	}
	if (!in->splat)
		shape_strides(from, m.strides);
	m.row = m.dims.dim[m.dims.rank - 1];
	ref_parallel(threads, count / m.row, (double)m.row * 4, mapped_rows, &m);
}

int64_t *ref_map_same(int64_t n)
{
	int64_t *map = xmalloc((size_t)n * sizeof *map);
	for (int64_t i = 0; i < n; i++)
		map[i] = i;
	return map;
}
