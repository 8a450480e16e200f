/*
 * Host tensors of every type, to the device and back: all values of 16 bits and of
 * 8, rows of odd length and long ones, results in f32, on the emulator and the
 * simulator.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/compare.h"
#include "tests/check.h"
#include "tests/fixture.h"
#include "tests/network.h"

/* Of odd length; and of which more come than there is room for at a time. */
#define PLAIN SHAPE(1, 19, 47, 75)
#define LONG  SHAPE(1, 16, 40, 600)

/* Image to image, as the device stores it. */
static Network *identity(Fixture *t, const char *from, const char *to, Shape s)
{
	const int channels = (int)s.dim[1], height = (int)s.dim[2], width = (int)s.dim[3];
	char text[512];
	snprintf(text, sizeof text,
		 "graph \"n\"\n%%x = input {stored = bf16} : %s[1,%d,%d,%d]\n"
		 "%%c = cast %%x {to = %s} : %s[1,%d,%d,%d]\n"
		 "%%o = output %%c : %s[1,%d,%d,%d]\n",
		 from, channels, height, width, to, to, channels, height, width, to, channels,
		 height, width);
	Network *n = network_compile(t->arena, &t->diag, text, 5);
	if (!n)
		fail_msg("%s", fixture_said(t));
	return n;
}

static void run(const Network *n, const char *device, void *in, void *out)
{
	TesseraError e;
	TesseraDevice *d = tessera_device_open(device, &e);
	TesseraProgram *p = d ? tessera_load(d, n->opened, &e) : NULL;
	const TesseraTensor x = tessera_input(n->opened, 0), y = tessera_output(n->opened, 0);
	const TesseraArray from = tessera_array(&x, in), to = tessera_array(&y, out);
	if (!p || !tessera_run(p, &from, 1, &to, 1, &e))
		fail_msg("%s\n%s", e.text, e.detail);
	tessera_unload(p);
	tessera_device_close(d);
}

/* What comes back of element i, by way of bf16. */
static double wanted(Fixture *t, const Tensor *in, DType to, int64_t i)
{
	Tensor *b = tensor_create(t->arena, TYPE_BF16, SHAPE(1));
	Tensor *y = tensor_create(t->arena, to, SHAPE(1));
	tensor_set_f64(b, 0, tensor_f64(in, i));
	tensor_set_f64(y, 0, tensor_f64(b, 0));
	return tensor_f64(y, 0);
}

static void compare(Fixture *t, const Tensor *in, const Tensor *out)
{
	for (int64_t i = 0; i < tensor_count(in); i++) {
		const double want = wanted(t, in, out->dtype, i), got = tensor_f64(out, i);
		if (!(got == want && signbit(got) == signbit(want)) && !(isnan(got) && isnan(want)))
			fail_msg("element %d, %g: %g, wanted %g", (int)i, tensor_f64(in, i), got, want);
	}
}

/* Element i has the bits i, as far as it has bits. */
static void all_values(Fixture *t, DType from, DType to, Shape shape)
{
	const char *library = getenv("TESSERA_TTSIM");
	Tensor *in = tensor_create(t->arena, from, shape);
	Tensor *out = tensor_create(t->arena, to, shape);
	uint8_t *bytes = (uint8_t *)(uintptr_t)in->data;
	for (int64_t i = 0; i < tensor_count(in); i++)
		memcpy(bytes + i * type_info[from].bytes, &i, (size_t)type_info[from].bytes);
	Network *n = identity(t, type_info[from].name, type_info[to].name, shape);
	run(n, "emu", bytes, (void *)(uintptr_t)out->data);
	compare(t, in, out);
	if (library) {
		const size_t size = (size_t)tensor_bytes(out);
		uint8_t *other = arena_alloc(t->arena, size);
		run(n, arena_printf(t->arena, "ttsim:%s", library), bytes, other);
		assert_memory_equal(other, out->data, size);
	}
	network_free(n);
}

static void u8_comes_out_exactly(void **state) { all_values(*state, TYPE_U8, TYPE_F32, PLAIN); }
static void bf16_keeps_its_bits(void **state) { all_values(*state, TYPE_BF16, TYPE_BF16, PLAIN); }
static void f16_goes_by_way_of_bf16(void **state) { all_values(*state, TYPE_F16, TYPE_F16, PLAIN); }
static void bf16_becomes_f16(void **state) { all_values(*state, TYPE_BF16, TYPE_F16, PLAIN); }
static void long_rows_wait_for_each_other(void **state)
{
	all_values(*state, TYPE_BF16, TYPE_BF16, LONG);
}

/* Values from 0.86 to 0.89, of which bf16 has eight; the caller's are f32[n,h,w,c]. */
static Network *narrow(Fixture *t, const char *hint)
{
	char text[1024], weights[256] = "";
	for (int i = 0; i < 19; i++)
		sprintf(weights + strlen(weights), "%s%g", i ? ", " : "", (i - 9) / 128.);
	snprintf(text, sizeof text,
		 "graph \"n\"\n%%x = input : f32[2,19,9,75]\n"
		 "%%w = constant [%s] : f32[19,1,1,1]\n%%b = constant splat 0x1.f4p+0 : f32[19]\n"
		 "%%c = conv %%x, %%w, %%b {act = sigmoid, dilations = [1,1], groups = 19, %s"
		 "pads = [0,0,0,0], strides = [1,1]} : f32[2,19,9,75]\n"
		 "%%t = transpose %%c {perm = [0,2,3,1]} : f32[2,9,75,19]\n"
		 "%%o = output %%t : f32[2,9,75,19]\n",
		 weights, hint);
	Network *n = network_compile(t->arena, &t->diag, text, 5);
	if (!n)
		fail_msg("%s", fixture_said(t));
	return n;
}

static double narrow_pcc(Fixture *t, const char *hint)
{
	enum { COUNT = 2 * 19 * 9 * 75 };
	const char *library = getenv("TESSERA_TTSIM");
	Network *n = narrow(t, hint);
	float *x = arena_array(t->arena, float, COUNT), *sim = arena_array(t->arena, float, COUNT);
	Tensor *y = tensor_create(t->arena, TYPE_F32, SHAPE(COUNT));
	Tensor *want = tensor_create(t->arena, TYPE_F32, SHAPE(COUNT));
	TesseraError e;
	for (int i = 0; i < COUNT; i++)
		x[i] = (float)(i * 37 % 255 - 127) / 64;
	if (!network_run(n, "emu", x, tensor_f32_data(y), &e))
		fail_msg("%s\n%s", e.text, e.detail);
	network_ref(n, x, tensor_f32_data(want));
	if (library) {
		if (!network_run(n, arena_printf(t->arena, "ttsim:%s", library), x, sim, &e))
			fail_msg("%s\n%s", e.text, e.detail);
		assert_memory_equal(sim, tensor_f32_data(y), COUNT * sizeof *sim);
	}
	network_free(n);
	return tensor_compare(want, y).pcc;
}

static void values_in_a_narrow_range_are_told_apart(void **state)
{
	assert_true(narrow_pcc(*state, "") > 0.999995);
	assert_true(narrow_pcc(*state, "hints = [stored = \"bf16\"], ") < 0.999);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(u8_comes_out_exactly),
		T(bf16_keeps_its_bits),
		T(f16_goes_by_way_of_bf16),
		T(bf16_becomes_f16),
		T(long_rows_wait_for_each_other),
		T(values_in_a_narrow_range_are_told_apart),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
