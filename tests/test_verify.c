/* Every rule of ir/verify.c, broken once and seen. */
#include <string.h>

#include "frontend/model.h"
#include "tests/check.h"
#include "tests/fixture.h"

static const char sample[] =
	"%x = input : f32[1,4,8,8]\n"
	"%w = constant splat 0 : f32[4,4,1,1]\n"
	"%c = conv %x, %w {dilations = [1,1], pads = [0,0,0,0], strides = [1,1]} : f32[1,4,8,8]\n"
	"%p = pad %c {pads = [0,0,0,0,0,0,0,0]} : f32[1,4,8,8]\n"
	"%t = cast %p {to = f16} : f16[1,4,8,8]\n"
	"%v = view %t {dims = [1,256], shape = [1,256], strides = [256,1]} : f16[1,256]\n"
	"%y = output %v : f16[1,256]\n";

static int setup(void **state)
{
	fixture_setup(state);
	Fixture *t = *state;
	t->g = text_parse(t->arena, &t->diag, "t.ir", sample, sizeof sample - 1, &(ModelOptions){ 0 });
	assert_string_equal(fixture_said(t), "");
	diag_finish(&t->diag); /* no lines are quoted below */
	return 0;
}

static Op *at(Fixture *t, const char *name)
{
	return graph_find(t->g, name);
}

/* The graph is wrong, and these lines, without places, say how. */
static void breaks(Fixture *t, const char *want)
{
	char *text, *line;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	assert_false(graph_verify(t->g));
	fixture_said(t);
	for (line = strtok(t->said, "\n"); line; line = strtok(NULL, "\n"))
		fprintf(f, "%s\n", strstr(line, "error: ") + strlen("error: "));
	fclose(f);
	assert_string_equal(text, want);
	free(text);
}

static void the_sample_is_right(void **state)
{
	Fixture *t = *state;
	assert_true(graph_verify(t->g));
	assert_string_equal(fixture_said(t), "");
}

static void prev_is_the_op_before(void **state)
{
	Fixture *t = *state;
	at(t, "c")->prev = at(t, "x");
	breaks(t, "'c': prev is not the op before it\n");
}

static void a_list_that_bites_its_tail_is_left(void **state)
{
	Fixture *t = *state;
	at(t, "y")->next = t->g->first;
	breaks(t, "'x': prev is not the op before it\n"
		  "'x': the list is longer than the 7 ops counted\n");
}

static void all_ops_are_counted(void **state)
{
	Fixture *t = *state;
	t->g->nops--;
	breaks(t, "'y': the list is longer than the 6 ops counted\n");
}

static void no_op_is_counted_twice(void **state)
{
	Fixture *t = *state;
	t->g->nops++;
	breaks(t, "the list holds 7 ops, 8 are counted\n");
}

static void the_last_op_is_last(void **state)
{
	Fixture *t = *state;
	t->g->last = at(t, "v");
	breaks(t, "the last op of the list is not g->last\n");
}

static void a_name_finds_its_op(void **state)
{
	Fixture *t = *state;
	at(t, "p")->name = "c";
	breaks(t, "'c': the name finds another op\n");
}

static void no_name_is_left_behind(void **state)
{
	Fixture *t = *state;
	strmap_put(&t->g->names, "gone", at(t, "p"));
	breaks(t, "8 names are taken, but there are 7 ops\n");
}

static void a_kind_has_a_row(void **state)
{
	Fixture *t = *state;
	at(t, "p")->kind = OP_COUNT;
	breaks(t, arena_printf(t->arena, "'p': %d is no kind of op\n", (int)OP_COUNT));
}

static void arity_is_that_of_the_row(void **state)
{
	Fixture *t = *state;
	op_drop_inputs(at(t, "c"), 1);
	breaks(t, "conv takes 2 to 3 inputs, has 1\n");
}

static void what_is_read_is_in_the_graph(void **state)
{
	Fixture *t = *state;
	Op gone = *at(t, "x");
	at(t, "c")->in[0].def = &gone;
	breaks(t, "conv: input 0 has left the graph\n");
}

static void a_def_precedes_its_use(void **state)
{
	Fixture *t = *state;
	op_move_before(t->g, at(t, "t"), at(t, "c"));
	breaks(t, "cast: input 0 ('p') comes after its reader\n");
}

static void an_op_does_not_read_itself(void **state)
{
	Fixture *t = *state;
	op_set_input(at(t, "p"), 0, at(t, "p"));
	breaks(t, "pad: input 0 ('p') comes after its reader\n");
}

static void an_input_belongs_to_its_op(void **state)
{
	Fixture *t = *state;
	at(t, "c")->in[1].user = at(t, "p");
	breaks(t, "conv: input 1 belongs to another op\n");
}

static void use_lists_are_linked_both_ways(void **state)
{
	Fixture *t = *state;
	at(t, "c")->in[0].link = &at(t, "w")->uses;
	breaks(t, "input: the use-list's links disagree\n");
}

static void a_use_list_that_bites_its_tail_is_left(void **state)
{
	Fixture *t = *state;
	Use *u = at(t, "x")->uses;
	u->next = u;
	breaks(t, "input: the use-list's links disagree\n");
}

static void a_use_list_holds_uses_of_its_op(void **state)
{
	Fixture *t = *state;
	at(t, "c")->in[0].def = at(t, "w");
	breaks(t, "input: the use-list holds a use of something else\n"
		  "input: 0 inputs read it, 1 are in its use-list\n"
		  "constant: 2 inputs read it, 1 are in its use-list\n");
}

static void readers_are_in_the_graph(void **state)
{
	Fixture *t = *state;
	Op gone = *at(t, "p"), *t_op = at(t, "t");
	Use stale = { .def = t_op, .user = &gone, .next = t_op->uses, .link = &t_op->uses };
	stale.next->link = &stale.next;
	t_op->uses = &stale;
	breaks(t, "cast: read by an op that has left the graph\n"
		  "cast: 1 inputs read it, 2 are in its use-list\n");
}

static void a_use_list_holds_inputs(void **state)
{
	Fixture *t = *state;
	Op *x = at(t, "x");
	Use stale = { .def = x, .user = at(t, "c"), .next = x->uses, .link = &x->uses };
	stale.next->link = &stale.next;
	x->uses = &stale;
	breaks(t, "input: the use-list holds what is no input\n"
		  "input: 1 inputs read it, 2 are in its use-list\n");
}

static void every_input_is_in_a_use_list(void **state)
{
	Fixture *t = *state;
	at(t, "c")->uses = NULL;
	breaks(t, "conv: 1 inputs read it, 0 are in its use-list\n");
}

static void outputs_are_not_read(void **state)
{
	Fixture *t = *state;
	Op *y = at(t, "y");
	op_infer(t->g, graph_insert(t->g, NULL, OP_OUTPUT, "z", 1, &y));
	breaks(t, "output: 'z' reads it\n");
}

static void only_outputs_read_views(void **state)
{
	Fixture *t = *state;
	Op *v = at(t, "v");
	op_infer(t->g, graph_insert(t->g, NULL, OP_RELU, "z", 1, &v));
	breaks(t, "view: read by 'z', which is no output\n");
}

static void there_is_an_output(void **state)
{
	Fixture *t = *state;
	op_remove(t->g, at(t, "y"));
	breaks(t, "the graph has no output: say what is one, as in '%y = output %x'\n");
}

static void enumerations_are_in_range(void **state)
{
	Fixture *t = *state;
	at(t, "p")->attr.pad.mode = PadMode_COUNT;
	breaks(t, "pad: mode is 4, there are 4\n");
}

static void types_in_attributes_are_in_range(void **state)
{
	Fixture *t = *state;
	at(t, "t")->attr.cast.to = TYPE_COUNT;
	breaks(t, "cast: to is 14, which is no type\n");
}

static void lists_have_a_length(void **state)
{
	Fixture *t = *state;
	at(t, "p")->attr.pad.pads.n = -1;
	breaks(t, "pad: pads has a negative length\n");
}

static void activations_stand_where_they_may(void **state)
{
	Fixture *t = *state;
	at(t, "p")->act.kind = OP_RELU;
	breaks(t, "pad: takes no activation\n");
}

static void only_activations_are_fused(void **state)
{
	Fixture *t = *state;
	at(t, "c")->act.kind = OP_SOFTMAX;
	breaks(t, "conv: act is no activation\n");
}

static void formats_are_known(void **state)
{
	Fixture *t = *state;
	at(t, "c")->stored = (DevTypes)8;
	at(t, "c")->weights = (DevTypes)8;
	breaks(t, "conv: stored has unknown formats\n"
		  "conv: weights has unknown formats\n");
}

static void weight_formats_need_weights(void **state)
{
	Fixture *t = *state;
	at(t, "p")->weights = DEV_BF16;
	breaks(t, "pad: has no weights to have a format\n");
}

static void hints_are_known(void **state)
{
	Fixture *t = *state;
	at(t, "p")->hints = &(Hint){ "luck", "good" };
	at(t, "p")->nhints = 1;
	breaks(t, "pad: no hint 'luck'\n");
}

static void every_op_has_a_type(void **state)
{
	Fixture *t = *state;
	at(t, "x")->dtype = TYPE_NONE;
	breaks(t, "input: 'x' has no type\n");
}

static void the_type_is_that_of_the_rule(void **state)
{
	Fixture *t = *state;
	at(t, "p")->shape.dim[1] = 5;
	breaks(t, "pad: 'p' is f32[1,5,8,8], the type rule says f32[1,4,8,8]\n"
		  "cast: 't' is f16[1,4,8,8], the type rule says f16[1,5,8,8]\n");
	assert_int_equal(at(t, "p")->shape.dim[1], 5);
}

static void what_the_rule_refuses_is_said_once(void **state)
{
	Fixture *t = *state;
	at(t, "c")->attr.conv.groups = 3;
	breaks(t, "conv: weights want 4 input channels in 3 groups, input has 4\n");
	assert_int_equal(at(t, "c")->dtype, TYPE_F32);
}

static void a_constant_has_a_value(void **state)
{
	Fixture *t = *state;
	at(t, "w")->value = NULL;
	breaks(t, "constant: has no value\n");
}

static void only_constants_have_values(void **state)
{
	Fixture *t = *state;
	at(t, "x")->value = tensor_splat(t->arena, TYPE_F32, at(t, "x")->shape, 0, 0);
	breaks(t, "input: has a value\n");
}

static void a_value_has_the_type_of_its_constant(void **state)
{
	Fixture *t = *state;
	at(t, "w")->value = tensor_splat(t->arena, TYPE_F16, at(t, "w")->shape, 0, 0);
	breaks(t, "constant: the value is of another type\n");
}

static void an_inputs_perm_is_a_permutation(void **state)
{
	Fixture *t = *state;
	at(t, "x")->attr.input.perm = INTS(t->arena, 0, 1, 2, 2);
	breaks(t, "input: perm is no permutation of its 4 dims\n");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(the_sample_is_right),
		T(prev_is_the_op_before),
		T(a_list_that_bites_its_tail_is_left),
		T(all_ops_are_counted),
		T(no_op_is_counted_twice),
		T(the_last_op_is_last),
		T(a_name_finds_its_op),
		T(no_name_is_left_behind),
		T(a_kind_has_a_row),
		T(arity_is_that_of_the_row),
		T(what_is_read_is_in_the_graph),
		T(a_def_precedes_its_use),
		T(an_op_does_not_read_itself),
		T(an_input_belongs_to_its_op),
		T(use_lists_are_linked_both_ways),
		T(a_use_list_that_bites_its_tail_is_left),
		T(a_use_list_holds_uses_of_its_op),
		T(readers_are_in_the_graph),
		T(a_use_list_holds_inputs),
		T(every_input_is_in_a_use_list),
		T(outputs_are_not_read),
		T(only_outputs_read_views),
		T(there_is_an_output),
		T(enumerations_are_in_range),
		T(types_in_attributes_are_in_range),
		T(lists_have_a_length),
		T(activations_stand_where_they_may),
		T(only_activations_are_fused),
		T(formats_are_known),
		T(weight_formats_need_weights),
		T(hints_are_known),
		T(every_op_has_a_type),
		T(the_type_is_that_of_the_rule),
		T(what_the_rule_refuses_is_said_once),
		T(a_constant_has_a_value),
		T(only_constants_have_values),
		T(a_value_has_the_type_of_its_constant),
		T(an_inputs_perm_is_a_permutation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
