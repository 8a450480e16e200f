/*
 * tessera convert: the model as strict flat NNEF 1.0, graph.nnef with its .dat
 * files. No passes run unless --passes names some.
 */
#include "frontend/cmd_session.h"
#include "ir/file.h"

enum ExitCode cmd_convert(Session *s)
{
	const char *dir = option_text(s->opt, OPT_OUT);
	if (!dir) {
		usage_error(s->diag, "'convert' wants -o DIR");
		return EXIT_USAGE;
	}
	Graph *g = session_compile(s);
	if (!g || !nnef_write(g, s->diag, dir))
		return EXIT_MODEL;
	session_wrote(s, path_join(s->arena, dir, "graph.nnef"));
	return EXIT_OK;
}
