/*
 * Packing buffers: a way is found whenever there is one, as trying every offset
 * says of small cases; skips that are nested fill all there is.
 */
#include <string.h>
#include <time.h>

#include "ir/rng.h"
#include "passes/pack.h"
#include "tests/check.h"

enum { SMALL = 12, TIMES = 5, LARGEST = 4, CASES = 6000, LARGE = 200 };

/* 200 boxes take no longer than looking this often at all pairs of them, on the same
 * machine and as compiled as they are; trying every order of some of them would. */
enum { LOOKS = 6000 };

static bool apart(const Box *a, const Box *b)
{
	return !box_meets(a, b) || a->at + a->bytes <= b->at || b->at + b->bytes <= a->at;
}

static void check_packed(const Box *v, int n, int64_t room)
{
	for (int i = 0; i < n; i++) {
		assert_true(v[i].at >= 0 && v[i].at + v[i].bytes <= room);
		for (int k = 0; k < i; k++)
			assert_true(apart(&v[i], &v[k]));
	}
}

/* Box i and all behind it at every offset there is. */
static bool exhaust(Box *v, int n, int i, int64_t room)
{
	if (i == n)
		return true;
	for (v[i].at = 0; v[i].at + v[i].bytes <= room; v[i].at++) {
		bool free = true;
		for (int k = 0; k < i && free; k++)
			free = apart(&v[i], &v[k]);
		if (free && exhaust(v, n, i + 1, room))
			return true;
	}
	return false;
}

static int64_t peak(const Box *v, int n)
{
	int64_t most = 0;
	for (int i = 0; i < n; i++) {
		int64_t sum = 0;
		for (int k = 0; k < n; k++)
			if (v[k].born <= v[i].born && v[i].born <= v[k].dies)
				sum += v[k].bytes;
		most = sum > most ? sum : most;
	}
	return most;
}

/* A few boxes, and one for each time that takes what they leave of the most. */
static int random_boxes(Box *v, Rng *r)
{
	const int few = SMALL - TIMES - (int)rng_below(r, 4);
	int n = few;
	for (int i = 0; i < few; i++) {
		const int born = (int)rng_below(r, TIMES);
		v[i] = (Box){ .bytes = 1 + rng_below(r, LARGEST), .born = born,
			      .dies = born + (int)rng_below(r, TIMES - born) };
	}
	const int64_t most = peak(v, few) + rng_below(r, 2);
	for (int t = 0; t < TIMES; t++) {
		int64_t left = most;
		for (int i = 0; i < few; i++)
			left -= v[i].born <= t && t <= v[i].dies ? v[i].bytes : 0;
		if (left)
			v[n++] = (Box){ .bytes = left, .born = t, .dies = t };
	}
	return n;
}

/* Both all of it and the search alone, at the least room that could do. */
static void a_way_is_found_whenever_there_is_one(void **state)
{
	int full = 0, none = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= CASES; seed++) {
		Rng r = { seed };
		Box v[SMALL], all[SMALL], tried[SMALL];
		const int n = random_boxes(v, &r);
		const int64_t room = peak(v, n);
		int64_t end;
		int blame;
		bool ended;
		memcpy(all, v, sizeof v);
		memcpy(tried, v, sizeof v);
		const bool can = exhaust(all, n, 0, room);
		if (pack_boxes(v, n, room, &end, &blame) != can
		    || pack_search(tried, n, room, 1000000, &ended) != can || (!can && !ended))
			fail_msg("seed %llu: there is %s way", (unsigned long long)seed,
				 can ? "a" : "no");
		full += can;
		none += !can;
		if (can)
			check_packed(v, n, room);
		if (can)
			check_packed(tried, n, room);
		else
			assert_true(end > room && v[blame].at + v[blame].bytes == end);
	}
	print_message("%d can be packed, %d cannot\n", full, none);
	assert_true(full > 1000 && none > 10);
}

/* What no box takes at one time becomes boxes of that time. */
static int fill_holes(Box *v, int n, int t, int64_t room)
{
	const int boxes = n;
	for (int64_t at = 0; at < room;) {
		int64_t next = room;
		bool taken = false;
		for (int i = 0; i < boxes && !taken; i++) {
			if (t < v[i].born || t > v[i].dies || v[i].at + v[i].bytes <= at)
				continue;
			taken = v[i].at <= at;
			next = taken ? v[i].at + v[i].bytes : v[i].at < next ? v[i].at : next;
		}
		if (!taken)
			v[n++] = (Box){ .bytes = next - at, .born = t, .dies = t, .at = at };
		at = next;
	}
	return n;
}

/* Skip i lives from step i on the way down to its mirror on the way up; each step
 * reads what the last one made. Skips are stacked from the bottom, what steps make
 * lies at the top or on the skips in turn, and weights and sums take the rest: all
 * of the room, all the time. */
static int nested(Box *v, int levels, int64_t room, Rng *r)
{
	const int steps = 2 * levels;
	int64_t high[64] = { 0 }; /* of the skips at each step */
	int n = 0;
	for (int i = 0; i < levels; i++) {
		const int64_t bytes = 32 * (1 + rng_below(r, room / 64 / levels));
		v[n++] = (Box){ .bytes = bytes, .born = i, .dies = steps - 1 - i, .at = high[i] };
		for (int t = i; t < steps - i; t++)
			high[t] += bytes;
	}
	for (int t = 0; t + 1 < steps; t++) { /* made in t, read in t + 1 */
		const int64_t above = high[t] > high[t + 1] ? high[t] : high[t + 1];
		const int64_t bytes = 32 * (1 + rng_below(r, (room - high[levels]) / 64));
		v[n++] = (Box){ .bytes = bytes, .born = t, .dies = t + 1,
				.at = t % 2 ? above : room - bytes };
	}
	for (int t = 0; t < steps; t++)
		n = fill_holes(v, n, t, room);
	return n;
}

static void nested_skips_fill_all_there_is(void **state)
{
	(void)state;
	for (int levels = 2; levels <= 12; levels++)
		for (uint64_t seed = 1; seed <= 20; seed++) {
			Rng r = { seed };
			Box v[LARGE];
			const int64_t room = 1393472 / 32 * 32;
			const int n = nested(v, levels, room, &r);
			int64_t end;
			int blame;
			check_packed(v, n, room); /* there is a way */
			assert_int_equal(peak(v, n), room);
			if (!pack_boxes(v, n, room, &end, &blame))
				fail_msg("%d levels, seed %llu: %lld of %lld", levels,
					 (unsigned long long)seed, (long long)end, (long long)room);
			check_packed(v, n, room);
			assert_int_equal(end, room);
		}
}

/* Buffers cut out of L1 at random: a full packing is known to be there. */
static int cut_out(Box *v, int most, int times, int64_t room, Rng *r)
{
	int n = 1;
	v[0] = (Box){ .bytes = room, .born = 0, .dies = times - 1 };
	while (n < most) {
		const int i = (int)rng_below(r, n);
		Box *b = &v[i];
		v[n] = *b;
		if (rng_below(r, 2) && b->dies > b->born) {
			v[n].born = b->born + 1 + (int)rng_below(r, b->dies - b->born);
			b->dies = v[n].born - 1;
		} else if (b->bytes > 64) {
			b->bytes = 32 * (1 + (int64_t)rng_below(r, b->bytes / 32 - 1));
			v[n].bytes -= b->bytes;
		} else {
			continue;
		}
		n++;
	}
	return n;
}

static int shares(int percent, int boxes)
{
	int found = 0;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		Rng r = { seed };
		Box v[LARGE];
		const int n = cut_out(v, boxes, boxes, 1 << 20, &r);
		int64_t end;
		int blame;
		for (int i = 0; i < n; i++) /* some air */
			v[i].bytes -= v[i].bytes * (100 - percent) / 100;
		if (pack_boxes(v, n, 1 << 20, &end, &blame)) {
			check_packed(v, n, 1 << 20);
			found++;
		}
	}
	print_message("%d boxes, %d %% full all the time: %d of 50\n", boxes, percent, found);
	return found;
}

static void what_is_almost_full_is_packed(void **state)
{
	(void)state;
	assert_int_equal(shares(100, 12), 50);
	assert_true(shares(100, 30) >= 35);
	assert_true(shares(97, 30) >= 40);
	shares(97, 100);
	assert_true(shares(90, 60) >= 40);
}

static void the_same_boxes_are_packed_the_same_way(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		Rng r = { seed };
		Box v[LARGE], w[LARGE];
		int64_t end, again;
		int blame, other;
		const int n = cut_out(v, 60, 60, 1 << 20, &r);
		memcpy(w, v, sizeof *v * (size_t)n);
		pack_boxes(v, n, 1 << 20, &end, &blame);
		pack_boxes(w, n, 1 << 20, &again, &other);
		assert_int_equal(end, again);
		assert_int_equal(blame, other);
		for (int i = 0; i < n; i++)
			assert_int_equal(v[i].at, w[i].at);
	}
}

/* Processor time of this process: others may be at work. */
static double seconds(clock_t from) { return (double)(clock() - from) / CLOCKS_PER_SEC; }

static double seconds_of_packing(const Box *boxes)
{
	Box v[LARGE];
	int64_t end;
	int blame;
	memcpy(v, boxes, sizeof v);
	const clock_t from = clock();
	pack_boxes(v, LARGE, 1 << 20, &end, &blame);
	return seconds(from);
}

static double seconds_of_looking(const Box *v)
{
	int meet = 0;
	const clock_t from = clock();
	for (int look = 0; look < LOOKS; look++)
		for (int i = 0; i < LARGE; i++)
			for (int k = 0; k < i; k++)
				meet += box_meets(&v[(i + look) % LARGE], &v[k]);
	const double took = seconds(from);
	assert_true(meet > 0);
	return took;
}

static void two_hundred_boxes_take_little_time(void **state)
{
	double packing = 0, looking = 1e9;
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		Rng r = { seed };
		Box v[LARGE];
		double best = 1e9;
		cut_out(v, LARGE, LARGE, 1 << 20, &r);
		for (int i = 0; i < 3; i++) {
			const double took = seconds_of_packing(v);
			best = took < best ? took : best;
		}
		packing = best > packing ? best : packing;
		const double look = seconds_of_looking(v);
		looking = look < looking ? look : looking;
	}
	print_message("200 boxes: %.1f ms at most, %d looks at them %.1f ms\n", 1e3 * packing,
		      (int)LOOKS, 1e3 * looking);
	assert_true(packing < looking);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_way_is_found_whenever_there_is_one),
		cmocka_unit_test(nested_skips_fill_all_there_is),
		cmocka_unit_test(what_is_almost_full_is_packed),
		cmocka_unit_test(the_same_boxes_are_packed_the_same_way),
		cmocka_unit_test(two_hundred_boxes_take_little_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
