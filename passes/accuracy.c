#include "passes/accuracy.h"

#include <assert.h>

#include "ir/format_loss.h"
#include "ir/strmap.h"

struct Accuracy {
	Arena *arena;
	StrMap seen;   /* name of an op -> LossSums of its result */
	int nsteps;    /* of the bare plan, once one was looked at; of each step: */
	const LossSums **weights; /* what its weights lose; NULL: no product */
	double *carried;          /* how much of the noise of its result gets to outputs */
};

Accuracy *accuracy_create(Arena *a)
{
	Accuracy *x = arena_new(a, Accuracy);
	x->arena = a;
	strmap_init(&x->seen, a);
	return x;
}

/* Blocks of 16 along one dim: `inner` elements apart, `n` of them, again and again. */
static void add_blocks(LossSums *s, const Tensor *t, int64_t n, int64_t inner)
{
	double wide[BLOCKFLOAT];
	float block[BLOCKFLOAT];
	for (int64_t at = 0, all = tensor_count(t); at < all; at += n * inner)
		for (int64_t c = 0; c < n; c += BLOCKFLOAT)
			for (int64_t i = 0; i < inner; i++) {
				const int64_t left = n - c < BLOCKFLOAT ? n - c : BLOCKFLOAT;
				tensor_read_f64(t, at + c * inner + i, inner, left, wide);
				for (int64_t k = 0; k < BLOCKFLOAT; k++)
					block[k] = k < left ? (float)wide[k] : 0;
				loss_add(s, block);
			}
}

void accuracy_seen(void *accuracy, const Op *op, const Tensor *t)
{
	Accuracy *a = accuracy;
	if (!type_is_float(t->dtype) || tensor_count(t) == 0)
		return;
	LossSums *s = arena_new(a->arena, LossSums);
	const bool image = t->shape.rank == 4;
	const int64_t inner = image ? t->shape.dim[2] * t->shape.dim[3] : 1;
	add_blocks(s, t, image ? t->shape.dim[1] : tensor_count(t), inner);
	strmap_put(&a->seen, op->name, s);
}

/* ---- the noise of a plan ---- */

/* 16 output channels of an input channel and tap share an exponent. */
static const LossSums *weight_losses(Arena *a, const Step *s)
{
	const Tensor *f = s->filter;
	LossSums *sums = arena_new(a, LossSums);
	const int64_t taps = f->shape.dim[2] * f->shape.dim[3];
	if (s->kind == STEP_DECONV2)
		add_blocks(sums, f, f->shape.dim[1], taps);
	else
		add_blocks(sums, f, f->shape.dim[0], f->shape.dim[1] * taps);
	return sums;
}

/* Mean square of what the op of a tensor yields. */
static double energy(const Accuracy *a, const PlanTensor *t)
{
	const LossSums *s = strmap_get(&a->seen, t->op->name);
	return s ? s->exact / (double)shape_count(t->op->shape) : 0;
}

/* Sum of squares of the weights for input channels from `first` on. */
static double weight_energy(const Step *s, int first, int channels)
{
	const Tensor *f = s->filter;
	const bool inner = s->kind != STEP_DECONV2;
	const int64_t taps = f->shape.dim[2] * f->shape.dim[3], in = f->shape.dim[inner];
	const int64_t out = f->shape.dim[!inner], by_in = inner ? taps : out * taps;
	const int64_t by_out = inner ? in * taps : taps;
	double sum = 0;
	for (int64_t o = 0; o < out; o++)
		for (int64_t c = first; c < first + channels && c < in; c++)
			for (int64_t t = 0; t < taps; t++) {
				const double w = tensor_f64(f, o * by_out + c * by_in + t);
				sum += w * w;
			}
	return sum;
}

static bool is_product(const Step *s) { return choice_has(s, CHOICE_phases) && s->filter; }

static bool is_sum(const Step *s)
{
	return (s->kind == STEP_BINARY || s->kind == STEP_PAIR)
		&& (s->arith == OP_ADD || s->arith == OP_SUB);
}

/* What an input makes up of the energy of a result to which all are added. */
static void share_out(const Accuracy *a, const Step *s, double shares[])
{
	double sum = 0;
	for (int k = 0, first = 0; k < s->nin; k++) {
		shares[k] = energy(a, s->in[k].tensor);
		if (is_product(s))
			shares[k] *= weight_energy(s, first, s->in[k].channels);
		first += s->in[k].channels;
		sum += shares[k];
	}
	for (int k = 0; k < s->nin; k++)
		shares[k] = sum > 0 ? shares[k] / sum : 1.0 / s->nin;
}

/* What every pixel is multiplied by is a mean of many, or nearly a constant. */
static void find_shares(const Accuracy *a, const Step *s, double shares[])
{
	if (s->nin > 1 && (is_sum(s) || is_product(s))) {
		share_out(a, s, shares);
		return;
	}
	for (int k = 0; k < s->nin; k++)
		shares[k] = s->nin > 1 && s->spread[k] ? 0 : 1;
}

static int makers(const Plan *bare, const PlanTensor *t)
{
	int n = 0;
	for (int i = t->born; i <= t->done; i++)
		n += bare->steps[i].out == t;
	return n;
}

/* From outputs up: a step hands on to what it reads what it has. */
static void see_what_is_carried(Accuracy *a, const Plan *bare)
{
	double shares[MAX_STEP_PARTS];
	a->carried = arena_array(a->arena, double, bare->nsteps + 1);
	for (int i = bare->nsteps - 1; i >= 0; i--) {
		const Step *s = &bare->steps[i];
		const double has = s->out ? a->carried[s->out->born] / makers(bare, s->out) : 1;
		find_shares(a, s, shares);
		for (int k = 0; k < s->nin; k++)
			a->carried[s->in[k].tensor->born] += has * shares[k];
	}
}

static void look_at(Accuracy *a, const Plan *bare)
{
	assert(!a->weights || a->nsteps == bare->nsteps);
	if (a->weights)
		return;
	a->nsteps = bare->nsteps;
	a->weights = arena_array(a->arena, const LossSums *, bare->nsteps + 1);
	for (int i = 0; i < bare->nsteps; i++)
		if (choice_has(&bare->steps[i], CHOICE_phases))
			a->weights[i] = weight_losses(a->arena, &bare->steps[i]);
	see_what_is_carried(a, bare);
}

/* What the upper bits of an activation lack; of what a step reads. */
static double read_noise(const Accuracy *a, const Step *s, const Choice *choices)
{
	double energy = 0, lost = 0;
	for (int k = 0; k < s->nin; k++) {
		const PlanTensor *t = s->in[k].tensor;
		const LossSums *r = strmap_get(&a->seen, t->op->name);
		if (!r)
			continue;
		energy += r->exact;
		const DevTypes type = (DevTypes)choices[t->born].type;
		const double stored = type == DEV_BF16 ? loss_noise(r, LOSS_BF16) : 0;
		if (type != DEV_BFP8_B)
			lost += r->exact * (loss_noise(r, LOSS_BF16_TOP7) - stored);
	}
	return energy > 0 ? lost / energy : 0;
}

/* Of one phase the weights lack their lower bits, of one or two the activations theirs;
 * of three what is missing are the products of both. */
static double product_noise(const Accuracy *a, const LossSums *weights, const Step *s,
			    const Choice *choices, const Choice *c)
{
	static const FormatLoss all[] = {
		[DEV_BFP8_B] = LOSS_BFP8_B, [DEV_BF16] = LOSS_BF16, [DEV_F32] = LOSS_F32,
	}, upper[] = {
		[DEV_BFP8_B] = LOSS_BFP8_B_TOP5, [DEV_BF16] = LOSS_BF16_TOP5,
		[DEV_F32] = LOSS_F32_TOP5,
	};
	const double whole = loss_noise(weights, all[c->weights]);
	const double top = loss_noise(weights, upper[c->weights]);
	const double read = read_noise(a, s, choices);
	if (c->phases == 4)
		return whole;
	if (c->phases == 3)
		return whole + (top - whole) * read;
	return (c->phases == 1 ? top : whole) + read;
}

static double stored_noise(const Accuracy *a, const PlanTensor *t, int type)
{
	const LossSums *s = strmap_get(&a->seen, t->op->name);
	if (!s || type == DEV_F32)
		return 0;
	return loss_noise(s, type == DEV_BFP8_B ? LOSS_BFP8_B : LOSS_BF16);
}

double accuracy_noise(Accuracy *a, const Plan *bare, const Choice *choices)
{
	double sum = 0;
	look_at(a, bare);
	for (int i = 0; i < bare->nsteps; i++) {
		const Step *s = &bare->steps[i];
		double noise = 0;
		if (!s->out)
			continue;
		if (s->out->born == i)
			noise += stored_noise(a, s->out, choices[i].type);
		if (a->weights[i])
			noise += product_noise(a, a->weights[i], s, choices, &choices[i])
				/ makers(bare, s->out);
		sum += noise * a->carried[s->out->born];
	}
	return sum;
}
