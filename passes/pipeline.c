#include "passes/pass.h"

#include <string.h>

#include "ir/clock.h"
#include "ir/file.h"

const Pass pass_info[PASS_COUNT] = {
#define PASS(name, summary) [PASS_##name] = { #name, summary, pass_##name },
#include "passes/passes.def"
};

PassId pass_by_name(const char *name)
{
	for (int i = 0; i < PASS_COUNT; i++)
		if (strcmp(pass_info[i].name, name) == 0)
			return (PassId)i;
	return PASS_COUNT;
}

/*
 * Shapes and weights first: fold_constants leaves nothing behind that only
 * looks like arithmetic. canonicalize then brings every model into NCHW and
 * one spelling, which the rest matches. Pads go before batch norms, because
 * a norm before a convolution folds only past its padding; biases after
 * them, because a bias between a product and its norm is the norm's.
 * fold_shuffle wants weights that are final but activations still apart,
 * which channels may pass; what it leaves is simplified again. Groups stay
 * whole, because a step reads each group's own planes (plan_conv.c);
 * lower_groups is for whoever asks for it.
 * output_views comes after the last pass that could use what it takes off
 * the device; its leftovers (constants, merged parts) go in the last
 * canonicalize. choose_dtypes looks at what is left.
 */
const PassId pass_pipeline[] = {
	PASS_fold_constants,
	PASS_canonicalize,
	PASS_fold_constants,
	PASS_fuse_pad,
	PASS_fold_batchnorm,
	PASS_fuse_bias,
	PASS_fold_shuffle,
	PASS_canonicalize,
	PASS_fuse_activation,
	PASS_output_views,
	PASS_canonicalize,
	PASS_choose_dtypes,
};
const int pass_pipeline_length = sizeof pass_pipeline / sizeof *pass_pipeline;

static uint64_t mix(uint64_t h, uint64_t word)
{
	return (h ^ word) * 0x9e3779b97f4a7c15u ^ h >> 29;
}

static uint64_t mix_bytes(uint64_t h, const void *data, size_t n)
{
	const unsigned char *p = data;
	for (size_t i = 0; i < n; i++)
		h = mix(h, p[i]);
	return h;
}

static uint64_t mix_attr(uint64_t h, const Attrs *attrs, const AttrField *f)
{
	switch (f->kind) {
	case ATTR_INT:
		return mix(h, (uint64_t)*ATTR_AT_CONST(attrs, f, int64_t));
	case ATTR_FLOAT:
		return mix_bytes(h, ATTR_AT_CONST(attrs, f, float), sizeof(float));
	case ATTR_BOOL:
		return mix(h, *ATTR_AT_CONST(attrs, f, bool));
	case ATTR_TYPE:
	case ATTR_ENUM:
		return mix(h, (uint64_t)*ATTR_AT_CONST(attrs, f, int));
	case ATTR_INTS: {
		Ints list = *ATTR_AT_CONST(attrs, f, Ints);
		return mix_bytes(mix(h, (uint64_t)list.n), list.v, (size_t)list.n * sizeof *list.v);
	}
	case ATTR_FLOATS: {
		Floats list = *ATTR_AT_CONST(attrs, f, Floats);
		return mix_bytes(mix(h, (uint64_t)list.n), list.v, (size_t)list.n * sizeof *list.v);
	}
	}
	return h;
}

/* Of all a pass may change, except the elements of constants: those count by
 * where they lie, and whoever writes them in place also rewires something. */
static uint64_t graph_hash(const Graph *g)
{
	uint64_t h = 0;
	for (const Op *op = g->first; op; op = op->next) {
		h = mix_bytes(mix(h, (uint64_t)op->kind), op->name, strlen(op->name));
		h = mix(mix(h, (uint64_t)op->dtype), (uint64_t)op->shape.rank);
		h = mix_bytes(h, op->shape.dim, (size_t)op->shape.rank * sizeof *op->shape.dim);
		for (int i = 0; i < op->nin; i++)
			h = mix(h, (uint64_t)(uintptr_t)op_in(op, i));
		for (int i = 0; i < op_info[op->kind].nfields; i++)
			h = mix_attr(h, &op->attr, &op_info[op->kind].fields[i]);
		if (op->value)
			h = mix(h, (uint64_t)(uintptr_t)op->value->data);
		h = mix_bytes(mix(h, (uint64_t)op->act.kind), op->act.param, sizeof op->act.param);
		h = mix(mix(h, (uint64_t)op->absorbed.n), (uint64_t)op->nhints);
		h = mix(mix(h, (uint64_t)op->stored), (uint64_t)op->weights);
	}
	return h;
}

static void print_dump(const Graph *g, const Pass *pass, bool changed, FILE *f)
{
	fprintf(f, "// after %s%s\n", pass->name, changed ? "" : " (no change)");
	graph_print(g, f);
}

static void dump_file(const Graph *g, const Pass *pass, int position, const PassOptions *opt)
{
	const char *path = path_join(g->arena, opt->dump_dir,
		arena_printf(g->arena, "%02d_%s.ir", position, pass->name));
	OutFile out;
	if (!make_folder(g->diag, opt->dump_dir))
		return;
	if (opt->keep)
		opt->keep(opt->context, g);
	if (!out_open(&out, g->arena, g->diag, path))
		return;
	print_dump(g, pass, true, out.f);
	out_commit(&out, g->diag);
}

static void dump(const Graph *g, const Pass *pass, int position, bool changed,
		 const PassOptions *opt)
{
	const char *after = opt->dump_after ? opt->dump_after : opt->dump_dir ? "all" : "";
	if (strcmp(after, "all") != 0 && strcmp(after, pass->name) != 0)
		return;
	if (!opt->dump_dir)
		print_dump(g, pass, changed, opt->dump_to);
	else if (changed)
		dump_file(g, pass, position, opt);
}

bool passes_run(Graph *g, const PassId ids[], int n, const PassOptions *opt)
{
	uint64_t hash = graph_hash(g);
	for (int i = 0; i < n; i++) {
		const Pass *pass = &pass_info[ids[i]];
		const int before = g->nops;
		const double start = clock_now();
		const bool changed = pass->run(g);
		if (opt->timing)
			fprintf(opt->timing, "%-16s %9.3f ms  %6d -> %d ops%s\n", pass->name,
				1e3 * (clock_now() - start), before, g->nops,
				changed ? "" : "  (no change)");
		dump(g, pass, opt->first + i + 1, changed, opt);
		if (g->diag->errors)
			return false;
		if (changed && !graph_verify(g))
			die("%s broke the graph", pass->name);
		const uint64_t was = hash;
		hash = graph_hash(g);
		if (!changed && hash != was)
			die("%s changed the graph and says it did not", pass->name);
	}
	return true;
}
