/* Runs a graph op by op and keeps a result only as long as it is read. */
#include "runtime/ref/ref.h"

#include <assert.h>
#include <stdlib.h>

#include "runtime/ref/ref_internal.h"

/* The result of an op, at values[op->mark]. */
typedef struct Value {
	Tensor t;
	int reads; /* still to come */
	bool ours; /* t.data is to be freed */
} Value;

typedef struct Frame {
	const Graph *g;
	Arena *arena;
	Tensor *const *in;
	Tensor **out;
	int nin, nout; /* inputs and outputs met so far */
	Value *values;
	RefOptions opt;
} Frame;

/* One case per kind and no default, so that the compiler finds a new op. */
static bool compute(const Call *c)
{
	switch (c->op->kind) {
	case OP_INPUT: ref_transpose(c, c->op->attr.input.perm); return true;
	case OP_CONSTANT: break;
	case OP_OUTPUT: case OP_CONCAT: ref_concat(c); return true;
	case OP_CONV: ref_conv(c); return true;
	case OP_CONV_TRANSPOSE: ref_conv_transpose(c); return true;
	case OP_LINEAR: ref_linear(c); return true;
	case OP_MATMUL: ref_matmul(c); return true;
	case OP_MAX_POOL: case OP_MAX_POOL_INDEX: ref_max_pool(c); return true;
	case OP_AVG_POOL: ref_avg_pool(c); return true;
	case OP_RESIZE: ref_resize(c); return true;
	case OP_ADD: case OP_SUB: case OP_MUL: case OP_DIV: case OP_POW: case OP_MIN: case OP_MAX:
	case OP_EQUAL: case OP_LESS: case OP_GREATER: case OP_AND: case OP_OR: case OP_WHERE:
	case OP_PRELU: case OP_RELU: case OP_LEAKY_RELU: case OP_CLIP: case OP_SIGMOID:
	case OP_TANH: case OP_SILU: case OP_HARD_SWISH: case OP_HARD_SIGMOID: case OP_GELU:
	case OP_GELU_TANH: case OP_ELU: case OP_SELU: case OP_SOFTPLUS: case OP_SOFTSIGN:
	case OP_EXP: case OP_LOG: case OP_SQRT: case OP_ERF: case OP_RECIPROCAL: case OP_FLOOR:
	case OP_CEIL: case OP_ROUND: case OP_NEG: case OP_ABS: case OP_SIGN: case OP_NOT:
	case OP_CAST:
		return ref_run_eltwise(c);
	case OP_BATCH_NORM: ref_batch_norm(c); return true;
	case OP_INSTANCE_NORM: case OP_GROUP_NORM: ref_group_norm(c); return true;
	case OP_LAYER_NORM: ref_layer_norm(c); return true;
	case OP_LRN: ref_lrn(c); return true;
	case OP_SOFTMAX: case OP_LOG_SOFTMAX: ref_softmax(c); return true;
	case OP_GLOBAL_AVG_POOL: case OP_GLOBAL_MAX_POOL: case OP_REDUCE_MEAN: case OP_REDUCE_SUM:
	case OP_REDUCE_MAX: case OP_REDUCE_MIN: case OP_REDUCE_PROD:
		ref_reduce(c);
		return true;
	case OP_ARGMAX: case OP_ARGMIN: ref_arg(c); return true;
	case OP_IDENTITY: case OP_DROPOUT: case OP_RESHAPE: ref_copy(c); return true;
	case OP_TRANSPOSE: ref_transpose(c, c->op->attr.perm.perm); return true;
	case OP_EXPAND: ref_expand(c); return true;
	case OP_SLICE: ref_slice(c); return true;
	case OP_PAD: ref_pad(c); return true;
	case OP_GATHER: return ref_gather(c);
	case OP_SELECT_CHANNELS: ref_select_channels(c); return true;
	case OP_DEPTH_TO_SPACE: ref_depth_to_space(c); return true;
	case OP_SPACE_TO_DEPTH: ref_space_to_depth(c); return true;
	case OP_VIEW: ref_view(c); return true;
	case OP_COUNT: break;
	}
	die("ref: cannot compute op kind %d", (int)c->op->kind);
}

static bool check_input(Frame *f, const Op *op, const Tensor *t)
{
	Shape wanted = op_callers_shape(op);
	if (t->dtype == op->dtype && shape_equal(t->shape, wanted))
		return true;
	diag_error(f->g->diag, op->loc, "input: \"%s\" wants %s[%s], got %s[%s]", op->name,
		   type_info[op->dtype].name, shape_text(f->arena, wanted),
		   type_info[t->dtype].name, shape_text(f->arena, t->shape));
	return false;
}

static bool check(Frame *f)
{
	bool ok = true;
	int n = 0;
	for_each_op(op, f->g) {
		assert(op->dtype != TYPE_NONE);
		if (op->kind == OP_INPUT) {
			ok &= check_input(f, op, f->in[n++]);
		} else if (op->kind == OP_CONSTANT && op->uses && !op_value(op)) {
			diag_error(f->g->diag, op->loc,
				   "constant: the elements of \"%s\" are not given, only their hash",
				   op->name);
			ok = false;
		}
	}
	return ok;
}

/* One read of `v` is done. */
static void release(Value *v)
{
	if (--v->reads > 0 || !v->ours)
		return;
	free(ref_bytes(&v->t));
	v->ours = false;
	v->t.data = NULL;
}

/* Memory for what `op` yields: the arena's for outputs, else our own. */
static void allocate(Frame *f, const Op *op, Value *v)
{
	v->t = (Tensor){ .dtype = op->dtype, .shape = op->shape };
	if (op->kind == OP_OUTPUT) {
		f->out[f->nout] = tensor_create(f->arena, op->dtype, op->shape);
		v->t = *f->out[f->nout++];
	} else {
		v->t.data = xmalloc((size_t)tensor_bytes(&v->t));
		v->ours = true;
	}
}

static bool run_op(Frame *f, const Op *op, Value *v, const Tensor **in)
{
	Call c = { .g = f->g, .op = op, .in = in, .out = &v->t, .threads = f->opt.threads };
	const bool input = op->kind == OP_INPUT, given = input && op->attr.input.perm.n == 0;
	if (op->kind == OP_CONSTANT) {
		if (op_value(op))
			v->t = *op_value(op);
		return true;
	}
	if (input)
		in[0] = f->in[f->nin++];
	for (int i = 0; i < op->nin; i++)
		in[i] = &f->values[op_in(op, i)->mark].t;
	if (given)
		v->t = *in[0];
	else
		allocate(f, op, v);
	if (!given && (!compute(&c) || (op_has_act(op) && !ref_act(&c))))
		return false;
	if (f->opt.seen && op->kind != OP_OUTPUT)
		f->opt.seen(f->opt.context, op, &v->t);
	return true;
}

static int most_inputs(const Graph *g)
{
	int most = 1;
	for_each_op(op, g)
		most = op->nin > most ? op->nin : most;
	return most;
}

static bool run(Frame *f)
{
	const Tensor **in = xmalloc((size_t)most_inputs(f->g) * sizeof *in);
	int64_t n = 0;
	bool ok = true;
	for_each_op(op, f->g) {
		Value *v = &f->values[n];
		op->mark = n++;
		*v = (Value){ .reads = op_use_count(op) };
		ok = ok && run_op(f, op, v, in);
		if (!ok)
			continue;
		for (int i = 0; i < op->nin; i++)
			release(&f->values[op_in(op, i)->mark]);
		if (v->reads == 0)
			release(v);
	}
	for (int64_t i = 0; i < n; i++)
		if (f->values[i].ours)
			free(ref_bytes(&f->values[i].t));
	free(in);
	return ok;
}

bool ref_run(const Graph *g, Arena *a, Tensor *const in[], Tensor *out[], const RefOptions *opt)
{
	Frame f = { .g = g, .arena = a, .in = in, .out = out };
	if (opt)
		f.opt = *opt;
	if (f.opt.max_macs && ref_macs(g) > f.opt.max_macs)
		return false;
	if (!check(&f))
		return false;
	f.values = xmalloc((size_t)g->nops * sizeof *f.values);
	bool ok = run(&f);
	free(f.values);
	return ok;
}
