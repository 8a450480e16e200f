/*
 * Steps that work on every value by itself.
 */
#include "passes/plan_steps.h"

void plan_unary(Builder *b, const Op *op)
{
	plan_by_parts(b, STEP_UNARY, op, (Act){ .kind = op->kind }, NULL);
}
