/*
 * A net on TT-Metal, for C and C++. NAME.h declares the net; this opens and runs it.
 *
 *     TesseraError e;
 *     TesseraMetalOptions o = tessera_metal_options();
 *     TesseraMetal *m = tessera_metal_open(&unet_network, &o, &e);
 *     TesseraTensor in = tessera_metal_input(m, 0), out = tessera_metal_output(m, 0);
 *     TesseraArray x = tessera_array(&in, data), y = tessera_array(&out, room);
 *     if (!tessera_metal_run(m, &x, 1, &y, 1, &e))
 *             fprintf(stderr, "%s\n", e.text);
 *     tessera_metal_close(m);
 *
 * Opening a net reserves the same region of L1 on every core it uses, for as long as it is
 * open: its addresses were decided when it was compiled. It uploads the weights, once, and
 * makes a TT-Metal program of every op.
 *
 * A mesh of several devices is data parallel: every device has all weights and works on
 * inputs of its own. Inputs and outputs then are as many times as large along their first
 * axis, devices in row-major order; tessera_metal_input tells.
 *
 * Calls of one net must not overlap in time; different nets are independent.
 */
#ifndef RUNTIME_METAL_TESSERA_METAL_H
#define RUNTIME_METAL_TESSERA_METAL_H

#include "runtime/host/tessera_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a compiled net is; NAME.cpp has it. */
typedef struct TesseraMetalNetwork TesseraMetalNetwork;

/* An open one. */
typedef struct TesseraMetal TesseraMetal;

/*
 * How it runs. What tessera_metal_options() gives works everywhere, on slow dispatch too
 * (TT_METAL_SLOW_DISPATCH_MODE=1, as on simulators), which has neither a second queue nor
 * traces.
 */
typedef struct TesseraMetalOptions {
	/* The device of a mesh of one. */
	int device;

	/* Rows and columns of the mesh; 0: those the net was compiled for. */
	int mesh_rows, mesh_cols;

	/* 1: inputs, programs and outputs go through one command queue, one behind the
	 * other. 2: inputs go through the second, so those of the next run travel while
	 * this one computes. */
	int queues;

	/* With two queues: outputs go through the second one as well, and the first has
	 * nothing but programs. Outputs then travel when somebody waits for them. */
	bool transfers_apart;

	/* Programs are recorded once and replayed, which saves the host's time for each: the
	 * record stands in DRAM, in a region that is reserved for it. One for each slot.
	 * trace_bytes is the size of the region; 0: estimated. */
	bool trace;
	size_t trace_bytes;

	/* Runs under way at a time, each with inputs and outputs of its own on the device. */
	int slots;

	/* Dispatch from Ethernet cores, which leaves all Tensix cores to programs. Boards of
	 * several chips need it for two queues. */
	bool ethernet_dispatch;

	/* The folder the net was written to: kernels/ and NAME.weights are in it. NULL: where
	 * it was built. TT-Metal knows compiled kernels by their path, so precompiled ones want
	 * the same one here as when they were compiled. */
	const char *folder;

	/* Kernels compiled ahead of time by tessera_metal_compile, or NULL: they are compiled
	 * while opening, and TT-Metal keeps them in its cache. What is missing there is compiled
	 * while opening, or, with precompiled_only, an error. */
	const char *precompiled;
	bool precompiled_only;
} TesseraMetalOptions;

TESSERA_API TesseraMetalOptions tessera_metal_options(void);

/* NULL if it fails, which *e tells. */
TESSERA_API TesseraMetal *tessera_metal_open(const TesseraMetalNetwork *n,
					     const TesseraMetalOptions *o, TesseraError *e);

/* Waits for runs under way, gives back what was reserved and closes the device. */
TESSERA_API void tessera_metal_close(TesseraMetal *m);

TESSERA_API size_t tessera_metal_input_count(const TesseraMetal *m);
TESSERA_API size_t tessera_metal_output_count(const TesseraMetal *m);
TESSERA_API TesseraTensor tessera_metal_input(const TesseraMetal *m, size_t i);
TESSERA_API TesseraTensor tessera_metal_output(const TesseraMetal *m, size_t i);

/* One run, from inputs to outputs. */
TESSERA_API bool tessera_metal_run(TesseraMetal *m, const TesseraArray *inputs, size_t input_count,
				   const TesseraArray *outputs, size_t output_count,
				   TesseraError *e);

/* The same in two halves: up to `slots` runs may be under way, tessera_metal_wait ends the
 * oldest. Inputs may be changed as soon as tessera_metal_submit is back. */
TESSERA_API bool tessera_metal_submit(TesseraMetal *m, const TesseraArray *inputs, size_t count,
				      TesseraError *e);
TESSERA_API bool tessera_metal_wait(TesseraMetal *m, const TesseraArray *outputs, size_t count,
				    TesseraError *e);

/* Compiles all kernels into a folder for TesseraMetalOptions.precompiled; needs no device.
 * TT-Metal compiles each for every product it knows, about a hundred, so this takes long.
 * Of *o only `folder` counts. */
TESSERA_API bool tessera_metal_compile(const TesseraMetalNetwork *n, const TesseraMetalOptions *o,
				       const char *to, TesseraError *e);

#ifdef __cplusplus
}
#endif

#endif
