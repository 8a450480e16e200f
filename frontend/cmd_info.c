/*
 * tessera info: what is in a package.
 */
#include "frontend/cmd_session.h"
#include "runtime/host/tessera_rt.h"

enum ExitCode cmd_info(Session *s)
{
	TesseraError e;
	TesseraPackage *p = tessera_package_open(s->opt->model, &e);
	if (!p) {
		diag_error(s->diag, (Loc){ .file = s->opt->model }, "%s", e.text);
		return EXIT_MODEL;
	}
	tessera_package_print(p, stdout);
	tessera_package_close(p);
	return EXIT_OK;
}
