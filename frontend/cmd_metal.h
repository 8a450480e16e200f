/* compile --emit=metal: a project for TT-Metal, and the folder it goes to. */
#ifndef FRONTEND_CMD_METAL_H
#define FRONTEND_CMD_METAL_H

#include "backend/metal.h"
#include "frontend/cmd_device.h"

/* The devices --mesh names; `wanted` if there is a project for them. False: reported. */
bool session_mesh(Session *s, bool wanted, MetalOptions *o);

/* The project of a compiled graph. Not EXIT_OK: reported. */
enum ExitCode session_metal(Session *s, const Graph *g, Compiled *c, const MetalOptions *o,
			    MetalProject *m);

/* Writes it as the folder `path`: all of it or, reported, nothing. What is there is taken
 * away only if it is such a project as it was written. */
bool session_write_metal(Session *s, const MetalProject *m, const char *path);

#endif
