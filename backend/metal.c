/* The files of a project for TT-Metal. */
#include "backend/metal.h"

#include <stdlib.h>
#include <string.h>

#include "backend/metal_library.h"
#include "backend/metal_print.h"
#include "backend/program_verify.h"
#include "runtime/host/ttb.h"
#include "runtime/metal/weights_file.h"

static void add(MetalProject *to, Arena *a, const char *path, Bytes bytes)
{
	to->file = arena_grow(a, to->file, to->nfiles, sizeof *to->file);
	to->file[to->nfiles++] = (MetalFile){ path, bytes };
}

/* ---- templates: @NAME@ and the like stand for what this project has ---- */

typedef struct Word {
	const char *mark, *text;
} Word;

static const char *filled(Arena *a, const EmbeddedFile *f, const Word *words, int n)
{
	TextFile out;
	text_open(&out);
	for (const char *s = f->text; *s;) {
		int i = 0;
		while (i < n && strncmp(s, words[i].mark, strlen(words[i].mark)) != 0)
			i++;
		if (i < n)
			fputs(words[i].text, out.f);
		else
			fputc(*s, out.f);
		s += i < n ? strlen(words[i].mark) : 1;
	}
	return text_take(&out, a);
}

/* "runtime/metal/project/README.md.in" is README.md there. */
static void add_templates(MetalProject *to, const MetalModel *m)
{
	static const char suffix[] = ".in";
	const Word words[] = { { "@NAME@", m->name },
			       { "@MODEL@", m->p->name },
			       { "@COMPILER@", m->options->compiler },
			       { "@TARGET@", m->t->name } };
	for (int i = 0; i < metal_templates_count; i++) {
		const EmbeddedFile *f = &metal_templates[i];
		const char *name = strrchr(f->name, '/') + 1;
		const char *text = filled(m->a, f, words, sizeof words / sizeof *words);
		add(to, m->a, arena_strndup(m->a, name, strlen(name) - strlen(suffix)),
		    (Bytes){ text, strlen(text) });
	}
}

/* ---- weights ---- */

/* So that each bank has what the program wants there, `first` bytes behind the start:
 * pages of the image may be of another size than those of the file. */
static void add_image(char *to, const ProgramImage *image, uint64_t first)
{
	for (uint64_t done = 0, n; done < image->bytes; done += n) {
		const uint64_t page = done / image->page_bytes, into = done % image->page_bytes;
		const uint64_t bank = page % TT_DRAM_BANKS;
		const uint64_t at = first + page / TT_DRAM_BANKS * image->page_bytes + into;
		n = image->page_bytes - into;
		n = n < METAL_PAGE - at % METAL_PAGE ? n : METAL_PAGE - at % METAL_PAGE;
		n = n < image->bytes - done ? n : image->bytes - done;
		memcpy(to + at / METAL_PAGE * METAL_ROW + bank * METAL_PAGE + at % METAL_PAGE,
		       image->data + done, n);
	}
}

/* Images from page to page over the banks, as the buffer on the device has them. */
static Bytes weights_file(const MetalModel *m)
{
	size_t names = 0, data = 0;
	for (int i = 0; i < m->nweights; i++) {
		names += strlen(m->weights[i].name) + 1;
		data += metal_weights_bytes(&m->weights[i]);
	}
	const size_t head =
		sizeof(WeightsHead) + (size_t)m->nweights * sizeof(WeightsEntry) + names;
	const size_t first = (head + WEIGHTS_ALIGN - 1) / WEIGHTS_ALIGN * WEIGHTS_ALIGN;
	char *file = arena_alloc(m->a, first + data + 1);
	const WeightsHead h = { WEIGHTS_MAGIC, WEIGHTS_VERSION, (uint32_t)m->nweights,
				METAL_PAGE,    TT_DRAM_BANKS,   first,
				data };
	size_t name = sizeof h + (size_t)m->nweights * sizeof(WeightsEntry);
	memcpy(file, &h, sizeof h);
	for (int i = 0; i < m->nweights; i++) {
		const MetalWeights *w = &m->weights[i];
		const WeightsEntry e = { .name = name, .at = w->at };
		memcpy(file + sizeof h + (size_t)i * sizeof e, &e, sizeof e);
		memcpy(file + name, w->name, strlen(w->name) + 1);
		name += strlen(w->name) + 1;
		for (int k = 0; k < w->images; k++)
			add_image(file + first + w->at, &w->image[k],
				  w->image[k].address - w->address);
	}
	return (Bytes){ file, first + data };
}

/* ---- kernels ---- */

static int lines_in(Bytes b)
{
	int n = 0;
	for (size_t i = 0; i < b.size; i++)
		n += b.data[i] == '\n';
	return n;
}

static void add_printed(MetalProject *to, Arena *a, const char *path, Bytes bytes)
{
	to->lines += lines_in(bytes);
	add(to, a, path, bytes);
}

static int by_stem(const void *x, const void *y)
{
	const MetalKernel *const *a = x, *const *b = y;
	return strcmp((*a)->stem, (*b)->stem);
}

static void add_kernels(MetalProject *to, const MetalModel *m, bool included[])
{
	const MetalKernel **sorted = arena_array(m->a, const MetalKernel *, m->nkernels + 1);
	for (int i = 0; i < m->nkernels; i++)
		sorted[i] = &m->kernels[i];
	if (m->nkernels)
		qsort(sorted, (size_t)m->nkernels, sizeof *sorted, by_stem);
	for (int i = 0; i < m->nkernels; i++) {
		const MetalKernel *k = sorted[i];
		const char *path = arena_printf(m->a, "kernels/%s.cpp", k->stem);
		add_printed(to, m->a, path, metal_print_kernel(m, k));
		metal_library_included(k->text, included);
		if (k->bytes > to->largest_bytes) {
			to->largest = path;
			to->largest_bytes = k->bytes;
		}
	}
	to->kernels = m->nkernels;
}

static void add_device(MetalProject *to, Arena *a, const bool included[])
{
	for (int i = 0; i < metal_device_count; i++)
		if (included[i])
			add(to, a, arena_printf(a, "kernels/%s", metal_device[i].name),
			    (Bytes){ metal_device[i].text, metal_device[i].size });
}

static void add_host(MetalProject *to, Arena *a, bool included[])
{
	for (int i = 0; i < metal_host_count; i++) {
		add(to, a, arena_printf(a, "tessera/%s", metal_host[i].name),
		    (Bytes){ metal_host[i].text, metal_host[i].size });
		metal_library_included(metal_host[i].text, included);
	}
}

static void fill(MetalProject *to, MetalModel *m)
{
	bool *included = arena_array(m->a, bool, metal_device_count + 1);
	to->name = m->name;
	add_templates(to, m);
	add_printed(to, m->a, arena_printf(m->a, "%s.h", m->name), metal_print_header(m));
	add_printed(to, m->a, arena_printf(m->a, "%s.cpp", m->name), metal_print_host(m));
	add(to, m->a, arena_printf(m->a, "%s.weights", m->name), weights_file(m));
	add_kernels(to, m, included);
	add_host(to, m->a, included);
	add_device(to, m->a, included);
	for (int i = 0; i < m->nops; i++)
		to->programs += m->ops[i].nprograms;
}

bool emit_metal(MetalProject *project, Arena *a, Diag *d, const Program *p, const Plan *plan,
		const Target *t, const MetalOptions *options)
{
	MetalModel m = { .a = a, .d = d, .p = p, .plan = plan, .t = t, .options = options };
	*project = (MetalProject){ 0 };
	if (strcmp(t->arch, TTB_ARCH) != 0) {
		diag_error(d, (Loc){ .file = p->name },
			   "target '%s' is a %s: there are TT-Metal kernels for "
			   "%s only",
			   t->name, t->arch, TTB_ARCH);
		return false;
	}
	if (!metal_check_region(d, p, t) || !program_verify(p, t, d) || !metal_model(&m))
		return false;
	fill(project, &m);
	return true;
}
