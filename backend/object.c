#include "backend/object.h"

#include <elf.h>
#include <stdarg.h>
#include <string.h>

enum { MACHINE_RISCV = 243, SECTIONS_MOST = 0xff00, ALIGN_MOST = 4096 };

typedef struct Reader {
	Object *o;
	Arena *a;
	Diag *d;
	Bytes file;
	Elf32_Shdr *headers;
	int nheaders;
	int symtab; /* its index; 0: none */
} Reader;

/* Always false, to be returned. */
__attribute__((format(printf, 2, 3)))
static bool wrong(Reader *r, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_error(r->d, (Loc){ .file = r->o->name }, "object: %s", text);
	return false;
}

static bool inside(const Reader *r, uint64_t at, uint64_t bytes)
{
	return at <= r->file.size && bytes <= r->file.size - at;
}

/* Copies out, because nothing in a file needs to be aligned. */
static void *copy_table(Reader *r, uint32_t at, size_t count, size_t size)
{
	void *table = arena_calloc(r->a, count ? count : 1, size);
	if (count)
		memcpy(table, r->file.data + at, count * size);
	return table;
}

static bool read_header(Reader *r)
{
	Elf32_Ehdr h;
	if (r->file.size < sizeof h)
		return wrong(r, "%zu bytes are no ELF file", r->file.size);
	memcpy(&h, r->file.data, sizeof h);
	if (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
		return wrong(r, "it does not start as an ELF file does");
	if (h.e_ident[EI_CLASS] != ELFCLASS32 || h.e_ident[EI_DATA] != ELFDATA2LSB)
		return wrong(r, "it is not 32-bit little-endian");
	if (h.e_type != ET_REL || h.e_machine != MACHINE_RISCV)
		return wrong(r, "type %u for machine %u is not a relocatable file for RISC-V",
			     h.e_type, h.e_machine);
	if (h.e_flags)
		return wrong(r, "flags 0x%x ask for extensions the cores do not have",
			     (unsigned)h.e_flags);
	if (h.e_shentsize != sizeof(Elf32_Shdr) || h.e_shnum == 0 || h.e_shnum > SECTIONS_MOST
	    || !inside(r, h.e_shoff, (uint64_t)h.e_shnum * sizeof(Elf32_Shdr)))
		return wrong(r, "the section table is not inside the file");
	r->nheaders = h.e_shnum;
	r->headers = copy_table(r, h.e_shoff, h.e_shnum, sizeof(Elf32_Shdr));
	for (int i = 1; i < r->nheaders; i++) {
		const Elf32_Shdr *s = &r->headers[i];
		if (s->sh_type != SHT_NOBITS && !inside(r, s->sh_offset, s->sh_size))
			return wrong(r, "section %d is not inside the file", i);
		if (s->sh_addralign & (s->sh_addralign - 1) || s->sh_addralign > ALIGN_MOST)
			return wrong(r, "section %d wants an alignment of %u", i,
				     (unsigned)s->sh_addralign);
		if (s->sh_type == SHT_SYMTAB)
			r->symtab = i;
	}
	if (h.e_shstrndx >= r->nheaders || r->headers[h.e_shstrndx].sh_type != SHT_STRTAB)
		return wrong(r, "there are no section names");
	r->headers[0].sh_name = h.e_shstrndx; /* entry 0 is unused: keep it there */
	return true;
}

/* A string of a string table; NULL if it does not end inside. */
static const char *string_at(Reader *r, uint32_t table, uint32_t at)
{
	const Elf32_Shdr *s = &r->headers[table];
	const char *text = r->file.data + s->sh_offset;
	if (at >= s->sh_size || !memchr(text + at, '\0', s->sh_size - at))
		return NULL;
	return text + at;
}

static bool read_sections(Reader *r)
{
	r->o->nsections = r->nheaders;
	r->o->sections = arena_array(r->a, ObjSection, r->nheaders);
	r->o->sections[0].name = "";
	r->o->sections[0].align = 1;
	for (int i = 1; i < r->nheaders; i++) {
		const Elf32_Shdr *h = &r->headers[i];
		ObjSection *s = &r->o->sections[i];
		s->name = string_at(r, r->headers[0].sh_name, h->sh_name);
		if (!s->name)
			return wrong(r, "section %d has no name", i);
		s->loaded = h->sh_flags & SHF_ALLOC;
		s->code = h->sh_flags & SHF_EXECINSTR;
		s->writable = h->sh_flags & SHF_WRITE;
		s->empty = h->sh_type == SHT_NOBITS;
		s->align = h->sh_addralign ? h->sh_addralign : 1;
		s->size = h->sh_size;
		s->data = s->empty ? NULL : (const uint8_t *)r->file.data + h->sh_offset;
		if (s->loaded && h->sh_type != SHT_PROGBITS && h->sh_type != SHT_NOBITS)
			return wrong(r, "section %s is of type %u", s->name, (unsigned)h->sh_type);
		if (s->loaded && h->sh_flags & SHF_TLS)
			return wrong(r, "section %s is for threads", s->name);
	}
	return true;
}

static bool read_symbols(Reader *r)
{
	if (!r->symtab)
		return wrong(r, "there is no symbol table");
	const Elf32_Shdr *h = &r->headers[r->symtab];
	if (h->sh_entsize != sizeof(Elf32_Sym) || h->sh_size % sizeof(Elf32_Sym)
	    || h->sh_link >= (uint32_t)r->nheaders || r->headers[h->sh_link].sh_type != SHT_STRTAB)
		return wrong(r, "the symbol table is malformed");
	const size_t n = h->sh_size / sizeof(Elf32_Sym);
	const Elf32_Sym *from = copy_table(r, h->sh_offset, n, sizeof(Elf32_Sym));
	r->o->symbols = arena_array(r->a, ObjSymbol, n ? n : 1);
	r->o->nsymbols = (int)n;
	for (size_t i = 0; i < n; i++) {
		ObjSymbol *s = &r->o->symbols[i];
		s->name = string_at(r, h->sh_link, from[i].st_name);
		s->value = from[i].st_value;
		s->size = from[i].st_size;
		s->global = ELF32_ST_BIND(from[i].st_info) != STB_LOCAL;
		s->weak = ELF32_ST_BIND(from[i].st_info) == STB_WEAK;
		s->function = ELF32_ST_TYPE(from[i].st_info) == STT_FUNC;
		s->section = from[i].st_shndx == SHN_UNDEF ? SYMBOL_UNDEFINED
			: from[i].st_shndx == SHN_ABS ? SYMBOL_ABSOLUTE : from[i].st_shndx;
		if (!s->name || s->section >= r->nheaders)
			return wrong(r, "symbol %zu is malformed", i);
		if (s->section >= 0 && (s->value > r->o->sections[s->section].size
				|| s->size > r->o->sections[s->section].size - s->value))
			return wrong(r, "symbol %s is not inside its section", s->name);
	}
	return true;
}

/* Bytes a kind of relocation changes; -1 if it is not one of ours. */
static int reloc_bytes(uint32_t kind)
{
	switch (kind) {
#define RELOC(id, number, bytes) case number: return bytes;
#include "backend/relocs.def"
	}
	return -1;
}

static bool read_relocs(Reader *r, const Elf32_Shdr *h)
{
	if (h->sh_info == 0 || h->sh_info >= (uint32_t)r->nheaders
	    || h->sh_link != (uint32_t)r->symtab || h->sh_entsize != sizeof(Elf32_Rela)
	    || h->sh_size % sizeof(Elf32_Rela))
		return wrong(r, "a relocation table is malformed");
	ObjSection *s = &r->o->sections[h->sh_info];
	if (!s->loaded)
		return true;
	if (s->empty || s->relocs)
		return wrong(r, "section %s cannot have these relocations", s->name);
	const size_t n = h->sh_size / sizeof(Elf32_Rela);
	const Elf32_Rela *from = copy_table(r, h->sh_offset, n, sizeof(Elf32_Rela));
	s->relocs = arena_array(r->a, Reloc, n ? n : 1);
	s->nrelocs = (int)n;
	for (size_t i = 0; i < n; i++) {
		const uint32_t kind = ELF32_R_TYPE(from[i].r_info);
		const uint32_t symbol = ELF32_R_SYM(from[i].r_info);
		const int bytes = reloc_bytes(kind);
		if (bytes < 0)
			return wrong(r, "relocation %u in %s is not known", (unsigned)kind, s->name);
		if (symbol >= (uint32_t)r->o->nsymbols)
			return wrong(r, "a relocation in %s names symbol %u of %d", s->name,
				     (unsigned)symbol, r->o->nsymbols);
		if (from[i].r_offset > s->size || (uint32_t)bytes > s->size - from[i].r_offset)
			return wrong(r, "a relocation at 0x%x is outside of %s",
				     (unsigned)from[i].r_offset, s->name);
		s->relocs[i] = (Reloc){ (RelocKind)kind, from[i].r_offset, (int)symbol,
					from[i].r_addend };
	}
	return true;
}

bool object_read(Object *o, Arena *a, Diag *d, const char *name, Bytes file)
{
	*o = (Object){ .name = name };
	Reader r = { .o = o, .a = a, .d = d, .file = file };
	if (!read_header(&r) || !read_sections(&r) || !read_symbols(&r))
		return false;
	for (int i = 1; i < r.nheaders; i++) {
		if (r.headers[i].sh_type == SHT_REL && o->sections[i].size)
			return wrong(&r, "section %s has relocations without addends",
				     o->sections[i].name);
		if (r.headers[i].sh_type == SHT_RELA && !read_relocs(&r, &r.headers[i]))
			return false;
	}
	return true;
}

int object_find(const Object *o, const char *name)
{
	for (int i = 0; i < o->nsymbols; i++)
		if (o->symbols[i].global && strcmp(o->symbols[i].name, name) == 0)
			return i;
	return -1;
}
