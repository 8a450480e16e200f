// Our own mirror: kernels compiled ahead of time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <tt-metalium/program.hpp>
#include <tt-metalium/tt_backend_api_types.hpp>

namespace tt::tt_metal::experimental
{

struct OfflineKernelCompileParams {
	struct CBCompileConfig {
		uint8_t cb_index = 0;
		DataFormat data_format = DataFormat::Invalid;
	};
	struct AllSupportedProducts {
	};
	using Mode = std::variant<AllSupportedProducts>;

	Mode mode = AllSupportedProducts{};
	std::filesystem::path output_dir;
	std::vector<CBCompileConfig> cb_compile_configs;
};

struct PrecompiledKernelConfig {
	enum class FallbackPolicy {
		JitCompile,
		Error,
	};

	std::string precompiled_dir;
	FallbackPolicy fallback_policy = FallbackPolicy::Error;
};

class PrecompiledKernelNotFoundError : public std::runtime_error
{
      public:
	PrecompiledKernelNotFoundError(std::string kernel_name, size_t compile_hash,
				       std::string precompiled_dir,
				       PrecompiledKernelConfig::FallbackPolicy fallback_policy);

	const std::string &kernel_name() const noexcept { return kernel_name_; }
	size_t compile_hash() const noexcept { return compile_hash_; }
	const std::string &precompiled_dir() const noexcept { return precompiled_dir_; }
	PrecompiledKernelConfig::FallbackPolicy fallback_policy() const noexcept
	{
		return fallback_policy_;
	}

      private:
	std::string kernel_name_;
	size_t compile_hash_;
	std::string precompiled_dir_;
	PrecompiledKernelConfig::FallbackPolicy fallback_policy_;
};

KernelHandle
CreateKernelFromPrecompiled(Program &program, const std::string &file_name,
			    const std::variant<CoreCoord, CoreRange, CoreRangeSet> &core_spec,
			    const std::variant<DataMovementConfig, ComputeConfig> &config,
			    const PrecompiledKernelConfig &precompiled_config);

std::vector<OfflineKernelCompileParams::CBCompileConfig>
CBCompileConfigsFromProgram(const Program &program, KernelHandle kernel);

void CompileKernelOffline(const std::string &file_name,
			  const std::variant<DataMovementConfig, ComputeConfig> &config,
			  const OfflineKernelCompileParams &params);

} // namespace tt::tt_metal::experimental
