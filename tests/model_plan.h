/*
 * Plans of whole models for tests, by the planner as `tessera compile` asks it.
 */
#ifndef TESTS_MODEL_PLAN_H
#define TESTS_MODEL_PLAN_H

#include "passes/search.h"

/* Of a graph after its passes. With `blocks` every tensor that may be is bfp8_b, and how
 * many are is printed. NULL: there is none, or none that may be. */
Plan *model_plan(const Graph *g, Objective objective, bool blocks);

#endif
