/*
 * How large the device library is: lines of its source, bitcode of each RISC-V,
 * text of every variant of every routine.
 *
 *     library_size FOLDER     that of the source, runtime/device
 *
 * Fails if a variant is missing or empty.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/link.h"
#include "backend/object.h"
#include "backend/routines.h"
#include "backend/variants.h"
#include "runtime/device/library.h"

static long count_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	long lines = 0;
	if (!f)
		return 0;
	for (int c; (c = fgetc(f)) != EOF;)
		lines += c == '\n';
	fclose(f);
	return lines;
}

static bool is_source(const char *name)
{
	const char *end = strrchr(name, '.');
	return end && (strcmp(end, ".h") == 0 || strcmp(end, ".c") == 0 || strcmp(end, ".def") == 0);
}

static bool print_lines(Arena *a, const char *folder)
{
	DIR *d = opendir(folder);
	long lines = 0;
	int files = 0;
	if (!d)
		return false;
	for (const struct dirent *e; (e = readdir(d)) != NULL;)
		if (is_source(e->d_name)) {
			lines += count_lines(arena_printf(a, "%s/%s", folder, e->d_name));
			files++;
		}
	closedir(d);
	printf("source: %d files, %ld lines\n", files, lines);
	return lines > 0;
}

static uint32_t text_bytes(Arena *a, const Object *o, const char *variant)
{
	const char *name = arena_printf(a, LINK_ROUTINE "%s", variant);
	for (int i = 0; i < o->nsections; i++)
		if (strcmp(o->sections[i].name, name) == 0)
			return o->sections[i].size;
	return 0;
}

typedef struct Sizes {
	int variants;
	uint32_t least, most, sum;
} Sizes;

static void add(Sizes *s, uint32_t bytes)
{
	s->least = !s->variants || bytes < s->least ? bytes : s->least;
	s->most = bytes > s->most ? bytes : s->most;
	s->sum += bytes;
	s->variants++;
}

static void print_sizes(const char *risc, const char *routine, const Sizes *s)
{
	printf("%-7s %-18s %4d variants %6u to %6u bytes, %8u in all\n", risc, routine, s->variants,
	       s->least, s->most, s->sum);
}

/* Every variant, then a line for each routine. */
static bool print_risc(Arena *a, Diag *d, TtRisc risc)
{
	const ProgramVariant **list;
	const int n = variants_all(a, risc, &list);
	Object o;
	Sizes all = { 0 };
	bool ok = object_read(&o, a, d, risc_spellings[risc],
			      (Bytes){ precompiled[risc].text, precompiled[risc].size });
	printf("\n%s: %zu bytes of bitcode\n", risc_spellings[risc], device_library[risc].size);
	for (int i = 0; ok && i < n;) {
		const int routine = list[i]->routine;
		Sizes s = { 0 };
		for (; i < n && list[i]->routine == routine; i++) {
			const char *name = variant_symbol(a, list[i]);
			const uint32_t bytes = text_bytes(a, &o, name);
			printf("        %-32s %6u\n", name, bytes);
			ok &= bytes > 0;
			add(&s, bytes);
			add(&all, bytes);
		}
		print_sizes(risc_spellings[risc], routine_at(routine)->name, &s);
	}
	print_sizes(risc_spellings[risc], "all", &all);
	return ok;
}

int main(int argc, char **argv)
{
	Arena *a = arena_create();
	Diag d = { .to = stderr };
	bool ok = argc == 2 && print_lines(a, argv[1]);
	for (int risc = 0; ok && risc < TT_RISCS; risc++)
		ok = print_risc(a, &d, (TtRisc)risc);
	diag_finish(&d);
	arena_destroy(a);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
