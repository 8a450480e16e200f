/*
 * tessera info: what is in a package.
 */
#include "frontend/cmd_device.h"
#include "runtime/host/tessera_rt.h"

enum ExitCode cmd_info(Session *s)
{
	TesseraPackage *p = session_open_ttb(s);
	if (!p)
		return EXIT_MODEL;
	tessera_package_print(p, stdout);
	tessera_package_close(p);
	return EXIT_OK;
}
