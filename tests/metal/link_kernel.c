#include "tests/metal/link_kernel.h"

#include <stdlib.h>
#include <string.h>

#include "backend/link.h"
#include "runtime/host/elf32.h"

static bool link_at(MetalText *to, Arena *a, Diag *d, const char *name, Bytes file, uint32_t at,
		    uint32_t ram_bytes, bool kernel)
{
	Object o;
	Link l;
	ElfSegment s;

	if (!object_read(&o, a, d, name, file) || !link_init(&l, a, d, &o, ram_bytes))
		return false;
	link_place(&l, at, at);
	const int64_t stack = kernel ? link_stack(&l, a, d) : 0;
	const Bytes elf = link_elf(&l, a, d);
	if (stack < 0 || !elf.data || !elf_segment((const uint8_t *)elf.data, 0, &s))
		return false;
	*to = (MetalText){ .bytes = xmalloc(s.bytes),
			   .size = s.bytes,
			   .entry = l.entry,
			   .local = l.local_bytes + (uint32_t)stack };
	memcpy(to->bytes, elf.data + s.offset, s.bytes);
	return true;
}

bool metal_link(MetalText *to, const char *name, const void *object, size_t n, uint32_t at,
		uint32_t ram_bytes, bool kernel, char why[METAL_LINK_WHY])
{
	Arena *a = arena_create();
	FILE *f = fmemopen(why, METAL_LINK_WHY, "w");
	Diag d = { .to = f };
	const bool ok = f && link_at(to, a, &d, name, (Bytes){ object, n }, at, ram_bytes, kernel);

	diag_finish(&d);
	if (f)
		fclose(f);
	arena_destroy(a);
	return ok;
}
