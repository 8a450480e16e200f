/*
 * What formats and column phases steps read and write, and what their routines
 * want of operands (runtime/device/DEVICE.md, Routines).
 */
#include "passes/check_plan.h"

static bool is_bf16(const PlanTensor *t) { return t->layout.type == DEV_BF16; }

static const char *name_of(DevTypes type) { return dev_type_name(type); }

/* What packers wrote as math had it, for routines that read what TF32 has of it. */
static void check_f32(const Checker *c, const PlanTensor *t)
{
	TENSOR_RULE(c, t, t->op->dtype == TYPE_F32, "it is f32, the host is given %s",
		    type_info[t->op->dtype].name);
	for (int i = 0; i < c->p->nsteps; i++) {
		const Step *s = &c->p->steps[i];
		STEP_RULE(c, s, s->out != t || step_makes_f32(s), "makes '%s', which is f32", t->name);
		for (int k = 0; k < s->nin; k++)
			STEP_RULE(c, s, s->in[k].tensor != t || step_reads_f32(s),
				  "reads '%s', which is f32", t->name);
	}
}

static void check_type(const Checker *c, const PlanTensor *t)
{
	const DevTypes type = t->layout.type;
	TENSOR_RULE(c, t, type == DEV_BF16 || type == DEV_BFP8_B || type == DEV_F32, "it has format %d",
		    (int)type);
	TENSOR_RULE(c, t, !t->partial || is_bf16(t), "what each band makes of its own is bf16, not %s",
		    name_of(type));
}

/* A copy on the way to a result, bit for bit in the format of what it reads: to
 * other column phases, or of parts into one by weights that are not the op's. */
static bool copies(const Step *s)
{
	const bool phases = s->kind == STEP_MIX
		&& s->in[0].tensor->layout.phases != s->out->layout.phases;
	const bool joins = s->kind == STEP_CONV && s->taps == 1
		&& (!op_is(s->op, WEIGHTS) || s->filter != op_value(op_in(s->op, 1)));
	bool all = phases || joins || step_moves(s);
	for (int k = 0; k < s->nin; k++)
		all &= s->in[k].tensor->layout.type == DEV_BFP8_B;
	return all;
}

/* bf16 holds whatever bfp8_b does, f32 whatever bf16 does; else it is the model's to say. */
static void check_stored(const Checker *c, const Step *s)
{
	const PlanTensor *t = s->out;
	const DevTypes stored = t->op->stored;
	STEP_RULE(c, s, t->layout.type != DEV_BFP8_B || stored & DEV_BFP8_B || copies(s)
		  || !stored,
		  "'%s' is %s, the model allows %s alone", t->name, name_of(t->layout.type),
		  name_of(stored));
}

static void check_phases(const Checker *c, const Step *s)
{
	const bool any = s->kind == STEP_MIX || step_moves(s);
	const int stride = s->window[1].stride;
	for (int k = 0; k < s->nin && !any; k++) {
		const PlanTensor *t = s->in[k].tensor;
		const int phases = t->layout.phases;
		if (s->kind == STEP_CONV)
			STEP_RULE(c, s, phases == stride, "column stride %d of '%s', which has %d phases",
				  stride, t->name, phases);
		else
			STEP_RULE(c, s, phases == 1 || (phases == stride && s->kind != STEP_PAIR),
				  "'%s' has %d column phases, the stride is %d", t->name, phases, stride);
		STEP_RULE(c, s, s->kind == STEP_CONV || stride == 1 || phases == stride
			  || t->layout.type != DEV_BFP8_B,
			  "'%s' is %s, of which no columns can be skipped", t->name,
			  name_of(t->layout.type));
	}
	if (s->out && !any && s->kind != STEP_CONV)
		STEP_RULE(c, s, s->out->layout.phases == 1, "makes a result in %d column phases",
			  s->out->layout.phases);
	STEP_RULE(c, s, s->row_step == 1 || s->kind == STEP_CONV, "makes every %d. row alone",
		  s->row_step);
}

static void check_images(const Checker *c, const Step *s)
{
	for (int k = 0; s->out && k < s->nin; k++) {
		const PlanTensor *t = s->in[k].tensor;
		STEP_RULE(c, s, t->images == s->out->images || t->op->kind == OP_CONSTANT,
			  "makes %d images, '%s' has %d", s->out->images, t->name, t->images);
	}
}

static void check_products(const Checker *c, const Step *s)
{
	const DevTypes first = s->in[0].tensor->layout.type;
	for (int k = 1; k < s->nin; k++)
		STEP_RULE(c, s, s->in[k].tensor->layout.type == first, "part 0 is %s, part %d is %s",
			  name_of(first), k, name_of(s->in[k].tensor->layout.type));
	STEP_RULE(c, s, s->weights == DEV_BF16 || s->weights == DEV_BFP8_B || s->weights == DEV_F32,
		  "weights have format %d", (int)s->weights);
}

static void check_norm(const Checker *c, const Step *s)
{
	const PlanTensor *a = s->in[1].tensor, *b = s->in[2].tensor;
	STEP_RULE(c, s, a->layout.pitch == b->layout.pitch && a->buffer_rows == b->buffer_rows,
		  "planes of the mean are %d rows of %d pixels, of the factor %d of %d",
		  a->buffer_rows, a->layout.pitch, b->buffer_rows, b->layout.pitch);
	for (int k = 1; k < 3; k++)
		STEP_RULE(c, s, is_bf16(s->in[k].tensor), "part %d is %s, not bf16", k,
			  name_of(s->in[k].tensor->layout.type));
}

/* Rows, columns and planes an operand has one of for all. */
static void check_spread(const Checker *c, const Step *s)
{
	STEP_RULE(c, s, s->kind != STEP_BINARY || !s->spread[0],
		  "operand 0 is as large as the result, not spread by %d", s->spread[0]);
	for (int k = 0; k < 2; k++) {
		const PlanTensor *t = s->in[k].tensor;
		const int spread = s->spread[k];
		STEP_RULE(c, s, t->height == (spread & SPREAD_ROWS ? 1 : s->out->height)
			  && t->layout.cols == (spread & SPREAD_COLS ? 1 : s->out->layout.cols),
			  "'%s' has %d x %d pixels for %d x %d, spread by %d", t->name, t->height,
			  t->layout.cols, s->out->height, s->out->layout.cols, spread);
	}
}

static void check_kind(const Checker *c, const Step *s)
{
	switch (s->kind) {
	case STEP_EDGE_IN:
	case STEP_CONSTANT:
		STEP_RULE(c, s, is_bf16(s->out), "it writes bf16, '%s' is %s", s->out->name,
			  name_of(s->out->layout.type));
		break;
	case STEP_CONV:
	case STEP_DECONV2:
		check_products(c, s);
		break;
	case STEP_CHANNEL:
		STEP_RULE(c, s, s->weights == DEV_BF16, "weights for each channel are bf16, not %s",
			  name_of(s->weights));
		break;
	case STEP_REDUCE:
		STEP_RULE(c, s, !s->reduce.pair || is_bf16(s->out), "two pixels whose sum it is are bf16, not %s",
			  name_of(s->out->layout.type));
		STEP_RULE(c, s, (s->reduce.kind == REDUCE_DEVIATION) == (s->nin == 2),
			  "%d inputs, only deviations have a mean", s->nin);
		break;
	case STEP_NORM:
		check_norm(c, s);
		break;
	case STEP_BINARY:
	case STEP_PAIR:
		check_spread(c, s);
		break;
	case STEP_EDGE_OUT:
	case STEP_MAX_POOL:
	case STEP_LANES:
	case STEP_MIX:
	case STEP_UNARY:
	case STEP_SPILL:
	case STEP_REFILL:
	case STEP_RESHARD:
	case STEP_COUNT:
		break;
	}
}

static void check_fidelity(const Checker *c, const Step *s)
{
	if (s->kind == STEP_MIX)
		STEP_RULE(c, s, s->phases == 2 || s->phases == 4,
			  "%d phases of fidelity, not 2 or 4", s->phases);
	else if (s->weights)
		STEP_RULE(c, s, s->phases >= 1 && s->phases <= 4,
			  "%d phases of fidelity, not 1 to 4", s->phases);
}

void check_types(const Checker *c)
{
	for (int i = 0; i < c->p->ntensors; i++) {
		const PlanTensor *t = c->p->tensors[i];
		check_type(c, t);
		if (t->layout.type == DEV_F32)
			check_f32(c, t);
	}
	for (int i = 0; i < c->p->nsteps; i++) {
		const Step *s = &c->p->steps[i];
		if (s->out)
			check_stored(c, s);
		check_phases(c, s);
		check_images(c, s);
		check_kind(c, s);
		check_fidelity(c, s);
	}
}
