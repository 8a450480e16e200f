/*
 * What BRISC moves beside ops: between DRAM and L1, to itself, from every core to
 * every other. Results are the same bytes as without.
 */
#include <string.h>

#include "backend/program_verify.h"
#include "tests/check.h"
#include "tests/device_net.h"
#include "tests/numbers.h"

enum { LEAD = 16, SLACK = 2048, BANK = 7 };

/* A tensor in DRAM: a page for each plane, all rows of all cores. */
typedef struct Parked {
	uint32_t at, page_bytes, slot_bytes;
	int height;
} Parked;

static Parked park(Net *n, const Planes *p, int height)
{
	const uint32_t pixels = (uint32_t)(height * p->pitch);
	Parked d = { (uint32_t)n->dram, pixels * (p->type == DEV_BF16 ? 32 : 17), 0, height };
	d.slot_bytes = (uint32_t)((BANK + p->planes) / TT_DRAM_BANKS + 1) * d.page_bytes;
	ProgramBuffer *b = program_buffer(n->p, arena_printf(n->t->arena, "d%d", n->p->nbuffers));
	b->place = PLACE_DRAM;
	b->address = d.at;
	b->bytes = 2 * (uint64_t)d.slot_bytes;
	n->dram += b->bytes;
	return d;
}

static uint32_t values_at(const Planes *p)
{
	return p->address
		+ (p->type == DEV_BF16 ? 0 : (uint32_t)(p->planes * p->height * p->pitch));
}

static ProgramOp *last_op(Net *n) { return &n->p->ops[n->p->nops - 1]; }

/* `rows` rows of all planes: row `y` of the buffer is row `row` in DRAM. */
static void move(Net *n, int core, const Planes *p, const Parked *d, bool out, TtMoveWhen when,
		 int y, int row, int rows)
{
	const uint32_t pitch = (uint32_t)p->pitch, unit = p->type == DEV_BF16 ? 32 : 16;
	const uint32_t exponents = p->type == DEV_BF16 ? 0 : (uint32_t)d->height * pitch;
	ProgramMove m = { .out = out,
			  .when = when,
			  .bank = BANK,
			  .at = d->at + exponents + (uint32_t)row * pitch * unit,
			  .page_bytes = d->page_bytes,
			  .slot_bytes = d->slot_bytes,
			  .l1 = values_at(p) + (uint32_t)y * pitch * unit,
			  .bytes = (uint32_t)rows * pitch * unit,
			  .count = (uint32_t)p->planes,
			  .step = (uint32_t)p->height * pitch * unit };
	program_move(n->p, last_op(n), core, m);
	if (p->type == DEV_BF16)
		return;
	m.at = d->at + (uint32_t)row * pitch;
	m.l1 = p->address + (uint32_t)y * pitch;
	m.bytes = (uint32_t)rows * pitch;
	m.step = (uint32_t)p->height * pitch;
	program_move(n->p, last_op(n), core, m);
}

/* The end of the buffer, which readers run into, and rows outside of the image. */
static void clear_rest(Net *n, const Planes *p)
{
	const uint32_t unit = p->type == DEV_BF16 ? 32 : 16;
	const uint32_t row = (uint32_t)p->pitch, plane = row * (uint32_t)p->height;
	const uint32_t end = (uint32_t)p->planes * plane, first = values_at(p);
	const uint32_t halo = (uint32_t)p->halo * row;
	for (int c = 0; c < n->p->ncores; c++) {
		program_zero(n->p, last_op(n), c,
			     (ProgramZero){ .at = first + end * unit, .bytes = SLACK,
					    .count = 1, .planes = 1 });
		for (int bottom = 0; bottom < 2 && halo; bottom++) {
			const uint32_t at = bottom ? plane - halo : 0;
			if (c != (bottom ? n->p->ncores - 1 : 0))
				continue;
			program_zero(n->p, last_op(n), c,
				     (ProgramZero){ .at = first + at * unit, .bytes = halo * unit,
						    .count = 1, .planes = (uint32_t)p->planes,
						    .plane_step = plane * unit });
			if (p->type != DEV_BF16)
				program_zero(n->p, last_op(n), c,
					     (ProgramZero){ .at = p->address + at, .bytes = halo,
							    .count = 1,
							    .planes = (uint32_t)p->planes,
							    .plane_step = plane });
		}
	}
}

/* All rows a core keeps in DRAM to those of another buffer. */
static void refill(Net *n, int core, const Planes *p, const Parked *d, TtMoveWhen when)
{
	const int first = core * p->rows - p->halo, end = first + p->height;
	const int from = first < 0 ? 0 : first, to = end > d->height ? d->height : end;
	move(n, core, p, d, false, when, from - first, from, to - from);
}

static int most(int a, int b) { return a > b ? a : b; }
static int least(int a, int b) { return a < b ? a : b; }

/* Where core `c` has its rows of a tensor, and which planes: all rows of some
 * planes, or some rows of all. */
typedef struct Cut {
	int row, end, plane, planes; /* rows and planes it has */
	int first;                   /* row of the tensor at the top of the buffer */
} Cut;

/* What `from` has and `to` wants, from core to core. */
static void push_common(Net *n, int a, int b, const Planes *from, Cut f, const Planes *to, Cut w)
{
	const int row = most(f.row, w.row), end = least(f.end, w.end);
	const int plane = most(f.plane, w.plane);
	const int last = least(f.plane + f.planes, w.plane + w.planes);
	for (int part = 0; part < (from->type == DEV_BF16 ? 1 : 2); part++) {
		const uint32_t unit = part ? 1 : from->type == DEV_BF16 ? 32 : 16;
		const uint32_t pitch = unit * (uint32_t)from->pitch;
		const uint32_t from_step = pitch * (uint32_t)from->height;
		const uint32_t to_step = pitch * (uint32_t)to->height;
		if (row >= end || plane >= last)
			return;
		program_push(n->p, last_op(n), a,
			     (ProgramPush){ .core = b,
					    .from = (part ? from->address : values_at(from))
						    + (uint32_t)(plane - f.plane) * from_step
						    + (uint32_t)(row - f.first) * pitch,
					    .to = (part ? to->address : values_at(to))
						    + (uint32_t)(plane - w.plane) * to_step
						    + (uint32_t)(row - w.first) * pitch,
					    .bytes = pitch * (uint32_t)(end - row),
					    .count = (uint32_t)(last - plane),
					    .from_step = from_step, .to_step = to_step });
	}
}

/* The band of a core: what it owns, or with the halo that it keeps. */
static Cut band(const Planes *p, int core, bool kept, int height)
{
	const int row = core * p->rows, halo = kept ? p->halo : 0;
	return (Cut){ most(row - halo, 0), least(row + p->rows + halo, height), 0, p->planes,
		      row - p->halo };
}

enum Way { DIRECT, BEFORE, ALONGSIDE, RESHARD };

/* y to DRAM, its neighbours told; z is there from the next op on. */
static void leave(Net *n, enum Way way, const Planes *y, Planes *z, const Parked *d)
{
	const int cores = n->p->ncores;
	z->op = n->p->nops - 1;
	for (int c = 0; c < cores; c++)
		for (int to = c - 1; to <= c + 1; to++) {
			if (to < 0 || to >= cores)
				continue;
			if (way == RESHARD)
				push_common(n, c, to, y, band(y, c, false, d->height), z,
					    band(z, to, true, d->height));
			else if (to == c)
				move(n, c, y, d, true, TT_MOVE_AFTER, 0, c * y->rows, y->rows);
			else
				program_push(n->p, last_op(n), c, (ProgramPush){ .core = to });
		}
	clear_rest(n, z);
}

/* Another op meanwhile, which waits for the rows in its neighbours' stead. */
static void refill_alongside(Net *n, const Planes *x, const Planes *z, const Parked *d)
{
	Planes other = net_planes(n, DEV_BF16, x->channels, x->rows, x->cols, 0);
	net_window(n, x, &other, 1, 1, false, false);
	for (int c = 0; c < n->p->ncores; c++) {
		refill(n, c, z, d, TT_MOVE_ALONGSIDE);
		for (int from = c - 1; from <= c + 1; from += 2)
			if (from >= 0 && from < n->p->ncores)
				program_arrival(n->p, last_op(n), c,
						(ProgramArrival){ .core = from, .op = z->op });
	}
}

enum { ROWS = 2, COLS = 40, CIN = 40, COUT = 20 };

/* A copy y of the input, then a 3x3 conv of it: of y itself, or of another buffer
 * z that got the rows of y by way of DRAM, or from core to core. */
static Net *conv_after(Fixture *t, enum Way way, DevTypes type, int cores)
{
	Rng r = { 3 };
	Net *n = net_open(t, cores);
	Planes x = net_planes(n, DEV_BF16, CIN, ROWS, COLS, 0);
	Planes y = net_planes(n, type, CIN, ROWS, COLS, way == DIRECT);
	Planes z = net_planes(n, type, CIN, ROWS, COLS, 1);
	Planes out = net_planes(n, DEV_BF16, COUT, ROWS, COLS, 0);
	const Parked d = park(n, &y, ROWS * cores);
	net_input(n, &x);
	net_window(n, &x, &y, 1, 1, false, false);
	if (way != DIRECT)
		leave(n, way, &y, &z, &d);
	if (way == ALONGSIDE)
		refill_alongside(n, &x, &z, &d);
	net_conv(n,
		 (Conv){ .kernel_h = 3, .kernel_w = 3, .dilation = 1, .n = 1, .hold = 2,
			 .weights = DEV_BF16, .phases = 4,
			 .values = numbers(t, &r, COUT * CIN * 9, 2),
			 .bias = numbers(t, &r, COUT, 9) },
		 way == DIRECT ? &y : &z, 1, &out);
	for (int c = 0; c < cores && way == BEFORE; c++)
		refill(n, c, &z, &d, TT_MOVE_BEFORE);
	net_output(n, &out);
	return n;
}

static void rows_by_any_way_are_the_same(void **state)
{
	static const DevTypes types[] = { DEV_BF16, DEV_BFP8_B };
	Fixture *t = *state;
	for (int k = 0; k < 4; k++) {
		const int cores = k % 2 ? 4 : 1;
		const int64_t count = (int64_t)COUT * ROWS * cores * COLS;
		Rng r = { 5 };
		float *values = numbers(t, &r, (int64_t)CIN * ROWS * cores * COLS, 3);
		float *want = arena_array(t->arena, float, count);
		float *got = arena_array(t->arena, float, count);
		net_run_all(conv_after(t, DIRECT, types[k / 2], cores), &values, want, count);
		for (enum Way way = BEFORE; way <= RESHARD; way++) {
			Net *n = conv_after(t, way, types[k / 2], cores);
			net_run_all(n, &values, got, count);
			assert_memory_equal(got, want, (size_t)count * sizeof *got);
			net_run(n, "emu:race", &values, got);
			assert_memory_equal(got, want, (size_t)count * sizeof *got);
		}
	}
}

/* All wait for the op before the last one, in which all pushed to all. */
static void await_all(Net *n)
{
	const int op = n->p->nops - 2;
	for (int to = 0; to < n->p->ncores; to++)
		for (int from = 0; from < n->p->ncores; from++)
			if (from != to)
				program_arrival(n->p, last_op(n), to,
						(ProgramArrival){ .core = from, .op = op });
}

/* From a row of all planes a core to a plane of all rows a core, in the op that made
 * them; or back, in one of its own. */
static void turn(Net *n, const Planes *from, const Planes *to, bool back)
{
	const int cores = n->p->ncores;
	if (back)
		program_op(n->p, "back", "reshard", NULL);
	clear_rest(n, to);
	for (int a = 0; a < cores; a++)
		for (int b = 0; b < cores; b++) {
			const Cut row = band(back ? to : from, back ? b : a, false, cores);
			const Cut plane = { 0, cores, back ? a : b, 1, 0 };
			push_common(n, a, b, from, back ? plane : row, to, back ? row : plane);
		}
}

static void each_core_pushes_to_all(void **state)
{
	enum { CORES = 64, WIDE = 5, COUNT = 16 * CORES * CORES * WIDE };
	Fixture *t = *state;
	Rng r = { 8 };
	Net *n = net_open(t, CORES);
	float *values = numbers(t, &r, COUNT, 3);
	float *got = arena_array(t->arena, float, COUNT);
	Planes x = net_planes(n, DEV_BF16, 16 * CORES, 1, WIDE, 0);
	Planes a = net_planes(n, DEV_BFP8_B, 16 * CORES, 1, WIDE, 0);
	Planes b = net_planes(n, DEV_BFP8_B, 16, CORES, WIDE, 0);
	Planes c = net_planes(n, DEV_BFP8_B, 16 * CORES, 1, WIDE, 0);
	net_input(n, &x);
	net_window(n, &x, &a, 1, 1, false, false);
	turn(n, &a, &b, false);
	turn(n, &b, &c, true);
	await_all(n);
	net_output(n, &c);
	await_all(n);
	net_run_all(n, &values, got, COUNT);
	assert_memory_equal(got, values, COUNT * sizeof *got);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(rows_by_any_way_are_the_same),
		CASE(each_core_pushes_to_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
