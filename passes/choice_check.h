/*
 * Are choices legal: can plan_apply, placement and lowering do what they say?
 * Whether buffers then fit is for the checker of the plan that is made of them.
 */
#ifndef PASSES_CHOICE_CHECK_H
#define PASSES_CHOICE_CHECK_H

#include "ir/choice_text.h"
#include "passes/plan.h"

/* False if some field of some choice is not legal; each is reported where `where`
 * says it was given, or (NULL, or not given) at its op, with the nearest values that
 * are. The grid of the plan is set. */
bool choice_check(const Plan *bare, const Choice *choices, const ChoicePlace *where, Diag *d);

/* The same of pins alone: false if one is legal with no values of the fields of its
 * step that are not fixed. What depends on other steps is not looked at. */
bool choice_check_pins(const Plan *bare, const Pins *pins, const ChoicePlace *where, Diag *d);

#endif
