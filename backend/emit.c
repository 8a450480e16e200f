#include "backend/emit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "backend/blocks.h"
#include "backend/code.h"
#include "backend/llvm_codegen.h"
#include "backend/package.h"
#include "backend/program_verify.h"
#include "backend/variants.h"
#include "ir/clock.h"
#include "runtime/device/library.h"

static void report(Emission *e, const Code *c, const Blocks *b)
{
	for (int r = 0; r < TT_RISCS; r++) {
		e->elf[r] = c->elf[r];
		e->code_bytes[r] = c->link[r].bytes;
		e->stack_bytes[r] = (uint32_t)c->stack[r];
	}
	e->overlays = c->noverlays;
	e->overlay_area = c->area_bytes;
	e->block_bytes = b->block_bytes;
	e->dram_end = b->end;
}

static Bytes library_of(TtRisc risc)
{
	return (Bytes){ device_library[risc].text, device_library[risc].size };
}

/* RISC-Vs that are left to compile, for two threads to take from. */
typedef struct Queue {
	const Program *p;
	atomic_int next;
	Arena *arena[TT_RISCS];
	Bytes object[TT_RISCS];
} Queue;

static void *work(void *queue)
{
	Queue *q = queue;
	for (int r; (r = atomic_fetch_add(&q->next, 1)) < TT_RISCS; ) {
		Arena *a = q->arena[r] = arena_create();
		const ProgramVariant **list =
			arena_array(a, const ProgramVariant *, q->p->nvariants + 1);
		const int n = variants_of(q->p, a, (TtRisc)r, list);
		q->object[r] = codegen_object(a, library_of((TtRisc)r), (TtRisc)r, list, n);
	}
	return NULL;
}

/* BRISC has the most code and comes first, so two threads end together. */
static void compile(Arena *a, const Program *p, Bytes objects[TT_RISCS])
{
	Queue q = { .p = p };
	pthread_t other;
	const bool two = pthread_create(&other, NULL, work, &q) == 0;
	work(&q);
	if (two)
		pthread_join(other, NULL);
	for (int r = 0; r < TT_RISCS; r++) {
		char *kept = arena_alloc(a, q.object[r].size);
		memcpy(kept, q.object[r].data, q.object[r].size);
		objects[r] = (Bytes){ kept, q.object[r].size };
		arena_destroy(q.arena[r]);
	}
}

bool emit_program(Emission *e, Arena *a, Diag *d, const Program *p, const Target *t,
		  const EmitOptions *options)
{
	*e = (Emission){ 0 };
	if (!program_verify(p, t, d))
		return false;

	const double start = clock_now();
	Bytes objects[TT_RISCS];
	for (int r = 0; r < TT_RISCS; r++)
		objects[r] = (Bytes){ precompiled[r].text, precompiled[r].size };
	if (options->fresh)
		compile(a, p, objects);
	const double compiled = clock_now();

	Code c;
	Blocks b;
	const CodeOptions code = {
		.budget = options->code_budget ? options->code_budget : TT_CONTROL,
		.iram = options->iram,
	};
	if (!code_link(&c, a, d, p, t, objects, &code) || !blocks_make(&b, a, d, p, t, &c))
		return false;
	const double linked = clock_now();

	e->package = package_make(a, d, p, t, &c, &b, options->compiler);
	report(e, &c, &b);
	e->codegen_ms = 1e3 * (compiled - start);
	e->link_ms = 1e3 * (linked - compiled);
	e->package_ms = 1e3 * (clock_now() - linked);
	return e->package.data != NULL;
}
