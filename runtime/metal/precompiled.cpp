#include "runtime/metal/precompiled.hpp"

#include <tt-metalium/experimental/offline_kernel_compile.hpp>

#include "runtime/metal/program.hpp"

namespace tessera
{

using namespace tt::tt_metal;

KernelHandle create_kernel(Program &program, const std::string &file, const CoreRangeSet &cores,
			   const KernelConfig &config, const Precompiled &precompiled)
{
	using Policy = experimental::PrecompiledKernelConfig::FallbackPolicy;
	if (precompiled.folder.empty())
		return CreateKernel(program, file, cores, config);
	const experimental::PrecompiledKernelConfig from = {
		.precompiled_dir = precompiled.folder,
		.fallback_policy = precompiled.only ? Policy::Error : Policy::JitCompile,
	};
	return experimental::CreateKernelFromPrecompiled(program, file, cores, config, from);
}

void compile_kernels(const ProgramSpec &program, const std::string &folder, const std::string &to)
{
	experimental::OfflineKernelCompileParams params;
	params.output_dir = to;
	for (const CbSpec &cb : all_cbs(program, 0))
		params.cb_compile_configs.push_back(
			{ .cb_index = static_cast<uint8_t>(cb.id), .data_format = cb_format });
	for (const KernelSpec &k : program.kernels)
		experimental::CompileKernelOffline(kernel_file(folder, k.stem),
						   kernel_config(k.kind, folder), params);
}

} // namespace tessera
