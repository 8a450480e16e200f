// Our own mirror: parts of a device.
#pragma once

#include <cstdint>

#include <tt_stl/strong_type.hpp>

namespace tt::tt_metal
{

using SubDeviceId = ttsl::StrongType<uint8_t, struct SubDeviceIdTag>;

}
