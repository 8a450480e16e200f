/*
 * .npz: a zip archive of .npy members, found through its central directory
 * (so data descriptors need no care), zip64 included.
 *
 * Stored members stay where they are in the mapping. Deflated ones
 * (np.savez_compressed) are inflated into the arena; deflate cannot shrink
 * data more than 1032 times and members may not overlap, so what a file can
 * make us allocate is bounded by its own size.
 */
#include "frontend/weight_formats.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>

enum { EOCD = 22, EOCD64 = 56, LOCATOR64 = 20, ENTRY = 46, LOCAL = 30 };
enum { LONGEST_COMMENT = 65535, MOST_SHRINK = 1032 };
enum { STORED = 0, DEFLATED = 8, ENCRYPTED = 1, ZIP64_EXTRA = 1 };

typedef struct Zip {
	Arena *a;
	Diag *d;
	const char *file, *data;
	size_t size;
	uint64_t entries, directory, directory_size;
	uint64_t packed; /* bytes of all members so far */
} Zip;

typedef struct Member {
	uint32_t flags, method, crc;
	uint64_t packed, unpacked, at; /* at: of the local header, then of the data */
	Loc loc;
} Member;

static bool has_signature(const Zip *z, uint64_t at, uint64_t need, const char *sig)
{
	return at <= z->size && z->size - at >= need && memcmp(z->data + at, sig, 4) == 0;
}

/* The end record says where the directory is; it is last but for a comment. */
static bool find_directory(Zip *z)
{
	size_t at = z->size >= EOCD ? z->size - EOCD : 0;
	const size_t stop = at > LONGEST_COMMENT ? at - LONGEST_COMMENT : 0;
	while (!has_signature(z, at, EOCD, "PK\5\6") || le16(z->data + at + 20) != z->size - at - EOCD) {
		if (at == stop) {
			diag_error(z->d, (Loc){ .file = z->file },
				   "not a whole zip archive: it has no end record");
			return false;
		}
		at--;
	}
	const char *end = z->data + at;
	z->entries = le16(end + 10);
	z->directory_size = le32(end + 12);
	z->directory = le32(end + 16);
	if (at >= LOCATOR64 && has_signature(z, at - LOCATOR64, LOCATOR64, "PK\6\7")) {
		uint64_t at64 = le64(end - LOCATOR64 + 8);
		if (!has_signature(z, at64, EOCD64, "PK\6\6")) {
			diag_error(z->d, (Loc){ .file = z->file },
				   "zip64 end record is not at byte %llu", (unsigned long long)at64);
			return false;
		}
		z->entries = le64(z->data + at64 + 32);
		z->directory_size = le64(z->data + at64 + 40);
		z->directory = le64(z->data + at64 + 48);
	}
	if (z->directory > z->size || z->directory_size > z->size - z->directory ||
	    z->entries > z->directory_size / ENTRY) {
		diag_error(z->d, (Loc){ .file = z->file },
			   "zip directory of %llu members at byte %llu does not fit the file",
			   (unsigned long long)z->entries, (unsigned long long)z->directory);
		return false;
	}
	return true;
}

/* Replaces the fields that are all ones by those of the zip64 extra field. */
static bool widen(Member *m, const char *extra, size_t n)
{
	while (n >= 4) {
		size_t id = le16(extra), length = le16(extra + 2);
		if (length > n - 4)
			return false;
		const char *p = extra + 4, *end = p + length;
		extra = end;
		n -= 4 + length;
		if (id != ZIP64_EXTRA)
			continue;
		uint64_t *field[] = { &m->unpacked, &m->packed, &m->at };
		for (int i = 0; i < 3; i++) {
			if (*field[i] != UINT32_MAX)
				continue;
			if (end - p < 8)
				return false;
			*field[i] = le64(p);
			p += 8;
		}
	}
	return true;
}

/* Moves m->at from the local header to the data behind it. */
static bool find_data(Zip *z, Member *m)
{
	if (!has_signature(z, m->at, LOCAL, "PK\3\4")) {
		diag_error(z->d, m->loc, "there is no zip member at byte %llu", (unsigned long long)m->at);
		return false;
	}
	m->at += LOCAL + (uint64_t)le16(z->data + m->at + 26) + le16(z->data + m->at + 28);
	if (m->at > z->size || m->packed > z->size - m->at) {
		diag_error(z->d, m->loc, "truncated: %llu bytes at byte %llu do not fit the file",
			   (unsigned long long)m->packed, (unsigned long long)m->at);
		return false;
	}
	z->packed += m->packed;
	if (z->packed > z->size) {
		diag_error(z->d, m->loc, "zip members overlap");
		return false;
	}
	return true;
}

static const char *inflate_member(Zip *z, const Member *m)
{
	if (m->unpacked >= UINT_MAX || m->packed > UINT_MAX) {
		diag_error(z->d, m->loc, "deflated members of 4 GiB and more are not supported");
		return NULL;
	}
	if (m->unpacked / MOST_SHRINK > m->packed) {
		diag_error(z->d, m->loc, "%llu deflated bytes cannot yield %llu",
			   (unsigned long long)m->packed, (unsigned long long)m->unpacked);
		return NULL;
	}
	char *out = arena_alloc(z->a, m->unpacked + 1);
	z_stream s = {
		.next_in = (Bytef *)(uintptr_t)(z->data + m->at), .avail_in = (uInt)m->packed,
		.next_out = (Bytef *)out, .avail_out = (uInt)m->unpacked + 1,
	};
	if (inflateInit2(&s, -MAX_WBITS) != Z_OK)
		die_out_of_memory(1 << MAX_WBITS);
	const int end = inflate(&s, Z_FINISH);
	const uint64_t got = s.total_out;
	inflateEnd(&s);
	if (end != Z_STREAM_END || got != m->unpacked) {
		diag_error(z->d, m->loc, "deflated data is corrupt");
		return NULL;
	}
	if (crc32(0, (const Bytef *)out, (uInt)got) != m->crc) {
		diag_error(z->d, m->loc, "checksum does not match the data");
		return NULL;
	}
	return out;
}

static Tensor *read_member(Zip *z, Member *m)
{
	if (m->flags & ENCRYPTED) {
		diag_error(z->d, m->loc, "encrypted zip members are not supported");
		return NULL;
	}
	if (m->method != STORED && m->method != DEFLATED) {
		diag_error(z->d, m->loc, "zip method %u is not supported, only stored and deflated",
			   m->method);
		return NULL;
	}
	if (!find_data(z, m))
		return NULL;
	if (m->method == STORED && m->packed != m->unpacked) {
		diag_error(z->d, m->loc, "stored %llu bytes cannot yield %llu",
			   (unsigned long long)m->packed, (unsigned long long)m->unpacked);
		return NULL;
	}
	const char *data = m->method == STORED ? z->data + m->at : inflate_member(z, m);
	return data ? npy_parse_at(z->a, z->d, m->loc, data, m->unpacked) : NULL;
}

/* The tensor's name: the member's without ".npy"; NULL if it has no such. */
static const char *tensor_name(Arena *a, const char *member, size_t n)
{
	if (n < 4 || memcmp(member + n - 4, ".npy", 4) != 0 || memchr(member, '\0', n))
		return NULL;
	return arena_strndup(a, member, n - 4);
}

/* Reads the member whose directory entry is at *at and moves past it. */
static bool next_member(Zip *z, uint64_t *at, WeightFile *w)
{
	const char *e = z->data + *at;
	const uint64_t left = z->directory + z->directory_size - *at;
	Member m = { .loc = { .file = z->file } };
	size_t name = 0, extra = 0, comment = 0;
	if (left >= ENTRY && memcmp(e, "PK\1\2", 4) == 0) {
		name = le16(e + 28);
		extra = le16(e + 30);
		comment = le16(e + 32);
	}
	if (!name || left < ENTRY + name + extra + comment) {
		diag_error(z->d, m.loc, "zip directory is broken at byte %llu", (unsigned long long)*at);
		return false;
	}
	*at += ENTRY + name + extra + comment;
	m.loc.node = arena_printf(z->a, "member '%.*s'", (int)name, e + ENTRY);
	m.flags = le16(e + 8);
	m.method = le16(e + 10);
	m.crc = le32(e + 16);
	m.packed = le32(e + 20);
	m.unpacked = le32(e + 24);
	m.at = le32(e + 42);
	const char *tensor = tensor_name(z->a, e + ENTRY, name);
	if (!tensor) {
		diag_error(z->d, m.loc, "not an array: its name does not end in .npy");
		return false;
	}
	if (!widen(&m, e + ENTRY + name, extra)) {
		diag_error(z->d, m.loc, "zip64 field is broken");
		return false;
	}
	Tensor *t = read_member(z, &m);
	if (t && !weights_add(z->a, w, tensor, t)) {
		diag_error(z->d, m.loc, "there are two members of that name");
		t = NULL;
	}
	return t != NULL;
}

WeightFile *npz_parse(Arena *a, Diag *d, const char *file, const char *data, size_t size)
{
	Zip z = { .a = a, .d = d, .file = file, .data = data, .size = size };
	if (!find_directory(&z))
		return NULL;
	WeightFile *w = weights_create(a);
	uint64_t at = z.directory;
	for (uint64_t i = 0; i < z.entries; i++)
		if (!next_member(&z, &at, w))
			return NULL;
	return w;
}
