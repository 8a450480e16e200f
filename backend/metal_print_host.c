/* NAME.cpp and NAME.h: the ops, what the net takes and gives, and the order of it all. */
#include <inttypes.h>
#include <string.h>

#include "backend/metal_print.h"
#include "backend/package.h"

static const char *dims(Arena *a, const int64_t *v, int n)
{
	const char *text = "{";
	for (int i = 0; i < n; i++)
		text = arena_printf(a, "%s%s%" PRId64, text, i ? ", " : "", v[i]);
	return arena_printf(a, "%s}", text);
}

static const char *whole(Arena *a, int64_t n)
{
	return arena_printf(a, "%" PRId64, n);
}

static const char *type_name(DType type)
{
	static const char *const names[TT_HOSTS] = { "TESSERA_F32", "TESSERA_BF16", "TESSERA_F16",
						     "TESSERA_U8" };
	const int host = program_host_type(type);
	if (host < 0)
		die("a host tensor of %s", type_info[type].name);
	return names[host];
}

/* "y.2" for the third tensor of y; longer where an edge is called so. */
static const char *part_name(const MetalModel *m, const ProgramEdge *edges, int edge, int part)
{
	const bool in = edges == m->p->inputs;
	const int n = in ? m->p->ninputs : m->p->noutputs;
	const char *name = arena_printf(m->a, "%s.%d", edges[edge].name, part);
	for (int i = 0; i < n; i++)
		if (strcmp(edges[i].name, name) == 0) {
			name = arena_printf(m->a, "%s+", name);
			i = -1;
		}
	return name;
}

const char *metal_tensor_name(const MetalModel *m, const ProgramEdge *edges, int edge, int part)
{
	const uint64_t base = edges[edge].parts[part].tensor.base;
	for (int i = 0; i <= edge; i++)
		for (int k = 0; k < edges[i].nparts; k++)
			if (edges[i].parts[k].tensor.base == base)
				return k ? part_name(m, edges, i, k) : edges[i].name;
	return NULL;
}

static void print_part(MetalWriter *w, const MetalModel *m, const ProgramEdge *edges, int edge,
		       int part)
{
	const TtbPart p = package_part(&edges[edge], part);
	const ProgramTensor *t = &edges[edge].parts[part].tensor;
	metal_line(w, LINE_PART, metal_tensor_name(m, edges, edge, part),
		   t->stored == TT_HOST_F32 ? "TT_HOST_F32" : "TT_HOST_BF16",
		   dims(m->a, t->shape, 4), t->page_bytes);
	w->depth++;
	metal_line(w, LINE_PART_VIEW, whole(m->a, p.offset), dims(m->a, p.dims, (int)p.rank),
		   dims(m->a, p.strides, (int)p.rank));
	metal_line(w, LINE_PART_JOINED, whole(m->a, p.start), whole(m->a, p.run),
		   whole(m->a, p.pitch));
	w->depth--;
}

static void print_edges(MetalWriter *w, const MetalModel *m, const ProgramEdge *edges, int n,
			MetalLine line)
{
	for (int i = 0; i < n; i++) {
		metal_line(w, line, edges[i].name, type_name(edges[i].dtype),
			   dims(m->a, edges[i].shape.dim, edges[i].shape.rank));
		for (int k = 0; k < edges[i].nparts; k++)
			print_part(w, m, edges, i, k);
	}
}

/* Bytes of arguments that a run sends to the cores: what a trace of it has to hold. */
static uint32_t arguments(const MetalModel *m)
{
	uint32_t bytes = 0;
	for (int o = 0; o < m->nops; o++)
		for (int i = 0; i < m->ops[o].nprograms; i++) {
			const MetalProgram *p = &m->ops[o].programs[i];
			bytes += (uint32_t)(p->nplaces * p->words * m->p->ncores) *
				 (uint32_t)sizeof(uint32_t);
		}
	return bytes;
}

static void print_describe(MetalWriter *w, const MetalModel *m)
{
	const Program *p = m->p;
	metal_line(w, LINE_DESCRIBE);
	metal_line(w, LINE_BEGIN);
	metal_line(w, LINE_GRID, m->cols, m->rows, p->ncores);
	metal_line(w, LINE_MESH, m->options->rows, m->options->cols);
	metal_line(w, LINE_L1_FROM, m->l1);
	if (m->dram_bytes)
		metal_line(w, LINE_DRAM_BYTES, (uint32_t)m->dram_bytes);
	metal_line(w, LINE_ARGUMENTS, arguments(m));
	print_edges(w, m, p->inputs, p->ninputs, LINE_INPUT);
	print_edges(w, m, p->outputs, p->noutputs, LINE_OUTPUT);
	for (int i = 0; i < m->nops; i++)
		metal_line(w, LINE_ADD_OP, m->ops[i].function);
	metal_line(w, LINE_END);
	metal_line(w, LINE_EMPTY);
}

Bytes metal_print_host(const MetalModel *m)
{
	MetalWriter w;
	metal_open(&w);
	metal_line(&w, LINE_COMMENT);
	metal_comment(&w, 0,
		      arena_printf(m->a,
				   "The net '%s' for TT-Metal, made by %s for %s: a function for "
				   "each device op, in the order they run.",
				   m->p->name, m->options->compiler, m->t->name));
	metal_line(&w, LINE_COMMENT_EMPTY);
	metal_comment(
		&w, 0,
		"What they call is told in tessera/runtime/metal/network.hpp, what parameters "
		"mean in kernels/runtime/device/params.def. {0, 31} are cores 0 to 31, counted row "
		"by "
		"row; addresses are those of L1, the same on every core.");
	metal_line(&w, LINE_COMMENT_END);
	metal_line(&w, LINE_INCLUDE, arena_printf(m->a, "%s.h", m->name));
	metal_line(&w, LINE_EMPTY);
	metal_line(&w, LINE_INCLUDE, "runtime/metal/network.hpp");
	metal_line(&w, LINE_EMPTY);
	metal_line(&w, LINE_USING);
	metal_line(&w, LINE_EMPTY);
	metal_line(&w, LINE_NAMESPACE);
	metal_line(&w, LINE_EMPTY);
	for (int i = 0; i < m->nops; i++)
		metal_print_op(&w, m, &m->ops[i]);
	print_describe(&w, m);
	metal_line(&w, LINE_NAMESPACE_END);
	metal_line(&w, LINE_EMPTY);
	metal_line(&w, LINE_NETWORK, m->name, m->p->name, m->name, m->options->compiler);
	return metal_close(&w, m->a);
}

/* ---- NAME.h ---- */

static const char *upper(Arena *a, const char *name)
{
	char *s = arena_strdup(a, name);
	for (char *p = s; *p; p++)
		*p = (char)(*p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
	return s;
}

static void print_tensors(MetalWriter *w, const MetalModel *m, const char *what,
			  const ProgramEdge *edges, int n)
{
	for (int i = 0; i < n; i++) {
		const char *text = arena_printf(m->a, "%s %d: %s, %s", what, i, edges[i].name,
						type_info[edges[i].dtype].name);
		for (int k = 0; k < edges[i].shape.rank; k++)
			text = arena_printf(m->a, "%s%s%" PRId64, text, k ? "x" : " ",
					    edges[i].shape.dim[k]);
		metal_comment(w, 4, text);
	}
}

Bytes metal_print_header(const MetalModel *m)
{
	const char *guard = upper(m->a, m->name);
	MetalWriter w;
	metal_open(&w);
	metal_line(&w, LINE_COMMENT);
	metal_comment(&w, 0,
		      arena_printf(m->a,
				   "The net '%s' for TT-Metal; tessera/runtime/metal/"
				   "tessera_metal.h opens and runs it.",
				   m->p->name));
	metal_line(&w, LINE_COMMENT_EMPTY);
	print_tensors(&w, m, "input", m->p->inputs, m->p->ninputs);
	print_tensors(&w, m, "output", m->p->outputs, m->p->noutputs);
	metal_line(&w, LINE_COMMENT_END);
	metal_line(&w, LINE_GUARD, guard);
	metal_line(&w, LINE_GUARD_DEFINE, guard);
	metal_line(&w, LINE_EMPTY);
	metal_line(&w, LINE_INCLUDE, "runtime/metal/tessera_metal.h");
	metal_line(&w, LINE_EMPTY);
	metal_line(&w, LINE_IFDEF_CPP);
	metal_line(&w, LINE_EXTERN_C);
	metal_line(&w, LINE_ENDIF);
	metal_line(&w, LINE_EMPTY);
	metal_line(&w, LINE_EXTERN_NET, m->name);
	metal_line(&w, LINE_EMPTY);
	metal_line(&w, LINE_IFDEF_CPP);
	metal_line(&w, LINE_EXTERN_C_END);
	metal_line(&w, LINE_ENDIF);
	metal_line(&w, LINE_EMPTY);
	metal_line(&w, LINE_ENDIF);
	return metal_close(&w, m->a);
}
