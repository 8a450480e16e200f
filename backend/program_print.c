#include <inttypes.h>

#include "backend/program_lex.h"
#include "backend/program_text.h"
#include "backend/routines.h"

/* Fields that hold more than a count are shown in hex. */
enum { LARGEST_COUNT = 0xffff };

static void print_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		const unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c == '\n')
			fputs("\\n", f);
		else if (c < ' ' || c == 0x7f)
			fprintf(f, "\\x%02x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static void print_dims(FILE *f, const int64_t *v, int n)
{
	fputc('[', f);
	for (int i = 0; i < n; i++)
		fprintf(f, "%s%" PRId64, i ? "," : "", v[i]);
	fputc(']', f);
}

static void print_value(FILE *f, const ParamField *field, uint32_t value)
{
	fprintf(f, field->most > LARGEST_COUNT && value ? "0x%x" : "%u", value);
}

static void print_variants(const Program *p, FILE *f)
{
	for (int i = 0; i < p->nvariants; i++) {
		const ProgramVariant *v = &p->variants[i];
		const Routine *r = routine_at(v->routine);
		fprintf(f, "variant %s = %s {", v->name, r->name);
		for (int k = 0; r->args[k].name; k++)
			fprintf(f, "%s%s = %u", k ? ", " : "", r->args[k].name, v->args[k]);
		fputs("}\n", f);
	}
}

static void print_buffers(const Program *p, FILE *f)
{
	for (int i = 0; i < p->nbuffers; i++) {
		const ProgramBuffer *b = &p->buffers[i];
		fputs("buffer ", f);
		print_string(f, b->name);
		fputs(b->place == PLACE_L1 ? " l1" : " dram", f);
		if (b->bank >= 0)
			fprintf(f, " bank %d", b->bank);
		fprintf(f, " at 0x%" PRIx64 " bytes 0x%" PRIx64 " life %d..%d", b->address, b->bytes,
			b->first, b->last);
		if (b->core >= 0)
			fprintf(f, " core %d", b->core);
		fputc('\n', f);
	}
}

static void print_images(const Program *p, FILE *f)
{
	for (int i = 0; i < p->nimages; i++) {
		const ProgramImage *m = &p->images[i];
		fputs("image ", f);
		print_string(f, m->name);
		fprintf(f, " bank %d", m->bank);
		if (m->page_bytes)
			fprintf(f, " page 0x%x", m->page_bytes);
		fprintf(f, " at 0x%" PRIx64 " bytes %" PRIu64 " hash 0x%" PRIx64, m->address, m->bytes,
			m->hash);
		if (m->data && m->bytes <= PROGRAM_DATA_SHOWN) {
			fputs(" data \"", f);
			for (uint64_t k = 0; k < m->bytes; k++)
				fprintf(f, "%02x", m->data[k]);
			fputc('"', f);
		}
		fputc('\n', f);
	}
}

static void print_part(const ProgramPart *part, FILE *f)
{
	const ProgramTensor *t = &part->tensor;
	fputs("\tpart ", f);
	print_dims(f, part->shape.dim, part->shape.rank);
	fputs(t->stored == TT_HOST_F32 ? " of f32 " : " of ", f);
	print_dims(f, t->shape, 4);
	fprintf(f, " base 0x%" PRIx64 " page %u slot 0x%" PRIx64, t->base, t->page_bytes,
		t->slot_bytes);
	if (part->view.rank) {
		fprintf(f, " view %" PRId64 " ", part->view.offset);
		print_dims(f, part->view.dims, part->view.rank);
		fputc(' ', f);
		print_dims(f, part->view.strides, part->view.rank);
	}
	fputc('\n', f);
}

static void print_edges(const char *what, const ProgramEdge *edges, int n, FILE *f)
{
	for (int i = 0; i < n; i++) {
		const ProgramEdge *e = &edges[i];
		fprintf(f, "%s ", what);
		print_string(f, e->name);
		fprintf(f, " %s", type_info[e->dtype].name);
		print_dims(f, e->shape.dim, e->shape.rank);
		fprintf(f, " axis %d\n", e->axis);
		for (int k = 0; k < e->nparts; k++)
			print_part(&e->parts[k], f);
	}
}

/* An array up to its last element that is not 0. */
static void print_field(const ParamField *field, const uint32_t *words, bool *first, FILE *f)
{
	int n = field->count;
	while (n > 0 && words[field->word + n - 1] == 0)
		n--;
	if (n == 0)
		return;
	fprintf(f, "%s%s = ", *first ? "" : ", ", field->name);
	*first = false;
	if (field->count == 1) {
		print_value(f, field, words[field->word]);
		return;
	}
	fputc('[', f);
	for (int i = 0; i < n; i++) {
		fputs(i ? ", " : "", f);
		print_value(f, field, words[field->word + i]);
	}
	fputc(']', f);
}

static void print_runs(const Program *p, const int variant[TT_RISCS], const char *indent, int skip,
		       FILE *f)
{
	for (int r = 0; r < TT_RISCS; r++)
		if (variant[r] != skip)
			fprintf(f, "%s%s %s\n", indent, risc_spellings[r],
				variant[r] < 0 ? "none" : p->variants[variant[r]].name);
}

static void print_core_values(const ProgramOp *op, const ProgramOpCore *on, FILE *f)
{
	if (!on->nvalues)
		return;
	const ParamStruct *s = params_at(op->params);
	fputs(" {", f);
	for (int i = 0; i < on->nvalues; i++) {
		const ParamField *field = params_field_of(s, on->values[i].word);
		fprintf(f, "%s%s", i ? ", " : "", field->name);
		if (field->count > 1)
			fprintf(f, "[%d]", on->values[i].word - field->word);
		fputs(" = ", f);
		print_value(f, field, on->values[i].value);
	}
	fputc('}', f);
}

static void print_moves(const ProgramOpCore *on, FILE *f)
{
	for (int i = 0; i < on->nmoves; i++) {
		const ProgramMove *m = &on->moves[i];
		fprintf(f, "\t\tmove %s %s bank %d at 0x%x page %u slot %u l1 0x%x bytes %u count %u step %u\n",
			m->out ? "out" : "in", move_spellings[m->when], m->bank, m->at, m->page_bytes,
			m->slot_bytes, m->l1, m->bytes, m->count, m->step);
	}
}

static void print_core(const Program *p, const ProgramOp *op, int core, FILE *f)
{
	const ProgramOpCore *on = &op->cores[core];
	bool own = on->nvalues || on->narrivals || on->npushes || on->nzeros || on->nmoves;
	for (int r = 0; r < TT_RISCS; r++)
		own |= on->variant[r] != VARIANT_AS_ALL;
	if (!own)
		return;
	fprintf(f, "\tcore %d", core);
	print_core_values(op, on, f);
	fputc('\n', f);
	print_runs(p, on->variant, "\t\t", VARIANT_AS_ALL, f);
	for (int i = 0; i < on->narrivals; i++)
		fprintf(f, "\t\tarrival core %d op %d\n", on->arrivals[i].core, on->arrivals[i].op);
	for (int i = 0; i < on->npushes; i++) {
		const ProgramPush *x = &on->pushes[i];
		fprintf(f, "\t\tpush core %d from 0x%x to 0x%x bytes %u count %u step %u %u\n",
			x->core, x->from, x->to, x->bytes, x->count, x->from_step, x->to_step);
	}
	for (int i = 0; i < on->nzeros; i++) {
		const ProgramZero *z = &on->zeros[i];
		fprintf(f, "\t\tzero at 0x%x bytes %u count %u step %u planes %u step %u\n", z->at,
			z->bytes, z->count, z->step, z->planes, z->plane_step);
	}
	print_moves(on, f);
}

static void print_op(const Program *p, int index, FILE *f)
{
	const ProgramOp *op = &p->ops[index];
	fprintf(f, "\nop %d ", index);
	print_string(f, op->name);
	fputs(" kind ", f);
	print_string(f, op->kind);
	if (op->params >= 0)
		fprintf(f, " params %s", params_at(op->params)->name);
	for (int i = 0; i < op->nabsorbed; i++) {
		fputs(i ? " " : " absorbed ", f);
		print_string(f, op->absorbed[i]);
	}
	if (op->source) {
		fputs(" source ", f);
		print_string(f, op->source);
	}
	fputc('\n', f);
	print_runs(p, op->variant, "\t", VARIANT_NONE, f);
	if (op->act >= 0)
		fprintf(f, "\tact %s\n", p->variants[op->act].name);
	if (op->early)
		fputs("\tearly\n", f);
	for (int i = 0; i < op->ncbs; i++)
		fprintf(f, "\tcb %d at 0x%x page %u pages %u\n", op->cbs[i].id, op->cbs[i].address,
			op->cbs[i].page_bytes, op->cbs[i].pages);
	if (op->params >= 0) {
		const ParamStruct *s = params_at(op->params);
		bool first = true;
		fputs("\tall {", f);
		for (int i = 0; i < s->nfields; i++)
			print_field(&s->fields[i], op->words, &first, f);
		fputs("}\n", f);
	}
	for (int c = 0; c < p->ncores; c++)
		print_core(p, op, c, f);
}

void program_print(const Program *p, FILE *f)
{
	fputs("program ", f);
	print_string(f, p->name);
	fputs(" target ", f);
	if (lex_is_word(p->target))
		fputs(p->target, f);
	else
		print_string(f, p->target);
	fprintf(f, " dram_free 0x%" PRIx64 "\n", p->dram_free);
	if (p->plan) {
		fputs("plan ", f);
		print_string(f, p->plan);
		fputc('\n', f);
	}
	fputs("cores", f);
	for (int i = 0; i < p->ncores; i++)
		fprintf(f, " (%d,%d)", p->cores[i].col, p->cores[i].row);
	fputc('\n', f);
	print_variants(p, f);
	print_buffers(p, f);
	for (int i = 0; i < p->nsemaphores; i++) {
		fputs("semaphore ", f);
		print_string(f, p->semaphores[i].name);
		fprintf(f, " id %d value %u\n", p->semaphores[i].id, p->semaphores[i].value);
	}
	print_images(p, f);
	print_edges("input", p->inputs, p->ninputs, f);
	print_edges("output", p->outputs, p->noutputs, f);
	for (int i = 0; i < p->nops; i++)
		print_op(p, i, f);
}
