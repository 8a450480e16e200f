#include "ir/work_window.h"

enum { TILE = 32 };

typedef struct Span {
	int64_t first, end;
} Span;

static int64_t above(int64_t a, int64_t b) { return a > 0 ? (a + b - 1) / b : 0; }

static Span clipped(int64_t first, int64_t end, int64_t most)
{
	const int64_t last = end < most ? end : most;
	return (Span){ first, last > first ? last : first };
}

/* Taps down that position row y has in the image. */
static Span taps_down(const Work *w, int64_t y)
{
	const int64_t at = y * w->stride_h - w->pad_top;
	return clipped(above(-at, w->dilation_h), above(w->image_rows - at, w->dilation_h),
		       w->kernel_h);
}

/* Of `count` positions from column x on, those that have tap kx in the image. */
static Span positions(const Work *w, int64_t kx, int64_t x, int64_t count)
{
	const int64_t at = kx * w->dilation_w - w->pad_left;
	const int64_t pixel = at >= 0 ? at / w->stride_w : -above(-at, w->stride_w);
	const int64_t phase = at - pixel * w->stride_w, from = pixel + x;
	return clipped(from < 0 ? -from : 0, above(w->image_cols - phase, w->stride_w) - from,
		       count);
}

/* Runs that a part of 32 positions takes: single ones up to where a burst of
 * SrcA's rows begins, then the rest at once. */
static int64_t part_runs(const Work *w, Span s)
{
	const int64_t burst = w->in_type == DEV_F32 ? 1 : w->in_type == DEV_BF16 ? 2 : 4;
	const int64_t start = (s.first + burst - 1) / burst * burst;
	return start < s.end ? start - s.first + 1 : s.end - s.first;
}

/* The taps of one row of a window, for 32 positions. */
static Windows across(const Work *w, int64_t x, int64_t count)
{
	Windows sum = { 0 };
	for (int64_t kx = 0; kx < w->kernel_w; kx++) {
		const Span s = positions(w, kx, x, count);
		const bool whole = s.end - s.first == count;
		if (s.end == s.first)
			continue;
		sum.taps++;
		sum.runs += whole ? 1 : part_runs(w, s);
		sum.pixels += s.end - s.first;
		sum.fills += !whole;
	}
	return sum;
}

Windows work_windows(const Work *w)
{
	Windows all = { 0 };
	for (int64_t x = 0; x < w->cols; x += TILE) {
		const Windows row = across(w, x, w->cols - x < TILE ? w->cols - x : TILE);
		for (int64_t y = 0; y < w->rows; y++) {
			const Span s = taps_down(w, y);
			const int64_t down = s.end - s.first, taps = down * row.taps;
			all.tiles++;
			all.taps += taps ? taps : 1;
			all.threes += taps ? (taps + 1) / 3 : 0;
			all.runs += down * row.runs;
			all.pixels += down * row.pixels;
			all.fills += taps ? down * row.fills : 1;
		}
	}
	return all;
}
