#include "tests/network.h"

#include <assert.h>
#include <string.h>

#include "backend/lower.h"
#include "frontend/model.h"
#include "passes/check_plan.h"
#include "passes/pass.h"
#include "passes/plan.h"
#include "runtime/ref/ref.h"

enum { MOST = 16 }; /* inputs, outputs */

Network *network_planned(Graph *g, const PlanOptions *options)
{
	return network_on(g, target_load(g->arena, g->diag, "wormhole_n150"), options);
}

Network *network_of_plan(Graph *g, Plan *plan)
{
	Network *n = arena_new(g->arena, Network);
	TesseraError e = { 0 };
	n->g = g;
	n->target = plan->target;
	n->plan = plan;
	n->program = lower(n->plan);
	const EmitOptions emit = { .compiler = "test" };
	if (!emit_program(&n->emission, g->arena, g->diag, n->program, n->target, &emit))
		return NULL;
	n->opened = tessera_package_memory(n->emission.package.data, n->emission.package.size, &e);
	if (!n->opened)
		diag_error(g->diag, (Loc){ .file = "package" }, "%s", e.text);
	return n->opened ? n : NULL;
}

Network *network_on(Graph *g, const Target *target, const PlanOptions *options)
{
	if (!passes_run(g, pass_pipeline, pass_pipeline_length, &(PassOptions){ 0 }))
		return NULL;
	Plan *plan = plan_bands(g, target, options);
	return plan && check_plan(plan, g->diag) ? network_of_plan(g, plan) : NULL;
}

Network *network_of(Graph *g, int cores)
{
	return network_planned(g, &(PlanOptions){ .cores = cores });
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

int64_t network_input_count(const Network *n)
{
	int64_t sum = 0;
	for (size_t i = 0; i < tessera_input_count(n->opened); i++)
		sum += (int64_t)(tessera_input(n->opened, i).bytes / sizeof(float));
	return sum;
}

int64_t network_output_count(const Network *n)
{
	int64_t sum = 0;
	for (size_t i = 0; i < tessera_output_count(n->opened); i++)
		sum += (int64_t)(tessera_output(n->opened, i).bytes / sizeof(float));
	return sum;
}

bool network_run_loaded(const Network *n, TesseraProgram *p, const float *in, float *out,
			TesseraError *e)
{
	const size_t nin = tessera_input_count(n->opened), nout = tessera_output_count(n->opened);
	TesseraArray from[MOST], to[MOST];
	assert(nin <= MOST && nout <= MOST);
	for (size_t i = 0; i < nin; i++) {
		const TesseraTensor t = tessera_input(n->opened, i);
		from[i] = tessera_array(&t, (void *)(uintptr_t)in);
		in += t.bytes / sizeof(float);
	}
	for (size_t i = 0; i < nout; i++) {
		const TesseraTensor t = tessera_output(n->opened, i);
		to[i] = tessera_array(&t, out);
		out += t.bytes / sizeof(float);
	}
	return tessera_run(p, from, nin, to, nout, e);
}

bool network_run(const Network *n, const char *device, const float *in, float *out,
		 TesseraError *e)
{
	TesseraDevice *d = tessera_device_open(device, e);
	TesseraProgram *p = d ? tessera_load(d, n->opened, e) : NULL;
	const bool ok = p && network_run_loaded(n, p, in, out, e);
	tessera_unload(p);
	tessera_device_close(d);
	return ok;
}

void network_ref(const Network *n, const float *in, float *out)
{
	Tensor *x[MOST] = { 0 }, *y[MOST] = { 0 };
	size_t nin = 0;
	for_each_op(op, n->g)
		if (op->kind == OP_INPUT) {
			assert(nin < MOST);
			x[nin] = tensor_create(n->g->arena, TYPE_F32, op_callers_shape(op));
			memcpy(tensor_f32_data(x[nin]), in, (size_t)tensor_bytes(x[nin]));
			in += tensor_count(x[nin++]);
		}
	const bool ok = ref_run(n->g, n->g->arena, x, y, &(RefOptions){ 0 });
	assert(ok);
	(void)ok;
	for (size_t i = 0; i < tessera_output_count(n->opened); i++) {
		memcpy(out, y[i]->data, (size_t)tensor_bytes(y[i]));
		out += tensor_count(y[i]);
	}
}
