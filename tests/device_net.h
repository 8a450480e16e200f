/*
 * Small programs for tests of the device library: rows in bands over cores, all
 * in L1, from host tensors to host tensors.
 *
 *     Net *n = net_open(t, 4);                     4 cores side by side
 *     Planes x = net_planes(n, DEV_BF16, 20, 8, 40, 1);  8 rows a core, halo of 1
 *     Planes y = net_planes(n, DEV_BF16, 48, 8, 40, 0);
 *     net_input(n, &x);
 *     net_conv(n, (Conv){ .kernel_h = 3, ... }, &x, 1, &y);
 *     net_output(n, &y);
 *     net_run(n, "emu", in, out);
 *
 * Buffers keep to the plan's window and live as long as the program.
 */
#ifndef TESTS_DEVICE_NET_H
#define TESTS_DEVICE_NET_H

#include <string.h>

#include "backend/emit.h"
#include "backend/program.h"
#include "tests/fixture.h"

typedef struct Planes {
	DevTypes type;
	int channels, rows, cols; /* rows of a core */
	int halo;
	int planes, height, pitch;
	uint32_t address;
	int op; /* that made it */
	int sets; /* of `planes` in the buffer: column phases or images */
} Planes;

typedef struct Net {
	Fixture *t;
	Program *p;
	uint32_t l1;
	uint64_t dram;
	uint32_t code_budget; /* as in EmitOptions */
	bool iram;
	int overlays; /* of what was run */
} Net;

typedef struct Conv {
	int kernel_h, kernel_w, dilation, stride_h;
	DevTypes weights;
	int n, hold, phases, k_block, pages;
	bool relu, sigmoid;
	const float *values, *bias; /* [cout][cin][ky][kx]; [cin][cout][ky][kx] transposed */
} Conv;

Net *net_open(Fixture *t, int cores);
Planes net_planes(Net *n, DevTypes type, int channels, int rows, int cols, int halo);

/* A buffer for `sets` times as many planes. Host tensors and zeros are those of
 * all sets, a host tensor has them as images; net_conv and the like work on the
 * first, until they are told more. */
Planes net_sets(Net *n, DevTypes type, int channels, int rows, int cols, int halo, int sets);

void net_input(Net *n, Planes *to);
void net_output(Net *n, const Planes *from);

/* Centred, that is with kernel / 2 * dilation of padding, which the halo holds. */
void net_conv(Net *n, Conv c, const Planes *in, int nin, Planes *to);

/* 2x2, stride 2, transposed. */
void net_deconv(Net *n, Conv c, const Planes *in, Planes *to);

/* The largest of kernel x kernel, without padding. */
void net_window(Net *n, const Planes *in, Planes *to, int kernel, int stride, bool relu,
		bool sigmoid);

/* ---- for ops of other families ---- */

/* An op on tiles, without its routines: where pieces and result lie. */
ProgramOp *net_tiles(Net *n, const char *kind, const Planes *in, int nin, const Planes *to,
		     int pad_h, int pad_w);

/* The window it slides: taps, how far apart, how far it goes. */
void net_slide(ProgramOp *op, int h, int w, int dilation, int stride_h, int stride_w);

/* Its weights: `groups` pages, of which the circular buffer holds `pages`. */
void net_pages(Net *n, ProgramOp *op, const uint8_t *data, uint32_t page, int groups, int pages);

/* What every op that writes `p` does besides: zeros, rows for its neighbours. */
void net_made(Net *n, ProgramOp *op, Planes *p);

/* Called by net_run before it runs what it has emitted, if a test has one. */
__attribute__((weak)) void net_emitted(Net *n, const Emission *e);

/* Emits, loads and runs it twice; the second result counts. */
void net_run(Net *n, const char *device, float *const *in, float *out);

/* On the emulator, and if TESSERA_TTSIM names the simulator there too: `count`
 * values must be the same to the bit. */
void net_run_all(Net *n, float *const *in, float *out, int64_t count);

/* bf16 as packers round: halves away from zero. */
static inline float net_rounded(double v)
{
	float f = (float)v;
	uint32_t bits;
	memcpy(&bits, &f, 4);
	bits = (bits + 0x8000) & 0xffff0000u;
	memcpy(&f, &bits, 4);
	return f;
}

/* What a packer makes of a sum whose bits fp32 holds. */
static inline float net_stored(DevTypes type, double v)
{
	return type == DEV_F32 ? (float)v : net_rounded(v);
}

#endif
