/* Packages from programs: code, overlays, parameter blocks, and a run. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>

#include "backend/emit.h"
#include "ir/clock.h"
#include "runtime/host/ttb.h"
#include "tests/program_fixture.h"

static const EmitOptions plain = { .compiler = "test" };
static const EmitOptions fresh = { .compiler = "test", .fresh = true };

static Emission emitted(Fixture *t, const Program *p, const EmitOptions *options)
{
	Emission e;
	if (!emit_program(&e, t->arena, &t->diag, p, program_target(t), options))
		fail_msg("%s", fixture_said(t));
	return e;
}

static void refused(Fixture *t, const Program *p, const Target *target, const EmitOptions *options,
		    const char *said)
{
	Emission e;
	assert_false(emit_program(&e, t->arena, &t->diag, p, target, options));
	if (!strstr(fixture_said(t), said))
		fail_msg("'%s' is not in:\n%s", said, fixture_said(t));
}

static uint32_t all_code(const Emission *e)
{
	uint32_t bytes = 0;
	for (int r = 0; r < TT_RISCS; r++)
		bytes += e->code_bytes[r];
	return bytes;
}

static double all_time(const Emission *e) { return e->codegen_ms + e->link_ms + e->package_ms; }

/* Address of a function in an executable; 0 if it is not there. */
static uint32_t function_in(Bytes elf, const char *name, uint32_t *size)
{
	Elf32_Ehdr h;
	Elf32_Shdr s, strings;
	memcpy(&h, elf.data, sizeof h);
	for (int i = 0; i < h.e_shnum; i++) {
		memcpy(&s, elf.data + h.e_shoff + (size_t)i * sizeof s, sizeof s);
		if (s.sh_type != SHT_SYMTAB)
			continue;
		memcpy(&strings, elf.data + h.e_shoff + s.sh_link * sizeof s, sizeof s);
		for (uint32_t k = 0; k < s.sh_size / sizeof(Elf32_Sym); k++) {
			Elf32_Sym symbol;
			memcpy(&symbol, elf.data + s.sh_offset + k * sizeof symbol, sizeof symbol);
			if (strcmp(elf.data + strings.sh_offset + symbol.st_name, name) == 0) {
				*size = symbol.st_size;
				return symbol.st_value;
			}
		}
	}
	return 0;
}

/* A word of the parameter block of an op on a core. */
static uint32_t block_word(Bytes package, int core, int op, size_t word)
{
	TesseraError error;
	Ttb *t = ttb_open_memory(package.data, package.size, &error);
	uint32_t value = 0;
	bool found = false;
	assert_non_null(t);
	const TtbCore *c = &t->core[core];
	const uint64_t at = c->block_at + (uint64_t)op * t->facts->block_bytes + 4 * word;
	for (size_t i = 0; i < t->images; i++) {
		const TtbImage *m = &t->image[i];
		if (m->place == TTB_DRAM && m->where == c->block_bank && at >= m->address
		    && at < m->address + m->bytes) {
			const uint8_t *bytes = ttb_image_bytes(t, m);
			memcpy(&value, bytes + (at - m->address), 4);
			found = true;
		}
	}
	ttb_close(t);
	assert_true(found);
	return value;
}

static void each_risc_v_gets_the_variants_it_runs(void **state)
{
	Fixture *t = *state;
	const Emission e = emitted(t, program_small(t), &plain);
	static const char *const runs[TT_RISCS] = { "edge_in_0_1", "weights_receive",
		"conv_unpack_1_1_1_1", "conv_math_1_1_4", "store_1_1_1_1" };
	uint32_t size = 0, end = 0;
	for (int r = 0; r < TT_RISCS; r++) {
		const uint32_t at = function_in(e.elf[r], runs[r], &size);
		assert_true(size > 0);
		assert_in_range(at, end, end + e.code_bytes[r] - size);
		assert_int_equal(block_word(e.package, 1, r == 0 ? 0 : 1, 1 + (size_t)r), at);
		assert_int_equal(function_in(e.elf[r], runs[(r + 1) % TT_RISCS], &size), 0);
		end += e.code_bytes[r];
	}
	assert_int_equal(block_word(e.package, 0, 1, 1 + TT_NCRISC),
			 function_in(e.elf[TT_NCRISC], "weights_fetch", &size));
	assert_int_equal(block_word(e.package, 0, 0, 1 + TT_NCRISC),
			 function_in(e.elf[TT_NCRISC], "edge_read_1", &size));
	assert_int_equal(block_word(e.package, 0, 0, 1 + TT_TRISC0), 0);
}

static void llvm_makes_the_same_code_again(void **state)
{
	Fixture *t = *state;
	const Emission then = emitted(t, program_small(t), &plain);
	const Emission now = emitted(t, program_small(t), &fresh);
	printf("emission: %.1f ms, compiled again %.0f ms\n", all_time(&then), all_time(&now));
	for (int r = 0; r < TT_RISCS; r++) {
		assert_int_equal(then.code_bytes[r], now.code_bytes[r]);
		assert_int_equal(then.stack_bytes[r], now.stack_bytes[r]);
	}
}

static void the_same_program_gives_the_same_bytes(void **state)
{
	Fixture *t = *state;
	const Emission a = emitted(t, program_small(t), &plain);
	const Emission b = emitted(t, program_small(t), &plain);
	assert_int_equal(a.package.size, b.package.size);
	assert_memory_equal(a.package.data, b.package.data, a.package.size);
}

/* The conv over and over; `variants` of its store, with and without ReLU. */
static Program *long_program(Fixture *t, int ops, int variants)
{
	Program *p = program_small(t);
	const ProgramOp conv = p->ops[1];
	const uint32_t other[] = { 1, 1, 1, 0 };
	const int store = variants > 1 ? program_variant(p, "store", other, 4)
				       : conv.variant[TT_TRISC2];
	for (int i = 0; i < p->nbuffers; i++)
		p->buffers[i].first = 0;
	ProgramOp edge_out = p->ops[2];
	p->nops = 2;
	while (p->nops < ops - 1) {
		ProgramOp *op = program_op(p, "again", "conv", "tiles");
		*op = conv;
		if (p->nops % 2)
			op->variant[TT_TRISC2] = store;
	}
	*program_op(p, "y", "edge_out", "edge") = edge_out;
	for (int i = 0; i < p->nbuffers; i++)
		p->buffers[i].last = p->nops - 1;
	return p;
}

static void code_grows_with_variants_and_not_with_ops(void **state)
{
	Fixture *t = *state;
	const Emission few = emitted(t, long_program(t, 3, 1), &plain);
	const Emission many = emitted(t, long_program(t, 300, 1), &plain);
	const Emission two = emitted(t, long_program(t, 300, 2), &plain);
	printf("code: %u bytes for 3 ops, %u for 300, %u with one more variant\n", all_code(&few),
	       all_code(&many), all_code(&two));
	assert_int_equal(all_code(&few), all_code(&many));
	assert_true(all_code(&two) > all_code(&many));
}

/* Milliseconds from a program to its package. */
static double time_of(Fixture *t, const Program *p)
{
	const double start = clock_now();
	emitted(t, p, &plain);
	return 1e3 * (clock_now() - start);
}

static void emission_takes_milliseconds(void **state)
{
	Fixture *t = *state;
	const double few = time_of(t, long_program(t, 3, 1));
	const double many = time_of(t, long_program(t, 300, 2));
	printf("emission: %.1f ms for one conv, %.1f for 298\n", few, many);
	assert_true(few < 50);
	assert_true(many < 1500);
}

static void code_over_its_budget_goes_into_overlays(void **state)
{
	Fixture *t = *state;
	Program *p = program_small(t);
	const Emission whole = emitted(t, p, &plain);
	assert_int_equal(whole.overlays, 0);
	const EmitOptions tight = { .compiler = "test", .code_budget = all_code(&whole) - 512 };
	const Emission e = emitted(t, p, &tight);
	assert_true(e.overlays > 1);
	assert_true(all_code(&e) + e.overlay_area <= tight.code_budget);
	uint32_t size;
	assert_int_equal(function_in(e.elf[TT_TRISC0], "conv_unpack_1_1_1_1", &size), 0);
	const size_t bytes = offsetof(TtOp, overlay_bytes) / 4, to = offsetof(TtOp, overlay_to) / 4;
	const uint32_t area = block_word(e.package, 1, 0, to);
	assert_true(area >= all_code(&e) && area % 32 == 0);
	assert_true(block_word(e.package, 1, 0, bytes) > 0);
	assert_in_range(block_word(e.package, 1, 1, 1 + TT_TRISC0), area, area + e.overlay_area);

	refused(t, p, program_target(t), &(EmitOptions){ .compiler = "test", .code_budget = 6000 },
		"are free for it");
}

static void ncrisc_runs_from_its_own_memory_if_asked_and_if_it_fits(void **state)
{
	Fixture *t = *state;
	const EmitOptions iram = { .compiler = "test", .iram = true };
	const Emission e = emitted(t, program_small(t), &iram);
	Elf32_Ehdr h;
	Elf32_Phdr segment;
	memcpy(&h, e.elf[TT_NCRISC].data, sizeof h);
	memcpy(&segment, e.elf[TT_NCRISC].data + h.e_phoff, sizeof segment);
	assert_int_equal(h.e_entry, TT_IRAM);
	assert_int_equal(segment.p_vaddr, TT_IRAM);
	assert_int_equal(segment.p_paddr, e.code_bytes[TT_BRISC]);

	Target small = *program_target(t);
	small.iram_bytes = 1024;
	refused(t, program_small(t), &small, &iram, "its instruction memory 1024");
}

static void an_act_stands_beside_what_calls_it(void **state)
{
	Fixture *t = *state;
	const size_t act = offsetof(TtOp, act) / 4, math = 1 + TT_TRISC1;
	Program *p = program_small(t);
	uint32_t size = 0;
	p->ops[1].act = program_variant(p, "act_sigmoid", NULL, 0);
	const Emission e = emitted(t, p, &plain);
	assert_int_equal(block_word(e.package, 1, 1, act),
			 function_in(e.elf[TT_TRISC1], "act_sigmoid", &size));
	assert_true(size > 32);
	assert_int_equal(block_word(e.package, 1, 0, act), 0);
	const EmitOptions tight = { .compiler = "test", .code_budget = all_code(&e) - 512 };
	const Emission cut = emitted(t, p, &tight);
	assert_true(cut.overlay_area > 0);
	assert_int_equal(function_in(cut.elf[TT_TRISC1], "act_sigmoid", &size), 0);
	assert_in_range(block_word(cut.package, 1, 1, act),
			block_word(cut.package, 1, 1, math) + 16, tight.code_budget - 16);
}

static void a_stack_that_does_not_fit_is_refused(void **state)
{
	Fixture *t = *state;
	Target small = *program_target(t);
	small.brisc_ram_bytes = 640;
	refused(t, program_small(t), &small, &plain, "brisc wants ");
}

static void a_program_read_from_text_lacks_its_weights(void **state)
{
	Fixture *t = *state;
	refused(t, program_read(t, small_program), program_target(t), &plain,
		"image 'w' has no data, only a hash");
}

static void a_semaphore_may_start_at_any_value(void **state)
{
	Fixture *t = *state;
	TesseraError error = { 0 };
	Program *p = program_small(t);
	p->semaphores[1].value = 5;
	const Emission e = emitted(t, p, &plain);
	Ttb *package = ttb_open_memory(e.package.data, e.package.size, &error);
	bool found = false;
	for (size_t i = 0; i < package->images; i++) {
		const TtbImage *m = &package->image[i];
		const uint32_t *words = ttb_image_bytes(package, m);
		found |= m->place == TTB_L1 && m->where == TTB_EVERY_CORE
			&& m->address == TT_SEMAPHORES + 16 && words[0] == 5;
	}
	assert_true(found);
	ttb_close(package);
}

static void a_target_that_is_not_wormhole_is_refused(void **state)
{
	Fixture *t = *state;
	Target other = *program_target(t);
	other.l1_first = 4096;
	refused(t, program_small(t), &other, &plain,
		"buffers from 4096 to 1499136 of L1, the device library leaves 105664 to 1499136");
	other = *program_target(t);
	other.dram_banks = 8;
	refused(t, program_small(t), &other, &plain, "8 banks of DRAM");
	other = *program_target(t);
	other.arch = "blackhole";
	refused(t, program_small(t), &other, &plain,
		"a package for blackhole, this library runs wormhole");
}

static void a_package_is_also_an_object_with_a_header(void **state)
{
	Fixture *t = *state;
	const Emission e = emitted(t, program_small(t), &plain);
	const Bytes object = emit_object(t->arena, e.package, "my-net");
	Elf64_Ehdr h;
	Elf64_Shdr rodata;
	uint64_t bytes;
	memcpy(&h, object.data, sizeof h);
	assert_int_equal(h.e_type, ET_REL);
	memcpy(&rodata, object.data + h.e_shoff + sizeof rodata, sizeof rodata);
	assert_int_equal(rodata.sh_addralign, 64);
	assert_memory_equal(object.data + rodata.sh_offset, e.package.data, e.package.size);
	const char *end = object.data + rodata.sh_offset + rodata.sh_size;
	memcpy(&bytes, end - sizeof bytes, sizeof bytes);
	assert_int_equal(bytes, e.package.size);
	const Bytes header = emit_object_header(t->arena, e.package, "my-net");
	assert_non_null(strstr(header.data, "extern const unsigned char tessera_net_my_net[];\n"));
	assert_non_null(strstr(header.data, "extern const uint64_t tessera_net_my_net_bytes;\n"));
}

static void run_on(Fixture *t, const Program *p, const EmitOptions *options, const char *device)
{
	enum { N = 16 * 4 * 32 };
	static float x[N], y[N];
	TesseraError error = { 0 };
	const Emission e = emitted(t, p, options);
	TesseraPackage *package = tessera_package_memory(e.package.data, e.package.size, &error);
	TesseraDevice *d = package ? tessera_device_open(device, &error) : NULL;
	TesseraProgram *program = d ? tessera_load(d, package, &error) : NULL;
	for (int i = 0; i < N; i++)
		x[i] = (float)(i % 97 - 48) / 16; /* exact in bf16 */
	if (program) {
		const TesseraTensor in = tessera_input(package, 0);
		const TesseraTensor out = tessera_output(package, 0);
		const TesseraArray from = tessera_array(&in, x), to = tessera_array(&out, y);
		tessera_limit(program, (TesseraLimits){ .steps = 20000000 });
		if (!tessera_run(program, &from, 1, &to, 1, &error))
			fail_msg("%s: %s\n%s", device, error.text, error.detail);
	}
	if (!program)
		fail_msg("%s: %s", device, error.text);
	for (int i = 0; i < N; i++)
		assert_true(y[i] == (x[i] > 0 ? x[i] : 0));
	tessera_unload(program);
	tessera_device_close(d);
	tessera_package_close(package);
}

/* Whole, compiled again, in overlays, and with NCRISC in its own memory. */
static void run_all_ways(Fixture *t, const char *device)
{
	const Emission whole = emitted(t, program_small(t), &plain);
	const EmitOptions tight = { .compiler = "test", .code_budget = all_code(&whole) - 512 };
	run_on(t, program_small(t), &plain, device);
	run_on(t, program_small(t), &fresh, device);
	run_on(t, program_small(t), &tight, device);
	run_on(t, program_small(t), &(EmitOptions){ .compiler = "test", .iram = true }, device);
}

static void what_was_emitted_runs_on_the_emulator(void **state)
{
	run_all_ways(*state, "emu");
}

static void three_hundred_ops_run_one_after_the_other(void **state)
{
	run_on(*state, long_program(*state, 300, 1), &plain, "emu");
}

static void what_was_emitted_runs_on_the_vendors_simulator(void **state)
{
	const char *library = getenv("TESSERA_TTSIM");
	if (!library)
		skip();
	run_all_ways(*state, arena_printf(((Fixture *)*state)->arena, "ttsim:%s", library));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(each_risc_v_gets_the_variants_it_runs),
		T(llvm_makes_the_same_code_again),
		T(the_same_program_gives_the_same_bytes),
		T(code_grows_with_variants_and_not_with_ops),
		T(emission_takes_milliseconds),
		T(code_over_its_budget_goes_into_overlays),
		T(ncrisc_runs_from_its_own_memory_if_asked_and_if_it_fits),
		T(an_act_stands_beside_what_calls_it),
		T(a_stack_that_does_not_fit_is_refused),
		T(a_program_read_from_text_lacks_its_weights),
		T(a_semaphore_may_start_at_any_value),
		T(a_target_that_is_not_wormhole_is_refused),
		T(a_package_is_also_an_object_with_a_header),
		T(what_was_emitted_runs_on_the_emulator),
		T(three_hundred_ops_run_one_after_the_other),
		T(what_was_emitted_runs_on_the_vendors_simulator),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
