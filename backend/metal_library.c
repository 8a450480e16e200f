#include "backend/metal_library.h"

#include <string.h>

#include "backend/program.h"
#include "ir/diag.h"

uint64_t metal_library_hash(void)
{
	uint64_t hash = 0;
	for (int i = 0; i < metal_device_count; i++) {
		const EmbeddedFile *f = &metal_device[i];
		const uint64_t parts[] = { hash, program_hash(f->name, strlen(f->name)),
					   program_hash(f->text, f->size) };
		hash = program_hash(parts, sizeof parts);
	}
	return hash;
}

const char *metal_header_of(Arena *a, const char *routine)
{
	const char *head = arena_printf(a, "void tt_%s(const Tt", routine);
	for (int i = 0; i < metal_device_count; i++)
		if (strstr(metal_device[i].text, head))
			return metal_device[i].name;
	die("no header of the device library has tt_%s", routine);
}

/* The file an include names: from the top of the tree, or beside the one that includes it. */
static int named(const char *name, size_t n)
{
	for (int i = 0; i < metal_device_count; i++) {
		const char *path = metal_device[i].name, *slash = strrchr(path, '/');
		if ((strlen(path) == n && strncmp(path, name, n) == 0) ||
		    (strlen(slash + 1) == n && strncmp(slash + 1, name, n) == 0))
			return i;
	}
	return -1;
}

void metal_library_included(const char *text, bool included[])
{
	static const char include[] = "#include \"";
	for (const char *at = text; (at = strstr(at, include));) {
		at += sizeof include - 1;
		const int i = named(at, strcspn(at, "\""));
		if (i < 0 || included[i])
			continue;
		included[i] = true;
		metal_library_included(metal_device[i].text, included);
	}
}
