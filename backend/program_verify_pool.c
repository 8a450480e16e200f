/* What windows and reductions take for granted (runtime/device/window.h, reduce_*.h,
 * norm_*.h, lanes_*.h). */
#include "backend/program_verify_tiles.h"
#include "runtime/device/reduce.h"

/* Pixels of the image that are read lie in the buffer: of every phase. */
static void check_image(const Tiles *t, bool strided)
{
	const TtTiles *p = &t->p;
	const uint32_t phases = strided ? 1 : p->stride_w;
	const uint32_t across = (p->image_cols + phases - 1) / phases;
	if (p->in_y[0] + p->image_rows > p->in_height[0])
		WRONG(t, "image_rows: %u from row %u on of %u", p->image_rows, p->in_y[0], p->in_height[0]);
	if (p->in_x[0] + across > p->in_pitch[0])
		WRONG(t, "image_cols: %u from column %u on of %u", across, p->in_x[0], p->in_pitch[0]);
	if (p->in_first[0] + p->in_planes[0] + (phases - 1) * p->in_phase[0] > p->in_total[0])
		WRONG(t, "in_phase: %u phases, %u planes apart, of %u planes", phases, p->in_phase[0],
		      p->in_total[0]);
}

static void check_store(const Tiles *t)
{
	if (tiles_told(t, TT_TRISC2, "store", "n") != 1 || tiles_told(t, TT_TRISC2, "store", "hold") != 1)
		WRONG(t, "store takes a tile at a time here");
}

void verify_window(const Tiles *t)
{
	const bool strided = tiles_told(t, TT_TRISC0, "window_unpack", "strided");
	if (t->p.segments != 1)
		WRONG(t, "segments: a window has one piece, not %u", t->p.segments);
	check_store(t);
	if (strided != (t->p.stride_w != 1 && !t->p.in_phase[0]))
		WRONG(t, "strided is %d, the column stride %u, in_phase %u", strided, t->p.stride_w,
		      t->p.in_phase[0]);
	if (strided && tiles_told(t, TT_TRISC0, "window_unpack", "in_type") == DEV_BFP8_B)
		WRONG(t, "columns of bfp8_b cannot be skipped");
	if (t->p.in_planes[0] != t->p.out_planes)
		WRONG(t, "%u planes in, %u out", t->p.in_planes[0], t->p.out_planes);
	check_image(t, strided);
}

/* A number for each channel in two pixels of piece s. */
static void check_stat(const Tiles *t, uint32_t s)
{
	const TtTiles *p = &t->p;
	if (p->in_planes[s] != p->in_planes[0])
		WRONG(t, "in_planes: piece %u has %u, piece 0 %u", s, p->in_planes[s], p->in_planes[0]);
	if (p->in_x[s] + 2 > p->in_pitch[s] || p->in_y[s] >= p->in_height[s])
		WRONG(t, "in_x, in_y: piece %u has no two pixels at (%u, %u) of %u x %u", s, p->in_y[s],
		      p->in_x[s], p->in_height[s], p->in_pitch[s]);
}

void verify_reduce(const Tiles *t)
{
	const TtTiles *p = &t->p;
	const uint32_t kind = tiles_told(t, TT_TRISC0, "reduce_unpack", "kind");
	const uint32_t pair = tiles_told(t, TT_TRISC1, "reduce_math", "pair");
	const uint32_t pixels = tiles_told(t, TT_TRISC2, "store_pixels", "pixels");
	const bool deviation = kind == TT_REDUCE_DEVIATION;
	const uint32_t onto = tiles_told(t, TT_TRISC0, "reduce_unpack", "onto");
	if (kind != tiles_told(t, TT_TRISC1, "reduce_math", "kind"))
		WRONG(t, "unpack and math are not told the same kind");
	if (onto != tiles_told(t, TT_TRISC1, "reduce_math", "onto") || (onto && onto != pixels))
		WRONG(t, "onto %u pixels of the result, of which %u are stored", onto, pixels);
	if (p->rows > 1 || p->cols != 1 + pair || (pixels && pixels != p->cols))
		WRONG(t, "cols, rows: %u x %u pixels of a result that has %u", p->rows, p->cols, 1 + pair);
	if (p->segments != 1u + deviation)
		WRONG(t, "segments: %u, not %u", p->segments, 1u + deviation);
	else if (deviation)
		check_stat(t, 1);
	if (!pixels)
		check_store(t);
	if (p->rows && (!p->image_rows || !p->image_cols))
		WRONG(t, "image_rows, image_cols: there are no pixels to reduce");
	check_image(t, true);
}

void verify_norm(const Tiles *t)
{
	const TtTiles *p = &t->p;
	check_store(t);
	if (p->segments != 3) {
		WRONG(t, "segments: %u, not 3", p->segments);
		return;
	}
	if (p->in_pitch[1] != p->in_pitch[2] || p->in_height[1] != p->in_height[2])
		WRONG(t, "in_pitch, in_height: pieces 1 and 2 differ");
	check_stat(t, 1);
	check_stat(t, 2);
}

void verify_lanes(const Tiles *t)
{
	check_store(t);
	if (t->p.segments != 1 || t->p.out_planes != 1)
		WRONG(t, "the largest channel is of one piece, and one plane");
	if (!t->p.lanes)
		WRONG(t, "lanes: no channel of the last plane counts");
}
