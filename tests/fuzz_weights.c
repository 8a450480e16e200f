/*
 * Weight files from anywhere, each given to every reader: it is refused with
 * a word, or every element of every tensor can be read; and what it makes us
 * allocate is bounded by its size.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/weight_formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static WeightFile *alone(Arena *a, Tensor *t)
{
	WeightFile *w = t ? weights_create(a) : NULL;
	if (t)
		weights_add(a, w, "x", t);
	return w;
}

/* Each reader on the whole input, whatever it is: most refuse at once. */
static WeightFile *parse(Arena *a, Diag *d, int reader, const char *data, size_t size)
{
	switch (reader) {
	case 0:
		return alone(a, npy_parse(a, d, "fuzz", data, size));
	case 1:
		return npz_parse(a, d, "fuzz", data, size);
	case 2:
		return safetensors_parse(a, d, "fuzz", data, size);
	default:
		return alone(a, dat_parse(a, d, "fuzz", data, size));
	}
}

static void touch(const WeightFile *w)
{
	volatile double sum = 0;
	for (int i = 0; i < w->n; i++) {
		const Tensor *t = w->tensors[i];
		if (weights_find(w, w->names[i]) != t)
			die("tensor '%s' is not found by its name", w->names[i]);
		for (int64_t k = 0, n = tensor_count(t); k < n; k++)
			sum = sum + tensor_f64(t, k);
		if (t->dtype == TYPE_BOOL)
			for (int64_t k = 0, n = tensor_count(t); k < n; k++)
				if (tensor_i64(t, k) >> 1)
					die("a bool is neither 0 nor 1");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	for (int reader = 0; reader < 4; reader++) {
		Arena *a = arena_create();
		char *said, *exact = malloc(size ? size : 1);
		size_t n;
		Diag d = { .to = open_memstream(&said, &n) };
		memcpy(exact, data, size);
		const WeightFile *w = parse(a, &d, reader, exact, size);
		fclose(d.to);
		if (!w != (n > 0))
			die("refused without a word, or taken with one");
		if (w)
			touch(w);
		if (arena_bytes(a) > 200000 + 2200 * size)
			die("%zu bytes made us allocate %zu", size, arena_bytes(a));
		arena_destroy(a);
		free(exact);
		free(said);
	}
	return 0;
}
