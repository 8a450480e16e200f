/* A program of the net as one of TT-Metal. */
#ifndef RUNTIME_METAL_PROGRAM_HPP
#define RUNTIME_METAL_PROGRAM_HPP

#include <string>
#include <variant>
#include <vector>

#include <tt-metalium/host_api.hpp>

#include "runtime/metal/network.hpp"
#include "runtime/metal/precompiled.hpp"

namespace tessera
{

/* Names of the same that are in no namespace are on their way out. */
using tt::tt_metal::CoreCoord;
using tt::tt_metal::CoreRange;
using tt::tt_metal::CoreRangeSet;

/* Of all circular buffers: kernels look at bytes, whatever they stand for. */
inline constexpr tt::DataFormat cb_format = tt::DataFormat::Float16_b;

std::string kernel_file(const std::string &folder, const std::string &stem);

/* What programs are made for. */
struct ProgramPlace {
	const Network &net;
	const tt::tt_metal::Buffer &arena; /* L1 from net.l1 on, on every core */
	std::string folder;                /* of the project */
	Precompiled precompiled;
	std::vector<uint32_t> nodes; /* TT_NODE of each core of the net */
};

/* Cores of the net as TT-Metal has them: all, and sets of them. */
CoreCoord core_at(const Network &net, unsigned core);
CoreRangeSet core_ranges(const Network &net, const std::vector<Cores> &sets);

/* Throws, with the op's name, if TT-Metal refuses something. */
tt::tt_metal::Program make_program(const ProgramSpec &spec, const ProgramPlace &place);

} // namespace tessera

#endif
