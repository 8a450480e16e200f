#include "frontend/cmd_verify.h"

#include <ctype.h>
#include <string.h>

#include "backend/device_tensor.h"
#include "frontend/weights.h"
#include "ir/clock.h"
#include "ir/file.h"
#include "runtime/ref/ref.h"

typedef struct Layers {
	Session *s;
	const Graph *g;
	Tensor *const *in;
	Limits limits;
	const char *ref, *device; /* folders */
	DeviceWatch watch;
	int compared;
	int below; /* the first; -1: none */
} Layers;

struct Layers *layers_create(Session *s, const Graph *g, Tensor *const in[], Limits limits,
			     const char *dir)
{
	Layers *l = arena_new(s->arena, Layers);
	*l = (Layers){ .s = s, .g = g, .in = in, .limits = limits, .below = -1 };
	l->ref = path_join(s->arena, dir, "ref");
	l->device = path_join(s->arena, dir, "device");
	return make_folder(s->diag, l->ref) && make_folder(s->diag, l->device) ? l : NULL;
}

/* DIR/007_enc2.c1.conv.npy: names of models may hold anything. */
static const char *path_of(const Layers *l, Arena *a, const char *dir, int i)
{
	char *path = arena_printf(a, "%s/%03d_%s.npy", dir, i, l->watch.tensors[i]->name);
	for (char *c = path + strlen(dir) + 1; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '.' && *c != '_' && *c != '-')
			*c = '_';
	return path;
}

/* What a tensor of the plan has of the op's result: all of a constant, which may have fewer
 * dims and is the same for each image. */
static Tensor *part_of(Arena *a, const PlanTensor *t, const Tensor *whole)
{
	const int64_t height = t->height, width = t->layout.cols, pixels = height * width;
	const int64_t part = t->channels * pixels;
	const bool constant = t->op->kind == OP_CONSTANT;
	const int64_t channels = constant ? t->channels : whole->shape.dim[1];
	const int64_t first = constant ? 0 : t->image;
	const Shape shape = { .rank = 4, .dim = { t->images, t->channels, height, width } };
	Tensor *to = tensor_create(a, TYPE_F32, shape);
	float *v = tensor_f32_data(to);
	for (int64_t image = 0; image < t->images; image++) {
		const int64_t at = ((first + image) * channels + t->channel) * pixels;
		for (int64_t i = 0; i < part; i++)
			*v++ = (float)tensor_f64(whole, at + i);
	}
	return to;
}

static void keep_reference(void *context, const Op *op, const Tensor *value)
{
	Layers *l = context;
	for (int i = 0; i < l->watch.n && !l->s->diag->errors; i++) {
		const PlanTensor *t = l->watch.tensors[i];
		if (t->op != op || !t->result)
			continue;
		Arena *a = arena_create();
		npy_write(a, l->s->diag, path_of(l, a, l->ref, i), part_of(a, t, value));
		arena_destroy(a);
	}
}

enum ExitCode layers_reference(struct Layers *l, const Compiled *c)
{
	const double from = clock_now();
	session_progress(l->s, "running the reference");
	const RefOptions opt = { .threads = (int)option_number(l->s->opt, OPT_THREADS, 0),
				 .seen = keep_reference, .context = l };
	Tensor **out = arena_array(l->s->arena, Tensor *, inputs_count(l->g, OP_OUTPUT) + 1);
	l->watch = (DeviceWatch){ .plan = c->planned.plan, .program = c->program, .context = l };
	l->watch.tensors = device_tensors(l->s->arena, l->watch.plan, &l->watch.n);
	for_each_op(op, l->g)
		if (op->kind == OP_CONSTANT && op_value(op))
			keep_reference(l, op, op_value(op));
	const bool ok = ref_run(l->g, l->s->arena, l->in, out, &opt) && !l->s->diag->errors;
	session_timing(l->s, "reference", from);
	return ok ? EXIT_OK : EXIT_MODEL;
}

static const ProgramOp *op_of(const Layers *l, int i)
{
	return &l->watch.program->ops[l->watch.program->last_op[l->watch.tensors[i]->done]];
}

static void compare(void *context, int i, const Tensor *got)
{
	Layers *l = context;
	const PlanTensor *t = l->watch.tensors[i];
	const Step *s = &l->watch.plan->steps[t->done];
	Arena *a = arena_create();
	printf("layer %d '%s' %s %s %s: ", i, t->name, step_names[s->kind],
	       shape_text(a, got->shape), dev_type_name(t->layout.type));
	npy_write(a, l->s->diag, path_of(l, a, l->device, i), got);
	const Tensor *want = t->result ? npy_read(a, l->s->diag, path_of(l, a, l->ref, i)) : NULL;
	if (!t->result)
		printf("on the way to '%s', not compared\n", t->op->name);
	else if (want && !limits_compare(l->limits, want, got) && l->below < 0)
		l->below = i;
	l->compared += t->result;
	arena_destroy(a);
}

bool layers_watch(struct Layers *l, TesseraDevice *d, TesseraProgram *p, TesseraError *e)
{
	puts("layers: the device against the graph after the passes, in float");
	l->watch.device = d;
	l->watch.seen = compare;
	return device_watch(&l->watch, l->s->arena, p, e);
}

bool layers_good(const struct Layers *l)
{
	if (l->s->diag->errors)
		return false;
	if (l->below < 0) {
		printf("layers: all %d are within the limits\n", l->compared);
		return true;
	}
	const ProgramOp *op = op_of(l, l->below);
	printf("first layer below: %d '%s' (%s", l->below, l->watch.tensors[l->below]->name,
	       op->source ? op->source : "not in the model");
	for (int i = 0; i < op->nabsorbed; i++)
		printf("%s%s", i ? ", " : ", with ", op->absorbed[i]);
	puts(")");
	return false;
}
