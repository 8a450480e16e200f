#include "backend/link.h"

#include <elf.h>
#include <string.h>

enum { MACHINE_RISCV = 243, TEXT = 1, BSS, SYMTAB, STRTAB, SHSTRTAB, SECTIONS, SEGMENTS = 2 };

static const char section_names[] = "\0.text\0.bss\0.symtab\0.strtab\0.shstrtab";

/* Where the parts of the file are. */
typedef struct Parts {
	uint32_t text, symbols, nsymbols, strings, string_bytes, names, headers, bytes;
} Parts;

static bool is_shown(const Link *l, const ObjSymbol *s)
{
	return s->function && s->section >= 0 && l->object->sections[s->section].loaded
		&& !l->apart[s->section];
}

static Parts measure(const Link *l)
{
	Parts p = { .nsymbols = 1, .string_bytes = 1 };
	for (int i = 0; i < l->object->nsymbols; i++)
		if (is_shown(l, &l->object->symbols[i])) {
			p.nsymbols++;
			p.string_bytes += (uint32_t)strlen(l->object->symbols[i].name) + 1;
		}
	p.text = (sizeof(Elf32_Ehdr) + SEGMENTS * sizeof(Elf32_Phdr) + LINK_ALIGN - 1)
		& ~(uint32_t)(LINK_ALIGN - 1);
	p.symbols = p.text + l->bytes;
	p.strings = p.symbols + p.nsymbols * (uint32_t)sizeof(Elf32_Sym);
	p.names = p.strings + p.string_bytes;
	p.headers = (p.names + (uint32_t)sizeof section_names + 3) & ~3u;
	p.bytes = p.headers + SECTIONS * (uint32_t)sizeof(Elf32_Shdr);
	return p;
}

static void write_headers(const Link *l, const Parts *p, uint8_t *file)
{
	const Elf32_Ehdr h = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = MACHINE_RISCV, .e_version = EV_CURRENT,
		.e_entry = l->entry, .e_phoff = sizeof h, .e_shoff = p->headers,
		.e_ehsize = sizeof h, .e_phentsize = sizeof(Elf32_Phdr), .e_phnum = SEGMENTS,
		.e_shentsize = sizeof(Elf32_Shdr), .e_shnum = SECTIONS, .e_shstrndx = SHSTRTAB,
	};
	const Elf32_Phdr segments[SEGMENTS] = {
		{ .p_type = PT_LOAD, .p_offset = p->text, .p_vaddr = l->at, .p_paddr = l->load,
		  .p_filesz = l->bytes, .p_memsz = l->bytes, .p_flags = PF_R | PF_X,
		  .p_align = LINK_ALIGN },
		{ .p_type = PT_LOAD, .p_offset = p->symbols, .p_vaddr = LINK_LOCAL,
		  .p_paddr = LINK_LOCAL, .p_memsz = l->local_bytes, .p_flags = PF_R | PF_W,
		  .p_align = 4 },
	};
	memcpy(file, &h, sizeof h);
	memcpy(file + sizeof h, segments, sizeof segments);
}

static uint32_t name_at(int section)
{
	uint32_t at = 1;
	for (int i = TEXT; i < section; i++)
		at += (uint32_t)strlen(section_names + at) + 1;
	return at;
}

static void write_sections(const Link *l, const Parts *p, uint8_t *file)
{
	const Elf32_Shdr s[SECTIONS] = {
		[TEXT] = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			   .sh_addr = l->at, .sh_offset = p->text, .sh_size = l->bytes,
			   .sh_addralign = LINK_ALIGN, .sh_name = name_at(TEXT) },
		[BSS] = { .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE,
			  .sh_addr = LINK_LOCAL, .sh_offset = p->symbols, .sh_size = l->local_bytes,
			  .sh_addralign = 4, .sh_name = name_at(BSS) },
		[SYMTAB] = { .sh_type = SHT_SYMTAB, .sh_offset = p->symbols, .sh_link = STRTAB,
			     .sh_size = p->nsymbols * (uint32_t)sizeof(Elf32_Sym), .sh_info = 1,
			     .sh_addralign = 4, .sh_entsize = sizeof(Elf32_Sym),
			     .sh_name = name_at(SYMTAB) },
		[STRTAB] = { .sh_type = SHT_STRTAB, .sh_offset = p->strings, .sh_addralign = 1,
			     .sh_size = p->string_bytes, .sh_name = name_at(STRTAB) },
		[SHSTRTAB] = { .sh_type = SHT_STRTAB, .sh_offset = p->names, .sh_addralign = 1,
			       .sh_size = sizeof section_names, .sh_name = name_at(SHSTRTAB) },
	};
	memcpy(file + p->names, section_names, sizeof section_names);
	memcpy(file + p->headers, s, sizeof s);
}

static void write_symbols(const Link *l, const Parts *p, uint8_t *file)
{
	uint32_t n = 1, string = 1;
	for (int i = 0; i < l->object->nsymbols; i++) {
		const ObjSymbol *s = &l->object->symbols[i];
		if (!is_shown(l, s))
			continue;
		const Elf32_Sym symbol = {
			.st_name = string, .st_value = l->address[s->section] + s->value,
			.st_size = s->size, .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC),
			.st_shndx = TEXT,
		};
		const size_t length = strlen(s->name) + 1;
		memcpy(file + p->symbols + n++ * sizeof symbol, &symbol, sizeof symbol);
		memcpy(file + p->strings + string, s->name, length);
		string += (uint32_t)length;
	}
}

static bool write_text(const Link *l, Diag *d, uint8_t *text)
{
	bool ok = true;
	for (int i = 0; i < l->object->nsections; i++) {
		const ObjSection *s = &l->object->sections[i];
		if (s->loaded && s->size && !s->empty && !l->apart[i])
			ok &= link_section(l, d, i, l->address[i], text + (l->address[i] - l->at));
	}
	return ok;
}

Bytes link_elf(const Link *l, Arena *a, Diag *d)
{
	const Parts p = measure(l);
	uint8_t *file = arena_alloc(a, p.bytes);
	write_headers(l, &p, file);
	write_sections(l, &p, file);
	write_symbols(l, &p, file);
	if (!write_text(l, d, file + p.text))
		return (Bytes){ NULL, 0 };
	return (Bytes){ (const char *)file, p.bytes };
}
