/*
 * Kernels as text.
 *
 *     comment: what it does, and each op that uses it
 *     includes: of the library, on each TRISC those of its routine
 *     kernel_main: constants by name, parameters by name, calls
 */
#include <string.h>

#include "backend/metal_library.h"
#include "backend/metal_print.h"
#include "backend/metal_write.h"

static const char *const thread_macro[TT_RISCS] = { NULL, NULL, "UNPACK", "MATH", "PACK" };
static const char *const thread_define[TT_RISCS] = { NULL, NULL, "TRISC_UNPACK", "TRISC_MATH",
						     "TRISC_PACK" };

static const Routine *routine_of(const MetalModel *m, int variant)
{
	return variant < 0 ? NULL : routine_at(m->p->variants[variant].routine);
}

/* TtTiles for "tiles". */
static const char *struct_name(const MetalModel *m, const Routine *r)
{
	const char *name = params_at(r->params)->name;
	return arena_printf(m->a, "Tt%c%s", *name - 'a' + 'A', name + 1);
}

/* ---- constants ---- */

typedef struct Constant {
	const char *name, *what, *text;
	uint32_t value;
	bool differs; /* routines of this kernel have different values */
} Constant;

typedef struct Constants {
	Constant v[16];
	int n;
} Constants;

static const Constant *constant(const Constants *c, const char *name)
{
	for (int i = 0; i < c->n; i++)
		if (strcmp(c->v[i].name, name) == 0)
			return &c->v[i];
	return NULL;
}

/* As text: types by their names. */
static const char *constant_text(const MetalModel *m, const char *name, uint32_t value)
{
	static const char *const types[] = { [TT_TYPE_BF16] = "TT_TYPE_BF16",
					     [TT_TYPE_BFP8_B] = "TT_TYPE_BFP8_B",
					     [TT_TYPE_FP32] = "TT_TYPE_FP32" };
	const size_t n = strlen(name);
	const bool type = n >= 4 && strcmp(name + n - 4, "type") == 0;
	return type ? types[value] : arena_printf(m->a, "%u", value);
}

static Constants constants_of(const MetalModel *m, const MetalCode *code)
{
	Constants c = { .n = 0 };
	for (int r = 0; r < TT_RISCS; r++) {
		const Routine *routine = routine_of(m, code->variant[r]);
		for (int i = 0; routine && routine->args[i].name; i++) {
			const RoutineArg *arg = &routine->args[i];
			const uint32_t value = m->p->variants[code->variant[r]].args[i];
			const Constant *known = constant(&c, arg->name);
			if (known)
				c.v[known - c.v].differs |= known->value != value;
			else
				c.v[c.n++] = (Constant){ arg->name, arg->what,
							 constant_text(m, arg->name, value), value,
							 false };
		}
	}
	return c;
}

static void print_constants(MetalWriter *w, const MetalModel *m, const Constants *c)
{
	int shown = 0, widest = 0;
	for (int i = 0; i < c->n; i++) {
		const int width = (int)(strlen(c->v[i].name) + strlen(c->v[i].text));
		shown += !c->v[i].differs;
		widest = !c->v[i].differs && width > widest ? width : widest;
	}
	if (!shown)
		return;
	metal_line(w, LINE_CONSTANTS);
	for (int i = 0; i < c->n; i++) {
		const Constant *v = &c->v[i];
		const int width = (int)(strlen(v->name) + strlen(v->text));
		if (!v->differs)
			metal_line(w, LINE_CONSTANT, v->name, v->text,
				   arena_printf(m->a, "%*s", widest - width + 1, ""), v->what);
	}
	metal_line(w, LINE_END_LIST);
}

/* How many parts of columns a routine of a host edge has beside it; 0: it is none. */
static int parts_of(const MetalModel *m, int variant)
{
	const Routine *r = routine_of(m, variant);
	for (int i = 0; r && r->args[i].name; i++)
		if (strcmp(r->args[i].name, "parts") == 0)
			return (int)m->p->variants[variant].args[i];
	return 0;
}

/* Which way it goes. */
static const char *direction(const MetalModel *m, int variant)
{
	const char *name = routine_of(m, variant)->name;
	const bool in = strcmp(name, "edge_in") == 0 || strcmp(name, "edge_read") == 0;
	return in ? "TT_EDGE_IN" : "TT_EDGE_OUT";
}

/* ---- includes ---- */

static void include(MetalWriter *w, const MetalModel *m, const Routine *r)
{
	metal_line(w, LINE_INCLUDE, metal_header_of(m->a, r->name));
}

static void print_compute_includes(MetalWriter *w, const MetalModel *m, const MetalCode *code)
{
	bool first = true;
	for (int r = TT_TRISC0; r <= TT_TRISC2; r++) {
		if (code->variant[r] < 0)
			continue;
		metal_line(w, first ? LINE_IF_DEFINED : LINE_ELIF_DEFINED, thread_define[r]);
		if (r == TT_TRISC1 && code->act >= 0)
			include(w, m, routine_of(m, code->act));
		include(w, m, routine_of(m, code->variant[r]));
		first = false;
	}
	if (!first)
		metal_line(w, LINE_ENDIF);
}

/* All threads have the same routine: host edges. */
static bool is_same_on_all(const MetalModel *m, const MetalCode *code)
{
	const Routine *r = routine_of(m, code->variant[TT_TRISC0]);
	return r && r == routine_of(m, code->variant[TT_TRISC1]) &&
	       r == routine_of(m, code->variant[TT_TRISC2]);
}

static void print_includes(MetalWriter *w, const MetalModel *m, const MetalCode *code)
{
	metal_line(w, LINE_INCLUDE, "runtime/device/kernel_metal.h");
	if (code->kind == METAL_COMPUTE && !is_same_on_all(m, code)) {
		print_compute_includes(w, m, code);
	} else {
		const Routine *one = NULL;
		for (int r = 0; r < TT_RISCS; r++)
			one = one ? one : routine_of(m, code->variant[r]);
		if (code->kind == METAL_WRITER && parts_of(m, code->variant[TT_BRISC]))
			metal_line(w, LINE_INCLUDE, metal_header_of(m->a, "edge_close"));
		else if (one)
			include(w, m, one);
	}
	metal_line(w, LINE_EMPTY);
}

/* ---- what it does ---- */

static const char *call(const MetalModel *m, int variant, const Constants *c)
{
	const Routine *r = routine_of(m, variant);
	const char *args = "p";
	for (int i = 0; r->args[i].name; i++) {
		if (constant(c, r->args[i].name)->differs)
			args = arena_printf(m->a, "%s, %u", args, m->p->variants[variant].args[i]);
		else
			args = arena_printf(m->a, "%s, %s", args, r->args[i].name);
	}
	return metal_spell(m->a, LINE_CALL, r->name, args);
}

static void print_compute(MetalWriter *w, const MetalModel *m, const MetalCode *code,
			  const Constants *c)
{
	metal_line(w, LINE_COMPUTE_BEGIN);
	if (code->ready)
		metal_line(w, LINE_CB_WAIT, "TT_CB_READY");
	for (int r = TT_TRISC0; r <= TT_TRISC2; r++)
		if (code->variant[r] >= 0)
			metal_line(w, LINE_ON_THREAD, thread_macro[r],
				   call(m, code->variant[r], c));
	if (code->ready)
		metal_line(w, LINE_CB_POP, "TT_CB_READY");
	metal_line(w, LINE_COMPUTE_END);
	if (code->done)
		metal_line(w, LINE_CB_PUSH, "TT_CB_DONE");
}

static void print_mover(MetalWriter *w, const MetalModel *m, const MetalCode *code,
			const Constants *c)
{
	const int variant = code->variant[code->kind == METAL_READER ? TT_NCRISC : TT_BRISC];
	const int parts = code->kind == METAL_WRITER ? parts_of(m, variant) : 0;
	if (code->ready)
		metal_line(w, LINE_CB_RESERVE, "TT_CB_READY");
	if (code->lists)
		metal_line(w, LINE_LISTS_BEFORE);
	if (code->ready)
		metal_line(w, LINE_CB_PUSH, "TT_CB_READY");
	if (code->lists)
		metal_line(w, LINE_LISTS_BESIDE);
	if (variant >= 0)
		metal_line(w, LINE_STATEMENT, call(m, variant, c));
	if (parts)
		metal_line(w, LINE_EDGE_CLOSE, parts, direction(m, variant));
	if (code->done) {
		metal_line(w, LINE_CB_WAIT, "TT_CB_DONE");
		metal_line(w, LINE_CB_POP, "TT_CB_DONE");
	}
	if (code->lists)
		metal_line(w, LINE_LISTS_AFTER);
}

static void print_arguments(MetalWriter *w, const MetalModel *m, const MetalCode *code)
{
	const char *name = NULL;
	for (int r = 0; r < TT_RISCS; r++)
		if (!name && code->variant[r] >= 0)
			name = struct_name(m, routine_of(m, code->variant[r]));
	if (name)
		metal_line(w, LINE_PARAMS, name, name);
	if (code->lists && name)
		metal_line(w, LINE_LISTS_BEHIND, name);
	else if (code->lists)
		metal_line(w, LINE_LISTS);
}

const char *metal_print_code(const MetalModel *m, const MetalCode *code)
{
	const Constants c = constants_of(m, code);
	MetalWriter w;
	metal_open(&w);
	if (code->act >= 0) {
		metal_line(&w, LINE_ACT, routine_of(m, code->act)->name);
		metal_line(&w, LINE_EMPTY);
	}
	print_includes(&w, m, code);
	metal_line(&w, LINE_KERNEL);
	metal_line(&w, LINE_BEGIN);
	print_constants(&w, m, &c);
	print_arguments(&w, m, code);
	if (code->kind == METAL_COMPUTE)
		print_compute(&w, m, code, &c);
	else
		print_mover(&w, m, code, &c);
	metal_line(&w, LINE_END);
	return metal_close(&w, m->a).data;
}

/* ---- the comment on top ---- */

static void print_roles(MetalWriter *w, const MetalModel *m, const MetalCode *code)
{
	static const char *const what[TT_RISCS] = { "BRISC", "NCRISC", "unpack", "math", "pack" };
	for (int r = 0; r < TT_RISCS; r++) {
		const Routine *routine = routine_of(m, code->variant[r]);
		if (routine)
			metal_comment(w, 0, arena_printf(m->a, "%s: %s.", what[r], routine->what));
	}
	if (code->act >= 0)
		metal_comment(
			w, 0,
			arena_printf(m->a, "activation: %s.", routine_of(m, code->act)->what));
	if (code->lists)
		metal_comment(w, 0,
			      "lists: zeros around the result, rows for other cores, moves between "
			      "L1 and DRAM.");
}

/* "a.conv (unet.nnef:12:9, with a.norm, a.relu): conv". */
static const char *title(const MetalModel *m, const ProgramOp *op)
{
	const char *text = arena_printf(m->a, "%s", op->source ? op->source : "");
	for (int i = 0; i < op->nabsorbed; i++)
		text = arena_printf(m->a, "%s%s%s", text,
				    i       ? ", "
				    : *text ? ", with "
					    : "with ",
				    op->absorbed[i]);
	return *text ? arena_printf(m->a, "%s (%s): %s", op->name, text, op->kind)
		     : arena_printf(m->a, "%s: %s", op->name, op->kind);
}

void metal_print_about(MetalWriter *w, const MetalModel *m, const MetalOp *op)
{
	metal_comment(w, 0, title(m, op->op));
	metal_comment(w, 4, op->about);
}

static const MetalOp *op_of(const MetalModel *m, int index)
{
	int i = 0;
	while (m->ops[i].index != index)
		i++;
	return &m->ops[i];
}

Bytes metal_print_kernel(const MetalModel *m, const MetalKernel *k)
{
	MetalWriter w;
	metal_open(&w);
	metal_line(&w, LINE_COMMENT);
	print_roles(&w, m, &k->code);
	metal_line(&w, LINE_COMMENT_EMPTY);
	for (int i = 0; i < k->nops; i++)
		metal_print_about(&w, m, op_of(m, k->ops[i]));
	metal_line(&w, LINE_COMMENT_END);
	fputs(k->text, w.out.f);
	return metal_close(&w, m->a);
}
