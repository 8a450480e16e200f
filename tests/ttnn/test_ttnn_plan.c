/*
 * The planner for ttnn: prices against what was published, plans against the one made
 * by hand and against all there are.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/file.h"
#include "passes/ttnn_search.h"
#include "passes/ttnn_time.h"
#include "tests/model_graph.h"

/* A measured time, in microseconds, and how far off a prediction may be, in percent. */
static void within(double predicted_ps, double us, double percent)
{
	const double off = predicted_ps / 1e6 - us;
	if (off > us * percent / 100 || -off > us * percent / 100)
		fail_msg("predicted %.1f us, measured %.1f", predicted_ps / 1e6, us);
}

static TtnnConvTime time_of(Fixture *t, TtnnConv c, TtnnGrid g, TtnnChoice ch)
{
	const Target *n150 = test_target(t);
	const TtnnBlocks b = ttnn_blocks(n150, &c, &g, TTNN_TILE, &ch);
	return ttnn_conv_time(n150, &c, &g, &b, &ch);
}

#define WINDOW3(h, w) { 1, h, w, 3, 3, 1, 1, 1, 1, h + 2, w + 2, 0 }

/* tt-mlir issues 7474 and 7701: 128x128 pixels, bf16, HiFi4, 64 cores. */
static void convolutions_take_what_tt_mlir_measured(void **state)
{
	const TtnnConv c = { WINDOW3(128, 128), 256, 128, true, false, false };
	TtnnChoice ch = { .v = { [TTNN_FIDELITY] = TTNN_HIFI4, [TTNN_WDIV] = 1 } };
	within((double)time_of(*state, c, (TtnnGrid){ TTNN_HEIGHT, 64, 1, 1 }, ch).total, 220, 15);
	ch.v[TTNN_ABH] = 64;
	within((double)time_of(*state, c, (TtnnGrid){ TTNN_BLOCK, 8, 8, 4 }, ch).total, 864, 15);
}

/* tt-metal issue 26331: 4 images in groups, bfp8_b, LoFi, 63 cores, one reader. */
static void convolutions_take_what_unet_shallow_measured(void **state)
{
	const TtnnGrid g = { TTNN_HEIGHT, 63, 1, 1 };
	TtnnChoice ch = { .v = { [TTNN_WEIGHTS] = TTNN_BFP8, [TTNN_TYPE] = TTNN_BFP8,
				 [TTNN_WDIV] = 1, [TTNN_ACT_DB] = 1, [TTNN_W_DB] = 1,
				 [TTNN_ABH] = 96 } };
	const TtnnConv c7 = { WINDOW3(528, 80), 192, 64, true, false, false };
	const TtnnConv c8 = { WINDOW3(1056, 160), 128, 64, true, false, false };
	within((double)time_of(*state, c7, g, ch).total, 120.8, 25);
	ch.v[TTNN_ABH] = 128;
	within((double)time_of(*state, c8, g, ch).total, 314.6, 15);
}

static enum ExitCode plan(Fixture *t, const Graph *g, TtnnRequest r, TtnnPlan *p)
{
	return ttnn_plan(g, test_target(t), &r, p);
}

static void score_hand(Fixture *t, const Graph *g, TtnnPlan *p)
{
	static const char path[] = "models/vanilla_unet.hand.ttnn";
	const Bytes b = file_map(t->arena, &t->diag, (Loc){ 0 }, path);
	const TtnnRequest r = { .file = path, .text = b.data, .size = b.size, .whole = true };
	if (!b.data || plan(t, g, r, p) != EXIT_OK)
		fail_msg("%s", fixture_said(t));
}

static const TtnnOp *op_named(const TtnnPlan *p, const char *name)
{
	return ttnn_find(p, graph_find(p->graph, name));
}

/* 206 frames a second, and 97 programs with one more here for the mask's layout. */
static void the_hand_made_plan_takes_what_was_published(void **state)
{
	Fixture *t = *state;
	TtnnPlan p;
	score_hand(t, model_graph(t, "models/vanilla_unet.nnef"), &p);
	assert_int_equal(p.open, 0);
	assert_int_equal(p.room, 1295168);
	assert_int_equal(p.l1, 1272896);
	assert_int_equal(op_named(&p, "bottleneck.c2.conv")->l1, 1270848);
	assert_int_equal(op_named(&p, "dec4.c1.conv")->l1, 1272896);
	assert_int_equal(op_named(&p, "dec1.c1.conv")->halo, 780800);
	within((double)p.kernel_ps, 1e6 / 206, 25);
	within((double)ttnn_total_ps(&p), 1e6 / 190, 25);
	assert_int_equal(p.nprograms, 98);
}

static void ours_is_no_slower_and_fits(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/vanilla_unet.nnef");
	TtnnPlan ours, hand;
	score_hand(t, g, &hand);
	assert_int_equal(plan(t, g, (TtnnRequest){ 0 }, &ours), EXIT_OK);
	assert_true(ours.best);
	assert_true(ours.kernel_ps <= hand.kernel_ps);
	assert_true(ttnn_total_ps(&ours) <= ttnn_total_ps(&hand));
	assert_int_equal(ours.room, hand.room);
	for (int i = 0; i < ours.nprograms; i++)
		assert_true(ours.programs[i].l1 <= ours.room);
}

/* What a plan says reads back, and stays the same plan when nothing may be changed. */
static void a_plan_reads_back_to_itself(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/tiny_unet.nnef");
	TtnnPlan first, again;
	TextFile a, b;
	assert_int_equal(plan(t, g, (TtnnRequest){ 0 }, &first), EXIT_OK);
	text_open(&a);
	ttnn_print(&first, a.f);
	const char *text = text_take(&a, t->arena);
	const TtnnRequest r = { .file = "a.plan", .text = text, .size = strlen(text), .whole = true };
	assert_int_equal(plan(t, g, r, &again), EXIT_OK);
	assert_int_equal(again.open, 0);
	text_open(&b);
	ttnn_print(&again, b.f);
	assert_string_equal(text_take(&b, t->arena), text);
}

static void less_l1_is_never_faster(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/tiny_unet.nnef");
	int64_t before = 0;
	enum ExitCode code = EXIT_OK;
	for (int64_t kb = 256; code == EXIT_OK; kb -= 16) {
		TtnnPlan p;
		code = plan(t, g, (TtnnRequest){ .l1 = kb * 1024 }, &p);
		if (code != EXIT_OK)
			break;
		assert_true(p.l1 <= p.room);
		assert_true(ttnn_total_ps(&p) >= before);
		before = ttnn_total_ps(&p);
	}
	assert_int_equal(code, EXIT_INFEASIBLE);
	assert_non_null(strstr(fixture_said(t), "bytes of each core's L1 at least, and there are"));
}

static void a_tensor_too_large_for_l1_goes_through_dram_in_slices(void **state)
{
	Fixture *t = *state;
	TtnnPlan p;
	const Graph *g = model_graph(t, "tests/ttnn/large.nnef");
	assert_int_equal(plan(t, g, (TtnnRequest){ 0 }, &p), EXIT_OK);
	const TtnnOp *second = op_named(&p, "second.conv");
	assert_int_not_equal(second->choice.v[TTNN_SLICE], TTNN_L1_FULL);
	assert_int_equal(second->in[0]->out.shard, TTNN_DRAM);
	assert_int_equal(second->out.shard, TTNN_DRAM);
	assert_int_equal(p.programs[second->first].kind, TTNN_RUN_SLICE_IN);
	assert_int_equal(p.programs[second->first].times, second->choice.v[TTNN_SLICES]);
	assert_true(p.l1 <= p.room);
}

static void fields_that_are_pinned_hold(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/tiny_unet.nnef");
	TtnnPlan p;
	const TtnnRequest r = { .pins = "op enc1.c2.conv park=dram output_dtype=bfloat16\n"
				       "op dec1.c1.conv act_block_h_override=32\n" };
	assert_int_equal(plan(t, g, r, &p), EXIT_OK);
	assert_true(op_named(&p, "enc1.c2.conv")->out.parked);
	assert_int_equal(op_named(&p, "enc1.c2.conv")->out.type, TTNN_BF16);
	assert_int_equal(op_named(&p, "dec1.c1.conv")->choice.v[TTNN_ABH], 32);
}

static void wrong_pins_say_what_is_right(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/tiny_unet.nnef");
	TtnnPlan p;
	const TtnnRequest r = { .pins = "op enc1.c2.con park=dram\nop enc1.c2.conv pork=dram\n"
				       "op enc1.c2.conv park=disk act_block_h_override=33\n"
				       "op enc1.c2.conv max_pool2d\ntensor a b\n" };
	assert_int_equal(plan(t, g, r, &p), EXIT_USAGE);
	assert_string_equal(fixture_said(t),
		"--pin:1:4: error: there is no op 'enc1.c2.con'\n"
		"note: did you mean 'enc1.c2.conv'?\n"
		"--pin:2:17: error: conv enc1.c2.conv has no field 'pork'\n"
		"note: did you mean 'park'?\n"
		"--pin:3:17: error: park is l1|dram, not 'disk'\n"
		"--pin:3:27: error: act_block_h_override is a multiple of 32, not 33\n"
		"--pin:4:17: error: enc1.c2.conv is a conv2d, not a max_pool2d\n"
		"--pin:5:1: error: a line begins with 'op'\n");
}

static void every_op_without_counterpart_is_named(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/style_transfer.nnef");
	TtnnPlan p;
	int ops = 0, said = 0;
	assert_int_equal(plan(t, g, (TtnnRequest){ 0 }, &p), EXIT_INFEASIBLE);
	for_each_op(op, g)
		ops += op->kind == OP_INSTANCE_NORM || op->kind == OP_PAD;
	for (const char *at = fixture_said(t); (at = strstr(at, "no plan for ttnn")); at++)
		said++;
	assert_true(ops > 20);
	assert_int_equal(said, ops);
}

static void formats_that_have_no_price_are_refused(void **state)
{
	Fixture *t = *state;
	Graph *g = model_graph(t, "models/tiny_unet.nnef");
	TtnnPlan p;
	graph_find(g, "enc1.c1.conv")->weights = DEV_F32;
	graph_find(g, "enc1.c2.conv")->stored = DEV_F32;
	g->all_stored = DEV_F32;
	assert_int_equal(plan(t, g, (TtnnRequest){ 0 }, &p), EXIT_INFEASIBLE);
	assert_non_null(strstr(fixture_said(t), "enc1.c1.conv: no plan for ttnn: its weights are f32"));
	assert_non_null(strstr(fixture_said(t), "enc1.c2.conv: no plan for ttnn: its result is f32"));
	assert_non_null(strstr(fixture_said(t), "--act-dtype=f32: error: no plan for ttnn"));
}

static void the_format_of_all_weights_is_followed(void **state)
{
	Fixture *t = *state;
	Graph *g = model_graph(t, "models/tiny_unet.nnef");
	TtnnPlan p;
	g->all_weights = DEV_BF16;
	assert_int_equal(plan(t, g, (TtnnRequest){ 0 }, &p), EXIT_OK);
	for (int i = 0; i < p.nops; i++)
		if (p.ops[i].op->kind == OP_CONV)
			assert_int_equal(p.ops[i].choice.v[TTNN_WEIGHTS], TTNN_BF16);
}

/* 96 pixels a core of 256 and 256 channels: 49,152 bytes in bf16, 98,304 together, 52,224
 * of both in bfp8_b. */
static void a_join_holds_what_it_joins_and_what_it_makes(void **state)
{
	static const struct {
		TtnnProgramKind kind;
		int64_t l1;
	} want[] = {
		{ TTNN_RUN_UNTILIZE, 2 * 49152 }, { TTNN_RUN_REFILL, 2 * 49152 },
		{ TTNN_RUN_UNTILIZE, 3 * 49152 }, { TTNN_RUN_CONCAT, 4 * 49152 },
		{ TTNN_RUN_TILIZE, 2 * 49152 + 52224 },
	};
	Fixture *t = *state;
	TtnnPlan p;
	score_hand(t, model_graph(t, "models/vanilla_unet.nnef"), &p);
	const TtnnOp *o = op_named(&p, "up4");
	assert_int_equal(o->n, 5);
	for (int i = 0; i < o->n; i++) {
		assert_int_equal(p.programs[o->first + i].kind, want[i].kind);
		assert_int_equal(p.programs[o->first + i].l1, want[i].l1);
	}
}

typedef struct Best {
	TtnnSearch *s;
	int i;
	int64_t ps, least;
	TtnnPlace *places;
} Best;

static void try_rest(Best *b);

static void go_on(void *context, const TtnnWay *way)
{
	const Best *b = context;
	Best next = *b;
	next.ps += way->run.ps + way->run.programs * ttnn_cost(b->s->t, TTNN_COST_GAP) * 1000;
	next.places[b->i] = way->run.out;
	next.i++;
	try_rest(&next);
	((Best *)context)->least = next.least;
}

/* Every way of every op after those before. */
static void try_rest(Best *b)
{
	TtnnInput in[4];
	int64_t base = 0, least = INT64_MAX;
	if (b->i == b->s->n) {
		b->least = b->ps < b->least ? b->ps : b->least;
		return;
	}
	const TtnnNode *n = &b->s->nodes[b->i];
	for (int j = 0; j < b->i; j++)
		if (b->s->nodes[j].last >= b->i && !b->places[j].parked)
			base += ttnn_place_bytes(b->s->nodes[j].op, &b->places[j]);
	for (int k = 0; k < n->nin; k++) {
		const TtnnPlace p = b->places[n->in[k]];
		in[k] = ttnn_input(b->s, b->i, k, p);
		base -= p.parked ? 0 : ttnn_place_bytes(in[k].op, &p);
	}
	ttnn_ways(b->s, b->i, in, base, go_on, b, &least);
}

/* A first walk that keeps a single label gives a limit; what is dropped for it is not
 * the best. */
static void check_limited(TtnnSearch *s, int64_t least)
{
	bool best;
	int stuck;
	int64_t needs;
	s->most = 100000;
	s->quick = 1;
	const TtnnChoice *choices = ttnn_search(s, &best, &stuck, &needs);
	if (!choices || !best)
		return;
	Best all = { .s = s, .least = INT64_MAX, .places = arena_array(s->arena, TtnnPlace, s->n) };
	TtnnPin *pins = arena_array(s->arena, TtnnPin, s->n);
	for (int i = 0; i < s->n; i++) {
		pins[i].value = choices[i];
		for (int f = 0; f < TTNN_FIELDS; f++)
			pins[i].fixed |= ttnn_has(s->nodes[i].op->kind, f) ? 1u << f : 0;
	}
	s->pins = pins;
	intmap_init(&s->blocks, s->arena);
	try_rest(&all);
	assert_int_equal(all.least, least);
}

/* conv, conv, and the sum of both, with so little room that it matters who waits where. */
static void the_search_finds_what_trying_everything_does(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "tests/ttnn/residual.nnef");
	for (int64_t kb = 160; kb <= 320; kb += 40) {
		TtnnPlan p;
		const TtnnRequest r = { .l1 = 98304 + kb * 1024 };
		const enum ExitCode code = plan(t, g, r, &p);
		TtnnSearch s = { .arena = t->arena, .graph = g, .t = test_target(t),
				 .room = kb * 1024 };
		ttnn_nodes(&s);
		intmap_init(&s.blocks, t->arena);
		s.pins = arena_array(t->arena, TtnnPin, s.n);
		Best all = { .s = &s, .least = INT64_MAX,
			     .places = arena_array(t->arena, TtnnPlace, s.n) };
		try_rest(&all);
		if (all.least == INT64_MAX) {
			s.spills = true;
			try_rest(&all);
		}
		assert_int_equal(code == EXIT_OK, all.least < INT64_MAX);
		if (code == EXIT_OK)
			assert_int_equal(ttnn_total_ps(&p), all.least);
		check_limited(&s, all.least);
	}
}

/* The bound never says more than what is left of a plan. */
static void the_bound_is_no_more_than_the_rest_of_the_best_plan(void **state)
{
	Fixture *t = *state;
	const Graph *g = model_graph(t, "models/vanilla_unet.nnef");
	TtnnPlan p;
	TtnnSearch s = { .arena = t->arena, .graph = g, .t = test_target(t) };
	assert_int_equal(plan(t, g, (TtnnRequest){ 0 }, &p), EXIT_OK);
	ttnn_nodes(&s);
	intmap_init(&s.blocks, t->arena);
	s.pins = arena_array(t->arena, TtnnPin, s.n);
	ttnn_bound(&s);
	int64_t rest = 0;
	for (int i = p.nops - 1; i >= 0; i--) {
		const int place = ttnn_pack(&p.ops[i].out);
		const int64_t *bound = intmap_get(&s.to_go[i], &place, 1);
		assert_non_null(bound);
		assert_true(*bound <= rest);
		assert_true(*bound >= rest / 2);
		for (int k = p.ops[i].first; k < p.ops[i].first + p.ops[i].n; k++)
			rest += p.programs[k].ps
				+ p.programs[k].times * ttnn_cost(s.t, TTNN_COST_GAP) * 1000;
	}
	assert_int_equal(rest, ttnn_total_ps(&p));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(convolutions_take_what_tt_mlir_measured),
		TEST(convolutions_take_what_unet_shallow_measured),
		TEST(the_hand_made_plan_takes_what_was_published),
		TEST(ours_is_no_slower_and_fits),
		TEST(a_plan_reads_back_to_itself),
		TEST(less_l1_is_never_faster),
		TEST(a_tensor_too_large_for_l1_goes_through_dram_in_slices),
		TEST(fields_that_are_pinned_hold),
		TEST(wrong_pins_say_what_is_right),
		TEST(every_op_without_counterpart_is_named),
		TEST(formats_that_have_no_price_are_refused),
		TEST(the_format_of_all_weights_is_followed),
		TEST(a_join_holds_what_it_joins_and_what_it_makes),
		TEST(the_search_finds_what_trying_everything_does),
		TEST(the_bound_is_no_more_than_the_rest_of_the_best_plan),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
