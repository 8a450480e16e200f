/*
 * Steps that work on every value by itself.
 */
#include "passes/plan_steps.h"

#include "passes/rewrite.h"

void plan_unary(Builder *b, const Op *op)
{
	plan_check_act(b, op);
	plan_by_parts(b, STEP_UNARY, op, act_of(op), NULL);
}
