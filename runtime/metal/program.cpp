#include "runtime/metal/program.hpp"

#include <stdexcept>

#include <tt-metalium/buffer.hpp>
#include <tt-metalium/circular_buffer_config.hpp>

#include "runtime/metal/lists.hpp"

namespace tessera
{

using namespace tt::tt_metal;

std::string kernel_file(const std::string &folder, const std::string &stem)
{
	return folder + "/kernels/" + stem + ".cpp";
}

/* BRISC works on NoC 1 and NCRISC on NoC 0, as DRAM wants writes and reads. The routines drive
 * the matrix unit themselves: fidelity is theirs, Dst has 32 bits. */
KernelConfig kernel_config(KernelKind kind, const std::string &folder)
{
	const std::vector<std::filesystem::path> includes = { folder + "/kernels" };
	if (kind == KernelKind::compute) {
		ComputeConfig config;
		config.fp32_dest_acc_en = true;
		config.compiler_include_paths = includes;
		return config;
	}
	const bool reader = kind == KernelKind::reader;
	DataMovementConfig config;
	config.processor = reader ? DataMovementProcessor::RISCV_1 : DataMovementProcessor::RISCV_0;
	config.noc = reader ? NOC::NOC_0 : NOC::NOC_1;
	config.compiler_include_paths = includes;
	return config;
}

std::vector<CbSpec> all_cbs(const ProgramSpec &program, uint32_t signals_at)
{
	std::vector<CbSpec> cbs = program.cbs;
	if (program.ready)
		cbs.push_back({ TT_CB_READY, signals_at, TT_CB_SIGNAL_BYTES, 1 });
	if (program.done)
		cbs.push_back({ TT_CB_DONE, signals_at, TT_CB_SIGNAL_BYTES, 1 });
	return cbs;
}

CoreCoord core_at(const Network &net, unsigned core)
{
	return CoreCoord(core % net.cols, core / net.cols);
}

/* Rectangles: runs in a row, and below them the same runs. */
CoreRangeSet core_ranges(const Network &net, const std::vector<Cores> &sets)
{
	std::vector<bool> left(net.cols * net.rows, false);
	std::vector<CoreRange> ranges;
	for (const Cores &s : sets)
		for (unsigned core = s.first; core <= s.last; core += s.every)
			left[core] = true;
	const auto has = [&](unsigned row, unsigned first, unsigned last) {
		bool all = true;
		for (unsigned col = first; col <= last; col++)
			all = all && left[row * net.cols + col];
		return all;
	};
	for (unsigned core = 0; core < left.size(); core++) {
		if (!left[core])
			continue;
		const unsigned row = core / net.cols, first = core % net.cols;
		unsigned last = first, bottom = row;
		while (last + 1 < net.cols && left[row * net.cols + last + 1])
			last++;
		while (bottom + 1 < net.rows && has(bottom + 1, first, last))
			bottom++;
		for (unsigned y = row; y <= bottom; y++)
			for (unsigned x = first; x <= last; x++)
				left[y * net.cols + x] = false;
		ranges.emplace_back(CoreCoord(first, row), CoreCoord(last, bottom));
	}
	return CoreRangeSet(ranges);
}

namespace
{

void add_cbs(Program &program, const ProgramSpec &spec, const ProgramPlace &place,
	     const CoreRangeSet &all)
{
	for (const CbSpec &cb : all_cbs(spec, place.net.l1)) {
		const auto id = static_cast<uint8_t>(cb.id);
		CircularBufferConfig config(cb.page_bytes * cb.pages, { { id, cb_format } });
		config.set_page_size(id, cb.page_bytes);
		config.set_globally_allocated_address(place.arena);
		config.set_address_offset(cb.address - place.net.l1);
		CreateCircularBuffer(program, all, config);
	}
}

void add_semaphores(Program &program, const ProgramSpec &spec, const CoreRangeSet &all)
{
	for (unsigned i = 0; i < spec.semaphores; i++)
		if (CreateSemaphore(program, all, 0) != i)
			throw std::runtime_error("semaphores are not counted from 0");
}

void add_kernel(Program &program, const KernelSpec &kernel, const ProgramPlace &place,
		const std::vector<Words> &lists)
{
	const KernelHandle handle =
		create_kernel(program, kernel_file(place.folder, kernel.stem),
			      core_ranges(place.net, kernel.cores),
			      kernel_config(kernel.kind, place.folder), place.precompiled);
	std::vector<CoreCoord> cores;
	std::vector<Words> args;
	for (const Cores &s : kernel.cores)
		for (unsigned core = s.first; core <= s.last; core += s.every) {
			Words words = kernel.params.empty() ? Words{} : kernel.params[core];
			if (kernel.kind == KernelKind::writer)
				words.insert(words.end(), lists[core].begin(), lists[core].end());
			cores.push_back(core_at(place.net, core));
			args.push_back(std::move(words));
		}
	SetRuntimeArgs(program, handle, cores, args);
}

} // namespace

Program make_program(const ProgramSpec &spec, const ProgramPlace &place)
{
	const CoreRangeSet all = core_ranges(place.net, { { 0, place.net.cores - 1 } });
	const std::vector<Words> lists = list_words(
		spec, place.net.cores, [&](unsigned core) { return place.nodes.at(core); });
	try {
		Program program = CreateProgram();
		add_cbs(program, spec, place, all);
		add_semaphores(program, spec, all);
		for (const KernelSpec &kernel : spec.kernels)
			add_kernel(program, kernel, place, lists);
		return program;
	} catch (const std::exception &e) {
		throw std::runtime_error(spec.name + ": " + e.what());
	}
}

} // namespace tessera
