#include "runtime/host/elf32.h"

#include <string.h>

#include "runtime/device/map.h"
#include "runtime/host/error.h"

enum {
	HEADER = 52,
	PHDR = 32,
	AT_TYPE = 16,
	AT_MACHINE = 18,
	AT_ENTRY = 24,
	AT_PHOFF = 28,
	AT_PHENTSIZE = 42,
	AT_PHNUM = 44,
	PH_TYPE = 0,
	PH_OFFSET = 4,
	PH_VADDR = 8,
	PH_PADDR = 12,
	PH_FILESZ = 16,
	PH_MEMSZ = 20,
	PH_FLAGS = 24,
	EXECUTABLE = 2,
	RISCV = 243,
	LOAD = 1,
	RUNS = 1,
};

static uint32_t word(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static uint16_t half(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof v);
	return v;
}

static const uint8_t *phdr(const uint8_t *elf, size_t i)
{
	return elf + word(elf + AT_PHOFF) + i * PHDR;
}

static bool loads(const uint8_t *p)
{
	return word(p + PH_TYPE) == LOAD && word(p + PH_FILESZ);
}

uint32_t elf_entry(const uint8_t *elf)
{
	return word(elf + AT_ENTRY);
}

bool elf_segment(const uint8_t *elf, size_t i, ElfSegment *segment)
{
	const size_t n = half(elf + AT_PHNUM);

	for (size_t k = 0; k < n; k++) {
		const uint8_t *p = phdr(elf, k);

		if (!loads(p) || i--)
			continue;
		*segment = (ElfSegment){
			.to = word(p + PH_PADDR),
			.at = word(p + PH_VADDR),
			.bytes = word(p + PH_FILESZ),
			.offset = word(p + PH_OFFSET),
			.code = word(p + PH_FLAGS) & RUNS,
		};
		return true;
	}
	return false;
}

static bool check_segment(const ElfSegment *s, size_t n, const char *name, TesseraError *e)
{
	const uint64_t end = (uint64_t)s->to + s->bytes;

	if ((uint64_t)s->offset + s->bytes > n)
		return rt_fail(e, TESSERA_BAD_PACKAGE, "%s: a segment ends past the end of the ELF",
			       name);
	if (end > TT_L1_END)
		return rt_fail(e, TESSERA_BAD_PACKAGE,
			       "%s: a segment at 0x%x of %u bytes is not within L1", name, s->to,
			       s->bytes);
	if (s->to < TT_CONTROL_END && end > TT_CONTROL)
		return rt_fail(e, TESSERA_BAD_PACKAGE,
			       "%s: a segment at 0x%x of %u bytes covers the control words", name,
			       s->to, s->bytes);
	return true;
}

/* Code that runs elsewhere than it is loaded runs in IRAM. */
static bool runs_at(const ElfSegment *s, uint32_t pc)
{
	const bool iram =
		s->at >= TT_IRAM && (uint64_t)s->at + s->bytes <= (uint64_t)TT_IRAM + TT_IRAM_BYTES;

	return s->code && pc % 4 == 0 && pc >= s->at && pc - s->at < s->bytes &&
	       (s->at == s->to || iram);
}

bool elf_check(const uint8_t *elf, size_t n, const char *name, TesseraError *e)
{
	static const uint8_t magic[] = {
		0x7f, 'E', 'L', 'F', 1, 1, 1
	}; /* 32 bits, little-endian */

	if (n < HEADER || memcmp(elf, magic, sizeof magic) != 0 ||
	    half(elf + AT_TYPE) != EXECUTABLE || half(elf + AT_MACHINE) != RISCV)
		return rt_fail(e, TESSERA_BAD_PACKAGE, "%s: not a 32-bit RISC-V executable", name);
	const size_t count = half(elf + AT_PHNUM);
	if (count == 0 || count > ELF_MOST_SEGMENTS || half(elf + AT_PHENTSIZE) != PHDR)
		return rt_fail(e, TESSERA_BAD_PACKAGE, "%s: %zu program headers of %u bytes", name,
			       count, half(elf + AT_PHENTSIZE));
	if ((uint64_t)word(elf + AT_PHOFF) + count * PHDR > n)
		return rt_fail(e, TESSERA_BAD_PACKAGE,
			       "%s: program headers past the end of the ELF", name);

	bool entered = false;
	ElfSegment s;
	for (size_t i = 0; elf_segment(elf, i, &s); i++) {
		if (!check_segment(&s, n, name, e))
			return false;
		entered |= runs_at(&s, elf_entry(elf));
	}
	return entered || rt_fail(e, TESSERA_BAD_PACKAGE, "%s: the entry 0x%x is not in code", name,
				  elf_entry(elf));
}
