/*
 * The linker: relocations against values worked out by hand, and objects that
 * are damaged.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "backend/link.h"
#include "ir/rng.h"
#include "tests/check.h"
#include "tests/fixture.h"

enum { RISCV = 243, TEXT = 1, ROUTINE, RODATA, BSS, RELA, SYMTAB, STRTAB, SHSTRTAB, SECTIONS };
enum { SYM_START = 1, SYM_ROUTINE, SYM_CONST, SYM_VAR, SYM_TOP, SYM_MISSING, SYM_LABEL, SYMBOLS };

static const char section_names[] =
	"\0.text\0.text.routine.one\0.rodata\0.bss\0.rela.text\0.symtab\0.strtab\0.shstrtab";
static const char symbol_names[] =
	"\0_start\0one\0table\0counter\0__stack_top\0missing\0.Lhigh";

/* An object with 16 words of code, a routine, a constant and a variable. */
typedef struct Parts {
	uint32_t text[16], routine[4], table[2];
	Elf32_Rela relocs[8];
	int nrelocs;
	uint32_t bss, data_flags;
} Parts;

static uint32_t nth(const char *names, int n)
{
	uint32_t at = 1;
	for (int i = 1; i < n; i++)
		at += (uint32_t)strlen(names + at) + 1;
	return at;
}

static size_t append(char *file, size_t at, const void *from, size_t n)
{
	memcpy(file + at, from, n);
	return (at + n + 3) & ~(size_t)3;
}

static Elf32_Sym symbol(int n, int section, uint32_t value, uint32_t size, int type)
{
	return (Elf32_Sym){ .st_name = nth(symbol_names, n), .st_shndx = (Elf32_Half)section,
			    .st_value = value, .st_size = size,
			    .st_info = (unsigned char)ELF32_ST_INFO(STB_GLOBAL, type) };
}

static Bytes object(Fixture *t, const Parts *p)
{
	char *file = arena_alloc(t->arena, 4096);
	Elf32_Shdr s[SECTIONS] = {
		[TEXT] = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR },
		[ROUTINE] = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR },
		[RODATA] = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | p->data_flags },
		[BSS] = { .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE,
			  .sh_size = p->bss },
		[RELA] = { .sh_type = SHT_RELA, .sh_link = SYMTAB, .sh_info = TEXT,
			   .sh_entsize = sizeof(Elf32_Rela) },
		[SYMTAB] = { .sh_type = SHT_SYMTAB, .sh_link = STRTAB, .sh_info = 1,
			     .sh_entsize = sizeof(Elf32_Sym) },
		[STRTAB] = { .sh_type = SHT_STRTAB },
		[SHSTRTAB] = { .sh_type = SHT_STRTAB },
	};
	const Elf32_Sym symbols[SYMBOLS] = {
		[SYM_START] = symbol(1, TEXT, 0, 64, STT_FUNC),
		[SYM_ROUTINE] = symbol(2, ROUTINE, 0, 16, STT_FUNC),
		[SYM_CONST] = symbol(3, RODATA, 4, 4, STT_OBJECT),
		[SYM_VAR] = symbol(4, BSS, 0, 4, STT_OBJECT),
		[SYM_TOP] = symbol(5, 0, 0, 0, STT_NOTYPE),
		[SYM_MISSING] = symbol(6, 0, 0, 0, STT_NOTYPE),
		[SYM_LABEL] = symbol(7, TEXT, 8, 0, STT_NOTYPE),
	};
	const struct { int section; const void *from; size_t n; } contents[] = {
		{ TEXT, p->text, sizeof p->text }, { ROUTINE, p->routine, sizeof p->routine },
		{ RODATA, p->table, sizeof p->table },
		{ RELA, p->relocs, (size_t)p->nrelocs * sizeof *p->relocs },
		{ SYMTAB, symbols, sizeof symbols }, { STRTAB, symbol_names, sizeof symbol_names },
		{ SHSTRTAB, section_names, sizeof section_names },
	};
	size_t at = sizeof(Elf32_Ehdr);
	for (size_t i = 0; i < sizeof contents / sizeof *contents; i++) {
		s[contents[i].section].sh_offset = (Elf32_Off)at;
		s[contents[i].section].sh_size = (Elf32_Word)contents[i].n;
		at = append(file, at, contents[i].from, contents[i].n);
	}
	for (int i = 1; i < SECTIONS; i++) {
		s[i].sh_name = nth(section_names, i);
		s[i].sh_addralign = 4;
	}
	const Elf32_Ehdr h = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_REL, .e_machine = RISCV, .e_shoff = (Elf32_Off)at, .e_shnum = SECTIONS,
		.e_shentsize = sizeof(Elf32_Shdr), .e_shstrndx = SHSTRTAB,
	};
	memcpy(file, &h, sizeof h);
	return (Bytes){ file, append(file, at, s, sizeof s) };
}

static Elf32_Rela reloc(uint32_t at, int sym, int kind, int32_t addend)
{
	return (Elf32_Rela){ at, ELF32_R_INFO((uint32_t)sym, kind), addend };
}

/* Words of .text after linking at `at`; NULL if that fails. */
static uint32_t *linked(Fixture *t, const Parts *p, uint32_t at)
{
	Object *o = arena_new(t->arena, Object);
	Link l;
	if (!object_read(o, t->arena, &t->diag, "o", object(t, p))
	    || !link_init(&l, t->arena, &t->diag, o, 4096))
		return NULL;
	link_place(&l, at, at);
	Bytes elf = link_elf(&l, t->arena, &t->diag);
	if (!elf.data)
		return NULL;
	Elf32_Ehdr h;
	Elf32_Phdr segment;
	memcpy(&h, elf.data, sizeof h);
	memcpy(&segment, elf.data + h.e_phoff, sizeof segment);
	assert_int_equal(h.e_entry, at);
	assert_int_equal(segment.p_vaddr, at);
	assert_int_equal(segment.p_filesz, l.bytes);
	uint32_t *words = arena_alloc(t->arena, segment.p_filesz);
	memcpy(words, elf.data + segment.p_offset, segment.p_filesz);
	return words;
}

/* At 0x1000: .text 0x1000, routine 0x1040, .rodata 0x1050 (table at +4). */
static void every_relocation_gives_the_word_worked_out_by_hand(void **state)
{
	static const struct { int kind, sym; int32_t addend; uint32_t before, after; } cases[] = {
		{ R_RISCV_32, SYM_CONST, 2, 0, 0x1056 },
		{ R_RISCV_32, SYM_TOP, 0, 0, 0xffb01000 },
		{ R_RISCV_HI20, SYM_VAR, 0, 0x537, 0xffb00537 },           /* lui a0, 0xffb00 */
		{ R_RISCV_HI20, SYM_CONST, 0x7b0, 0x537, 0x00002537 },     /* 0x1804 rounds up */
		{ R_RISCV_LO12_I, SYM_CONST, 0, 0x50513, 0x05450513 },     /* addi a0, a0, 0x54 */
		{ R_RISCV_LO12_S, SYM_CONST, 0, 0xa52023, 0x04a52a23 },    /* sw a0, 0x54(a0) */
		{ R_RISCV_JAL, SYM_ROUTINE, 0, 0xef, 0x030000ef },         /* jal ra, 0x30 */
		{ R_RISCV_JAL, SYM_START, 0, 0x6f, 0xff1ff06f },           /* j -0x10 */
		{ R_RISCV_BRANCH, SYM_ROUTINE, 0, 0x63, 0x02000863 },      /* beqz zero, 0x30 */
		{ R_RISCV_BRANCH, SYM_START, 0, 0x63, 0xfe0008e3 },        /* beqz zero, -0x10 */
		{ R_RISCV_ADD32, SYM_CONST, 0, 5, 0x1059 },
		{ R_RISCV_SUB32, SYM_CONST, 0, 0x1059, 5 },
		{ R_RISCV_ADD16, SYM_CONST, 0, 0xffff0001, 0xffff1055 },
		{ R_RISCV_SUB8, SYM_CONST, 0, 0xffffff60, 0xffffff0c },
		{ R_RISCV_SET16, SYM_CONST, 0, 0xffffffff, 0xffff1054 },
		{ R_RISCV_32_PCREL, SYM_CONST, 0, 0, 0x44 },
		{ R_RISCV_RELAX, 0, 0, 0x13, 0x13 },
	};
	Fixture *t = *state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		Parts p = { .nrelocs = 1, .bss = 4 };
		p.text[4] = cases[i].before;
		p.relocs[0] = reloc(16, cases[i].sym, cases[i].kind, cases[i].addend);
		const uint32_t *words = linked(t, &p, 0x1000);
		if (!words)
			fail_msg("%s", fixture_said(t));
		if (words[4] != cases[i].after)
			fail_msg("case %zu: 0x%08x, not 0x%08x", i, words[4], cases[i].after);
	}
}

static void a_call_and_an_address_take_two_instructions(void **state)
{
	Fixture *t = *state;
	Parts p = { .nrelocs = 3, .bss = 4 };
	p.text[0] = 0x00000097; /* auipc ra, 0 */
	p.text[1] = 0x000080e7; /* jalr ra, 0(ra) */
	p.text[2] = 0x00000517; /* auipc a0, 0 */
	p.text[3] = 0x00052503; /* lw a0, 0(a0) */
	p.relocs[0] = reloc(0, SYM_ROUTINE, R_RISCV_CALL_PLT, 0);
	p.relocs[1] = reloc(8, SYM_VAR, R_RISCV_PCREL_HI20, 0);
	p.relocs[2] = reloc(12, SYM_LABEL, R_RISCV_PCREL_LO12_I, 0);
	const uint32_t *words = linked(t, &p, 0x1000);
	assert_non_null(words);
	assert_int_equal(words[0], 0x00000097);
	assert_int_equal(words[1], 0x040080e7);
	assert_int_equal(words[2], 0xffaff517); /* 0xffb00000 - 0x1008 = 0xffafeff8 */
	assert_int_equal(words[3], 0xff852503);
}

static void what_cannot_be_linked_is_refused(void **state)
{
	static const struct {
		uint32_t before;
		int kind, sym;
		int32_t addend;
		const char *said;
	} cases[] = {
		{ 0, R_RISCV_32, SYM_MISSING, 0, "nothing defines 'missing'" },
		{ 0x63, R_RISCV_BRANCH, SYM_CONST, 4096, "cannot reach 'table'" },
		{ 0x6f, R_RISCV_JAL, SYM_VAR, 0, "cannot reach 'counter'" },
		{ 0x13, R_RISCV_PCREL_LO12_I, SYM_LABEL, 0, "no instruction with the high part" },
		{ 0, R_RISCV_TLS_GD_HI20, SYM_VAR, 0, "relocation 22 in .text is not known" },
	};
	Fixture *t = *state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const size_t before = strlen(fixture_said(t));
		Parts p = { .nrelocs = 1, .bss = 4 };
		p.text[4] = cases[i].before;
		p.relocs[0] = reloc(16, cases[i].sym, cases[i].kind, cases[i].addend);
		assert_null(linked(t, &p, 0x1000));
		if (!strstr(fixture_said(t) + before, cases[i].said))
			fail_msg("'%s' is not in: %s", cases[i].said, fixture_said(t) + before);
	}
	assert_null(linked(t, &(Parts){ .data_flags = SHF_WRITE, .bss = 4 }, 0));
	assert_non_null(strstr(fixture_said(t), ".rodata holds first values of variables"));
}

static void a_routine_that_is_apart_is_linked_anywhere_but_not_referred_to(void **state)
{
	Fixture *t = *state;
	Parts p = { .nrelocs = 0, .bss = 4 };
	Object o;
	Link l;
	uint8_t bytes[16];
	assert_true(object_read(&o, t->arena, &t->diag, "o", object(t, &p)));
	assert_true(link_init(&l, t->arena, &t->diag, &o, 4096));
	link_place(&l, 0, 0);
	const uint32_t whole = l.bytes;
	const int section = link_routine(&l, "one");
	assert_int_equal(section, ROUTINE);
	assert_int_equal(link_routine(&l, "two"), -1);
	l.apart[section] = true;
	link_place(&l, 0, 0);
	assert_int_equal(l.bytes, whole - 16);
	assert_true(link_section(&l, &t->diag, section, 0x4000, bytes));
	p.nrelocs = 1;
	p.relocs[0] = reloc(0, SYM_ROUTINE, R_RISCV_32, 0);
	assert_true(object_read(&o, t->arena, &t->diag, "o", object(t, &p)));
	assert_null(link_elf(&l, t->arena, &t->diag).data);
	assert_non_null(strstr(fixture_said(t), "refers to .text.routine.one, which is not resident"));
}

static void what_nobody_refers_to_is_left_out(void **state)
{
	Fixture *t = *state;
	Parts p = { .nrelocs = 1, .bss = 4 };
	Object o;
	Link l;
	p.relocs[0] = reloc(0, SYM_CONST, R_RISCV_32, 0);
	assert_true(object_read(&o, t->arena, &t->diag, "o", object(t, &p)));
	assert_true(link_init(&l, t->arena, &t->diag, &o, 4096));
	link_keep(&l, t->arena, NULL, 0);
	assert_true(l.apart[ROUTINE] && l.apart[BSS] && !l.apart[TEXT] && !l.apart[RODATA]);
	link_keep(&l, t->arena, (int[]){ ROUTINE }, 1);
	assert_true(!l.apart[ROUTINE] && l.apart[BSS]);
}

static void the_stack_is_the_deepest_way_down(void **state)
{
	Fixture *t = *state;
	Parts p = { .nrelocs = 0, .bss = 4 };
	Object o;
	Link l;
	p.text[0] = 0xfe010113;    /* addi sp, sp, -32 */
	p.routine[0] = 0xfb010113; /* addi sp, sp, -80 */
	p.routine[1] = 0x05010113; /* addi sp, sp, 80 */
	assert_true(object_read(&o, t->arena, &t->diag, "o", object(t, &p)));
	assert_true(link_init(&l, t->arena, &t->diag, &o, 4096));
	assert_int_equal(link_stack(&l, t->arena, &t->diag), 32 + 80);
	link_keep(&l, t->arena, NULL, 0);
	assert_int_equal(link_stack(&l, t->arena, &t->diag), 32);
	p.text[1] = 0x40a10133; /* sub sp, sp, a0 */
	assert_true(object_read(&o, t->arena, &t->diag, "o", object(t, &p)));
	assert_int_equal(link_stack(&l, t->arena, &t->diag), -1);
	assert_non_null(strstr(fixture_said(t), "'_start' takes an amount that is not in its code"));
}

/* An object with the routine's section once more, as an act. */
static void an_act_stands_on_the_routine_that_calls_it(void **state)
{
	Fixture *t = *state;
	Parts p = { .nrelocs = 0, .bss = 4 };
	Object o;
	Link l;
	p.text[0] = 0xfe010113;    /* addi sp, sp, -32 */
	p.routine[0] = 0xfb010113; /* addi sp, sp, -80 */
	assert_true(object_read(&o, t->arena, &t->diag, "o", object(t, &p)));
	o.sections = arena_grow(t->arena, o.sections, o.nsections, sizeof *o.sections);
	o.symbols = arena_grow(t->arena, o.symbols, o.nsymbols, sizeof *o.symbols);
	o.sections[o.nsections] = o.sections[ROUTINE];
	o.sections[o.nsections].name = LINK_ACT "one";
	o.symbols[o.nsymbols] = o.symbols[SYM_ROUTINE];
	o.symbols[o.nsymbols++].section = o.nsections++;
	assert_true(link_init(&l, t->arena, &t->diag, &o, 4096));
	assert_int_equal(link_stack(&l, t->arena, &t->diag), 32 + 80 + 80);
}

static void damaged_objects_are_refused_or_linked_and_nothing_else(void **state)
{
	Fixture *t = *state;
	Parts p = { .nrelocs = 1, .bss = 4 };
	p.relocs[0] = reloc(16, SYM_CONST, R_RISCV_32, 0);
	const Bytes good = object(t, &p);
	Rng r = { 7 };
	int refused = 0;
	for (int i = 0; i < 2000; i++) {
		Arena *a = arena_create();
		Diag d = { .to = fopen("/dev/null", "w") };
		char *copy = arena_alloc(a, good.size);
		memcpy(copy, good.data, good.size);
		const size_t size = i % 4 ? good.size : rng_next(&r) % good.size;
		for (int k = 0; k <= i % 5; k++)
			copy[rng_next(&r) % good.size] = (char)rng_next(&r);
		Object o;
		Link l;
		bool ok = object_read(&o, a, &d, "o", (Bytes){ copy, size })
			&& link_init(&l, a, &d, &o, 4096) && link_stack(&l, a, &d) >= 0;
		if (ok) {
			link_place(&l, 0, 0);
			ok = l.bytes > 1 << 20 || link_elf(&l, a, &d).data;
		}
		refused += !ok;
		assert_true(ok || d.errors > 0);
		fclose(d.to);
		arena_destroy(a);
	}
	assert_true(refused > 500);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(every_relocation_gives_the_word_worked_out_by_hand),
		T(a_call_and_an_address_take_two_instructions),
		T(what_cannot_be_linked_is_refused),
		T(a_routine_that_is_apart_is_linked_anywhere_but_not_referred_to),
		T(what_nobody_refers_to_is_left_out),
		T(the_stack_is_the_deepest_way_down),
		T(an_act_stands_on_the_routine_that_calls_it),
		T(damaged_objects_are_refused_or_linked_and_nothing_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
