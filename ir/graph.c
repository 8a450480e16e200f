#include "ir/graph.h"

#include <assert.h>
#include <string.h>

Graph *graph_create(Arena *a, Diag *d, const char *name)
{
	Graph *g = arena_new(a, Graph);
	g->arena = a;
	g->diag = d;
	g->name = arena_strdup(a, name ? name : "");
	strmap_init(&g->names, a);
	return g;
}

static void link_use(Use *u, Op *user, Op *def)
{
	*u = (Use){ .def = def, .user = user, .next = def->uses, .link = &def->uses };
	if (u->next)
		u->next->link = &u->next;
	def->uses = u;
}

static void unlink_use(Use *u)
{
	*u->link = u->next;
	if (u->next)
		u->next->link = u->link;
}

/* Puts `op` before `at`, or last. */
static void link_op(Graph *g, Op *op, Op *at)
{
	op->next = at;
	op->prev = at ? at->prev : g->last;
	*(op->prev ? &op->prev->next : &g->first) = op;
	*(at ? &at->prev : &g->last) = op;
	g->nops++;
}

static void unlink_op(Graph *g, Op *op)
{
	*(op->prev ? &op->prev->next : &g->first) = op->next;
	*(op->next ? &op->next->prev : &g->last) = op->prev;
	op->prev = op->next = NULL;
	g->nops--;
}

const char *graph_unique_name(Graph *g, const char *wanted)
{
	const char *name = wanted;
	for (int i = 1; strmap_get(&g->names, name); i++)
		name = arena_printf(g->arena, "%s.%d", wanted, i);
	return name == wanted ? arena_strdup(g->arena, wanted) : name;
}

Op *graph_insert(Graph *g, Op *at, OpKind kind, const char *name, int nin,
		 Op *const in[])
{
	Op *op = arena_new(g->arena, Op);
	op->kind = kind;
	op->name = graph_unique_name(g, name);
	op->attr = attrs_default(kind);
	op->nin = op->cap = nin;
	op->in = arena_array(g->arena, Use, nin);
	for (int i = 0; i < nin; i++)
		link_use(&op->in[i], op, in[i]);
	if (at)
		op->loc = at->loc;
	link_op(g, op, at);
	strmap_put(&g->names, op->name, op);
	return op;
}

Op *graph_constant(Graph *g, Op *at, const char *name, Tensor *value)
{
	Op *op = graph_insert(g, at, OP_CONSTANT, name, 0, NULL);
	op->value = value;
	op->dtype = value->dtype;
	op->shape = value->shape;
	return op;
}

Op *graph_find(const Graph *g, const char *name)
{
	return strmap_get(&g->names, name);
}

void op_replace_uses(Op *from, Op *to)
{
	for_each_use(u, from)
		link_use(u, u->user, to);
	from->uses = NULL;
}

void op_set_input(Op *op, int i, Op *def)
{
	assert(i < op->nin);
	unlink_use(&op->in[i]);
	link_use(&op->in[i], op, def);
}

void op_add_input(Graph *g, Op *op, Op *def)
{
	if (op->nin == op->cap) {
		/* Uses move, so what points at them is linked anew. */
		Use *old = op->in;
		op->cap = op->cap ? op->cap * 2 : 2;
		op->in = arena_array(g->arena, Use, op->cap);
		for (int i = 0; i < op->nin; i++) {
			unlink_use(&old[i]);
			link_use(&op->in[i], op, old[i].def);
		}
	}
	link_use(&op->in[op->nin++], op, def);
}

void op_drop_inputs(Op *op, int n)
{
	while (op->nin > n)
		unlink_use(&op->in[--op->nin]);
}

void op_remove(Graph *g, Op *op)
{
	assert(!op->uses);
	op_drop_inputs(op, 0);
	strmap_remove(&g->names, op->name);
	unlink_op(g, op);
}

void op_remove_dead(Graph *g, Op *op)
{
	while (op->nin) {
		Op *def = op_in(op, op->nin - 1);
		op_drop_inputs(op, op->nin - 1);
		if (!def->uses && def->kind != OP_INPUT)
			op_remove_dead(g, def);
	}
	op_remove(g, op);
}

void op_move_before(Graph *g, Op *op, Op *at)
{
	assert(op != at);
	unlink_op(g, op);
	link_op(g, op, at);
}

void op_rename(Graph *g, Op *op, const char *name)
{
	strmap_remove(&g->names, op->name);
	op->name = graph_unique_name(g, name);
	strmap_put(&g->names, op->name, op);
}

void op_absorb(Graph *g, Op *op, const Op *other)
{
	Names *mine = &op->absorbed;
	const Names *theirs = &other->absorbed;
	const int n = mine->n + 1 + theirs->n;
	if (n > mine->cap) {
		const char **v = arena_array(g->arena, const char *, 2 * n);
		for (int i = 0; i < mine->n; i++)
			v[i] = mine->v[i];
		mine->v = v;
		mine->cap = 2 * n;
	}
	mine->v[mine->n++] = other->name;
	for (int i = 0; i < theirs->n; i++)
		mine->v[mine->n++] = theirs->v[i];
}

int op_use_count(const Op *op)
{
	int n = 0;
	for (const Use *u = op->uses; u; u = u->next)
		n++;
	return n;
}

Shape op_callers_shape(const Op *input)
{
	Shape s = input->shape;
	const Ints perm = input->attr.input.perm;
	for (int i = 0; i < perm.n; i++)
		s.dim[perm.v[i]] = input->shape.dim[i];
	return s;
}

Tensor *op_value(const Op *op)
{
	return op->kind == OP_CONSTANT && op->value->data ? op->value : NULL;
}
