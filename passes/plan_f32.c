/*
 * Which tensors may be f32, and which have to be so together.
 *
 * A step makes f32 at the packers and reads what TF32 has of it; which do is a column of
 * ir/steps.def. What a product reads is of one format, and the host has one tensor for all
 * images of a batch, so these have one number, `wide`, which is that of the first of them.
 * One that may not be f32 keeps all the others from it, and so it is with bfp8_b.
 */
#include "passes/plan_steps.h"

#include "passes/choice_legal.h"
#include "passes/plan_dram.h"

static bool takes_f32(const Plan *p, const PlanTensor *t)
{
	bool ok = !t->partial && t->layout.phases == 1 && t->op->dtype == TYPE_F32;
	for (int i = t->born; i <= t->dies && ok; i++) {
		const Step *s = &p->steps[i];
		ok = (s->out != t || step_makes_f32(s)) && (!plan_reads(s, t) || step_reads_f32(s));
	}
	return ok && t->dies > t->done;
}

bool plan_is_sent(const Plan *p, const PlanTensor *t)
{
	bool any = false;
	for (int i = t->born; i <= t->dies; i++)
		any |= !p->steps[i].out && plan_reads(&p->steps[i], t);
	return any;
}

/* Both are f32, or none. */
static void join(const Plan *p, const PlanTensor *a, const PlanTensor *b)
{
	const int one = a->wide < b->wide ? a->wide : b->wide;
	const int other = a->wide < b->wide ? b->wide : a->wide;
	for (int i = 0; i < p->ntensors && one != other; i++)
		if (p->tensors[i]->wide == other)
			p->tensors[i]->wide = one;
}

static void join_all(const Plan *p)
{
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		for (int k = 1; k < s->nin && choice_has(s, CHOICE_k_block); k++)
			join(p, s->in[0].tensor, s->in[k].tensor);
	}
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i], *o = choice_other_image(p, t, NULL);
		if (o)
			join(p, t, o);
	}
}

/* Once for an op, of all its parts and images. */
static void tell_kept(Builder *b, const PlanTensor *t)
{
	bool told = t->image > 0;
	for (int i = 0; i < t->id; i++) {
		const PlanTensor *o = b->plan->tensors[i];
		told |= o->op == t->op && o->result && !o->f32;
	}
	if (!told)
		diag_warning(b->d, t->op->loc, "%s '%s': kept in bf16, not all that make and read it, or "
			     "what is read with it, take f32", op_info[t->op->kind].name, t->op->name);
}

void plan_choose_f32(Builder *b)
{
	Plan *p = b->plan;
	bool *kept = arena_array(b->a, bool, p->ntensors + 1); /* from f32, by `wide` */
	for (int i = 0; i < p->ntensors; i++)
		p->tensors[i]->wide = i;
	join_all(p);
	for (int i = 0; i < p->ntensors; i++)
		kept[p->tensors[i]->wide] |= !takes_f32(p, p->tensors[i]);
	for (int i = 0; i < p->ntensors; i++) {
		PlanTensor *t = p->tensors[i];
		t->f32 = !kept[t->wide];
		if (t->op->stored & DEV_F32 && t->f32)
			t->layout.type = DEV_F32;
		else if (t->op->stored == DEV_F32 && t->result)
			tell_kept(b, t);
	}
}
