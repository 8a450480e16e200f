/*
 * tessera help: a topic, a command, or what both are.
 *
 *     tessera help pins
 *     tessera help compile          the same as tessera compile --help
 *     tessera help --as=man         the man page; bash or zsh: a completion to source
 */
#include "frontend/cmd_help.h"

#include <string.h>

#include "frontend/cmd_session.h"
#include "ir/choice.h"

const TopicInfo topic_info[TOPIC_COUNT] = {
#define TOPIC(name, summary, text) [TOPIC_##name] = { #name, summary, text },
#include "frontend/topics.def"
};

static void exit_rows(FILE *f, TopicRow *row)
{
#define EXIT(name, number, what) row(f, #number, what);
#include "ir/exits.def"
}

static void pass_rows(FILE *f, TopicRow *row)
{
	for (int i = 0; i < PASS_COUNT; i++)
		row(f, pass_info[i].name, pass_info[i].summary);
}

static void field_rows(FILE *f, TopicRow *row)
{
#define CHOICE(field, kind, key, who, what) row(f, key, what);
#include "ir/choices.def"
}

static void target_rows(FILE *f, TopicRow *row)
{
	for (int i = 0; target_name(i); i++)
		row(f, target_name(i), strcmp(target_name(i), TARGET_DEFAULT) == 0 ? "the default" : "");
}

static void pressure_rows(FILE *f, TopicRow *row)
{
#define RISING(id, name, medium, high, what) \
	row(f, name, what "; medium from " #medium " on, high from " #high " on");
#define FALLING(id, name, medium, high, what) \
	row(f, name, what "; low above " #medium ", high below " #high);
#include "passes/pressure_levels.def"
#define WORKLOAD(id, most, name, advice) row(f, name, advice);
#include "passes/workloads.def"
}

void topic_rows(TopicId id, FILE *f, TopicRow *row)
{
	static void (*const lists[TOPIC_COUNT])(FILE *, TopicRow *) = {
		[TOPIC_exit] = exit_rows, [TOPIC_passes] = pass_rows, [TOPIC_plans] = field_rows,
		[TOPIC_pressure] = pressure_rows, [TOPIC_targets] = target_rows,
	};
	if (lists[id])
		lists[id](f, row);
}

/* Long ones go on below themselves. */
static void print_row(FILE *f, const char *word, const char *what)
{
	enum { INDENT = 20, WIDEST = 79 };
	fprintf(f, "    %-*s", *what ? INDENT - 4 : 0, word);
	for (int column = INDENT; *what;) {
		const int n = (int)strcspn(what, " ");
		if (column == INDENT)
			column += fprintf(f, "%.*s", n, what);
		else if (column + 1 + n <= WIDEST)
			column += fprintf(f, " %.*s", n, what);
		else
			column = fprintf(f, "\n%*s%.*s", INDENT, "", n, what) - 1;
		what += n + (what[n] == ' ');
	}
	fputc('\n', f);
}

void help_print(Command c, FILE *f)
{
	options_help(c, f);
	if (c != CMD_opt)
		return;
	fputs("\npasses:\n", f);
	pass_rows(f, print_row);
}

static void print_topic(const TopicInfo *t, FILE *f)
{
	fprintf(f, "%s: %s\n\n%s", t->name, t->summary, t->text);
	topic_rows((TopicId)(t - topic_info), f, print_row);
}

static enum ExitCode print_as(Session *s, const char *what)
{
	static const struct {
		const char *name;
		void (*print)(FILE *f);
	} forms[] = {
		{ "man", manual_print }, { "bash", completion_bash }, { "zsh", completion_zsh },
	};
	if (s->opt->model)
		usage_error(s->diag, "'--as=%s' is about everything; leave '%s' out", what,
			    s->opt->model);
	for (int i = 0; i < 3 && !s->diag->errors; i++)
		if (strcmp(forms[i].name, what) == 0) {
			forms[i].print(stdout);
			return EXIT_OK;
		}
	if (!s->diag->errors)
		usage_error(s->diag, "'--as' wants man, bash or zsh, not '%s'", what);
	return EXIT_USAGE;
}

enum ExitCode cmd_help(Session *s)
{
	const char *what = s->opt->model, *names[TOPIC_COUNT + COMMAND_COUNT];
	if (option_given(s->opt, OPT_AS))
		return print_as(s, option_text(s->opt, OPT_AS));
	if (!what) {
		help_print(COMMAND_COUNT, stdout);
		return EXIT_OK;
	}
	for (int i = 0; i < TOPIC_COUNT; i++) {
		names[i] = topic_info[i].name;
		if (strcmp(what, names[i]) != 0)
			continue;
		print_topic(&topic_info[i], stdout);
		return EXIT_OK;
	}
	for (int c = 0; c < COMMAND_COUNT; c++) {
		names[TOPIC_COUNT + c] = command_info[c].name;
		if (strcmp(what, command_info[c].name) != 0)
			continue;
		help_print((Command)c, stdout);
		return EXIT_OK;
	}
	usage_error(s->diag, "no topic or command '%s'; 'tessera --help' lists both", what);
	const char *near = diag_nearest(what, names, TOPIC_COUNT + COMMAND_COUNT);
	if (near)
		diag_note(s->diag, (Loc){ .file = "tessera" }, "did you mean '%s'?", near);
	return EXIT_USAGE;
}
