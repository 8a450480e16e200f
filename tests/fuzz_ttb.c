/*
 * Packages from anywhere: refused with a word, or sound. The checksum is put
 * right first, or nothing would get past it.
 *
 * Built by clang as fuzz_ttb it looks for files itself (see fuzz_text.c);
 * built as replay_ttb it runs over the files it is given.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/host/ttb.h"
#include "runtime/host/view.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every element of every part that is not too large to try. */
static void walk_parts(const Ttb *t)
{
	for (size_t i = 0; i < t->inputs + t->outputs; i++) {
		const TtbTensor *x = i < t->inputs ? &t->input[i] : &t->output[i - t->inputs];
		const int64_t n = ttb_elements(x->rank, x->shape);

		for (uint32_t k = x->first_part; k < x->first_part + x->parts; k++) {
			const TtbPart *p = &t->part[k];

			if (n > 1 << 20 || p->slot_bytes > 1 << 20 ||
			    ttb_elements(p->rank, p->dims) > 1 << 20)
				continue;
			float *host = calloc((size_t)n, sizeof *host);
			uint8_t *stage = calloc(TT_DRAM_BANKS, p->slot_bytes);
			if (!host || !stage)
				abort();
			view_to_stage(p, x->type, host, stage);
			view_from_stage(p, x->type, host, stage);
			free(host);
			free(stage);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	TesseraError e = { 0 };
	uint8_t *file = malloc(size + 1);
	char *text;
	size_t n;

	if (!file)
		abort();
	memcpy(file, data, size);
	if (size >= sizeof(TtbHeader))
		ttb_seal(file, size);
	Ttb *t = ttb_open_memory(file, size, &e);
	if (!t && (e.code == TESSERA_OK || !e.text[0]))
		abort();
	if (t) {
		FILE *f = open_memstream(&text, &n);

		ttb_print(t, f);
		fclose(f);
		free(text);
		walk_parts(t);
	}
	ttb_close(t);
	free(file);
	return 0;
}
