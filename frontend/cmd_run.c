/*
 * tessera run: the model's outputs on given inputs, as DIR/out_K.npy.
 */
#include <string.h>
#include <unistd.h>

#include "frontend/cmd_device.h"
#include "frontend/weights.h"
#include "ir/clock.h"
#include "ir/file.h"
#include "runtime/ref/ref.h"

enum { MOST_THREADS = 1024 };

bool session_device(Session *s)
{
	const bool few = option_number(s->opt, OPT_THREADS, 0) <= MOST_THREADS;
	if (!few)
		usage_error(s->diag, "'--threads': at most %d", MOST_THREADS);
	return few;
}

/* Wherever the model runs. */
static enum ExitCode check_work(Session *s, const Graph *g)
{
	const int64_t most = option_number(s->opt, OPT_MAX_MACS, 0);
	if (most && s->package) {
		usage_error(s->diag, "'--max-macs': a package does not say how many it needs");
		return EXIT_USAGE;
	}
	if (!most || ref_macs(g) <= most)
		return EXIT_OK;
	diag_error(s->diag, (Loc){ .file = s->opt->model },
		   "needs %lld multiply-accumulates, --max-macs allows %lld",
		   (long long)ref_macs(g), (long long)most);
	return EXIT_WORK_LIMIT;
}

enum ExitCode session_run_ref(Session *s, const Graph *g, Tensor *const in[], Tensor *out[])
{
	const double from = clock_now();
	const RefOptions opt = {
		.threads = (int)option_number(s->opt, OPT_THREADS, 0),
		.max_macs = option_number(s->opt, OPT_MAX_MACS, 0),
	};
	const enum ExitCode code = check_work(s, g);
	if (code != EXIT_OK)
		return code;
	session_progress(s, "running the reference");
	const bool ok = ref_run(g, s->arena, in, out, &opt);
	session_timing(s, "run", from);
	session_progress(s, NULL);
	return ok ? EXIT_OK : EXIT_MODEL;
}

bool session_on_ref(const Session *s)
{
	const char *device = option_text(s->opt, OPT_DEVICE);
	return device ? strcmp(device, "ref") == 0 : !s->package;
}

const char *session_with_threads(Session *s, const char *device)
{
	const int64_t n = option_number(s->opt, OPT_THREADS, 0);
	const bool emu = strncmp(device, "emu", 3) == 0 && (!device[3] || device[3] == ':');
	if (!n || !emu || strstr(device, "threads="))
		return device;
	return arena_printf(s->arena, "%s%cthreads=%lld", device, device[3] ? ',' : ':',
			    (long long)n);
}

enum ExitCode session_run(Session *s, const Graph *g, Tensor *const in[], Tensor *out[])
{
	const char *device = option_text(s->opt, OPT_DEVICE);
	if (session_on_ref(s) && s->package) {
		usage_error(s->diag, "'--device': a package runs on a device, not on 'ref'");
		return EXIT_USAGE;
	}
	if (s->package && option_given(s->opt, OPT_TARGET)) {
		usage_error(s->diag, "'--target': a package has its own");
		return EXIT_USAGE;
	}
	if (s->package && !session_plans_nothing(s, "a package has its plan"))
		return EXIT_USAGE;
	if (session_on_ref(s) && !session_plans_nothing(s, "only a device (--device=emu) has a plan"))
		return EXIT_USAGE;
	if (session_on_ref(s))
		return session_run_ref(s, g, in, out);
	const enum ExitCode code = check_work(s, g);
	if (code != EXIT_OK)
		return code;
	return session_run_device(s, g, session_with_threads(s, device ? device : "emu"), in, out);
}

/* All or nothing. */
static bool write_outputs(Session *s, Tensor *const out[], int n, const char *dir)
{
	const bool existed = access(dir, F_OK) == 0;
	if (!make_folder(s->diag, dir))
		return false;
	for (int k = 0; k < n; k++) {
		const char *path = arena_printf(s->arena, "%s/out_%d.npy", dir, k);
		if (npy_write(s->arena, s->diag, path, out[k]))
			continue;
		while (k-- > 0)
			unlink(arena_printf(s->arena, "%s/out_%d.npy", dir, k));
		if (!existed)
			rmdir(dir);
		return false;
	}
	return true;
}

enum ExitCode cmd_run(Session *s)
{
	const char *dir = option_text(s->opt, OPT_OUTPUT);
	if (!dir)
		usage_error(s->diag, "'run' wants --output DIR");
	if (!session_device(s) || !dir)
		return EXIT_USAGE;
	Graph *g = session_compile(s);
	if (!g)
		return EXIT_MODEL;
	Tensor **in = inputs_data(g, s->arena, &s->inputs);
	if (!in)
		return EXIT_USAGE;
	const int n = inputs_count(g, OP_OUTPUT);
	Tensor **out = arena_array(s->arena, Tensor *, n);
	const enum ExitCode code = session_run(s, g, in, out);
	if (code != EXIT_OK)
		return code;
	return write_outputs(s, out, n, dir) ? EXIT_OK : EXIT_MODEL;
}
