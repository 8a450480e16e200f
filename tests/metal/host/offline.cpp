// Kernels compiled ahead of time: DIR/STEM/KEY.o for each RISC-V.
#include <tt-metalium/experimental/mock_device/mock_device.hpp>
#include <tt-metalium/experimental/offline_kernel_compile.hpp>

#include "tests/metal/host/program_impl.hpp"
#include "tests/metal/host/refuse.hpp"

namespace tt::tt_metal::experimental
{

using metal_emu::compile_key;
using Kernel = detail::ProgramImpl::Kernel;

static bool mock;

void configure_mock_mode(tt::ARCH arch, uint32_t num_chips)
{
	if (arch != tt::ARCH::WORMHOLE_B0 || num_chips != 1)
		metal_emu::refuse("no such device to pretend");
	mock = true;
}

void disable_mock_mode()
{
	mock = false;
}

bool is_mock_mode_registered()
{
	return mock;
}

static std::filesystem::path folder_of(const std::filesystem::path &all, const std::string &file)
{
	return all / std::filesystem::path(file).stem();
}

PrecompiledKernelNotFoundError::PrecompiledKernelNotFoundError(
	std::string kernel_name, size_t compile_hash, std::string precompiled_dir,
	PrecompiledKernelConfig::FallbackPolicy fallback_policy)
    : std::runtime_error(kernel_name + ": not among the kernels of " + precompiled_dir),
      kernel_name_(kernel_name), compile_hash_(compile_hash), precompiled_dir_(precompiled_dir),
      fallback_policy_(fallback_policy)
{
}

KernelHandle
CreateKernelFromPrecompiled(Program &program, const std::string &file_name,
			    const std::variant<CoreCoord, CoreRange, CoreRangeSet> &core_spec,
			    const std::variant<DataMovementConfig, ComputeConfig> &config,
			    const PrecompiledKernelConfig &precompiled_config)
{
	Kernel k;
	k.file = file_name;
	k.cores = metal_emu::cores_of(core_spec);
	k.config = config;
	k.precompiled = precompiled_config.precompiled_dir;
	for (int r = 0; r < TT_RISCS; r++) {
		if (!k.riscs().test(r))
			continue;
		const std::string key = compile_key(k.source(static_cast<TtRisc>(r)));
		const bool there =
			std::filesystem::exists(folder_of(k.precompiled, file_name) / (key + ".o"));
		if (!there && precompiled_config.fallback_policy ==
				      PrecompiledKernelConfig::FallbackPolicy::Error)
			throw PrecompiledKernelNotFoundError(
				file_name, std::hash<std::string>{}(key), k.precompiled,
				precompiled_config.fallback_policy);
	}
	return program.impl().add(std::move(k));
}

std::vector<OfflineKernelCompileParams::CBCompileConfig>
CBCompileConfigsFromProgram(const Program &program, KernelHandle kernel)
{
	std::vector<OfflineKernelCompileParams::CBCompileConfig> all;
	const Kernel &k = program.impl().kernel(kernel);
	for (const auto &cb : program.impl().cbs())
		if ((cb.cores & k.cores).any())
			for (uint8_t i : cb.config.buffer_indices())
				all.push_back({ i, cb.config.data_formats()[i].value_or(
							   DataFormat::Invalid) });
	return all;
}

void CompileKernelOffline(const std::string &file_name,
			  const std::variant<DataMovementConfig, ComputeConfig> &config,
			  const OfflineKernelCompileParams &params)
{
	if (params.output_dir.empty())
		throw std::invalid_argument("kernels are compiled to no folder");
	if (!mock)
		metal_emu::refuse("%s: no device, and nothing that pretends to be one",
				  file_name.c_str());
	Kernel k;
	k.file = file_name;
	k.config = config;
	for (int r = 0; r < TT_RISCS; r++)
		if (k.riscs().test(r))
			metal_emu::compile_into(k.source(static_cast<TtRisc>(r)),
						folder_of(params.output_dir, file_name));
}

} // namespace tt::tt_metal::experimental
