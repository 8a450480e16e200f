#include "frontend/options.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define ON(name) (1u << CMD_##name)
#define EXECUTES (ON(run) | ON(verify) | ON(report))
#define PLANS (ON(compile) | ON(plan) | EXECUTES)
#define PRICES (PLANS | ON(score) | ON(diff) | ON(explain) | ON(calibrate))
#define READS (ON(opt) | ON(convert) | ON(check) | PRICES)
#define WRITES (ON(opt) | ON(convert) | ON(compile) | ON(plan) | ON(report) | ON(calibrate))
#define TARGETS (ON(check) | PRICES)
#define ALL ((1u << COMMAND_COUNT) - 1)

const OptionInfo option_info[OPTION_COUNT] = {
#define OPTION(id, spelling, kind, value, times, commands, help) \
	[OPT_##id] = { spelling, kind, value, times, commands, help },
#include "frontend/options.def"
};

const CommandInfo command_info[COMMAND_COUNT] = {
#define COMMAND(name, arguments, summary) [CMD_##name] = { #name, arguments, summary },
#include "frontend/commands.def"
};

static const Loc here = { .file = "tessera" };

void usage_error(Diag *d, const char *fmt, ...)
{
	char text[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	diag_error(d, here, "%s", text);
}

bool option_of(Command c, OptionId id)
{
	return c < COMMAND_COUNT && (option_info[id].commands & 1u << c);
}

static bool takes_model(Command c)
{
	return ((READS | ON(info) | ON(help)) & 1u << c) != 0;
}

void usage_hint(Diag *d, const char *word, const char *const names[], size_t n,
		const char *otherwise)
{
	const char *near = diag_nearest(word, names, n);
	if (near)
		diag_note(d, here, "did you mean '%s'?", near);
	else
		diag_note(d, here, "%s", otherwise);
}

static Command find_command(Diag *d, const char *name)
{
	const char *names[COMMAND_COUNT];
	for (int c = 0; c < COMMAND_COUNT; c++) {
		names[c] = command_info[c].name;
		if (strcmp(name, names[c]) == 0)
			return (Command)c;
	}
	usage_error(d, "no command '%s'", name);
	usage_hint(d, name, names, COMMAND_COUNT, "'tessera --help' lists them");
	return COMMAND_COUNT;
}

/* The option spelt by the first n characters of `arg`, whichever commands
 * have it, or OPTION_COUNT. */
static OptionId find_option(const char *arg, size_t n)
{
	int id = 0;
	while (id < OPTION_COUNT && (strlen(option_info[id].spelling) != n ||
				     memcmp(option_info[id].spelling, arg, n) != 0))
		id++;
	return (OptionId)id;
}

static void unknown_option(Arena *a, Diag *d, Command c, const char *arg, size_t n)
{
	const char *names[OPTION_COUNT], *word = arena_strndup(a, arg, n);
	size_t nnames = 0;
	for (int id = 0; id < OPTION_COUNT; id++)
		if (option_of(c, (OptionId)id) && option_info[id].spelling[1] == '-')
			names[nnames++] = option_info[id].spelling;
	usage_error(d, "'%s' has no option '%s'", command_info[c].name, word);
	const OptionId id = find_option(arg, n);
	if (id == OPTION_COUNT) {
		usage_hint(d, word, names, nnames, arena_printf(a, "'tessera %s --help' lists them",
								command_info[c].name));
		return;
	}
	const char *others = "";
	for (int k = 0; k < COMMAND_COUNT; k++)
		if (option_of((Command)k, id))
			others = arena_printf(a, "%s%s%s", others, *others ? ", " : "", command_info[k].name);
	diag_note(d, here, "'%s' is an option of %s", word, others);
}

static bool is_whole(const char *s)
{
	return *s && s[strspn(s, "0123456789")] == '\0';
}

static bool value_fits(OptionKind kind, const char *v)
{
	char *end;
	errno = 0;
	switch (kind) {
	case FLAG:
	case TEXT:
		return true;
	case NUMBER:
		return is_whole(v) && (strtoll(v, NULL, 10), errno == 0);
	case SEED:
		return is_whole(v) && (strtoull(v, NULL, 10), errno == 0);
	case REAL:
		break;
	}
	const double x = strtod(v, &end);
	return *v && !*end && errno == 0 && isfinite(x) && x >= 0;
}

static void add_value(Options *o, Arena *a, Diag *d, OptionId id, const char *value)
{
	static const char *const want[] = {
		[NUMBER] = "a whole number", [SEED] = "a whole number of 64 bits",
		[REAL] = "a number that is not negative",
	};
	const OptionInfo *info = &option_info[id];
	const int n = o->count[id];
	if (n && info->times == ONCE) {
		usage_error(d, "'%s' is given twice", info->spelling);
		return;
	}
	if (!value_fits(info->kind, value)) {
		usage_error(d, "'%s' wants %s, not '%s'", info->spelling, want[info->kind], value);
		return;
	}
	const char **grown = arena_array(a, const char *, n + 1);
	for (int i = 0; i < n; i++)
		grown[i] = o->values[id][i];
	grown[n] = value;
	o->values[id] = grown;
	o->count[id]++;
}

/* Takes the option argv[0] and its value; returns how many words that were. */
static int parse_option(Options *o, Arena *a, Diag *d, int argc, char **argv)
{
	const char *arg = strcmp(argv[0], "-h") == 0 ? option_info[OPT_HELP].spelling : argv[0];
	const char *equals = strchr(arg, '=');
	const size_t n = equals ? (size_t)(equals - arg) : strlen(arg);
	const OptionId id = find_option(arg, n);
	const OptionInfo *info = &option_info[id];
	const bool flag = id == OPTION_COUNT || info->kind == FLAG;
	const bool next = !flag && !equals && argc > 1 && strncmp(argv[1], "--", 2) != 0;
	if (id == OPTION_COUNT || !option_of(o->command, id))
		unknown_option(a, d, o->command, arg, n);
	else if (flag && equals)
		usage_error(d, "'%s' takes no value", info->spelling);
	else if (!flag && !equals && !next)
		usage_error(d, "'%s' wants a value: %s %s", info->spelling, info->spelling, info->value);
	else
		add_value(o, a, d, id, flag ? "" : next ? argv[1] : equals + 1);
	return next ? 2 : 1;
}

static int files_behind(Command c) { return c == CMD_diff ? 2 : c == CMD_calibrate; }

static void parse_model(Options *o, Diag *d, const char *arg)
{
	if (!takes_model(o->command))
		usage_error(d, "'%s' takes no model: '%s'", command_info[o->command].name, arg);
	else if (!o->model)
		o->model = arg;
	else if (o->nbehind < files_behind(o->command))
		o->behind[o->nbehind++] = arg;
	else if (o->command == CMD_diff)
		usage_error(d, "two plan files only: '%s' is one more", arg);
	else if (o->command == CMD_calibrate)
		usage_error(d, "one table of measured times only: '%s' is one more", arg);
	else
		usage_error(d, "one model only: '%s' and '%s'", o->model, arg);
}

bool options_parse(Options *o, Arena *a, Diag *d, int argc, char **argv)
{
	const int errors = d->errors;
	*o = (Options){ .command = COMMAND_COUNT };
	if (argc < 2) {
		usage_error(d, "no command; 'tessera --help' lists them");
		return false;
	}
	o->help = strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0;
	o->version = strcmp(argv[1], "--version") == 0;
	if (o->help || o->version) {
		if (argc > 2)
			usage_error(d, "'%s' stands alone", argv[1]);
		return argc == 2;
	}
	o->command = find_command(d, argv[1]);
	if (o->command == COMMAND_COUNT)
		return false;
	bool options = true;
	for (int i = 2; i < argc;) {
		if (options && strcmp(argv[i], "--") == 0) {
			options = false;
			i++;
		} else if (options && argv[i][0] == '-' && argv[i][1]) {
			i += parse_option(o, a, d, argc - i, argv + i);
		} else {
			parse_model(o, d, argv[i++]);
		}
	}
	o->help = option_given(o, OPT_HELP);
	const bool reads = !o->help && !option_given(o, OPT_PRINT_TARGET) && o->command != CMD_help;
	if (reads && takes_model(o->command) && !o->model && d->errors == errors)
		usage_error(d, "'%s' wants a %s", command_info[o->command].name,
			    o->command == CMD_info ? "package" : "model");
	else if (reads && o->nbehind < files_behind(o->command) && d->errors == errors)
		usage_error(d, o->command == CMD_diff ? "'diff' wants two plan files behind the model"
			    : "'calibrate' wants the model and, behind it, its times: "
			      "tessera calibrate MODEL MEASURED.csv");
	return d->errors == errors;
}

const char *option_text(const Options *o, OptionId id)
{
	return o->count[id] ? o->values[id][0] : NULL;
}

int64_t option_number(const Options *o, OptionId id, int64_t otherwise)
{
	assert(option_info[id].kind == NUMBER);
	return o->count[id] ? strtoll(o->values[id][0], NULL, 10) : otherwise;
}

uint64_t option_seed(const Options *o, OptionId id, uint64_t otherwise)
{
	assert(option_info[id].kind == SEED);
	return o->count[id] ? strtoull(o->values[id][0], NULL, 10) : otherwise;
}

double option_real(const Options *o, OptionId id, double otherwise)
{
	assert(option_info[id].kind == REAL);
	return o->count[id] ? strtod(o->values[id][0], NULL) : otherwise;
}

const char *option_spelling(OptionId id)
{
	return option_info[id].spelling;
}

bool options_execute(Command c)
{
	return (EXECUTES & 1u << c) != 0;
}

/* "name, name, ...", in lines that begin and end as the text around them does. */
static void print_topics(FILE *f, int column)
{
	static const char *const names[] = {
#define TOPIC(name, ...) #name,
#include "frontend/topics.def"
	};
	enum { TOPICS = sizeof names / sizeof *names, WIDEST = 79 };
	for (int i = 0; i < TOPICS; i++) {
		if (column + 1 + (int)strlen(names[i]) + 1 > WIDEST)
			column = fprintf(f, "\n ") - 1;
		column += fprintf(f, " %s%s", names[i], i < TOPICS - 1 ? "," : ".\n");
	}
}

static void print_exits(FILE *f)
{
	static const char *const whats[] = {
#define EXIT(name, number, what) [number] = what,
#include "ir/exits.def"
	};
	enum { EXITS = sizeof whats / sizeof *whats };
	for (int i = 0; i < EXITS; i += 2)
		fprintf(f, "%-5s  %d  %-27s  %d  %s\n", i ? "" : "Exit:", i, whats[i], i + 1,
			whats[i + 1]);
}

static void program_help(FILE *f)
{
	fputs("usage: tessera COMMAND [MODEL] [OPTION...]\n\n", f);
	for (int c = 0; c < COMMAND_COUNT; c++)
		fprintf(f, "  %-9s %s\n", command_info[c].name, command_info[c].summary);
	fputs("\nMODEL is an .onnx file, an NNEF folder or graph.nnef in it, or IR text (.ir).\n", f);
	print_topics(f, fprintf(f, "Topics of `tessera help TOPIC`:"));
	print_exits(f);
}

void options_help(Command c, FILE *f)
{
	if (c == COMMAND_COUNT) {
		program_help(f);
		return;
	}
	const CommandInfo *info = &command_info[c];
	fprintf(f, "usage: tessera %s %s%s[OPTION...]\n", info->name, info->arguments,
		*info->arguments ? " " : "");
	fprintf(f, "%c%s.\n\n", info->summary[0] - 'a' + 'A', info->summary + 1);
	for (int id = 0; id < OPTION_COUNT; id++) {
		const OptionInfo *o = &option_info[id];
		if (!option_of(c, (OptionId)id))
			continue;
		int n = fprintf(f, "  %s%s%s", o->spelling, *o->value ? " " : "", o->value);
		fprintf(f, "%*s%s\n", n < 29 ? 30 - n : 1, "", o->help);
	}
}
