/*
 * The module around the class: what it imports, its constants, the pipeline.
 */
#include "backend/ttcnn.h"

#include <inttypes.h>
#include <string.h>

#include "backend/ttcnn_names.h"
#include "ir/embed.h"
#include "ir/file.h"

extern const EmbeddedFile embedded_ttcnn[];

/* Bytes of trace that vanilla UNet's authors reserve for each of its programs, rounded
 * up, and in what steps. */
enum { TRACE_BYTES = 3072, TRACE_STEP = 32768 };

/* What TT-CNN has that a module may want. */
static const char *const builder_names[] = {
	"BlockShardedStrategyConfiguration", "Conv2dConfiguration",
	"HeightShardedStrategyConfiguration", "HeightSliceStrategyConfiguration",
	"L1FullSliceStrategyConfiguration", "MaxPool2dConfiguration", "TtConv2d", "TtMaxPool2d",
	"TtUpsample", "UpsampleConfiguration", "WidthShardedStrategyConfiguration",
	"WidthSliceStrategyConfiguration",
};

static const char *const pipeline_names[] = {
	"PipelineConfig", "create_pipeline_from_config",
	"get_memory_config_for_persistent_dram_tensor",
};

typedef struct Edges {
	int nin, nout;
	const TtnnOp **in, **out;
} Edges;

static Edges edges_of(const Ttcnn *t)
{
	const TtnnPlan *p = t->plan;
	Edges e = { .in = arena_array(t->arena, const TtnnOp *, p->nops),
		    .out = arena_array(t->arena, const TtnnOp *, p->nops) };
	for (int i = 0; i < p->nops; i++) {
		if (p->ops[i].op->kind == OP_INPUT)
			e.in[e.nin++] = &p->ops[i];
		else if (p->ops[i].op->kind == OP_OUTPUT)
			e.out[e.nout++] = &p->ops[i];
	}
	return e;
}

static const char *name_of(const Ttcnn *t, const TtnnOp *o) { return t->names[ttcnn_number(t, o)]; }

/* Does it run a program at the edge: are channels put last, or first, on the device? */
static bool turned(const TtnnOp *edge) { return edge->n > 0; }

/* The result of an op at the edge: from what is given, or to what is. */
static void call_edge(Ttcnn *t, const TtnnOp *o, const char *from, const char *function)
{
	if (!turned(o)) {
		py_line(&t->py, "%s = %s", name_of(t, o), from);
		return;
	}
	py_call(&t->py, name_of(t, o), function, PY_LINE);
	py_arg(&t->py, NULL, "%s", from);
	if (o->op->kind == OP_OUTPUT)
		py_arg(&t->py, "dtype", "ttnn.bfloat16");
	py_end(&t->py);
}

static void call_input(Ttcnn *t, const TtnnOp *o)
{
	const char *given = arena_printf(t->arena, "%s_given", name_of(t, o));
	call_edge(t, o, given, "ttnn.experimental.convert_to_hwc");
	if (turned(o)) {
		py_block(&t->py, "if deallocate_input_activation");
		py_call(&t->py, NULL, "ttnn.deallocate", PY_LINE);
		py_arg(&t->py, NULL, "%s", given);
		py_end(&t->py);
		py_leave(&t->py);
	}
	py_blank(&t->py);
}

static void call_output(Ttcnn *t, const TtnnOp *o)
{
	const TtnnOp *in = o->in[0];
	const bool parked = in->out.parked && o->from[0].shard == TTNN_DRAM;
	const char *from = parked ? arena_printf(t->arena, "%s_dram", name_of(t, in)) : name_of(t, in);
	call_edge(t, o, from, "ttnn.experimental.convert_to_chw");
	if (turned(o) && o->dies[0]) {
		py_call(&t->py, NULL, "ttnn.deallocate", PY_LINE);
		py_arg(&t->py, NULL, "%s", from);
		py_end(&t->py);
	}
	py_blank(&t->py);
}

static const char *name_list(Ttcnn *t, const TtnnOp *const ops[], int n, const char *suffix)
{
	const char *list = "";
	for (int i = 0; i < n; i++)
		list = arena_printf(t->arena, "%s%s%s%s", list, i ? ", " : "", name_of(t, ops[i]), suffix);
	return list;
}

static void print_class(Ttcnn *t, const Edges *e)
{
	const TtnnPlan *plan = t->plan;
	Py *p = &t->py;
	py_block(p, "class %s", ttcnn_class_name(t->arena, plan->graph->name));
	py_block(p, "def __init__(self, device, tensors)");
	bool any = false;
	for (int i = 0; i < plan->nops; i++) {
		if (!ttcnn_is_layer(&plan->ops[i]))
			continue;
		ttcnn_layer(t, &plan->ops[i]);
		any = true;
	}
	if (!any)
		py_line(p, "pass");
	py_leave(p);
	py_blank(p);
	py_block(p, "def __call__(self, %s, deallocate_input_activation=True)",
		 name_list(t, e->in, e->nin, "_given"));
	for (int i = 0; i < plan->nops; i++) {
		const TtnnOp *o = &plan->ops[i];
		if (o->op->kind == OP_INPUT)
			call_input(t, o);
		else if (o->op->kind == OP_OUTPUT)
			call_output(t, o);
		else
			ttcnn_call(t, o);
	}
	py_line(p, e->nout > 1 ? "return [%s]" : "return %s", name_list(t, e->out, e->nout, ""));
	py_leave(p);
	py_leave(p);
}

/* "(1, 1, 3, 307200)": as an edge of the model is on the device. */
static const char *device_shape(Ttcnn *t, const TtnnOp *edge)
{
	const int64_t *d = edge->op->shape.dim;
	return turned(edge)
		? arena_printf(t->arena, "(%" PRId64 ", 1, %" PRId64 ", %" PRId64 ")", d[0], d[1],
			       d[2] * d[3])
		: arena_printf(t->arena, "(1, 1, %" PRId64 ", %" PRId64 ")", ttnn_pixels(edge->op), d[1]);
}

static void print_preprocess(Ttcnn *t, const TtnnOp *in, const char *number)
{
	Py *p = &t->py;
	py_block(p, "def preprocess%s(%s)", number, name_of(t, in));
	py_line(p, "\"\"\"A torch tensor of N, C, H, W as the model takes it, on the host.\"\"\"");
	if (!turned(in))
		py_line(p, "%s = %s.permute(0, 2, 3, 1)", name_of(t, in), name_of(t, in));
	py_line(p, "%s = %s.reshape(%s)", name_of(t, in), name_of(t, in), device_shape(t, in));
	py_line(p, "return ttnn.from_torch(%s, dtype=ttnn.bfloat16)", name_of(t, in));
	py_leave(p);
}

static void print_postprocess(Ttcnn *t, const Edges *e)
{
	Py *p = &t->py;
	for (int i = 0; i < e->nout; i++) {
		const int64_t *d = e->out[i]->op->shape.dim;
		const char *number = e->nout > 1 ? arena_printf(t->arena, "_%d", i) : "";
		py_blank(p);
		py_blank(p);
		py_block(p, "def postprocess%s(output)", number);
		py_line(p, "\"\"\"What the model gives, as a torch tensor of N, C, H, W.\"\"\"");
		if (turned(e->out[i]))
			py_line(p, "return ttnn.to_torch(output).reshape(%" PRId64 ", %" PRId64 ", %" PRId64
				", %" PRId64 ")", d[0], d[1], d[2], d[3]);
		else
			py_line(p, "return ttnn.to_torch(output).reshape(%" PRId64 ", %" PRId64 ", %" PRId64
				", %" PRId64 ").permute(0, 3, 1, 2)", d[0], d[2], d[3], d[1]);
		py_leave(p);
	}
}

static void dram_config(Ttcnn *t, const char *keyword, const TtnnOp *edge)
{
	Py *p = &t->py;
	py_nest(p, keyword, "get_memory_config_for_persistent_dram_tensor", PY_LINES);
	py_arg(p, NULL, "%s", device_shape(t, edge));
	py_arg(p, NULL, "ttnn.TensorMemoryLayout.WIDTH_SHARDED");
	py_arg(p, NULL, "device.dram_grid_size()");
	py_end(p);
}

/* All transfers have a queue of their own if there is one result and its channels are
 * first; else the image's alone. */
static void print_pipeline(Ttcnn *t, const Edges *e)
{
	const TtnnOp *in = e->in[0];
	const int64_t *d = in->op->shape.dim;
	const bool alone = e->nout == 1 && turned(e->out[0]);
	Py *p = &t->py;
	py_block(p, "def create_pipeline(device, weights=WEIGHTS)");
	py_line(p, "\"\"\"Traced, on two command queues; open the device with L1_SMALL_SIZE and "
		"TRACE_REGION_SIZE.\"\"\"");
	py_call(p, "model", ttcnn_class_name(t->arena, t->plan->graph->name), PY_LINE);
	py_arg(p, NULL, "device");
	py_arg(p, NULL, "load_file(str(weights))");
	py_end(p);
	py_call(p, NULL, "return create_pipeline_from_config", PY_LINES);
	py_nest(p, "config", "PipelineConfig", PY_LINE);
	py_flag(p, "use_trace", true);
	py_arg(p, "num_command_queues", "2");
	py_flag(p, "all_transfers_on_separate_command_queue", alone);
	py_end(p);
	py_arg(p, "model", "model");
	py_arg(p, "device", "device");
	py_arg(p, "l1_input_memory_config", "width_sharded((%" PRId64 ", %" PRId64 "), %d)", d[1],
	       d[2] * d[3] / in->out.rows, in->out.rows);
	dram_config(t, "dram_input_memory_config", in);
	if (alone)
		dram_config(t, "dram_output_memory_config", e->out[0]);
	py_end(p);
	py_leave(p);
}

/* Is the name in the text, with no letter around it? */
static bool uses(const char *text, const char *name)
{
	const size_t n = strlen(name);
	for (const char *at = text; (at = strstr(at, name)); at += n)
		if (at == text || !strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_", at[-1]))
			return true;
	return false;
}

static void import_used(Py *p, const char *module, const char *const names[], size_t n,
			const char *text)
{
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		if (!uses(text, names[i]))
			continue;
		if (!any)
			py_call(p, NULL, module, PY_LINES);
		any = true;
		py_arg(p, NULL, "%s", names[i]);
	}
	if (any)
		py_end(p);
}

static void print_head(Ttcnn *t, const char *text, const char *weights)
{
	const TtnnPlan *plan = t->plan;
	const Target *target = plan->target;
	int64_t programs = 0;
	for (int i = 0; i < plan->nprograms; i++)
		programs += plan->programs[i].times;
	Py *p = &t->py;
	fprintf(p->f, "\"\"\"%s for ttnn on %s, planned by tessera.\n\n"
		"Predicted: %.3f ms of kernels in %" PRId64 " programs, %.3f ms traced, at most %" PRId64
		" of %" PRId64 " bytes\nof each core's L1. Predicted, not measured.\n\"\"\"\n\n",
		ttcnn_class_name(t->arena, plan->graph->name), target->name,
		(double)plan->kernel_ps / 1e9, programs, (double)ttnn_total_ps(plan) / 1e9,
		plan->l1, plan->room);
	py_line(p, "from pathlib import Path");
	py_blank(p);
	py_line(p, "import ttnn");
	if (uses(text, "load_file"))
		py_line(p, "from safetensors.torch import load_file");
	py_blank(p);
	import_used(p, "from models.tt_cnn.tt.builder import ", builder_names,
		    sizeof builder_names / sizeof *builder_names, text);
	import_used(p, "from models.tt_cnn.tt.pipeline import ", pipeline_names,
		    sizeof pipeline_names / sizeof *pipeline_names, text);
	py_blank(p);
	py_line(p, "GRID = (%d, %d)", (int)target->grid_cols, (int)target->grid_rows);
	py_line(p, "L1_SMALL_SIZE = %" PRId64, plan->l1_small);
	py_line(p, "TRACE_REGION_SIZE = %" PRId64, ttnn_round_up(programs * TRACE_BYTES, TRACE_STEP));
	py_call(p, "WEIGHTS", "Path(__file__).with_name", PY_LINE);
	py_text(p, NULL, weights);
	py_end(p);
	py_blank(p);
	py_blank(p);
}

static void collect_weights(const Ttcnn *t, TtcnnModule *m)
{
	const int most = 2 * t->plan->nops;
	static const char *const parts[] = { NULL, "weight", "bias" };
	m->names = arena_array(t->arena, const char *, most);
	m->tensors = arena_array(t->arena, const Tensor *, most);
	for (int i = 0; i < t->plan->nops; i++) {
		const Op *op = t->plan->ops[i].op;
		for (int k = 1; op_is(op, WEIGHTS) && k < op->nin; k++) {
			m->names[m->n] = arena_printf(t->arena, "%s.%s", op->name, parts[k]);
			m->tensors[m->n++] = op_value(op_in(op, k));
		}
	}
}

TtcnnModule ttcnn_module(const TtnnPlan *plan, const char *weights_file)
{
	TtcnnModule m = { .n = 0 };
	TextFile body, whole;
	Ttcnn t = { .arena = plan->graph->arena, .plan = plan };
	ttcnn_name_ops(&t);
	const Edges e = edges_of(&t);
	text_open(&body);
	t.py = (Py){ .f = body.f };
	fwrite(embedded_ttcnn[0].text, 1, embedded_ttcnn[0].size, body.f);
	fputs("\n\n", body.f);
	print_class(&t, &e);
	for (int i = 0; i < e.nin; i++) {
		fputs("\n\n", body.f);
		print_preprocess(&t, e.in[i], e.nin > 1 ? arena_printf(t.arena, "_%d", i) : "");
	}
	print_postprocess(&t, &e);
	if (e.nin == 1 && turned(e.in[0])) {
		fputs("\n\n", body.f);
		print_pipeline(&t, &e);
	}
	const char *text = text_take(&body, t.arena);
	text_open(&whole);
	t.py = (Py){ .f = whole.f };
	print_head(&t, text, weights_file);
	fputs(text, whole.f);
	m.text = text_take(&whole, t.arena);
	collect_weights(&t, &m);
	return m;
}
