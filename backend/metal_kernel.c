/* Kernels: code that ops share, its text, and the file it goes to. */
#include "backend/metal_model.h"

#include <stdlib.h>
#include <string.h>

#include "backend/metal_print.h"

int metal_kernel(MetalModel *m, const MetalCode *code, int op)
{
	int k = 0;
	while (k < m->nkernels && memcmp(&m->kernels[k].code, code, sizeof *code) != 0)
		k++;
	if (k == m->nkernels) {
		m->kernels = arena_grow(m->a, m->kernels, k, sizeof *m->kernels);
		m->kernels[m->nkernels++] = (MetalKernel){ .code = *code };
	}
	MetalKernel *kernel = &m->kernels[k];
	if (kernel->nops && kernel->ops[kernel->nops - 1] == op)
		return k;
	kernel->ops = arena_grow(m->a, kernel->ops, kernel->nops, sizeof op);
	kernel->ops[kernel->nops++] = op;
	return k;
}

/* What it does, for people. */
static const char *purpose(const MetalModel *m, const MetalCode *code)
{
	int r = code->kind == METAL_READER   ? TT_NCRISC
		: code->kind == METAL_WRITER ? TT_BRISC
					     : TT_TRISC0;
	while (code->kind == METAL_COMPUTE && r < TT_TRISC2 && code->variant[r] < 0)
		r++;
	if (code->variant[r] < 0)
		return "lists";
	const char *name = routine_at(m->p->variants[code->variant[r]].routine)->name;
	const char *end = code->kind == METAL_COMPUTE ? strstr(name, "_unpack") : NULL;
	const int n = (int)(end ? end - name : (ptrdiff_t)strlen(name));
	if (code->act < 0)
		return arena_strndup(m->a, name, (size_t)n);
	return arena_printf(m->a, "%.*s_%s", n, name,
			    routine_at(m->p->variants[code->act].routine)->name + strlen("act_"));
}

/* The file's name says what is in it: TT-Metal looks for what it has compiled by path. */
void metal_kernels_close(MetalModel *m)
{
	for (int i = 0; i < m->nkernels; i++) {
		MetalKernel *k = &m->kernels[i];
		k->text = metal_print_code(m, &k->code);
		const char *all =
			arena_printf(m->a, "%016llx%s", (unsigned long long)m->library, k->text);
		k->stem = arena_printf(m->a, "%s_%016llx", purpose(m, &k->code),
				       (unsigned long long)program_hash(all, strlen(all)));
		k->bytes = metal_kernel_bytes(m, k);
	}
}
