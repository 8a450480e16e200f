/*
 * tessera convert: the model as strict flat NNEF 1.0, graph.nnef with its .dat
 * files. No passes run unless --passes names some.
 */
#include "frontend/cmd_session.h"

enum ExitCode cmd_convert(Session *s)
{
	const char *dir = option_text(s->opt, OPT_OUT);
	if (!dir) {
		usage_error(s->diag, "'convert' wants -o DIR");
		return EXIT_USAGE;
	}
	Graph *g = session_compile(s);
	return g && nnef_write(g, s->diag, dir) ? EXIT_OK : EXIT_MODEL;
}
