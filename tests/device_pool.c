#include "tests/device_pool.h"

enum { LEAD = 16 }; /* as in device_net.c */

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }

/* Rows of the image that a core has, and where its windows start among them. */
static void set_rows(Net *n, ProgramOp *op, const MaxPool *k, const Planes *in, const Planes *to)
{
	const int height = in->rows * n->p->ncores;
	for (int c = 0; c < n->p->ncores; c++) {
		const int kept = c * in->rows - in->halo;
		const int tap = c * to->rows * k->stride[0] - k->pad[0];
		const int first = most(0, tap), end = least(height, kept + in->height);
		program_set_core(n->p, op, c, "in_y", 0, (uint32_t)(first - kept));
		program_set_core(n->p, op, c, "image_rows", 0, (uint32_t)(end - first));
		program_set_core(n->p, op, c, "pad_top", 0, (uint32_t)(first - tap));
	}
}

void net_max_pool(Net *n, MaxPool k, const Planes *in, Planes *to)
{
	ProgramOp *op = net_tiles(n, "max_pool", in, 1, to, 0, 0);
	const bool strided = k.stride[1] != 1 && !k.phased;
	net_slide(op, k.kernel[0], k.kernel[1], 1, k.stride[0], k.stride[1]);
	program_set(op, "dilation_h", 0, (uint32_t)k.dilation[0]);
	program_set(op, "dilation_w", 0, (uint32_t)k.dilation[1]);
	program_set(op, "in_planes", 0, (uint32_t)to->planes);
	program_set(op, "in_phase", 0, (uint32_t)(k.phased ? to->planes : 0));
	program_set(op, "image_cols", 0, (uint32_t)k.width);
	program_set(op, "pad_left", 0, (uint32_t)k.pad[1]);
	set_rows(n, op, &k, in, to);
	op->variant[TT_TRISC0] = program_variant(
		n->p, "window_unpack", (uint32_t[]){ (uint32_t)in->type, strided }, 2);
	op->variant[TT_TRISC1] = program_variant(n->p, "window_math", NULL, 0);
	op->variant[TT_TRISC2] =
		program_variant(n->p, "store", (uint32_t[]){ (uint32_t)to->type, 1, 1, 0 }, 4);
	net_made(n, op, to);
}

static uint32_t plane_bytes(const Planes *p)
{
	return (uint32_t)(p->height * p->pitch) * 32;
}

/* `pixels` bf16 pixels from column x on of every plane, to the same place there. */
static void push_pixels(Net *n, ProgramOp *op, const Planes *p, int from, int to, int x, int pixels)
{
	const uint32_t at = p->address + (uint32_t)(LEAD + x) * 32;
	program_push(n->p, op, from,
		     (ProgramPush){ .core = to,
				    .from = at,
				    .to = at,
				    .bytes = (uint32_t)pixels * 32,
				    .count = (uint32_t)p->planes,
				    .from_step = plane_bytes(p),
				    .to_step = plane_bytes(p) });
}

/* What core 0 made and pushed. */
void net_await(Net *n, const Planes *p)
{
	ProgramOp *op = &n->p->ops[n->p->nops - 1];
	for (int c = 1; c < n->p->ncores; c++)
		program_arrival(n->p, op, c, (ProgramArrival){ .core = 0, .op = p->op });
}

static ProgramOp *reduce(Net *n, const char *name, const Planes *in, int nin, const Planes *to,
			 uint32_t pixels)
{
	ProgramOp *op = net_tiles(n, name, in, nin, to, 0, 0);
	net_slide(op, 1, 1, 1, 1, 1);
	program_set(op, "image_rows", 0, (uint32_t)in->rows);
	program_set(op, "image_cols", 0, (uint32_t)in->cols);
	program_set(op, "rows", 0, 1);
	program_set(op, "cols", 0, pixels);
	program_set(op, "scale", 0, 0x3f800000);
	return op;
}

void net_reduce_rows(Net *n, ReduceKind kind, const Planes *in, const Planes *mean, Planes *to)
{
	const Planes pieces[] = { *in, mean ? *mean : *in };
	const uint32_t pixels = kind == REDUCE_MAX ? 1 : 2;
	ProgramOp *op = reduce(n, "reduce_rows", pieces, mean ? 2 : 1, to, pixels);
	if (mean)
		net_await(n, mean);
	op->variant[TT_TRISC0] = program_variant(
		n->p, "reduce_unpack", (uint32_t[]){ (uint32_t)in->type, (uint32_t)kind, 0 }, 3);
	op->variant[TT_TRISC1] =
		program_variant(n->p, "reduce_math", (uint32_t[]){ (uint32_t)kind, pixels == 2, 0 },
				3);
	op->variant[TT_TRISC2] = program_variant(n->p, "store_pixels", &pixels, 1);
	net_made(n, op, to);
	for (int c = 0; c < n->p->ncores; c++) {
		program_set_core(n->p, op, c, "out_x", 0, LEAD + (uint32_t)c * pixels);
		if (c)
			push_pixels(n, op, to, c, 0, c * (int)pixels, (int)pixels);
	}
}

void net_reduce_pixels(Net *n, ReduceKind kind, const Planes *in, Planes *to, bool pair,
		       float scale)
{
	uint32_t bits;
	memcpy(&bits, &scale, 4);
	ProgramOp *op = reduce(n, "reduce_pixels", in, 1, to, 1 + pair);
	program_set(op, "scale", 0, bits);
	program_run_on(op, 0, TT_TRISC0,
		       program_variant(n->p, "reduce_unpack",
				       (uint32_t[]){ (uint32_t)in->type, (uint32_t)kind, 0 }, 3));
	program_run_on(op, 0, TT_TRISC1,
		       program_variant(n->p, "reduce_math", (uint32_t[]){ (uint32_t)kind, pair, 0 }, 3));
	program_run_on(op, 0, TT_TRISC2,
		       program_variant(n->p, "store", (uint32_t[]){ (uint32_t)to->type, 1, 1, 0 }, 4));
	net_made(n, op, to);
	for (int c = 1; c < n->p->ncores; c++) {
		program_arrival(n->p, op, 0, (ProgramArrival){ .core = c, .op = in->op });
		push_pixels(n, op, to, 0, c, 0, 1 + pair);
	}
}

void net_norm(Net *n, const Planes *in, const Planes *mean, const Planes *factor, Planes *to)
{
	const Planes pieces[] = { *in, *mean, *factor };
	ProgramOp *op = net_tiles(n, "norm", pieces, 3, to, 0, 0);
	net_slide(op, 1, 1, 1, 1, 1);
	net_await(n, mean);
	net_await(n, factor);
	op->variant[TT_TRISC0] =
		program_variant(n->p, "norm_unpack", (uint32_t[]){ (uint32_t)in->type }, 1);
	op->variant[TT_TRISC1] = program_variant(n->p, "norm_math", NULL, 0);
	op->variant[TT_TRISC2] =
		program_variant(n->p, "store", (uint32_t[]){ (uint32_t)to->type, 1, 1, 0 }, 4);
	net_made(n, op, to);
}

void net_lanes(Net *n, const Planes *in, Planes *to, bool sum)
{
	ProgramOp *op = net_tiles(n, "lanes", in, 1, to, 0, 0);
	net_slide(op, 1, 1, 1, 1, 1);
	program_set(op, "lanes", 0, (uint32_t)(in->channels - 16 * (in->planes - 1)));
	op->variant[TT_TRISC0] =
		program_variant(n->p, "lanes_unpack", (uint32_t[]){ (uint32_t)in->type }, 1);
	op->variant[TT_TRISC1] = program_variant(n->p, "lanes_math", (uint32_t[]){ sum }, 1);
	op->variant[TT_TRISC2] =
		program_variant(n->p, "store", (uint32_t[]){ (uint32_t)to->type, 1, 1, 0 }, 4);
	net_made(n, op, to);
}
