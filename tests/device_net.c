#include "tests/device_net.h"

#include <stdlib.h>
#include <string.h>

#include "backend/emit.h"
#include "ir/weight_block.h"
#include "runtime/host/tessera_rt.h"
#include "tests/check.h"

enum { PARTS = 4 }; /* of a host edge: all RISC-Vs but one */
enum { LEAD = 16, SLACK = 2048, IMAGE_PAGE = 2048, CREDIT = 0, ARRIVED = 1 };

Net *net_open(Fixture *t, int cores)
{
	Net *n = arena_new(t->arena, Net);
	*n = (Net){ .t = t, .p = program_create(t->arena, "net", "wormhole_n150"), .l1 = TT_USER };
	for (int c = 0; c < cores; c++)
		program_core(n->p, c % 8, c / 8);
	program_semaphore(n->p, "credit")->id = CREDIT;
	program_semaphore(n->p, "arrived")->id = ARRIVED;
	return n;
}

static uint32_t take_l1(Net *n, const char *name, uint64_t bytes)
{
	ProgramBuffer *b = program_buffer(n->p, name);
	b->place = PLACE_L1;
	b->core = -1;
	b->address = n->l1;
	b->bytes = (bytes + 31) / 32 * 32;
	n->l1 += (uint32_t)b->bytes;
	return (uint32_t)b->address;
}

static uint64_t take_dram(Net *n, uint64_t bytes)
{
	const uint64_t at = n->dram;
	n->dram += (bytes + 31) / 32 * 32;
	return at;
}

/* Exponents and values. */
static int pixel_bytes(DevTypes type) { return dev_pixel_bytes(type) + (type == DEV_BFP8_B); }

Planes net_planes(Net *n, DevTypes type, int channels, int rows, int cols, int halo)
{
	return net_sets(n, type, channels, rows, cols, halo, 1);
}

static int all_planes(const Planes *p) { return p->planes * p->sets; }

Planes net_sets(Net *n, DevTypes type, int channels, int rows, int cols, int halo, int sets)
{
	Planes p = { .type = type, .channels = channels, .rows = rows, .cols = cols,
		     .halo = halo, .planes = (channels + 15) / 16, .height = rows + 2 * halo,
		     .pitch = LEAD + (cols + 15) / 16 * 16, .sets = sets };
	const int64_t pixels = (int64_t)all_planes(&p) * p.height * p.pitch;
	const char *name = arena_printf(n->t->arena, "planes%d", n->p->nbuffers);
	p.address = take_l1(n, name, (uint64_t)pixel_bytes(type) * (uint64_t)pixels + SLACK);
	return p;
}

/* Zeros around the pixels of a core: `unit` bytes each from `at` on. */
static void zero_around(Net *n, ProgramOp *op, const Planes *p, int core, uint32_t at,
			uint32_t unit)
{
	const uint32_t row = (uint32_t)p->pitch * unit, plane = row * (uint32_t)p->height;
	const uint32_t planes = (uint32_t)all_planes(p);
	const uint32_t tail = (uint32_t)(p->pitch - LEAD - p->cols);
	const uint32_t outer = row * (uint32_t)p->halo;
	program_zero(n->p, op, core,
		     (ProgramZero){ .at = at,
				    .bytes = LEAD * unit,
				    .count = (uint32_t)p->height,
				    .step = row,
				    .planes = planes,
				    .plane_step = plane });
	if (tail)
		program_zero(n->p, op, core,
			     (ProgramZero){ .at = at + row - tail * unit,
					    .bytes = tail * unit,
					    .count = (uint32_t)p->height,
					    .step = row,
					    .planes = planes,
					    .plane_step = plane });
	if (p->halo && core == 0)
		program_zero(n->p, op, core,
			     (ProgramZero){ .at = at, .bytes = outer, .count = 1,
					    .planes = planes, .plane_step = plane });
	if (p->halo && core == n->p->ncores - 1)
		program_zero(n->p, op, core,
			     (ProgramZero){ .at = at + plane - outer, .bytes = outer, .count = 1,
					    .planes = planes, .plane_step = plane });
}

static uint32_t mantissas(const Planes *p)
{
	return p->type != DEV_BFP8_B ? 0 : (uint32_t)(all_planes(p) * p->height * p->pitch);
}

/* `halo` rows of values, or of exponents, to the core above or below. */
static void push_rows(Net *n, ProgramOp *op, const Planes *p, int core, int to, uint32_t at,
		      uint32_t unit)
{
	const uint32_t row = (uint32_t)p->pitch * unit, plane = row * (uint32_t)p->height;
	const uint32_t bytes = row * (uint32_t)p->halo;
	const uint32_t first = at + bytes, end = first + row * (uint32_t)p->rows;
	program_push(n->p, op, core,
		     (ProgramPush){ .core = to,
				    .from = to < core ? first : end - bytes,
				    .to = to < core ? end : at,
				    .bytes = bytes,
				    .count = (uint32_t)all_planes(p),
				    .from_step = plane,
				    .to_step = plane });
}

void net_made(Net *n, ProgramOp *op, Planes *p)
{
	const uint32_t from = p->address + mantissas(p);
	const uint32_t unit = (uint32_t)dev_pixel_bytes(p->type);
	const uint64_t pixels = (uint64_t)(all_planes(p) * p->height * p->pitch);
	p->op = n->p->nops - 1;
	for (int c = 0; c < n->p->ncores; c++) {
		zero_around(n, op, p, c, from, unit);
		program_zero(n->p, op, c,
			     (ProgramZero){ .at = from + (uint32_t)pixels * unit,
					    .bytes = SLACK,
					    .count = 1,
					    .planes = 1 });
		if (p->type == DEV_BFP8_B) /* exponents nobody writes must be something */
			zero_around(n, op,
				    &(Planes){ .pitch = p->pitch,
					       .height = p->height,
					       .planes = all_planes(p),
					       .sets = 1,
					       .cols = p->pitch - LEAD,
					       .halo = p->halo },
				    c, p->address, 1);
		for (int to = c - 1; p->halo && to <= c + 1; to += 2) {
			if (to < 0 || to >= n->p->ncores)
				continue;
			push_rows(n, op, p, c, to, from, unit);
			if (p->type == DEV_BFP8_B)
				push_rows(n, op, p, c, to, p->address, 1);
		}
	}
}

static void await(Net *n, ProgramOp *op, const Planes *in)
{
	for (int c = 0; in->halo && c < n->p->ncores; c++) {
		if (c > 0)
			program_arrival(n->p, op, c,
					(ProgramArrival){ .core = c - 1, .op = in->op });
		if (c < n->p->ncores - 1)
			program_arrival(n->p, op, c,
					(ProgramArrival){ .core = c + 1, .op = in->op });
	}
}

static ProgramTensor host_tensor(Net *n, const Planes *p)
{
	const int64_t height = (int64_t)p->rows * n->p->ncores;
	const uint32_t value = p->type == DEV_F32 ? 4 : 2;
	const uint32_t page = ((uint32_t)p->cols * value + 31) / 32 * 32;
	const uint64_t pages = (uint64_t)(p->sets * p->channels * height);
	const uint64_t slot = (pages + TT_DRAM_BANKS - 1) / TT_DRAM_BANKS * page;
	return (ProgramTensor){ .stored = p->type == DEV_F32 ? TT_HOST_F32 : TT_HOST_BF16,
				.shape = { p->sets, p->channels, height, p->cols },
				.page_bytes = page, .slot_bytes = slot,
				.base = take_dram(n, 2 * slot) };
}

static ProgramOp *edge(Net *n, const Planes *p, const ProgramTensor *h, const char *kind, int set)
{
	ProgramOp *op =
		program_op(n->p, arena_printf(n->t->arena, "%s%d", kind, n->p->nops), kind, "edge");
	program_set(op, "base", 0, (uint32_t)h->base);
	program_set(op, "slot_bytes", 0, (uint32_t)h->slot_bytes);
	program_set(op, "page_bytes", 0, h->page_bytes);
	program_set(op, "channels", 0, (uint32_t)p->channels);
	program_set(op, "height", 0, (uint32_t)h->shape[2]);
	program_set(op, "width", 0, (uint32_t)p->cols);
	program_set(op, "rows", 0, (uint32_t)p->rows);
	program_set(op, "at", 0, p->address);
	program_set(op, "pitch", 0, (uint32_t)p->pitch);
	program_set(op, "buffer_height", 0, (uint32_t)p->height);
	program_set(op, "batch", 0, (uint32_t)set);
	program_set(op, "total", 0, (uint32_t)all_planes(p));
	program_set(op, "first", 0, (uint32_t)(set * p->planes));
	program_set(op, "planes", 0, (uint32_t)p->planes);
	program_set(op, "x", 0, LEAD);
	program_set(op, "y", 0, (uint32_t)p->halo);
	program_set(op, "turns", 0, TT_EDGE_TURNS);
	program_set(op, "scratch", 0,
		    take_l1(n, arena_printf(n->t->arena, "scratch%d", n->p->nops),
			    TT_EDGE_SLOTS * 16 * h->page_bytes));
	for (int c = 0; c < n->p->ncores; c++)
		program_set_core(n->p, op, c, "row", 0, (uint32_t)(c * p->rows));
	return op;
}

static Shape shape_of(const ProgramTensor *h)
{
	Shape s = { .rank = 4 };
	memcpy(s.dim, h->shape, sizeof h->shape);
	return s;
}

void net_input(Net *n, Planes *to)
{
	const ProgramTensor h = host_tensor(n, to);
	ProgramEdge *e = program_input(n->p, arena_printf(n->t->arena, "in%d", n->p->ninputs),
				       TYPE_F32, shape_of(&h));
	program_part(n->p, e, shape_of(&h))->tensor = h;
	for (int set = 0; set < to->sets; set++) {
		ProgramOp *op = edge(n, to, &h, "edge_in", set);
		op->variant[TT_NCRISC] =
			program_variant(n->p, "edge_read", (uint32_t[]){ PARTS }, 1);
		for (uint32_t part = 0; part < PARTS; part++)
			op->variant[part ? part + 1 : TT_BRISC] =
				program_variant(n->p, "edge_in", (uint32_t[]){ part, PARTS }, 2);
		if (set == to->sets - 1)
			net_made(n, op, to);
	}
}

void net_output(Net *n, const Planes *from)
{
	const ProgramTensor h = host_tensor(n, from);
	ProgramEdge *e = program_output(n->p, "out", TYPE_F32, shape_of(&h));
	program_part(n->p, e, shape_of(&h))->tensor = h;
	for (int set = 0; set < from->sets; set++) {
		ProgramOp *op = edge(n, from, &h, "edge_out", set);
		op->variant[TT_BRISC] = program_variant(
			n->p, "edge_write", (uint32_t[]){ PARTS, from->type == DEV_F32 }, 2);
		for (uint32_t part = 0; part < PARTS; part++)
			op->variant[TT_NCRISC + part] = program_variant(
				n->p, "edge_out", (uint32_t[]){ (uint32_t)from->type, part, PARTS },
				3);
	}
}

ProgramOp *net_tiles(Net *n, const char *kind, const Planes *in, int nin, const Planes *to,
		     int pad_h, int pad_w)
{
	ProgramOp *op = program_op(n->p, arena_printf(n->t->arena, "%s%d", kind, n->p->nops), kind,
				   "tiles");
	program_set(op, "segments", 0, (uint32_t)nin);
	for (int i = 0; i < nin; i++) {
		program_set(op, "in", i, in[i].address);
		program_set(op, "in_pitch", i, (uint32_t)in[i].pitch);
		program_set(op, "in_height", i, (uint32_t)in[i].height);
		program_set(op, "in_total", i, (uint32_t)all_planes(&in[i]));
		program_set(op, "in_planes", i, (uint32_t)in[i].planes);
		program_set(op, "in_x", i, (uint32_t)(LEAD - pad_w));
		program_set(op, "in_y", i, (uint32_t)(in[i].halo - pad_h));
		await(n, op, &in[i]);
	}
	program_set(op, "out", 0, to->address);
	program_set(op, "out_pitch", 0, (uint32_t)to->pitch);
	program_set(op, "out_height", 0, (uint32_t)to->height);
	program_set(op, "out_total", 0, (uint32_t)all_planes(to));
	program_set(op, "out_planes", 0, (uint32_t)to->planes);
	program_set(op, "out_x", 0, LEAD);
	program_set(op, "out_y", 0, (uint32_t)to->halo);
	program_set(op, "rows", 0, (uint32_t)to->rows);
	program_set(op, "cols", 0, (uint32_t)to->cols);
	return op;
}

void net_slide(ProgramOp *op, int h, int w, int dilation, int stride_h, int stride_w)
{
	program_set(op, "kernel_h", 0, (uint32_t)h);
	program_set(op, "kernel_w", 0, (uint32_t)w);
	program_set(op, "dilation_h", 0, (uint32_t)dilation);
	program_set(op, "dilation_w", 0, (uint32_t)dilation);
	program_set(op, "stride_h", 0, (uint32_t)stride_h);
	program_set(op, "stride_w", 0, (uint32_t)stride_w);
}

/* Weights of input channel c, counted from `first`, for padded output channel o. */
static float weight(const Conv *c, bool transposed, int cin, int cout, int o, int ch, int tap,
		    int taps)
{
	const int tile = o / TILE, real = transposed ? tile / 4 * TILE + o % TILE : o;
	if (real >= cout)
		return 0;
	if (transposed)
		return c->values[(ch * cout + real) * 4 + tile % 4];
	return c->values[(real * cin + ch) * taps + tap];
}

/* One piece's blocks of all groups. */
static uint8_t *pack_piece(Net *n, const Conv *c, bool transposed, const WeightBlocks *w,
			   const Planes *in, int first, int cin, int cout)
{
	float *all = arena_array(n->t->arena, float, (int64_t)w->cout * w->cin * w->taps);
	uint8_t *to = arena_alloc(n->t->arena, weight_bytes(w));
	for (uint32_t o = 0; o < w->cout; o++)
		for (int i = 0; i < in->channels; i++)
			for (uint32_t k = 0; k < w->taps; k++)
				all[(o * w->cin + (uint32_t)i) * w->taps + k] =
					weight(c, transposed, cin, cout, (int)o, first + i, (int)k,
					       (int)w->taps);
	weight_blocks_pack(w, all, (WeightStrides){ 1, w->taps, (int64_t)w->cin * w->taps }, to);
	return to;
}

static WeightBlocks blocks_of(const Conv *c, bool transposed, const Planes *in, int groups)
{
	const uint32_t k = (uint32_t)(in->planes + 1) / 2;
	return (WeightBlocks){ .type = (uint32_t)c->weights,
			       .taps = transposed ? 1 : (uint32_t)(c->kernel_h * c->kernel_w),
			       .cin = TILE * k,
			       .cout = TILE * (uint32_t)(groups * c->n),
			       .k = c->k_block ? (uint32_t)c->k_block : k,
			       .n = (uint32_t)c->n };
}

/* Pages of all groups, and how long one is. */
static uint8_t *pack_pages(Net *n, const Conv *c, bool transposed, const Planes *in, int nin,
			   int cout, int groups, uint32_t *page)
{
	const uint32_t bias = 128 * (uint32_t)c->n;
	int cin = 0, first = 0;
	*page = bias;
	for (int i = 0; i < nin; i++) {
		const WeightBlocks w = blocks_of(c, transposed, &in[i], groups);
		*page += (uint32_t)(weight_bytes(&w) / (uint64_t)groups);
		cin += in[i].channels;
	}
	uint8_t *data = arena_alloc(n->t->arena, (size_t)*page * (size_t)groups);
	for (int o = 0; o < groups * c->n * TILE; o++) {
		const int real = transposed ? o / TILE / 4 * TILE + o % TILE : o;
		const float v = float_to_tf32(real < cout ? c->bias[real] : 0);
		memcpy(data + (size_t)(o / (c->n * TILE)) * *page + 4 * (size_t)(o % (c->n * TILE)),
		       &v, 4);
	}
	uint32_t at = bias;
	for (int i = 0; i < nin; first += in[i++].channels) {
		const WeightBlocks w = blocks_of(c, transposed, &in[i], groups);
		const size_t each = weight_bytes(&w) / (size_t)groups;
		const uint8_t *piece = pack_piece(n, c, transposed, &w, &in[i], first, cin, cout);
		for (int g = 0; g < groups; g++)
			memcpy(data + (size_t)g * *page + at, piece + (size_t)g * each, each);
		at += (uint32_t)each;
	}
	return data;
}

void net_pages(Net *n, ProgramOp *op, const uint8_t *data, uint32_t page, int groups, int pages)
{
	Program *p = n->p;
	const uint64_t bytes = (uint64_t)page * (uint64_t)groups;
	const char *name = arena_printf(n->t->arena, "w%d", p->nops);
	ProgramImage *image = program_image(p, name, data, bytes);
	image->page_bytes = IMAGE_PAGE;
	image->bank = 5;
	image->address = take_dram(n, (bytes / IMAGE_PAGE / TT_DRAM_BANKS + 1) * IMAGE_PAGE);
	const uint32_t ring = take_l1(n, arena_printf(n->t->arena, "ring%d", p->nops),
				      (uint64_t)page * (uint64_t)pages);
	*program_cb(p, op, 0) = (ProgramCb){ .address = ring, .page_bytes = page, .pages = pages };
	program_set(op, "groups", 0, (uint32_t)groups);
	program_set(op, "weights", 0, ring);
	program_set(op, "page_bytes", 0, page);
	program_set(op, "pages", 0, (uint32_t)pages);
	program_set(op, "dram_bank", 0, 5);
	program_set(op, "dram_at", 0, (uint32_t)image->address);
	program_set(op, "dram_page", 0, IMAGE_PAGE);
	op->variant[TT_NCRISC] =
		program_variant(p, p->ncores == 1 ? "weights_read" : "weights_receive", NULL, 0);
	if (p->ncores == 1)
		return;
	/* Another core fetches for each op. */
	const int fetcher = p->nops % p->ncores, last = p->ncores - 1;
	program_run_on(op, fetcher, TT_NCRISC, program_variant(p, "weights_fetch", NULL, 0));
	program_set(op, "fetch_node", 0,
		    TT_NODE(TT_VIRTUAL + fetcher % 8, TT_VIRTUAL + fetcher / 8));
	program_set(op, "mcast_first", 0, TT_NODE(TT_VIRTUAL, TT_VIRTUAL));
	program_set(op, "mcast_last", 0,
		    TT_NODE(TT_VIRTUAL + (last < 8 ? last : 7), TT_VIRTUAL + last / 8));
	program_set(op, "receivers", 0, (uint32_t)last);
	program_set(op, "credit_semaphore", 0, CREDIT);
	program_set(op, "arrived_semaphore", 0, ARRIVED);
}

static void set_weights(Net *n, ProgramOp *op, const Conv *c, bool transposed, const Planes *in,
			int nin, const Planes *to)
{
	const int tiles_out = (to->planes + 1) / 2 * (transposed ? 4 : 1);
	const int groups = (tiles_out + c->n - 1) / c->n;
	uint32_t page;
	const uint8_t *data = pack_pages(n, c, transposed, in, nin, to->channels, groups, &page);
	for (int i = 0; i < nin; i++)
		program_set(op, "k_block", i, blocks_of(c, transposed, &in[i], groups).k);
	net_pages(n, op, data, page, groups, c->pages ? c->pages : groups);
}

static void set_product(Net *n, ProgramOp *op, const Conv *c, DevTypes in)
{
	const uint32_t count = (uint32_t)c->n, hold = (uint32_t)c->hold;
	op->variant[TT_TRISC0] =
		program_variant(n->p, "conv_unpack",
				(uint32_t[]){ (uint32_t)in, (uint32_t)c->weights, count, hold }, 4);
	op->variant[TT_TRISC1] = program_variant(
		n->p, "conv_math", (uint32_t[]){ count, hold, (uint32_t)c->phases }, 3);
	if (c->sigmoid)
		op->act = program_variant(n->p, "act_sigmoid", NULL, 0);
}

void net_conv(Net *n, Conv c, const Planes *in, int nin, Planes *to)
{
	ProgramOp *op = net_tiles(n, "conv", in, nin, to, c.kernel_h / 2 * c.dilation, c.kernel_w / 2 * c.dilation);
	net_slide(op, c.kernel_h, c.kernel_w, c.dilation, c.stride_h ? c.stride_h : 1, 1);
	set_product(n, op, &c, in->type);
	op->variant[TT_TRISC2] = program_variant(
		n->p, "store",
		(uint32_t[]){ (uint32_t)to->type, (uint32_t)c.n, (uint32_t)c.hold, c.relu }, 4);
	set_weights(n, op, &c, false, in, nin, to);
	net_made(n, op, to);
}

void net_deconv(Net *n, Conv c, const Planes *in, Planes *to)
{
	ProgramOp *op = net_tiles(n, "deconv", in, 1, to, 0, 0);
	net_slide(op, 1, 1, 1, 1, 1);
	program_set(op, "rows", 0, (uint32_t)in->rows);
	program_set(op, "cols", 0, (uint32_t)in->cols);
	set_product(n, op, &c, in->type);
	op->variant[TT_TRISC2] =
		program_variant(n->p, "store_pairs", (uint32_t[]){ (uint32_t)to->type, c.relu }, 2);
	set_weights(n, op, &c, true, in, 1, to);
	net_made(n, op, to);
}

void net_window(Net *n, const Planes *in, Planes *to, int kernel, int stride, bool relu,
		bool sigmoid)
{
	ProgramOp *op = net_tiles(n, "window", in, 1, to, 0, 0);
	program_set(op, "image_rows", 0, (uint32_t)in->rows);
	program_set(op, "image_cols", 0, (uint32_t)in->cols);
	net_slide(op, kernel, kernel, 1, stride, stride);
	op->variant[TT_TRISC0] = program_variant(
		n->p, "window_unpack", (uint32_t[]){ (uint32_t)in->type, stride != 1 }, 2);
	op->variant[TT_TRISC1] = program_variant(n->p, "window_math", NULL, 0);
	op->variant[TT_TRISC2] =
		program_variant(n->p, "store", (uint32_t[]){ (uint32_t)to->type, 1, 1, relu }, 4);
	if (sigmoid)
		op->act = program_variant(n->p, "act_sigmoid", NULL, 0);
	net_made(n, op, to);
}

void net_run(Net *n, const char *device, float *const *in, float *out)
{
	Emission e;
	TesseraError error;
	TesseraArray arrays[8], result;
	const Target *target = target_load(n->t->arena, &n->t->diag, "wormhole_n150");
	for (int i = 0; i < n->p->nbuffers; i++)
		n->p->buffers[i].last = n->p->nops - 1;
	n->p->dram_free = n->dram;
	const EmitOptions options = { .compiler = "test", .code_budget = n->code_budget, .iram = n->iram };
	if (!emit_program(&e, n->t->arena, &n->t->diag, n->p, target, &options))
		fail_msg("%s", fixture_said(n->t));
	n->overlays = e.overlays;
	if (net_emitted)
		net_emitted(n, &e);
	TesseraPackage *package = tessera_package_memory(e.package.data, e.package.size, &error);
	TesseraDevice *d = package ? tessera_device_open(device, &error) : NULL;
	TesseraProgram *program = d ? tessera_load(d, package, &error) : NULL;
	if (!program)
		fail_msg("%s\n%s", error.text, error.detail);
	const size_t inputs = tessera_input_count(package);
	for (size_t i = 0; i < inputs; i++) {
		const TesseraTensor t = tessera_input(package, i);
		arrays[i] = tessera_array(&t, in[i]);
	}
	const TesseraTensor t = tessera_output(package, 0);
	result = tessera_array(&t, out);
	for (int run = 0; run < 2; run++)
		if (!tessera_run(program, arrays, inputs, &result, 1, &error))
			fail_msg("%s\n%s", error.text, error.detail);
	tessera_unload(program);
	tessera_device_close(d);
	tessera_package_close(package);
}

void net_run_all(Net *n, float *const *in, float *out, int64_t count)
{
	const char *ttsim = getenv("TESSERA_TTSIM");
	net_run(n, "emu:threads=1", in, out);
	if (!ttsim || !*ttsim)
		return;
	float *other = arena_array(n->t->arena, float, count);
	net_run(n, arena_printf(n->t->arena, "ttsim:%s", ttsim), in, other);
	assert_memory_equal(out, other, (size_t)count * sizeof *out);
}
