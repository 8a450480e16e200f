/* Arrays of the caller's. */
#include "runtime/host/arrays.h"

#include <string.h>

#include "runtime/device/map.h"
#include "runtime/host/error.h"

const char *tessera_type_name(TesseraType type)
{
	static const char *const names[TT_HOSTS] = { "f32", "bf16", "f16", "u8" };

	return (unsigned)type < TT_HOSTS ? names[type] : "an unknown type";
}

TesseraArray tessera_array(const TesseraTensor *t, void *data)
{
	TesseraArray a = { .data = data, .bytes = t->bytes, .type = t->type, .rank = t->rank };

	memcpy(a.shape, t->shape, sizeof a.shape);
	return a;
}

static void shape_text(char *to, size_t room, int rank, const int64_t *shape)
{
	size_t n = (size_t)snprintf(to, room, "[");

	for (int i = 0; i < rank && i < TESSERA_MAX_RANK && n < room; i++)
		n += (size_t)snprintf(to + n, room - n, "%s%lld", i ? "," : "",
				      (long long)shape[i]);
	if (n < room)
		snprintf(to + n, room - n, "]");
}

bool array_check(const TesseraTensor *t, const TesseraArray *a, TesseraError *e)
{
	char want[128], have[128];

	if (a->type != t->type)
		return rt_fail(e, TESSERA_BAD_INPUT, "%s: wants %s, has %s", t->name,
			       tessera_type_name(t->type), tessera_type_name(a->type));
	if (a->rank != t->rank ||
	    memcmp(a->shape, t->shape, (size_t)t->rank * sizeof *t->shape) != 0) {
		shape_text(want, sizeof want, t->rank, t->shape);
		shape_text(have, sizeof have, a->rank, a->shape);
		return rt_fail(e, TESSERA_BAD_INPUT, "%s: wants shape %s, has %s", t->name, want,
			       have);
	}
	if (a->bytes != t->bytes)
		return rt_fail(e, TESSERA_BAD_INPUT, "%s: wants %zu bytes, has %zu", t->name,
			       t->bytes, a->bytes);
	return a->data || rt_fail(e, TESSERA_BAD_INPUT, "%s: no data", t->name);
}
