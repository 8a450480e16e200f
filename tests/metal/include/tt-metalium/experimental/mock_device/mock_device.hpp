// Our own mirror: TT-Metal without a device.
#pragma once

#include <cstdint>

#include <umd/device/types/arch.hpp>

namespace tt::tt_metal::experimental
{

void configure_mock_mode(tt::ARCH arch, uint32_t num_chips = 1);
void disable_mock_mode();
bool is_mock_mode_registered();

} // namespace tt::tt_metal::experimental
