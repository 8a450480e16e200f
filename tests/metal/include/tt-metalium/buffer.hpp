// Our own mirror: a buffer in the memory of one device.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include <tt-metalium/buffer_types.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/hal_types.hpp>
#include <tt-metalium/sub_device_types.hpp>

namespace tt::tt_metal
{

namespace metal_emu
{
struct BufferState;
}

struct ShardSpec {
	CoreRangeSet grid;
	std::array<uint32_t, 2> shape;
	ShardOrientation orientation = ShardOrientation::ROW_MAJOR;

	ShardSpec(const CoreRangeSet &core_sets_, const std::array<uint32_t, 2> &shard_shape_,
		  const ShardOrientation &shard_orientation_ = ShardOrientation::ROW_MAJOR)
	    : grid(core_sets_), shape(shard_shape_), orientation(shard_orientation_)
	{
	}

	uint32_t num_cores() const { return this->grid.num_cores(); }
};

struct ShardSpecBuffer {
	ShardSpec tensor_shard_spec;
	std::array<uint32_t, 2> page_shape{};
	std::array<uint32_t, 2> tensor2d_shape_in_pages{};

	ShardSpecBuffer(const CoreRangeSet &core_sets_, const std::array<uint32_t, 2> &shard_shape_,
			const ShardOrientation &shard_orientation_,
			const std::array<uint32_t, 2> &page_shape,
			const std::array<uint32_t, 2> &tensor2d_shape_in_pages)
	    : tensor_shard_spec(core_sets_, shard_shape_, shard_orientation_),
	      page_shape(page_shape), tensor2d_shape_in_pages(tensor2d_shape_in_pages)
	{
	}
	ShardSpecBuffer(const ShardSpec &shard_spec, const std::array<uint32_t, 2> &page_shape,
			const std::array<uint32_t, 2> &tensor2d_shape_in_pages)
	    : tensor_shard_spec(shard_spec), page_shape(page_shape),
	      tensor2d_shape_in_pages(tensor2d_shape_in_pages)
	{
	}

	CoreRangeSet grid() const { return tensor_shard_spec.grid; }
	std::array<uint32_t, 2> shape() const { return tensor_shard_spec.shape; }
	ShardOrientation orientation() const { return tensor_shard_spec.orientation; }
};

class BufferShardingArgs
{
      public:
	BufferShardingArgs() = default;
	BufferShardingArgs(std::nullopt_t) {}
	BufferShardingArgs(ShardSpecBuffer shard_spec, TensorMemoryLayout buffer_layout)
	    : shard_spec_(std::move(shard_spec)), buffer_layout_(buffer_layout)
	{
	}
	BufferShardingArgs(std::optional<ShardSpecBuffer> shard_spec,
			   TensorMemoryLayout buffer_layout)
	    : shard_spec_(std::move(shard_spec)), buffer_layout_(buffer_layout)
	{
	}

	const std::optional<ShardSpecBuffer> &shard_spec() const { return shard_spec_; }
	TensorMemoryLayout buffer_layout() const { return buffer_layout_; }

      private:
	std::optional<ShardSpecBuffer> shard_spec_;
	TensorMemoryLayout buffer_layout_ = TensorMemoryLayout::INTERLEAVED;
};

struct BufferRegion {
	DeviceAddr offset = 0;
	DeviceAddr size = 0;

	BufferRegion() = delete;
	BufferRegion(DeviceAddr offset, DeviceAddr size) : offset(offset), size(size) {}
};

class Buffer final : public std::enable_shared_from_this<Buffer>
{
      public:
	Buffer(const Buffer &other) = delete;
	Buffer &operator=(const Buffer &other) = delete;
	~Buffer();

	DeviceAddr size() const;
	bool is_allocated() const;
	uint32_t address() const;
	DeviceAddr page_size() const;
	uint32_t num_pages() const;
	BufferType buffer_type() const;
	bool is_l1() const;
	bool is_dram() const;
	TensorMemoryLayout buffer_layout() const;
	uint32_t alignment() const;
	DeviceAddr aligned_page_size() const;
	DeviceAddr aligned_size_per_bank() const;

      private:
	friend struct metal_emu::BufferState;
	explicit Buffer(std::unique_ptr<metal_emu::BufferState> state);
	std::unique_ptr<metal_emu::BufferState> state_;
};

} // namespace tt::tt_metal
