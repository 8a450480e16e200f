#include "passes/pack.h"

#include <stdlib.h>

static int by_number(const void *x, const void *y)
{
	const int a = *(const int *)x, b = *(const int *)y;
	return (a > b) - (a < b);
}

/* The last of the births that is not after t. */
static int time_of(const int *births, int n, int t)
{
	int low = 0;
	while (low + 1 < n && births[low + 1] <= t)
		low++;
	return low;
}

PackTimes pack_times(Arena *a, const Box *v, int n)
{
	PackTimes w = { 0, arena_array(a, int, n + 1), arena_array(a, int, n + 1),
			arena_array(a, int, n + 1) };
	int *births = arena_array(a, int, n + 1);
	for (int i = 0; i < n; i++)
		births[i] = v[i].born;
	qsort(births, (size_t)n, sizeof *births, by_number);
	for (int i = 0; i < n; i++)
		if (!w.n || births[i] != births[w.n - 1])
			births[w.n++] = births[i];
	for (int i = 0; i < n; i++) {
		int k = i;
		w.first[i] = time_of(births, w.n, v[i].born);
		w.last[i] = time_of(births, w.n, v[i].dies);
		for (; k > 0; k--) {
			const int o = w.longest[k - 1];
			if (w.last[o] - w.first[o] >= w.last[i] - w.first[i])
				break;
			w.longest[k] = o;
		}
		w.longest[k] = i;
	}
	return w;
}
