"""The classes of TT-CNN's builder and pipeline that emitted modules may use: the fields of
the real ones, and what calling a layer does to shapes."""

from dataclasses import dataclass
from typing import Any

from stub import BFLOAT16, ROW_MAJOR, TILE, Tensor, check, convolve, pool


@dataclass(frozen=True)
class HeightShardedStrategyConfiguration:
    reshard_if_not_optimal: bool = False
    override_core_grid: Any = None
    act_block_h_override: int = 0


@dataclass(frozen=True)
class WidthShardedStrategyConfiguration:
    reshard_if_not_optimal: bool = False
    override_core_grid: Any = None
    act_block_w_div: int = 1


@dataclass(frozen=True)
class BlockShardedStrategyConfiguration:
    reshard_if_not_optimal: bool = False
    override_core_grid: Any = None
    act_block_h_override: int = 0
    act_block_w_div: int = 1
    override_output_sharding_config: bool = False


@dataclass
class L1FullSliceStrategyConfiguration:
    num_slices: int = 0


@dataclass
class HeightSliceStrategyConfiguration:
    num_slices: int = 0


@dataclass
class WidthSliceStrategyConfiguration:
    num_slices: int = 0


@dataclass(frozen=True)
class Conv2dConfiguration:
    input_height: int
    input_width: int
    in_channels: int
    out_channels: int
    batch_size: int
    kernel_size: Any
    weight: Any
    stride: Any = (1, 1)
    padding: Any = (0, 0)
    groups: int = 1
    dilation: Any = (1, 1)
    activation: Any = None
    bias: Any = None
    activation_dtype: Any = BFLOAT16
    weights_dtype: Any = BFLOAT16
    output_dtype: Any = BFLOAT16
    output_layout: Any = TILE
    sharding_strategy: Any = None
    slice_strategy: Any = None
    math_fidelity: Any = None
    fp32_dest_acc_en: bool = False
    packer_l1_acc: bool = False
    enable_act_double_buffer: bool = False
    enable_weights_double_buffer: bool = True
    deallocate_activation: bool = False
    reallocate_halo_output: bool = True
    config_tensors_in_dram: bool = False

    @classmethod
    def convert_torch_weight_and_bias_to_ttnn(cls, weight, bias=None, mesh_mapper=None):
        return weight, None if bias is None else bias.reshape((1, 1, 1, bias.shape[0]))

    def __post_init__(self):
        want = (self.out_channels, self.in_channels // self.groups, *self.kernel_size)
        check(self.weight.shape == want, f"weight {self.weight.shape}, not {want}")
        check(self.bias is None or self.bias.shape == (1, 1, 1, self.out_channels), "bias")
        check(self.sharding_strategy is not None and self.slice_strategy is not None, "strategies")


@dataclass(frozen=True)
class MaxPool2dConfiguration:
    input_height: int
    input_width: int
    channels: int
    batch_size: int
    kernel_size: Any
    stride: Any = (1, 1)
    padding: Any = (0, 0)
    dilation: Any = (1, 1)
    ceil_mode: bool = False
    in_place: bool = False
    deallocate_input: bool = False
    reallocate_halo_output: bool = True
    dtype: Any = BFLOAT16
    output_layout: Any = ROW_MAJOR
    slice_strategy: Any = None


@dataclass(frozen=True)
class UpsampleConfiguration:
    input_height: int
    input_width: int
    channels: int
    batch_size: int
    scale_factor: Any
    mode: str = "nearest"
    slice_strategy: Any = None


class Layer:
    def __init__(self, configuration, device):
        check(isinstance(configuration, self.kind), f"no {self.kind.__name__}")
        self.c = configuration


class TtConv2d(Layer):
    kind = Conv2dConfiguration

    def __call__(self, x, return_output_dim=False):
        c = self.c
        n = convolve(x.use(), c.input_height, c.input_width, c.in_channels, c.out_channels,
                     c.batch_size, c.kernel_size, c.stride, c.padding, c.dilation, c.groups)
        if c.deallocate_activation:
            x.let_go()
        return Tensor((1, 1, n, c.out_channels), c.output_dtype, c.output_layout)


class TtMaxPool2d(Layer):
    kind = MaxPool2dConfiguration

    def __call__(self, x):
        c = self.c
        return pool(x, c.batch_size, c.input_height, c.input_width, c.channels, c.kernel_size,
                    c.stride, c.padding, c.dilation, c.ceil_mode, c.deallocate_input, c.output_layout,
                    c.dtype)


class TtUpsample(Layer):
    kind = UpsampleConfiguration

    def __call__(self, x):
        c = self.c
        check(x.use().shape == (c.batch_size, c.input_height, c.input_width, c.channels), f"{x.shape}")
        check(x.layout == ROW_MAJOR and c.mode in ("nearest", "bilinear"), "rows of pixels")
        n, h, w, channels = x.shape
        return Tensor((n, h * c.scale_factor[0], w * c.scale_factor[1], channels))


@dataclass
class PipelineConfig:
    use_trace: bool = True
    num_command_queues: int = 1
    all_transfers_on_separate_command_queue: bool = False


def get_memory_config_for_persistent_dram_tensor(shape, shard_strategy, dram_grid_size):
    check(len(shape) == 4 and dram_grid_size.y == 1, f"{shape}")
    return ("dram", shape)


def create_pipeline_from_config(config, model, device, l1_input_memory_config,
                                dram_input_memory_config=None, dram_output_memory_config=None):
    check(config.use_trace and config.num_command_queues == 2, "no pipeline of two queues")
    check(dram_input_memory_config is not None, "no place for inputs in DRAM")
    separate = config.all_transfers_on_separate_command_queue
    check(separate == (dram_output_memory_config is not None), "no place for the result in DRAM")
    return model
