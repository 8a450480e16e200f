/* The package: what is written is read, and nothing else is. */
#include <stdio.h>
#include <unistd.h>

#include "tests/folder.h"
#include "tests/package.h"

static const Sample sample = {
	.code = jump_to_itself,
	.words = 1,
	.cores = 3,
	.in = { 1, 3, 5, 7 },
	.out = { 1, 2, 5, 7 },
};

static uint8_t *sample_file(size_t *n)
{
	return sample_finish(sample_writer(&sample), n);
}

static void what_is_written_is_read(void **state)
{
	(void)state;
	TesseraError e = { 0 };
	size_t n, bytes;
	uint8_t *file = sample_file(&n);
	Ttb *t = ttb_open_memory(file, n, &e);
	assert_non_null(t);

	assert_string_equal(ttb_string(t, t->facts->model), "sample");
	assert_string_equal(ttb_string(t, t->facts->compiler), "by hand");
	assert_int_equal(t->cores, 3);
	assert_int_equal(t->core[2].col, 2);
	assert_int_equal(t->images, 4);
	assert_int_equal(t->image[1].address, SAMPLE_BLOCKS + 2 * SAMPLE_BLOCK);
	assert_int_equal(t->ops, 2);
	assert_string_equal(ttb_string(t, t->op[1].name), "second");
	assert_string_equal(ttb_string(t, t->op[1].kind), "relu");
	assert_string_equal(ttb_string(t, t->op[1].absorbed), "norm, act");
	assert_string_equal(ttb_string(t, t->op[1].source), "sample.nnef:3:7");
	assert_string_equal(ttb_string(t, t->op[0].source), "");
	assert_string_equal(ttb_string(t, t->buffer[0].name), "rows");
	assert_int_equal(t->part[t->output[0].first_part].base, SAMPLE_OUT);
	assert_memory_equal(ttb_section(t, TTB_PLAN, &bytes), "the plan\n", 9);
	assert_int_equal(bytes, 9);
	assert_int_equal((uintptr_t)ttb_section(t, TTB_DATA, &bytes) % 64, 0);
	assert_int_equal(t->section[TTB_DATA].at % 4096, 0);
	ttb_close(t);
	free(file);
}

static void a_file_is_mapped(void **state)
{
	(void)state;
	char folder[FOLDER_ROOM], path[FOLDER_ROOM + 16];
	TesseraError e = { 0 };
	size_t n;
	uint8_t *file = sample_file(&n);

	folder_make(folder);
	snprintf(path, sizeof path, "%s/sample.ttb", folder);
	FILE *f = fopen(path, "wb");
	assert_int_equal(fwrite(file, 1, n, f), n);
	fclose(f);
	Ttb *t = ttb_open(path, &e);
	assert_non_null(t);
	assert_memory_equal(t->file, file, n);
	ttb_close(t);

	assert_int_equal(truncate(path, 1000), 0);
	assert_null(ttb_open(path, &e));
	assert_non_null(strstr(e.text, "sample.ttb: the package says it has"));
	assert_int_equal(truncate(path, 10), 0);
	assert_null(ttb_open(path, &e));
	assert_non_null(strstr(e.text, "sample.ttb: not a package: 10 bytes are too few"));
	unlink(path);
	assert_null(ttb_open(path, &e));
	assert_non_null(strstr(e.text, "No such file"));
	assert_null(ttb_open(folder, &e));
	assert_non_null(strstr(e.text, "not a file"));
	rmdir(folder);
	free(file);
}

static void memory_need_not_be_aligned(void **state)
{
	(void)state;
	TesseraError e = { 0 };
	size_t n;
	uint8_t *file = sample_file(&n), *moved = malloc(n + 1);

	memcpy(moved + 1, file, n);
	Ttb *t = ttb_open_memory(moved + 1, n, &e);
	assert_non_null(t);
	assert_int_equal(t->cores, 3);
	ttb_close(t);
	assert_null(ttb_open_memory(NULL, 0, &e));
	assert_int_equal(e.code, TESSERA_BAD_PACKAGE);
	free(moved);
	free(file);
}

/* What is said of the sample when 32 bits of it are changed. */
static void refused(size_t at, uint32_t value, bool sealed, const char *says)
{
	TesseraError e = { 0 };
	size_t n;
	uint8_t *file = sample_file(&n);

	memcpy(file + at, &value, sizeof value);
	if (sealed)
		ttb_seal(file, n);
	Ttb *t = ttb_open_memory(file, n, &e);
	if (t || !strstr(e.text, says))
		fail_msg("wanted \"%s\", got \"%s\"", says, t ? "no error" : e.text);
	assert_int_equal(e.code, TESSERA_BAD_PACKAGE);
	free(file);
}

static void other_versions_architectures_and_damage_are_refused(void **state)
{
	(void)state;
	refused(0, 0, true, "not a package");
	refused(offsetof(TtbHeader, version), 1, true,
		"of version 1, this library reads version 3");
	refused(offsetof(TtbHeader, arch), 0x6b616552, true,
		"a package for Reakhole, this library runs wormhole");
	refused(offsetof(TtbHeader, bytes), 64, true, "says it has 64 bytes");
	refused(offsetof(TtbHeader, checksum), 1, false, "its checksum does not match");
	refused(2048, 1, false, "its checksum does not match");
}

/* The place of a field of the first record of a section. */
static size_t field(TtbSectionId id, size_t offset)
{
	size_t n;
	uint8_t *file = sample_file(&n);
	TtbSection table[TTB_SECTIONS];

	memcpy(table, file + sizeof(TtbHeader), sizeof table);
	free(file);
	return table[id].at + offset;
}

static void every_number_is_checked(void **state)
{
	(void)state;
	const size_t table = sizeof(TtbHeader);

	refused(table + TTB_CORES * sizeof(TtbSection), 65, true, "section cores: starts at 65");
	refused(table + TTB_CORES * sizeof(TtbSection) + 8, 24, true, "not whole records");
	refused(table + TTB_DATA * sizeof(TtbSection) + 12, 1, true, "data: ends past the end");
	refused(field(TTB_FACTS, offsetof(TtbFacts, model)), 9999, true, "a string at 9999");
	refused(field(TTB_FACTS, offsetof(TtbFacts, block_bytes)), 100, true,
		"blocks of 100 bytes");
	refused(field(TTB_FACTS, offsetof(TtbFacts, iram_bytes)), 20000, true,
		"20000 bytes at 0x0");
	refused(field(TTB_CORES, offsetof(TtbCore, col)), 8, true, "(8,0) is not one of 8 by 10");
	refused(field(TTB_CORES, offsetof(TtbCore, col)), 1, true, "(1,0) is there twice");
	refused(field(TTB_CORES, offsetof(TtbCore, block_bank)), 12, true, "0x1000 of bank 12");
	refused(field(TTB_CORES, offsetof(TtbCore, block_at)), 0x3fffffe0, true, "0x3fffffe0");
	refused(field(TTB_IMAGES, offsetof(TtbImage, place)), 2, true, "in place 2");
	refused(field(TTB_IMAGES, offsetof(TtbImage, where)), 12, true, "in bank 12");
	refused(field(TTB_IMAGES, offsetof(TtbImage, address)), 16, true, "at 0x10 in DRAM");
	refused(field(TTB_IMAGES, offsetof(TtbImage, at)), 1u << 20, true,
		"at 1048576 of the data");
	refused(field(TTB_IMAGES, offsetof(TtbImage, bytes)), 0, true, "an image of 0 bytes");
	refused(field(TTB_IMAGES, offsetof(TtbImage, address)), SAMPLE_BLOCKS + 160, true,
		"two things lie at 0x10c0 of bank 0");
	refused(field(TTB_IMAGES, offsetof(TtbImage, address)), SAMPLE_IN, true,
		"two things lie at 0x100000 of bank 0");
	refused(field(TTB_INPUTS, offsetof(TtbTensor, type)), 4, true, "x: of type 4");
	refused(field(TTB_INPUTS, offsetof(TtbTensor, rank)), 9, true, "x: a shape that is none");
	refused(field(TTB_INPUTS, offsetof(TtbTensor, parts)), 3, true,
		"x: parts 0 and the next 3");
	refused(field(TTB_INPUTS, offsetof(TtbTensor, shape)), 0, true, "x: a shape that is none");
	refused(field(TTB_OUTPUTS, offsetof(TtbTensor, shape)), 2, true, "give 70 elements of 140");
	refused(field(TTB_BUFFERS, offsetof(TtbBuffer, end)), 1499137, true, "is not within L1");
	refused(field(TTB_BUFFERS, offsetof(TtbBuffer, core)), 3, true,
		"rows: core 3 is not there");
	refused(field(TTB_BUFFERS, offsetof(TtbBuffer, dies)), 2, true,
		"rows: ops 0 to 2 are not among 2");
	refused(field(TTB_BUFFERS, offsetof(TtbBuffer, born)), 2, true, "rows: ops 2 to 1");
	refused(field(TTB_OPS, offsetof(TtbOp, kind)), 9999, true, "a string at 9999");
	refused(field(TTB_OPS, offsetof(TtbOp, absorbed)), 9998, true, "a string at 9998");
	refused(field(TTB_OPS, offsetof(TtbOp, source)), 9997, true, "a string at 9997");
	refused(field(TTB_PLAN, 0), 0, true, "a zero byte in the text of the plan");
}

static void parts_stay_within_both_tensors(void **state)
{
	(void)state;
	refused(field(TTB_PARTS, offsetof(TtbPart, base)), 0x3fffffe0, true,
		"past the end of DRAM");
	refused(field(TTB_PARTS, offsetof(TtbPart, base)), SAMPLE_OUT, true,
		"two things lie at 0x200000");
	refused(field(TTB_PARTS, offsetof(TtbPart, page_bytes)), 0, true, "x: a page of 0 bytes");
	refused(field(TTB_PARTS, offsetof(TtbPart, slot_bytes)), 32, true,
		"x: 2 pages of 32 bytes");
	refused(field(TTB_PARTS, offsetof(TtbPart, stored)), TT_HOST_F16, true,
		"x: f32, of which nothing of type 2 is kept");
	refused(field(TTB_PARTS, offsetof(TtbPart, nchw)), 0, true, "x: a part of 0x3x5x7");
	refused(field(TTB_PARTS, offsetof(TtbPart, rank)), 9, true, "x: a view that is none");
	refused(field(TTB_PARTS, offsetof(TtbPart, dims)), 106, true,
		"elements 0 to 105, there are 105");
	refused(field(TTB_PARTS, offsetof(TtbPart, offset)), 1, true,
		"elements 1 to 105, there are 105");
	refused(field(TTB_PARTS, offsetof(TtbPart, strides) + 4), 0x40000000, true,
		"past any tensor");
	refused(field(TTB_PARTS, offsetof(TtbPart, run)), 2, true, "x: runs of 2 elements");
	refused(field(TTB_PARTS, offsetof(TtbPart, start)), 1, true, "x: a part ends past");
}

static void elfs_are_checked(void **state)
{
	(void)state;
	refused(field(TTB_BRISC, 0), 0, true, "brisc: not a 32-bit RISC-V executable");
	refused(field(TTB_TRISC1, 16), 0x003e0002, true, "trisc1: not a 32-bit RISC-V executable");
	refused(field(TTB_BRISC, 24), 4, true, "brisc: the entry 0x4 is not in code");
	refused(field(TTB_NCRISC, 28), 0xfffffff0, true, "ncrisc: program headers past the end");
	refused(field(TTB_NCRISC, 44), 0xffff, true, "ncrisc: 65535 program headers");
	refused(field(TTB_NCRISC, 52 + 4), 0xfffffff0, true, "ncrisc: a segment ends past the end");
	refused(field(TTB_NCRISC, 52 + 12), 0xfffffff0, true, "ncrisc: a segment at 0xfffffff0");
	refused(field(TTB_NCRISC, 52 + 12), TT_LAUNCH, true, "covers the control words");
	refused(field(TTB_NCRISC, 52 + 16), 5, true, "ncrisc: a segment ends past the end");
}

static void segments_and_images_do_not_overlap(void **state)
{
	(void)state;
	static const uint8_t bytes[64];
	const struct {
		uint32_t core, at;
		const char *says;
	} cases[] = {
		{ 1, 0, "two things lie at 0x0 in L1 of core 1" },
		{ TTB_EVERY_CORE, 0x4000, "two things lie at 0x4000 in L1 of every core" },
		{ 2, TT_CONTROL_END - 32, "an image at 0x19c60 in L1 covers the control words" },
		{ 2, TT_L1_END - 32, "an image of 64 bytes at 0x16dfe0 in L1" },
		{ 3, TT_USER, "an image in core 3, which is not there" },
		{ 0, TT_USER - 32, "two things lie at 0x19ca0 in L1 of core 0" },
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		TesseraError e = { 0 };
		TtbWriter *w = sample_writer(&sample);
		uint8_t *file;
		size_t n;

		ttb_writer_l1(w, cases[i].core, cases[i].at, bytes, sizeof bytes);
		assert_false(ttb_writer_finish(w, &file, &n, &e));
		assert_string_equal(e.text, cases[i].says);
		ttb_writer_destroy(w);
	}
}

static void wrong_calls_of_the_writer_are_told(void **state)
{
	(void)state;
	TesseraError e = { 0 };
	TtbWriter *w = ttb_writer_create(TTB_ARCH, "", "", "");
	uint8_t *file;
	size_t n;

	ttb_writer_part(w, &(TtbPart){ 0 });
	assert_false(ttb_writer_finish(w, &file, &n, &e));
	assert_string_equal(e.text, "writing a package: a part of no input or output");
	ttb_writer_destroy(w);
	w = ttb_writer_create(TTB_ARCH, "", "", "");
	ttb_writer_source(w, "", "");
	assert_false(ttb_writer_finish(w, &file, &n, &e));
	assert_string_equal(e.text, "writing a package: the source of no op");
	ttb_writer_destroy(w);
	ttb_writer_destroy(NULL);
	ttb_close(NULL);
}

static uint32_t next(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33);
}

/* Bits, bytes and words anywhere, sealed again so that the checksum does not
 * hide the rest, cut off now and then; half of them where the numbers are. */
static void random_changes_never_crash(void **state)
{
	(void)state;
	uint64_t seed = 7;
	size_t n, opened = 0;
	uint8_t *file = sample_file(&n), *copy = malloc(n);
	FILE *nowhere = fopen("/dev/null", "w");

	for (int i = 0; i < 1000; i++) {
		TesseraError e = { 0 };
		size_t bytes = n;

		memcpy(copy, file, n);
		for (uint32_t k = 0; k <= next(&seed) % 4; k++) {
			const size_t at = next(&seed) % (i & 1 ? n : 2500);
			const uint32_t r = next(&seed);

			copy[at] = (uint8_t)(r & 256 ? r : copy[at] ^ 1u << r % 8);
		}
		if (i % 50 == 0)
			bytes = next(&seed) % n;
		if (bytes == n && i % 4)
			ttb_seal(copy, n);
		Ttb *t = ttb_open_memory(copy, bytes, &e);
		opened += t != NULL;
		assert_true(t ||
			    (e.code == TESSERA_BAD_PACKAGE && e.text[0] && !strchr(e.text, '\n')));
		if (t)
			ttb_print(t, nowhere);
		ttb_close(t);
	}
	print_message("%zu of 1000 still open\n", opened);
	fclose(nowhere);
	free(copy);
	free(file);
}

static void info_shows_the_package(void **state)
{
	(void)state;
	TesseraError e = { 0 };
	size_t n, length;
	char *text;
	uint8_t *file = sample_file(&n);
	Ttb *t = ttb_open_memory(file, n, &e);
	FILE *f = open_memstream(&text, &length);

	ttb_print(t, f);
	fclose(f);
	assert_non_null(
		strstr(text, "model     sample\ntarget    wormhole_n150\ncompiler  by hand\n"));
	assert_non_null(strstr(text, "\ninput     x : f32[1,3,5,7], DRAM 1x3x5x7 at 0x100000, "
				     "pages of 32, slots of 64\n"));
	assert_non_null(strstr(text, "\ncores     3: (0,0) (1,0) (2,0)\n"));
	assert_non_null(strstr(text, "\ncode      brisc 4, ncrisc 4, trisc0 4, trisc1 4, trisc2 4, "
				     "in all 20 bytes"));
	assert_non_null(strstr(text, "\nimages    4: 576 bytes for DRAM, 4 for L1\n"));
	assert_non_null(strstr(text, "\nop 0      conv2d first\n"));
	assert_non_null(strstr(text, "\nop 1      relu second (sample.nnef:3:7, with norm, act)\n"));
	free(text);
	ttb_close(t);
	free(file);
}

/* Names are the model's, and may be long. */
static void an_op_is_named_within_its_room(void **state)
{
	(void)state;
	TesseraError e = { 0 };
	char name[2 * TTB_OP_TEXT], room[TTB_OP_TEXT];
	size_t n;
	TtbWriter *w = sample_writer(&sample);

	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	ttb_writer_op(w, name, "conv");
	uint8_t *file = sample_finish(w, &n);
	Ttb *t = ttb_open_memory(file, n, &e);
	assert_int_equal(strlen(ttb_op_text(t, 2, room)), TTB_OP_TEXT - 1);
	assert_string_equal(room + TTB_OP_TEXT - 6, "xx...");
	assert_string_equal(ttb_op_text(t, 3, room), "3");
	assert_string_equal(ttb_op_text(t, 0, room), "first");
	ttb_close(t);
	free(file);
}

static void a_buffer_is_found_by_address_and_op(void **state)
{
	(void)state;
	TesseraError e = { 0 };
	size_t n;
	TtbWriter *w = sample_writer(&sample);

	ttb_writer_buffer(w, "later",
			  (TtbBuffer){ .core = 2, .first = SAMPLE_BUFFER + 64,
				       .end = SAMPLE_BUFFER + 128, .born = 1, .dies = 1 });
	uint8_t *file = sample_finish(w, &n);
	Ttb *t = ttb_open_memory(file, n, &e);
	const TtbBuffer *rows = &t->buffer[0], *later = &t->buffer[1];
	assert_ptr_equal(ttb_buffer_at(t, 2, SAMPLE_BUFFER + 64, 0), rows);
	assert_ptr_equal(ttb_buffer_at(t, 2, SAMPLE_BUFFER + 64, 1), later);
	assert_ptr_equal(ttb_buffer_at(t, 1, SAMPLE_BUFFER + 64, 1), rows);
	assert_ptr_equal(ttb_buffer_at(t, 2, SAMPLE_BUFFER + 128, 1), rows);
	assert_null(ttb_buffer_at(t, 2, SAMPLE_BUFFER_END, 1));
	assert_null(ttb_buffer_at(t, 2, SAMPLE_BUFFER - 1, 1));
	ttb_close(t);
	free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(a_file_is_mapped),
		cmocka_unit_test(memory_need_not_be_aligned),
		cmocka_unit_test(other_versions_architectures_and_damage_are_refused),
		cmocka_unit_test(every_number_is_checked),
		cmocka_unit_test(parts_stay_within_both_tensors),
		cmocka_unit_test(elfs_are_checked),
		cmocka_unit_test(segments_and_images_do_not_overlap),
		cmocka_unit_test(wrong_calls_of_the_writer_are_told),
		cmocka_unit_test(random_changes_never_crash),
		cmocka_unit_test(info_shows_the_package),
		cmocka_unit_test(an_op_is_named_within_its_room),
		cmocka_unit_test(a_buffer_is_found_by_address_and_op),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
