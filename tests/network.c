#include "tests/network.h"

#include <assert.h>
#include <string.h>

#include "backend/lower.h"
#include "frontend/model.h"
#include "passes/pass.h"
#include "passes/plan.h"
#include "runtime/ref/ref.h"

static Plan *planned(Network *n, int cores)
{
	if (!cores)
		return plan_bands(n->g, n->target);
	Plan *p = plan_steps(n->g, n->target);
	if (!p)
		return NULL;
	plan_cut(p, cores);
	return plan_place(p) ? p : NULL;
}

Network *network_of(Graph *g, int cores)
{
	Network *n = arena_new(g->arena, Network);
	TesseraError e = { 0 };
	n->g = g;
	if (!passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		return NULL;
	n->target = target_load(g->arena, g->diag, "wormhole_n150");
	n->plan = planned(n, cores);
	if (!n->plan)
		return NULL;
	n->program = lower(n->plan);
	const EmitOptions options = { .compiler = "test" };
	if (!emit_program(&n->emission, g->arena, g->diag, n->program, n->target, &options))
		return NULL;
	n->opened = tessera_package_memory(n->emission.package.data, n->emission.package.size, &e);
	if (!n->opened)
		diag_error(g->diag, (Loc){ .file = "package" }, "%s", e.text);
	return n->opened ? n : NULL;
}

Network *network_compile(Arena *a, Diag *d, const char *text, int cores)
{
	Graph *g = text_parse(a, d, "net.ir", text, strlen(text), &(ModelOptions){ 0 });
	return g ? network_of(g, cores) : NULL;
}

void network_free(Network *n)
{
	if (n)
		tessera_package_close(n->opened);
}

static int64_t elements(TesseraTensor t) { return (int64_t)(t.bytes / sizeof(float)); }

int64_t network_input_count(const Network *n) { return elements(tessera_input(n->opened, 0)); }
int64_t network_output_count(const Network *n) { return elements(tessera_output(n->opened, 0)); }

bool network_run(const Network *n, const char *device, const float *in, float *out,
		 TesseraError *e)
{
	TesseraDevice *d = tessera_device_open(device, e);
	TesseraProgram *p = d ? tessera_load(d, n->opened, e) : NULL;
	const TesseraTensor x = tessera_input(n->opened, 0), y = tessera_output(n->opened, 0);
	const TesseraArray from = tessera_array(&x, (void *)(uintptr_t)in);
	const TesseraArray to = tessera_array(&y, out);
	const bool ok = p && tessera_run(p, &from, 1, &to, 1, e);
	tessera_unload(p);
	tessera_device_close(d);
	return ok;
}

void network_ref(const Network *n, const float *in, float *out)
{
	Tensor *x = NULL, *y = NULL;
	for_each_op(op, n->g)
		if (op->kind == OP_INPUT) {
			x = tensor_create(n->g->arena, TYPE_F32, op_callers_shape(op));
			memcpy(tensor_f32_data(x), in, (size_t)tensor_bytes(x));
		}
	const bool ok = ref_run(n->g, n->g->arena, &x, &y, &(RefOptions){ 0 });
	assert(ok);
	(void)ok;
	memcpy(out, y->data, (size_t)tensor_bytes(y));
}
