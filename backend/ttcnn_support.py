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
