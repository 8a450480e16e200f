/*
 * Our mirror of TT-Metal's public API against the real headers: every declaration of
 * the mirror is in the tree that TT_METAL_HOME names, in the same scope, with the same
 * types, defaults and values; fields of structures come in the same order. Without
 * TT_METAL_HOME there is nothing to compare with, and the test is skipped.
 *
 *     test_mirror DIR    the mirror, tests/metal
 *
 * Then each of a list of changes is made to the mirror, and has to be found.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ir/strmap.h"
#include "tests/metal/cpp_declarations.h"

enum { SKIPPED = 77 };

/* What stands where else, or is ours alone. */
static const char *const own[] = {
	"metal",
	"metal_emu",
	"metal_regs",
	"(private)",
};

/* Members that a class has from another. */
static const struct {
	const char *class, *from;
} bases[] = {
	{ "tt::tt_metal::distributed::MeshShape", "tt::tt_metal::ShapeBase" },
};

typedef struct Change {
	const char *file, *from, *to;
} Change;

static const Change changes[] = {
	{ "tt-metalium/host_api.hpp", "uint32_t initial_value", "uint64_t initial_value" },
	{ "tt-metalium/host_api.hpp", "CreateCircularBuffer(", "MakeCircularBuffer(" },
	{ "tt-metalium/kernel_types.hpp", "RISCV_1 = 1", "RISCV_1 = 2" },
	{ "tt-metalium/kernel_types.hpp", "max_runtime_args = 341", "max_runtime_args = 342" },
	{ "tt-metalium/kernel_types.hpp",
	  "bool fp32_dest_acc_en = false;\n\tbool dst_full_sync_en = false;",
	  "bool dst_full_sync_en = false;\n\tbool fp32_dest_acc_en = false;" },
	{ "tt-metalium/mesh_device.hpp", "size_t num_command_queues = 1",
	  "size_t num_command_queues = 2" },
	{ "tt-metalium/mesh_device.hpp", "class MeshDevice :", "class MeshDevices :" },
	{ "tt-metalium/buffer_types.hpp", "\tL1,\n", "" },
	{ "api/dataflow/dataflow_api.h", "uint32_t num_dests, bool = false",
	  "uint32_t num_dests, bool = true" },
	{ "internal/circular_buffer_interface.h", "uint32_t fifo_rd_ptr;\n\tuint32_t fifo_wr_ptr;",
	  "uint32_t fifo_wr_ptr;\n\tuint32_t fifo_rd_ptr;" },
	{ "api/dataflow/dataflow_api.h", "#define NOC_MULTICAST_WRITE_VC 4",
	  "#define NOC_MULTICAST_WRITE_VC 5" },
};

typedef struct Api {
	CppDeclarations all;
	StrMap places; /* scope | text: number + 1 of a declaration */
	StrMap macros;
} Api;

static const char *key(Arena *a, const char *scope, const char *text)
{
	return arena_printf(a, "%s | %s", scope, text);
}

static void add_text(Api *api, Arena *a, const char *source)
{
	CppTokens tokens = { 0 };
	const int before = api->all.n;

	cpp_tokens(&tokens, a, source);
	cpp_declarations(&api->all, a, &tokens);
	for (int i = before; i < api->all.n; i++)
		strmap_put(&api->places, key(a, api->all.list[i].scope, api->all.list[i].text),
			   (void *)(intptr_t)(i + 1));
	for (int i = 0; i < tokens.nmacros; i++)
		strmap_put(&api->macros, tokens.macros[i].name,
			   (void *)(intptr_t)tokens.macros[i].value);
}

static const char *read_file(Arena *a, const char *path)
{
	struct stat s;
	FILE *f = fopen(path, "r");

	if (!f || fstat(fileno(f), &s) != 0)
		return NULL;
	char *text = arena_alloc(a, (size_t)s.st_size + 1);
	const size_t n = fread(text, 1, (size_t)s.st_size, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static bool is_header(const char *name)
{
	const size_t n = strlen(name);

	return (n > 4 && strcmp(name + n - 4, ".hpp") == 0) ||
	       (n > 2 && strcmp(name + n - 2, ".h") == 0);
}

/* Every header below a folder. */
static void add_folder(Api *api, Arena *a, const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		const char *within = arena_printf(a, "%s/%s", path, e->d_name);
		struct stat s;

		if (e->d_name[0] == '.' || stat(within, &s) != 0)
			continue;
		if (S_ISDIR(s.st_mode) && strcmp(e->d_name, "blackhole") != 0 &&
		    strcmp(e->d_name, "tt-2xx") != 0)
			add_folder(api, a, within);
		else if (S_ISREG(s.st_mode) && is_header(e->d_name))
			add_text(api, a, read_file(a, within));
	}
	if (d)
		closedir(d);
}

static void api_init(Api *api, Arena *a)
{
	*api = (Api){ 0 };
	strmap_init(&api->places, a);
	strmap_init(&api->macros, a);
}

/* One of the names in a scope, whole. */
static bool is_own(const CppDeclaration *d)
{
	for (const char *at = d->scope; *at; at += strspn(at, ":")) {
		const size_t n = strcspn(at, ":");
		for (size_t i = 0; i < sizeof own / sizeof *own; i++)
			if (strlen(own[i]) == n && strncmp(at, own[i], n) == 0)
				return true;
		at += n;
	}
	return strstr(d->text, "metal_") || strstr(d->text, "Metal");
}

/* Number of the declaration in the real tree; -1 if it is not there. */
static int find(const Api *real, Arena *a, const CppDeclaration *d)
{
	void *at = strmap_get(&real->places, key(a, d->scope, d->text));

	for (size_t i = 0; !at && i < sizeof bases / sizeof *bases; i++)
		if (strcmp(bases[i].class, d->scope) == 0)
			at = strmap_get(&real->places, key(a, bases[i].from, d->text));
	return (int)(intptr_t)at - 1;
}

static bool is_umd(const char *file)
{
	return strncmp(file, "umd/", 4) == 0;
}

/* What one file of the mirror has that the tree has not, or in another order. */
static int compare(const Api *real, Arena *a, const char *name, const char *text, bool tell)
{
	CppTokens tokens = { 0 };
	CppDeclarations d = { 0 };
	int wrong = 0, before = -1;
	const char *scope = "";

	cpp_tokens(&tokens, a, text);
	cpp_declarations(&d, a, &tokens);
	for (int i = 0; i < d.n; i++) {
		if (is_own(&d.list[i]))
			continue;
		const int at = find(real, a, &d.list[i]);
		const bool later =
			!d.list[i].field || strcmp(scope, d.list[i].scope) != 0 || at > before;
		if (d.list[i].field) {
			before = at;
			scope = d.list[i].scope;
		}
		if (at >= 0 && later)
			continue;
		wrong++;
		if (tell)
			printf("%s: %s: %s | %s\n", name, at < 0 ? "not there" : "in another order",
			       d.list[i].scope, d.list[i].text);
	}
	for (int i = 0; i < tokens.nmacros; i++) {
		const CppMacro *m = &tokens.macros[i];
		const char *there = strmap_get(&real->macros, m->name);
		if (strncmp(m->name, "TESTS_", 6) == 0 || strncmp(m->value, "TT_", 3) == 0)
			continue;
		if (there &&
		    (!*m->value || strcmp(there, m->value) == 0 || strstr(m->value, "VA_ARGS")))
			continue;
		wrong++;
		if (tell)
			printf("%s: macro %s is %s, there %s\n", name, m->name, m->value,
			       there ? there : "is none");
	}
	return wrong;
}

typedef struct Count {
	int files, wrong, left_out;
} Count;

static void compare_folder(const Api *real, Arena *a, const char *root, const char *within,
			   bool umd, Count *c)
{
	DIR *d = opendir(arena_printf(a, "%s/%s", root, within));
	struct dirent *e;

	while (d && (e = readdir(d))) {
		const char *name =
			*within ? arena_printf(a, "%s/%s", within, e->d_name) : e->d_name;
		const char *path = arena_printf(a, "%s/%s", root, name);
		struct stat s;

		if (e->d_name[0] == '.' || stat(path, &s) != 0)
			continue;
		if (S_ISDIR(s.st_mode)) {
			compare_folder(real, a, root, name, umd, c);
		} else if (is_umd(name) && !umd) {
			c->left_out++;
		} else if (is_header(name)) {
			c->files++;
			c->wrong += compare(real, a, name, read_file(a, path), true);
		}
	}
	if (d)
		closedir(d);
}

/* The text with one change; NULL if it has no such place. */
static const char *changed(Arena *a, const char *text, const Change *c)
{
	const char *at = strstr(text, c->from);

	return at ? arena_printf(a, "%.*s%s%s", (int)(at - text), text, c->to, at + strlen(c->from))
		  : NULL;
}

/* What data movement and compute kernels share, but for one type. */
static int compare_args(const Api *real, Arena *a, const char *root)
{
	static const char *const types[] = { "uintptr_t", "uint32_t" };
	const char *text = read_file(a, arena_printf(a, "%s/kernel/args.h", root));
	int wrong = !text;

	for (size_t i = 0; text && i < sizeof types / sizeof *types; i++) {
		const Change c = { "", "MetalArgAddress", types[i] };
		const char *other = text;
		for (const char *next; (next = changed(a, other, &c));)
			other = next;
		wrong += compare(real, a, "kernel/args.h", other, true);
	}
	return wrong;
}

static int try_changes(const Api *real, Arena *a, const char *root)
{
	int missed = 0;

	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		const Change *c = &changes[i];
		const char *text = read_file(a, arena_printf(a, "%s/%s", root, c->file));
		const char *other = text ? changed(a, text, c) : NULL;

		if (!other || compare(real, a, c->file, other, false) == 0) {
			printf("%s: \"%s\" to \"%s\" %s\n", c->file, c->from, c->to,
			       other ? "is not noticed" : "cannot be made");
			missed++;
		}
	}
	return missed;
}

int main(int argc, char **argv)
{
	static const char *const folders[] = {
		"tt_metal/api/tt-metalium",
		"tt_metal/hostdevcommon/api",
		"tt_metal/hw/inc/api/dataflow",
		"tt_metal/hw/inc/api/compute",
		"tt_metal/hw/inc/internal",
		"tt_stl/tt_stl",
		"tt_metal/third_party/umd/device/api/umd/device/types",
	};
	const char *home = getenv("TT_METAL_HOME");
	Api real;
	Count c = { 0 };

	if (argc != 2 || !home || !*home) {
		puts("TT_METAL_HOME is not set, skipped");
		return SKIPPED;
	}
	Arena *a = arena_create();
	api_init(&real, a);
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		add_folder(&real, a, arena_printf(a, "%s/%s", home, folders[i]));
	const bool umd = strmap_get(&real.places, "tt::xy_pair | size_t x = 0");
	compare_folder(&real, a, arena_printf(a, "%s/include", argv[1]), "", umd, &c);
	c.wrong += compare_args(&real, a, argv[1]);
	const int missed = try_changes(&real, a, arena_printf(a, "%s/include", argv[1]));
	printf("%d declarations there; %d files of the mirror, %d declarations differ, %d files "
	       "not "
	       "compared; of %zu changes %d not noticed\n",
	       real.all.n, c.files, c.wrong, c.left_out, sizeof changes / sizeof *changes, missed);
	arena_destroy(a);
	return c.files == 0 || c.wrong || missed ? EXIT_FAILURE : EXIT_SUCCESS;
}
