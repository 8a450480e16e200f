/*
 * Plans for ttnn, of --kernels=ttnn and --emit=ttcnn: made, and shown as a table.
 *
 *     $ tessera plan models/vanilla_unet.nnef --random-weights=1 --kernels=ttnn
 */
#ifndef FRONTEND_CMD_TTNN_H
#define FRONTEND_CMD_TTNN_H

#include "frontend/cmd_report.h"
#include "ir/ttnn.h"

typedef enum Kernels { KERNELS_OWN, KERNELS_TTNN, KERNELS_UNKNOWN } Kernels;

/* As --kernels says; KERNELS_UNKNOWN: reported. */
Kernels session_kernels(Session *s);

/* A plan for ttnn as asked for; all fields of its file hold if `whole`. Not EXIT_OK:
 * reported. */
enum ExitCode session_ttnn(Session *s, const Graph *g, bool whole, TtnnPlan *p);

/* The commands for those kernels. */
enum ExitCode session_plan_ttnn(Session *s);
enum ExitCode session_score_ttnn(Session *s);

/* --emit=ttcnn: a Python module for TT-CNN, and its weights beside it. */
enum ExitCode session_emit_ttcnn(Session *s);

/* A table op by op with its totals, the same as an object of JSON, or as CSV. */
void report_ttnn(FILE *f, const TtnnPlan *p, Format format);

#endif
