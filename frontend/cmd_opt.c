/*
 * tessera opt: the graph after the passes, as IR text.
 *
 * With -o F.ir the constants that the text names by hash go into
 * F.safetensors beside it, and the text says so: it reads back whole.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "frontend/cmd_session.h"
#include "frontend/weights.h"
#include "ir/file.h"

static bool names_constants(const Graph *g)
{
	for_each_op(op, g)
		if (op_value(op) && tensor_count(op->value) > PRINT_INLINE)
			return true;
	return false;
}

/* "dir/F.ir" gives "dir/F.safetensors". */
static const char *weights_path(Arena *a, const char *path)
{
	const size_t n = strlen(path);
	const bool ir = n > 3 && strcmp(path + n - 3, ".ir") == 0;
	return arena_printf(a, "%.*s.safetensors", (int)(ir ? n - 3 : n), path);
}

bool session_write_graph(Session *s, Graph *g, const char *path)
{
	if (!path) {
		graph_print(g, stdout);
		return true;
	}
	const char *weights = weights_path(g->arena, path);
	const bool separate = names_constants(g);
	const char *slash = strrchr(weights, '/');
	OutFile out;
	g->weights_file = separate ? slash ? slash + 1 : weights : NULL;
	if (!out_open(&out, g->arena, g->diag, path))
		return false;
	graph_print(g, out.f);
	if (separate && !weights_dump(g, g->diag, weights)) {
		out_discard(&out);
		return false;
	}
	if (!out_commit(&out, g->diag)) {
		if (separate)
			unlink(weights);
		return false;
	}
	session_wrote(s, path);
	if (separate)
		session_wrote(s, weights);
	return true;
}

enum ExitCode cmd_opt(Session *s)
{
	const char *path = option_text(s->opt, OPT_OUT);
	Graph *g = session_compile(s);
	return g && session_write_graph(s, g, path) ? EXIT_OK : EXIT_MODEL;
}
