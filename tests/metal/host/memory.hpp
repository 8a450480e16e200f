// Memory of a mesh's devices, in lock step: where buffers are.
//
// A bank of DRAM or the L1 of a core is a range of addresses that is the same in all
// banks. DRAM is given from below, L1 from above, traces from the top of DRAM.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include <tt-metalium/buffer.hpp>

namespace tt::tt_metal::metal_emu
{

class Room
{
      public:
	Room(uint64_t first, uint64_t end) : first_(first), end_(end) {}

	// Nothing if there is none of that size.
	std::optional<uint64_t> take(uint64_t bytes, uint64_t alignment, bool from_below);
	void give_back(uint64_t at);
	std::optional<uint64_t> lowest() const;
	uint64_t first() const { return first_; }
	uint64_t end() const { return end_; }

      private:
	uint64_t first_, end_;
	std::map<uint64_t, uint64_t> taken_; // from where to where
};

struct Memory {
	Room dram, l1;
};

enum {
	DRAM_FIRST = 0x8040, // behind what TT-Metal keeps for itself
	DRAM_ALIGNMENT = 32,
	L1_ALIGNMENT = 16,
};

// What is behind a Buffer.
struct BufferState {
	std::shared_ptr<Memory> memory;
	uint64_t size = 0, page_size = 0, address = 0, per_bank = 0;
	BufferType type = BufferType::DRAM;
	BufferShardingArgs sharding;
	bool allocated = false, owned = false;

	~BufferState();
	uint64_t aligned_page() const;
	uint32_t pages() const { return static_cast<uint32_t>(size / page_size); }
	// Place of a page: its bank (or logical core as col + 8 * row), and the address there.
	struct Place {
		uint32_t bank;
		uint64_t address;
	};
	Place place(uint32_t page) const;
	Room &room() const { return type == BufferType::DRAM ? memory->dram : memory->l1; }
	void release();

	static std::shared_ptr<Buffer> create(std::unique_ptr<BufferState> state,
					      std::optional<DeviceAddr> address,
					      std::optional<bool> bottom_up);
	static const BufferState &of(const Buffer &b) { return *b.state_; }
	static BufferState &of(Buffer &b) { return *b.state_; }
};

} // namespace tt::tt_metal::metal_emu
