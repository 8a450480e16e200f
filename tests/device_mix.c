#include "tests/device_mix.h"

void net_mix(Net *n, const Mix *m, const Planes *in, Planes *to, int first)
{
	ProgramOp *op = net_tiles(n, "mix", in, 1, to, 0, 0);
	uint8_t *page = arena_alloc(n->t->arena, mix_bytes(m));
	const int planes = in->planes * in->sets / m->in_phases;
	mix_pack(m, page);
	net_slide(op, m->row_terms, m->col_terms, 1, 1, 1);
	net_pages(n, op, page, (uint32_t)mix_bytes(m), 1, 1);
	program_set(op, "in_planes", 0, (uint32_t)planes);
	program_set(op, "out_first", 0, (uint32_t)first);
	program_set(op, "out_planes", 0, (uint32_t)planes);
	program_set(op, "cols", 0, (uint32_t)m->out_cols);
	program_set(op, "in_phase", 0, (uint32_t)planes);
	program_set(op, "mix_rows_at", 0, mix_rows_at(m));
	program_set(op, "mix_tiles_at", 0, mix_tiles_at(m));
	for (int c = 0; c < n->p->ncores; c++) {
		program_set_core(n->p, op, c, "mix_row", 0, (uint32_t)(c * to->rows));
		program_set_core(n->p, op, c, "mix_above", 0, (uint32_t)(c * in->rows));
	}
	op->variant[TT_TRISC0] = program_variant(
		n->p, "mix_unpack", (uint32_t[]){ (uint32_t)in->type, m->across }, 2);
	op->variant[TT_TRISC1] = program_variant(
		n->p, "mix_math", (uint32_t[]){ (uint32_t)m->phases, m->across }, 2);
	op->variant[TT_TRISC2] =
		program_variant(n->p, "store", (uint32_t[]){ (uint32_t)to->type, 4, 1, 0 }, 4);
	net_made(n, op, to);
}
