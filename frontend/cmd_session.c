#include "frontend/cmd_session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "frontend/weights.h"
#include "ir/clock.h"
#include "ir/file.h"

/* Where nothing else is printed on the way. */
static bool shows_progress(const Session *s)
{
	const Command c = s->opt->command;
	const char *term = getenv("TERM");
	if (term && strcmp(term, "dumb") == 0)
		return false;
	return (c == CMD_compile || c == CMD_run || c == CMD_verify) && isatty(STDERR_FILENO)
		&& !option_given(s->opt, OPT_TIMING) && !option_given(s->opt, OPT_DUMP_AFTER);
}

void session_progress(Session *s, const char *what)
{
	static const char erase[] = "\r\033[K";
	if (s->diag->erase)
		fputs(s->diag->erase, stderr);
	s->diag->erase = NULL;
	if (!what || !shows_progress(s))
		return;
	fprintf(stderr, "%s ...", what);
	s->diag->erase = erase;
}

void session_timing(const Session *s, const char *stage, double from)
{
	if (option_given(s->opt, OPT_TIMING))
		fprintf(stderr, "%-16s %9.3f ms\n", stage, 1e3 * (clock_now() - from));
}

void session_end(Session *s)
{
	struct rusage use;
	session_progress(s, NULL);
	if (!option_given(s->opt, OPT_TIMING) || getrusage(RUSAGE_SELF, &use) != 0)
		return;
	session_timing(s, "total", s->start);
	fprintf(stderr, "%-16s %9.1f MB\n", "peak memory", (double)use.ru_maxrss / 1024);
}

static void unknown_pass(Session *s, OptionId option, const char *name)
{
	const char *names[PASS_COUNT];
	for (int i = 0; i < PASS_COUNT; i++)
		names[i] = pass_info[i].name;
	usage_error(s->diag, "'%s': no pass '%s'", option_spelling(option), name);
	usage_hint(s->diag, name, names, PASS_COUNT, "'tessera help passes' lists them");
}

/* A,B,C */
static void parse_passes(Session *s, const char *list)
{
	s->passes = arena_array(s->arena, PassId, strlen(list) + 1);
	while (*list) {
		const size_t n = strcspn(list, ",");
		const char *name = arena_strndup(s->arena, list, n);
		const PassId id = pass_by_name(name);
		if (id == PASS_COUNT)
			unknown_pass(s, OPT_PASSES, name);
		else
			s->passes[s->npasses++] = id;
		list += n + (list[n] == ',');
	}
}

/* The position of the pass an option names: its first run, or the one of that
 * number if it is spelt as dumps are named, 05_canonicalize. -1, reported. */
static int find_pass(Session *s, OptionId option, const char *text)
{
	char *name;
	const long number = strtol(text, &name, 10);
	const bool numbered = option != OPT_DUMP_AFTER && name > text && *name == '_';
	name = numbered ? name + 1 : (char *)(uintptr_t)text;
	const PassId id = pass_by_name(name);
	if (id == PASS_COUNT) {
		unknown_pass(s, option, name);
		return -1;
	}
	for (int i = 0; i < s->npasses; i++)
		if (s->passes[i] == id && (!numbered || number == i + 1))
			return i;
	usage_error(s->diag, "'%s': pass '%s' is not among those to run", option_spelling(option), text);
	return -1;
}

/* What --passes, --start-from and --stop-after leave. */
static void select_passes(Session *s)
{
	const char *list = option_text(s->opt, OPT_PASSES);
	const char *from = option_text(s->opt, OPT_START_FROM);
	const char *to = option_text(s->opt, OPT_STOP_AFTER);
	const char *dump = option_text(s->opt, OPT_DUMP_AFTER);
	if (list) {
		parse_passes(s, list);
	} else if (s->opt->command != CMD_convert) {
		s->npasses = pass_pipeline_length;
		s->passes = arena_array(s->arena, PassId, s->npasses);
		memcpy(s->passes, pass_pipeline, (size_t)s->npasses * sizeof *s->passes);
	}
	if (dump && strcmp(dump, "all") != 0)
		find_pass(s, OPT_DUMP_AFTER, dump);
	const int first = from ? find_pass(s, OPT_START_FROM, from) : 0;
	const int last = to ? find_pass(s, OPT_STOP_AFTER, to) : s->npasses - 1;
	if (s->diag->errors)
		return;
	if (from && to && last < first)
		usage_error(s->diag, "'--stop-after': pass '%s' runs before '%s'", to, from);
	s->first = first;
	if (first)
		s->passes += first;
	s->npasses = last + 1 - first;
}

/* Of activations or weights; unset if nothing is said. */
static DevTypes read_dtype(Session *s, OptionId id)
{
	const char *text = option_text(s->opt, id);
	if (!text)
		return DEV_UNSET;
	for (int i = 0; i < DEV_TYPE_COUNT; i++)
		if (strcmp(text, dev_type_names[i]) == 0)
			return (DevTypes)(1 << i);
	usage_error(s->diag, "'%s': no type '%s', only bf16, bfp8_b and f32", option_spelling(id),
		    text);
	return DEV_UNSET;
}

enum ExitCode session_begin(Session *s, Arena *a, Diag *d, const Options *o)
{
	*s = (Session){ .arena = a, .diag = d, .opt = o, .start = clock_now() };
	strmap_init(&s->dumped, a);
	select_passes(s);
	s->act_dtype = read_dtype(s, OPT_ACT_DTYPE);
	s->weight_dtype = read_dtype(s, OPT_WEIGHT_DTYPE);
	if (!session_depfile_asked(s) || d->errors)
		return EXIT_USAGE;
	return inputs_read(&s->inputs, a, d, o);
}

const Target *session_target(Session *s)
{
	const char *name = option_text(s->opt, OPT_TARGET);
	return target_load(s->arena, s->diag, name ? name : TARGET_DEFAULT);
}

Graph *session_read(Session *s)
{
	const double from = clock_now();
	const bool runs = s->opt->command == CMD_run || s->opt->command == CMD_verify;
	if (runs && session_is_package(s))
		return session_open_package(s);
	session_progress(s, "reading the model");
	Graph *g = model_read(s->arena, s->diag, s->opt->model, &s->inputs.model);
	if (g) {
		g->all_stored = s->act_dtype;
		g->all_weights = s->weight_dtype;
	}
	session_timing(s, "read", from);
	return g;
}

/* Keeps each constant a dump refers to as weights/HASH.safetensors beside it:
 * passes may change weights in place, so they are written while they are. */
static void keep_weights(void *context, const Graph *g)
{
	Session *s = context;
	const char *dir = path_join(g->arena, option_text(s->opt, OPT_DUMP_DIR), g->weights_file);
	for_each_op(op, g) {
		const Tensor *t = op_value(op);
		if (!t || tensor_count(t) <= PRINT_INLINE)
			continue;
		const char *name = weights_hash_name(g->arena, t);
		if (strmap_get(&s->dumped, name))
			continue;
		strmap_put(&s->dumped, name, s);
		const char *file = arena_printf(g->arena, "%s/%s.safetensors", dir, name);
		if (!make_folder(g->diag, dir) ||
		    !safetensors_write(g->arena, g->diag, file, 1, &name, &t))
			return;
	}
}

bool session_passes(Session *s, Graph *g)
{
	if (s->package)
		return true;
	const double from = clock_now();
	const char *named = g->weights_file;
	session_progress(s, "running the passes");
	const PassOptions opt = {
		.dump_after = option_text(s->opt, OPT_DUMP_AFTER),
		.dump_dir = option_text(s->opt, OPT_DUMP_DIR),
		.dump_to = stderr,
		.first = s->first,
		.timing = option_given(s->opt, OPT_TIMING) ? stderr : NULL,
		.keep = keep_weights,
		.context = s,
	};
	if (opt.dump_dir)
		g->weights_file = "weights";
	const bool ok = passes_run(g, s->passes, s->npasses, &opt) && !s->diag->errors;
	g->weights_file = named;
	session_timing(s, "passes", from);
	return ok;
}

Graph *session_compile(Session *s)
{
	Graph *g = session_read(s);
	return g && session_passes(s, g) ? g : NULL;
}
