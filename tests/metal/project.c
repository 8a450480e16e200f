#include "tests/metal/project.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/metal.h"
#include "ir/rng.h"

extern char **environ;

enum { MOST_WORDS = 64, MOST_TENSORS = 16 };

static ProjectCounts counts;

ProjectCounts project_counts(void)
{
	return counts;
}

/* Words of a command line, and whether it went well; what it says is kept in a file. */
typedef struct Command {
	char *word[MOST_WORDS + 1];
	int n;
} Command;

static void add(Command *c, const char *word)
{
	if (c->n < MOST_WORDS)
		c->word[c->n++] = (char *)(uintptr_t)word;
}

/* One by one, as they stand between blanks. */
static void add_words(Command *c, Arena *a, const char *words)
{
	while (words && *(words += strspn(words, " "))) {
		const size_t n = strcspn(words, " ");
		add(c, arena_strndup(a, words, n));
		words += n;
	}
}

static bool run(Command *c, const char *said)
{
	posix_spawn_file_actions_t files;
	pid_t child;
	int status = 0;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 2, said, 01101, 0644); /* write, create, empty */
	posix_spawn_file_actions_adddup2(&files, 2, 1);
	const int failed = posix_spawnp(&child, c->word[0], &files, NULL, c->word, environ);
	posix_spawn_file_actions_destroy(&files);
	if (failed) {
		printf("%s: %s\n", c->word[0], strerror(failed));
		return false;
	}
	waitpid(child, &status, 0);
	return status == 0;
}

static void show(const char *path)
{
	char line[4096];
	FILE *f = fopen(path, "r");

	for (int i = 0; f && i < 30 && fgets(line, sizeof line, f); i++)
		fputs(line, stdout);
	if (f)
		fclose(f);
}

static bool write_file(const char *path, const void *from, size_t n)
{
	FILE *f = fopen(path, "wb");
	const bool ok = f && fwrite(from, 1, n, f) == n;

	if (f)
		fclose(f);
	return ok;
}

/* With all folders on the way. */
static bool write_below(Arena *a, const char *folder, const MetalFile *m)
{
	const char *path = arena_printf(a, "%s/%s", folder, m->path);

	for (const char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/'))
		if (mkdir(arena_strndup(a, path, (size_t)(at - path)), 0777) != 0 &&
		    errno != EEXIST)
			return false;
	return write_file(path, m->bytes.data, m->bytes.size);
}

static void fill(uint8_t *to, const TesseraTensor *t, Rng *r)
{
	const size_t size = t->type == TESSERA_F32 ? 4 : t->type == TESSERA_U8 ? 1 : 2;

	for (size_t i = 0; i < t->bytes / size; i++) {
		const float value = (float)((int)rng_below(r, 511) - 255) / 64;
		uint32_t bits;
		memcpy(&bits, &value, sizeof bits);
		if (t->type == TESSERA_BF16)
			bits >>= 16;
		else if (t->type == TESSERA_F16)
			bits = 0x2c00 + (uint32_t)rng_below(r, 0x1000);
		else if (t->type == TESSERA_U8)
			bits = (uint32_t)rng_below(r, 256);
		memcpy(to + i * size, &bits, size);
	}
}

typedef struct Tensors {
	TesseraTensor list[MOST_TENSORS];
	size_t n, bytes; /* of all together */
} Tensors;

static Tensors tensors_of(const Network *n, bool output)
{
	Tensors t = { .n = output ? tessera_output_count(n->opened)
				  : tessera_input_count(n->opened) };

	for (size_t i = 0; i < t.n && i < MOST_TENSORS; i++) {
		t.list[i] = output ? tessera_output(n->opened, i) : tessera_input(n->opened, i);
		t.bytes += t.list[i].bytes;
	}
	return t;
}

/* What is there of tensor i, for device d of several: in the project's order, where a
 * tensor of all devices is one, devices one behind the other. */
static size_t place(const Tensors *t, size_t i, int d, int devices)
{
	size_t at = 0;

	for (size_t k = 0; k < i; k++)
		at += t->list[k].bytes * (size_t)devices;
	return at + t->list[i].bytes * (size_t)d;
}

/* The package on the emulator, one run of one device after the other. */
static bool run_directly(const Network *n, uint8_t *in, uint8_t *out, int runs, int devices)
{
	const Tensors from = tensors_of(n, false), to = tensors_of(n, true);
	TesseraArray x[MOST_TENSORS], y[MOST_TENSORS];
	TesseraError e = { 0 };
	TesseraDevice *d = tessera_device_open("emu", &e);
	TesseraProgram *p = d ? tessera_load(d, n->opened, &e) : NULL;
	bool ok = p;

	for (int k = 0; ok && k < runs * devices; k++) {
		uint8_t *here = in + from.bytes * (size_t)(k / devices * devices);
		uint8_t *there = out + to.bytes * (size_t)(k / devices * devices);
		for (size_t i = 0; i < from.n; i++)
			x[i] = tessera_array(&from.list[i],
					     here + place(&from, i, k % devices, devices));
		for (size_t i = 0; i < to.n; i++)
			y[i] = tessera_array(&to.list[i],
					     there + place(&to, i, k % devices, devices));
		ok = tessera_run(p, x, from.n, y, to.n, &e);
	}
	if (!ok)
		printf("the package: %s\n%s", e.text, e.detail);
	tessera_unload(p);
	tessera_device_close(d);
	return ok;
}

static bool emit(MetalProject *m, const Network *n, Arena *a, const char *folder)
{
	const MetalOptions options = { .rows = 1, .cols = 1, .compiler = "test" };

	if (!emit_metal(m, a, n->g->diag, n->program, n->plan, n->target, &options))
		return false;
	for (int i = 0; i < m->nfiles; i++)
		if (!write_below(a, folder, &m->file[i])) {
			printf("%s/%s cannot be written\n", folder, m->file[i].path);
			return false;
		}
	counts.projects++;
	counts.kernels += m->kernels;
	counts.programs += m->programs;
	return true;
}

/* NAME.so; with `whole` it has the host runtime of the project in itself. */
static bool build(const MetalProject *m, Arena *a, const char *folder, bool whole)
{
	const char *said = arena_printf(a, "%s/said", folder);
	Command c = { 0 };

	add_words(&c, a, METAL_CXX);
	add_words(&c, a,
		  "-std=c++20 -O0 -shared -fPIC -Wall -Wextra -Werror "
		  "-Werror=deprecated-declarations");
	add(&c, arena_printf(a, "-D%s_network=test_network", m->name));
	add(&c, arena_printf(a, "-I%s", folder));
	add(&c, arena_printf(a, "-I%s/tessera", folder));
	add(&c, arena_printf(a, "-I%s/kernels", folder));
	add(&c, "-isystem");
	add(&c, METAL_MIRROR);
	add(&c, arena_printf(a, "%s/%s.cpp", folder, m->name));
	for (int i = 0; whole && i < m->nfiles; i++)
		if (strncmp(m->file[i].path, "tessera/", 8) == 0 && strstr(m->file[i].path, ".cpp"))
			add(&c, arena_printf(a, "%s/%s", folder, m->file[i].path));
	add(&c, "-o");
	add(&c, arena_printf(a, "%s/net.so", folder));
	if (run(&c, said))
		return true;
	show(said);
	return false;
}

/* Against TT-Metal's own headers, if it is known where they are (real_headers.sh). */
static bool parse_real(Arena *a, const char *folder)
{
	const char *said = arena_printf(a, "%s/said", folder), *tree = getenv("TT_METAL_HOME");
	Command c = { 0 };

	if (!tree || !*tree)
		return true;
	add(&c, "sh");
	add(&c, METAL_REAL_HEADERS);
	add(&c, METAL_CLANG);
	add(&c, METAL_CXX);
	add(&c, METAL_PROJECTS "/parsed");
	add(&c, folder);
	const bool ok = run(&c, said);
	counts.parsed += ok;
	if (!ok)
		show(said);
	return ok;
}

static bool drive(Arena *a, const char *folder, int runs, const char *options)
{
	const char *said = arena_printf(a, "%s/said", folder);
	Command c = { 0 };

	add(&c, METAL_DRIVE);
	add(&c, arena_printf(a, "%s/net.so", folder));
	add(&c, folder);
	add(&c, arena_printf(a, "%s/in", folder));
	add(&c, arena_printf(a, "%s/out", folder));
	add(&c, arena_printf(a, "%d", runs));
	add_words(&c, a, options);
	if (run(&c, said))
		return true;
	show(said);
	return false;
}

/* Once, or all twice. */
static bool compare(Arena *a, const char *folder, const uint8_t *want, size_t n)
{
	const char *path = arena_printf(a, "%s/out", folder);
	FILE *f = fopen(path, "rb");
	size_t at = 0;

	for (int c; f && (c = getc(f)) != EOF; at++)
		if (c != want[at % n]) {
			printf("byte %zu of %zu is 0x%02x, wanted 0x%02x\n", at, n, (unsigned)c,
			       want[at % n]);
			fclose(f);
			return false;
		}
	if (f)
		fclose(f);
	if (at == n || at == 2 * n)
		return true;
	printf("%zu bytes of outputs, wanted %zu\n", at, n);
	return false;
}

static void remove_folder(const char *folder)
{
	Command c = { 0 };

	add(&c, "rm");
	add(&c, "-rf");
	add(&c, folder);
	run(&c, "/dev/null");
}

static bool same_in(const Network *n, const char *folder, uint64_t seed, const ProjectTest *test)
{
	const int runs = test->runs ? test->runs : 1, devices = test->devices ? test->devices : 1;
	const Tensors from = tensors_of(n, false), to = tensors_of(n, true);
	const size_t times = (size_t)(runs * devices);
	uint8_t *in = xmalloc(from.bytes * times), *out = xmalloc(to.bytes * times);
	Arena *a = n->g->arena;
	Rng rng = { rng_next(&(Rng){ seed + 1 }) };
	MetalProject m;

	for (int r = 0; r < runs; r++)
		for (size_t i = 0; i < from.n; i++) {
			TesseraTensor all = from.list[i];
			all.bytes *= (size_t)devices;
			fill(in + from.bytes * (size_t)(r * devices) + place(&from, i, 0, devices),
			     &all, &rng);
		}
	const bool ok = run_directly(n, in, out, runs, devices) && emit(&m, n, a, folder) &&
			write_file(arena_printf(a, "%s/in", folder), in, from.bytes * times) &&
			build(&m, a, folder, test->whole) && parse_real(a, folder) &&
			drive(a, folder, runs, test->options) &&
			compare(a, folder, out, to.bytes * times);
	counts.runs += ok ? runs : 0;
	free(in);
	free(out);
	return ok;
}

bool project_same(const Network *n, const char *name, uint64_t seed, const ProjectTest *test)
{
	const ProjectTest plain = { 0 };
	const char *folder =
		arena_printf(n->g->arena, "%s/%s.%d", METAL_PROJECTS, name, (int)getpid());

	for (char *c = (char *)(uintptr_t)folder + strlen(METAL_PROJECTS) + 1; *c; c++)
		if (strchr(" /:%", *c))
			*c = '_';
	remove_folder(folder);
	const bool ok = same_in(n, folder, seed, test ? test : &plain);
	if (ok)
		remove_folder(folder);
	else
		printf("%s: the project is in %s\n", name, folder);
	return ok;
}
