/* .npz: archives as NumPy writes them, zip64, and broken ones. */
#include <zlib.h>

#include "tests/weights_fixture.h"

typedef struct Buf {
	char data[4096];
	size_t size;
} Buf;

static void put(Buf *b, uint64_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		b->data[b->size++] = (char)(v >> 8 * i);
}

static void put_bytes(Buf *b, const void *p, size_t n)
{
	memcpy(b->data + b->size, p, n);
	b->size += n;
}

/* One member of an archive, with whatever lies it tells. */
typedef struct Made {
	const char *name;
	const char *data;
	size_t size, unpacked;
	uint32_t crc;
	int method, flags;
	bool zip64;
	size_t at;
} Made;

static void put_local(Buf *b, Made *m)
{
	m->at = b->size;
	put(b, 0x04034b50, 4);
	put(b, 20, 2);
	put(b, (uint64_t)m->flags, 2);
	put(b, (uint64_t)m->method, 2);
	put(b, 0, 4);
	put(b, 0, 8);
	put(b, 0, 4); /* crc and sizes come in a data descriptor */
	put(b, strlen(m->name), 2);
	put(b, 3, 2);
	put_bytes(b, m->name, strlen(m->name));
	put_bytes(b, "xtr", 3);
	put_bytes(b, m->data, m->size);
	put(b, 0x08074b50, 4);
	put(b, m->crc, 4);
	put(b, m->size, 4);
	put(b, m->unpacked, 4);
}

static void put_entry(Buf *b, const Made *m)
{
	put(b, 0x02014b50, 4);
	put(b, 20, 2);
	put(b, 20, 2);
	put(b, (uint64_t)m->flags, 2);
	put(b, (uint64_t)m->method, 2);
	put(b, 0, 4);
	put(b, m->crc, 4);
	put(b, m->zip64 ? UINT32_MAX : m->size, 4);
	put(b, m->zip64 ? UINT32_MAX : m->unpacked, 4);
	put(b, strlen(m->name), 2);
	put(b, m->zip64 ? 5 + 28 : 0, 2);
	put(b, 0, 8); /* comment, disk, attributes */
	put(b, 0, 2);
	put(b, m->zip64 ? UINT32_MAX : m->at, 4);
	put_bytes(b, m->name, strlen(m->name));
	if (m->zip64) {
		put(b, 0x5455, 2); /* another field before the one meant */
		put(b, 1, 2);
		put(b, 0, 1);
		put(b, 1, 2);
		put(b, 24, 2);
		put(b, m->unpacked, 8);
		put(b, m->size, 8);
		put(b, m->at, 8);
	}
}

/* The archive of n members; the file's comment is "hi". */
static Buf *archive(Fixture *t, Made *members, int n, bool zip64)
{
	Buf *b = arena_new(t->arena, Buf);
	for (int i = 0; i < n; i++)
		put_local(b, &members[i]);
	const size_t directory = b->size;
	for (int i = 0; i < n; i++)
		put_entry(b, &members[i]);
	const size_t end = b->size;
	if (zip64) {
		put(b, 0x06064b50, 4);
		put(b, 44, 8);
		put(b, 0, 8);
		put(b, 0, 4);
		put(b, (uint64_t)n, 8);
		put(b, (uint64_t)n, 8);
		put(b, end - directory, 8);
		put(b, directory, 8);
		put(b, 0x07064b50, 4);
		put(b, 0, 4);
		put(b, end, 8);
		put(b, 1, 4);
	}
	put(b, 0x06054b50, 4);
	put(b, 0, 4);
	put(b, zip64 ? UINT16_MAX : (uint64_t)n, 2);
	put(b, zip64 ? UINT16_MAX : (uint64_t)n, 2);
	put(b, zip64 ? UINT32_MAX : end - directory, 4);
	put(b, zip64 ? UINT32_MAX : directory, 4);
	put(b, 2, 2);
	put_bytes(b, "hi", 2);
	return b;
}

/* A member that holds `x`, stored or deflated. */
static Made member(Fixture *t, const char *name, const Tensor *x, bool deflated)
{
	assert_true(npy_write(t->arena, &t->diag, path_of(t, "m.npy"), x));
	Bytes b = file_map(t->arena, &t->diag, (Loc){ 0 }, path_of(t, "m.npy"));
	Made m = { .name = name, .data = b.data, .size = b.size, .unpacked = b.size };
	m.crc = (uint32_t)crc32(0, (const Bytef *)b.data, (uInt)b.size);
	if (deflated) {
		char *out = arena_alloc(t->arena, 4096);
		z_stream s = { .next_in = (Bytef *)(uintptr_t)b.data, .avail_in = (uInt)b.size,
			       .next_out = (Bytef *)out, .avail_out = 4096 };
		assert_int_equal(deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 8, 0), Z_OK);
		assert_int_equal(deflate(&s, Z_FINISH), Z_STREAM_END);
		m.data = out;
		m.size = s.total_out;
		m.method = 8;
		deflateEnd(&s);
	}
	return m;
}

static WeightFile *parse(Fixture *t, const Buf *b)
{
	/* Exactly as long as the archive, so that a byte too far is seen. */
	char *exact = malloc(b->size);
	memcpy(exact, b->data, b->size);
	arena_on_destroy(t->arena, free, exact);
	return npz_parse(t->arena, &t->diag, "w.npz", exact, b->size);
}

static void stored_and_deflated_members_are_read(void **state)
{
	Fixture *t = *state;
	Tensor *x = counting(t->arena, TYPE_F32, SHAPE(5, 20));
	Tensor *y = counting(t->arena, TYPE_I64, SHAPE(3));
	for (int zip64 = 0; zip64 < 2; zip64++) {
		Made members[] = { member(t, "layer/x.npy", x, false), member(t, "y.npy", y, true),
				   member(t, "z.npy", x, true) };
		members[0].zip64 = members[2].zip64 = zip64;
		WeightFile *w = parse(t, archive(t, members, 3, zip64));
		assert_string_equal(said(t), "");
		assert_int_equal(w->n, 3);
		assert_true(tensor_equal(weights_find(w, "layer/x"), x));
		assert_true(tensor_equal(weights_find(w, "y"), y));
		assert_true(tensor_equal(weights_find(w, "z"), x));
	}
}

static void an_archive_of_nothing_has_no_tensors(void **state)
{
	Fixture *t = *state;
	assert_int_equal(parse(t, archive(t, NULL, 0, false))->n, 0);
}

static void expect(Fixture *t, const Buf *b, const char *message)
{
	assert_null(parse(t, b));
	assert_string_equal(said(t), message);
}

static void lies_about_members_are_seen(void **state)
{
	Fixture *t = *state;
	Tensor *x = counting(t->arena, TYPE_F32, SHAPE(5, 20));
	Made stored = member(t, "x.npy", x, false), deflated = member(t, "x.npy", x, true), m;
	m = stored, m.flags = 1;
	expect(t, archive(t, &m, 1, false),
	       "w.npz: member 'x.npy': error: encrypted zip members are not supported\n");
	m = stored, m.method = 12;
	expect(t, archive(t, &m, 1, false), "w.npz: member 'x.npy': error: zip method 12 is not "
	       "supported, only stored and deflated\n");
	m = stored, m.unpacked = 9999;
	expect(t, archive(t, &m, 1, false),
	       "w.npz: member 'x.npy': error: stored 528 bytes cannot yield 9999\n");
	m = stored, m.size = m.unpacked = 100;
	expect(t, archive(t, &m, 1, false), "w.npz: member 'x.npy': error: truncated: the header "
	       "ends at byte 128, the file at 100\n");
	m = deflated, m.unpacked = 100000000;
	expect(t, archive(t, &m, 1, false), arena_printf(t->arena,
	       "w.npz: member 'x.npy': error: %zu deflated bytes cannot yield 100000000\n", m.size));
	m = deflated, m.unpacked++;
	expect(t, archive(t, &m, 1, false), "w.npz: member 'x.npy': error: deflated data is corrupt\n");
	m = deflated, m.unpacked -= 5;
	expect(t, archive(t, &m, 1, false), "w.npz: member 'x.npy': error: deflated data is corrupt\n");
	m = deflated, m.crc++;
	expect(t, archive(t, &m, 1, false),
	       "w.npz: member 'x.npy': error: checksum does not match the data\n");
	m = stored, m.name = "readme.txt";
	expect(t, archive(t, &m, 1, false), "w.npz: member 'readme.txt': error: not an array: its "
	       "name does not end in .npy\n");
	Made two[] = { stored, stored };
	expect(t, archive(t, two, 2, false),
	       "w.npz: member 'x.npy': error: there are two members of that name\n");
}

static void broken_archives_are_refused(void **state)
{
	Fixture *t = *state;
	Made m = member(t, "x.npy", counting(t->arena, TYPE_F32, SHAPE(5, 20)), false);
	Buf *good = archive(t, &m, 1, false), b;
	const size_t directory = good->size - 2 - 22 - 46 - 5;
	b = *good, b.size -= 1;
	expect(t, &b, "w.npz: error: not a whole zip archive: it has no end record\n");
	b = *good, b.data[directory]++;
	expect(t, &b, arena_printf(t->arena, "w.npz: error: zip directory is broken at byte %zu\n",
				   directory));
	b = *good, b.data[directory + 29] = 100; /* length of the name */
	expect(t, &b, arena_printf(t->arena, "w.npz: error: zip directory is broken at byte %zu\n",
				   directory));
	b = *good, b.data[directory + 42] = 3;
	expect(t, &b, "w.npz: member 'x.npy': error: there is no zip member at byte 3\n");
	b = *good, b.data[29] = 127; /* the extra field's length */
	expect(t, &b, "w.npz: member 'x.npy': error: truncated: 528 bytes at byte 32550 do not fit "
	       "the file\n");
	b = *good, b.data[good->size - 14] = 2; /* members */
	expect(t, &b, arena_printf(t->arena, "w.npz: error: zip directory of 2 members at byte %zu "
				   "does not fit the file\n", directory));
	b = *archive(t, &m, 1, true), b.data[good->size - 24 + 56 + 8]++;
	expect(t, &b, arena_printf(t->arena, "w.npz: error: zip64 end record is not at byte %zu\n",
				   good->size - 23));
	m.zip64 = true;
	b = *archive(t, &m, 1, false), b.data[directory + 46 + 5 + 5 + 2] = 8; /* too short */
	expect(t, &b, "w.npz: member 'x.npy': error: zip64 field is broken\n");
}

static void overlapping_members_are_refused(void **state)
{
	Fixture *t = *state;
	Tensor *x = counting(t->arena, TYPE_F32, SHAPE(200));
	Made m[] = { member(t, "x.npy", x, false), member(t, "y.npy", x, false) };
	Buf *b = arena_new(t->arena, Buf);
	put_local(b, &m[0]);
	m[1].at = m[0].at;
	const size_t directory = b->size;
	put_entry(b, &m[0]);
	put_entry(b, &m[1]);
	const size_t end = b->size;
	put(b, 0x06054b50, 4);
	put(b, 0, 4);
	put(b, 2, 2);
	put(b, 2, 2);
	put(b, end - directory, 4);
	put(b, directory, 4);
	put(b, 0, 2);
	expect(t, b, "w.npz: member 'y.npy': error: zip members overlap\n");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(stored_and_deflated_members_are_read),
		T(an_archive_of_nothing_has_no_tensors),
		T(lies_about_members_are_seen),
		T(broken_archives_are_refused),
		T(overlapping_members_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
