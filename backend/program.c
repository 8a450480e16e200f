#include "backend/program.h"

#include <stdlib.h>
#include <string.h>

#include "backend/routines.h"
#include "backend/variants.h"

#define ADD(p, list, n) \
	((list) = arena_grow((p)->arena, (list), (n), sizeof *(list)), &(list)[(n)++])

const char *const move_spellings[TT_MOVE_TIMES] = { "before", "alongside", "after" };

Program *program_create(Arena *a, const char *name, const char *target)
{
	Program *p = arena_new(a, Program);
	*p = (Program){ .arena = a, .name = name, .target = target };
	return p;
}

int program_core(Program *p, int col, int row)
{
	*ADD(p, p->cores, p->ncores) = (ProgramCore){ col, row };
	return p->ncores - 1;
}

ProgramVariant *program_add_variant(Program *p, const char *name, int routine)
{
	const size_t nargs = (size_t)routine_nargs(routine_at(routine));
	ProgramVariant *v = ADD(p, p->variants, p->nvariants);
	*v = (ProgramVariant){ .name = name, .routine = routine };
	v->args = arena_array(p->arena, uint32_t, nargs + 1);
	return v;
}

int program_variant(Program *p, const char *routine, const uint32_t *args, int nargs)
{
	const int row = routine_find(routine);
	if (row < 0 || routine_nargs(routine_at(row)) != nargs)
		die("program: no routine %s with %d arguments", routine, nargs);
	for (int i = 0; i < p->nvariants; i++) {
		const ProgramVariant *v = &p->variants[i];
		if (v->routine == row
		    && (nargs == 0 || memcmp(v->args, args, (size_t)nargs * sizeof *args) == 0))
			return i;
	}
	ProgramVariant *v = program_add_variant(p, NULL, row);
	if (nargs)
		memcpy(v->args, args, (size_t)nargs * sizeof *args);
	v->name = variant_symbol(p->arena, v);
	return p->nvariants - 1;
}

ProgramBuffer *program_buffer(Program *p, const char *name)
{
	ProgramBuffer *b = ADD(p, p->buffers, p->nbuffers);
	*b = (ProgramBuffer){ .name = name, .bank = -1, .core = -1 };
	return b;
}

ProgramSemaphore *program_semaphore(Program *p, const char *name)
{
	ProgramSemaphore *s = ADD(p, p->semaphores, p->nsemaphores);
	*s = (ProgramSemaphore){ .name = name, .id = p->nsemaphores - 1 };
	return s;
}

ProgramImage *program_image(Program *p, const char *name, const void *data, uint64_t bytes)
{
	ProgramImage *i = ADD(p, p->images, p->nimages);
	*i = (ProgramImage){ .name = name, .data = data, .bytes = bytes };
	if (data)
		i->hash = program_hash(data, bytes);
	return i;
}

ProgramEdge *program_input(Program *p, const char *name, DType dtype, Shape shape)
{
	ProgramEdge *e = ADD(p, p->inputs, p->ninputs);
	*e = (ProgramEdge){ .name = name, .dtype = dtype, .shape = shape };
	return e;
}

ProgramEdge *program_output(Program *p, const char *name, DType dtype, Shape shape)
{
	ProgramEdge *e = ADD(p, p->outputs, p->noutputs);
	*e = (ProgramEdge){ .name = name, .dtype = dtype, .shape = shape };
	return e;
}

ProgramPart *program_part(Program *p, ProgramEdge *edge, Shape shape)
{
	ProgramPart *part = ADD(p, edge->parts, edge->nparts);
	*part = (ProgramPart){ .shape = shape };
	return part;
}

ProgramOp *program_op(Program *p, const char *name, const char *kind, const char *params)
{
	ProgramOp *op = ADD(p, p->ops, p->nops);
	*op = (ProgramOp){ .name = name, .kind = kind };
	op->params = params ? params_find(params) : -1;
	if (params && op->params < 0)
		die("program: no parameters %s", params);
	if (params)
		op->words = arena_array(p->arena, uint32_t, params_at(op->params)->words);
	op->cores = arena_array(p->arena, ProgramOpCore, p->ncores + 1);
	op->act = VARIANT_NONE;
	for (int r = 0; r < TT_RISCS; r++) {
		op->variant[r] = VARIANT_NONE;
		for (int c = 0; c < p->ncores; c++)
			op->cores[c].variant[r] = VARIANT_AS_ALL;
	}
	return op;
}

static int word_of(const ProgramOp *op, const char *field, int index)
{
	const ParamField *f = op->params < 0 ? NULL : params_field(params_at(op->params), field);
	if (!f || index < 0 || index >= f->count)
		die("program: op %s has no parameter %s[%d]", op->name, field, index);
	return f->word + index;
}

void program_set(ProgramOp *op, const char *field, int index, uint32_t value)
{
	op->words[word_of(op, field, index)] = value;
}

void program_set_core(Program *p, ProgramOp *op, int core, const char *field, int index,
		      uint32_t value)
{
	ProgramOpCore *on = &op->cores[core];
	const int word = word_of(op, field, index);
	int at = 0;
	while (at < on->nvalues && on->values[at].word < word)
		at++;
	if (at == on->nvalues || on->values[at].word != word) {
		ADD(p, on->values, on->nvalues);
		memmove(on->values + at + 1, on->values + at,
			(size_t)(on->nvalues - 1 - at) * sizeof *on->values);
	}
	on->values[at] = (ProgramValue){ word, value };
}

ProgramCb *program_cb(Program *p, ProgramOp *op, int id)
{
	int at = 0;
	while (at < op->ncbs && op->cbs[at].id <= id)
		at++;
	ADD(p, op->cbs, op->ncbs);
	memmove(op->cbs + at + 1, op->cbs + at, (size_t)(op->ncbs - 1 - at) * sizeof *op->cbs);
	op->cbs[at] = (ProgramCb){ .id = id };
	return &op->cbs[at];
}

bool program_has_cb(const ProgramOp *op, int id)
{
	for (int i = 0; i < op->ncbs; i++)
		if (op->cbs[i].id == id)
			return true;
	return false;
}

void program_absorbed(Program *p, ProgramOp *op, const char *name)
{
	*ADD(p, op->absorbed, op->nabsorbed) = name;
}

void program_arrival(Program *p, ProgramOp *op, int core, ProgramArrival arrival)
{
	ProgramOpCore *on = &op->cores[core];
	*ADD(p, on->arrivals, on->narrivals) = arrival;
}

void program_push(Program *p, ProgramOp *op, int core, ProgramPush push)
{
	ProgramOpCore *on = &op->cores[core];
	*ADD(p, on->pushes, on->npushes) = push;
}

void program_zero(Program *p, ProgramOp *op, int core, ProgramZero zero)
{
	ProgramOpCore *on = &op->cores[core];
	*ADD(p, on->zeros, on->nzeros) = zero;
}

void program_move(Program *p, ProgramOp *op, int core, ProgramMove move)
{
	ProgramOpCore *on = &op->cores[core];
	*ADD(p, on->moves, on->nmoves) = move;
}

uint32_t program_word(const ProgramOp *op, int core, int word)
{
	const ProgramOpCore *on = &op->cores[core];
	for (int i = 0; i < on->nvalues; i++)
		if (on->values[i].word == word)
			return on->values[i].value;
	return op->words[word];
}

void program_run_on(ProgramOp *op, int core, TtRisc risc, int variant)
{
	op->cores[core].variant[risc] = variant;
}

int program_runs(const ProgramOp *op, int core, TtRisc risc)
{
	const int own = op->cores[core].variant[risc];
	return own == VARIANT_AS_ALL ? op->variant[risc] : own;
}

bool program_needs(const ProgramOp *op, int core, TtRisc risc, int variant)
{
	const int runs = program_runs(op, core, risc);
	return runs >= 0 && (runs == variant || (risc == TT_TRISC1 && op->act == variant));
}

/* FNV-1a. */
int program_host_type(DType type)
{
	switch (type) {
	case TYPE_F32:
		return TT_HOST_F32;
	case TYPE_BF16:
		return TT_HOST_BF16;
	case TYPE_F16:
		return TT_HOST_F16;
	case TYPE_U8:
		return TT_HOST_U8;
	default:
		return -1;
	}
}

uint64_t program_hash(const void *data, uint64_t bytes)
{
	const uint8_t *p = data;
	uint64_t hash = 0xcbf29ce484222325;
	for (uint64_t i = 0; i < bytes; i++)
		hash = (hash ^ p[i]) * 0x100000001b3;
	return hash;
}
