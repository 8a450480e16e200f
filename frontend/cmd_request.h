/*
 * What the command line asks of the planner: target, cores, room in L1, a plan file,
 * pins. Shared by all commands that plan.
 */
#ifndef FRONTEND_CMD_REQUEST_H
#define FRONTEND_CMD_REQUEST_H

#include "frontend/cmd_session.h"
#include "passes/planner.h"

typedef struct Asked {
	const Target *target; /* with as much L1 as --l1 leaves */
	PlanRequest request;
	PlanSource file, line;
} Asked;

const char *objective_name(Objective o);

/* What was asked for; not EXIT_OK: reported. It must not move: it refers to itself. */
enum ExitCode session_asked(Session *s, Asked *a);

/* A plan file for it to hold on to. */
enum ExitCode session_plan_file(Session *s, Asked *a, const char *path);

/* Values of a plan file that have no `!` and were planned otherwise: the first, and how many. */
void session_tell_unkept(Session *s, const Planned *p);

/* Options that are for the planner, of which there is none on this device: reported
 * if one is given. */
bool session_plans_nothing(Session *s, const char *why);

#endif
