/*
 * Ops that yield constants: values in the file, shapes, ranges.
 */
#include "frontend/onnx_import.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static Tensor *scalar_int(Node *n, int64_t v)
{
	return tensor_splat(n->r->arena, TYPE_I64, (Shape){ 0 }, 0, v);
}

void onnx_build_constant(Node *n)
{
	static const char *const unread[] = { "sparse_value", "value_string", "value_strings" };
	Arena *a = n->r->arena;
	Tensor *value = NULL;
	Floats floats;
	Ints ints;

	for (int i = 0; i < 3; i++)
		if (attr_has(n, unread[i])) {
			node_error(n, "'%s' is not supported", unread[i]);
			return;
		}
	const Onnx__TensorProto *t = attr_tensor(n, "value");
	if (t)
		value = onnx_tensor(a, n->r->diag, n->loc, t, &n->r->external);
	else if (attr_has(n, "value_float"))
		value = tensor_splat(a, TYPE_F32, (Shape){ 0 }, (double)attr_float(n, "value_float", 0), 0);
	else if (attr_has(n, "value_int"))
		value = scalar_int(n, attr_int(n, "value_int", 0));
	else if (attr_floats(n, "value_floats", &floats))
		value = tensor_of_floats(a, floats.v, floats.n);
	else if (attr_ints(n, "value_ints", &ints))
		value = tensor_of_ints(a, ints.v, ints.n);
	else if (!attr_has(n, "value"))
		node_error(n, "has no value");
	if (value)
		n->out[0] = node_constant(n, node_out(n, 0), value);
}

void onnx_build_constant_of_shape(Node *n)
{
	const Onnx__TensorProto *t = attr_tensor(n, "value");
	Arena *a = n->r->arena;
	Tensor *value = t ? onnx_tensor(a, n->r->diag, n->loc, t, &n->r->external)
			  : tensor_splat(a, TYPE_F32, (Shape){ 0 }, 0, 0);
	Shape shape = { 0 };
	Ints dims;

	if (!value || !node_ints(n, 0, "input", &dims))
		return;
	if (tensor_count(value) != 1 || dims.n > MAX_RANK) {
		node_error(n, tensor_count(value) != 1 ? "value must have one element"
						       : "shape has too many dims");
		return;
	}
	shape.rank = dims.n;
	for (int i = 0; i < dims.n; i++)
		shape.dim[i] = dims.v[i];
	if (shape_count(shape) < 0) {
		node_error(n, "shape is negative or too large: %s", shape_text(a, shape));
		return;
	}
	n->out[0] = node_constant(n, node_out(n, 0),
		tensor_splat(a, value->dtype, shape, tensor_f64(value, 0), tensor_i64(value, 0)));
}

static int64_t clamp_end(int64_t v, int rank)
{
	if (v < 0)
		v += rank;
	return v < 0 ? 0 : v > rank ? rank : v;
}

void onnx_build_shape(Node *n)
{
	const Shape x = n->in[0]->shape;
	const int64_t start = clamp_end(attr_int(n, "start", 0), x.rank);
	const int64_t end = clamp_end(attr_int(n, "end", x.rank), x.rank);
	Tensor *t = tensor_of_ints(n->r->arena, x.dim + start, end > start ? end - start : 0);
	n->out[0] = node_constant(n, node_out(n, 0), t);
}

void onnx_build_size(Node *n)
{
	n->out[0] = node_constant(n, node_out(n, 0), scalar_int(n, shape_count(n->in[0]->shape)));
}

/* ceil((limit - start) / delta), at least 0; -1 if that is absurd. */
static int64_t range_count(const Tensor *start, const Tensor *limit, const Tensor *delta)
{
	const double by = tensor_f64(delta, 0);
	const double count = ceil((tensor_f64(limit, 0) - tensor_f64(start, 0)) / by);
	if (by == 0 || isnan(count) || count > (double)(1 << 24))
		return -1;
	return count > 0 ? (int64_t)count : 0;
}

void onnx_build_range(Node *n)
{
	static const char *const what[] = { "start", "limit", "delta" };
	Tensor *v[3];

	for (int i = 0; i < 3; i++) {
		v[i] = node_value(n, i, what[i]);
		if (!v[i])
			return;
		if (tensor_count(v[i]) != 1 || v[i]->dtype != v[0]->dtype) {
			node_error(n, "%s must be one number of the type of start", what[i]);
			return;
		}
	}
	const int64_t count = range_count(v[0], v[1], v[2]);
	attr_ignore(n, "stash_type");
	if (count < 0) {
		node_error(n, "from %g to %g by %g is empty or too long", tensor_f64(v[0], 0),
			   tensor_f64(v[1], 0), tensor_f64(v[2], 0));
		return;
	}
	if (!arena_afford(n->r->arena, (size_t)count * type_info[v[0]->dtype].bytes)) {
		node_too_large(n, SHAPE(count), v[0]->dtype);
		return;
	}
	Tensor *t = tensor_create(n->r->arena, v[0]->dtype, SHAPE(count));
	const uint64_t from = (uint64_t)tensor_i64(v[0], 0), by = (uint64_t)tensor_i64(v[2], 0);
	for (int64_t i = 0; i < count; i++)
		if (type_is_float(t->dtype))
			tensor_set_f64(t, i, tensor_f64(v[0], 0) + (double)i * tensor_f64(v[2], 0));
		else
			tensor_set_i64(t, i, (int64_t)(from + (uint64_t)i * by));
	n->out[0] = node_constant(n, node_out(n, 0), t);
}
