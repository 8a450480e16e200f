/* IR text: its weights, its options, and what hostile text does to it. */
#include <string.h>

#include "frontend/model.h"
#include "tests/cases.h"
#include "tests/weights_fixture.h"

static const ModelOptions none;

static Graph *parse(Fixture *t, const char *text, size_t size)
{
	return text_parse(t->arena, &t->diag, "t.ir", text, size, &none);
}

/* x plus `value`, as a file with its weights beside it; returns the text. */
static const char *dump(Fixture *t, Tensor *value, const char *weights)
{
	Graph *g = graph_create(t->arena, &t->diag, "dumped");
	Op *in[] = { graph_insert(g, NULL, OP_INPUT, "x", 0, NULL), graph_constant(g, NULL, "w", value) };
	in[0]->dtype = value->dtype;
	in[0]->shape = value->shape;
	Op *sum = graph_insert(g, NULL, OP_ADD, "s", 2, in);
	assert_true(op_infer(g, sum));
	assert_true(op_infer(g, graph_insert(g, NULL, OP_OUTPUT, "y", 1, &sum)));
	g->weights_file = "weights.safetensors";
	if (weights)
		assert_true(weights_dump(g, &t->diag, path_of(t, weights)));
	const char *text = cases_text(g);
	write_file(t, "dump.ir", text, strlen(text));
	return text;
}

static Graph *read_dump(Fixture *t, const char *weights)
{
	const ModelOptions opt = { .weights = weights };
	return text_read(t->arena, &t->diag, path_of(t, "dump.ir"), &opt);
}

static void a_dump_finds_its_weights_beside_it(void **state)
{
	Fixture *t = *state;
	Tensor *w = counting(t->arena, TYPE_F32, SHAPE(5, 20));
	const char *text = dump(t, w, "weights.safetensors");
	Graph *g = read_dump(t, NULL);
	assert_non_null(g);
	assert_true(tensor_equal(op_value(graph_find(g, "w")), w));
	assert_string_equal(cases_text(g), text);
	assert_string_equal(said(t), "");
}

static void the_weights_option_says_where_else(void **state)
{
	Fixture *t = *state;
	Tensor *w = counting(t->arena, TYPE_BF16, SHAPE(100));
	const char *text = dump(t, w, "elsewhere.safetensors");
	Graph *file = read_dump(t, path_of(t, "elsewhere.safetensors"));
	Graph *folder = read_dump(t, t->dir);
	assert_true(tensor_equal(op_value(graph_find(file, "w")), w));
	assert_true(tensor_equal(op_value(graph_find(folder, "w")), w));
	assert_string_equal(cases_text(file), text);
	assert_string_equal(said(t), "");
}

static void without_its_weights_a_dump_keeps_the_hash(void **state)
{
	Fixture *t = *state;
	const char *text = dump(t, counting(t->arena, TYPE_I32, SHAPE(100)), NULL);
	Graph *g = read_dump(t, NULL);
	assert_non_null(g);
	assert_null(op_value(graph_find(g, "w")));
	assert_string_equal(cases_text(g), text);
	assert_string_equal(said(t), arena_printf(t->arena,
		"%s: warning: no '%s/weights.safetensors': constants stay without data\n"
		"%s: note: " WEIGHTS_HELP "\n", path_of(t, "dump.ir"), t->dir, path_of(t, "dump.ir")));
}

static void weights_that_were_changed_are_refused(void **state)
{
	Fixture *t = *state;
	Tensor *w = counting(t->arena, TYPE_F32, SHAPE(100));
	Tensor *other = counting(t->arena, TYPE_F32, SHAPE(100));
	const char *name = arena_printf(t->arena, "%016llx", (unsigned long long)tensor_hash(w));
	dump(t, w, NULL);
	tensor_set_f64(other, 7, -1);
	assert_true(safetensors_write(t->arena, &t->diag, path_of(t, "weights.safetensors"), 1, &name,
				      (const Tensor *const[]){ other }));
	assert_null(read_dump(t, NULL));
	assert_non_null(strstr(said(t), arena_printf(t->arena,
		"dump.ir:4:20: error: constant: the data in the weight file hashes to %016llx\n",
		(unsigned long long)tensor_hash(other))));
}

static void weights_of_another_type_are_refused(void **state)
{
	Fixture *t = *state;
	Tensor *w = counting(t->arena, TYPE_F32, SHAPE(100));
	Tensor *other = counting(t->arena, TYPE_F32, SHAPE(10, 10));
	const char *name = arena_printf(t->arena, "%016llx", (unsigned long long)tensor_hash(w));
	dump(t, w, NULL);
	assert_true(safetensors_write(t->arena, &t->diag, path_of(t, "weights.safetensors"), 1, &name,
				      (const Tensor *const[]){ other }));
	assert_null(read_dump(t, NULL));
	assert_non_null(strstr(said(t),
		"error: constant: the weight file has f32[10,10], text says f32[100]\n"));
}

static void repeated_values_are_not_dumped(void **state)
{
	Fixture *t = *state;
	Tensor *w = tensor_splat(t->arena, TYPE_F32, SHAPE(1 << 20, 1 << 19), 1, 0);
	dump(t, w, "weights.safetensors");
	Graph *g = read_dump(t, NULL);
	assert_true(tensor_equal(op_value(graph_find(g, "w")), w));
}

static void weights_outside_the_folder_are_not_opened(void **state)
{
	Fixture *t = *state;
	static const char text[] =
		"weights \"../w.safetensors\"\n"
		"%w = constant hash \"0123456789abcdef\" : f32[100]\n"
		"%y = output %w : f32[100]\n";
	assert_null(parse(t, text, sizeof text - 1));
	assert_string_equal(said(t), "t.ir: error: weights '../w.safetensors' lie outside the text's folder\n");
}

static void options_may_repeat_shapes_but_not_change_them(void **state)
{
	Fixture *t = *state;
	static const char text[] = "%x = input : f32[1,2]\n%y = output %x : f32[1,2]\n";
	ShapeOption right = { "x", SHAPE(1, 2) }, wrong = { NULL, SHAPE(2, 2) };
	ShapeOption nowhere = { "z", SHAPE(1) };
	DimOption dim = { "N", 1 };
	const struct {
		ModelOptions opt;
		const char *says;
	} rows[] = {
		{ { .nshapes = 1, .shapes = &right }, "" },
		{ { .nshapes = 1, .shapes = &wrong },
		  "t.ir:1:6: error: input is f32[1,2], which --input cannot make 2x2\n"
		  "    %x = input : f32[1,2]\n         ^\n" },
		{ { .nshapes = 1, .shapes = &nowhere }, "t.ir: error: --input: no input 'z' among 1\n" },
		{ { .ndims = 1, .dims = &dim }, "t.ir: error: no dim 'N': IR text has no named dims\n" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		Graph *g = text_parse(t->arena, &t->diag, "t.ir", text, sizeof text - 1, &rows[i].opt);
		assert_int_equal(g != NULL, i == 0);
		assert_string_equal(said(t), rows[i].says);
	}
}

static void known_inputs_become_constants(void **state)
{
	Fixture *t = *state;
	static const char text[] = "%x = input : f32[2]\n%s = add %x, %x : f32[2]\n%y = output %s : f32[2]\n";
	KnownInput known[] = { { "x", counting(t->arena, TYPE_F32, SHAPE(2)) },
			       { "s", counting(t->arena, TYPE_F32, SHAPE(2)) },
			       { "x", counting(t->arena, TYPE_F16, SHAPE(2)) } };
	static const char retyped[] = "t.ir:1:6: error: input is f32[2], --const gives f16[2]\n"
				      "    %x = input : f32[2]\n         ^\n";
	const char *const says[] = { "", "t.ir: error: --const: no input 's'\n", retyped };
	for (int i = 0; i < 3; i++) {
		const ModelOptions opt = { .nknown = 1, .known = &known[i] };
		Graph *g = text_parse(t->arena, &t->diag, "t.ir", text, sizeof text - 1, &opt);
		assert_string_equal(said(t), says[i]);
		if (i == 0)
			assert_string_equal(cases_print(g), "%x = constant [0x0p+0, 0x1p+0] : f32[2]\n"
						"%s = add %x, %x : f32[2]\n%y = output %s : f32[2]\n");
	}
}

static void random_weights_fill_what_is_elided(void **state)
{
	Fixture *t = *state;
	static const char text[] =
		"%x = input : f32[1,4,9,9]\n"
		"%w = constant hash \"0123456789abcdef\" : f32[32,4,3,3]\n"
		"%b = constant hash \"0123456789abcde0\" : f32[32]\n"
		"%c = conv %x, %w, %b {dilations = [1,1], pads = [1,1,1,1], strides = [1,1]} : f32[1,32,9,9]\n"
		"%u = constant hash \"0123456789abcde1\" : f32[32,4,2,2]\n"
		"%d = conv_transpose %c, %u {dilations = [1,1], pads = [0,0,0,0], strides = [2,2]} : f32[1,4,18,18]\n"
		"%m = constant hash \"0123456789abcde2\" : f32[18,0]\n"
		"%e = matmul %d, %m : f32[1,4,18,0]\n"
		"%y = output %e : f32[1,4,18,0]\n";
	const ModelOptions opt = { .random_weights = true, .seed = 7 };
	Graph *g = text_parse(t->arena, &t->diag, "t.ir", text, sizeof text - 1, &opt);
	assert_string_equal(said(t), "");
	const Tensor *w = weights_random(t->arena, 7, "w", WEIGHT_KERNEL, 36, SHAPE(32, 4, 3, 3));
	const Tensor *b = weights_random(t->arena, 7, "b", WEIGHT_BIAS, 1, SHAPE(32));
	const Tensor *u = weights_random(t->arena, 7, "u", WEIGHT_KERNEL, 32, SHAPE(32, 4, 2, 2));
	assert_true(tensor_equal(op_value(graph_find(g, "w")), w));
	assert_true(tensor_equal(op_value(graph_find(g, "b")), b));
	assert_true(tensor_equal(op_value(graph_find(g, "u")), u));
	assert_non_null(op_value(graph_find(g, "m")));
}

static void random_weights_are_not_made_without_end(void **state)
{
	Fixture *t = *state;
	static const char text[] =
		"%w = constant hash \"0123456789abcdef\" : f32[1048576,1048576]\n"
		"%y = output %w : f32[1048576,1048576]\n";
	const ModelOptions opt = { .random_weights = true };
	assert_null(text_parse(t->arena, &t->diag, "t.ir", text, sizeof text - 1, &opt));
	assert_non_null(strstr(said(t), "t.ir:1:6: error: constant: more than 2147483648 random weights\n"));
}

static const char sample[] =
	"graph \"g\"\n"
	"%x = input {perm = [0,1,2,3]} : f32[1,3,8,8]\n"
	"%\"w/\\x01\" = constant splat -0x1.8p+0 : f32[8,3,3,3]\n"
	"%k = constant [1, -2, 0x1p-3] : f32[3]\n"
	"%c = conv %x, %\"w/\\x01\" {act = clip(max = 6), dilations = [1,1], hints = [split = \"2\"], "
	"pads = [1,1,1,1], stored = bf16|bfp8_b, strides = [1,1]} : f32[1,8,8,8]\n"
	"%y = output %c, %x {axis = 1} : f32[1,11,8,8]\n";

static void every_prefix_is_read_or_refused(void **state)
{
	Fixture *t = *state;
	for (size_t n = 0; n < sizeof sample; n++) {
		Graph *g = parse(t, sample, n);
		assert_int_equal(g == NULL, t->diag.errors > 0);
		said(t);
		diag_finish(&t->diag);
	}
}

static void every_changed_byte_is_read_or_refused(void **state)
{
	Fixture *t = *state;
	static const char bytes[] = "\0\n\"%\\[]{}(),:|=-09ax_./ \xff";
	char text[sizeof sample];
	for (size_t i = 0; i + 1 < sizeof sample; i++)
		for (size_t k = 0; k + 1 < sizeof bytes; k++) {
			memcpy(text, sample, sizeof sample);
			text[i] = bytes[k];
			Graph *g = parse(t, text, sizeof sample - 1);
			assert_int_equal(g == NULL, t->diag.errors > 0);
			said(t);
			diag_finish(&t->diag);
		}
}

/* head, then `unit` n times, then tail. */
static const char *repeat(Fixture *t, const char *head, const char *unit, int n, const char *tail)
{
	size_t len = strlen(unit);
	char *s = arena_alloc(t->arena, strlen(head) + (size_t)n * len + strlen(tail) + 1), *p = s;
	p = stpcpy(p, head);
	for (int i = 0; i < n; i++)
		p = stpcpy(p, unit);
	strcpy(p, tail);
	return s;
}

static void long_things_are_taken(void **state)
{
	Fixture *t = *state;
	const char *in = "%x = input : f32[1]\n";
	const char *texts[] = {
		repeat(t, "%x = input : f32[1]\n%y = output %x", ", %x", 99999, " : f32[100000]\n"),
		repeat(t, "%\"", "a/b\\x01", 50000, "\" = input : f32[1]\n%x = input : f32[1]\n"
		       "%y = output %x : f32[1]"),
		repeat(t, in, "%y = output %x {} : f32[1]//", 20000, "\n"),
		repeat(t, "%w = constant [1", ",1", 99999, "] : f32[100000]\n%y = output %w : f32[100000]"),
		repeat(t, "%w = constant [0.", "1", 200000, "] : f32[1]\n%y = output %w : f32[1]"),
		repeat(t, in, "\r\n \n", 20000, "%y = output %x : f32[1]"),
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		const Graph *g = parse(t, texts[i], strlen(texts[i]));
		assert_string_equal(said(t), "");
		const char *once = cases_text(g);
		assert_string_equal(cases_text(parse(t, once, strlen(once))), once);
	}
}

static void long_wrong_things_are_refused(void **state)
{
	Fixture *t = *state;
	const char *texts[] = {
		repeat(t, "%x = input : f32[", "9", 200000, "]\n"),
		repeat(t, "%x = constant [", "[", 200000, "\n"),
		repeat(t, "%x = constant [1", ",1", 1 << 20, "] : f32[1048577]\n"),
		repeat(t, "%x = input {", "perm = [0], ", 20000, "perm = [0]} : f32[1]\n"),
		repeat(t, "", "%x = input : f32[1]\n", 20000, ""),
		repeat(t, "", "%x = ", 200000, ""),
		repeat(t, "%x = relu {stored = bf16", "|bf16", 200000, "} : f32[1]\n"),
		repeat(t, "", "\"", 200000, ""),
		repeat(t, "%x = ", "a", 200000, " : f32[1]"),
	};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		assert_null(parse(t, texts[i], strlen(texts[i])));
		assert_true(strlen(said(t)) < 100000);
	}
}

static void zero_bytes_do_not_end_a_text(void **state)
{
	Fixture *t = *state;
	static const char text[] = "%x = input : f32[1]\n\0%y = output %x : f32[1]\n";
	assert_null(parse(t, text, sizeof text - 1));
	assert_string_equal(said(t), "t.ir:2:1: error: byte 0x00 has no meaning here\n"
				     "    ?%y = output %x : f32[1]\n"
				     "    ^\n");
}

static void attributes_of_every_row_are_sorted(void **state)
{
	(void)state;
	const char *const notes[] = {
#define NOTE(name, what) #name,
#include "ir/notes.def"
	};
	for (size_t i = 1; i < sizeof notes / sizeof notes[0]; i++)
		assert_true(strcmp(notes[i - 1], notes[i]) < 0);
	for (int k = 0; k < OP_COUNT; k++) {
		const AttrField *f = op_info[k].fields;
		for (int i = 1; i < op_info[k].nfields; i++)
			assert_true(strcmp(f[i - 1].name, f[i].name) < 0);
		for (int i = 0; i < op_info[k].nfields; i++)
			for (size_t n = 0; n < sizeof notes / sizeof notes[0]; n++)
				assert_string_not_equal(f[i].name, notes[n]);
	}
}

/* IR.md names `word`, as code. */
static void is_documented(const char *doc, const char *word)
{
	char quoted[80];
	size_t n = (size_t)snprintf(quoted, sizeof quoted, "`%s", word);
	for (const char *p = doc; (p = strstr(p, quoted)); p++)
		if (p[n] == '`' || p[n] == ' ')
			return;
	fail_msg("IR.md does not name %s", word);
}

static void the_reference_names_every_row(void **state)
{
	Fixture *t = *state;
	const char *doc = file_map(t->arena, &t->diag, (Loc){ 0 }, "ir/IR.md").data;
	assert_non_null(doc);
	for (int i = TYPE_NONE + 1; i < TYPE_COUNT; i++)
		is_documented(doc, type_info[i].name);
	for (int k = 0; k < OP_COUNT; k++) {
		is_documented(doc, op_info[k].name);
		for (int i = 0; i < op_info[k].nfields; i++) {
			const AttrField *f = &op_info[k].fields[i];
			is_documented(doc, f->name);
			for (int n = 0; n < f->nnames; n++)
				is_documented(doc, f->names[n]);
		}
	}
#define NOTE(name, what) is_documented(doc, #name);
#include "ir/notes.def"
#define HINT(key, form, what) is_documented(doc, #key);
#include "ir/hints.def"
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_dump_finds_its_weights_beside_it),
		T(the_weights_option_says_where_else),
		T(without_its_weights_a_dump_keeps_the_hash),
		T(weights_that_were_changed_are_refused),
		T(weights_of_another_type_are_refused),
		T(repeated_values_are_not_dumped),
		T(weights_outside_the_folder_are_not_opened),
		T(options_may_repeat_shapes_but_not_change_them),
		T(known_inputs_become_constants),
		T(random_weights_fill_what_is_elided),
		T(random_weights_are_not_made_without_end),
		T(every_prefix_is_read_or_refused),
		T(every_changed_byte_is_read_or_refused),
		T(long_things_are_taken),
		T(long_wrong_things_are_refused),
		T(zero_bytes_do_not_end_a_text),
		T(attributes_of_every_row_are_sorted),
		T(the_reference_names_every_row),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
