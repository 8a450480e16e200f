#include "ir/choice_text.h"

#include "ir/file.h"
#include "ir/quote.h"

/* Host edges out of the same op and image, other than this one. */
static bool has_pieces(const Plan *bare, const Step *s)
{
	for (int i = 0; i < bare->nsteps; i++) {
		const Step *o = &bare->steps[i];
		if (o != s && !o->out && o->op == s->op && o->image == s->image)
			return true;
	}
	return false;
}

StepName choice_step_name(const Plan *bare, int step)
{
	const Step *s = &bare->steps[step];
	if (!s->out) {
		const char *name = s->op->name;
		if (s->image)
			name = arena_printf(bare->graph->arena, "%s.image%d", name, s->image);
		return (StepName){ name, has_pieces(bare, s) ? s->piece + 1 : 0 };
	}
	int number = 1;
	for (int i = s->out->born; i < step; i++)
		number += bare->steps[i].out == s->out;
	return (StepName){ s->out->name, number > 1 ? number : 0 };
}

static void print_step_name(FILE *f, StepName n)
{
	name_print(f, n.name);
	if (n.number)
		fprintf(f, "@%d", n.number);
}

const char *choice_step_spelling(const Plan *bare, int step)
{
	TextFile t;
	text_open(&t);
	print_step_name(t.f, choice_step_name(bare, step));
	return text_take(&t, bare->graph->arena);
}

/* Fields of a tensor line, or of an op line. */
static void print_fields(FILE *f, const Step *s, const Choice *c, const Pins *pins, bool tensor)
{
	for (int i = 0; i < CHOICE_COUNT; i++) {
		if (!choice_has(s, i) || (choice_info[i].who == CHOICE_RESULT) != tensor)
			continue;
		fprintf(f, " %s=", choice_info[i].key);
		choice_write(f, i, choice_get(c, i));
		if (pins && pins->fixed >> i & 1)
			fputc('!', f);
	}
	if (tensor && pins && pins->shard != SHARD_ANY)
		fprintf(f, " shard=%s!", shard_words[pins->shard]);
}

static void print_above(FILE *f, const ChoiceRemark *r)
{
	if (r && r->above)
		fputs(r->above, f);
}

static void print_behind(FILE *f, const ChoiceRemark *r)
{
	if (r && r->behind)
		fprintf(f, " %s", r->behind);
	fputc('\n', f);
}

static void print_tensor_notes(FILE *f, const PlanTensor *t)
{
	fputs(" ;", f);
	if (t->layout.place == PLACE_L1)
		fprintf(f, " at=0x%llx", (unsigned long long)t->layout.address);
	fprintf(f, " bytes=%lld life=%d..%d", (long long)t->bytes, t->born, t->dies);
	if (shard_word(t->cut) != SHARD_ANY)
		fprintf(f, " shard=%s", shard_words[shard_word(t->cut)]);
}

void choice_print(FILE *f, const Plan *bare, const Choice *choices, const Pins *pins,
		  const ChoiceNotes *notes, const ChoiceRemarks *remarks)
{
	const ChoiceRemark *header = remarks ? &remarks->header : NULL;
	print_above(f, header);
	fputs("plan ", f);
	name_print(f, bare->graph->name);
	fputs(" target=", f);
	name_print(f, bare->target->name);
	fprintf(f, " cores=%d", bare->cores);
	print_behind(f, header);
	for (int i = 0; i < bare->nsteps; i++) {
		const Step *s = &bare->steps[i];
		const ChoiceRemark *r = remarks ? &remarks->op[i] : NULL;
		const char *about = notes && notes->about ? notes->about(notes->with, i) : NULL;
		print_above(f, r);
		fputs("op ", f);
		print_step_name(f, choice_step_name(bare, i));
		fprintf(f, " %s", step_names[s->kind]);
		print_fields(f, s, &choices[i], pins ? &pins[i] : NULL, false);
		if (about)
			fprintf(f, " ; %s", about);
		print_behind(f, r);
		const PlanTensor *t = s->out;
		if (!t || t->done != i)
			continue;
		r = remarks ? &remarks->tensor[t->id] : NULL;
		print_above(f, r);
		fputs("tensor ", f);
		name_print(f, t->name);
		print_fields(f, s, &choices[t->born], pins ? &pins[t->born] : NULL, true);
		if (notes && notes->placed)
			print_tensor_notes(f, notes->placed->tensors[t->id]);
		print_behind(f, r);
	}
	print_above(f, remarks ? &remarks->end : NULL);
}
