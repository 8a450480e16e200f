/*
 * Pins: fields of choices (ir/choice.h) that are fixed before a plan is looked for.
 *
 * Who says what, and who is heard if they disagree, from least to most:
 *
 *     built-in      what the search finds best
 *     target        its grid and memory bound what there is to choose from
 *     model hints   of NNEF or IR files: plan_pins
 *     plan pins     fields with ! of a plan file: choice_parse
 *     command line  lines of a plan file without its first: choice_pin_given
 *
 * A later one overrules a field of an earlier one, and every field of it that
 * cannot be with its own. Two pins of the same level that cannot both be are an
 * error.
 */
#ifndef PASSES_PLAN_PINS_H
#define PASSES_PLAN_PINS_H

#include "ir/choice_text.h"
#include "passes/plan.h"

/* The shard word is a field among the others here. */
enum { PIN_SHARD = CHOICE_COUNT };

bool pin_is_fixed(const Pins *p, int field);

/* "field=value" */
void pin_print(FILE *f, const Pins *p, int field);

/* What the hints of every step's op fix; for each step. Hints about a result are for
 * tensors that leave the op, not for those on the way. What no step of an op can
 * follow is told. NULL, reported, if two of them cannot both be. */
Pins *plan_pins(const Plan *bare);

/* False if two pins of a step cannot both be: each is reported, at `where` or (NULL)
 * at its op. */
bool plan_pins_check(const Plan *bare, const Pins *pins, const ChoicePlace *where, Diag *d);

/* Pins of two levels, each for itself free of contradictions; either may be NULL. */
Pins *plan_pins_merge(const Plan *bare, const Pins *below, const Pins *above);

/* All choices, if every field of every step is fixed and nothing is left to look for;
 * else NULL. */
Choice *plan_pins_settle(const Plan *bare, const Pins *pins);

/* False if choices do not have the pins: each that is not kept is reported. */
bool plan_pins_kept(const Plan *bare, const Pins *pins, const Choice *choices,
		    const ChoicePlace *where, Diag *d);

#endif
