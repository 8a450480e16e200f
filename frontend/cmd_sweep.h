/*
 * One model in several sizes: what time, memory and pressure do as the batch or the image
 * grows.
 *
 *     tessera report unet.onnx --sweep size=256,512,1024
 *     tessera report unet.onnx --sweep batch=1,2,4
 *
 * A batch is the first dim of every input, a size the height and width of every input of
 * four dims. Each value is planned for itself. Pressure is critical from the first value on
 * that has no plan, a high risk of thrashing (passes/pressure.h), or tensors in DRAM for good,
 * which they are only if L1 has no room for them.
 */
#ifndef FRONTEND_CMD_SWEEP_H
#define FRONTEND_CMD_SWEEP_H

#include "frontend/cmd_device.h"

/* The table of --sweep to standard output. Not EXIT_OK: reported. */
enum ExitCode sweep_print(Session *s);

#endif
