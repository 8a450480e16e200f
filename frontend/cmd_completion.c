/*
 * Completions for bash and zsh: commands, the options of each, and what a value may be
 * where options.def says so: words joined by |, names of passes and targets, files.
 */
#include <ctype.h>
#include <string.h>

#include "frontend/cmd_help.h"
#include "ir/target.h"
#include "passes/pass.h"

static bool is_list_of_words(const char *value)
{
	for (const char *p = value; *p; p++)
		if (!islower((unsigned char)*p) && *p != '|')
			return false;
	return strchr(value, '|') != NULL;
}

static bool is_file(const char *value)
{
	return strstr(value, "F.") || strstr(value, "PATH") || strstr(value, "FILE");
}

static void print_words(FILE *f, const char *value)
{
	for (; *value; value++)
		fputc(*value == '|' ? ' ' : *value, f);
}

/* The words a value may be, separated by spaces; often none. */
static void print_values(FILE *f, OptionId id)
{
	const char *value = option_info[id].value;
	if (is_list_of_words(value))
		print_words(f, value);
	else if (id == OPT_DEVICE)
		fputs("ref emu emu:fast emu:race emu:counters ttsim: card:", f);
	else if (strncmp(value, "PASS", 4) == 0 || id == OPT_PASSES)
		for (int i = 0; i < PASS_COUNT; i++)
			fprintf(f, "%s%s", i ? " " : "", pass_info[i].name);
	else if (id == OPT_TARGET)
		for (int i = 0; target_name(i); i++)
			fprintf(f, "%s%s", i ? " " : "", target_name(i));
}

static void print_command_names(FILE *f)
{
	for (int c = 0; c < COMMAND_COUNT; c++)
		fprintf(f, "%s%s", c ? " " : "", command_info[c].name);
}

static void print_topic_names(FILE *f)
{
	for (int i = 0; i < TOPIC_COUNT; i++)
		fprintf(f, " %s", topic_info[i].name);
}

void completion_bash(FILE *f)
{
	fputs("# bash completion for tessera; made by: tessera help --as=bash\n"
	      "_tessera() {\n"
	      "	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "	local command=${COMP_WORDS[1]} words= values=\n"
	      "	[ \"$word\" = = ] && word=\n"
	      "	[ \"$before\" = = ] && before=${COMP_WORDS[COMP_CWORD-2]}\n"
	      "	COMPREPLY=()\n"
	      "	if [ \"$COMP_CWORD\" = 1 ]; then\n"
	      "		COMPREPLY=($(compgen -W '", f);
	print_command_names(f);
	fputs(" --help --version' -- \"$word\"))\n"
	      "		return\n"
	      "	fi\n"
	      "	case $before in\n", f);
	for (int id = 0; id < OPTION_COUNT; id++) {
		if (option_info[id].kind == FLAG)
			continue;
		fprintf(f, "	%s) values='", option_info[id].spelling);
		print_values(f, (OptionId)id);
		fputs("'\n", f);
		fprintf(f, "		COMPREPLY=($(compgen %s-W \"$values\" -- \"$word\")); return ;;\n",
			is_file(option_info[id].value) ? "-f " : strstr(option_info[id].value, "DIR")
				? "-d " : "");
	}
	fputs("	esac\n"
	      "	case $command in\n", f);
	for (int c = 0; c < COMMAND_COUNT; c++) {
		fprintf(f, "	%s) words='", command_info[c].name);
		for (int id = 0; id < OPTION_COUNT; id++)
			if (option_of((Command)c, (OptionId)id))
				fprintf(f, "%s ", option_info[id].spelling);
		fputs("' ;;\n", f);
	}
	fputs("	esac\n"
	      "	case $command,$word in\n"
	      "	*,-*) COMPREPLY=($(compgen -W \"$words\" -- \"$word\")) ;;\n"
	      "	help,*) COMPREPLY=($(compgen -W '", f);
	print_command_names(f);
	print_topic_names(f);
	fputs("' -- \"$word\")) ;;\n"
	      "	*) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n"
	      "	esac\n"
	      "}\n"
	      "complete -o filenames -F _tessera tessera\n", f);
}

/* Between [ ] and ' ' of a zsh spec. */
static void print_spec_text(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", f);
		else
			fprintf(f, strchr("[]:\\", *text) ? "\\%c" : "%c", *text);
	}
}

static void print_spec(FILE *f, OptionId id)
{
	const OptionInfo *o = &option_info[id];
	const bool words = is_list_of_words(o->value) || id == OPT_DEVICE || id == OPT_TARGET
		|| id == OPT_PASSES || strncmp(o->value, "PASS", 4) == 0;
	const bool one_dash = o->spelling[1] != '-';
	fprintf(f, "			'%s%s%s[", o->times == REPEATS ? "*" : "", o->spelling,
		o->kind == FLAG || one_dash ? "" : "=");
	print_spec_text(f, o->help);
	fputc(']', f);
	if (o->kind != FLAG) {
		fputc(':', f);
		print_spec_text(f, o->value);
		fputc(':', f);
	}
	if (o->kind != FLAG && words) {
		fputc('(', f);
		print_values(f, id);
		fputc(')', f);
	} else if (o->kind == TEXT) {
		fputs("_files", f);
	}
	fputs("' \\\n", f);
}

void completion_zsh(FILE *f)
{
	fputs("#compdef tessera\n"
	      "# made by: tessera help --as=zsh\n"
	      "local -a names=(\n", f);
	for (int c = 0; c < COMMAND_COUNT; c++) {
		fprintf(f, "	'%s:", command_info[c].name);
		print_spec_text(f, command_info[c].summary);
		fputs("'\n", f);
	}
	fputs(")\n"
	      "if (( CURRENT == 2 )); then\n"
	      "	_describe command names\n"
	      "	return\n"
	      "fi\n"
	      "local command=$words[2]\n"
	      "shift words\n"
	      "(( CURRENT-- ))\n"
	      "case $command in\n", f);
	for (int c = 0; c < COMMAND_COUNT; c++) {
		fprintf(f, "	%s)\n		_arguments \\\n", command_info[c].name);
		for (int id = 0; id < OPTION_COUNT; id++)
			if (option_of((Command)c, (OptionId)id))
				print_spec(f, (OptionId)id);
		if (c == CMD_help) {
			fputs("			'1:topic:(", f);
			print_command_names(f);
			print_topic_names(f);
			fputs(")' ;;\n", f);
		} else {
			fputs("			'*:file:_files' ;;\n", f);
		}
	}
	fputs("esac\n", f);
}
