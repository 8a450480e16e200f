/*
 * Initializers: constants made when the first node reads them.
 *
 * What lies in a file that is not there may be in the file --weights names,
 * under the initializer's name; else it is made up or left out if that is
 * asked for.
 */
#include "frontend/onnx_import.h"

#include <string.h>
#include <unistd.h>

typedef Onnx__TensorProto Proto;

/* True if its data is in another file, and that does not exist. */
static bool is_missing(const Reader *r, const Proto *p)
{
	const char *folder = path_dir(r->arena, r->file);
	if (!p->has_data_location ||
	    p->data_location != ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL)
		return false;
	for (size_t i = 0; i < p->n_external_data; i++) {
		const char *key = p->external_data[i]->key, *value = p->external_data[i]->value;
		if (key && value && strcmp(key, "location") == 0)
			return path_stays_inside(value) &&
			       access(path_join(r->arena, folder, value), F_OK) != 0;
	}
	return false;
}

static Tensor *from_weights(Reader *r, Loc at, const char *name, DType type, Shape shape)
{
	if (!r->weights_tried && r->opt->weights)
		r->weights = weights_open(r->arena, r->diag, r->opt->weights);
	r->weights_tried = true;
	Tensor *t = r->weights ? weights_find(r->weights, name) : NULL;
	if (t && (t->dtype != type || !shape_equal(t->shape, shape)))
		diag_error(r->diag, at, "is %s %s, but the weights have %s %s", type_info[type].name,
			   shape_text(r->arena, shape), type_info[t->dtype].name,
			   shape_text(r->arena, t->shape));
	return t;
}

static Tensor *find_value(Reader *r, Loc at, const Proto *p)
{
	const bool may_lack = r->opt->random_weights || r->opt->no_weights;
	const bool elsewhere = (r->opt->weights || may_lack) && is_missing(r, p);
	Shape shape;

	if (elsewhere && onnx_type(r->arena, r->diag, at, p, &shape)) {
		const DType type = onnx_dtype(p->data_type);
		Tensor *t = from_weights(r, at, p->name, type, shape);
		if (t || may_lack)
			return t ? t : weights_elided(r->arena, p->name, type, shape);
	}
	return onnx_tensor(r->arena, r->diag, at, p, &r->external);
}

Op *onnx_make_initializer(Reader *r, const Proto *p)
{
	Loc at = { .file = r->file,
		   .node = arena_printf(r->arena, "initializer '%s'", onnx_show(r->arena, p->name)) };
	Tensor *value = find_value(r, at, p);
	/* node_constant looks at the values. */
	Node here = { .r = r, .loc = at, .proto = &(Onnx__NodeProto)ONNX__NODE_PROTO__INIT };

	return value ? node_constant(&here, p->name, value) : r->broken;
}
