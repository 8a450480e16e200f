/* What windows and reductions take for granted (runtime/device/window.h). */
#include "backend/program_verify_tiles.h"

/* Pixels of the image that are read lie in the buffer: of every phase. */
static void check_image(const Tiles *t, bool strided)
{
	const TtTiles *p = &t->p;
	const uint32_t phases = strided ? 1 : p->stride_w;
	const uint32_t across = (p->image_cols + phases - 1) / phases;
	const bool none = !p->image_rows && p->rows; /* a core without rows reads none */
	if (none || p->in_y[0] + p->image_rows > p->in_height[0])
		WRONG(t, "image_rows: %u from row %u on of %u", p->image_rows, p->in_y[0], p->in_height[0]);
	if (!p->image_cols || p->in_x[0] + across > p->in_pitch[0])
		WRONG(t, "image_cols: %u from column %u on of %u", across, p->in_x[0], p->in_pitch[0]);
	if (p->in_first[0] + p->in_planes[0] + (phases - 1) * p->in_phase[0] > p->in_total[0])
		WRONG(t, "in_phase: %u phases, %u planes apart, of %u planes", phases, p->in_phase[0],
		      p->in_total[0]);
}

void verify_window(const Tiles *t)
{
	const bool strided = tiles_told(t, TT_TRISC0, "window_unpack", "strided");
	if (t->p.segments != 1 || tiles_told(t, TT_TRISC2, "store", "n") != 1
	    || tiles_told(t, TT_TRISC2, "store", "hold") != 1)
		WRONG(t, "a window has one piece, and a tile at a time");
	if (strided != (t->p.stride_w != 1 && !t->p.in_phase[0]))
		WRONG(t, "strided is %d, the column stride %u, in_phase %u", strided, t->p.stride_w,
		      t->p.in_phase[0]);
	if (strided && tiles_told(t, TT_TRISC0, "window_unpack", "in_type") != DEV_BF16)
		WRONG(t, "columns of bfp8_b cannot be skipped");
	if (t->p.in_planes[0] != t->p.out_planes)
		WRONG(t, "%u planes in, %u out", t->p.in_planes[0], t->p.out_planes);
	check_image(t, strided);
}
