// Our own mirror: which cores do the dispatching.
#pragma once

#include <cstdint>
#include <optional>

#include <tt-metalium/core_coord.hpp>

namespace tt::tt_metal
{

enum class DispatchCoreType : uint32_t { WORKER, ETH, COUNT };

enum class DispatchCoreAxis { ROW, COL, COUNT };

class DispatchCoreConfig
{
      public:
	DispatchCoreConfig() : type_(DispatchCoreType::WORKER) {}
	DispatchCoreConfig(DispatchCoreType type) : type_(type) {}
	DispatchCoreConfig(DispatchCoreType type, DispatchCoreAxis axis) : type_(type), axis_(axis)
	{
	}

	DispatchCoreType get_dispatch_core_type() const { return type_; }

      private:
	DispatchCoreType type_;
	std::optional<DispatchCoreAxis> axis_;
};

} // namespace tt::tt_metal
