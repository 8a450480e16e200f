/*
 * Plans in height bands: buffers never meet, everything read is kept, and what
 * cannot be planned is said.
 */
#include <string.h>

#include "frontend/model.h"
#include "passes/plan.h"
#include "tests/check.h"
#include "tests/fixture.h"

static const char unet[] =
	"graph \"unet\"\n"
	"%x = input {stored = bf16} : f32[1,3,24,40]\n"
	"%w1 = constant splat 0.5 : f32[20,3,3,3]\n"
	"%c1 = conv %x, %w1 {act = relu, dilations = [1,1], pads = [1,1,1,1], "
	"stored = bf16, strides = [1,1], weights = bf16} : f32[1,20,24,40]\n"
	"%p = max_pool %c1 {dilations = [1,1], kernel = [2,2], pads = [0,0,0,0], stored = bf16, "
	"strides = [2,2]} : f32[1,20,12,20]\n"
	"%w2 = constant splat 0.5 : f32[20,16,2,2]\n"
	"%u = conv_transpose %p, %w2 {dilations = [1,1], pads = [0,0,0,0], stored = bf16, "
	"strides = [2,2], weights = bfp8_b} : f32[1,16,24,40]\n"
	"%j = concat %u, %c1 {axis = 1, stored = bf16} : f32[1,36,24,40]\n"
	"%w3 = constant splat 0.5 : f32[2,36,5,5]\n"
	"%y = conv %j, %w3 {dilations = [1,1], pads = [2,2,2,2], stored = bf16, "
	"strides = [1,1], weights = bf16} : f32[1,2,24,40]\n"
	"%o = output %y : f32[1,2,24,40]\n";

static Graph *parse(Fixture *t, const char *text)
{
	Graph *g = text_parse(t->arena, &t->diag, "net.ir", text, strlen(text), &(ModelOptions){ 0 });
	if (!g)
		fail_msg("%s", fixture_said(t));
	return g;
}

static Plan *plan_cut_to(Fixture *t, int cores, Cut cut)
{
	Plan *p = plan_bands(parse(t, unet), target_load(t->arena, &t->diag, "wormhole_n150"),
			     &(PlanOptions){ .cores = cores, .cut = cut });
	assert_non_null(p);
	return p;
}

static Plan *plan(Fixture *t, int cores) { return plan_cut_to(t, cores, (Cut){ 0 }); }

/* How many cores own a row of a plane. */
static int owners(const Plan *p, const PlanTensor *t, int row, int plane)
{
	int n = 0;
	for (int c = 0; c < p->cores; c++) {
		const Region *own = &t->shard[c].own;
		n += own->rows.first <= row && row < own->rows.end && own->planes.first <= plane
			&& plane < own->planes.end;
	}
	return n;
}

static void check_owners(const Plan *p)
{
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i];
		for (int row = 0; row < t->height; row++)
			for (int plane = 0; plane < t->layout.planes; plane++)
				assert_int_equal(owners(p, t, row, plane), 1);
	}
}

static void every_row_has_one_owner(void **state)
{
	for (int cores = 1; cores <= 64; cores += 7) {
		check_owners(plan(*state, cores));
		check_owners(plan_cut_to(*state, cores, (Cut){ 1, cores }));
		check_owners(plan_cut_to(*state, cores, (Cut){ 0, cores > 2 ? 3 : 1 }));
	}
}

static void what_a_step_reads_is_kept(void **state)
{
	const Plan *p = plan(*state, 16);
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		for (int c = 0; s->out && c < p->cores; c++)
			for (int k = 0; k < s->nin; k++) {
				const Region r = step_reads(s, k, s->out->shard[c].own);
				const Region keep = s->in[k].tensor->shard[c].keep;
				if (region_empty(r))
					continue;
				assert_true(keep.rows.first <= r.rows.first);
				assert_true(keep.rows.end >= r.rows.end);
				assert_true(keep.planes.first <= r.planes.first);
				assert_true(keep.planes.end >= r.planes.end);
				assert_true(range_count(keep.rows) <= s->in[k].tensor->buffer_rows);
			}
	}
}

/* The 5x5 convolution reads two rows above and below what it makes. */
static void a_window_reads_its_halo(void **state)
{
	const Plan *p = plan(*state, 8);
	const Step *y = &p->steps[p->nsteps - 2];
	assert_int_equal(y->kind, STEP_CONV);
	assert_int_equal(y->nin, 2);
	const Shard *shard = y->in[0].tensor->shard;
	assert_int_equal(shard[0].keep.rows.first, -2);
	assert_int_equal(shard[3].keep.rows.first, 9 - 2);
	assert_int_equal(shard[3].keep.rows.end, 12 + 2);
}

static bool lives(const PlanTensor *t, int step) { return t->born <= step && step <= t->dies; }

static void apart(uint64_t a, int64_t an, uint64_t b, int64_t bn)
{
	assert_true(!an || !bn || a + (uint64_t)an <= b || b + (uint64_t)bn <= a);
}

static void buffers_that_live_together_lie_apart(void **state)
{
	const Plan *p = plan(*state, 3);
	for (int i = 0; i < p->nsteps; i++) {
		const Step *s = &p->steps[i];
		for (int k = 0; k < p->ntensors; k++) {
			const PlanTensor *t = p->tensors[k];
			if (!lives(t, i))
				continue;
			apart(t->layout.address, t->bytes, s->weight_address, s->weight_bytes);
			for (int j = 0; j < k; j++)
				if (lives(p->tensors[j], i))
					apart(t->layout.address, t->bytes,
					      p->tensors[j]->layout.address, p->tensors[j]->bytes);
		}
	}
}

static void an_op_without_routine_is_named(void **state)
{
	Fixture *t = *state;
	const Graph *g = parse(t, "graph \"n\"\n%x = input {stored = bf16} : f32[1,3,4,4]\n"
				  "%a = softsign %x : f32[1,3,4,4]\n"
				  "%t = softplus %a : f32[1,3,4,4]\n%o = output %t : f32[1,3,4,4]\n");
	assert_null(plan_bands(g, target_load(t->arena, &t->diag, "wormhole_n150"), NULL));
	assert_non_null(strstr(fixture_said(t), "softsign 'a': this op has no device routine yet"));
	assert_non_null(strstr(fixture_said(t), "softplus 't': this op has no device routine yet"));
}

static void what_does_not_fit_is_said(void **state)
{
	Fixture *t = *state;
	const Graph *g = parse(t, "graph \"n\"\n%x = input {stored = bf16} : f32[1,128,4000,4000]\n"
				  "%y = relu %x {stored = bf16} : f32[1,128,4000,4000]\n"
				  "%o = output %y : f32[1,128,4000,4000]\n");
	assert_null(plan_bands(g, target_load(t->arena, &t->diag, "wormhole_n150"), NULL));
	assert_non_null(strstr(fixture_said(t), "bytes of L1 on each of 64 cores, wormhole_n150 has"));
}

/* Plans the graph and expects to be told each of the texts. */
static Plan *plan_and_hear(Fixture *t, const char *text, const char *const *texts)
{
	Plan *p = plan_bands(parse(t, text), target_load(t->arena, &t->diag, "wormhole_n150"),
			     NULL);
	for (; *texts; texts++)
		if (!strstr(fixture_said(t), *texts))
			fail_msg("not '%s' but '%s'", *texts, fixture_said(t));
	return p;
}

static void an_activation_with_attributes_no_device_can_use_is_named(void **state)
{
	static const char *const said[] = {
		"clip 'c': the activation has its least value above its greatest",
		"elu 'e': an attribute of the activation is no number",
		"max_pool 'm': an attribute of the activation is no number", NULL };
	assert_null(plan_and_hear(*state, "graph \"n\"\n%x = input : f32[1,3,8,8]\n"
				  "%c = clip %x {max = 1, min = 2} : f32[1,3,8,8]\n"
				  "%e = elu %c {alpha = inf} : f32[1,3,8,8]\n"
				  "%m = max_pool %e {act = leaky_relu(alpha = nan), dilations = [1,1], "
				  "kernel = [2,2], pads = [0,0,0,0], strides = [2,2]} : f32[1,3,4,4]\n"
				  "%o = output %m : f32[1,3,4,4]\n", said));
}

/* RISC-Vs write bf16, so packers make bfp8_b of it. */
static void an_input_of_bfp8_b_comes_as_bf16(void **state)
{
	static const char *const said[] = { NULL };
	const Plan *p = plan_and_hear(
		*state, "graph \"n\"\n%x = input {stored = bfp8_b} : f32[1,3,8,8]\n"
		"%y = relu %x {stored = bf16} : f32[1,3,8,8]\n"
		"%o = output %y : f32[1,3,8,8]\n", said);
	assert_non_null(p);
	assert_int_equal(p->steps[0].out->layout.type, DEV_BF16);
	assert_int_equal(p->steps[1].kind, STEP_UNARY);
	assert_int_equal(p->steps[1].out->layout.type, DEV_BFP8_B);
}

/* y is read by a resize, which reads no f32; what z reads may be it. */
static void f32_is_for_what_all_take(void **state)
{
	static const char *const said[] = { "warning: relu 'y': kept in bf16, not all that make and read "
					    "it, or what is read with it, take f32", NULL };
	const Plan *p = plan_and_hear(
		*state, "graph \"n\"\n%x = input {stored = bf16} : f32[1,3,8,8]\n"
		"%y = relu %x {stored = f32} : f32[1,3,8,8]\n"
		"%z = avg_pool %y {dilations = [1,1], kernel = [1,2], pads = [0,0,0,1], "
		"stored = bf16|f32, strides = [1,1]} : f32[1,3,8,8]\n"
		"%v = sigmoid %x {stored = bf16|f32} : f32[1,3,8,8]\n"
		"%w = tanh %v {stored = bf16} : f32[1,3,8,8]\n"
		"%o = output %z : f32[1,3,8,8]\n%p = output %v : f32[1,3,8,8]\n"
		"%q = output %w : f32[1,3,8,8]\n", said);
	static const DevTypes want[] = { DEV_BF16, DEV_BF16, DEV_F32, DEV_F32, DEV_BF16 };
	assert_non_null(p);
	for (int i = 0; i < 5; i++)
		assert_int_equal(p->steps[i].out->layout.type, want[i]);
	assert_null(strstr(fixture_said(*state), "sigmoid 'v'")); /* it may be bf16 */
}

/* The conv reads each of two parts, neither of which may be f32. */
static void what_keeps_an_op_from_f32_is_told_once(void **state)
{
	static const char *const said[] = { "conv 'y': kept in bf16", NULL };
	assert_non_null(plan_and_hear(
		*state, "graph \"n\"\n%x = input {stored = bf16} : f32[2,16,8,8]\n"
		"%r = relu %x {stored = bf16} : f32[2,16,8,8]\n"
		"%k = concat %x, %r {axis = 1, stored = bf16} : f32[2,32,8,8]\n"
		"%w = constant splat 0.5 : f32[32,1,3,3]\n"
		"%y = conv %k, %w {dilations = [1,1], groups = 32, pads = [1,1,1,1], stored = f32, "
		"strides = [1,1], weights = bf16} : f32[2,32,8,8]\n"
		"%z = avg_pool %y {dilations = [1,1], kernel = [1,2], pads = [0,0,0,1], "
		"stored = bf16, strides = [1,1]} : f32[2,32,8,8]\n"
		"%o = output %z : f32[2,32,8,8]\n", said));
	const char *first = strstr(fixture_said(*state), "kept in bf16");
	assert_null(strstr(first + 1, "kept in bf16"));
}

static void a_wrong_shape_hides_no_other_reason(void **state)
{
	static const char *const said[] = { "input 'b': its batch differs from another input's",
					    "softplus 't': this op has no device routine yet", NULL };
	assert_null(plan_and_hear(*state, "graph \"n\"\n%x = input : f32[1,3,8,8]\n"
				  "%b = input : f32[2,3,8,8]\n%r = relu %b : f32[2,3,8,8]\n"
				  "%t = softplus %x : f32[1,3,8,8]\n%o = output %t : f32[1,3,8,8]\n"
				  "%p = output %r : f32[2,3,8,8]\n", said));
}

static void a_constant_is_not_left_out(void **state)
{
	static const char *const said[] = { "concat 'j': it reads a constant",
					    "output 'p': it reads a constant", NULL };
	assert_null(plan_and_hear(*state, "graph \"n\"\n%x = input : f32[1,3,8,8]\n"
				  "%c = constant splat 0.5 : f32[1,3,8,8]\n"
				  "%j = concat %x, %c {axis = 1} : f32[1,6,8,8]\n"
				  "%o = output %j : f32[1,6,8,8]\n"
				  "%p = output %c : f32[1,3,8,8]\n", said));
}

/* bfp8_b has no infinity, and a sum with one in bf16 is of no use. */
static void weights_are_finite(void **state)
{
	static const char *const said[] = { "conv 'y': a weight or bias is infinite in bf16",
					    "conv 'z': a weight or bias is infinite in bf16", NULL };
	assert_null(plan_and_hear(*state, "graph \"n\"\n%x = input : f32[1,1,8,8]\n"
				  "%w = constant splat inf : f32[1,1,1,1]\n"
				  "%v = constant splat 1 : f32[1,1,1,1]\n"
				  "%b = constant [-0x1.ffp+127] : f32[1]\n"
				  "%y = conv %x, %w {dilations = [1,1], pads = [0,0,0,0], "
				  "strides = [1,1], weights = bfp8_b} : f32[1,1,8,8]\n"
				  "%z = conv %y, %v, %b {dilations = [1,1], pads = [0,0,0,0], "
				  "strides = [1,1]} : f32[1,1,8,8]\n"
				  "%o = output %z : f32[1,1,8,8]\n", said));
}

static void what_no_map_of_pixels_is_is_said(void **state)
{
	static const char *const said[] = { "pad 'a': padding on the device is zero, or taken from",
					    "pad 'b': images and channels are not mapped",
					    "avg_pool 'c': a window that sees padding alone",
					    "avg_pool 'd': a pixel of it is made of too many", NULL };
	assert_null(plan_and_hear(
		*state,
		"graph \"n\"\n%x = input : f32[1,3,8,8]\n"
		"%a = pad %x {pads = [0,0,1,0,0,0,0,0], value = 2} : f32[1,3,9,8]\n"
		"%b = pad %x {pads = [0,1,0,0,0,0,0,0]} : f32[1,4,8,8]\n"
		"%c = avg_pool %x {dilations = [1,1], kernel = [2,1], pads = [4,0,0,0], "
		"strides = [1,1]} : f32[1,3,11,8]\n"
		"%z = input : f32[1,3,300,8]\n"
		"%d = avg_pool %z {dilations = [1,1], kernel = [260,1], pads = [0,0,0,0], "
		"strides = [1,1]} : f32[1,3,41,8]\n"
		"%o = output %a : f32[1,3,9,8]\n%p = output %b : f32[1,4,8,8]\n"
		"%q = output %c : f32[1,3,11,8]\n%r = output %d : f32[1,3,41,8]\n",
		said));
}

static void what_parameters_cannot_hold_is_said(void **state)
{
	static const char *const tall[] = { "input 'x': 4294967304 rows, the device takes at most", NULL };
	static const char *const wide[] = { "input 'x': 4064 columns, the device takes at most 4063",
					    NULL };
	static const char *const none[] = { "input 'x': an image without pixels", NULL };
	static const char *const deep[] = { "input 'x': 65536 channels, the device takes at most", NULL };
	static const char *const taps[] = { "conv 'y': a window of more than 255 taps",
					    "conv 'y': a dilation this large", NULL };
	static const char *const stride[] = { "max_pool 'y': a stride of more than 255 rows", NULL };
	assert_null(plan_and_hear(*state, "graph \"n\"\n%x = input : f32[1,1,4294967304,1]\n"
				  "%o = output %x : f32[1,1,4294967304,1]\n", tall));
	assert_null(plan_and_hear(*state, "graph \"n\"\n%x = input : f32[1,1,8,4064]\n"
				  "%o = output %x : f32[1,1,8,4064]\n", wide));
	assert_null(plan_and_hear(*state, "graph \"n\"\n%x = input : f32[1,3,0,8]\n"
				  "%o = output %x : f32[1,3,0,8]\n", none));
	assert_null(plan_and_hear(*state, "graph \"n\"\n%x = input : f32[1,65536,1,1]\n"
				  "%o = output %x : f32[1,65536,1,1]\n", deep));
	assert_null(plan_and_hear(*state, "graph \"n\"\n%x = input : f32[1,1,256,8]\n"
				  "%w = constant splat 0.5 : f32[1,1,256,1]\n"
				  "%y = conv %x, %w {dilations = [1,5000], pads = [0,0,0,0], "
				  "strides = [1,1]} : f32[1,1,1,8]\n"
				  "%o = output %y : f32[1,1,1,8]\n", taps));
	assert_null(plan_and_hear(*state, "graph \"n\"\n%x = input : f32[1,1,8,200]\n"
				  "%y = max_pool %x {dilations = [1,1], kernel = [1,1], "
				  "pads = [0,0,0,0], strides = [1,128]} : f32[1,1,8,2]\n"
				  "%o = output %y : f32[1,1,8,2]\n", stride));
}

static void hints_are_followed_or_told(void **state)
{
	static const char *const said[] = { "conv 'y': this plan does not follow hint cores",
					    "relu 'r': this plan does not follow hint fetchers", NULL };
	const Plan *p = plan_and_hear(
		*state, "graph \"n\"\n%x = input : f32[1,1,8,8]\n"
		"%w = constant splat 0.5 : f32[1,1,1,1]\n"
		"%y = conv %x, %w {dilations = [1,1], hints = [cores = \"(0,0)-(1,1)\", fidelity = \"lofi\"], "
		"pads = [0,0,0,0], strides = [1,1]} : f32[1,1,8,8]\n"
		"%r = relu %y {hints = [fetchers = \"2\"]} : f32[1,1,8,8]\n"
		"%o = output %r : f32[1,1,8,8]\n", said);
	assert_non_null(p);
	assert_int_equal(p->steps[1].phases, 1);
}

static void every_product_has_the_phases_of_its_hint(void **state)
{
	static const char *const said[] = { NULL };
	const Plan *p = plan_and_hear(
		*state, "graph \"n\"\n%x = input : f32[1,16,8,8]\n"
		"%w = constant splat 0.5 : f32[16,16,1,1]\n"
		"%a = conv %x, %w {dilations = [1,1], hints = [fidelity = \"hifi3\"], "
		"pads = [0,0,0,0], strides = [1,1]} : f32[1,16,8,8]\n"
		"%v = constant splat 0.5 : f32[16,1,3,3]\n"
		"%b = conv %a, %v {dilations = [1,1], groups = 16, hints = [fidelity = \"hifi3\"], "
		"pads = [1,1,1,1], strides = [1,1]} : f32[1,16,8,8]\n"
		"%u = constant splat 0.5 : f32[16,16,2,2]\n"
		"%y = conv_transpose %b, %u {dilations = [1,1], hints = [fidelity = \"hifi3\"], "
		"pads = [0,0,0,0], strides = [2,2]} : f32[1,16,16,16]\n"
		"%o = output %y : f32[1,16,16,16]\n", said);
	static const StepKind kinds[] = { STEP_CONV, STEP_CHANNEL, STEP_DECONV2 };
	assert_non_null(p);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(p->steps[i + 1].kind, kinds[i]);
		assert_int_equal(p->steps[i + 1].phases, 3);
	}
}

static const Stream *stream_of(Fixture *t, int cin, const char *hints)
{
	static const char *const said[] = { NULL };
	const char *text = arena_printf(
		t->arena, "graph \"n\"\n%%x = input {stored = bf16} : f32[1,%d,8,64]\n"
		"%%w = constant splat 0.5 : f32[128,%d,3,3]\n"
		"%%y = conv %%x, %%w {dilations = [1,1], %s"
		"pads = [1,1,1,1], stored = bf16, strides = [1,1], weights = bf16} : f32[1,128,8,64]\n"
		"%%o = output %%y : f32[1,128,8,64]\n", cin, cin, hints);
	const Plan *p = plan_and_hear(t, text, said);
	if (!p)
		fail_msg("%s", fixture_said(t));
	return &p->steps[1].stream;
}

static void weights_that_do_not_fit_are_streamed(void **state)
{
	const Stream *w = stream_of(*state, 64, "");
	assert_int_equal(w->chunks, 1);
	assert_int_equal(w->pages, 1); /* 128 channels are one group */
	w = stream_of(*state, 1024, "");
	assert_true(w->chunks > 1);
	assert_int_equal(w->pages, 2);
}

static void hints_say_how_weights_come(void **state)
{
	const Stream *w = stream_of(*state, 64, "hints = [cout_block = \"1\", k_block = \"4\", "
				    "act_block_h = \"64\", double_buffer = \"none\", "
				    "fetchers = \"3\", prefetch = \"yes\"], ");
	assert_int_equal(w->chunk_blocks, 2); /* of two input tiles each */
	assert_int_equal(w->chunks, 5);
	assert_int_equal(w->pages, 1);
	assert_int_equal(w->block, 2); /* of 32 positions of one row: 8 cores have one each */
	assert_int_equal(w->sums_bytes, 2 * 4096);
	assert_int_equal(w->fetchers, 3);
	assert_true(w->early);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(every_row_has_one_owner),
		T(what_a_step_reads_is_kept),
		T(a_window_reads_its_halo),
		T(buffers_that_live_together_lie_apart),
		T(an_op_without_routine_is_named),
		T(an_activation_with_attributes_no_device_can_use_is_named),
		T(what_does_not_fit_is_said),
		T(an_input_of_bfp8_b_comes_as_bf16),
		T(f32_is_for_what_all_take),
		T(what_keeps_an_op_from_f32_is_told_once),
		T(a_wrong_shape_hides_no_other_reason),
		T(a_constant_is_not_left_out),
		T(weights_are_finite),
		T(what_no_map_of_pixels_is_is_said),
		T(what_parameters_cannot_hold_is_said),
		T(hints_are_followed_or_told),
		T(every_product_has_the_phases_of_its_hint),
		T(weights_that_do_not_fit_are_streamed),
		T(hints_say_how_weights_come),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
