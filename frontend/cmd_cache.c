#include "frontend/cmd_cache.h"

#include <string.h>

#include "backend/llvm.h"
#include "frontend/cache.h"
#include "ir/clock.h"

/* The parts of an entry: these, and then names and files by turns. */
enum { PART_SAID, PART_SUMMARY, PART_FILES = PART_SUMMARY + FORMATS };

bool session_cache_asked(Session *s)
{
	static const OptionId dumps[] = { OPT_DUMP_AFTER, OPT_DUMP_DIR };
	if (!option_given(s->opt, OPT_CACHE_DIR))
		return true;
	const int errors = s->diag->errors;
	if (!option_given(s->opt, OPT_OUT))
		usage_error(s->diag, "'--cache-dir' wants -o: what it keeps are files");
	for (int i = 0; i < 2; i++)
		if (option_given(s->opt, dumps[i]))
			usage_error(s->diag, "'%s' wants passes to run, and with --cache-dir they may "
				    "not; leave one of them out", option_spelling(dumps[i]));
	return s->diag->errors == errors;
}

/* What is only about where results go, and in which of the forms that are kept. */
static bool is_about_where(OptionId id)
{
	return id == OPT_OUT || id == OPT_DEPFILE || id == OPT_DEPFILE_PATH || id == OPT_CACHE_DIR
		|| id == OPT_TIMING || id == OPT_SUMMARY || id == OPT_FORMAT;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static void add_options(Session *s, Sha256 *h)
{
	sha256_add_text(h, s->opt->model);
	sha256_add_text(h, name_of(option_text(s->opt, OPT_OUT)));
	for (int id = 0; id < OPTION_COUNT; id++)
		for (int i = 0; i < s->opt->count[id] && !is_about_where((OptionId)id); i++) {
			sha256_add_text(h, option_spelling((OptionId)id));
			sha256_add_text(h, s->opt->values[id][i]);
		}
}

static void add_tensor(Sha256 *h, const Tensor *t)
{
	const int64_t bytes = t->splat ? (int64_t)type_info[t->dtype].bytes : tensor_bytes(t);
	char type[TYPE_TEXT];
	sha256_add_text(h, type_text(type, t->dtype, t->shape));
	sha256_add_text(h, !t->data ? "elided" : t->splat ? "splat" : "");
	if (t->data)
		sha256_add(h, t->data, (size_t)bytes);
	else
		sha256_add(h, &t->hash, sizeof t->hash);
}

/* The text has every attribute and hint; messages and packages also say where an op is in
 * the model. */
static void add_graph(Session *s, Sha256 *h, const Graph *g)
{
	TextFile t;
	text_open(&t);
	graph_print(g, t.f);
	sha256_add_text(h, text_take(&t, s->arena));
	sha256_add_text(h, g->name);
	for_each_op(op, g) {
		sha256_add_text(h, op->loc.file ? op->loc.file : "");
		sha256_add_text(h, op->loc.node ? op->loc.node : "");
		sha256_add(h, &op->loc.line, sizeof op->loc.line);
		sha256_add(h, &op->loc.col, sizeof op->loc.col);
		if (op_value(op))
			add_tensor(h, op_value(op));
	}
}

static enum ExitCode add_request(Session *s, Sha256 *h)
{
	Asked asked;
	TextFile t;
	const enum ExitCode code = session_asked(s, &asked);
	if (code != EXIT_OK)
		return code;
	text_open(&t);
	target_print(asked.target, t.f);
	sha256_add_text(h, text_take(&t, s->arena));
	sha256_add_text(h, asked.target->name);
	if (asked.request.file)
		sha256_add(h, asked.file.text, asked.file.size);
	for (int i = 0; i < s->inputs.ncalibrate; i++)
		add_tensor(h, s->inputs.calibrate[i].value);
	return EXIT_OK;
}

/* The program itself: its version stays the same while somebody works on it. */
static bool add_compiler(Session *s, Sha256 *h)
{
	Arena *a = arena_create(); /* for nothing that a depfile should name */
	const Bytes self = file_map(a, s->diag, (Loc){ .file = "tessera" }, "/proc/self/exe");
	if (self.data)
		sha256_add(h, self.data, self.size);
	sha256_add_text(h, TESSERA_VERSION);
	sha256_add_text(h, llvm_version(a));
	arena_destroy(a);
	return self.data;
}

enum ExitCode session_cache_begin(Session *s, Cache *c, const Graph *g)
{
	Sha256 h;
	*c = (Cache){ .dir = option_text(s->opt, OPT_CACHE_DIR) };
	if (!c->dir)
		return EXIT_OK;
	const double from = clock_now();
	sha256_init(&h);
	if (!make_folder(s->diag, c->dir) || !add_compiler(s, &h))
		return EXIT_MODEL;
	const enum ExitCode code = add_request(s, &h);
	if (code != EXIT_OK)
		return code;
	add_options(s, &h);
	add_graph(s, &h, g);
	sha256_finish(&h, c->key);
	text_open(&c->said);
	s->diag->copy = c->said.f;
	session_timing(s, "cache key", from);
	return EXIT_OK;
}

void session_cache_drop(Session *s, Cache *c)
{
	if (c->dir)
		text_take(&c->said, s->arena);
	s->diag->copy = NULL;
	c->dir = NULL;
}

static bool write_files(Session *s, const Bytes *parts, int n)
{
	const char *dir = path_dir(s->arena, option_text(s->opt, OPT_OUT));
	for (int i = PART_FILES; i + 1 < n; i += 2) {
		const char *name = arena_strndup(s->arena, parts[i].data, parts[i].size);
		const char *path = strcmp(dir, ".") == 0 ? name : path_join(s->arena, dir, name);
		if (!session_write_bytes(s, path, parts[i + 1])) {
			session_take_back(s);
			return false;
		}
	}
	return true;
}

bool session_cache_use(Session *s, Cache *c, enum ExitCode *code)
{
	if (!c->dir)
		return false;
	Arena *a = arena_create(); /* as long as the entry is mapped */
	const double from = clock_now();
	int n = 0;
	s->diag->copy = NULL;
	const Bytes *parts = cache_find(a, s->diag, c->dir, c->key, &n);
	s->diag->copy = c->said.f;
	if (!parts || n < PART_FILES) {
		arena_destroy(a);
		return false;
	}
	session_progress(s, NULL);
	fwrite(parts[PART_SAID].data, 1, parts[PART_SAID].size, stderr);
	*code = write_files(s, parts, n) ? EXIT_OK : EXIT_MODEL;
	const bool out = option_given(s->opt, OPT_FORMAT);
	FILE *f = session_summary_to(s, out);
	const Bytes summary = parts[PART_SUMMARY + (out ? session_format(s) : FORMAT_TEXT)];
	if (*code == EXIT_OK && f)
		fwrite(summary.data, 1, summary.size, f);
	session_timing(s, "cache hit", from);
	arena_destroy(a);
	session_cache_drop(s, c);
	return true;
}

static Bytes bytes_of(const char *text) { return (Bytes){ text, strlen(text) }; }

void session_cache_keep(Session *s, Cache *c, const Planned *p)
{
	if (!c->dir)
		return;
	Arena *a = arena_create(); /* what was written was not read */
	Bytes *parts = arena_array(a, Bytes, PART_FILES + 2 * s->nwritten);
	int n = PART_FILES;
	s->diag->copy = NULL;
	parts[PART_SAID] = bytes_of(text_take(&c->said, s->arena));
	for (int i = 0; i < FORMATS; i++) {
		TextFile t;
		text_open(&t);
		if (p->plan)
			report_summary(t.f, p, (Format)i);
		parts[PART_SUMMARY + i] = bytes_of(text_take(&t, a));
	}
	bool all = true;
	for (int i = 0; i < s->nwritten && all; i++) {
		parts[n++] = bytes_of(name_of(s->written[i]));
		parts[n] = file_map(a, s->diag, (Loc){ 0 }, s->written[i]);
		all = parts[n++].data;
	}
	if (all)
		cache_keep(a, s->diag, c->dir, c->key, parts, n);
	arena_destroy(a);
	c->dir = NULL;
}
