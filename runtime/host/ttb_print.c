#include <string.h>

#include "runtime/host/elf32.h"
#include "runtime/host/ttb.h"

static void print_shape(FILE *f, const TtbTensor *x)
{
	fprintf(f, "%s[", tessera_type_name((TesseraType)x->type));
	for (uint32_t i = 0; i < x->rank; i++)
		fprintf(f, "%s%lld", i ? "," : "", (long long)x->shape[i]);
	fputs("]", f);
}

static void print_tensors(FILE *f, const Ttb *t, const char *what, const TtbTensor *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "%-9s %s : ", what, ttb_string(t, x[i].name));
		print_shape(f, &x[i]);
		for (uint32_t k = 0; k < x[i].parts; k++) {
			const TtbPart *p = &t->part[x[i].first_part + k];

			fprintf(f, "%s %lldx%lldx%lldx%lld at 0x%x, pages of %u, slots of %u",
				k ? " +" : ", DRAM", (long long)p->nchw[0], (long long)p->nchw[1],
				(long long)p->nchw[2], (long long)p->nchw[3], p->base,
				p->page_bytes, p->slot_bytes);
		}
		fputc('\n', f);
	}
}

static void print_code(FILE *f, const Ttb *t)
{
	unsigned long total = 0;

	fputs("code     ", f);
	for (int r = 0; r < TT_RISCS; r++) {
		size_t n;
		const uint8_t *elf = ttb_section(t, (TtbSectionId)r, &n);
		unsigned long bytes = 0;
		ElfSegment s;

		for (size_t i = 0; n && elf_segment(elf, i, &s); i++)
			bytes += s.bytes;
		fprintf(f, " %s %lu,", ttb_section_name((TtbSectionId)r), bytes);
		total += bytes;
	}
	fprintf(f, " in all %lu bytes for each core", total);
	if (t->facts->iram_bytes)
		fprintf(f, ", %u of them in IRAM", t->facts->iram_bytes);
	fputc('\n', f);
}

static void print_images(FILE *f, const Ttb *t)
{
	uint64_t dram = 0, l1 = 0;

	for (size_t i = 0; i < t->images; i++)
		*(t->image[i].place == TTB_DRAM ? &dram : &l1) += t->image[i].bytes;
	fprintf(f, "images    %zu: %llu bytes for DRAM, %llu for L1\n", t->images,
		(unsigned long long)dram, (unsigned long long)l1);
}

const char *ttb_op_text(const Ttb *t, uint32_t i, char room[TTB_OP_TEXT])
{
	if (i >= t->ops) {
		snprintf(room, TTB_OP_TEXT, "%u", i);
		return room;
	}
	const char *source = ttb_string(t, t->op[i].source);
	const char *absorbed = ttb_string(t, t->op[i].absorbed);
	const bool more = *source || *absorbed;
	const int n = snprintf(room, TTB_OP_TEXT, "%s%s%s%s%s%s%s", ttb_string(t, t->op[i].name),
			       more ? " (" : "", source, *source && *absorbed ? ", " : "",
			       *absorbed ? "with " : "", absorbed, more ? ")" : "");

	if (n >= TTB_OP_TEXT)
		memcpy(room + TTB_OP_TEXT - 4, "...", 4);
	return room;
}

void ttb_print(const Ttb *t, FILE *f)
{
	fprintf(f, "model     %s\n", ttb_string(t, t->facts->model));
	fprintf(f, "target    %s\n", ttb_string(t, t->facts->target));
	fprintf(f, "compiler  %s\n", ttb_string(t, t->facts->compiler));
	fprintf(f, "package   version %u, %llu bytes, checksum %016llx\n", t->header->version,
		(unsigned long long)t->header->bytes, (unsigned long long)t->header->checksum);
	print_tensors(f, t, "input", t->input, t->inputs);
	print_tensors(f, t, "output", t->output, t->outputs);
	fprintf(f, "ops       %zu, parameter blocks of %u bytes\n", t->ops, t->facts->block_bytes);
	fprintf(f, "cores     %zu:", t->cores);
	for (size_t i = 0; i < t->cores; i++)
		fprintf(f, " (%u,%u)", t->core[i].col, t->core[i].row);
	fputc('\n', f);
	print_code(f, t);
	print_images(f, t);
	fprintf(f, "buffers   %zu in L1\n", t->buffers);
	for (size_t i = 0; i < t->ops; i++) {
		char room[TTB_OP_TEXT];

		fprintf(f, "op %-6zu %s %s\n", i, ttb_string(t, t->op[i].kind),
			ttb_op_text(t, (uint32_t)i, room));
	}
}
