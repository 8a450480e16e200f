/*
 * Graph to text. What is printed here, frontend/text.y reads back to a graph
 * that prints the same bytes; IR.md is the reference.
 */
#include "ir/graph.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/quote.h"

const char *const dev_type_names[DEV_TYPE_COUNT] = { "bf16", "bfp8_b", "f32" };

const char *dev_type_name(DevTypes type)
{
	for (int i = 0; i < DEV_TYPE_COUNT; i++)
		if (type == (DevTypes)(1 << i))
			return dev_type_names[i];
	return "no format";
}

typedef struct Out {
	FILE *f;
	bool any; /* an attribute was printed, so the brace is open */
} Out;

static void print_name(FILE *f, const char *name)
{
	fputc('%', f);
	name_print(f, name);
}

/* In the fewest digits that read back to the same float. */
static void print_float(FILE *f, float v)
{
	char text[32];
	if (isnan(v)) {
		fputs("nan", f);
		return;
	}
	for (int digits = 1; digits <= 9; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, (double)v);
		if (strtof(text, NULL) == v)
			break;
	}
	fputs(text, f);
}

static void key(Out *o, const char *name)
{
	fprintf(o->f, "%s%s", o->any ? ", " : " {", name);
	o->any = true;
}

static void print_ints(Out *o, const char *name, Ints list)
{
	if (!list.n)
		return;
	key(o, name);
	for (int i = 0; i < list.n; i++)
		fprintf(o->f, "%s%" PRId64, i ? "," : " = [", list.v[i]);
	fputc(']', o->f);
}

static void print_floats(Out *o, const char *name, Floats list)
{
	if (!list.n)
		return;
	key(o, name);
	for (int i = 0; i < list.n; i++) {
		fputs(i ? "," : " = [", o->f);
		print_float(o->f, list.v[i]);
	}
	fputc(']', o->f);
}

static bool same_float(float a, float b)
{
	return memcmp(&a, &b, sizeof a) == 0;
}

static void print_field(Out *o, const AttrField *f, const Attrs *attrs)
{
	switch (f->kind) {
	case ATTR_INT:
		if (*ATTR_AT_CONST(attrs, f, int64_t) != (int64_t)f->def) {
			key(o, f->name);
			fprintf(o->f, " = %" PRId64, *ATTR_AT_CONST(attrs, f, int64_t));
		}
		break;
	case ATTR_FLOAT:
		if (!same_float(*ATTR_AT_CONST(attrs, f, float), (float)f->def)) {
			key(o, f->name);
			fputs(" = ", o->f);
			print_float(o->f, *ATTR_AT_CONST(attrs, f, float));
		}
		break;
	case ATTR_BOOL:
		if (*ATTR_AT_CONST(attrs, f, bool) != (f->def != 0)) {
			key(o, f->name);
			fputs(f->def != 0 ? " = false" : "", o->f);
		}
		break;
	case ATTR_TYPE:
		if (*ATTR_AT_CONST(attrs, f, DType) != (DType)f->def) {
			key(o, f->name);
			fprintf(o->f, " = %s", type_info[*ATTR_AT_CONST(attrs, f, DType)].name);
		}
		break;
	case ATTR_ENUM:
		if (*ATTR_AT_CONST(attrs, f, int) != (int)f->def) {
			key(o, f->name);
			fprintf(o->f, " = %s", f->names[*ATTR_AT_CONST(attrs, f, int)]);
		}
		break;
	case ATTR_INTS:
		print_ints(o, f->name, *ATTR_AT_CONST(attrs, f, Ints));
		break;
	case ATTR_FLOATS:
		print_floats(o, f->name, *ATTR_AT_CONST(attrs, f, Floats));
		break;
	}
}

static void print_absorbed(Out *o, const Op *op)
{
	if (!op->absorbed.n)
		return;
	key(o, "absorbed");
	for (int i = 0; i < op->absorbed.n; i++) {
		fputs(i ? ", " : " = [", o->f);
		quote_print(o->f, op->absorbed.v[i]);
	}
	fputc(']', o->f);
}

static void print_act(Out *o, const Op *op)
{
	const OpInfo *info = &op_info[op->act.kind];
	bool any = false;

	if (!op_has_act(op))
		return;
	key(o, "act");
	fprintf(o->f, " = %s", info->name);
	for (int i = 0; i < info->nfields; i++) {
		if (same_float(op->act.param[i], (float)info->fields[i].def))
			continue;
		fprintf(o->f, "%s%s = ", any ? ", " : "(", info->fields[i].name);
		print_float(o->f, op->act.param[i]);
		any = true;
	}
	fputs(any ? ")" : "", o->f);
}

static void print_hints(Out *o, const Op *op)
{
	if (!op->nhints)
		return;
	key(o, "hints");
	for (int i = 0; i < op->nhints; i++) {
		fprintf(o->f, "%s%s = ", i ? ", " : " = [", op->hints[i].key);
		quote_print(o->f, op->hints[i].value);
	}
	fputc(']', o->f);
}

static void print_node(Out *o, const Op *op)
{
	if (!op->node)
		return;
	key(o, "node");
	fputs(" = ", o->f);
	quote_print(o->f, op->node);
}

static void print_formats(Out *o, const char *name, DevTypes set)
{
	const char *before = " = ";
	if (!set)
		return;
	key(o, name);
	for (int i = 0; i < DEV_TYPE_COUNT; i++)
		if (set >> i & 1) {
			fprintf(o->f, "%s%s", before, dev_type_names[i]);
			before = "|";
		}
}

static void print_stored(Out *o, const Op *op)
{
	print_formats(o, "stored", op->stored);
}

static void print_weights(Out *o, const Op *op)
{
	print_formats(o, "weights", op->weights);
}

static const struct {
	const char *name;
	void (*print)(Out *o, const Op *op);
} notes[] = {
#define NOTE(name, what) { #name, print_##name },
#include "ir/notes.def"
};

/* Merges two sorted lists: the notes and the kind's attributes. */
static void print_attributes(const Op *op, FILE *f)
{
	const OpInfo *info = &op_info[op->kind];
	const int nnotes = sizeof notes / sizeof notes[0];
	Out o = { .f = f };
	int field = 0;

	for (int note = 0; note <= nnotes; note++) {
		while (field < info->nfields &&
		       (note == nnotes || strcmp(info->fields[field].name, notes[note].name) < 0))
			print_field(&o, &info->fields[field++], &op->attr);
		if (note < nnotes)
			notes[note].print(&o, op);
	}
	fputs(o.any ? "}" : "", f);
}

static void print_element(const Tensor *t, int64_t i, FILE *f)
{
	switch (type_info[t->dtype].class) {
	case FLOATING:
		if (isnan(tensor_f64(t, i)))
			fputs("nan", f);
		else
			fprintf(f, "%a", tensor_f64(t, i));
		break;
	case UNSIGNED:
		fprintf(f, "%" PRIu64, (uint64_t)tensor_i64(t, i));
		break;
	case LOGICAL:
		fputs(tensor_i64(t, i) ? "true" : "false", f);
		break;
	case SIGNED:
	case NO_CLASS:
		fprintf(f, "%" PRId64, tensor_i64(t, i));
		break;
	}
}

bool tensor_prints_hash(const Tensor *t)
{
	return !t->data || (!t->splat && tensor_count(t) > PRINT_INLINE);
}

static void print_value(const Tensor *t, FILE *f)
{
	if (tensor_prints_hash(t)) {
		fprintf(f, " hash \"%016" PRIx64 "\"", tensor_hash(t));
	} else if (t->splat) {
		fputs(" splat ", f);
		print_element(t, 0, f);
	} else {
		fputs(" [", f);
		for (int64_t i = 0; i < tensor_count(t); i++) {
			fputs(i ? ", " : "", f);
			print_element(t, i, f);
		}
		fputc(']', f);
	}
}

void op_print(const Op *op, FILE *f)
{
	char type[TYPE_TEXT];

	print_name(f, op->name);
	fprintf(f, " = %s", op_info[op->kind].name);
	if (op->value)
		print_value(op->value, f);
	for (int i = 0; i < op->nin; i++) {
		fputs(i ? ", " : " ", f);
		print_name(f, op_in(op, i)->name);
	}
	print_attributes(op, f);
	fprintf(f, " : %s\n", type_text(type, op->dtype, op->shape));
}

void graph_print(const Graph *g, FILE *f)
{
	if (*g->name) {
		fputs("graph ", f);
		quote_print(f, g->name);
		fputc('\n', f);
	}
	if (g->weights_file) {
		fputs("weights ", f);
		quote_print(f, g->weights_file);
		fputc('\n', f);
	}
	for_each_op(op, g)
		op_print(op, f);
}
