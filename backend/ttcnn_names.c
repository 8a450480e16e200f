#include "backend/ttcnn_names.h"

#include <stdlib.h>
#include <string.h>

/* Words of Python, and names the module has already. */
static const char *const taken[] = {
	"and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif",
	"else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda",
	"nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield", "self",
	"device", "tensors", "weight", "bias", "torch", "ttnn", "parameters", "height_sharded",
	"width_sharded", "block_sharded", "print", "deallocate_input_activation",
};

enum { TAKEN = sizeof taken / sizeof *taken };

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Letters, digits and single underscores. */
static char *identifier(Arena *a, const char *name)
{
	char *id = arena_alloc(a, strlen(name) + 3), *to = id;
	for (const char *c = name; *c; c++) {
		if (is_letter(*c) || is_digit(*c))
			*to++ = *c;
		else if (to > id && to[-1] != '_')
			*to++ = '_';
	}
	while (to > id && to[-1] == '_')
		to--;
	*to = '\0';
	if (!*id || is_digit(*id)) {
		memmove(id + 2, id, strlen(id) + 1);
		memcpy(id, "t_", 2);
	}
	return id;
}

void ttcnn_name_ops(Ttcnn *t)
{
	StrMap known;
	strmap_init(&known, t->arena);
	for (int i = 0; i < TAKEN; i++)
		strmap_put(&known, taken[i], t);
	t->names = arena_array(t->arena, const char *, t->plan->nops);
	for (int i = 0; i < t->plan->nops; i++) {
		const char *base = identifier(t->arena, t->plan->ops[i].op->name), *name = base;
		/* "_dram" behind a name is the tensor's copy there. */
		for (int n = 1; strmap_get(&known, name)
		     || strmap_get(&known, arena_printf(t->arena, "%s_dram", name)); n++)
			name = arena_printf(t->arena, "%s_%d", base, n);
		t->names[i] = name;
		strmap_put(&known, name, t);
		strmap_put(&known, arena_printf(t->arena, "%s_dram", name), t);
	}
}

int ttcnn_number(const Ttcnn *t, const TtnnOp *o) { return (int)(o - t->plan->ops); }

const char *ttcnn_class_name(Arena *a, const char *model)
{
	const char *id = identifier(a, model ? model : "model");
	char *name = arena_alloc(a, strlen(id) + 1), *to = name;
	for (const char *c = id; *c; c++) {
		const bool first = c == id || c[-1] == '_';
		if (*c != '_')
			*to++ = first && *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
	}
	return name;
}

const char *ttcnn_type(TtnnType type)
{
	return type == TTNN_BFP8 ? "ttnn.bfloat8_b" : "ttnn.bfloat16";
}

const char *ttcnn_layout(TtnnRows layout)
{
	return layout == TTNN_TILE ? "ttnn.TILE_LAYOUT" : "ttnn.ROW_MAJOR_LAYOUT";
}

const char *ttcnn_number_text(Arena *a, float v)
{
	const char *text;
	int digits = 1;
	do
		text = arena_printf(a, "%.*g", digits++, (double)v);
	while (strtof(text, NULL) != v && digits < 10);
	return text;
}

const char *ttcnn_act(Arena *a, Act act)
{
	const TtnnAct *row = ttnn_act(act);
	return *row->parameter
		? arena_printf(a, "ttnn.UnaryWithParam(ttnn.UnaryOpType.%s, %s)", row->type,
			       ttcnn_number_text(a, act.param[0]))
		: arena_printf(a, "ttnn.UnaryWithParam(ttnn.UnaryOpType.%s)", row->type);
}

static int at(Ints v, int i, int64_t otherwise) { return (int)(i < v.n ? v.v[i] : otherwise); }

const char *ttcnn_padding(Arena *a, Ints pads)
{
	const int top = at(pads, 0, 0), left = at(pads, 1, 0), bottom = at(pads, 2, 0);
	const int right = at(pads, 3, 0);
	return top == bottom && left == right ? arena_printf(a, "(%d, %d)", top, left)
		: arena_printf(a, "(%d, %d, %d, %d)", top, bottom, left, right);
}

const char *ttcnn_pair(Arena *a, Ints v, int64_t otherwise)
{
	return arena_printf(a, "(%d, %d)", at(v, 0, otherwise), at(v, 1, otherwise));
}

const char *ttcnn_memory_config(Arena *a, const Op *op, const TtnnPlace *p)
{
	const long long rows = ttnn_place_rows(op, p), channels = ttnn_place_channels(op, p);
	switch (p->shard) {
	case TTNN_HEIGHT:
		return arena_printf(a, "height_sharded((%lld, %lld), %d)", rows, channels, p->rows);
	case TTNN_WIDTH:
		return arena_printf(a, "width_sharded((%lld, %lld), %d)", rows, channels, p->planes);
	case TTNN_BLOCK:
		return arena_printf(a, "block_sharded((%lld, %lld), %d, %d)", rows, channels,
				    p->rows, p->planes);
	case TTNN_DRAM: break;
	}
	return "ttnn.DRAM_MEMORY_CONFIG";
}
