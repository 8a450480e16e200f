/*
 * How a convolution goes over its rows on a given grid: act_block_h_override,
 * act_block_w_div and the double buffers. Nothing outside of the op depends on them, so
 * that of any two the one that takes longer and holds more is never wanted.
 */
#include "passes/ttnn_search.h"

#include <stdlib.h>

#include "passes/ttnn_time.h"

const TtnnField ttnn_block_fields[4] = { TTNN_ABH, TTNN_WDIV, TTNN_ACT_DB, TTNN_W_DB };

enum { FIELDS = 4, MOST_ROWS = 512, MOST_DIVISORS = 64 };

typedef struct Found {
	int v[FIELDS];
	int64_t ps, bytes;
} Found;

int ttnn_values(const TtnnSearch *s, int i, TtnnField f, const int *all, int n, int *to)
{
	if (s->pins[i].fixed >> f & 1) {
		to[0] = s->pins[i].value.v[f];
		return 1;
	}
	for (int k = 0; k < n; k++)
		to[k] = all[k];
	return n;
}

/* Divisors of a core's rows of tiles, in pixels: the whole of them is no override. */
static int overrides(int64_t rows, int *to)
{
	int n = 0;
	to[n++] = 0;
	for (int64_t d = 1; d < rows && n < MOST_DIVISORS; d++)
		if (rows % d == 0)
			to[n++] = (int)(d * TTNN_SIDE);
	return n;
}

/* ttnn finds the grid of a convolution it may cut anew from the override. */
static bool grid_follows(const TtnnSearch *s, const TtnnConv *c, const TtnnChoice *choice)
{
	if (!choice->v[TTNN_RESHARD])
		return true;
	const TtnnGrid g = ttnn_grid(s->t, c, choice->v[TTNN_SHARD], choice->v[TTNN_ABH]);
	return g.rows == choice->v[TTNN_ROWS] && g.planes == choice->v[TTNN_PLANES];
}

static int by_time(const void *a, const void *b)
{
	const Found *x = a, *y = b;
	if (x->ps != y->ps)
		return x->ps < y->ps ? -1 : 1;
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	for (int i = 0; i < FIELDS; i++)
		if (x->v[i] != y->v[i])
			return x->v[i] < y->v[i] ? -1 : 1;
	return 0;
}

static TtnnBlockList *thin_out(TtnnSearch *s, Found *found, int n)
{
	TtnnBlockList *l = arena_new(s->arena, TtnnBlockList);
	qsort(found, (size_t)n, sizeof *found, by_time);
	l->list = arena_alloc(s->arena, (size_t)n * sizeof *l->list);
	for (int i = 0; i < n; i++) {
		if (l->n && l->list[l->n - 1].bytes <= found[i].bytes)
			continue;
		for (int k = 0; k < FIELDS; k++)
			l->list[l->n].v[k] = found[i].v[k];
		l->list[l->n].ps = found[i].ps;
		l->list[l->n++].bytes = found[i].bytes;
	}
	return l;
}

static TtnnBlockList *find(TtnnSearch *s, int i, const TtnnConv *c, TtnnRows layout,
			   const TtnnChoice *choice)
{
	const TtnnGrid g = ttnn_grid_of(s->t, c, choice);
	const int64_t rows = ttnn_rows(c->w.batch * c->w.oh * c->w.ow, g.shard, g.rows, TTNN_TILE);
	const int flags[] = { TTNN_NO, TTNN_YES }, divisions[] = { 1, 2, 4 };
	int n[FIELDS], v[FIELDS][MOST_DIVISORS], all[MOST_DIVISORS], count = 0;
	const int nall = g.shard == TTNN_WIDTH ? 1 : overrides(rows / TTNN_SIDE, all);
	all[0] = 0;
	n[0] = ttnn_values(s, i, TTNN_ABH, all, nall, v[0]);
	n[1] = ttnn_values(s, i, TTNN_WDIV, divisions, g.shard == TTNN_WIDTH ? 3 : 1, v[1]);
	n[2] = ttnn_values(s, i, TTNN_ACT_DB, flags, c->product ? 1 : 2, v[2]);
	n[3] = ttnn_values(s, i, TTNN_W_DB, flags, c->product ? 1 : 2, v[3]);
	Found *found = arena_array(s->arena, Found, n[0] * n[1] * n[2] * n[3]);
	TtnnChoice ch = *choice;
	for (int k = 0; k < n[0] * n[1] * n[2] * n[3]; k++) {
		const int at[FIELDS] = { k % n[0], k / n[0] % n[1], k / n[0] / n[1] % n[2],
					 k / n[0] / n[1] / n[2] };
		for (int f = 0; f < FIELDS; f++)
			ch.v[ttnn_block_fields[f]] = found[count].v[f] = v[f][at[f]];
		if (!grid_follows(s, c, &ch) || ch.v[TTNN_WDIV] < 1)
			continue;
		const TtnnBlocks b = ttnn_blocks(s->t, c, &g, layout, &ch);
		if (b.w < 1)
			continue;
		found[count].ps = ttnn_conv_time(s->t, c, &g, &b, &ch).total;
		const TtnnL1 l = ttnn_conv_l1(c, &g, &b, &ch);
		found[count++].bytes = l.buffers + l.result;
	}
	return thin_out(s, found, count);
}

const TtnnBlockList *ttnn_blocks_best(TtnnSearch *s, int i, const TtnnConv *c, TtnnRows layout,
				      const TtnnChoice *choice)
{
	const int *v = choice->v;
	const int key[] = { i, v[TTNN_ROWS] * 4 + v[TTNN_RESHARD] * 2 + (int)layout,
			    v[TTNN_SHARD] * 4096 + v[TTNN_PLANES],
			    v[TTNN_TYPE] * 2 + v[TTNN_LAYOUT],
			    v[TTNN_SLICE] * 4096 + v[TTNN_SLICES] };
	const int n = sizeof key / sizeof *key;
	TtnnBlockList *l = intmap_get(&s->blocks, key, n);
	if (l)
		return l;
	l = find(s, i, c, layout, choice);
	intmap_put(&s->blocks, key, n, l);
	return l;
}
