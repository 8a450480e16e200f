/*
 * How near results have to be, and verify --layers: every tensor of the plan as the device
 * has it in the course of the run, against the graph after the passes on the plain
 * executor, in float from the inputs on.
 *
 *     layer 4 'enc2.down' max_pool 1x16x32x32 bf16: pcc 0.999998312, max error 0.0039, ...: ok
 *     first layer below: 7 'enc2.c1.conv' (unet.nnef:15:12, with enc2.c1.norm, enc2.c1)
 *
 * Cores pause for it (backend/device_tensor.h): what is looked at is the very program that
 * compile writes. Both sides go to DIR/ref/NNN_NAME.npy and DIR/device/NNN_NAME.npy, NNN in
 * the order of the schedule. A tensor on the way to a result (column phases, sums of a
 * norm) is on the device alone.
 */
#ifndef FRONTEND_CMD_VERIFY_H
#define FRONTEND_CMD_VERIFY_H

#include "frontend/accuracy_limits.h"
#include "frontend/cmd_device.h"

/* Prints how near they are, to the end of a line; are they within the limits? */
bool limits_compare(Limits l, const Tensor *want, const Tensor *got);

/* NULL: the folder cannot be made, reported. */
struct Layers *layers_create(Session *s, const Graph *g, Tensor *const in[], Limits l,
			     const char *dir);

/* Called by session_run_device: when the program is there, and when it is loaded. */
enum ExitCode layers_reference(struct Layers *l, const Compiled *c);
bool layers_watch(struct Layers *l, TesseraDevice *d, TesseraProgram *p, TesseraError *e);

/* Prints which layer is the first below; true if none is. */
bool layers_good(const struct Layers *l);

#endif
