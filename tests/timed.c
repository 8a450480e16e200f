#include "tests/timed.h"

#include <stdio.h>
#include <stdlib.h>

#include "ir/clock.h"

static void print_units(const TesseraProgram *p)
{
	TesseraTime t;
	if (tessera_time(p, &t))
		printf("time by unit: risc-v %.1f, unpack %.1f, matrix %.1f, sfpu %.1f, pack %.1f, "
		       "noc %.1f, other %.1f ms\n", 1e3 * t.risc, 1e3 * t.unpack, 1e3 * t.matrix,
		       1e3 * t.sfpu, 1e3 * t.pack, 1e3 * t.noc, 1e3 * t.other);
}

double timed_run(const Network *n, const char *device, const float *in, float *out, int repeats)
{
	TesseraError e;
	TesseraDevice *d = tessera_device_open(device, &e);
	TesseraProgram *p = d ? tessera_load(d, n->opened, &e) : NULL;
	double best = 1e9;
	for (int i = 0; i < repeats; i++) {
		const double start = clock_now();
		if (!p || !network_run_loaded(n, p, in, out, &e)) {
			fprintf(stderr, "%s: %s\n%s", device, e.text, e.detail);
			exit(1);
		}
		best = clock_now() - start < best ? clock_now() - start : best;
	}
	print_units(p);
	tessera_unload(p);
	tessera_device_close(d);
	return best;
}
