/* make_package FILE: the sample package of package.h as a file. */
#include <stdio.h>

#include "tests/package.h"

int main(int argc, char **argv)
{
	const Sample sample = {
		.code = copies_input,
		.words = sizeof copies_input / sizeof *copies_input,
		.cores = 3,
		.in = { 1, 3, 5, 7 },
		.out = { 1, 3, 5, 7 },
	};
	size_t n;
	FILE *f = argc == 2 ? fopen(argv[1], "wb") : NULL;
	if (!f)
		return 2;
	uint8_t *file = sample_finish(sample_writer(&sample), &n);
	const bool good = fwrite(file, 1, n, f) == n && fclose(f) == 0;

	free(file);
	return !good;
}
