/*
 * tessera: the one program. Finds the command, runs it, and sees to it that
 * the exit status says how that went.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/llvm.h"
#include "frontend/cmd_help.h"
#include "frontend/cmd_session.h"

/* A failed assertion has said where; we say that it is our fault. */
static void on_abort(int signal)
{
	(void)signal;
	_exit(EXIT_INTERNAL);
}

/* A standard stream that is closed would lend its number to the first file we
 * open. Behind this one, writing fails, which is noticed at the end. */
static void hold_standard_streams(void)
{
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
			_exit(EXIT_INTERNAL);
}

/* https://no-color.org, and terminals that know nothing but text. */
static bool shows_colors(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	return isatty(STDERR_FILENO) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

static enum ExitCode print_target(Session *s)
{
	const Target *t = session_target(s);
	if (t)
		target_print(t, stdout);
	return t ? EXIT_OK : EXIT_USAGE;
}

static enum ExitCode run(Session *s, Arena *a, Diag *d, const Options *o)
{
	static enum ExitCode (*const commands[COMMAND_COUNT])(Session *) = {
#define COMMAND(name, ...) [CMD_##name] = cmd_##name,
#include "frontend/commands.def"
	};
	const enum ExitCode code = session_begin(s, a, d, o);
	if (code == EXIT_OK && option_given(o, OPT_PRINT_TARGET))
		return print_target(s);
	if (code == EXIT_OK && option_given(o, OPT_PRINT_CONFIG))
		return session_print_config(s);
	if (code != EXIT_OK)
		return code;
	const enum ExitCode done = commands[o->command](s);
	return done == EXIT_OK && !session_depfile(s) ? EXIT_MODEL : done;
}

/* What was printed must have arrived. */
static enum ExitCode finish(enum ExitCode code)
{
	bool failed = ferror(stdout) != 0;
	failed = fflush(stdout) != 0 || failed;
	if (!failed)
		return code;
	fprintf(stderr, "tessera: error: cannot write standard output: %s\n", strerror(errno));
	return code == EXIT_OK ? EXIT_MODEL : code;
}

int main(int argc, char **argv)
{
	hold_standard_streams();
	signal(SIGABRT, on_abort);

	Arena *a = arena_create();
	Diag d = { .to = stderr, .colors = shows_colors() };
	Options o;
	Session s;
	enum ExitCode code = EXIT_OK;
	if (!options_parse(&o, a, &d, argc, argv)) {
		code = EXIT_USAGE;
	} else if (o.version) {
		printf("tessera %s\n", TESSERA_VERSION);
		code = llvm_check(stdout) ? EXIT_OK : EXIT_INTERNAL;
	} else if (o.help) {
		help_print(o.command, stdout);
	} else {
		code = run(&s, a, &d, &o);
		session_end(&s);
	}
	code = finish(code);
	diag_finish(&d);
	arena_destroy(a);
	return code;
}
