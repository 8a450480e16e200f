/*
 * run and verify of a package: a graph that has nothing but the package's
 * inputs and outputs stands for the model.
 */
#include <stdio.h>
#include <string.h>

#include "frontend/cmd_device.h"
#include "runtime/host/ttb.h"

bool session_is_package(const Session *s)
{
	char magic[sizeof TTB_MAGIC - 1];
	FILE *f = fopen(s->opt->model, "rb");
	const bool is = f && fread(magic, 1, sizeof magic, f) == sizeof magic
		&& memcmp(magic, TTB_MAGIC, sizeof magic) == 0;
	if (f)
		fclose(f);
	return is;
}

static void close_package(void *package) { tessera_package_close(package); }

static Shape shape_of(TesseraTensor t)
{
	Shape s = { .rank = t.rank };
	for (int i = 0; i < t.rank; i++)
		s.dim[i] = t.shape[i];
	return s;
}

static void add_input(Graph *g, TesseraTensor t)
{
	Op *op = graph_insert(g, NULL, OP_INPUT, t.name, 0, NULL);
	op->dtype = session_device_type(t.type);
	op->shape = shape_of(t);
}

static void add_output(Graph *g, TesseraTensor t)
{
	Tensor *nothing = tensor_splat(g->arena, session_device_type(t.type), shape_of(t), 0, 0);
	Op *from = graph_constant(g, NULL, t.name, nothing);
	Op *op = graph_insert(g, NULL, OP_OUTPUT, t.name, 1, &from);
	op->node = arena_strdup(g->arena, t.name);
	op_infer(g, op);
}

Graph *session_open_package(Session *s)
{
	TesseraPackage *p = session_open_ttb(s);
	if (!p)
		return NULL;
	arena_on_destroy(s->arena, close_package, p);
	s->package = p;
	Graph *g = graph_create(s->arena, s->diag, "package");
	for (size_t i = 0; i < tessera_input_count(p); i++)
		add_input(g, tessera_input(p, i));
	for (size_t i = 0; i < tessera_output_count(p); i++)
		add_output(g, tessera_output(p, i));
	return g;
}
