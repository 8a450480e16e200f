/*
 * The command line: the rows of commands.def and options.def, and what a user
 * wrote of them.
 *
 *     tessera run m.onnx --input x.npy --output=out --threads 2
 *
 * A value follows its option as --option=VALUE or --option VALUE. Whatever is
 * wrong is reported as "tessera: error: ...", all of it, before anything is
 * read.
 */
#ifndef FRONTEND_OPTIONS_H
#define FRONTEND_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/arena.h"
#include "ir/diag.h"

typedef enum Command {
#define COMMAND(name, ...) CMD_##name,
#include "frontend/commands.def"
	COMMAND_COUNT
} Command;

typedef enum OptionId {
#define OPTION(id, ...) OPT_##id,
#include "frontend/options.def"
	OPTION_COUNT
} OptionId;

typedef struct CommandInfo {
	const char *name, *arguments, *summary;
} CommandInfo;

extern const CommandInfo command_info[COMMAND_COUNT];

typedef enum OptionKind { FLAG, TEXT, NUMBER, SEED, REAL } OptionKind;
typedef enum Times { ONCE, REPEATS } Times;

typedef struct OptionInfo {
	const char *spelling;
	OptionKind kind;
	const char *value;
	Times times;
	unsigned commands; /* a bit for each */
	const char *help;
} OptionInfo;

extern const OptionInfo option_info[OPTION_COUNT];

enum { MOST_BEHIND = 2 };

typedef struct Options {
	Command command; /* COMMAND_COUNT: none, but help or the version */
	bool help, version;
	const char *model; /* NULL for commands without; of help: the topic */
	const char *behind[MOST_BEHIND]; /* files behind it: plans, measured times */
	int nbehind;
	int count[OPTION_COUNT];
	const char **values[OPTION_COUNT]; /* count[id] of them */
} Options;

/* False if the command line is wrong, which is reported. */
bool options_parse(Options *o, Arena *a, Diag *d, int argc, char **argv);

static inline bool option_given(const Options *o, OptionId id) { return o->count[id] > 0; }

/* The value, or NULL or `otherwise` if the option is not given. */
const char *option_text(const Options *o, OptionId id);
int64_t option_number(const Options *o, OptionId id, int64_t otherwise);
uint64_t option_seed(const Options *o, OptionId id, uint64_t otherwise);
double option_real(const Options *o, OptionId id, double otherwise);

const char *option_spelling(OptionId id);

/* True if the command has the option. */
bool option_of(Command c, OptionId id);

/* True if the command runs the model. */
bool options_execute(Command c);

/* "tessera: error: ...", for what is wrong about the command line. */
void usage_error(Diag *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Behind an error about a word: the one of `names` that is near, or if none is what to do,
 * such as where they are listed. */
void usage_hint(Diag *d, const char *word, const char *const names[], size_t n,
		const char *otherwise);

/* The help of a command, or of the program for COMMAND_COUNT. */
void options_help(Command c, FILE *f);

#endif
