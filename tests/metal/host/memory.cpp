#include "tests/metal/host/memory.hpp"

#include "runtime/device/map.h"
#include "tests/metal/host/refuse.hpp"
#include "tests/metal/machine.h"

namespace tt::tt_metal::metal_emu
{

static uint64_t up(uint64_t n, uint64_t to)
{
	return (n + to - 1) / to * to;
}

std::optional<uint64_t> Room::take(uint64_t bytes, uint64_t alignment, bool from_below)
{
	std::optional<uint64_t> found;
	uint64_t gap = first_;
	auto look = [&](uint64_t end) {
		const uint64_t low = up(gap, alignment);
		if (low + bytes <= end && (!found || !from_below))
			found = from_below ? low : (end - bytes) / alignment * alignment;
	};
	for (const auto &[from, to] : taken_) {
		look(from);
		gap = to;
	}
	look(end_);
	if (found)
		taken_[*found] = *found + bytes;
	return found;
}

void Room::give_back(uint64_t at)
{
	taken_.erase(at);
}

std::optional<uint64_t> Room::lowest() const
{
	if (taken_.empty())
		return std::nullopt;
	return taken_.begin()->first;
}

BufferState::~BufferState()
{
	release();
}

void BufferState::release()
{
	if (allocated && owned)
		room().give_back(address);
	allocated = false;
}

uint64_t BufferState::aligned_page() const
{
	return up(page_size, type == BufferType::DRAM ? DRAM_ALIGNMENT : L1_ALIGNMENT);
}

static uint32_t pages_of_shard(const ShardSpecBuffer &s)
{
	const uint32_t rows = s.shape()[0] / s.page_shape[0], cols = s.shape()[1] / s.page_shape[1];
	return rows * cols;
}

BufferState::Place BufferState::place(uint32_t page) const
{
	if (type == BufferType::DRAM)
		return { page % TT_DRAM_BANKS, address + page / TT_DRAM_BANKS * aligned_page() };
	const ShardSpecBuffer &s = *sharding.shard_spec();
	const uint32_t of_shard = pages_of_shard(s);
	const bool by_rows = s.orientation() == ShardOrientation::ROW_MAJOR;
	const CoreCoord core =
		corerange_to_cores(s.grid(), std::nullopt, by_rows).at(page / of_shard);
	return { static_cast<uint32_t>(core.x + METAL_GRID_COLS * core.y),
		 address + page % of_shard * aligned_page() };
}

static void check_shards(const BufferState &b)
{
	if (!b.sharding.shard_spec())
		refuse("a buffer in L1 has to be sharded here");
	const ShardSpecBuffer &s = *b.sharding.shard_spec();
	if (b.sharding.buffer_layout() != TensorMemoryLayout::HEIGHT_SHARDED)
		refuse("shards are by height here");
	if (s.page_shape[0] == 0 || s.page_shape[1] == 0 || s.shape()[0] % s.page_shape[0] ||
	    s.shape()[1] % s.page_shape[1])
		refuse("a shard of %ux%u has no whole pages of %ux%u", s.shape()[0], s.shape()[1],
		       s.page_shape[0], s.page_shape[1]);
	const uint64_t shards = (b.pages() + pages_of_shard(s) - 1) / pages_of_shard(s);
	if (shards > s.grid().num_cores())
		refuse("%llu shards for %u cores", static_cast<unsigned long long>(shards),
		       s.grid().num_cores());
	const uint64_t pages =
		static_cast<uint64_t>(s.tensor2d_shape_in_pages[0]) * s.tensor2d_shape_in_pages[1];
	if (pages != b.pages())
		refuse("a tensor of %llu pages in a buffer of %u",
		       static_cast<unsigned long long>(pages), b.pages());
}

static void check_buffer(const BufferState &b)
{
	if (b.type != BufferType::DRAM && b.type != BufferType::L1)
		refuse("buffers are in DRAM or L1 here");
	if (b.page_size == 0 || b.size == 0 || b.size % b.page_size)
		refuse("a buffer of %llu bytes has no whole pages of %llu",
		       static_cast<unsigned long long>(b.size),
		       static_cast<unsigned long long>(b.page_size));
	if (b.page_size % sizeof(uint32_t))
		refuse("a page of %llu bytes is no whole number of words",
		       static_cast<unsigned long long>(b.page_size));
	if (b.type == BufferType::L1)
		check_shards(b);
	else if (b.sharding.buffer_layout() != TensorMemoryLayout::INTERLEAVED)
		refuse("a buffer in DRAM is interleaved here");
}

std::shared_ptr<Buffer> BufferState::create(std::unique_ptr<BufferState> state,
					    std::optional<DeviceAddr> address,
					    std::optional<bool> bottom_up)
{
	BufferState &b = *state;
	check_buffer(b);
	const bool dram = b.type == BufferType::DRAM;
	const uint64_t banks = dram ? static_cast<uint32_t>(TT_DRAM_BANKS)
				    : b.sharding.shard_spec()->grid().num_cores();
	const uint64_t of_bank =
		dram ? (b.pages() + banks - 1) / banks : pages_of_shard(*b.sharding.shard_spec());
	b.per_bank = of_bank * b.aligned_page();
	const uint64_t alignment = dram ? DRAM_ALIGNMENT : L1_ALIGNMENT;
	b.owned = !address;
	if (address) {
		b.address = *address;
		if (*address % alignment || *address < b.room().first() ||
		    *address + b.per_bank > b.room().end())
			refuse("a buffer cannot be at 0x%llx",
			       static_cast<unsigned long long>(*address));
	} else {
		const auto at = b.room().take(b.per_bank, alignment, bottom_up.value_or(dram));
		if (!at)
			refuse("out of memory: %llu bytes in each of %llu banks of %s",
			       static_cast<unsigned long long>(b.per_bank),
			       static_cast<unsigned long long>(banks), dram ? "DRAM" : "L1");
		b.address = *at;
	}
	b.allocated = true;
	return std::shared_ptr<Buffer>(new Buffer(std::move(state)));
}

} // namespace tt::tt_metal::metal_emu

namespace tt::tt_metal
{

using metal_emu::BufferState;

Buffer::Buffer(std::unique_ptr<BufferState> state) : state_(std::move(state)) {}
Buffer::~Buffer() = default;

DeviceAddr Buffer::size() const
{
	return state_->size;
}

bool Buffer::is_allocated() const
{
	return state_->allocated;
}

uint32_t Buffer::address() const
{
	if (!state_->allocated)
		metal_emu::refuse("the address of a buffer that was given back");
	return static_cast<uint32_t>(state_->address);
}

DeviceAddr Buffer::page_size() const
{
	return state_->page_size;
}

uint32_t Buffer::num_pages() const
{
	return state_->pages();
}

BufferType Buffer::buffer_type() const
{
	return state_->type;
}

bool Buffer::is_l1() const
{
	return state_->type == BufferType::L1;
}

bool Buffer::is_dram() const
{
	return state_->type == BufferType::DRAM;
}

TensorMemoryLayout Buffer::buffer_layout() const
{
	return state_->sharding.buffer_layout();
}

uint32_t Buffer::alignment() const
{
	return is_dram() ? metal_emu::DRAM_ALIGNMENT : metal_emu::L1_ALIGNMENT;
}

DeviceAddr Buffer::aligned_page_size() const
{
	return state_->aligned_page();
}

DeviceAddr Buffer::aligned_size_per_bank() const
{
	return state_->per_bank;
}

} // namespace tt::tt_metal
