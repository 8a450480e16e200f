#include "tests/random_pins.h"

#include "ir/choice_text.h"
#include "ir/file.h"
#include "passes/plan.h"

static int any(Rng *r, int least, int most) { return least + (int)rng_below(r, most - least + 1); }

/* Mostly what is legal for some step: small numbers, and what cores there are. */
static int some_value(Rng *r, const Plan *bare, const Step *s, ChoiceField f)
{
	const int height = s->out ? s->out->height : s->in[0].tensor->height;
	switch (f) {
	case CHOICE_bands:
		return any(r, 1, height < bare->cores ? height : bare->cores);
	case CHOICE_splits:
		return any(r, 1, 4);
	case CHOICE_type:
		return any(r, 0, 1) ? DEV_BF16 : any(r, 0, 2) ? DEV_BFP8_B : DEV_F32;
	case CHOICE_weights:
		return 1 << any(r, 0, 2);
	case CHOICE_place:
		return any(r, 0, 1) ? PLACE_L1 : PLACE_DRAM;
	case CHOICE_slice:
		return any(r, 0, 3) ? any(r, 1, 8) : 0;
	case CHOICE_slice_buffer:
	case CHOICE_prefetch:
		return any(r, 0, 1);
	case CHOICE_cout_block:
		return 1 << any(r, 0, 2);
	case CHOICE_phases:
		return any(r, 1, 4);
	case CHOICE_k_block:
		return any(r, 0, 2) ? any(r, 1, 12) : 0;
	case CHOICE_ring:
		return any(r, 0, 2);
	case CHOICE_act_block:
		return any(r, 0, 3) ? 32 * any(r, 1, 6) : 0;
	case CHOICE_fetchers:
		return any(r, 1, 4);
	case CHOICE_reshard:
	case CHOICE_park:
	case CHOICE_beside:
		return any(r, 0, (1 << s->nin) - 1);
	case CHOICE_COUNT:
		break;
	}
	return 0;
}

/* Any, but as often one that has most fields as all others. */
static int some_step(Rng *r, const Plan *bare)
{
	const int from = any(r, 0, bare->nsteps - 1);
	if (any(r, 0, 1))
		return from;
	for (int i = from; i < from + bare->nsteps; i++)
		if (choice_has(&bare->steps[i % bare->nsteps], CHOICE_k_block))
			return i % bare->nsteps;
	return from;
}

/* A part that can wait in DRAM and move there and back beside others: few can. */
static bool beside(Rng *r, const Plan *bare, RandomPin *pin, FILE *to)
{
	const int from = any(r, 0, bare->nsteps - 1);
	for (int i = from; i < from + bare->nsteps; i++) {
		const int step = i % bare->nsteps;
		const Step *s = &bare->steps[step];
		for (int k = 0; k < s->nin && choice_has(s, CHOICE_beside); k++)
			if (plan_can_beside(bare, step, k)) {
				fprintf(to, "op %s park=%d beside=%d\n", choice_step_spelling(bare, step),
					k, k);
				*pin = (RandomPin){ .step = step, .field = CHOICE_beside };
				return true;
			}
	}
	return false;
}

bool random_pin(Arena *a, Rng *r, const Plan *bare, RandomPin *pin)
{
	const int step = some_step(r, bare), field = any(r, 0, CHOICE_COUNT);
	const Step *s = &bare->steps[step];
	const bool shard = field == CHOICE_COUNT;
	const bool tensor = shard || choice_info[field].who == CHOICE_RESULT;
	TextFile t;
	if (field == CHOICE_beside && any(r, 0, 1)) {
		text_open(&t);
		const bool any_can = beside(r, bare, pin, t.f);
		pin->line = text_take(&t, a);
		return any_can;
	}
	if (shard ? !s->out : !choice_has(s, (ChoiceField)field))
		return false;
	if (tensor && s->out->born != step)
		return false;
	text_open(&t);
	fprintf(t.f, "%s %s ", tensor ? "tensor" : "op",
		choice_step_spelling(bare, step));
	if (shard) {
		fprintf(t.f, "shard=%s\n", shard_words[any(r, 1, SHARD_WORDS - 1)]);
	} else {
		fprintf(t.f, "%s=", choice_info[field].key);
		choice_write(t.f, (ChoiceField)field, some_value(r, bare, s, (ChoiceField)field));
		fprintf(t.f, "\n");
	}
	*pin = (RandomPin){ step, field, text_take(&t, a) };
	return true;
}
