#include "passes/accuracy.h"

#include <stdlib.h>
#include <string.h>

#include "ir/file.h"
#include "ir/hint.h"
#include "ir/quote.h"
#include "ir/format_loss.h"
#include "ir/strmap.h"
#include "passes/choice_legal.h"

struct Accuracy {
	Arena *arena;
	StrMap seen; /* name of an op -> LossSums of its result */
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

/* What the model needs of each step of a bare plan. */
typedef struct Losses {
	const Accuracy *a;
	const Plan *bare;
	const LossSums **out;     /* of what a step makes, if the tensor begins with it */
	const LossSums **weights; /* NULL: no product */
} Losses;

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

static Losses losses_of(const Accuracy *a, const Plan *bare)
{
	Arena *mem = bare->graph->arena;
	Losses l = { .a = a, .bare = bare };
	l.out = arena_array(mem, const LossSums *, bare->nsteps + 1);
	l.weights = arena_array(mem, const LossSums *, bare->nsteps + 1);
	for (int i = 0; i < bare->nsteps; i++) {
		const Step *s = &bare->steps[i];
		if (s->out && s->out->born == i)
			l.out[i] = strmap_get(&a->seen, s->out->op->name);
		if (choice_has(s, CHOICE_phases))
			l.weights[i] = weight_losses(mem, s);
	}
	return l;
}

/* What the upper bits of a bf16 activation lack; of what a step reads. */
static double read_noise(const Losses *l, const Step *s, const Choice *choices)
{
	double energy = 0, lost = 0;
	for (int k = 0; k < s->nin; k++) {
		const PlanTensor *t = s->in[k].tensor;
		const LossSums *r = l->out[t->born];
		if (!r)
			continue;
		energy += r->exact;
		if (choices[t->born].type == DEV_BF16)
			lost += r->exact * (loss_noise(r, LOSS_BF16_TOP7)
					    - loss_noise(r, LOSS_BF16));
	}
	return energy > 0 ? lost / energy : 0;
}

/* Of one phase the weights lack their lower bits, of one or two the activations theirs;
 * of three what is missing are the products of both. */
static double product_noise(const Losses *l, const LossSums *weights, const Step *s,
			    const Choice *choices, int phases)
{
	const bool block = s->weights == DEV_BFP8_B;
	const double whole = loss_noise(weights, block ? LOSS_BFP8_B : LOSS_BF16);
	const double top = loss_noise(weights, block ? LOSS_BFP8_B_TOP5 : LOSS_BF16_TOP5);
	if (phases == 4)
		return whole;
	const double read = read_noise(l, s, choices);
	return phases == 3 ? whole + (top - whole) * read : (phases == 1 ? top : whole) + read;
}

/* `steps` are those of the bare plan, perhaps with other weights. */
static double noise_of(const Losses *l, const Step *steps, const Choice *choices)
{
	double sum = 0;
	for (int i = 0; i < l->bare->nsteps; i++) {
		if (l->out[i] && choices[i].type != DEV_F32)
			sum += loss_noise(l->out[i], choices[i].type == DEV_BFP8_B
								 ? LOSS_BFP8_B : LOSS_BF16);
		if (l->weights[i])
			sum += product_noise(l, l->weights[i], &steps[i], choices,
					     choices[i].phases);
	}
	return sum;
}

double accuracy_noise(const Accuracy *a, const Planned *p)
{
	const Losses l = losses_of(a, p->bare);
	return noise_of(&l, p->bare->steps, p->choices);
}

/* ---- what can be raised ---- */

/* The plan with one thing raised, and what that is in words. */
typedef struct Change {
	const Planned *p;
	const Losses *losses;
	const Raise *raised;
	int nraised;
	double noise;    /* of the plan as it is */
	Plan bare;       /* with steps of its own */
	Choice *choices;
	TextFile pins, what;
} Change;

static void change_begin(Change *c)
{
	const Plan *bare = c->p->bare;
	c->bare = *bare;
	c->bare.steps = arena_array(bare->graph->arena, Step, bare->nsteps + 1);
	c->choices = arena_array(bare->graph->arena, Choice, bare->nsteps + 1);
	memcpy(c->bare.steps, bare->steps, (size_t)bare->nsteps * sizeof *bare->steps);
	memcpy(c->choices, c->p->choices, (size_t)bare->nsteps * sizeof *c->choices);
	text_open(&c->pins);
	text_open(&c->what);
}

static Raise change_end(Change *c, RaiseKind kind, const Op *op)
{
	Arena *a = c->bare.graph->arena;
	const Plan *plan = plan_apply(&c->bare, c->choices);
	return (Raise){
		.kind = kind,
		.op = op,
		.pins = text_take(&c->pins, a),
		.what = text_take(&c->what, a),
		.gain = c->noise - noise_of(c->losses, c->bare.steps, c->choices),
		.cost = plan_time(plan).all.total - c->p->time.all.total,
	};
}

static bool is_pinned(const Planned *p, int step, ChoiceField f)
{
	return p->pins[step].fixed >> f & 1;
}

static bool fidelity_is_free(const Planned *p, int step)
{
	return choice_has(&p->bare->steps[step], CHOICE_phases)
		&& !is_pinned(p, step, CHOICE_phases);
}

static bool was_raised(const Change *c, const char *field)
{
	for (int i = 0; i < c->nraised; i++)
		if (c->raised[i].field && strcmp(c->raised[i].field, field) == 0)
			return true;
	return false;
}

static bool raise_fidelity(Change *c, int step, Raise *r)
{
	const Planned *p = c->p;
	const int was = p->choices[step].phases;
	if (!choice_has(&p->bare->steps[step], CHOICE_phases) || was >= 4)
		return false;
	const char *field = arena_printf(p->bare->graph->arena, "op %s fidelity=",
					 choice_step_spelling(p->bare, step));
	if (is_pinned(p, step, CHOICE_phases) && !was_raised(c, field))
		return false;
	change_begin(c);
	c->choices[step].phases = was + 1;
	fputs(field, c->pins.f);
	choice_write(c->pins.f, CHOICE_phases, was + 1);
	fputc('\n', c->pins.f);
	fputs(field, c->what.f);
	choice_write(c->what.f, CHOICE_phases, was + 1);
	fputs(" (was ", c->what.f);
	choice_write(c->what.f, CHOICE_phases, was);
	fputc(')', c->what.f);
	*r = change_end(c, RAISE_FIDELITY, p->bare->steps[step].op);
	r->field = field;
	return true;
}

/* Of all steps of the op; seen from its first. bf16 is worth all phases. */
static bool raise_weights(Change *c, int step, Raise *r)
{
	const Planned *p = c->p;
	const Op *op = p->bare->steps[step].op;
	if (!choice_has(&p->bare->steps[step], CHOICE_phases) || op->weights != DEV_BFP8_B
	    || op_hint(op, "weights") || p->bare->graph->all_weights)
		return false;
	for (int i = 0; i < step; i++)
		if (p->bare->steps[i].op == op && choice_has(&p->bare->steps[i], CHOICE_phases))
			return false;
	change_begin(c);
	for (int i = step; i < p->bare->nsteps; i++) {
		if (p->bare->steps[i].op != op || !choice_has(&p->bare->steps[i], CHOICE_phases))
			continue;
		c->bare.steps[i].weights = DEV_BF16;
		c->choices[i].weights = DEV_BF16;
		if (fidelity_is_free(p, i))
			c->choices[i].phases = 4;
	}
	fputs("op ", c->what.f);
	name_print(c->what.f, op->name);
	fputs(" weights=bf16 (was bfp8_b)", c->what.f);
	*r = change_end(c, RAISE_WEIGHTS, op);
	return true;
}

/* Does a product read this one with one that is marked? */
static bool read_with(const Plan *bare, const PlanTensor *t, const bool *marked)
{
	for (int i = t->born; i <= t->dies; i++) {
		const Step *s = &bare->steps[i];
		bool reads = false, other = false;
		for (int k = 0; k < s->nin && choice_has(s, CHOICE_k_block); k++) {
			reads |= s->in[k].tensor == t;
			other |= marked[s->in[k].tensor->id];
		}
		if (reads && other)
			return true;
	}
	return false;
}

/* Marks all tensors whose format follows from that of the first. */
static void mark_together(const Plan *bare, bool *marked)
{
	bool more = true;
	while (more) {
		more = false;
		for (int i = 0; i < bare->ntensors; i++)
			if (!marked[i] && read_with(bare, bare->tensors[i], marked))
				more = marked[i] = true;
	}
}

/* The tensor that begins with the step, and those that go with it. Told of the first. */
static bool raise_type(Change *c, int step, Raise *r)
{
	const Planned *p = c->p;
	const Plan *bare = p->bare;
	const PlanTensor *t = bare->steps[step].out;
	if (!t || t->born != step || p->choices[step].type != DEV_BFP8_B)
		return false;
	bool *marked = arena_array(bare->graph->arena, bool, bare->ntensors + 1);
	marked[t->id] = true;
	mark_together(bare, marked);
	for (int i = 0; i < bare->ntensors; i++) {
		const int born = bare->tensors[i]->born;
		if (marked[i] && (born < step || is_pinned(p, born, CHOICE_type)
				  || !(choice_types(bare, bare->tensors[i]) & DEV_BF16)))
			return false;
	}
	change_begin(c);
	for (int i = 0; i < bare->nsteps; i++) {
		const PlanTensor *out = bare->steps[i].out;
		if (!out || !marked[out->id])
			continue;
		c->choices[i].type = DEV_BF16;
		if (out->born != i)
			continue;
		fputs("tensor ", c->pins.f);
		name_print(c->pins.f, out->name);
		fputs(" type=bf16\n", c->pins.f);
		fputs(i == step ? "tensor " : ", ", c->what.f);
		name_print(c->what.f, out->name);
	}
	fputs(" type=bf16 (was bfp8_b)", c->what.f);
	*r = change_end(c, RAISE_TYPE, t->op);
	return true;
}

/* Time for noise: what brings something for nothing comes first, what brings nothing
 * last; the order is the same everywhere. */
static int by_price(const void *a, const void *b)
{
	const Raise *x = a, *y = b;
	const int low = x->gain <= 0, high = y->gain <= 0;
	if (low != high)
		return low - high;
	const double cx = x->cost > 0 ? (double)x->cost : 0, cy = y->cost > 0 ? (double)y->cost : 0;
	const double px = low ? cx : cx * y->gain, py = low ? cy : cy * x->gain;
	if (px != py)
		return px < py ? -1 : 1;
	if (x->gain != y->gain)
		return x->gain > y->gain ? -1 : 1;
	return strcmp(x->what, y->what);
}

/* Weights in bf16 come with all phases: whoever raises them has raised the fidelity. */
static bool is_implied(const Raise *all, int i)
{
	for (int k = 0; k < i && all[i].kind == RAISE_FIDELITY; k++)
		if (all[k].kind == RAISE_WEIGHTS && all[k].op == all[i].op)
			return true;
	return false;
}

Raise *accuracy_raises(const Accuracy *a, const Planned *p, const Raise *raised, int nraised,
		       int *n)
{
	const Plan *bare = p->bare;
	const Losses l = losses_of(a, bare);
	Change c = { .p = p, .losses = &l, .raised = raised, .nraised = nraised,
		     .noise = noise_of(&l, bare->steps, p->choices) };
	Raise *all = arena_array(bare->graph->arena, Raise, 3 * bare->nsteps + 1);
	*n = 0;
	for (int i = 0; i < bare->nsteps; i++) {
		*n += raise_type(&c, i, &all[*n]);
		*n += raise_fidelity(&c, i, &all[*n]);
		*n += raise_weights(&c, i, &all[*n]);
	}
	if (*n)
		qsort(all, (size_t)*n, sizeof *all, by_price);
	int left = 0;
	for (int i = 0; i < *n; i++)
		if (!is_implied(all, i))
			all[left++] = all[i];
	*n = left;
	return all;
}

int accuracy_enough(const Accuracy *a, const Planned *p, const Raise *raises, int n, double is,
		    double wanted, int least)
{
	const double noise = accuracy_noise(a, p), to = is > 0 ? noise * wanted / is : noise;
	double left = noise;
	int count = 0;
	while (count < n && (count < least || left > to))
		left -= raises[count++].gain;
	return count;
}
