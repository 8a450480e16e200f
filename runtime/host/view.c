#include "runtime/host/view.h"

#include <string.h>

#include "runtime/host/values.h"

/* Elements k of the view up to k + n that lie one after the other on both
 * sides: host element `host`, byte `stage`. */
typedef struct Stretch {
	int64_t k, n;
	int64_t host;
	size_t stage;
} Stretch;

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* The stretch from element k on. */
static Stretch stretch(const TtbPart *p, int64_t k, int64_t elements)
{
	const int64_t width = p->nchw[3];
	const int64_t inner = p->rank ? p->dims[p->rank - 1] : 1;
	const bool dense = p->rank && p->strides[p->rank - 1] == 1;
	int64_t rest = k, at = p->offset;

	for (uint32_t i = p->rank; i-- > 0; rest /= p->dims[i])
		at += rest % p->dims[i] * p->strides[i];

	const int64_t page = at / width, column = at % width;
	const int64_t n = dense ? least(inner - k % inner, width - column) : 1;
	return (Stretch){
		.k = k,
		.n = least(least(n, p->run - k % p->run), elements - k),
		.host = p->start + k / p->run * p->pitch + k % p->run,
		.stage = (size_t)(page % TT_DRAM_BANKS) * p->slot_bytes +
			 (size_t)(page / TT_DRAM_BANKS) * p->page_bytes +
			 (size_t)column * tt_host_bytes(p->stored),
	};
}

void view_to_stage(const TtbPart *p, uint32_t type, const void *host, uint8_t *stage)
{
	const int64_t elements = ttb_elements(p->rank, p->dims);
	const size_t size = tt_host_bytes(type);

	for (Stretch s = { 0 }; s.k < elements; s.k += s.n) {
		s = stretch(p, s.k, elements);
		const void *from = (const uint8_t *)host + (size_t)s.host * size;

		if (type == p->stored)
			memcpy(stage + s.stage, from, (size_t)s.n * size);
		else
			values_to_bf16(type, from, (size_t)s.n, stage + s.stage);
	}
}

void view_from_stage(const TtbPart *p, uint32_t type, void *host, const uint8_t *stage)
{
	const int64_t elements = ttb_elements(p->rank, p->dims);
	const size_t size = tt_host_bytes(type);

	for (Stretch s = { 0 }; s.k < elements; s.k += s.n) {
		s = stretch(p, s.k, elements);
		void *to = (uint8_t *)host + (size_t)s.host * size;

		if (type == p->stored)
			memcpy(to, stage + s.stage, (size_t)s.n * size);
		else
			values_of_bf16(type, stage + s.stage, (size_t)s.n, to);
	}
}
