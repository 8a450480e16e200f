#include "passes/plan_pins.h"

#include <stdlib.h>
#include <string.h>

#include "ir/file.h"
#include "ir/hint.h"
#include "passes/choice_legal.h"
#include "passes/plan_dram.h"

/* ---- contradictions ---- */

bool pin_is_fixed(const Pins *p, int field)
{
	return field == PIN_SHARD ? p->shard != SHARD_ANY : p->fixed >> field & 1;
}

void pin_print(FILE *f, const Pins *p, int field)
{
	fprintf(f, "%s=", field == PIN_SHARD ? "shard" : choice_info[field].key);
	if (field == PIN_SHARD)
		fputs(shard_words[p->shard], f);
	else
		choice_write(f, field, choice_get(&p->value, field));
}

static bool shard_bands(const Plan *bare, const Step *s, const Pins *p)
{
	(void)bare;
	(void)s;
	return (p->shard == SHARD_WIDTH && p->value.bands != 1)
		|| (p->shard == SHARD_BLOCK && p->value.bands == 1);
}

static bool shard_splits(const Plan *bare, const Step *s, const Pins *p)
{
	(void)bare;
	(void)s;
	return (p->shard == SHARD_HEIGHT && p->value.splits != 1)
		|| (p->shard == SHARD_BLOCK && p->value.splits == 1);
}

static bool bands_splits(const Plan *bare, const Step *s, const Pins *p)
{
	(void)s;
	return (int64_t)p->value.bands * p->value.splits > bare->cores;
}

static int chunks_of(const Step *s, const Pins *p)
{
	const Choice c = { .cout_block = s->held, .weights = (int)s->weights,
			   .k_block = p->value.k_block };
	return choice_product(s, &c).stream.chunks;
}

static bool k_block_ring(const Plan *bare, const Step *s, const Pins *p)
{
	(void)bare;
	return p->value.ring == 0 && chunks_of(s, p) > 1;
}

static bool k_block_act_block(const Plan *bare, const Step *s, const Pins *p)
{
	(void)bare;
	return p->value.act_block > 0 && chunks_of(s, p) == 1;
}

static bool ring_act_block(const Plan *bare, const Step *s, const Pins *p)
{
	(void)bare;
	(void)s;
	return p->value.ring == 0 && p->value.act_block > 0;
}

static bool reshard_park(const Plan *bare, const Step *s, const Pins *p)
{
	(void)bare;
	(void)s;
	return (p->value.reshard & p->value.park) != 0;
}

static bool park_beside(const Plan *bare, const Step *s, const Pins *p)
{
	(void)bare;
	(void)s;
	return (p->value.beside & ~p->value.park) != 0;
}

/* Fields of which not every two values can be at once. */
static const struct {
	int a, b;
	bool (*clash)(const Plan *bare, const Step *s, const Pins *p);
} pairs[] = {
	{ PIN_SHARD, CHOICE_bands, shard_bands },
	{ PIN_SHARD, CHOICE_splits, shard_splits },
	{ CHOICE_bands, CHOICE_splits, bands_splits },
	{ CHOICE_k_block, CHOICE_ring, k_block_ring },
	{ CHOICE_k_block, CHOICE_act_block, k_block_act_block },
	{ CHOICE_ring, CHOICE_act_block, ring_act_block },
	{ CHOICE_reshard, CHOICE_park, reshard_park },
	{ CHOICE_park, CHOICE_beside, park_beside },
};

enum { PAIRS = sizeof pairs / sizeof *pairs };

static bool clashes(const Plan *bare, int step, const Pins *p, int pair)
{
	return pin_is_fixed(p, pairs[pair].a) && pin_is_fixed(p, pairs[pair].b)
		&& pairs[pair].clash(bare, &bare->steps[step], p);
}

static Loc place_of(const Plan *bare, const ChoicePlace *where, int step, int field)
{
	Loc at = { 0 };
	if (where)
		at = field == PIN_SHARD ? where[step].shard : where[step].at[field];
	return at.file ? at : bare->steps[step].op->loc;
}

/* The steps that make a tensor say the same, and of hints the images of a batch do: once. */
static bool says_again(const Plan *bare, const ChoicePlace *where, int step, int pair)
{
	const Step *s = &bare->steps[step];
	const bool result = pairs[pair].b == CHOICE_bands || pairs[pair].b == CHOICE_splits;
	return (!where && s->image > 0) || (result && s->out->born != step);
}

bool plan_pins_check(const Plan *bare, const Pins *pins, const ChoicePlace *where, Diag *d)
{
	bool ok = true;
	for (int i = 0; i < bare->nsteps; i++)
		for (int k = 0; k < PAIRS; k++) {
			if (!clashes(bare, i, &pins[i], k))
				continue;
			ok = false;
			if (says_again(bare, where, i, k))
				continue;
			TextFile t;
			text_open(&t);
			fprintf(t.f, "%s: pins ", choice_step_spelling(bare, i));
			pin_print(t.f, &pins[i], pairs[k].a);
			fputs(" and ", t.f);
			pin_print(t.f, &pins[i], pairs[k].b);
			diag_error(d, place_of(bare, where, i, pairs[k].b), "%s contradict each other",
				   text_take(&t, bare->graph->arena));
		}
	return ok;
}

static void drop(Pins *p, int field)
{
	if (field == PIN_SHARD)
		p->shard = SHARD_ANY;
	else
		p->fixed &= ~(1u << field);
}

static void merge(const Plan *bare, int step, Pins *to, const Pins *above)
{
	for (int f = 0; f < CHOICE_COUNT; f++)
		if (pin_is_fixed(above, f)) {
			to->fixed |= 1u << f;
			choice_set(&to->value, f, choice_get(&above->value, f));
		}
	if (pin_is_fixed(above, PIN_SHARD))
		to->shard = above->shard;
	if (above->barred)
		to->barred = above->barred;
	for (int k = 0; k < PAIRS; k++)
		if (clashes(bare, step, to, k))
			drop(to, pin_is_fixed(above, pairs[k].a) ? pairs[k].b : pairs[k].a);
}

/* What has the format of a tensor that is pinned above follows that. */
static void merge_types(const Plan *bare, Pins *to, const Pins *above)
{
	for (int i = 0; i < bare->ntensors; i++) {
		const PlanTensor *t = bare->tensors[i];
		if (!pin_is_fixed(&above[t->born], CHOICE_type))
			continue;
		for (int k = 0; k < bare->ntensors; k++) {
			const PlanTensor *o = bare->tensors[k];
			if (o->wide == t->wide && !pin_is_fixed(&above[o->born], CHOICE_type)
			    && to[o->born].value.type != above[t->born].value.type)
				drop(&to[o->born], CHOICE_type);
		}
	}
}

Pins *plan_pins_merge(const Plan *bare, const Pins *below, const Pins *above)
{
	Pins *to = arena_array(bare->graph->arena, Pins, bare->nsteps + 1);
	for (int i = 0; i < bare->nsteps; i++) {
		if (below)
			to[i] = below[i];
		if (above)
			merge(bare, i, &to[i], &above[i]);
	}
	if (above)
		merge_types(bare, to, above);
	return to;
}

/* ---- choices ---- */

Choice *plan_pins_settle(const Plan *bare, const Pins *pins)
{
	Choice *c = arena_array(bare->graph->arena, Choice, bare->nsteps + 1);
	for (int i = 0; i < bare->nsteps; i++) {
		c[i] = choice_plain(&bare->steps[i]);
		for (int f = 0; f < CHOICE_COUNT; f++) {
			if (!choice_has(&bare->steps[i], f))
				continue;
			if (!pin_is_fixed(&pins[i], f))
				return NULL;
			choice_set(&c[i], f, choice_get(&pins[i].value, f));
		}
	}
	return c;
}

static bool is_kept(const Pins *p, const Choice *c, int field)
{
	const ShardWord word = shard_word((Cut){ c->bands, c->splits });
	if (field != PIN_SHARD)
		return choice_get(c, field) == choice_get(&p->value, field);
	return word == p->shard || (word == SHARD_ANY && p->shard != SHARD_BLOCK);
}

bool plan_pins_kept(const Plan *bare, const Pins *pins, const Choice *choices,
		    const ChoicePlace *where, Diag *d)
{
	bool ok = true;
	for (int i = 0; i < bare->nsteps; i++)
		for (int f = 0; f <= PIN_SHARD; f++) {
			if (!pin_is_fixed(&pins[i], f) || is_kept(&pins[i], &choices[i], f))
				continue;
			TextFile t;
			text_open(&t);
			fprintf(t.f, "%s: no plan was found with ", choice_step_spelling(bare, i));
			pin_print(t.f, &pins[i], f);
			diag_error(d, place_of(bare, where, i, f), "%s",
				   text_take(&t, bare->graph->arena));
			ok = false;
		}
	return ok;
}

/* ---- hints ---- */

static void pin(Pins *p, const Step *s, ChoiceField f, int value)
{
	if (!choice_has(s, f))
		return;
	p->fixed |= 1u << f;
	choice_set(&p->value, f, value);
}

/* A hint whose values are those of a field. */
static void pin_hint(Pins *p, const Step *s, ChoiceField f, const char *hint)
{
	const char *text = op_hint(s->op, hint);
	int value;
	if (text && choice_read(f, text, &value))
		pin(p, s, f, value);
}

/* Does the tensor leave the op: does no other step of it read it? */
static bool is_result(const Plan *bare, const PlanTensor *t)
{
	for (int i = t->born; i <= t->dies; i++)
		if (bare->steps[i].op == t->op && plan_reads(&bare->steps[i], t))
			return false;
	return true;
}

static bool in_dram(const Op *op) { return op_asks(op, "place", "dram") || op_asks(op, "shard", "dram"); }

static void pin_result(const Plan *bare, const Step *s, Pins *p)
{
	const Op *op = s->op;
	if (!s->out || s->out->op != op || !is_result(bare, s->out))
		return;
	pin_hint(p, s, CHOICE_bands, "bands");
	pin_hint(p, s, CHOICE_splits, "split");
	pin_hint(p, s, CHOICE_place, "place");
	if (in_dram(op))
		pin(p, s, CHOICE_place, PLACE_DRAM);
	if (op_hint(op, "stored")) /* or what was made of it, which was told */
		pin(p, s, CHOICE_type, s->out->layout.type);
	for (int w = SHARD_HEIGHT; w < SHARD_WORDS; w++)
		if (op_asks(op, "shard", shard_words[w]))
			p->shard = (ShardWord)w;
	if (in_dram(op) && op_hint(op, "act_block_h")) { /* rows of that many positions */
		const int cols = (s->out->layout.cols + TILE - 1) / TILE * TILE;
		const int rows = atoi(op_hint(op, "act_block_h")) / cols, unit = s->out->row_unit;
		pin(p, s, CHOICE_slice, rows < unit ? unit : (rows + unit - 1) / unit * unit);
	}
	if (in_dram(op) && op_hint(op, "double_buffer"))
		pin(p, s, CHOICE_slice_buffer, op_asks(op, "double_buffer", "activations")
		    || op_asks(op, "double_buffer", "both") ? SLICE_DOUBLE : SLICE_SINGLE);
}

/* Whole blocks, as many as are asked for at most: other numbers were told. */
static int whole_blocks(const Step *s, int k_block)
{
	const Choice c = { .cout_block = s->held, .weights = (int)s->weights };
	while (k_block > 1 && !choice_k_block_ok(s, &c, k_block))
		k_block--;
	return k_block;
}

static void pin_product(const Step *s, Pins *p)
{
	const Op *op = s->op;
	const char *buffers = op_hint(op, "double_buffer");
	const bool resident = op_asks(op, "residency", "resident");
	pin_hint(p, s, CHOICE_cout_block, "cout_block");
	if (choice_weights(s) != s->weights)
		pin_hint(p, s, CHOICE_weights, "weights");
	pin_hint(p, s, CHOICE_phases, "fidelity");
	pin_hint(p, s, CHOICE_k_block, "k_block");
	pin_hint(p, s, CHOICE_fetchers, "fetchers");
	pin_hint(p, s, CHOICE_prefetch, "prefetch");
	if (pin_is_fixed(p, CHOICE_k_block))
		p->value.k_block = whole_blocks(s, p->value.k_block);
	if (!in_dram(op) && !resident)
		pin_hint(p, s, CHOICE_act_block, "act_block_h");
	if (resident)
		pin(p, s, CHOICE_ring, 0);
	else if (buffers)
		pin(p, s, CHOICE_ring,
		    strcmp(buffers, "weights") == 0 || strcmp(buffers, "both") == 0 ? 2 : 1);
	else if (op_asks(op, "residency", "streamed"))
		pin(p, s, CHOICE_ring, 2);
}

/* Hints that plan_steps takes for those of any op, but that none of its steps has a
 * use for. */
static void tell(const Plan *bare, const Op *op)
{
	const char *height = op_hint(op, "act_block_h");
	bool product = false;
	for (int i = 0; i < bare->nsteps; i++)
		product |= bare->steps[i].op == op && choice_has(&bare->steps[i], CHOICE_act_block);
	if (height && !in_dram(op) && (!product || op_asks(op, "residency", "resident")))
		diag_warning(bare->graph->diag, op->loc, "%s '%s': this plan does not follow hint act_block_h",
			     op_info[op->kind].name, op->name);
}

/* Hints that say the same in two ways. */
static bool agree(const Plan *bare, const Op *op)
{
	if (!op_asks(op, "shard", "dram") || !op_asks(op, "place", "l1"))
		return true;
	diag_error(bare->graph->diag, op->loc, "%s '%s': hints place=l1 and shard=dram contradict each other",
		   op_info[op->kind].name, op->name);
	return false;
}

Pins *plan_pins(const Plan *bare)
{
	Pins *pins = arena_array(bare->graph->arena, Pins, bare->nsteps + 1);
	bool ok = true;
	for (int i = 0; i < bare->nsteps; i++) {
		const Step *s = &bare->steps[i];
		if (!s->op->nhints)
			continue;
		pin_result(bare, s, &pins[i]);
		if (choice_has(s, CHOICE_k_block))
			pin_product(s, &pins[i]);
	}
	for_each_op(op, bare->graph) {
		ok &= agree(bare, op);
		tell(bare, op);
	}
	return plan_pins_check(bare, pins, NULL, bare->graph->diag) && ok ? pins : NULL;
}
