#include "frontend/inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/weights.h"
#include "ir/rng.h"

/* 1x3x480x640; false if it is not of that form, so presumably a file. */
enum { SAMPLE_SEED = 1 };

static bool parse_shape(const char *s, Shape *shape)
{
	*shape = (Shape){ 0 };
	for (;;) {
		char *end;
		errno = 0;
		if (*s < '0' || *s > '9' || shape->rank == MAX_RANK)
			return false;
		shape->dim[shape->rank++] = strtoll(s, &end, 10);
		if (errno)
			return false;
		if (!*end)
			return true;
		if (*end != 'x')
			return false;
		s = end + 1;
	}
}

/* Splits NAME=VALUE; a text without '=' has no name. */
static const char *split_name(Arena *a, const char *text, const char **value)
{
	const char *equals = strchr(text, '=');
	*value = equals ? equals + 1 : text;
	return equals ? arena_strndup(a, text, (size_t)(equals - text)) : NULL;
}

static void read_dims(Inputs *in, Arena *a, Diag *d, const Options *o)
{
	DimOption *dims = arena_array(a, DimOption, o->count[OPT_DIM]);
	for (int i = 0; i < o->count[OPT_DIM]; i++) {
		const char *text = o->values[OPT_DIM][i], *value;
		Shape size = { 0 };
		dims[i].name = split_name(a, text, &value);
		if (!dims[i].name || !*dims[i].name || !parse_shape(value, &size) ||
		    size.rank != 1 || !size.dim[0])
			usage_error(d, "'--dim' wants NAME=SIZE, not '%s'", text);
		dims[i].size = size.dim[0];
		for (int k = 0; k < i; k++)
			if (dims[i].name && dims[k].name && !strcmp(dims[i].name, dims[k].name))
				usage_error(d, "'--dim' gives '%s' twice", dims[i].name);
	}
	in->model.dims = dims;
	in->model.ndims = o->count[OPT_DIM];
}

static bool same_name(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void read_inputs(Inputs *in, Arena *a, Diag *d, const Options *o)
{
	ShapeOption *shapes = arena_array(a, ShapeOption, o->count[OPT_INPUT]);
	in->data = arena_array(a, NamedData, o->count[OPT_INPUT]);
	for (int i = 0; i < o->count[OPT_INPUT]; i++) {
		const char *text = o->values[OPT_INPUT][i], *value;
		const char *name = split_name(a, text, &value);
		ShapeOption *s = &shapes[in->model.nshapes];
		bool twice = false;
		if ((name && !*name) || !*value) {
			usage_error(d, "'--input' wants [NAME=]F.npy or [NAME=]SHAPE, not '%s'", text);
		} else if (parse_shape(value, &s->shape)) {
			s->input = name;
			if (shape_count(s->shape) <= 0)
				usage_error(d, "'--input %s': not a possible shape", text);
			for (int k = 0; k < in->model.nshapes; k++)
				twice = twice || same_name(name, shapes[k].input);
			in->model.nshapes++;
		} else {
			for (int k = 0; k < in->ndata; k++)
				twice = twice || (name && same_name(name, in->data[k].name));
			in->data[in->ndata++] = (NamedData){ .name = name, .path = value };
		}
		if (twice)
			usage_error(d, "'--input %s': that input is given twice", text);
	}
	in->model.shapes = shapes;
}

static void read_files(NamedData *data, int n, Arena *a, Diag *d)
{
	for (int i = 0; i < n; i++)
		data[i].value = npy_read(a, d, data[i].path);
}

/* The [NAME=]F.npy of a repeated option; `named`: the name must be there. */
static NamedData *name_files(Arena *a, Diag *d, const Options *o, OptionId id, bool named)
{
	NamedData *data = arena_array(a, NamedData, o->count[id]);
	for (int i = 0; i < o->count[id]; i++) {
		const char *text = o->values[id][i];
		data[i].name = split_name(a, text, &data[i].path);
		if ((named && !data[i].name) || (data[i].name && !*data[i].name) || !*data[i].path)
			usage_error(d, "'%s' wants %s, not '%s'", option_spelling(id),
				    named ? "NAME=F.npy" : "[NAME=]F.npy", text);
		for (int k = 0; k < i; k++)
			if (data[i].name && same_name(data[i].name, data[k].name))
				usage_error(d, "'%s' gives '%s' twice", option_spelling(id), data[i].name);
	}
	return data;
}

enum ExitCode inputs_read(Inputs *in, Arena *a, Diag *d, const Options *o)
{
	*in = (Inputs){
		.model = {
			.weights = option_text(o, OPT_WEIGHTS),
			.random_weights = option_given(o, OPT_RANDOM_WEIGHTS),
			.no_weights = option_given(o, OPT_NO_WEIGHTS),
			.seed = option_seed(o, OPT_RANDOM_WEIGHTS, 0),
		},
		.random = option_given(o, OPT_RANDOM_INPUT),
		.seed = option_seed(o, OPT_RANDOM_INPUT, 0),
	};
	const int errors = d->errors;
	if (in->model.random_weights && in->model.no_weights)
		usage_error(d, "'--random-weights' and '--no-weights' exclude each other");
	read_dims(in, a, d, o);
	read_inputs(in, a, d, o);
	if (in->ndata && !options_execute(o->command))
		usage_error(d, "'--input %s': '%s' takes shapes only, such as 1x3x480x640",
			    in->data[0].path, command_info[o->command].name);
	NamedData *known = name_files(a, d, o, OPT_CONST, true);
	in->expect = name_files(a, d, o, OPT_EXPECT, false);
	in->nexpect = o->count[OPT_EXPECT];
	in->calibrate = name_files(a, d, o, OPT_CALIBRATE, false);
	in->ncalibrate = o->count[OPT_CALIBRATE];
	if (in->ncalibrate && !option_given(o, OPT_MIN_PCC) && !option_given(o, OPT_MAX_ERR))
		usage_error(d, "'--calibrate' is for --min-pcc and --max-err, and neither is given");
	if (d->errors > errors)
		return EXIT_USAGE;

	const int nknown = o->count[OPT_CONST];
	KnownInput *values = arena_array(a, KnownInput, nknown);
	read_files(known, nknown, a, d);
	read_files(in->data, in->ndata, a, d);
	read_files(in->expect, in->nexpect, a, d);
	read_files(in->calibrate, in->ncalibrate, a, d);
	if (d->errors > errors)
		return EXIT_MODEL;
	for (int i = 0; i < nknown; i++)
		values[i] = (KnownInput){ known[i].name, known[i].value };
	in->model.known = values;
	in->model.nknown = nknown;
	ShapeOption *shapes = arena_array(a, ShapeOption, in->ndata);
	for (int i = 0; i < in->ndata; i++)
		shapes[i] = (ShapeOption){ in->data[i].name, in->data[i].value->shape };
	in->model.data = shapes;
	in->model.ndata = in->ndata;
	return EXIT_OK;
}

int inputs_count(const Graph *g, OpKind edge)
{
	int n = 0;
	for_each_op(op, g)
		n += op->kind == edge;
	return n;
}

const char *inputs_edge_name(const Op *op)
{
	return op->kind == OP_OUTPUT && op->node ? op->node : op->name;
}

/* "'a', 'b'" */
static const char *edge_names(const Graph *g, OpKind edge)
{
	const char *names = "";
	for_each_op(op, g)
		if (op->kind == edge)
			names = arena_printf(g->arena, "%s%s'%s'", names, *names ? ", " : "",
					     inputs_edge_name(op));
	return *names ? names : "none";
}

static int edge_index(const Graph *g, OpKind edge, const char *name)
{
	int n = 0;
	for_each_op(op, g) {
		if (op->kind != edge)
			continue;
		if (strcmp(inputs_edge_name(op), name) == 0)
			return n;
		n++;
	}
	return -1;
}

bool inputs_match(const Graph *g, OpKind edge, const NamedData *data, int ndata,
		  OptionId option, Tensor *out[])
{
	const int n = inputs_count(g, edge), errors = g->diag->errors;
	const char *what = op_info[edge].name;
	for (int i = 0; i < n; i++)
		out[i] = NULL;
	for (int i = 0; i < ndata; i++) {
		int k = data[i].name ? edge_index(g, edge, data[i].name) : -1;
		if (k >= 0)
			out[k] = data[i].value;
		else if (data[i].name)
			usage_error(g->diag, "'%s %s=%s': the model has no such %s, only %s",
				    option_spelling(option), data[i].name, data[i].path, what,
				    edge_names(g, edge));
	}
	int next = 0;
	for (int i = 0; i < ndata; i++) {
		while (!data[i].name && next < n && out[next])
			next++;
		if (data[i].name)
			continue;
		if (next < n)
			out[next] = data[i].value;
		else
			usage_error(g->diag, "'%s %s': the model has no more %ss, only %s",
				    option_spelling(option), data[i].path, what,
				    edge_names(g, edge));
	}
	return g->diag->errors == errors;
}

/* Floats uniform in -1 .. 1, integers in 0 .. 9. */
static Tensor *random_data(Arena *a, const Op *op, Rng *r)
{
	Tensor *t = tensor_create(a, op->dtype, op_callers_shape(op));
	for (int64_t i = 0, n = tensor_count(t); i < n; i++) {
		if (type_is_float(op->dtype))
			tensor_set_f64(t, i, 2 * rng_float(r) - 1);
		else
			tensor_set_i64(t, i, rng_below(r, op->dtype == TYPE_BOOL ? 2 : 10));
	}
	return t;
}

/* Those that have none yet. */
static void fill_random(const Graph *g, Arena *a, uint64_t seed, Tensor *data[])
{
	Rng r = { seed };
	int k = 0;
	for_each_op(op, g) {
		if (op->kind != OP_INPUT)
			continue;
		if (!data[k])
			data[k] = random_data(a, op, &r);
		k++;
	}
}

Tensor **inputs_sample(const Graph *g, Arena *a, const Inputs *in)
{
	Tensor **data = arena_array(a, Tensor *, inputs_count(g, OP_INPUT));
	if (!inputs_match(g, OP_INPUT, in->calibrate, in->ncalibrate, OPT_CALIBRATE, data))
		return NULL;
	fill_random(g, a, SAMPLE_SEED, data);
	return data;
}

Tensor **inputs_data(const Graph *g, Arena *a, const Inputs *in)
{
	Tensor **data = arena_array(a, Tensor *, inputs_count(g, OP_INPUT));
	if (!inputs_match(g, OP_INPUT, in->data, in->ndata, OPT_INPUT, data))
		return NULL;
	if (in->random)
		fill_random(g, a, in->seed, data);
	bool all = true;
	int k = 0;
	for_each_op(op, g) {
		if (op->kind != OP_INPUT)
			continue;
		if (!data[k])
			usage_error(g->diag, "input '%s' (%s %s) has no data: give --input %s=F.npy or "
				    "--random-input=SEED", op->name, type_info[op->dtype].name,
				    shape_text(a, op_callers_shape(op)), op->name);
		all = all && data[k];
		k++;
	}
	return all ? data : NULL;
}
