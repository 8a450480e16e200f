/* Identifiers, variables and files of a graph written as NNEF. */
#include "frontend/nnef_write.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/model.h"
#include "frontend/nnef_ast.h"
#include "frontend/nnef_folder.h"
#include "frontend/weights.h"
#include "ir/file.h"

static const char *const keywords[] = {
	"version", "extension", "graph", "fragment", "tensor",    "integer",  "scalar",
	"logical", "string",    "true",  "false",    "for",       "in",       "if",
	"else",    "yield",     "length_of", "range_of", "shape_of",
};

static bool is_keyword(const char *s)
{
	for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
		if (strcmp(s, keywords[i]) == 0)
			return true;
	return false;
}

const char *writer_fresh(Writer *w, const char *wanted)
{
	size_t n = strlen(wanted);
	bool bad = !n || isdigit((unsigned char)wanted[0]) || is_keyword(wanted);
	char *id = arena_printf(w->arena, "%s%s", bad ? "_" : "", wanted);
	for (char *p = id; *p; p++)
		if (!isalnum((unsigned char)*p) || (unsigned char)*p > 127)
			*p = '_';
	const char *free_id = id;
	for (int i = 2; strmap_get(&w->taken, free_id); i++)
		free_id = arena_printf(w->arena, "%s_%d", id, i);
	strmap_put(&w->taken, free_id, w);
	return free_id;
}

const char *writer_part(Writer *w, const char *id, const char *suffix)
{
	return writer_fresh(w, arena_printf(w->arena, "%s_%s", id, suffix));
}

static bool is_printable(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 127)
			return false;
	return true;
}

/* The model's own name behind an identifier that had to differ from it. */
static void end_statement(Writer *w, FILE *f, const char *id, const Op *op)
{
	const char *own = op ? strmap_get(&w->idents, op->name) : NULL;
	bool differs = own == id && op && strcmp(id, op->name) != 0 && is_printable(op->name);
	fprintf(f, differs ? ";  # %s\n" : ";\n", differs ? op->name : "");
}

void writer_say(Writer *w, const char *id, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fprintf(w->body, "    %s = ", id);
	vfprintf(w->body, fmt, ap);
	va_end(ap);
	end_statement(w, w->body, id, w->op);
}

void writer_refuse(Writer *w, const char *fmt, ...)
{
	char why[300];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	diag_error(w->diag, w->op->loc, "%s '%s' has no form in strict NNEF: %s",
		   op_info[w->op->kind].name, w->op->name, why);
}

const char *writer_ints(Writer *w, const int64_t *v, int n)
{
	const char *text = "[";
	for (int i = 0; i < n; i++)
		text = arena_printf(w->arena, "%s%s%" PRId64, text, i ? ", " : "", v[i]);
	return arena_printf(w->arena, "%s]", text);
}

const char *writer_pairs(Writer *w, const int64_t *first, const int64_t *second, int n)
{
	const char *text = "[";
	for (int i = 0; i < n; i++)
		text = arena_printf(w->arena, "%s%s(%" PRId64 ", %" PRId64 ")", text, i ? ", " : "",
				    first[i], second[i]);
	return arena_printf(w->arena, "%s]", text);
}

/* In the fewest digits that read back to the same float, and so that it is
 * no integer. */
const char *writer_scalar(Writer *w, double v)
{
	char text[40];
	assert(isfinite(v));
	for (int digits = 1; digits <= 9; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, v);
		if (strtof(text, NULL) == (float)v)
			break;
	}
	return arena_printf(w->arena, strpbrk(text, ".e") ? "%s" : "%s.0", text);
}

static const char *type_argument(Writer *w, DType t)
{
	switch (t) {
	case TYPE_F32:
		return "";
	case TYPE_I64:
		return "<integer>";
	case TYPE_BOOL:
		return "<logical>";
	default:
		writer_refuse(w, "NNEF has no %s", type_info[t].name);
		return "";
	}
}

/* A label the variable may have: the one it came with, if it is one. */
static const char *label_of(Writer *w, const char *node, const char *id)
{
	const char *allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
	bool own = node && path_stays_inside(node) && strspn(node, allowed) == strlen(node) &&
		   !strstr(node, "//") && node[strlen(node) - 1] != '/';
	if (!own)
		return id;
	const char *key = arena_printf(w->arena, "label %s", node);
	if (strmap_get(&w->taken, key))
		return id;
	strmap_put(&w->taken, key, w);
	return node;
}

/* The statement and the file of a variable. */
static void add_variable(Writer *w, const char *id, const char *node, const Tensor *value,
			 const Op *op)
{
	Shape s = value->shape;
	const char *label = label_of(w, node, id);
	fprintf(w->head, "    %s = variable%s(shape = %s, label = '%s')", id,
		type_argument(w, value->dtype), writer_ints(w, s.dim, s.rank), label);
	end_statement(w, w->head, id, op);
	w->stored = nnef_grow(w->arena, w->stored, w->nstored, &w->cap, sizeof *w->stored);
	w->stored[w->nstored++] = (Stored){ label, value };
}

const char *writer_variable(Writer *w, const char *wanted, Tensor *value)
{
	const char *id = writer_fresh(w, wanted);
	add_variable(w, id, NULL, value, NULL);
	return id;
}

/* A constant as a variable of that shape, made at its first use. */
static const char *constant_as(Writer *w, const Op *op, Shape shape)
{
	const char *key = arena_printf(w->arena, "%s %s", shape_text(w->arena, shape), op->name);
	const char *id = strmap_get(&w->variables, key);
	if (id)
		return id;
	if (!op_value(op)) {
		writer_refuse(w, "constant '%s' has no data", op->name);
		return "none";
	}
	id = strmap_get(&w->idents, op->name);
	if (strmap_get(&w->variables, id))
		id = writer_fresh(w, op->name); /* already there under another shape */
	strmap_put(&w->variables, id, w);
	strmap_put(&w->variables, key, (char *)(uintptr_t)id);
	Tensor *t = shape_equal(shape, op->shape) ? op->value
						  : tensor_reshaped(w->arena, op->value, shape);
	add_variable(w, id, op->node, t, op);
	return id;
}

const char *writer_ref(Writer *w, const Op *op)
{
	if (op->kind != OP_CONSTANT)
		return strmap_get(&w->idents, op->name);
	const Tensor *t = op_value(op);
	if (!t || t->shape.rank)
		return constant_as(w, op, op->shape);
	if (t->dtype == TYPE_F32 && isfinite(tensor_f64(t, 0)))
		return writer_scalar(w, tensor_f64(t, 0));
	if (t->dtype == TYPE_I64 && tensor_i64(t, 0) > INT64_MIN)
		return arena_printf(w->arena, "%" PRId64, tensor_i64(t, 0));
	if (t->dtype == TYPE_BOOL)
		return tensor_i64(t, 0) ? "true" : "false";
	return constant_as(w, op, op->shape);
}

const char *writer_ref_as(Writer *w, const Op *op, Shape shape)
{
	if (shape_equal(shape, op->shape))
		return writer_ref(w, op);
	if (op->kind == OP_CONSTANT)
		return constant_as(w, op, shape);
	const char *from = writer_ref(w, op), *id = writer_part(w, from, "reshaped");
	writer_say(w, id, "reshape(%s, shape = %s)", from, writer_ints(w, shape.dim, shape.rank));
	return id;
}

const char *writer_operand(Writer *w, const Op *op, int rank)
{
	Shape s = { .rank = rank };
	int more = rank - op->shape.rank;
	if (!op->shape.rank && op->kind == OP_CONSTANT)
		return writer_ref(w, op);
	for (int i = 0; i < rank; i++)
		s.dim[i] = i < more ? 1 : op->shape.dim[i - more];
	return writer_ref_as(w, op, s);
}

/* Identifiers for all ops. What an output reads gets the output's name. */
static void name_ops(Writer *w)
{
	for_each_op(op, w->g) {
		const Op *from = op->kind == OP_OUTPUT && op->nin == 1 ? op_in(op, 0) : op;
		if (from == op || from->kind == OP_INPUT || from->kind == OP_CONSTANT ||
		    strmap_get(&w->idents, from->name))
			continue;
		const char *id = writer_fresh(w, op->node ? op->node : op->name);
		strmap_put(&w->idents, from->name, (char *)(uintptr_t)id);
	}
	for_each_op(op, w->g)
		if (op->kind != OP_OUTPUT && !strmap_get(&w->idents, op->name))
			strmap_put(&w->idents, op->name,
				   (char *)(uintptr_t)writer_fresh(w, op->name));
}

/* The external of an input, and if the caller's data is to be transposed, that. */
static const char *write_input(Writer *w, const Op *op)
{
	const char *id = strmap_get(&w->idents, op->name);
	Ints perm = op->attr.input.perm;
	Shape s = op->shape;
	if (perm.n) {
		const char *outside = writer_part(w, id, "outside");
		for (int i = 0; i < perm.n; i++)
			s.dim[perm.v[i]] = op->shape.dim[i];
		writer_say(w, id, "transpose(%s, axes = %s)", outside, writer_ints(w, perm.v, perm.n));
		id = outside;
	}
	fprintf(w->head, "    %s = external%s(shape = %s)", id, type_argument(w, op->dtype),
		writer_ints(w, s.dim, s.rank));
	end_statement(w, w->head, id, op);
	return id;
}

/* The identifier of a graph result: one that no other result has, and that is
 * neither external nor variable. */
static const char *write_output(Writer *w, const Op *op, StrMap *results)
{
	const Op *from = op_in(op, 0);
	const char *id = op->nin == 1 ? writer_ref(w, from) : "";
	if (op->nin > 1) {
		const char *list = "";
		for (int i = 0; i < op->nin; i++)
			list = arena_printf(w->arena, "%s%s%s", list, i ? ", " : "",
					    writer_ref(w, op_in(op, i)));
		id = writer_fresh(w, op->node ? op->node : op->name);
		writer_say(w, id, "concat([%s], axis = %" PRId64 ")", list, op->attr.axis.axis);
	} else if (from->kind == OP_INPUT || from->kind == OP_CONSTANT || strmap_get(results, id)) {
		const char *copy = writer_fresh(w, op->node ? op->node : op->name);
		writer_say(w, copy, "copy(%s)", id);
		id = copy;
	}
	strmap_put(results, id, w);
	return id;
}

/* All statements; the names of parameters and results, joined by commas. */
static void write_statements(Writer *w, const char **params, const char **results)
{
	StrMap seen;
	strmap_init(&seen, w->arena);
	*params = *results = "";
	name_ops(w);
	for_each_op(op, w->g) {
		w->op = op;
		if (op->kind == OP_INPUT) {
			*params = arena_printf(w->arena, "%s%s%s", *params, **params ? ", " : "",
					       write_input(w, op));
		} else if (op->kind == OP_OUTPUT) {
			*results = arena_printf(w->arena, "%s%s%s", *results, **results ? ", " : "",
						write_output(w, op, &seen));
		} else if (op->kind != OP_CONSTANT) {
			writer_op(w, op, strmap_get(&w->idents, op->name));
		}
	}
}

static bool write_graph(Writer *w, const char *dir, const char *text)
{
	OutFile out;
	if (!out_open(&out, w->arena, w->diag, path_join(w->arena, dir, "graph.nnef")))
		return false;
	fputs(text, out.f);
	return out_commit(&out, w->diag);
}

static bool write_weights(Writer *w, const char *dir)
{
	for (int i = 0; i < w->nstored; i++) {
		const char *path = path_join(w->arena, dir,
					     arena_printf(w->arena, "%s.dat", w->stored[i].label));
		if (!make_folder(w->diag, path_dir(w->arena, path)) ||
		    !dat_write(w->arena, w->diag, path, w->stored[i].value))
			return false;
	}
	return true;
}

/* The whole text, in the writer's arena; NULL if an op has no form in NNEF. */
static const char *text_of(Writer *w)
{
	char *head, *body;
	size_t nhead, nbody;
	const char *params, *results, *text = NULL;
	int before = w->diag->errors;
	w->head = open_memstream(&head, &nhead);
	w->body = open_memstream(&body, &nbody);
	if (!w->head || !w->body)
		die_out_of_memory(0);
	write_statements(w, &params, &results);
	if (fclose(w->head) != 0 || fclose(w->body) != 0)
		die_out_of_memory(0);
	if (w->diag->errors == before)
		text = arena_printf(w->arena, "%s\nversion 1.0;\n\ngraph %s(%s) -> (%s)\n{\n%s%s}\n",
				    NNEF_MARK, writer_fresh(w, w->g->name[0] ? w->g->name : "main"),
				    params, results, head, body);
	free(head);
	free(body);
	return text;
}

/* Says what of the graph strict NNEF has no place for. */
static void warn_of_losses(const Graph *g, Diag *d, const char *dir)
{
	int hints = 0;
	for_each_op(op, g)
		hints += op->nhints > 0;
	if (hints)
		diag_warning(d, (Loc){ .file = dir }, "strict NNEF has no hints: those on %d op%s are left out",
			     hints, hints == 1 ? "" : "s");
}

bool nnef_write(const Graph *g, Diag *d, const char *dir)
{
	Writer w = { .g = g, .arena = arena_create(), .diag = d };
	bool ok = false;
	strmap_init(&w.taken, w.arena);
	strmap_init(&w.idents, w.arena);
	strmap_init(&w.variables, w.arena);
	const char *text = text_of(&w), *temporary;
	if (text && folder_begin(w.arena, d, dir, &temporary)) {
		ok = write_weights(&w, temporary) && write_graph(&w, temporary, text);
		ok = folder_end(w.arena, d, dir, temporary, ok) && ok;
	}
	if (ok)
		warn_of_losses(g, d, dir);
	arena_destroy(w.arena);
	return ok;
}
