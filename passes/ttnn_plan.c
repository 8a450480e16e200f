#include "passes/ttnn_plan.h"

#include <inttypes.h>

#include "passes/ttnn_search.h"
#include "passes/ttnn_time.h"

/* Labels kept at a step, in thousands; bytes that vanilla UNet's authors set aside for
 * ttnn's index tables, and in what steps. */
enum { USUAL_EFFORT = 20, QUICK = 1000, USUAL_L1_SMALL = 98304, L1_SMALL_STEP = 8192 };

void ttnn_nodes(TtnnSearch *s)
{
	s->nodes = arena_array(s->arena, TtnnNode, s->graph->nops + 1);
	for_each_op(op, s->graph) {
		if (op->kind == OP_CONSTANT)
			continue;
		TtnnNode *n = &s->nodes[s->n];
		*n = (TtnnNode){ .op = op, .last = s->n,
				 .in = arena_array(s->arena, int, op->nin + 1) };
		for (int k = 0; k < op->nin; k++) {
			if (op_in(op, k)->kind == OP_CONSTANT)
				continue;
			int from = 0;
			while (s->nodes[from].op != op_in(op, k))
				from++;
			n->in[n->nin++] = from;
			s->nodes[from].last = s->n;
			s->nodes[from].later = s->nodes[from].later || from != s->n - 1;
		}
		s->n++;
	}
}

/* What the tables of all windows may come to if every core has as many pixels: an index
 * a pixel of the result, and for the halo some a row of the image. */
static int64_t tables(const TtnnSearch *s)
{
	const int64_t cores = s->t->grid_cols * s->t->grid_rows;
	int64_t all = 0;
	for (int i = 0; i < s->n; i++) {
		const Op *op = s->nodes[i].op;
		const TtnnClass class = ttnn_op_info(op->kind)->class;
		if (class != TTNN_CONVS && class != TTNN_POOLS)
			continue;
		const int64_t rows = ttnn_rows(ttnn_pixels(op), TTNN_HEIGHT, cores, TTNN_TILE);
		all += 2 * rows + 16 * (rows / op->shape.dim[3] + 8);
	}
	return ttnn_round_up(all, L1_SMALL_STEP);
}

static void fill_op(TtnnPlan *p, const TtnnSearch *s, int i, const TtnnRun *run)
{
	TtnnOp *o = &p->ops[i];
	o->out = run->out;
	o->split = run->split;
	o->blocks = run->blocks;
	o->k_blocks = run->k_blocks;
	o->buffers = run->buffers;
	o->halo = run->halo;
	o->result = run->result;
	o->ps = run->ps;
	o->l1 = run->l1;
	o->first = p->nprograms;
	o->n = run->n;
	o->act = ttnn_act_of(o->op);
	o->fuses = ttnn_fuses(o->op);
	for (int k = 0; k < run->n; k++) {
		p->programs = arena_grow(s->arena, p->programs, p->nprograms, sizeof *p->programs);
		p->programs[p->nprograms] = run->list[k];
		p->programs[p->nprograms++].op = i;
	}
	p->kernel_ps += run->ps;
	p->gap_ps += run->programs * ttnn_cost(s->t, TTNN_COST_GAP) * 1000;
	p->l1 = run->l1 > p->l1 ? run->l1 : p->l1;
}

/* Once more along the choices, this time writing down what runs. */
static void fill_plan(TtnnPlan *p, const TtnnSearch *s, const TtnnChoice *choices)
{
	p->nops = s->n;
	p->ops = arena_array(s->arena, TtnnOp, s->n);
	for (int i = 0; i < s->n; i++) {
		const TtnnNode *n = &s->nodes[i];
		TtnnOp *o = &p->ops[i];
		*o = (TtnnOp){ .op = n->op, .choice = choices[i], .nin = n->nin,
			       .in = arena_array(s->arena, const TtnnOp *, n->nin + 1),
			       .from = arena_array(s->arena, TtnnPlace, n->nin + 1),
			       .as = arena_array(s->arena, TtnnPlace, n->nin + 1),
			       .dies = arena_array(s->arena, bool, n->nin + 1) };
		TtnnInput *in = arena_array(s->arena, TtnnInput, n->nin + 1);
		TtnnRun run = { .t = s->t, .arena = s->arena, .as = o->as };
		for (int j = 0; j < i; j++)
			if (s->nodes[j].last >= i && !p->ops[j].out.parked)
				run.base += p->ops[j].result;
		for (int k = 0; k < n->nin; k++) {
			const TtnnOp *from = &p->ops[n->in[k]];
			o->in[k] = from;
			in[k] = ttnn_input(s, i, k, from->out);
			o->from[k] = in[k].place;
			o->dies[k] = in[k].dies;
			bool again = false;
			for (int j = 0; j < k; j++)
				again = again || o->in[j] == from;
			run.base -= from->out.parked || again ? 0 : from->result;
		}
		if (!ttnn_run(&run, n->op, in, &choices[i]))
			die("ttnn: %s does not run as it was chosen to", n->op->name);
		fill_op(p, s, i, &run);
	}
}

TtnnPlan ttnn_price(const TtnnPlan *p, const Target *t, Arena *a)
{
	TtnnSearch s = { .arena = a, .graph = p->graph, .t = t, .room = p->room };
	TtnnChoice *choices = arena_array(a, TtnnChoice, p->nops);
	TtnnPlan again = { .graph = p->graph, .target = t, .l1_small = p->l1_small,
			   .room = p->room, .best = p->best, .open = p->open };
	for (int i = 0; i < p->nops; i++)
		choices[i] = p->ops[i].choice;
	ttnn_nodes(&s);
	fill_plan(&again, &s, choices);
	return again;
}

static enum ExitCode no_plan(const TtnnSearch *s, int stuck, int64_t needs)
{
	const Op *op = s->nodes[stuck].op;
	if (needs == INT64_MAX)
		diag_error(s->graph->diag, op->loc,
			   "%s %s: no plan for ttnn: no way to call it that the fixed fields and "
			   "what comes before it allow", op_info[op->kind].name, op->name);
	else
		diag_error(s->graph->diag, op->loc,
			   "%s %s: no plan for ttnn: it needs %" PRId64 " bytes of each core's L1 "
			   "at least, and there are %" PRId64, op_info[op->kind].name, op->name,
			   needs, s->room);
	return EXIT_INFEASIBLE;
}

enum ExitCode ttnn_plan(const Graph *g, const Target *t, const TtnnRequest *r, TtnnPlan *p)
{
	TtnnSearch s = { .arena = g->arena, .graph = g, .t = t, .quick = QUICK,
			 .most = 1000 * (r->effort ? r->effort : USUAL_EFFORT) };
	int stuck = 0;
	int64_t needs = 0;
	if (!ttnn_known(t)) {
		diag_error(g->diag, (Loc){ .file = t->name }, "nothing is known about ttnn on '%s'",
			   t->arch);
		return EXIT_INFEASIBLE;
	}
	if (!ttnn_supported(g))
		return EXIT_INFEASIBLE;
	*p = (TtnnPlan){ .graph = g, .target = t };
	ttnn_nodes(&s);
	p->l1_small = tables(&s);
	p->l1_small = p->l1_small > USUAL_L1_SMALL ? p->l1_small : USUAL_L1_SMALL;
	if (!(s.pins = ttnn_pins(&s, r, &p->l1_small)))
		return EXIT_USAGE;
	p->room = s.room = (r->l1 ? r->l1 : t->l1_end - t->l1_first) - p->l1_small;
	intmap_init(&s.blocks, g->arena);
	TtnnChoice *choices = ttnn_search(&s, &p->best, &stuck, &needs);
	if (!choices) {
		/* Then to DRAM with whatever helps. */
		s.spills = true;
		choices = ttnn_search(&s, &p->best, &stuck, &needs);
	}
	if (!choices)
		return no_plan(&s, stuck, needs);
	fill_plan(p, &s, choices);
	for (int i = 0; i < s.n; i++)
		for (int f = 0; f < TTNN_FIELDS; f++)
			p->open += ttnn_has(s.nodes[i].op->kind, f) && !(s.pins[i].fixed >> f & 1);
	return EXIT_OK;
}
