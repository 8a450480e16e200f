/*
 * The rules a graph obeys, one CHECK each.
 *
 * A breach after reading is the model's fault. A breach after a pass is
 * ours, and passes_run() names the pass. The rules are tried in three rounds,
 * each of which may trust what the one before it checked: the list of ops,
 * the use-lists, the ops one by one. All of it takes linear time.
 */
#include "ir/graph.h"

#include <stdlib.h>
#include <string.h>

#include "ir/hint.h"

#define CHECK(op, cond, ...) \
	do { \
		if (!(cond)) \
			diag_error(g->diag, (op)->loc, __VA_ARGS__); \
	} while (0)

/* op->mark is the op's place in `order` while the graph is verified. */
typedef struct Places {
	Op **order;
	int *reads; /* per op: how many inputs read it */
	int n;
} Places;

static bool has_place(const Places *p, const Op *op)
{
	return op->mark >= 0 && op->mark < p->n && p->order[op->mark] == op;
}

/* Where breaches are reported that belong to no one op. */
static Loc whole_graph(const Graph *g)
{
	return (Loc){ .file = g->first ? g->first->loc.file : NULL };
}

static const char *spelling(const Op *op)
{
	return op_info[op->kind].name;
}

static bool verify_list(const Graph *g, Places *p)
{
	const int before = g->diag->errors;
	const Op *prev = NULL;

	for (Op *op = g->first; op && g->diag->errors == before; prev = op, op = op->next) {
		CHECK(op, op->prev == prev, "'%s': prev is not the op before it", op->name);
		CHECK(op, p->n < g->nops, "'%s': the list is longer than the %d ops counted",
		      op->name, g->nops);
		if (g->diag->errors != before)
			return false;
		op->mark = p->n;
		p->order[p->n++] = op;
	}
	if (p->n != g->nops)
		diag_error(g->diag, whole_graph(g), "the list holds %d ops, %d are counted", p->n, g->nops);
	if (g->last != prev)
		diag_error(g->diag, whole_graph(g), "the last op of the list is not g->last");
	return g->diag->errors == before;
}

static void verify_names(const Graph *g)
{
	int named = 0;

	for_each_op(op, g)
		CHECK(op, graph_find(g, op->name) == op, "'%s': the name finds another op", op->name);
	for (size_t i = 0; i < g->names.cap; i++)
		named += g->names.slots[i].value != NULL;
	if (named != g->nops)
		diag_error(g->diag, whole_graph(g), "%d names are taken, but there are %d ops", named, g->nops);
}

static bool verify_inputs(const Graph *g, const Places *p)
{
	const int before = g->diag->errors;

	for_each_op(op, g) {
		CHECK(op, op->kind < OP_COUNT, "'%s': %d is no kind of op", op->name, (int)op->kind);
		if (op->kind >= OP_COUNT)
			continue;
		const OpInfo *info = &op_info[op->kind];
		CHECK(op, info->min_in <= op->nin && op->nin <= info->max_in,
		      "%s takes %d to %d inputs, has %d", info->name, info->min_in, info->max_in, op->nin);
		for (int i = 0; i < op->nin; i++) {
			const Use *u = &op->in[i];
			bool known = has_place(p, u->def);
			CHECK(op, known, "%s: input %d has left the graph", info->name, i);
			CHECK(op, !known || u->def->mark < op->mark,
			      "%s: input %d ('%s') comes after its reader", info->name, i, u->def->name);
			CHECK(op, u->user == op, "%s: input %d belongs to another op", info->name, i);
			if (known)
				p->reads[u->def->mark]++;
		}
	}
	return g->diag->errors == before;
}

static bool is_input_of(const Use *u, const Op *user)
{
	uintptr_t at = (uintptr_t)u, from = (uintptr_t)user->in;
	uintptr_t end = from + (size_t)user->nin * sizeof *u;
	return at >= from && at < end && (at - from) % sizeof *u == 0;
}

/* Links that agree in both directions rule out cycles and double entries, so
 * the walk ends at the first that does not. With that, a list as long as the
 * number of inputs that read the op holds each of them once. */
static bool verify_uses(const Graph *g, const Places *p, const Op *op)
{
	const int before = g->diag->errors;
	Use *const *link = &op->uses;
	int n = 0;

	for (const Use *u = op->uses; u; link = &u->next, u = u->next, n++) {
		CHECK(op, u->link == link, "%s: the use-list's links disagree", spelling(op));
		if (u->link != link)
			return false;
		CHECK(op, u->def == op, "%s: the use-list holds a use of something else", spelling(op));
		CHECK(op, has_place(p, u->user), "%s: read by an op that has left the graph", spelling(op));
		CHECK(op, !has_place(p, u->user) || is_input_of(u, u->user),
		      "%s: the use-list holds what is no input", spelling(op));
	}
	CHECK(op, n == p->reads[op->mark], "%s: %d inputs read it, %d are in its use-list",
	      spelling(op), p->reads[op->mark], n);
	return g->diag->errors == before;
}

static void verify_readers(const Graph *g, const Op *op)
{
	CHECK(op, op->kind != OP_OUTPUT || !op->uses, "output: '%s' reads it", op->uses->user->name);
	if (op->kind != OP_VIEW)
		return;
	for_each_use(u, op)
		CHECK(op, u->user->kind == OP_OUTPUT, "view: read by '%s', which is no output",
		      u->user->name);
}

static void verify_field(const Graph *g, const Op *op, const AttrField *f)
{
	switch (f->kind) {
	case ATTR_TYPE:
		CHECK(op, *ATTR_AT_CONST(&op->attr, f, DType) < TYPE_COUNT, "%s: %s is %d, which is no type",
		      spelling(op), f->name, (int)*ATTR_AT_CONST(&op->attr, f, DType));
		break;
	case ATTR_ENUM: {
		const int v = *ATTR_AT_CONST(&op->attr, f, int);
		CHECK(op, v >= 0 && v < f->nnames, "%s: %s is %d, there are %d", spelling(op), f->name,
		      v, f->nnames);
		break;
	}
	case ATTR_INTS:
		CHECK(op, ATTR_AT_CONST(&op->attr, f, Ints)->n >= 0, "%s: %s has a negative length",
		      spelling(op), f->name);
		break;
	case ATTR_FLOATS:
		CHECK(op, ATTR_AT_CONST(&op->attr, f, Floats)->n >= 0, "%s: %s has a negative length",
		      spelling(op), f->name);
		break;
	case ATTR_INT:
	case ATTR_FLOAT:
	case ATTR_BOOL:
		break;
	}
}

static bool hint_known(const char *key)
{
	const char *known, *form, *what;
	for (int i = 0; hint_row(i, &known, &form, &what); i++)
		if (strcmp(known, key) == 0)
			return true;
	return false;
}

static void verify_notes(const Graph *g, const Op *op)
{
	const unsigned all = (1u << DEV_TYPE_COUNT) - 1;

	CHECK(op, op->act.kind == OP_INPUT || op_is(op, TAKES_ACT), "%s: takes no activation",
	      spelling(op));
	CHECK(op, op->act.kind == OP_INPUT ||
	      (op->act.kind < OP_COUNT && op_info[op->act.kind].traits & ACT),
	      "%s: act is no activation", spelling(op));
	CHECK(op, !((unsigned)op->stored & ~all), "%s: stored has unknown formats", spelling(op));
	CHECK(op, !((unsigned)op->weights & ~all), "%s: weights has unknown formats", spelling(op));
	CHECK(op, !op->weights || op_is(op, WEIGHTS), "%s: has no weights to have a format",
	      spelling(op));
	for (int i = 0; i < op->nhints; i++)
		CHECK(op, hint_known(op->hints[i].key), "%s: no hint '%s'", spelling(op), op->hints[i].key);
}

/* An input's perm is not seen by any type rule. */
static bool is_permutation(Ints perm, int rank)
{
	unsigned seen = 0;
	for (int i = 0; i < perm.n && perm.n == rank; i++)
		if (perm.v[i] >= 0 && perm.v[i] < rank)
			seen |= 1u << perm.v[i];
	return perm.n == 0 || seen + 1 == 1u << rank;
}

static void verify_value(const Graph *g, const Op *op)
{
	const Tensor *t = op->value;

	CHECK(op, (op->kind == OP_CONSTANT) == (t != NULL), "%s: %s", spelling(op),
	      t ? "has a value" : "has no value");
	CHECK(op, !t || (t->dtype == op->dtype && shape_equal(t->shape, op->shape)),
	      "%s: the value is of another type", spelling(op));
	CHECK(op, op->kind != OP_INPUT || is_permutation(op->attr.input.perm, op->shape.rank),
	      "input: perm is no permutation of its %d dims", op->shape.rank);
}

/* Runs the rule on a copy, which reports what does not fit. */
static void verify_type(const Graph *g, const Op *op)
{
	char stored[TYPE_TEXT], found[TYPE_TEXT];
	Graph scratch = *g;
	Op copy = *op;

	CHECK(op, op->dtype > TYPE_NONE && op->dtype < TYPE_COUNT && op->shape.rank >= 0 &&
	      op->shape.rank <= MAX_RANK && shape_count(op->shape) >= 0,
	      "%s: '%s' has no type", spelling(op), op->name);
	if (op->kind == OP_INPUT || op->kind == OP_CONSTANT || !op_infer(&scratch, &copy))
		return;
	CHECK(op, copy.dtype == op->dtype && shape_equal(copy.shape, op->shape),
	      "%s: '%s' is %s, the type rule says %s", spelling(op), op->name,
	      type_text(stored, op->dtype, op->shape), type_text(found, copy.dtype, copy.shape));
}

static void verify_op(const Graph *g, const Op *op)
{
	const OpInfo *info = &op_info[op->kind];
	const int before = g->diag->errors;

	verify_readers(g, op);
	verify_notes(g, op);
	for (int i = 0; i < info->nfields; i++)
		verify_field(g, op, &info->fields[i]);
	if (g->diag->errors == before)
		verify_type(g, op);
	if (g->diag->errors == before)
		verify_value(g, op);
}

static void verify_all(const Graph *g, Places *p)
{
	int outputs = 0;
	bool whole = verify_list(g, p);

	if (whole)
		verify_names(g);
	if (!whole || !verify_inputs(g, p))
		return;
	for_each_op(op, g)
		whole &= verify_uses(g, p, op);
	if (!whole)
		return;
	for_each_op(op, g) {
		verify_op(g, op);
		outputs += op->kind == OP_OUTPUT;
	}
	if (!outputs)
		diag_error(g->diag, whole_graph(g),
			   "the graph has no output: say what is one, as in '%%y = output %%x'");
}

bool graph_verify(const Graph *g)
{
	const int before = g->diag->errors;
	const size_t n = g->nops > 0 ? (size_t)g->nops : 0;
	Places p = { .order = xmalloc(n * sizeof(Op *)), .reads = xmalloc(n * sizeof(int)) };

	memset(p.reads, 0, n * sizeof(int));
	verify_all(g, &p);
	free(p.order);
	free(p.reads);
	return g->diag->errors == before;
}
