#include "frontend/cache.h"

#include <string.h>
#include <unistd.h>

#include "ir/sha256.h"

static const char magic[] = "tessera cache 1\n";

enum { MAGIC = sizeof magic - 1, WORD = 8, DIGITS = SHA256_HEX - 1, MOST_PARTS = 64 };

static uint64_t word_at(const char *p)
{
	uint64_t word = 0;
	for (int i = 0; i < WORD; i++)
		word |= (uint64_t)(unsigned char)p[i] << 8 * i;
	return word;
}

static void put_word(FILE *f, Sha256 *h, uint64_t word)
{
	char bytes[WORD];
	for (int i = 0; i < WORD; i++)
		bytes[i] = (char)(word >> 8 * i);
	sha256_add(h, bytes, sizeof bytes);
	fwrite(bytes, 1, sizeof bytes, f);
}

static bool is_whole(Bytes b)
{
	char hex[SHA256_HEX];
	Sha256 h;
	if (b.size < MAGIC + WORD + DIGITS || memcmp(b.data, magic, MAGIC) != 0)
		return false;
	sha256_init(&h);
	sha256_add(&h, b.data, b.size - DIGITS);
	sha256_finish(&h, hex);
	return memcmp(b.data + b.size - DIGITS, hex, DIGITS) == 0;
}

/* NULL: the sizes are not those of the file. */
static const Bytes *split(Arena *a, Bytes b, int *n)
{
	const uint64_t count = word_at(b.data + MAGIC);
	if (count > MOST_PARTS || b.size < MAGIC + WORD + count * WORD + DIGITS)
		return NULL;
	size_t at = MAGIC + WORD + (size_t)count * WORD, left = b.size - at - DIGITS;
	Bytes *parts = arena_array(a, Bytes, count);
	for (uint64_t i = 0; i < count; i++) {
		const uint64_t size = word_at(b.data + MAGIC + WORD + i * WORD);
		if (size > left)
			return NULL;
		parts[i] = (Bytes){ b.data + at, (size_t)size };
		at += (size_t)size;
		left -= (size_t)size;
	}
	*n = (int)count;
	return left ? NULL : parts;
}

const Bytes *cache_find(Arena *a, Diag *d, const char *dir, const char *key, int *n)
{
	const char *path = path_join(a, dir, key);
	TextFile unread;
	if (access(path, F_OK) != 0)
		return NULL;
	text_open(&unread);
	Diag quiet = { .to = unread.f };
	const Bytes b = file_map(a, &quiet, (Loc){ 0 }, path);
	text_take(&unread, a);
	const Bytes *parts = b.data && is_whole(b) ? split(a, b, n) : NULL;
	if (!parts)
		diag_warning(d, (Loc){ .file = path },
			     "this cache entry is damaged and not used; it is made again");
	return parts;
}

static void write_entry(FILE *f, const Bytes parts[], int n)
{
	char hex[SHA256_HEX];
	Sha256 h;
	sha256_init(&h);
	sha256_add(&h, magic, MAGIC);
	fwrite(magic, 1, MAGIC, f);
	put_word(f, &h, (uint64_t)n);
	for (int i = 0; i < n; i++)
		put_word(f, &h, parts[i].size);
	for (int i = 0; i < n; i++) {
		sha256_add(&h, parts[i].data, parts[i].size);
		fwrite(parts[i].data, 1, parts[i].size, f);
	}
	sha256_finish(&h, hex);
	fwrite(hex, 1, DIGITS, f);
}

void cache_keep(Arena *a, Diag *d, const char *dir, const char *key, const Bytes parts[], int n)
{
	OutFile out;
	TextFile said;
	text_open(&said);
	Diag quiet = { .to = said.f };
	if (make_folder(&quiet, dir) && out_open(&out, a, &quiet, path_join(a, dir, key))) {
		write_entry(out.f, parts, n);
		out_commit(&out, &quiet);
	}
	char *text = text_take(&said, a);
	text[strcspn(text, "\n")] = '\0';
	if (quiet.errors)
		diag_warning(d, (Loc){ 0 }, "the result is not kept in the cache: %s", text);
}
