/*
 * The layers of the class: objects of TT-CNN's builder, each with its configuration.
 */
#include "backend/ttcnn_names.h"

#include <inttypes.h>

static const TtnnField shards[] = { TTNN_RESHARD, TTNN_ABH, TTNN_WDIV };

static bool is_sliced(const TtnnOp *o) { return o->choice.v[TTNN_SLICE] != TTNN_L1_FULL; }

bool ttcnn_is_layer(const TtnnOp *o)
{
	switch (o->op->kind) {
	case OP_CONV: case OP_CONV_TRANSPOSE: case OP_RESIZE: return true;
	case OP_MAX_POOL: return !is_sliced(o); /* the builder's has no slices along an image */
	default: return false;
	}
}

/* Sizes of the image that goes in. */
static void image_args(Py *p, const TtnnOp *o)
{
	const int64_t *d = op_in(o->op, 0)->shape.dim;
	py_arg(p, "input_height", "%" PRId64, d[2]);
	py_arg(p, "input_width", "%" PRId64, d[3]);
}

static void channel_args(Py *p, const TtnnOp *o)
{
	const int64_t *d = op_in(o->op, 0)->shape.dim, *k = op_in(o->op, 1)->shape.dim;
	py_arg(p, "in_channels", "%" PRId64, d[1]);
	py_arg(p, "out_channels", "%" PRId64, o->op->shape.dim[1]);
	py_arg(p, "batch_size", "%" PRId64, d[0]);
	py_arg(p, "kernel_size", "(%" PRId64 ", %" PRId64 ")", k[2], k[3]);
}

static void window_args(Ttcnn *t, const TtnnOp *o)
{
	const convAttr *c = &o->op->attr.conv;
	py_arg(&t->py, "stride", "%s", ttcnn_pair(t->arena, c->strides, 1));
	py_arg(&t->py, "padding", "%s", ttcnn_padding(t->arena, c->pads));
	py_arg(&t->py, "groups", "%" PRId64, c->groups);
	py_arg(&t->py, "dilation", "%s", ttcnn_pair(t->arena, c->dilations, 1));
}

/* The strategy of the builder, with what it has of the fields. */
static void strategy_arg(Ttcnn *t, const TtnnOp *o)
{
	static const struct {
		const char *name;
		bool has[3]; /* of `shards` */
	} strategies[] = {
		[TTNN_HEIGHT] = { "HeightShardedStrategyConfiguration", { true, true, false } },
		[TTNN_BLOCK] = { "BlockShardedStrategyConfiguration", { true, true, true } },
		[TTNN_WIDTH] = { "WidthShardedStrategyConfiguration", { true, false, true } },
	};
	const int shard = o->choice.v[TTNN_SHARD];
	py_nest(&t->py, "sharding_strategy", strategies[shard].name, PY_LINE);
	for (int i = 0; i < 3; i++) {
		const int v = o->choice.v[shards[i]];
		if (strategies[shard].has[i] && shards[i] == TTNN_RESHARD)
			py_flag(&t->py, ttnn_field_info[shards[i]].name, v);
		else if (strategies[shard].has[i])
			py_arg(&t->py, ttnn_field_info[shards[i]].name, "%d", v);
	}
	py_end(&t->py);
}

static void slice_arg(Py *p, const TtnnOp *o)
{
	static const char *const names[] = {
		[TTNN_L1_FULL] = "L1FullSliceStrategyConfiguration",
		[TTNN_SLICE_HEIGHT] = "HeightSliceStrategyConfiguration",
		[TTNN_SLICE_WIDTH] = "WidthSliceStrategyConfiguration",
	};
	py_nest(p, "slice_strategy", names[o->choice.v[TTNN_SLICE]], PY_LINE);
	if (is_sliced(o))
		py_arg(p, "num_slices", "%d", o->choice.v[TTNN_SLICES]);
	py_end(p);
}

static void fidelity_args(Ttcnn *t, const TtnnOp *o)
{
	const int *v = o->choice.v;
	py_arg(&t->py, "math_fidelity", "ttnn.MathFidelity.%s",
	       ttnn_value(t->arena, TTNN_FIDELITY, v[TTNN_FIDELITY]));
	py_flag(&t->py, "fp32_dest_acc_en", v[TTNN_FP32]);
	py_flag(&t->py, "packer_l1_acc", v[TTNN_L1_ACC]);
}

static void buffer_args(Py *p, const TtnnOp *o)
{
	py_flag(p, "enable_act_double_buffer", o->choice.v[TTNN_ACT_DB]);
	py_flag(p, "enable_weights_double_buffer", o->choice.v[TTNN_W_DB]);
}

static void load_parameters(Py *p, const TtnnOp *o)
{
	py_call(p, "weight, bias", "parameters", PY_LINE);
	py_arg(p, NULL, "tensors");
	py_text(p, NULL, o->op->name);
	py_end(p);
}

static void conv_layer(Ttcnn *t, const TtnnOp *o, const char *target)
{
	Py *p = &t->py;
	load_parameters(p, o);
	py_call(p, target, "TtConv2d", PY_LINES);
	py_nest(p, NULL, "Conv2dConfiguration", PY_LINES);
	image_args(p, o);
	channel_args(p, o);
	py_arg(p, "weight", "weight");
	py_arg(p, "bias", "bias");
	window_args(t, o);
	if (o->act.kind != OP_INPUT)
		py_arg(p, "activation", "%s", ttcnn_act(t->arena, o->act));
	py_arg(p, "weights_dtype", "%s", ttcnn_type(o->choice.v[TTNN_WEIGHTS]));
	py_arg(p, "output_dtype", "%s", ttcnn_type(o->choice.v[TTNN_TYPE]));
	py_arg(p, "output_layout", "%s", ttcnn_layout(o->choice.v[TTNN_LAYOUT]));
	strategy_arg(t, o);
	slice_arg(p, o);
	fidelity_args(t, o);
	buffer_args(p, o);
	py_flag(p, "deallocate_activation", o->choice.v[TTNN_FREE]);
	py_end(p);
	py_arg(p, NULL, "device");
	py_end(p);
}

/* ttnn's own configuration: the builder has none for it. */
static void transposed_config(Ttcnn *t, const TtnnOp *o)
{
	static const char *const layouts[] = {
		[TTNN_HEIGHT] = "HEIGHT", [TTNN_BLOCK] = "BLOCK", [TTNN_WIDTH] = "WIDTH",
	};
	Py *p = &t->py;
	py_nest(p, "conv_config", "ttnn.Conv2dConfig", PY_LINES);
	py_arg(p, "weights_dtype", "%s", ttcnn_type(o->choice.v[TTNN_WEIGHTS]));
	py_arg(p, "shard_layout", "ttnn.TensorMemoryLayout.%s_SHARDED",
	       layouts[o->choice.v[TTNN_SHARD]]);
	py_flag(p, "reshard_if_not_optimal", o->choice.v[TTNN_RESHARD]);
	py_arg(p, "act_block_h_override", "%d", o->choice.v[TTNN_ABH]);
	py_arg(p, "act_block_w_div", "%d", o->choice.v[TTNN_WDIV]);
	buffer_args(p, o);
	py_flag(p, "deallocate_activation", o->choice.v[TTNN_FREE]);
	py_arg(p, "output_layout", "%s", ttcnn_layout(o->choice.v[TTNN_LAYOUT]));
	py_end(p);
	py_nest(p, "compute_config", "ttnn.init_device_compute_kernel_config", PY_LINES);
	py_arg(p, NULL, "device.arch()");
	fidelity_args(t, o);
	py_end(p);
}

void ttcnn_slice_config(Ttcnn *t, const TtnnOp *o)
{
	Py *p = &t->py;
	if (!is_sliced(o))
		return;
	py_nest(p, "dram_slice_config", "ttnn.Op2DSliceConfig", PY_LINE);
	py_arg(p, "slice_type", "ttnn.Op2DSliceConfig.SliceTypeEnum.DRAMSlice%s",
	       o->choice.v[TTNN_SLICE] == TTNN_SLICE_HEIGHT ? "Height" : "Width");
	py_arg(p, "num_slices", "%d", o->choice.v[TTNN_SLICES]);
	py_end(p);
}

static void transposed_layer(Ttcnn *t, const TtnnOp *o, const char *target)
{
	Py *p = &t->py;
	load_parameters(p, o);
	py_call(p, target, "TtConvTranspose2d", PY_LINES);
	py_arg(p, NULL, "device");
	py_arg(p, NULL, "weight");
	py_arg(p, NULL, "bias");
	transposed_config(t, o);
	image_args(p, o);
	channel_args(p, o);
	window_args(t, o);
	py_arg(p, "output_padding", "%s", ttcnn_pair(t->arena, o->op->attr.conv.output_padding, 0));
	py_arg(p, "dtype", "%s", ttcnn_type(o->choice.v[TTNN_TYPE]));
	ttcnn_slice_config(t, o);
	py_end(p);
}

static void pool_layer(Ttcnn *t, const TtnnOp *o, const char *target)
{
	Py *p = &t->py;
	const poolAttr *a = &o->op->attr.pool;
	py_call(p, target, "TtMaxPool2d", PY_LINES);
	py_nest(p, NULL, "MaxPool2dConfiguration", PY_LINES);
	image_args(p, o);
	py_arg(p, "channels", "%" PRId64, o->op->shape.dim[1]);
	py_arg(p, "batch_size", "%" PRId64, o->op->shape.dim[0]);
	py_arg(p, "kernel_size", "%s", ttcnn_pair(t->arena, a->kernel, 1));
	py_arg(p, "stride", "%s", ttcnn_pair(t->arena, a->strides, 1));
	py_arg(p, "padding", "%s", ttcnn_padding(t->arena, a->pads));
	py_arg(p, "dilation", "%s", ttcnn_pair(t->arena, a->dilations, 1));
	py_flag(p, "ceil_mode", a->ceil);
	py_flag(p, "deallocate_input", o->choice.v[TTNN_FREE]);
	py_arg(p, "dtype", "%s", ttcnn_type(o->choice.v[TTNN_TYPE]));
	py_arg(p, "output_layout", "%s", ttcnn_layout(o->choice.v[TTNN_LAYOUT]));
	py_end(p);
	py_arg(p, NULL, "device");
	py_end(p);
}

static void upsample_layer(Ttcnn *t, const TtnnOp *o, const char *target)
{
	Py *p = &t->py;
	const int64_t *in = op_in(o->op, 0)->shape.dim, *out = o->op->shape.dim;
	py_call(p, target, "TtUpsample", PY_LINES);
	py_nest(p, NULL, "UpsampleConfiguration", PY_LINES);
	image_args(p, o);
	py_arg(p, "channels", "%" PRId64, in[1]);
	py_arg(p, "batch_size", "%" PRId64, in[0]);
	py_arg(p, "scale_factor", "(%" PRId64 ", %" PRId64 ")", out[2] / in[2], out[3] / in[3]);
	py_text(p, "mode", o->op->attr.resize.mode == RESIZE_NEAREST ? "nearest" : "bilinear");
	py_end(p);
	py_arg(p, NULL, "device");
	py_end(p);
}

void ttcnn_layer(Ttcnn *t, const TtnnOp *o)
{
	const char *target = arena_printf(t->arena, "self.%s", t->names[ttcnn_number(t, o)]);
	switch (o->op->kind) {
	case OP_CONV: conv_layer(t, o, target); break;
	case OP_CONV_TRANSPOSE: transposed_layer(t, o, target); break;
	case OP_MAX_POOL: pool_layer(t, o, target); break;
	case OP_RESIZE: upsample_layer(t, o, target); break;
	default: die("ttcnn: %s is no layer", o->op->name);
	}
}
