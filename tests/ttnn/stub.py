"""The part of ttnn and TT-CNN that emitted modules may call: its names, and no device.

Every class and function has the parameters of the real one and no others, so that a
keyword nobody knows is an error. Tensors have shapes and places but no data: a call
checks what it is given, and using one that was let go is an error.
"""

import json
import struct
import sys
import types


class Wrong(Exception):
    pass


def check(ok, what):
    if not ok:
        raise Wrong(what)


class Names:
    """An enumeration: the names it has, and no others."""

    def __init__(self, kind, names):
        for name in names.split():
            setattr(self, name, f"{kind}.{name}")


BFLOAT16, BFLOAT8_B, FLOAT32 = "bfloat16", "bfloat8_b", "float32"
TILE, ROW_MAJOR = "tile", "row_major"
live = []


class Tensor:
    def __init__(self, shape, dtype=BFLOAT16, layout=ROW_MAJOR, memory=None, host=False):
        self.shape = tuple(shape)
        self.dtype = dtype
        self.layout = layout
        self.memory = memory
        self.host = host
        self.gone = False
        if not host:
            live.append(self)

    def use(self):
        check(not self.gone, f"a tensor {self.shape} is used after it was let go")
        return self

    def let_go(self):
        self.use()
        self.gone = True
        live.remove(self)

    def reshape(self, *shape):
        shape = shape[0] if len(shape) == 1 else shape
        check(count(shape) == count(self.shape), f"{self.shape} cannot be {shape}")
        return Tensor(shape, self.dtype, self.layout, self.memory, self.host)

    def permute(self, *order):
        return Tensor([self.shape[i] for i in order], self.dtype, self.layout, None, self.host)


def count(shape):
    n = 1
    for d in shape:
        n *= d
    return n


class CoreCoord:
    def __init__(self, x, y):
        self.x, self.y = x, y


class CoreRange:
    def __init__(self, start, end):
        self.cores = (end.x - start.x + 1) * (end.y - start.y + 1)


class CoreRangeSet:
    def __init__(self, ranges):
        self.cores = sum(r.cores for r in ranges)


def num_cores_to_corerangeset(target_num_cores, grid_size, row_wise):
    check(0 < target_num_cores <= grid_size.x * grid_size.y, f"{target_num_cores} cores")
    grid = CoreRangeSet(set())
    grid.cores = target_num_cores
    return grid


class ShardSpec:
    def __init__(self, grid, shard_shape, shard_orientation):
        self.grid, self.shape = grid, tuple(shard_shape)


class MemoryConfig:
    def __init__(self, memory_layout, buffer_type, shard_spec):
        self.layout, self.spec = memory_layout, shard_spec


def shard(x, memory_config):
    """A tensor where the configuration says, whose shards must hold all of it."""
    if isinstance(memory_config, MemoryConfig):
        spec = memory_config.spec
        room = count(spec.shape) * spec.grid.cores
        check(room >= count(x.shape), f"{x.shape} in {spec.grid.cores} shards of {spec.shape}")
        check(x.layout != TILE or spec.shape[0] % 32 == 0, f"tiles in shards of {spec.shape}")
    x.memory = memory_config
    return x


class UnaryWithParam:
    def __init__(self, op_type, param=None):
        self.op_type = op_type


class Conv2dConfig:
    def __init__(self, *, weights_dtype=None, activation=None, deallocate_activation=False,
                 reallocate_halo_output=True, config_tensors_in_dram=False, act_block_h_override=0,
                 act_block_w_div=1, reshard_if_not_optimal=False, override_sharding_config=False,
                 shard_layout=None, core_grid=None, transpose_shards=False, output_layout=TILE,
                 enable_act_double_buffer=False, enable_weights_double_buffer=False,
                 full_inner_dim=False, enable_kernel_stride_folding=None,
                 enable_activation_reuse=False, force_split_reader=None,
                 override_output_sharding_config=False, padding_mode=None):
        self.deallocate_activation = deallocate_activation
        self.output_layout = output_layout


class Op2DSliceConfig:
    SliceTypeEnum = Names("SliceType", "L1Full DRAMSliceHeight DRAMSliceWidth")

    def __init__(self, *, slice_type, num_slices=0):
        check(num_slices > 0, "no slices")


def init_device_compute_kernel_config(arch, *, math_fidelity=None, math_approx_mode=None,
                                      fp32_dest_acc_en=None, packer_l1_acc=None,
                                      dst_full_sync_en=None, throttle_level=None):
    return arch


def convolve(x, height, width, channels, out, batch, kernel, stride, padding, dilation, groups):
    """Pixels of the result of a convolution or pool."""
    check(x.shape[2] == batch * height * width, f"{x.shape}: no {batch} images of {height}x{width}")
    check(x.shape[3] in (channels, (channels + 7) // 8 * 8), f"{x.shape}: not {channels} channels")
    check(out % groups == 0 and channels % groups == 0, "groups")
    t, b, l, r = padding if len(padding) == 4 else (padding[0], padding[0], padding[1], padding[1])
    rows = (height + t + b - dilation[0] * (kernel[0] - 1) - 1) // stride[0] + 1
    columns = (width + l + r - dilation[1] * (kernel[1] - 1) - 1) // stride[1] + 1
    return batch * rows * columns


def conv_transpose2d(*, input_tensor, weight_tensor, device, in_channels, out_channels, batch_size,
                     input_height, input_width, kernel_size, stride=(1, 1), padding=(0, 0),
                     output_padding=(0, 0), dilation=(1, 1), groups=1, dtype=None, bias_tensor=None,
                     conv_config=None, compute_config=None, memory_config=None,
                     dram_slice_config=None, mirror_kernel=True, return_output_dim=False,
                     return_weights_and_bias=False):
    x = input_tensor.use()
    check(x.shape[2:] == (batch_size * input_height * input_width, in_channels), f"{x.shape}")
    check(weight_tensor.shape == (in_channels, out_channels // groups, *kernel_size), "weight")
    check(return_weights_and_bias and not return_output_dim, "what is returned")
    p = padding if len(padding) == 4 else (padding[0], padding[0], padding[1], padding[1])
    size = [(n - 1) * stride[i] - p[2 * i] - p[2 * i + 1] + dilation[i] * (kernel_size[i] - 1)
            + output_padding[i] + 1 for i, n in enumerate((input_height, input_width))]
    if conv_config.deallocate_activation:
        x.let_go()
    y = Tensor((1, 1, batch_size * size[0] * size[1], out_channels), dtype, conv_config.output_layout)
    return y, [weight_tensor, bias_tensor]


def pool(x, batch, height, width, channels, kernel, stride, padding, dilation, ceil, frees, layout,
         dtype):
    x.use()
    check(isinstance(ceil, bool), "ceil_mode")
    check(layout == TILE or dtype == BFLOAT16, f"{dtype} rows of pixels")
    if ceil:
        # One more window, unless it would begin behind the image and the padding before it.
        p = padding if len(padding) == 4 else (padding[0], padding[0], padding[1], padding[1])
        more = []
        for i, size in enumerate((height, width)):
            reach = size + p[2 * i] + p[2 * i + 1] - dilation[i] * (kernel[i] - 1) - 1
            begin = (reach // stride[i] + 1) * stride[i]
            more.append(-reach % stride[i] if begin < size + p[2 * i] else 0)
        padding = (p[0], p[1] + more[0], p[2], p[3] + more[1])
    n = convolve(x, height, width, channels, channels, batch, kernel, stride, padding, dilation, 1)
    if frees:
        x.let_go()
    return Tensor((1, 1, n, channels), dtype, layout)


def max_pool2d(*, input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride, padding,
               dilation, ceil_mode=False, memory_config=None, dram_slice_config=None,
               applied_shard_scheme=None, deallocate_input=False, reallocate_halo_output=True,
               return_indices=False, dtype=BFLOAT16, output_layout=ROW_MAJOR,
               config_tensor_in_dram=False):
    return pool(input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride, padding,
                dilation, ceil_mode, deallocate_input, output_layout, dtype)


def avg_pool2d(*, input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride, padding,
               ceil_mode=False, count_include_pad=True, divisor_override=None, memory_config=None,
               dram_slice_config=None, applied_shard_scheme=None, compute_kernel_config=None,
               deallocate_input=False, reallocate_halo_output=True, dtype=BFLOAT16,
               output_layout=ROW_MAJOR, config_tensor_in_dram=False):
    return pool(input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride, padding,
                (1, 1), ceil_mode, deallocate_input, output_layout, dtype)


def concat(tensors, dim=0, *, memory_config=None, output_tensor=None, groups=1, sub_core_grids=None):
    first = tensors[0].use()
    for x in tensors:
        check(x.use().layout == first.layout and x.dtype == first.dtype, "unlike tensors are joined")
        check(x.shape[:3] == first.shape[:3], f"{x.shape} beside {first.shape}")
    check(dim == 3, f"joined along {dim}")
    shape = (*first.shape[:3], sum(x.shape[3] for x in tensors))
    return shard(Tensor(shape, first.dtype, first.layout), memory_config)


def binary(input_tensor_a, input_tensor_b, *, dtype=None, memory_config=None):
    a, b = input_tensor_a.use(), input_tensor_b.use()
    check(a.shape == b.shape and a.layout == b.layout == TILE, f"{a.shape} with {b.shape}")
    return shard(Tensor(a.shape, dtype or a.dtype, TILE), memory_config)


def unary(input_tensor, *, memory_config=None):
    x = input_tensor.use()
    check(x.layout == TILE, "an activation of rows of pixels")
    return shard(Tensor(x.shape, x.dtype, TILE), memory_config)


def leaky_relu(input_tensor, negative_slope, *, memory_config=None):
    return unary(input_tensor, memory_config=memory_config)


def elu(input_tensor, alpha=1.0, *, memory_config=None):
    return unary(input_tensor, memory_config=memory_config)


def to_memory_config(tensor, memory_config, dtype=None):
    x = tensor.use()
    return shard(Tensor(x.shape, x.dtype, x.layout), memory_config)


def to_layout(tensor, layout, dtype=None, memory_config=None):
    x = tensor.use()
    check(layout != x.layout, f"already {layout}")
    return Tensor(x.shape, dtype or BFLOAT16, layout, x.memory)


def reshape(tensor, shape):
    """A view: the tensor itself under another shape."""
    check(count(shape) == count(tensor.use().shape), f"{tensor.shape} cannot be {shape}")
    tensor.shape = tuple(shape)
    return tensor


def from_torch(tensor, dtype=None):
    return Tensor(tensor.shape, dtype, ROW_MAJOR, None, True)


def convert_to_hwc(input, *, memory_config=None, dtype=None):
    n, one, channels, pixels = input.use().shape
    check(n == one == 1 and channels <= 32, f"an image {input.shape}")
    return Tensor((1, 1, pixels, (channels + 7) // 8 * 8))


def convert_to_chw(input, *, dtype=None):
    one, again, pixels, channels = input.use().shape
    check(one == again == 1 and channels <= 32 and pixels % 32 == 0, f"an image {input.shape}")
    check(input.layout == TILE, "rows of pixels")
    return Tensor((1, 1, channels, pixels), dtype)


def ttnn_module():
    m = types.ModuleType("ttnn")
    for f in (CoreCoord, CoreRange, CoreRangeSet, ShardSpec, MemoryConfig, UnaryWithParam, Tensor,
              Conv2dConfig, Op2DSliceConfig, num_cores_to_corerangeset,
              init_device_compute_kernel_config, conv_transpose2d, max_pool2d, avg_pool2d, concat,
              leaky_relu, elu, to_memory_config, to_layout, reshape, from_torch):
        setattr(m, f.__name__, f)
    for name in "relu relu6 sigmoid tanh silu hardswish hardsigmoid gelu".split():
        setattr(m, name, unary)
    for name in "add subtract multiply".split():
        setattr(m, name, binary)
    m.experimental = types.SimpleNamespace(convert_to_hwc=convert_to_hwc, convert_to_chw=convert_to_chw)
    m.deallocate = lambda tensor, force=True: tensor.let_go()
    m.to_torch = lambda tensor: Tensor(tensor.shape, host=True)
    m.bfloat16, m.bfloat8_b, m.float32 = BFLOAT16, BFLOAT8_B, FLOAT32
    m.TILE_LAYOUT, m.ROW_MAJOR_LAYOUT, m.DRAM_MEMORY_CONFIG = TILE, ROW_MAJOR, "dram"
    m.MathFidelity = Names("MathFidelity", "LoFi HiFi2 HiFi3 HiFi4")
    m.TensorMemoryLayout = Names("Layout", "HEIGHT_SHARDED WIDTH_SHARDED BLOCK_SHARDED INTERLEAVED")
    m.BufferType = Names("BufferType", "L1 DRAM L1_SMALL")
    m.ShardOrientation = Names("ShardOrientation", "ROW_MAJOR COL_MAJOR")
    m.UnaryOpType = Names("UnaryOpType", "RELU LEAKY_RELU RELU6 SIGMOID TANH SILU HARDSWISH "
                          "HARDSIGMOID GELU ELU")
    return m


def load_file(path):
    """The tensors of a .safetensors file, their shapes alone."""
    with open(path, "rb") as f:
        size = struct.unpack("<Q", f.read(8))[0]
        header = json.loads(f.read(size))
    return {name: Tensor(t["shape"], host=True) for name, t in header.items() if name != "__metadata__"}


class Device:
    def arch(self):
        return "wormhole"

    def dram_grid_size(self):
        return CoreCoord(12, 1)


def install(builder):
    sys.modules["ttnn"] = ttnn_module()
    for name in ("safetensors", "safetensors.torch", "models", "models.tt_cnn", "models.tt_cnn.tt"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules["safetensors.torch"].load_file = load_file
    for name in ("builder", "pipeline"):
        sys.modules[f"models.tt_cnn.tt.{name}"] = builder
