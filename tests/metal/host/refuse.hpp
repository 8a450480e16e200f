// What TT-Metal would refuse.
#pragma once

namespace tt::tt_metal::metal_emu
{

// Throws std::runtime_error with the text.
[[noreturn]] void refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

} // namespace tt::tt_metal::metal_emu
