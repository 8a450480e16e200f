"""Residual for ttnn on wormhole_n150, planned by tessera.

Predicted: 0.019 ms of kernels in 8 programs, 0.035 ms traced, at most 62912 of 1295168 bytes
of each core's L1. Predicted, not measured.
"""

from pathlib import Path

import ttnn
from safetensors.torch import load_file

from models.tt_cnn.tt.builder import (
    Conv2dConfiguration,
    HeightShardedStrategyConfiguration,
    L1FullSliceStrategyConfiguration,
    TtConv2d,
)
from models.tt_cnn.tt.pipeline import (
    PipelineConfig,
    create_pipeline_from_config,
    get_memory_config_for_persistent_dram_tensor,
)

GRID = (8, 8)
L1_SMALL_SIZE = 98304
TRACE_REGION_SIZE = 32768
WEIGHTS = Path(__file__).with_name("residual.safetensors")


def height_sharded(shape, cores):
    """In L1: shards of `shape`, rows of pixels over `cores`."""
    grid = ttnn.num_cores_to_corerangeset(cores, ttnn.CoreCoord(*GRID), True)
    spec = ttnn.ShardSpec(grid, shape, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.BufferType.L1, spec)


def width_sharded(shape, cores):
    """In L1: shards of `shape`, channels over `cores`."""
    grid = ttnn.num_cores_to_corerangeset(cores, ttnn.CoreCoord(*GRID), True)
    spec = ttnn.ShardSpec(grid, shape, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.WIDTH_SHARDED, ttnn.BufferType.L1, spec)


def block_sharded(shape, rows, columns):
    """In L1: shards of `shape`, pixels over rows and channels over columns of cores."""
    last = ttnn.CoreCoord(columns - 1, rows - 1)
    grid = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), last)})
    spec = ttnn.ShardSpec(grid, shape, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, spec)


def parameters(tensors, name):
    """Weight and bias of a layer, on the host as ttnn wants them."""
    weight = tensors[f"{name}.weight"]
    return Conv2dConfiguration.convert_torch_weight_and_bias_to_ttnn(weight, tensors.get(f"{name}.bias"))


class TtConvTranspose2d:
    """A transposed convolution, for which TT-CNN's builder has no class."""

    def __init__(self, device, weight, bias, conv_config, compute_config, **arguments):
        self.device = device
        self.weight = weight
        self.bias = bias
        self.conv_config = conv_config
        self.compute_config = compute_config
        self.arguments = arguments

    def __call__(self, x):
        x, [self.weight, self.bias] = ttnn.conv_transpose2d(
            input_tensor=x,
            weight_tensor=self.weight,
            bias_tensor=self.bias,
            device=self.device,
            conv_config=self.conv_config,
            compute_config=self.compute_config,
            return_output_dim=False,
            return_weights_and_bias=True,
            **self.arguments,
        )
        return x


class Residual:
    def __init__(self, device, tensors):
        weight, bias = parameters(tensors, "first")
        self.first = TtConv2d(
            Conv2dConfiguration(
                input_height=64,
                input_width=64,
                in_channels=16,
                out_channels=32,
                batch_size=1,
                kernel_size=(3, 3),
                weight=weight,
                bias=bias,
                stride=(1, 1),
                padding=(1, 1),
                groups=1,
                dilation=(1, 1),
                weights_dtype=ttnn.bfloat8_b,
                output_dtype=ttnn.bfloat8_b,
                output_layout=ttnn.TILE_LAYOUT,
                sharding_strategy=HeightShardedStrategyConfiguration(reshard_if_not_optimal=False, act_block_h_override=0),
                slice_strategy=L1FullSliceStrategyConfiguration(),
                math_fidelity=ttnn.MathFidelity.LoFi,
                fp32_dest_acc_en=True,
                packer_l1_acc=True,
                enable_act_double_buffer=True,
                enable_weights_double_buffer=True,
                deallocate_activation=True,
            ),
            device,
        )
        weight, bias = parameters(tensors, "second")
        self.second = TtConv2d(
            Conv2dConfiguration(
                input_height=64,
                input_width=64,
                in_channels=32,
                out_channels=32,
                batch_size=1,
                kernel_size=(3, 3),
                weight=weight,
                bias=bias,
                stride=(1, 1),
                padding=(1, 1),
                groups=1,
                dilation=(1, 1),
                weights_dtype=ttnn.bfloat8_b,
                output_dtype=ttnn.bfloat8_b,
                output_layout=ttnn.TILE_LAYOUT,
                sharding_strategy=HeightShardedStrategyConfiguration(reshard_if_not_optimal=False, act_block_h_override=0),
                slice_strategy=L1FullSliceStrategyConfiguration(),
                math_fidelity=ttnn.MathFidelity.LoFi,
                fp32_dest_acc_en=True,
                packer_l1_acc=True,
                enable_act_double_buffer=True,
                enable_weights_double_buffer=True,
                deallocate_activation=False,
            ),
            device,
        )

    def __call__(self, image_given, deallocate_input_activation=True):
        image = ttnn.experimental.convert_to_hwc(image_given)
        if deallocate_input_activation:
            ttnn.deallocate(image_given)

        # height 64x1, 1 x 3 blocks, 40 KB of L1, 8.8 us predicted in 3 programs
        first = self.first(image)

        # height 64x1, 1 x 3 blocks, 61 KB of L1, 9.6 us predicted in 2 programs
        second = self.second(first)

        # height 64x1, 8 KB of L1, 0.1 us predicted in 1 program
        sum = ttnn.add(first, second, memory_config=height_sharded((64, 32), 64), dtype=ttnn.bfloat16)
        ttnn.deallocate(first)
        ttnn.deallocate(second)

        sum_1 = ttnn.experimental.convert_to_chw(sum, dtype=ttnn.bfloat16)
        ttnn.deallocate(sum)

        return sum_1


def preprocess(image):
    """A torch tensor of N, C, H, W as the model takes it, on the host."""
    image = image.reshape((1, 1, 16, 4096))
    return ttnn.from_torch(image, dtype=ttnn.bfloat16)


def postprocess(output):
    """What the model gives, as a torch tensor of N, C, H, W."""
    return ttnn.to_torch(output).reshape(1, 32, 64, 64)


def create_pipeline(device, weights=WEIGHTS):
    """Traced, on two command queues; open the device with L1_SMALL_SIZE and TRACE_REGION_SIZE."""
    model = Residual(device, load_file(str(weights)))
    return create_pipeline_from_config(
        config=PipelineConfig(use_trace=True, num_command_queues=2, all_transfers_on_separate_command_queue=True),
        model=model,
        device=device,
        l1_input_memory_config=width_sharded((16, 64), 64),
        dram_input_memory_config=get_memory_config_for_persistent_dram_tensor(
            (1, 1, 16, 4096),
            ttnn.TensorMemoryLayout.WIDTH_SHARDED,
            device.dram_grid_size(),
        ),
        dram_output_memory_config=get_memory_config_for_persistent_dram_tensor(
            (1, 1, 32, 4096),
            ttnn.TensorMemoryLayout.WIDTH_SHARDED,
            device.dram_grid_size(),
        ),
    )
