/*
 * segment IN OUT [DEVICE]: runs the network that is linked in on the floats of a file and
 * writes the floats that come out.
 */
#include <stdio.h>
#include <stdlib.h>

#include <tessera_rt.h>

#include "unet.h"

static int run(TesseraProgram *program, TesseraTensor in, TesseraTensor out, FILE *from, FILE *to)
{
	void *pixels = calloc(in.bytes, 1), *mask = calloc(out.bytes, 1);
	TesseraError e = { 0 };

	if (!pixels || !mask || fread(pixels, 1, in.bytes, from) != in.bytes)
		return 1;
	const TesseraArray image = tessera_array(&in, pixels);
	TesseraArray result = tessera_array(&out, mask);
	const bool ok = tessera_run(program, &image, 1, &result, 1, &e);
	if (!ok)
		fprintf(stderr, "%s\n%s", e.text, e.detail);
	else
		printf("%s: %zu bytes of %s\n", out.name, out.bytes, in.name);
	const bool written = ok && fwrite(mask, 1, out.bytes, to) == out.bytes;
	free(pixels);
	free(mask);
	return written ? 0 : 1;
}

int main(int argc, char **argv)
{
	TesseraError e;

	if (argc < 3)
		return 2;
	FILE *from = fopen(argv[1], "rb"), *to = fopen(argv[2], "wb");
	TesseraPackage *package = tessera_package_memory(
		tessera_net_tiny_unet, tessera_net_tiny_unet_bytes, &e);
	const char *spec = argc > 3 ? argv[3] : "emu";
	TesseraDevice *device = package ? tessera_device_open(spec, &e) : NULL;
	TesseraProgram *program = device ? tessera_load(device, package, &e) : NULL;
	int status = 1;

	if (!program)
		fprintf(stderr, "%s\n%s", e.text, e.detail);
	else if (from && to)
		status = run(program, tessera_input(package, 0), tessera_output(package, 0), from,
			     to);
	tessera_unload(program);
	tessera_device_close(device);
	tessera_package_close(package);
	return to && fclose(to) == 0 ? status : 1;
}
