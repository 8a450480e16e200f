#include "ir/ttnn.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TTNN_ANY = TTNN_CONVS | TTNN_POOLS | TTNN_JOINS | TTNN_PAIRS | TTNN_UNARYS
	| TTNN_UPSAMPLES };

/* Of bf16 rows of pixels: 16 bytes. */
enum { LEAST_CHANNELS = 8 };

#define TTNN_WORDS_BEGIN(group) static const char *const words_##group[] = {
#define TTNN_WORD(group, id, spelling) spelling,
#define TTNN_WORDS_END(group) };
#define TTNN_FIELD(...)
#include "ir/ttnn_fields.def"

#define WORDS_OF_NUMBER NULL, 0
#define WORDS_OF(group) words_##group, sizeof words_##group / sizeof *words_##group
#define WORDS_OF_Shard WORDS_OF(Shard)
#define WORDS_OF_Flag WORDS_OF(Flag)
#define WORDS_OF_Type WORDS_OF(Type)
#define WORDS_OF_Fidelity WORDS_OF(Fidelity)
#define WORDS_OF_Slice WORDS_OF(Slice)
#define WORDS_OF_Rows WORDS_OF(Rows)
#define WORDS_OF_Park WORDS_OF(Park)
#define CONVS TTNN_CONVS
#define POOLS TTNN_POOLS
#define JOINS TTNN_JOINS
#define ANY TTNN_ANY

const TtnnFieldInfo ttnn_field_info[TTNN_FIELDS] = {
#define TTNN_WORDS_BEGIN(group)
#define TTNN_WORD(...)
#define TTNN_WORDS_END(group)
#define TTNN_FIELD(id, spelling, group, ops, what) \
	[TTNN_##id] = { spelling, WORDS_OF_##group, ops, what },
#include "ir/ttnn_fields.def"
};

const char *const ttnn_program_names[TTNN_PROGRAMS] = {
#define TTNN_PROGRAM(id, name, codes, what) [TTNN_RUN_##id] = name,
#include "ir/ttnn_programs.def"
};

#define PAIRS TTNN_PAIRS
#define UNARY TTNN_UNARYS
#define UPSAMPLES TTNN_UPSAMPLES
#define EDGES TTNN_EDGES

static const TtnnOpInfo op_rows[OP_COUNT] = {
#define TTNN_OP(kind, class, name, constraints) [OP_##kind] = { class, name, constraints },
#include "ir/ttnn_ops.def"
};

const TtnnOpInfo *ttnn_op_info(OpKind kind) { return op_rows[kind].name ? &op_rows[kind] : NULL; }

static const TtnnAct act_rows[OP_COUNT] = {
#define TTNN_ACT(kind, type, function, parameter) [OP_##kind] = { type, function, parameter },
#include "ir/ttnn_acts.def"
};

static bool about(float a, float b) { return fabsf(a - b) < 1e-6f; }

const TtnnAct *ttnn_act(Act act)
{
	const float *p = act.param;
	if (act.kind == OP_CLIP && !(about(p[0], 6) && about(p[1], 0)))
		return NULL;
	if (act.kind == OP_HARD_SIGMOID && !(about(p[0], 1 / 6.0f) && about(p[1], 0.5f)))
		return NULL;
	return act_rows[act.kind].type ? &act_rows[act.kind] : NULL;
}

const TtnnOp *ttnn_find(const TtnnPlan *p, const Op *op)
{
	for (int i = 0; i < p->nops; i++)
		if (p->ops[i].op == op)
			return &p->ops[i];
	return NULL;
}

bool ttnn_same_cut(const TtnnPlace *a, const TtnnPlace *b)
{
	return a->shard == b->shard && a->rows == b->rows && a->planes == b->planes
		&& a->whole == b->whole;
}

int64_t ttnn_channels(int64_t channels, TtnnRows layout, int64_t planes)
{
	const int64_t align = layout == TTNN_TILE ? TTNN_SIDE : LEAST_CHANNELS;
	return ttnn_round_up(channels, align * planes) / planes;
}

int64_t ttnn_rows(int64_t pixels, TtnnShard shard, int64_t rows, TtnnRows layout)
{
	const int64_t each = layout == TTNN_TILE ? TTNN_SIDE : 1;
	return shard == TTNN_WIDTH ? ttnn_round_up(pixels, each)
		: ttnn_round_up(pixels, rows * each) / rows;
}

int64_t ttnn_pixels(const Op *op)
{
	const int64_t *d = op->shape.dim;
	return d[0] * d[2] * d[3];
}

int64_t ttnn_place_rows(const Op *op, const TtnnPlace *p)
{
	return ttnn_rows(ttnn_pixels(op), p->shard, p->rows, p->whole ? TTNN_TILE : TTNN_ROW_MAJOR);
}

int64_t ttnn_place_channels(const Op *op, const TtnnPlace *p)
{
	return ttnn_channels(op->shape.dim[1], p->layout, p->planes);
}

bool ttnn_has(OpKind kind, TtnnField f)
{
	const TtnnOpInfo *info = ttnn_op_info(kind);
	if (kind == OP_INPUT)
		return f == TTNN_SHARD;
	return info && (ttnn_field_info[f].ops & info->class);
}

const char *ttnn_value(Arena *a, TtnnField f, int value)
{
	const TtnnFieldInfo *info = &ttnn_field_info[f];
	return info->words ? info->words[value] : arena_printf(a, "%d", value);
}

bool ttnn_read(TtnnField f, const char *text, int *value)
{
	const TtnnFieldInfo *info = &ttnn_field_info[f];
	for (int i = 0; i < info->nwords; i++)
		if (strcmp(text, info->words[i]) == 0)
			return *value = i, true;
	const size_t digits = strspn(text, "0123456789");
	if (info->words || !digits || text[digits] || digits > 8)
		return false;
	*value = atoi(text);
	return true;
}

static void print_op(const TtnnPlan *p, const TtnnOp *o, FILE *f)
{
	fprintf(f, "op %s %s", o->op->name, ttnn_op_info(o->op->kind)->name);
	for (int i = 0; i < TTNN_FIELDS; i++)
		if (ttnn_has(o->op->kind, i))
			fprintf(f, " %s=%s", ttnn_field_info[i].name,
				ttnn_value(p->graph->arena, i, o->choice.v[i]));
	fprintf(f, " ; %.1f us in %d programs, l1=%" PRId64, (double)o->ps / 1e6, o->n, o->l1);
	if (o->halo)
		fprintf(f, " halo=%" PRId64, o->halo);
	if (o->buffers)
		fprintf(f, " buffers=%" PRId64, o->buffers);
	fprintf(f, " result=%" PRId64 "\n", o->result);
}

void ttnn_print(const TtnnPlan *p, FILE *f)
{
	fprintf(f, "ttnn_plan %s target=%s l1_small=%" PRId64 "\n", p->graph->name,
		p->target->name, p->l1_small);
	for (int i = 0; i < p->nops; i++)
		if (p->ops[i].op->kind != OP_OUTPUT)
			print_op(p, &p->ops[i], f);
}
