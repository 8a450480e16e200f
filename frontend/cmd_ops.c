/*
 * tessera ops: what models may consist of, from the tables that the readers,
 * the type rules and the hints are made of.
 */
#include "frontend/cmd_session.h"
#include "frontend/nnef.h"
#include "frontend/onnx.h"
#include "ir/hint.h"

static const char *inputs_text(Arena *a, int least, int most)
{
	if (least == most)
		return arena_printf(a, "%d", least);
	return most == MANY ? arena_printf(a, "%d+", least) : arena_printf(a, "%d-%d", least, most);
}

static void print_ir_ops(Arena *a)
{
	puts("IR ops (name, inputs, where they run, constraints)");
	for (int k = 0; k < OP_COUNT; k++) {
		const OpInfo *op = &op_info[k];
		printf("  %-16s %-4s %-10s %s\n", op->name, inputs_text(a, op->min_in, op->max_in),
		       op->traits & DEVICE ? "device" : "reference", op->constraints);
	}
}

static void print_onnx_ops(Arena *a)
{
	const OnnxOpRow *op;
	puts("\nONNX ops (name, least opset, inputs, IR op it becomes or is mainly made of, limits)");
	for (int i = 0; (op = onnx_op_row(i)); i++)
		printf("  %-22s %-3d %-4s %-16s %s\n", op->name, op->since,
		       inputs_text(a, op->min_in, op->max_in), op_info[op->kind].name, op->note);
}

static void print_nnef_ops(void)
{
	const char *name, *prototype, *why_not;
	puts("\nNNEF ops (name, parameters)");
	for (int i = 0; nnef_op_row(i, &name, &prototype, &why_not); i++)
		printf("  %s%s%s%s\n", name, prototype, why_not ? "  not supported: " : "",
		       why_not ? why_not : "");
}

static void print_hints(void)
{
	const char *key, *form, *what;
	puts("\nhints (key, form, meaning)");
	for (int i = 0; hint_row(i, &key, &form, &what); i++)
		printf("  %-16s %-35s %s\n", key, form, what);
}

enum ExitCode cmd_ops(Session *s)
{
	print_ir_ops(s->arena);
	print_onnx_ops(s->arena);
	print_nnef_ops();
	print_hints();
	return EXIT_OK;
}
