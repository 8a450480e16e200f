/*
 * example PACKAGE DEVICE: how a C program runs a network. All it has of the
 * project is tessera_rt.h and libtessera_rt.
 *
 * It runs the network twice, the inputs of the second run on their way while
 * the first computes, and prints the first element of each output.
 */
#include <stdio.h>
#include <stdlib.h>

#include <tessera_rt.h>

enum { MAX = 8, RUNS = 2 };

static int give_up(const TesseraError *e)
{
	fprintf(stderr, "%s\n%s", e->text, e->detail);
	return 1;
}

static TesseraArray make_array(TesseraTensor t, float value)
{
	float *data = calloc(t.bytes, 1);

	for (size_t i = 0; data && i < t.bytes / sizeof *data; i++)
		data[i] = value;
	return tessera_array(&t, data);
}

static int run_twice(TesseraProgram *program, const TesseraPackage *package)
{
	const size_t inputs = tessera_input_count(package), outputs = tessera_output_count(package);
	TesseraArray in[RUNS][MAX], out[MAX];
	TesseraError e;

	if (inputs > MAX || outputs > MAX)
		return 1;
	for (size_t i = 0; i < outputs; i++)
		out[i] = make_array(tessera_output(package, i), 0);
	for (int run = 0; run < RUNS; run++) {
		for (size_t i = 0; i < inputs; i++)
			in[run][i] = make_array(tessera_input(package, i), (float)(run + 1));
		if (!tessera_submit(program, in[run], inputs, &e))
			return give_up(&e);
	}
	for (int run = 0; run < RUNS; run++) {
		if (!tessera_wait(program, out, outputs, &e))
			return give_up(&e);
		for (size_t i = 0; i < outputs; i++)
			printf("run %d, %s: %g\n", run, tessera_output(package, i).name,
			       (double)((float *)out[i].data)[0]);
		for (size_t i = 0; i < inputs; i++)
			free(in[run][i].data);
	}
	for (size_t i = 0; i < outputs; i++)
		free(out[i].data);
	return 0;
}

int main(int argc, char **argv)
{
	TesseraError e;

	if (argc != 3)
		return 2;
	TesseraPackage *package = tessera_package_open(argv[1], &e);
	TesseraDevice *device = package ? tessera_device_open(argv[2], &e) : NULL;
	TesseraProgram *program = device ? tessera_load(device, package, &e) : NULL;
	const int status = program ? run_twice(program, package) : give_up(&e);

	tessera_unload(program);
	tessera_device_close(device);
	tessera_package_close(package);
	return status;
}
