/* A package inside a relocatable object for the machine we run on, and a header. */
#include <elf.h>
#include <string.h>

#include "backend/emit.h"

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
#elif defined(__riscv)
enum { MACHINE = EM_RISCV };
#else
#error "no ELF machine is known for this host"
#endif

enum { RODATA = 1, SYMTAB, STRTAB, SHSTRTAB, NOTE, SECTIONS, SYMBOLS = 3, PAGE = 64 };

static const char section_names[] = "\0.rodata\0.symtab\0.strtab\0.shstrtab\0.note.GNU-stack";

static const char *identifier(Arena *a, const char *name)
{
	char *s = arena_printf(a, "tessera_net_%s", name);
	for (char *p = s; *p; p++) {
		const bool fine = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_'
			|| (*p >= '0' && *p <= '9');
		if (!fine)
			*p = '_';
	}
	return s;
}

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

/* Where the n-th name of the list starts; 0 has none. */
static uint32_t nth_name(int n)
{
	uint32_t at = 1;
	for (int i = 1; i < n; i++)
		at += (uint32_t)strlen(section_names + at) + 1;
	return at;
}

/* Where things are in the file. */
typedef struct Places {
	size_t data, size, symbols, strings, string_bytes, names, headers, bytes;
} Places;

static void write_head(const Places *p, char *file)
{
	const Elf64_Ehdr h = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_REL, .e_machine = MACHINE, .e_version = EV_CURRENT,
		.e_shoff = p->headers, .e_ehsize = sizeof h, .e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS, .e_shstrndx = SHSTRTAB,
	};
	memcpy(file, &h, sizeof h);
}

static void write_sections(const Places *p, char *file)
{
	Elf64_Shdr s[SECTIONS] = {
		[RODATA] = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_offset = p->data,
			     .sh_size = p->size, .sh_addralign = PAGE },
		[SYMTAB] = { .sh_type = SHT_SYMTAB, .sh_offset = p->symbols, .sh_link = STRTAB,
			     .sh_size = SYMBOLS * sizeof(Elf64_Sym), .sh_info = 1,
			     .sh_addralign = 8, .sh_entsize = sizeof(Elf64_Sym) },
		[STRTAB] = { .sh_type = SHT_STRTAB, .sh_offset = p->strings,
			     .sh_size = p->string_bytes, .sh_addralign = 1 },
		[SHSTRTAB] = { .sh_type = SHT_STRTAB, .sh_offset = p->names,
			       .sh_size = sizeof section_names, .sh_addralign = 1 },
		[NOTE] = { .sh_type = SHT_PROGBITS, .sh_offset = p->names, .sh_addralign = 1 },
	};
	for (int i = 1; i < SECTIONS; i++)
		s[i].sh_name = nth_name(i);
	memcpy(file + p->names, section_names, sizeof section_names);
	memcpy(file + p->headers, s, sizeof s);
}

Bytes emit_object(Arena *a, Bytes package, const char *name)
{
	const char *symbol = identifier(a, name);
	const char *count = arena_printf(a, "%s_bytes", symbol);
	const uint64_t bytes = package.size;
	Places p = { .data = round_up(sizeof(Elf64_Ehdr), PAGE),
		     .size = round_up(package.size, 8) + sizeof bytes };
	p.symbols = round_up(p.data + p.size, 8);
	p.strings = p.symbols + SYMBOLS * sizeof(Elf64_Sym);
	p.string_bytes = 1 + strlen(symbol) + 1 + strlen(count) + 1;
	p.names = p.strings + p.string_bytes;
	p.headers = round_up(p.names + sizeof section_names, 8);
	p.bytes = p.headers + SECTIONS * sizeof(Elf64_Shdr);

	char *file = arena_alloc(a, p.bytes);
	const Elf64_Sym symbols[SYMBOLS] = {
		[1] = { .st_name = 1, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
			.st_shndx = RODATA, .st_size = package.size },
		[2] = { .st_name = (Elf64_Word)(1 + strlen(symbol) + 1), .st_shndx = RODATA,
			.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), .st_size = sizeof bytes,
			.st_value = p.size - sizeof bytes },
	};
	write_head(&p, file);
	memcpy(file + p.data, package.data, package.size);
	memcpy(file + p.data + p.size - sizeof bytes, &bytes, sizeof bytes);
	memcpy(file + p.symbols, symbols, sizeof symbols);
	memcpy(file + p.strings + 1, symbol, strlen(symbol));
	memcpy(file + p.strings + 1 + strlen(symbol) + 1, count, strlen(count));
	write_sections(&p, file);
	return (Bytes){ file, p.bytes };
}

Bytes emit_object_header(Arena *a, Bytes package, const char *name)
{
	const char *symbol = identifier(a, name);
	const char *text = arena_printf(a,
		"/* A network compiled by tessera, %zu bytes; see tessera_rt.h:\n"
		" * tessera_package_memory(%s, %s_bytes, &error). */\n"
		"#ifndef %s_H\n"
		"#define %s_H\n\n"
		"#include <stdint.h>\n\n"
		"#ifdef __cplusplus\n"
		"extern \"C\" {\n"
		"#endif\n\n"
		"extern const unsigned char %s[];\n"
		"extern const uint64_t %s_bytes;\n\n"
		"#ifdef __cplusplus\n"
		"}\n"
		"#endif\n\n"
		"#endif\n",
		package.size, symbol, symbol, symbol, symbol, symbol, symbol);
	return (Bytes){ text, strlen(text) };
}
