#include "backend/program_verify.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "backend/program_lex.h"
#include "backend/routines.h"

void verify_wrong(Verifier *v, Loc loc, int op, int core, const char *fmt, ...)
{
	char text[400];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (!loc.file)
		loc.file = v->p->name;
	if (core < 0)
		diag_error(v->d, loc, "op '%s': %s", v->p->ops[op].name, text);
	else
		diag_error(v->d, loc, "op '%s', core %d: %s", v->p->ops[op].name, core, text);
}

static Loc here(const Verifier *v) { return (Loc){ .file = v->p->name }; }

/* What routines and loader are built for (map.h) goes for every target. */
static void verify_target(Verifier *v)
{
	const Target *t = v->t;
	if (strcmp(v->p->target, t->name) != 0)
		diag_error(v->d, here(v), "the program is for %s, not for %s", v->p->target, t->name);
	if (t->l1_first < TT_USER || t->l1_end > TT_L1_END)
		diag_error(v->d, here(v), "target %s: buffers from %" PRId64 " to %" PRId64
			   " of L1, the device library leaves %d to %d", t->name, t->l1_first,
			   t->l1_end, (int)TT_USER, (int)TT_L1_END);
	if (t->dram_banks != TT_DRAM_BANKS || t->dram_bank_bytes > TT_DRAM_BANK_BYTES)
		diag_error(v->d, here(v), "target %s: %" PRId64 " banks of DRAM of %" PRId64
			   " bytes, the device library knows %d of %u", t->name, t->dram_banks,
			   t->dram_bank_bytes, (int)TT_DRAM_BANKS, TT_DRAM_BANK_BYTES);
}

static void verify_cores(Verifier *v)
{
	const Program *p = v->p;
	const Target *t = v->t;
	if (p->ncores < 1 || p->ncores > TT_MAX_CORES)
		diag_error(v->d, here(v), "%d cores take part, 1 to %d may", p->ncores,
			   (int)TT_MAX_CORES);
	for (int i = 0; i < p->ncores; i++) {
		const ProgramCore *c = &p->cores[i];
		if (c->col < 0 || c->col >= t->grid_cols || c->row < 0 || c->row >= t->grid_rows)
			diag_error(v->d, here(v), "core (%d,%d) is outside of the grid, %dx%d", c->col,
				   c->row, (int)t->grid_cols, (int)t->grid_rows);
		for (int k = 0; k < i; k++)
			if (p->cores[k].col == c->col && p->cores[k].row == c->row)
				diag_error(v->d, here(v), "core (%d,%d) takes part twice", c->col,
					   c->row);
	}
}

static void verify_variants(Verifier *v)
{
	for (int i = 0; i < v->p->nvariants; i++) {
		const ProgramVariant *x = &v->p->variants[i];
		const Routine *r = routine_at(x->routine);
		if (!lex_is_word(x->name) || strncmp(x->name, "tt_", 3) == 0)
			diag_error(v->d, x->loc, "variant '%s': not a name for a function", x->name);
		for (int k = 0; k < i; k++)
			if (strcmp(v->p->variants[k].name, x->name) == 0)
				diag_error(v->d, x->loc, "variant '%s' is there twice", x->name);
		for (int k = 0; r->args[k].name; k++)
			if (x->args[k] > 31 || !(r->args[k].allowed >> x->args[k] & 1))
				diag_error(v->d, x->loc, "variant '%s': %s of %s may not be %u", x->name,
					   r->args[k].name, r->name, x->args[k]);
	}
}

static void verify_semaphores(Verifier *v)
{
	for (int i = 0; i < v->p->nsemaphores; i++) {
		const ProgramSemaphore *s = &v->p->semaphores[i];
		const int64_t most = v->t->semaphores < TT_SEMAPHORE_COUNT ? v->t->semaphores
									   : TT_SEMAPHORE_COUNT;
		if (s->id < 0 || s->id >= most)
			diag_error(v->d, s->loc, "semaphore '%s': %d is not in 0..%d", s->name, s->id,
				   (int)most - 1);
		for (int k = 0; k < i; k++)
			if (v->p->semaphores[k].id == s->id)
				diag_error(v->d, s->loc, "semaphores '%s' and '%s' are both %d",
					   v->p->semaphores[k].name, s->name, s->id);
	}
}

static int64_t product(const int64_t *dims, int n)
{
	Shape s = { .rank = n };
	memcpy(s.dim, dims, (size_t)n * sizeof *dims);
	return shape_count(s);
}

/* The least and the largest element a view looks at, if there are any. */
static bool view_inside(const ProgramView *view, int64_t count)
{
	int64_t least = view->offset, most = view->offset;
	for (int i = 0; i < view->rank; i++) {
		int64_t reach;
		if (__builtin_mul_overflow(view->dims[i] - 1, view->strides[i], &reach)
		    || __builtin_add_overflow(reach < 0 ? least : most, reach,
					      reach < 0 ? &least : &most))
			return false;
	}
	return least >= 0 && most < count;
}

static void verify_part(Verifier *v, const ProgramEdge *e, const ProgramPart *part)
{
	const int64_t count = product(part->shape.dim, part->shape.rank);
	const int64_t device = product(part->tensor.shape, 4);
	const int64_t seen = part->view.rank ? product(part->view.dims, part->view.rank) : device;
	if (count < 1 || seen != count)
		diag_error(v->d, e->loc, "'%s': a part of %" PRId64 " elements looks at %" PRId64,
			   e->name, count, seen);
	else if (part->view.rank && !view_inside(&part->view, device))
		diag_error(v->d, e->loc, "'%s': the view reaches outside of the tensor's %" PRId64
			   " elements", e->name, device);
	if (part->tensor.page_bytes % ALIGN_DRAM
	    || part->tensor.page_bytes / tt_host_bytes(part->tensor.stored) < part->tensor.shape[3])
		diag_error(v->d, e->loc, "'%s': a page of %u bytes for a row of %" PRId64 " elements",
			   e->name, part->tensor.page_bytes, part->tensor.shape[3]);
}

static void verify_edge(Verifier *v, const ProgramEdge *e, bool output)
{
	int64_t along = 0;
	if (program_host_type(e->dtype) < 0)
		diag_error(v->d, e->loc, "'%s' is %s; programs take f32, bf16, f16 and u8", e->name,
			   type_info[e->dtype].name);
	else if (output && e->dtype == TYPE_U8)
		diag_error(v->d, e->loc, "'%s' is u8; programs give f32, bf16 and f16", e->name);
	for (int i = 0; i < e->nparts; i++) {
		const Shape s = e->parts[i].shape;
		if (e->parts[i].tensor.stored == TT_HOST_F32 && (!output || e->dtype != TYPE_F32))
			diag_error(v->d, e->loc, "'%s': devices have f32 of outputs of f32 alone",
				   e->name);
		bool fits = s.rank == e->shape.rank && (e->axis < s.rank || s.rank == 0);
		for (int k = 0; fits && k < s.rank; k++)
			fits = k == e->axis || s.dim[k] == e->shape.dim[k];
		if (!fits)
			diag_error(v->d, e->loc, "'%s': part %d does not fit along axis %d", e->name, i,
				   e->axis);
		else if (s.rank && __builtin_add_overflow(along, s.dim[e->axis], &along))
			along = -1;
		verify_part(v, e, &e->parts[i]);
	}
	if (e->nparts == 0 || (e->axis < e->shape.rank && along != e->shape.dim[e->axis]))
		diag_error(v->d, e->loc, "'%s': its %d parts do not make the whole", e->name, e->nparts);
}

void verify_edges(Verifier *v)
{
	for (int i = 0; i < v->p->ninputs; i++)
		verify_edge(v, &v->p->inputs[i], false);
	for (int i = 0; i < v->p->noutputs; i++)
		verify_edge(v, &v->p->outputs[i], true);
}

bool program_verify(const Program *p, const Target *t, Diag *d)
{
	const int before = d->errors;
	Verifier v = { p, t, d, arena_create() };
	verify_target(&v);
	if (p->nops == 0)
		diag_error(d, here(&v), "the program has no ops");
	verify_cores(&v);
	verify_variants(&v);
	verify_semaphores(&v);
	verify_edges(&v);
	/* The rest looks cores and elements up, and addresses in DRAM. */
	if (d->errors == before && verify_memory(&v)) {
		for (int i = 0; i < p->nops; i++)
			verify_op(&v, i);
		verify_rows(&v);
		if (d->errors == before) {
			verify_moves(&v);
			verify_credits(&v);
		}
	}
	arena_destroy(v.a);
	return d->errors == before;
}
