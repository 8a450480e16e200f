// A program as it was described, and what becomes of it: for each core, what a launch
// writes there.
#pragma once

#include <array>
#include <bitset>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tests/metal/host/jit.hpp"
#include "tests/metal/machine.h"
#include <tt-metalium/host_api.hpp>

namespace tt::tt_metal::metal_emu
{

enum { CORES = METAL_GRID_COLS * METAL_GRID_ROWS, SEMAPHORES = TT_SEMAPHORE_COUNT };

using Cores = std::bitset<CORES>; // core col + 8 * row
using CoreSpec = std::variant<CoreCoord, CoreRange, CoreRangeSet>;
using KernelConfig = std::variant<DataMovementConfig, ComputeConfig>;

// Refuses what is not on the grid.
Cores cores_of(const CoreSpec &spec);

// What one core is told about a launch.
struct CoreLaunch {
	uint32_t core = 0;
	std::array<std::shared_ptr<const Text>, TT_RISCS> text;
	std::array<std::vector<uint32_t>, TT_RISCS> args, common;
	std::array<MetalCb, TT_CBS> cbs{};
	std::array<std::pair<bool, uint32_t>, SEMAPHORES> semaphores{};
	uint32_t cb_mask = 0;
	std::array<uint32_t, TT_RISCS> noc{};
};

struct Launch {
	std::string name; // of its kernels, for messages
	std::vector<CoreLaunch> cores;
};

} // namespace tt::tt_metal::metal_emu

namespace tt::tt_metal::detail
{

class ProgramImpl
{
      public:
	struct Kernel {
		std::string file;
		metal_emu::Cores cores;
		metal_emu::KernelConfig config;
		std::string precompiled; // folder, or empty
		std::array<std::vector<uint32_t>, metal_emu::CORES> args;
		std::vector<uint32_t> common;
		std::bitset<TT_RISCS> riscs() const;
		metal_emu::Source source(TtRisc r) const;
	};
	struct CircularBuffer {
		metal_emu::Cores cores;
		CircularBufferConfig config;
	};
	struct Semaphore {
		metal_emu::Cores cores;
		uint32_t id, value;
	};

	KernelHandle add(Kernel k);
	CBHandle add(CircularBuffer cb);
	uint32_t add_semaphore(const metal_emu::Cores &cores, uint32_t value);
	void set_args(KernelHandle k, const metal_emu::Cores &cores,
		      ttsl::Span<const uint32_t> args);
	void set_common(KernelHandle k, ttsl::Span<const uint32_t> args);

	// What a launch writes now. `l1_lowest`: the lowest address of a buffer in L1.
	metal_emu::Launch launch(uint64_t l1_lowest);

	bool sent = false; // it ran once: its kernels are there

	CircularBuffer &cb(CBHandle handle) { return cbs_.at(handle); }
	const Kernel &kernel(KernelHandle k) const { return kernels_.at(k); }
	const std::vector<CircularBuffer> &cbs() const { return cbs_; }

      private:
	void compile();
	void place_cbs(metal_emu::CoreLaunch &c, uint64_t l1_lowest) const;
	void check_ring(const metal_emu::CoreLaunch &c) const;
	std::string name() const;

	std::vector<Kernel> kernels_;
	std::vector<CircularBuffer> cbs_;
	std::vector<Semaphore> semaphores_;
	std::vector<std::array<std::shared_ptr<const metal_emu::Text>, TT_RISCS>> texts_;
	std::vector<uint64_t> static_cbs_; // address of each that is on no buffer
};

} // namespace tt::tt_metal::detail
