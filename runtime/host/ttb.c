#include "runtime/host/ttb.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/host/error.h"
#include "runtime/host/ttb_check.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "packages are used in place");
_Static_assert(sizeof(TtbHeader) == 64 && sizeof(TtbSection) == 16, "the format");
_Static_assert(sizeof(TtbFacts) == 24 && sizeof(TtbCore) == 16 && sizeof(TtbImage) == 32,
	       "the format");
_Static_assert(sizeof(TtbTensor) == 88 && sizeof(TtbPart) == 216, "the format");
_Static_assert(sizeof(TtbBuffer) == 24 && sizeof(TtbOp) == 16, "the format");
_Static_assert((int)TTB_BRISC == (int)TT_BRISC && (int)TTB_TRISC2 == (int)TT_TRISC2,
	       "one order of ELFs");

enum {
	ALIGN = 64,
	TABLE_END = sizeof(TtbHeader) + TTB_SECTIONS * sizeof(TtbSection),
	CHECKSUM_AT = offsetof(TtbHeader, checksum),
};

typedef struct Kind {
	const char *name;
	uint32_t record, align;
} Kind;

static const Kind kinds[TTB_SECTIONS] = {
#define SECTION(id, name, record, align) { name, sizeof(record), align },
#include "runtime/host/ttb.def"
};

static uint64_t checksum(const uint8_t *file, size_t n)
{
	uint64_t sum = 0xcbf29ce484222325;

	for (size_t i = 0; i < n; i += 8) {
		uint64_t v;

		memcpy(&v, file + i, sizeof v);
		sum = (sum ^ (i == CHECKSUM_AT ? 0 : v)) * 0x100000001b3;
	}
	return sum;
}

void ttb_seal(void *file, size_t n)
{
	const uint64_t sum = checksum(file, n / 8 * 8);

	memcpy((uint8_t *)file + CHECKSUM_AT, &sum, sizeof sum);
}

const char *ttb_section_name(TtbSectionId id)
{
	return kinds[id].name;
}

const void *ttb_section(const Ttb *t, TtbSectionId id, size_t *bytes)
{
	*bytes = (size_t)t->section[id].bytes;
	return t->file + t->section[id].at;
}

const TtbBuffer *ttb_buffer_at(const Ttb *t, size_t core, uint64_t address, uint32_t op)
{
	const TtbBuffer *last = NULL;

	for (size_t i = 0; i < t->buffers; i++) {
		const TtbBuffer *b = &t->buffer[i];

		if ((b->core == core || b->core == TTB_EVERY_CORE) && b->first <= address &&
		    address < b->end && b->born <= op && (!last || b->born > last->born))
			last = b;
	}
	return last;
}

const char *ttb_string(const Ttb *t, uint32_t at)
{
	return (const char *)t->file + t->section[TTB_STRINGS].at + at;
}

const void *ttb_image_bytes(const Ttb *t, const TtbImage *image)
{
	return t->file + t->section[TTB_DATA].at + image->at;
}

static bool check_header(const uint8_t *file, size_t n, TesseraError *e)
{
	TtbHeader h;

	if (n < TABLE_END)
		return rt_fail(e, TESSERA_BAD_PACKAGE, "not a package: %zu bytes are too few", n);
	memcpy(&h, file, sizeof h);
	if (memcmp(h.magic, TTB_MAGIC, sizeof h.magic) != 0)
		return rt_fail(e, TESSERA_BAD_PACKAGE,
			       "not a package: it does not start with TESSERA");
	if (h.version != TTB_VERSION || h.sections != TTB_SECTIONS)
		return rt_fail(e, TESSERA_BAD_PACKAGE,
			       "a package of version %u, this library reads version %d", h.version,
			       TTB_VERSION);
	if (h.bytes != n || n % ALIGN != 0)
		return rt_fail(e, TESSERA_BAD_PACKAGE,
			       "the package says it has %llu bytes, there are %zu",
			       (unsigned long long)h.bytes, n);
	if (checksum(file, n) != h.checksum)
		return rt_fail(e, TESSERA_BAD_PACKAGE,
			       "the package is damaged: its checksum does not match");
	if (!memchr(h.arch, 0, sizeof h.arch))
		return rt_fail(e, TESSERA_BAD_PACKAGE, "the name of the architecture does not end");
	if (strcmp(h.arch, TTB_ARCH) != 0)
		return rt_fail(e, TESSERA_BAD_PACKAGE, "a package for %s, this library runs %s",
			       h.arch, TTB_ARCH);
	return true;
}

static bool check_sections(const Ttb *t, TesseraError *e)
{
	uint64_t end = TABLE_END;

	for (int i = 0; i < TTB_SECTIONS; i++) {
		const TtbSection *s = &t->section[i];

		if (s->at < end || s->at % kinds[i].align != 0)
			return rt_fail(e, TESSERA_BAD_PACKAGE, "section %s: starts at %llu",
				       kinds[i].name, (unsigned long long)s->at);
		if (s->at > t->header->bytes || s->bytes > t->header->bytes - s->at)
			return rt_fail(e, TESSERA_BAD_PACKAGE,
				       "section %s: ends past the end of the package",
				       kinds[i].name);
		if (s->bytes % kinds[i].record != 0)
			return rt_fail(e, TESSERA_BAD_PACKAGE,
				       "section %s: not whole records of %u bytes", kinds[i].name,
				       kinds[i].record);
		end = s->at + s->bytes;
	}
	return true;
}

static const void *records(const Ttb *t, TtbSectionId id, size_t *count)
{
	size_t bytes;
	const void *at = ttb_section(t, id, &bytes);

	*count = bytes / kinds[id].record;
	return at;
}

/* Takes `t->file`, n bytes, as it is. */
static bool take(Ttb *t, size_t n, TesseraError *e)
{
	size_t one;

	if (!check_header(t->file, n, e))
		return false;
	t->header = (const TtbHeader *)t->file;
	t->section = (const TtbSection *)(t->file + sizeof(TtbHeader));
	if (!check_sections(t, e))
		return false;
	t->facts = records(t, TTB_FACTS, &one);
	t->core = records(t, TTB_CORES, &t->cores);
	t->image = records(t, TTB_IMAGES, &t->images);
	t->input = records(t, TTB_INPUTS, &t->inputs);
	t->output = records(t, TTB_OUTPUTS, &t->outputs);
	t->part = records(t, TTB_PARTS, &t->parts);
	t->buffer = records(t, TTB_BUFFERS, &t->buffers);
	t->op = records(t, TTB_OPS, &t->ops);
	if (one != 1)
		return rt_fail(e, TESSERA_BAD_PACKAGE, "section facts: %zu records, there is one",
			       one);
	return ttb_check(t, e);
}

Ttb *ttb_open_memory(const void *bytes, size_t n, TesseraError *e)
{
	Ttb *t = calloc(1, sizeof *t);
	if (!t) {
		rt_fail(e, TESSERA_NO_MEMORY, "out of memory");
		return NULL;
	}
	t->file = bytes;
	if ((uintptr_t)bytes % ALIGN != 0 && n) {
		t->file = t->owned = aligned_alloc(ALIGN, (n + ALIGN - 1) / ALIGN * ALIGN);
		if (t->owned)
			memcpy(t->owned, bytes, n);
	}
	const bool good = t->file || n == 0
				  ? take(t, n, e)
				  : rt_fail(e, TESSERA_NO_MEMORY, "out of memory: %zu bytes", n);
	if (!good) {
		ttb_close(t);
		return NULL;
	}
	return t;
}

/* The file, mapped; NULL, and why. */
static void *map_file(const char *path, size_t *n, TesseraError *e)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *at = MAP_FAILED;

	if (fd < 0) {
		rt_fail(e, TESSERA_BAD_PACKAGE, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(fd, &st) != 0)
		rt_fail(e, TESSERA_BAD_PACKAGE, "%s: %s", path, strerror(errno));
	else if (!S_ISREG(st.st_mode))
		rt_fail(e, TESSERA_BAD_PACKAGE, "%s: not a file", path);
	else if (st.st_size < TABLE_END)
		rt_fail(e, TESSERA_BAD_PACKAGE, "%s: not a package: %lld bytes are too few", path,
			(long long)st.st_size);
	else {
		*n = (size_t)st.st_size;
		at = mmap(NULL, *n, PROT_READ, MAP_PRIVATE, fd, 0);
		if (at == MAP_FAILED)
			rt_fail(e, TESSERA_BAD_PACKAGE, "%s: %s", path, strerror(errno));
	}
	close(fd);
	return at == MAP_FAILED ? NULL : at;
}

Ttb *ttb_open(const char *path, TesseraError *e)
{
	TesseraError why = { 0 };
	size_t n = 0;
	void *at = map_file(path, &n, e);
	if (!at)
		return NULL;
	Ttb *t = ttb_open_memory(at, n, &why);
	if (!t) {
		rt_fail(e, why.code, "%s: %s", path, why.text);
		munmap(at, n);
		return NULL;
	}
	t->mapped = n;
	return t;
}

void ttb_close(Ttb *t)
{
	if (!t)
		return;
	if (t->mapped)
		munmap((void *)(uintptr_t)t->file, t->mapped);
	free(t->owned);
	free(t);
}
