/*
 * The calls of the class, in order: each op's inputs brought to where the plan wants
 * them, the call, and what nobody needs any more let go.
 */
#include "backend/ttcnn_names.h"

#include <inttypes.h>
#include <string.h>

enum { KB = 1024 };

static const char *name_of(const Ttcnn *t, const TtnnOp *o) { return t->names[ttcnn_number(t, o)]; }

static const char *dram_name(const Ttcnn *t, const TtnnOp *o)
{
	return arena_printf(t->arena, "%s_dram", name_of(t, o));
}

/* Is an activation a call of its own behind the op's? */
static bool acts_later(const TtnnOp *o)
{
	return o->act.kind != OP_INPUT && !o->fuses && !op_is(o->op, ACT);
}

/* What the op's own call gives. */
static const char *result_of(const Ttcnn *t, const TtnnOp *o)
{
	return acts_later(o) ? arena_printf(t->arena, "%s_before", name_of(t, o)) : name_of(t, o);
}

static void let_go(Ttcnn *t, const char *name)
{
	py_call(&t->py, NULL, "ttnn.deallocate", PY_LINE);
	py_arg(&t->py, NULL, "%s", name);
	py_end(&t->py);
}

static void move_to(Ttcnn *t, const char *to, const char *from, const char *memory_config)
{
	py_call(&t->py, to, "ttnn.to_memory_config", PY_LINE);
	py_arg(&t->py, NULL, "%s", from);
	py_arg(&t->py, NULL, "%s", memory_config);
	py_end(&t->py);
}

static void change_layout(Ttcnn *t, const char *to, const char *from, TtnnRows layout,
			  TtnnType type)
{
	py_call(&t->py, to, "ttnn.to_layout", PY_LINE);
	py_arg(&t->py, NULL, "%s", from);
	py_arg(&t->py, NULL, "%s", ttcnn_layout(layout));
	if (layout == TTNN_TILE)
		py_arg(&t->py, "dtype", "%s", ttcnn_type(type));
	py_end(&t->py);
}

static void reshape(Ttcnn *t, const char *name, const char *shape)
{
	py_call(&t->py, name, "ttnn.reshape", PY_LINE);
	py_arg(&t->py, NULL, "%s", name);
	py_arg(&t->py, NULL, "%s", shape);
	py_end(&t->py);
}

/* An input on its way to a call. */
typedef struct Given {
	const char *name;
	bool copy; /* nobody else has it */
	bool dies; /* it goes with the call */
} Given;

/* One step on: under a name of its own, the one before let go if it is done with. */
static void step_on(Ttcnn *t, Given *g, const char *to)
{
	if ((g->copy || g->dies) && strcmp(g->name, to) != 0)
		let_go(t, g->name);
	g->name = to;
	g->copy = g->dies = true;
}

/* To the cores, and to tiles or rows of pixels: in that order unless tiles would be cut
 * where rows of pixels may be. */
static Given bring(Ttcnn *t, const TtnnOp *o, int k)
{
	const TtnnOp *in = o->in[k];
	const TtnnPlace *from = &o->from[k], *as = &o->as[k];
	const bool parked = in->out.parked && from->shard == TTNN_DRAM;
	bool again = false; /* it is another input too */
	for (int j = k + 1; j < o->nin; j++)
		again = again || o->in[j] == in;
	Given g = { parked ? dram_name(t, in) : name_of(t, in), false,
		    o->dies[k] && !parked && !again };
	const char *to = arena_printf(t->arena, "%s_in%d", name_of(t, o), k);
	const bool first = from->layout == TTNN_TILE && as->layout == TTNN_ROW_MAJOR && !as->whole;
	const bool moves = as->shard != TTNN_DRAM && !ttnn_same_cut(from, as);
	for (int i = 0; i < 2; i++) {
		const bool layout = first ? i == 0 : i == 1;
		const char *next = g.copy ? arena_printf(t->arena, "%s_%d", to, i) : to;
		if (layout && from->layout != as->layout) {
			change_layout(t, next, g.name, as->layout, as->type);
			step_on(t, &g, next);
		} else if (!layout && moves) {
			TtnnPlace p = *as;
			p.layout = first ? as->layout : from->layout;
			move_to(t, next, g.name, ttcnn_memory_config(t->arena, in->op, &p));
			step_on(t, &g, next);
		}
	}
	return g;
}

static bool is_last_reader(const Ttcnn *t, const TtnnOp *o, const TtnnOp *in)
{
	for (int i = ttcnn_number(t, o) + 1; i < t->plan->nops; i++)
		for (int k = 0; k < t->plan->ops[i].nin; k++)
			if (t->plan->ops[i].in[k] == in)
				return false;
	return true;
}

static void layer_call(Ttcnn *t, const TtnnOp *o, const Given *in)
{
	py_call(&t->py, result_of(t, o), arena_printf(t->arena, "self.%s", name_of(t, o)), PY_LINE);
	py_arg(&t->py, NULL, "%s", in->name);
	py_end(&t->py);
}

/* By images on the way in, by pixels on the way out, as everything else has them. */
static void upsample_call(Ttcnn *t, const TtnnOp *o, Given *in)
{
	const int64_t *d = op_in(o->op, 0)->shape.dim, *out = o->op->shape.dim;
	Py *p = &t->py;
	py_call(p, result_of(t, o), arena_printf(t->arena, "self.%s", name_of(t, o)), PY_LINE);
	py_nest(p, NULL, "ttnn.reshape", PY_LINE);
	py_arg(p, NULL, "%s", in->name);
	py_arg(p, NULL, "(%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ")", d[0], d[2], d[3], d[1]);
	py_end(p);
	py_end(p);
	reshape(t, result_of(t, o), arena_printf(t->arena, "(1, 1, %" PRId64 ", %" PRId64 ")",
					       ttnn_pixels(o->op), out[1]));
}

/* Pools that the builder has no class for. */
static void pool_call(Ttcnn *t, const TtnnOp *o, const Given *in)
{
	const poolAttr *a = &o->op->attr.pool;
	const int64_t *d = op_in(o->op, 0)->shape.dim;
	const bool average = o->op->kind != OP_MAX_POOL, all = o->op->kind == OP_GLOBAL_AVG_POOL;
	Py *p = &t->py;
	py_call(p, result_of(t, o), average ? "ttnn.avg_pool2d" : "ttnn.max_pool2d", PY_LINES);
	py_arg(p, "input_tensor", "%s", in->name);
	py_arg(p, "batch_size", "%" PRId64, d[0]);
	py_arg(p, "input_h", "%" PRId64, d[2]);
	py_arg(p, "input_w", "%" PRId64, d[3]);
	py_arg(p, "channels", "%" PRId64, d[1]);
	if (all)
		py_arg(p, "kernel_size", "(%" PRId64 ", %" PRId64 ")", d[2], d[3]);
	else
		py_arg(p, "kernel_size", "%s", ttcnn_pair(t->arena, a->kernel, 1));
	py_arg(p, "stride", "%s", all ? "(1, 1)" : ttcnn_pair(t->arena, a->strides, 1));
	py_arg(p, "padding", "%s", all ? "(0, 0)" : ttcnn_padding(t->arena, a->pads));
	if (!average)
		py_arg(p, "dilation", "%s", ttcnn_pair(t->arena, a->dilations, 1));
	py_flag(p, "ceil_mode", !all && a->ceil);
	if (average && !all)
		py_flag(p, "count_include_pad", a->count_pad);
	py_flag(p, "deallocate_input", o->choice.v[TTNN_FREE]);
	py_arg(p, "dtype", "%s", ttcnn_type(o->choice.v[TTNN_TYPE]));
	py_arg(p, "output_layout", "%s", ttcnn_layout(o->choice.v[TTNN_LAYOUT]));
	ttcnn_slice_config(t, o);
	py_end(p);
}

static void join_call(Ttcnn *t, const TtnnOp *o, const Given *in)
{
	const TtnnRows how = o->choice.v[TTNN_JOIN];
	const TtnnPlace joined = { .shard = o->out.shard, .rows = o->out.rows, .planes = 1,
				   .layout = how, .whole = o->as[0].whole };
	const bool later = how == TTNN_ROW_MAJOR && o->out.layout == TTNN_TILE;
	const char *rows = arena_printf(t->arena, "%s_rows", name_of(t, o));
	Py *p = &t->py;
	py_call(p, later ? rows : result_of(t, o), "ttnn.concat", PY_LINE);
	const char *list = "";
	for (int k = 0; k < o->nin; k++)
		list = arena_printf(t->arena, "%s%s%s", list, k ? ", " : "", in[k].name);
	py_arg(p, NULL, "[%s]", list);
	py_arg(p, "dim", "3");
	py_arg(p, "memory_config", "%s", ttcnn_memory_config(t->arena, o->op, &joined));
	py_end(p);
	if (later) {
		change_layout(t, result_of(t, o), rows, TTNN_TILE, o->choice.v[TTNN_TYPE]);
		let_go(t, rows);
	}
}

static void pair_call(Ttcnn *t, const TtnnOp *o, const Given *in)
{
	Py *p = &t->py;
	py_call(p, result_of(t, o), arena_printf(t->arena, "ttnn.%s", ttnn_op_info(o->op->kind)->name),
		PY_LINE);
	py_arg(p, NULL, "%s", in[0].name);
	py_arg(p, NULL, "%s", in[1].name);
	py_arg(p, "memory_config", "%s", ttcnn_memory_config(t->arena, o->op, &o->out));
	py_arg(p, "dtype", "%s", ttcnn_type(o->choice.v[TTNN_TYPE]));
	py_end(p);
}

/* An activation that is no part of another call. */
static void act_call(Ttcnn *t, const TtnnOp *o, const char *from)
{
	const TtnnAct *act = ttnn_act(o->act);
	Py *p = &t->py;
	py_call(p, name_of(t, o), arena_printf(t->arena, "ttnn.%s", act->function), PY_LINE);
	py_arg(p, NULL, "%s", from);
	if (*act->parameter)
		py_arg(p, act->parameter, "%s", ttcnn_number_text(t->arena, o->act.param[0]));
	py_arg(p, "memory_config", "%s", ttcnn_memory_config(t->arena, o->op, &o->out));
	py_end(p);
}

/* What the op itself is, and whether it lets go of its input by itself. */
static bool body(Ttcnn *t, const TtnnOp *o, Given *in)
{
	switch (ttnn_op_info(o->op->kind)->class) {
	case TTNN_CONVS:
		layer_call(t, o, in);
		return o->choice.v[TTNN_FREE];
	case TTNN_POOLS:
		if (ttcnn_is_layer(o))
			layer_call(t, o, in);
		else
			pool_call(t, o, in);
		return o->choice.v[TTNN_FREE];
	case TTNN_UPSAMPLES: upsample_call(t, o, in); break;
	case TTNN_JOINS: join_call(t, o, in); break;
	case TTNN_PAIRS: pair_call(t, o, in); break;
	case TTNN_UNARYS: act_call(t, o, in->name); break;
	case TTNN_EDGES: break;
	}
	return false;
}

static void remark(Ttcnn *t, const TtnnOp *o)
{
	const TtnnChoice *c = &o->choice;
	int64_t n = 0;
	for (int i = o->first; i < o->first + o->n; i++)
		n += t->plan->programs[i].times;
	const char *shard = ttnn_value(t->arena, TTNN_SHARD, c->v[TTNN_SHARD]);
	const char *blocks = o->blocks ? arena_printf(t->arena, ", %" PRId64 " x %" PRId64 " blocks",
						      o->blocks, o->k_blocks) : "";
	py_line(&t->py, "# %s %dx%d%s, %" PRId64 " KB of L1, %.1f us predicted in %" PRId64
		" program%s", shard, c->v[TTNN_ROWS], c->v[TTNN_PLANES], blocks, o->l1 / KB,
		(double)o->ps / 1e6, n, n == 1 ? "" : "s");
}

void ttcnn_call(Ttcnn *t, const TtnnOp *o)
{
	Given *in = arena_array(t->arena, Given, o->nin + 1);
	remark(t, o);
	for (int k = 0; k < o->nin; k++)
		in[k] = bring(t, o, k);
	const bool freed = body(t, o, in);
	for (int k = 0; k < o->nin; k++) {
		bool again = false;
		for (int j = 0; j < k; j++)
			again = again || o->in[j] == o->in[k];
		if (in[k].dies && !freed)
			let_go(t, in[k].name);
		/* The copy in DRAM outlives what is made of it only while it is read. */
		if (o->in[k]->out.parked && !again && is_last_reader(t, o, o->in[k]))
			let_go(t, dram_name(t, o->in[k]));
	}
	if (acts_later(o)) {
		const char *before = result_of(t, o);
		if (o->choice.v[TTNN_LAYOUT] == TTNN_ROW_MAJOR) {
			const char *tiles = arena_printf(t->arena, "%s_tiles", name_of(t, o));
			change_layout(t, tiles, before, TTNN_TILE, o->out.type);
			let_go(t, before);
			before = tiles;
		}
		act_call(t, o, before);
		let_go(t, before);
	}
	if (o->out.parked) {
		move_to(t, dram_name(t, o), name_of(t, o), "ttnn.DRAM_MEMORY_CONFIG");
		const int i = ttcnn_number(t, o);
		bool next = false;
		for (int k = 0; i + 1 < t->plan->nops && k < t->plan->ops[i + 1].nin; k++)
			next = next || t->plan->ops[i + 1].in[k] == o;
		if (!next)
			let_go(t, name_of(t, o));
	}
	py_blank(&t->py);
}
