/*
 * Kernels compiled ahead of time. TT-Metal's interface for that is experimental: all that is
 * used of it stands in precompiled.cpp.
 */
#ifndef RUNTIME_METAL_PRECOMPILED_HPP
#define RUNTIME_METAL_PRECOMPILED_HPP

#include <set>
#include <string>
#include <utility>
#include <variant>

#include <tt-metalium/host_api.hpp>

#include "runtime/metal/network.hpp"

namespace tessera
{

using KernelConfig = std::variant<tt::tt_metal::DataMovementConfig, tt::tt_metal::ComputeConfig>;

/* What a program's kernels are compiled with; `folder` has the library they include. */
KernelConfig kernel_config(KernelKind kind, const std::string &folder);

/* Circular buffers of a program with those that say ready and done. */
std::vector<CbSpec> all_cbs(const ProgramSpec &program, uint32_t signals_at);

/* Where compiled kernels are; nothing if `folder` is empty. */
struct Precompiled {
	std::string folder;
	bool only = false; /* what is missing is an error */
};

tt::tt_metal::KernelHandle create_kernel(tt::tt_metal::Program &program, const std::string &file,
					 const tt::tt_metal::CoreRangeSet &cores,
					 const KernelConfig &config,
					 const Precompiled &precompiled);

/* Compiles the kernels of programs into a folder, those that are alike once: TT-Metal's
 * binaries go by the file and by which circular buffers there are. It wants a device even for
 * that: as long as there is a compiler, TT-Metal pretends to have one. */
class KernelCompiler
{
      public:
	KernelCompiler(std::string folder, std::string to);
	~KernelCompiler();
	KernelCompiler(const KernelCompiler &) = delete;
	KernelCompiler &operator=(const KernelCompiler &) = delete;
	void compile(const ProgramSpec &program);

      private:
	std::string folder_, to_;
	bool pretends_;
	std::set<std::string> done_;
};

} // namespace tessera

#endif
