/* The table of standard operations, read by the parser that reads models. */
#include "frontend/nnef.h"

#include <stdio.h>
#include <stdlib.h>

#include "frontend/nnef_lower.h"

typedef struct Row {
	const char *name, *prototype;
	const char *body, *why_not;
	Lower lower;
	OpKind kind;
} Row;

static const Row rows[] = {
#define NNEF_OP(name, how, kind, proto) { #name, proto, NULL, NULL, nnef_lower_##how, OP_##kind },
#define NNEF_FRAGMENT(name, proto, body) { #name, proto, body, NULL, NULL, OP_COUNT },
#define NNEF_MISSING(name, proto, why) { #name, proto, NULL, why, NULL, OP_COUNT },
#include "frontend/nnef_ops.def"
};

enum { ROWS = sizeof rows / sizeof rows[0] };

bool nnef_op_row(int i, const char **name, const char **prototype, const char **why_not)
{
	if (i < 0 || i >= ROWS)
		return false;
	*name = rows[i].name;
	*prototype = rows[i].prototype;
	*why_not = rows[i].why_not;
	return true;
}

/* "fragment name(...) -> (...);" for each row, one a line. */
static char *prelude(size_t *size)
{
	char *text;
	FILE *f = open_memstream(&text, size);
	if (!f)
		die_out_of_memory(0);
	for (int i = 0; i < ROWS; i++) {
		fprintf(f, "fragment %s%s", rows[i].name, rows[i].prototype);
		if (rows[i].body)
			fprintf(f, " { %s }\n", rows[i].body);
		else
			fputs(";\n", f);
	}
	if (fclose(f) != 0)
		die_out_of_memory(0);
	return text;
}

void nnef_add_standard(Nnef *n)
{
	Diag d = { .to = stderr };
	size_t size;
	char *text = prelude(&size);
	NnefModel *m = nnef_parse(n->arena, &d, "nnef_ops.def", text, size, true);
	if (!m || m->fragments.n != ROWS)
		die("the table of NNEF operations does not parse");
	for (int i = 0; i < ROWS; i++) {
		m->fragments.v[i].standard = i;
		strmap_put(&n->fragments, rows[i].name, &m->fragments.v[i]);
	}
	free(text);
}

const char *nnef_unsupported(const Fragment *f)
{
	return f->standard >= 0 ? rows[f->standard].why_not : NULL;
}

static bool has_hole(Value v)
{
	bool found = v.kind == VALUE_HOLE;
	for (int i = 0; (v.kind == VALUE_ARRAY || v.kind == VALUE_TUPLE) && i < v.n && !found; i++)
		found = has_hole(v.item[i]);
	return found;
}

Value nnef_lower(Call *c)
{
	const Row *row = &rows[c->op->standard];
	c->kind = row->kind;
	for (int i = 0; i < c->op->nparams && row->lower != nnef_lower_variable; i++)
		if (has_hole(c->arg[i]))
			return call_error(c, "'%s' has a '?', which only the shape of a variable may",
					  c->op->param[i].name);
	return row->lower(c);
}
