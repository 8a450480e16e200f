/*
 * bench_plan MODEL [PERCENT...]: the best plan of a model for so many percent of L1,
 * what it takes by cause, and what it took to find. Times are predictions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "frontend/model.h"
#include "ir/clock.h"
#include "passes/check_plan.h"
#include "passes/cost_step.h"
#include "passes/pass.h"
#include "passes/search.h"
#include "tests/fixture.h"

static void print_causes(const Plan *p, const PlanTime *time)
{
	for (int k = 0; k < CAUSE_COUNT; k++)
		printf(" %s %.1f", cause_info[k].name,
		       (double)time->all.cycles[k] / (double)p->target->clock_mhz);
	printf("\n");
}

static void print_steps(const Plan *p, const PlanTime *time)
{
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		const PlanTensor *t = s->out ? s->out : s->in[0].tensor;
		printf("  %-10s %-24s %2dx%-2d n=%d hold=%d chunks=%d ring=%d early=%d %8.1f us",
		       step_names[s->kind], t->name, t->cut.bands, t->cut.splits, s->held,
		       s->stream.hold, s->stream.chunks, s->stream.ring, s->stream.early,
		       (double)time->steps[i].total / (double)p->target->clock_mhz);
		for (int k = 0; k < CAUSE_COUNT; k++)
			if (time->steps[i].cycles[k] * 50 > time->steps[i].total)
				printf(" %s %.1f", cause_info[k].name, (double)time->steps[i].cycles[k]
				       / (double)p->target->clock_mhz);
		printf("\n");
	}
}

static bool plan_one(Graph *g, const Target *target, int percent)
{
	Plan *bare = plan_steps(g, target, false);
	if (!bare)
		return false;
	plan_grid(bare, (int)(target->grid_cols * target->grid_rows));
	const int64_t all = (target->l1_end - target->l1_first) / 32 * 32 - 32;
	const double from = clock_now();
	const char *effort = getenv("EFFORT");
	const SearchOptions o = { .room = all * percent / 100 / 32 * 32,
				  .effort = effort ? atoi(effort) : 0,
				  .dram = DRAM_IF_NEEDED };
	const Found f = search(bare, &o);
	const double took = clock_now() - from;
	printf("%3d %% of L1: %d layouts (%d to %d a tensor), %d left, %lld states, %.2f s\n", percent,
	       f.layouts, f.fewest, f.most, f.left, (long long)f.states, took);
	if (!f.choices) {
		printf("no plan; stuck at step %d\n", f.stuck);
		return false;
	}
	Plan *p = plan_apply(bare, f.choices);
	const PlanTime time = plan_time(p);
	const double mhz = (double)target->clock_mhz;
	printf("predicted %.1f us, searched %.1f us, bound %.1f us:", (double)time.all.total / mhz,
	       (double)f.time / mhz, (double)f.bound / mhz);
	print_causes(p, &time);
	const bool fits = plan_place(p);
	printf("%s, peak %lld of %lld at step %d\n", fits ? "placed" : "does not fit",
	       (long long)p->peak, (long long)o.room, p->peak_step);
	if (getenv("STEPS"))
		print_steps(p, &time);
	return fits && check_plan(p, g->diag) && time.all.total == f.time;
}

int main(int argc, char **argv)
{
	bool ok = argc > 1;
	for (int i = 2; i < argc || i == 2; i++) {
		Arena *a = arena_create();
		Diag d = { .to = stderr };
		const Target *target = target_load(a, &d, TARGET_DEFAULT);
		const ModelOptions random = { .random_weights = true, .seed = 1 };
		Graph *g = argc > 1 ? model_read(a, &d, argv[1], &random) : NULL;
		const PassOptions none = { 0 };
		ok = ok && g && passes_run(g, pass_pipeline, pass_pipeline_length, &none)
			&& plan_one(g, target, i < argc ? atoi(argv[i]) : 100);
		arena_destroy(a);
	}
	return ok ? 0 : 1;
}
