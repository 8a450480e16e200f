// Our own mirror: how a kernel is compiled and where it runs.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <tt-metalium/base_types.hpp>
#include <tt-metalium/hal_types.hpp>
#include <umd/device/types/arch.hpp>

namespace tt::tt_metal
{

enum class DataMovementProcessor {
	RISCV_0 = 0,
	RISCV_1 = 1,
};

enum NOC : uint8_t {
	RISCV_0_default = 0,
	RISCV_1_default = 1,
	NOC_0 = 0,
	NOC_1 = 1,
};

enum NOC_MODE : uint8_t {
	DM_DEDICATED_NOC = 0,
	DM_DYNAMIC_NOC = 1,
};

constexpr uint32_t max_runtime_args = 341;

using KernelHandle = std::uint32_t;

enum class KernelBuildOptLevel : uint8_t {
	O1,
	O2,
	O3,
	O0,
	Os,
	Ofast,
	Oz,
};

struct DataMovementConfig {
	DataMovementProcessor processor = DataMovementProcessor::RISCV_0;
	NOC noc = NOC::RISCV_0_default;
	NOC_MODE noc_mode = NOC_MODE::DM_DEDICATED_NOC;
	std::vector<uint32_t> compile_args;
	std::map<std::string, std::string> defines;
	std::unordered_map<std::string, uint32_t> named_compile_args;
	KernelBuildOptLevel opt_level = KernelBuildOptLevel::O2;
	std::vector<std::filesystem::path> compiler_include_paths;
};

struct ComputeConfig {
	MathFidelity math_fidelity = MathFidelity::HiFi4;
	bool fp32_dest_acc_en = false;
	bool dst_full_sync_en = false;
	std::vector<UnpackToDestMode> unpack_to_dest_mode;
	bool bfp8_pack_precise = false;
	bool math_approx_mode = false;
	std::vector<uint32_t> compile_args;
	std::map<std::string, std::string> defines;
	std::unordered_map<std::string, uint32_t> named_compile_args;
	KernelBuildOptLevel opt_level = KernelBuildOptLevel::O3;
	std::vector<std::filesystem::path> compiler_include_paths;
};

} // namespace tt::tt_metal
