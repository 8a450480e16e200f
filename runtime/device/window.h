/*
 * Which taps of a window lie in the image: arithmetic that the unpack and the
 * math side of a window share, since both count taps.
 *
 * Rows: the buffer holds `image_rows` rows of the image from row in_y on. Tap ky
 * of position row y is row y * stride_h + ky * dilation_h - pad_top of them, or
 * lies outside, above or below; outer rows are not read at all.
 *
 * Columns: the same with image_cols, in_x and pad_left, for 32 positions at a
 * time. Column c of the image is pixel in_x + c / stride_w of phase c % stride_w
 * where the tensor is stored in column phases, else pixel in_x + c. A tap is read
 * if one of the 32 positions has it inside.
 */
#ifndef RUNTIME_DEVICE_WINDOW_H
#define RUNTIME_DEVICE_WINDOW_H

#include "runtime/device/tiles.h"

/* Of 32 positions or taps, those from `first` to `end`. */
typedef struct TtSpan {
	int32_t first, end;
} TtSpan;

TT_INLINE int32_t tt_up(int32_t a, int32_t b) /* a / b rounded up; a > 0 */
{
	return (a + b - 1) / b;
}

/* Taps down that position row y has in the image. */
TT_INLINE TtSpan tt_window_rows(const TtTiles *p, uint32_t y)
{
	const int32_t at = (int32_t)(y * p->stride_h) - (int32_t)p->pad_top;
	const int32_t left = (int32_t)p->image_rows - at, step = (int32_t)p->dilation_h;
	TtSpan s = { at < 0 ? tt_up(-at, step) : 0, left > 0 ? tt_up(left, step) : 0 };
	if (s.end > (int32_t)p->kernel_h)
		s.end = (int32_t)p->kernel_h;
	if (s.end < s.first)
		s.end = s.first;
	return s;
}

/* Where tap kx of position column 0 lies: its phase, and the pixel there, from
 * the first of the image on. */
typedef struct TtColumn {
	int32_t phase, pixel;
} TtColumn;

TT_INLINE TtColumn tt_window_column(const TtTiles *p, uint32_t kx)
{
	const int32_t at = (int32_t)(kx * p->dilation_w) - (int32_t)p->pad_left;
	const int32_t stride = (int32_t)p->stride_w;
	const int32_t pixel = at >= 0 ? at / stride : -tt_up(-at, stride);
	return (TtColumn){ at - pixel * stride, pixel };
}

/* Which of `count` positions from column x on have the tap in the image. */
TT_INLINE TtSpan tt_window_span(const TtTiles *p, TtColumn c, uint32_t x, uint32_t count)
{
	const int32_t at = c.pixel + (int32_t)x, left = (int32_t)p->image_cols - c.phase;
	TtSpan s = { at < 0 ? -at : 0, (left > 0 ? tt_up(left, (int32_t)p->stride_w) : 0) - at };
	if (s.end > (int32_t)count)
		s.end = (int32_t)count;
	if (s.end < s.first)
		s.end = s.first;
	return s;
}

/* Taps across that are read for `count` positions from column x on. */
TT_INLINE uint32_t tt_window_columns(const TtTiles *p, uint32_t x, uint32_t count)
{
	uint32_t taps = 0;
	for (uint32_t kx = 0; kx < p->kernel_w; kx++) {
		const TtSpan s = tt_window_span(p, tt_window_column(p, kx), x, count);
		taps += s.end > s.first;
	}
	return taps;
}

#endif
