// Our own mirror: addresses and kinds of memory.
#pragma once

#include <cstdint>

namespace tt::tt_metal
{

using DeviceAddr = std::uint64_t;

enum class HalL1MemAddrType : uint8_t {
	BASE,
	BARRIER,
	MAILBOX,
	LAUNCH,
	WATCHER,
	DPRINT_BUFFERS,
	PROFILER,
	KERNEL_CONFIG,
	UNRESERVED,
	DEFAULT_UNRESERVED,
};

enum class HalMemType : uint8_t { L1 = 0, DRAM = 1, HOST = 2, COUNT = 3 };

} // namespace tt::tt_metal
