/*
 * How far off the values of a random net may be on a device.
 *
 * A device rounds what it stores, by half a step of the format at most: as in ops.h a
 * whole step of the greatest magnitude about is allowed each time, which is 2^-8 of it
 * in bf16 and 2^-6 in bfp8_b. An op takes over the errors of its operands by how steep it
 * is. In sums of products they are independent of each other, and a whole step is almost
 * seven standard deviations of what rounding by half a step makes: so what counts is the
 * root of the sum of the squares of the weights. The same goes for weights that passes
 * have scaled and that are rounded again.
 *
 * The matrix unit sees 7 bits of a pixel and all of a weight in two phases, 5 bits of a
 * weight in one; three leave out what both lack times each other. What is cut off is always
 * towards zero, on the average half of the most: that makes all of the result smaller, and
 * six standard deviations beside it.
 */
#include <math.h>
#include <string.h>

#include "tests/random_net.h"

static double largest(double a, double b) { return a > b ? a : b; }

static const Tensor *tensor_of(const RandomNet *n, const Candidate *c, int k)
{
	return c->in[k].constant ? c->in[k].constant : n->v[c->in[k].value].value;
}

/* The root of the sum of squares of what makes one output channel, at the most, and how
 * many there are of them. */
static double steepest(const Tensor *w, int64_t groups, bool outputs_first, int64_t *fan)
{
	const Shape s = w->shape;
	const int64_t outs = s.dim[outputs_first ? 0 : 1], ins = s.dim[outputs_first ? 1 : 0];
	const int64_t taps = tensor_count(w) / (outs * ins);
	const int64_t each = outputs_first ? ins : ins / groups;
	double most = 0;
	*fan = each * taps;
	for (int64_t o = 0; o < outs; o++)
		for (int64_t g = 0; g < ins / each; g++) {
			double sum = 0;
			for (int64_t i = 0; i < each * taps; i++) {
				const int64_t in = g * each + i / taps;
				const int64_t at = outputs_first ? o * ins + in : in * outs + o;
				const double v = tensor_f64(w, at * taps + i % taps);
				sum += v * v;
			}
			most = largest(most, sum);
		}
	return sqrt(most);
}

/* The matrix unit aligns products to 12 bits, two times: six standard deviations. */
static void of_product(const RandomNet *n, const Candidate *c, double range, NetError *e)
{
	const Tensor *w = tensor_of(n, c, 1);
	const double x = n->v[c->in[0].value].range;
	const bool first = c->kind == OP_CONV || c->kind == OP_LINEAR;
	const bool conv = c->kind == OP_CONV || c->kind == OP_CONV_TRANSPOSE;
	int64_t fan;
	e->gain[0] = steepest(w, conv ? c->attr.conv.groups : 1, first, &fan);
	e->rounded = largest(range, x * net_greatest(w) * sqrt((double)fan / 8));
	if (c->kind == OP_CONV_TRANSPOSE)
		e->rounded *= 2; /* column phases, then all of it */
	e->weights = 2 * e->gain[0] * x;
	e->cut = range / 2 + 1.73 * e->gain[0] * x;
}

static void of_two(const RandomNet *n, const Candidate *c, double range, NetError *e)
{
	const double a = net_greatest(tensor_of(n, c, 0)), b = net_greatest(tensor_of(n, c, 1));
	const double least = net_least(tensor_of(n, c, 1));
	const bool mul = c->kind == OP_MUL, divide = c->kind == OP_DIV;
	e->gain[0] = mul ? b : divide ? 1 / least : c->kind == OP_PRELU ? largest(1, b) : 1;
	e->gain[1] = mul || c->kind == OP_PRELU ? a : divide ? a / (least * least) : 1;
	e->rounded = 2 * largest(range, largest(a, b)); /* a constant, and the result */
}

static double steepness(const Candidate *c)
{
	switch (c->kind) {
	case OP_SILU:
	case OP_GELU:
	case OP_GELU_TANH:
		return 1.15;
	case OP_HARD_SWISH:
		return 1.5;
	default: /* slopes of others are below 1 */
		return 1;
	}
}

/* The steepest of all channels of all images. */
static double of_norm(const Tensor *x, const Tensor *scale, double epsilon)
{
	const int64_t channels = x->shape.dim[1], pixels = x->shape.dim[2] * x->shape.dim[3];
	double most = 0;
	for (int64_t p = 0; p < x->shape.dim[0] * channels; p++) {
		double sum = 0, squares = 0;
		for (int64_t i = 0; i < pixels; i++) {
			const double v = tensor_f64(x, p * pixels + i);
			sum += v;
			squares += v * v;
		}
		const double mean = sum / (double)pixels;
		const double variance = squares / (double)pixels - mean * mean;
		const double by = fabs(tensor_f64(scale, p % channels));
		most = largest(most, by / sqrt(variance + epsilon));
	}
	return most;
}

static bool of_instance(const RandomNet *n, const Candidate *c, double range, NetError *e)
{
	const Tensor *x = tensor_of(n, c, 0);
	const double steep = of_norm(x, c->in[1].constant, (double)c->attr.norm.epsilon);
	e->gain[0] = 2 * steep; /* the mean is off too */
	e->rounded = 3 * largest(range, steep * net_greatest(x));
	return steep * net_greatest(x) <= 32;
}

static void of_batch(const RandomNet *n, const Candidate *c, double range, NetError *e)
{
	const double x = n->v[c->in[0].value].range + net_greatest(c->in[3].constant);
	const Tensor *scale = c->in[1].constant, *variance = c->in[4].constant;
	for (int64_t i = 0; i < tensor_count(scale); i++) {
		const double by = fabs(tensor_f64(scale, i));
		e->gain[0] = largest(e->gain[0], by / sqrt(tensor_f64(variance, i)));
	}
	e->rounded = 3 * largest(range, e->gain[0] * x + net_greatest(c->in[2].constant));
}

bool net_error(const RandomNet *n, const Candidate *c, const Tensor *result, NetError *e)
{
	const double range = net_greatest(result);
	const double x = net_greatest(tensor_of(n, c, 0));
	*e = (NetError){ 0 };
	switch (c->kind) {
	case OP_CONV:
	case OP_CONV_TRANSPOSE:
	case OP_LINEAR:
	case OP_MATMUL:
		of_product(n, c, range, e);
		break;
	case OP_ADD:
	case OP_SUB:
	case OP_MUL:
	case OP_DIV:
	case OP_MIN:
	case OP_MAX:
	case OP_PRELU:
		of_two(n, c, range, e);
		break;
	case OP_BATCH_NORM:
		of_batch(n, c, range, e);
		break;
	case OP_INSTANCE_NORM:
		if (n->exact || !of_instance(n, c, range, e))
			return false;
		break;
	case OP_RESIZE: /* cubic weights reach 1.25 in sum both ways; rounded as in random_mix.c */
		e->gain[0] = c->attr.resize.mode == RESIZE_CUBIC ? 1.6 : 1;
		e->rounded = c->attr.resize.mode == RESIZE_NEAREST ? x : 4 * e->gain[0] * x;
		break;
	case OP_AVG_POOL:
	case OP_GLOBAL_AVG_POOL:
		e->gain[0] = 1;
		e->rounded = 4 * x;
		break;
	case OP_SOFTMAX:
		e->gain[0] = 1;
		e->rounded = 3 * range;
		break;
	case OP_CONCAT:
		for (int k = 0; k < c->nin; k++)
			e->gain[k] = 1;
		e->rounded = range;
		break;
	case OP_RESHAPE:
	case OP_TRANSPOSE:
		e->gain[0] = 1;
		break;
	case OP_SELECT_CHANNELS: /* by weights, or by two moves */
		e->gain[0] = 1;
		e->rounded = 2 * x;
		break;
	default:
		e->gain[0] = steepness(c);
		e->rounded = range;
		break;
	}
	return true;
}

/* ---- once there is a plan ---- */

static double step_of(DevTypes type)
{
	return type == DEV_BFP8_B ? 0x1p-6 : type == DEV_BF16 ? 0x1p-8 : 0x1p-10;
}

/* The op that does the work of the one of that name; NULL: it cannot be told. */
static const Op *doer(const Graph *g, const char *name)
{
	const Op *op = graph_find(g, name);
	if (op)
		return op;
	for_each_op(o, g)
		for (int i = 0; i < o->absorbed.n; i++)
			if (strcmp(o->absorbed.v[i], name) == 0)
				return o;
	return NULL;
}

/* The coarsest of what it stores; of all ops if op is NULL. */
static double coarsest(const Plan *p, const Op *op)
{
	double most = step_of(DEV_BF16);
	for (int i = 0; i < p->ntensors; i++)
		if (!op || p->tensors[i]->op == op)
			most = largest(most, step_of(p->tensors[i]->layout.type));
	return most;
}

/* The same of weights, and of what few phases cut off. */
static void of_weights(const Plan *p, const Op *op, double *step, double *cut)
{
	static const double lost[] = { 0, 0x1p-4 + 0x1p-7, 0x1p-7, 0x1p-11 };
	*step = step_of(DEV_BF16);
	*cut = 0;
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		if (!s->weights || (op && s->op != op))
			continue;
		*step = largest(*step, step_of(s->weights));
		if (s->phases < 4)
			*cut = largest(*cut, lost[s->phases]);
	}
}

static bool is_wide(const Plan *p, const Op *op)
{
	bool wide = false;
	for (int i = 0; i < p->ntensors; i++)
		wide |= p->tensors[i]->op == op && p->tensors[i]->layout.type == DEV_F32;
	return wide;
}

/* Is what math makes of whole numbers no more than near a whole number? */
static bool is_near(OpKind kind)
{
	const bool keeps = kind == OP_RELU || kind == OP_LEAKY_RELU || kind == OP_CLIP;
	return kind == OP_DIV || kind == OP_AVG_POOL || kind == OP_GLOBAL_AVG_POOL
		|| kind == OP_RESIZE || kind == OP_BATCH_NORM || kind == OP_SOFTMAX
		|| (op_info[kind].traits & ACT && !keeps);
}

/* Of a net of whole numbers: bf16 would round a quotient to the whole number, f32 shows it,
 * and who reads that cuts bits off. An activation may take it to 0. */
static double exact_off(const Plan *p, const Op *op, const NetValue *v)
{
	const bool acts = op && op_has_act(op);
	const bool near = op && (is_near(op->kind) || (acts && is_near(op->act.kind)));
	const bool wide = near && is_wide(p, op), zero = acts && op->kind == OP_DIV;
	return (wide && v->read ? 0x1p-10 : wide || zero ? 0x1p-16 : 0) * net_greatest(v->value);
}

double random_net_allowed(const RandomNet *n, const Plan *p, int out)
{
	double off[NET_VALUES] = { 0 };
	for (int i = 0; i < n->nv; i++) {
		const NetValue *v = &n->v[i];
		const Op *op = doer(n->g, v->name);
		double step, cut;
		of_weights(p, op, &step, &cut);
		for (int k = 0; k < v->nin; k++)
			off[i] += v->in[k] >= 0 ? v->error.gain[k] * off[v->in[k]] : 0;
		if (n->exact && off[i] == 0)
			off[i] = exact_off(p, op, v);
		else
			off[i] += v->error.rounded * coarsest(p, op) + v->error.weights * step
				+ v->error.cut * cut;
	}
	return off[n->out[out]];
}
