/* The man page, from the tables of commands, options, topics and exit codes. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "frontend/cmd_help.h"

/* A line of text: what roff would take for its own is escaped. */
static void print_text(FILE *f, const char *text, size_t n)
{
	if (n && (*text == '.' || *text == '\''))
		fputs("\\&", f);
	for (size_t i = 0; i < n; i++) {
		if (text[i] == '\\')
			fputs("\\e", f);
		else if (text[i] == '-')
			fputs("\\-", f);
		else if (text[i] == '\'')
			fputs("\\(aq", f);
		else if (text[i] == '`')
			fputs("\\(ga", f);
		else
			fputc(text[i], f);
	}
}

static void print_line(FILE *f, const char *text)
{
	print_text(f, text, strlen(text));
	fputc('\n', f);
}

/* Paragraphs are filled, lines with four spaces before them are left as they are. */
static void print_paragraphs(FILE *f, const char *text)
{
	bool as_is = false;
	while (*text) {
		const size_t n = strcspn(text, "\n");
		const bool code = n >= 4 && strncmp(text, "    ", 4) == 0;
		if (code != as_is)
			fputs(code ? ".RS 4\n.nf\n" : ".fi\n.RE\n", f);
		as_is = code;
		if (n == 0) {
			fputs(".PP\n", f);
		} else {
			print_text(f, text + (code ? 4 : 0), n - (code ? 4 : 0));
			fputc('\n', f);
		}
		text += n + (text[n] == '\n');
	}
	if (as_is)
		fputs(".fi\n.RE\n", f);
}

static void print_item(FILE *f, const char *word, const char *what)
{
	fputs(".TP\n.B ", f);
	print_line(f, word);
	print_line(f, *what ? what : "\\&");
}

static void print_upper(FILE *f, const char *text)
{
	for (; *text; text++)
		fputc(*text >= 'a' && *text <= 'z' ? *text - 'a' + 'A' : *text, f);
	fputc('\n', f);
}

static void print_commands(FILE *f)
{
	fputs(".SH COMMANDS\n", f);
	for (int c = 0; c < COMMAND_COUNT; c++) {
		const CommandInfo *info = &command_info[c];
		fprintf(f, ".TP\n.B %s\n", info->name);
		if (*info->arguments) {
			print_line(f, info->arguments);
			fputs(".br\n", f);
		}
		print_line(f, info->summary);
	}
}

/* Each once, with the commands that have it. */
static void print_options(FILE *f)
{
	fputs(".SH OPTIONS\n", f);
	for (int id = 0; id < OPTION_COUNT; id++) {
		const OptionInfo *o = &option_info[id];
		fputs(".TP\n.B ", f);
		print_text(f, o->spelling, strlen(o->spelling));
		fputc(' ', f);
		print_line(f, o->value);
		print_line(f, o->help);
		fputs(".br\n.I ", f);
		for (int c = 0; c < COMMAND_COUNT; c++)
			if (option_of((Command)c, (OptionId)id))
				fprintf(f, "%s ", command_info[c].name);
		fputc('\n', f);
	}
}

/* A date makes two builds differ, so there is one only where somebody says which. */
static void print_title(FILE *f)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	char date[32] = "";
	char *end = NULL;
	const time_t at = epoch ? (time_t)strtoll(epoch, &end, 10) : 0;
	struct tm utc;
	if (epoch && *epoch && !*end && gmtime_r(&at, &utc))
		strftime(date, sizeof date, "%Y-%m-%d", &utc);
	fprintf(f, ".TH TESSERA 1 \"%s\" \"tessera %s\" \"User Commands\"\n", date, TESSERA_VERSION);
}

void manual_print(FILE *f)
{
	print_title(f);
	fputs(".SH NAME\ntessera \\- ahead-of-time compiler for convolutional networks\n"
	      ".SH SYNOPSIS\n.B tessera\n.I COMMAND\n[\\fIMODEL\\fR]\n[\\fIOPTION\\fR...]\n"
	      ".SH DESCRIPTION\nReads a model (ONNX, NNEF text or IR text), folds and fuses it, "
	      "plans it for a Tenstorrent\ndevice, and writes one package with the programs of "
	      "all cores.\n", f);
	print_commands(f);
	print_options(f);
	for (int i = 0; i < TOPIC_COUNT; i++) {
		fputs(i == TOPIC_exit ? ".SH EXIT STATUS" : ".SH ", f);
		print_upper(f, i == TOPIC_exit ? "" : topic_info[i].name);
		print_paragraphs(f, topic_info[i].text);
		topic_rows((TopicId)i, f, print_item);
	}
}
