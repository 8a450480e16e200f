#include "runtime/metal/precompiled.hpp"

#include <tt-metalium/experimental/mock_device/mock_device.hpp>
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

KernelCompiler::KernelCompiler(std::string folder, std::string to)
    : folder_(std::move(folder)), to_(std::move(to)),
      pretends_(!experimental::is_mock_mode_registered())
{
	if (pretends_)
		experimental::configure_mock_mode(tt::ARCH::WORMHOLE_B0, 1);
}

KernelCompiler::~KernelCompiler()
{
	if (pretends_)
		experimental::disable_mock_mode();
}

void KernelCompiler::compile(const ProgramSpec &program)
{
	experimental::OfflineKernelCompileParams params;
	std::string cbs;
	params.output_dir = to_;
	for (const CbSpec &cb : all_cbs(program, 0)) {
		params.cb_compile_configs.push_back(
			{ .cb_index = static_cast<uint8_t>(cb.id), .data_format = cb_format });
		cbs += ' ' + std::to_string(cb.id);
	}
	for (const KernelSpec &k : program.kernels)
		if (done_.insert(k.stem + cbs).second)
			experimental::CompileKernelOffline(kernel_file(folder_, k.stem),
							   kernel_config(k.kind, folder_), params);
}

} // namespace tessera
