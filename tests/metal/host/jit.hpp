// Kernels compiled just in time, as TT-Metal does it: one module for each RISC-V,
// with the defines TT-Metal gives it, by clang and our linker. Compiled once for each
// text, headers and flags, and kept in a folder of results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/map.h"
#include <tt-metalium/kernel_types.hpp>

namespace tt::tt_metal::metal_emu
{

// Machine code of one RISC-V where it runs.
struct Text {
	std::vector<uint8_t> bytes;
	uint32_t entry = 0;
	uint32_t at = 0; // where the host puts it
};

struct Source {
	TtRisc risc = TT_BRISC;
	std::string file;
	std::map<std::string, std::string> defines;
	std::vector<uint32_t> compile_args;
	std::vector<std::filesystem::path> include_paths;
	KernelBuildOptLevel opt_level = KernelBuildOptLevel::O2;
	int noc = 0; // of a data movement kernel
	bool firmware = false;
};

// Throws what the compiler or the linker said. Several threads may ask.
std::shared_ptr<const Text> compile(const Source &source);

// What tells one result of compile from another.
std::string compile_key(const Source &source);

// Where results are kept; kernels compiled offline are in another folder.
std::shared_ptr<const Text> compile_into(const Source &source, const std::filesystem::path &folder);

} // namespace tt::tt_metal::metal_emu
