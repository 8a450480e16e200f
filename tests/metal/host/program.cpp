#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/metal/host/program_impl.hpp"
#include "tests/metal/host/refuse.hpp"

namespace tt::tt_metal::metal_emu
{

static void add_range(Cores &to, const CoreRange &r)
{
	if (r.end_coord.x >= METAL_GRID_COLS || r.end_coord.y >= METAL_GRID_ROWS)
		refuse("cores %s are not all on the grid of %dx%d", r.str().c_str(),
		       METAL_GRID_COLS, METAL_GRID_ROWS);
	for (size_t y = r.start_coord.y; y <= r.end_coord.y; y++)
		for (size_t x = r.start_coord.x; x <= r.end_coord.x; x++)
			to.set(x + METAL_GRID_COLS * y);
}

Cores cores_of(const CoreSpec &spec)
{
	Cores all;
	if (const auto *one = std::get_if<CoreCoord>(&spec))
		add_range(all, *one);
	else if (const auto *range = std::get_if<CoreRange>(&spec))
		add_range(all, *range);
	else
		for (const CoreRange &r : std::get<CoreRangeSet>(spec).ranges())
			add_range(all, r);
	return all;
}

static std::string core_name(size_t core)
{
	return "(" + std::to_string(core % METAL_GRID_COLS) + "," +
	       std::to_string(core / METAL_GRID_COLS) + ")";
}

} // namespace tt::tt_metal::metal_emu

namespace tt::tt_metal::detail
{

using namespace metal_emu;

std::bitset<TT_RISCS> ProgramImpl::Kernel::riscs() const
{
	std::bitset<TT_RISCS> all;
	if (const auto *dm = std::get_if<DataMovementConfig>(&config))
		all.set(dm->processor == DataMovementProcessor::RISCV_0 ? TT_BRISC : TT_NCRISC);
	else
		all.set(TT_TRISC0).set(TT_TRISC1).set(TT_TRISC2);
	return all;
}

Source ProgramImpl::Kernel::source(TtRisc r) const
{
	Source s;
	s.risc = r;
	s.file = file;
	std::visit(
		[&](const auto &c) {
			s.defines = c.defines;
			s.compile_args = c.compile_args;
			s.include_paths = c.compiler_include_paths;
			s.opt_level = c.opt_level;
		},
		config);
	if (const auto *dm = std::get_if<DataMovementConfig>(&config))
		s.noc = dm->noc;
	return s;
}

KernelHandle ProgramImpl::add(Kernel k)
{
	if (!std::filesystem::exists(k.file))
		refuse("%s: there is no such kernel", k.file.c_str());
	for (const Kernel &other : kernels_) {
		const Cores both = k.cores & other.cores;
		if (both.none())
			continue;
		if ((k.riscs() & other.riscs()).any())
			refuse("%s and %s are for the same RISC-V", k.file.c_str(),
			       other.file.c_str());
		const auto *a = std::get_if<DataMovementConfig>(&k.config);
		const auto *b = std::get_if<DataMovementConfig>(&other.config);
		if (a && b && a->noc == b->noc)
			refuse("%s and %s are on the same NoC", k.file.c_str(), other.file.c_str());
	}
	if (!texts_.empty())
		refuse("a kernel is added to a program that was compiled");
	kernels_.push_back(std::move(k));
	return static_cast<KernelHandle>(kernels_.size() - 1);
}

CBHandle ProgramImpl::add(CircularBuffer cb)
{
	const CircularBufferConfig &c = cb.config;
	if (c.buffer_indices().empty())
		refuse("a circular buffer without a number");
	for (uint8_t i : c.buffer_indices()) {
		if (!c.page_sizes()[i] || *c.page_sizes()[i] == 0)
			refuse("circular buffer %u: no page size", i);
		const uint32_t page = *c.page_sizes()[i];
		if (c.total_size() % page)
			refuse("circular buffer %u: %u bytes are no whole pages of %u", i,
			       c.total_size(), page);
		if (page % CIRCULAR_BUFFER_COMPUTE_WORD_SIZE)
			refuse("circular buffer %u: a page of %u bytes is no multiple of 16", i,
			       page);
		if (c.total_size() / page > 65535)
			refuse("circular buffer %u: %u pages", i, c.total_size() / page);
		for (const CircularBuffer &other : cbs_)
			if ((cb.cores & other.cores).any() &&
			    other.config.buffer_indices().contains(i))
				refuse("circular buffer %u is there twice", i);
	}
	if (!texts_.empty())
		refuse("a circular buffer is added to a program that was compiled");
	cbs_.push_back(std::move(cb));
	return cbs_.size() - 1;
}

uint32_t ProgramImpl::add_semaphore(const Cores &cores, uint32_t value)
{
	for (uint32_t id = 0; id < SEMAPHORES; id++) {
		const bool used = std::any_of(
			semaphores_.begin(), semaphores_.end(),
			[&](const Semaphore &s) { return s.id == id && (s.cores & cores).any(); });
		if (used)
			continue;
		semaphores_.push_back({ cores, id, value });
		return id;
	}
	refuse("all %d semaphores are in use", SEMAPHORES);
}

void ProgramImpl::set_args(KernelHandle k, const Cores &cores, ttsl::Span<const uint32_t> args)
{
	Kernel &kernel = kernels_.at(k);
	if ((cores & ~kernel.cores).any())
		refuse("%s: arguments for a core it does not run on", kernel.file.c_str());
	if (args.size() + kernel.common.size() > METAL_ARG_WORDS)
		refuse("%s: %zu argument words, %d are allowed", kernel.file.c_str(),
		       args.size() + kernel.common.size(), METAL_ARG_WORDS);
	for (size_t i = 0; i < CORES; i++) {
		if (!cores.test(i))
			continue;
		if (!kernel.args[i].empty() && kernel.args[i].size() != args.size())
			refuse("%s: core %s had %zu argument words, gets %zu", kernel.file.c_str(),
			       core_name(i).c_str(), kernel.args[i].size(), args.size());
		kernel.args[i].assign(args.begin(), args.end());
	}
}

void ProgramImpl::set_common(KernelHandle k, ttsl::Span<const uint32_t> args)
{
	Kernel &kernel = kernels_.at(k);
	if (!kernel.common.empty())
		refuse("%s: common arguments are set twice", kernel.file.c_str());
	if (args.size() * 4 > METAL_ARGS_STEP - METAL_COMMON_ARGS)
		refuse("%s: %zu common argument words, %d fit here", kernel.file.c_str(),
		       args.size(), (METAL_ARGS_STEP - METAL_COMMON_ARGS) / 4);
	for (const auto &own : kernel.args)
		if (own.size() + args.size() > METAL_ARG_WORDS)
			refuse("%s: more than %d argument words", kernel.file.c_str(),
			       METAL_ARG_WORDS);
	kernel.common.assign(args.begin(), args.end());
}

std::string ProgramImpl::name() const
{
	std::string all;
	for (const Kernel &k : kernels_)
		all += (all.empty() ? "" : " ") + std::filesystem::path(k.file).stem().string();
	return all;
}

static std::shared_ptr<const Text> text_of(const ProgramImpl::Kernel &k, TtRisc r);

// All kernels, several at a time.
void ProgramImpl::compile()
{
	if (!texts_.empty() || kernels_.empty())
		return;
	std::vector<std::array<std::shared_ptr<const Text>, TT_RISCS>> texts(kernels_.size());
	std::atomic<size_t> next = 0;
	std::vector<std::exception_ptr> wrong(kernels_.size() * TT_RISCS);
	auto work = [&] {
		for (size_t i; (i = next++) < wrong.size();) {
			const size_t k = i / TT_RISCS, r = i % TT_RISCS;
			try {
				if (kernels_[k].riscs().test(r))
					texts[k][r] = text_of(kernels_[k], static_cast<TtRisc>(r));
			} catch (...) {
				wrong[i] = std::current_exception();
			}
		}
	};
	std::thread other(work);
	work();
	other.join();
	for (const std::exception_ptr &e : wrong)
		if (e)
			std::rethrow_exception(e);
	texts_ = std::move(texts);
}

static std::shared_ptr<const Text> text_of(const ProgramImpl::Kernel &k, TtRisc r)
{
	const Source s = k.source(r);
	if (k.precompiled.empty())
		return metal_emu::compile(s);
	const std::filesystem::path folder =
		std::filesystem::path(k.precompiled) / std::filesystem::path(k.file).stem();
	const bool there = std::filesystem::exists(folder / (compile_key(s) + ".o"));
	return there ? compile_into(s, folder) : metal_emu::compile(s);
}

// Those on no buffer one behind the other from the first user byte on.
void ProgramImpl::place_cbs(CoreLaunch &c, uint64_t l1_lowest) const
{
	for (size_t n = 0; n < cbs_.size(); n++) {
		const CircularBufferConfig &config = cbs_[n].config;
		if (!cbs_[n].cores.test(c.core))
			continue;
		const auto given = config.globally_allocated_address();
		const uint64_t at = given ? *given + config.address_offset() : static_cbs_[n];
		if (!given && at + config.total_size() > l1_lowest)
			refuse("circular buffers of core %s up to 0x%llx reach into a buffer at "
			       "0x%llx",
			       core_name(c.core).c_str(),
			       static_cast<unsigned long long>(at + config.total_size()),
			       static_cast<unsigned long long>(l1_lowest));
		for (uint8_t i : config.buffer_indices()) {
			const uint32_t page = *config.page_sizes()[i];
			c.cbs[i] = { static_cast<uint32_t>(at), config.total_size(),
				     config.total_size() / page, page };
			c.cb_mask |= 1u << i;
		}
	}
}

static uint32_t up16(size_t n)
{
	return static_cast<uint32_t>((n + 15) / 16 * 16);
}

// Arguments, semaphores, circular buffers and code share the kernel config ring.
void ProgramImpl::check_ring(const CoreLaunch &c) const
{
	uint32_t used = up16(sizeof(MetalCb) * (c.cb_mask ? 32 - __builtin_clz(c.cb_mask) : 0));
	for (const auto &s : c.semaphores)
		used += s.first ? 16 : 0;
	for (int r = 0; r < TT_RISCS; r++) {
		used += up16(4 * c.args[r].size()) + up16(4 * c.common[r].size());
		used += c.text[r] ? up16(c.text[r]->bytes.size()) : 0;
	}
	if (used > METAL_CONFIG_RING)
		refuse("%s: %u bytes of kernel config, the ring has %d", name().c_str(), used,
		       METAL_CONFIG_RING);
}

Launch ProgramImpl::launch(uint64_t l1_lowest)
{
	compile();
	Cores all;
	for (const Kernel &k : kernels_)
		all |= k.cores;
	static_cbs_.assign(cbs_.size(), 0);
	std::array<uint64_t, CORES> top;
	top.fill(TT_USER);
	for (size_t n = 0; n < cbs_.size(); n++) {
		if (cbs_[n].config.globally_allocated_address())
			continue;
		uint64_t at = TT_USER;
		for (size_t i = 0; i < CORES; i++)
			at = cbs_[n].cores.test(i) ? std::max(at, top[i]) : at;
		static_cbs_[n] = at;
		for (size_t i = 0; i < CORES; i++)
			top[i] = cbs_[n].cores.test(i) ? up16(at + cbs_[n].config.total_size())
						       : top[i];
	}
	Launch made;
	made.name = name();
	for (uint32_t core = 0; core < CORES; core++) {
		if (!all.test(core))
			continue;
		CoreLaunch c;
		c.core = core;
		for (size_t k = 0; k < kernels_.size(); k++)
			for (int r = 0; r < TT_RISCS; r++)
				if (kernels_[k].cores.test(core) && texts_[k][r]) {
					c.text[r] = texts_[k][r];
					c.args[r] = kernels_[k].args[core];
					c.common[r] = kernels_[k].common;
					c.noc[r] = kernels_[k].source(static_cast<TtRisc>(r)).noc
							   ? 0xffb30000u
							   : 0xffb20000u;
				}
		for (const Semaphore &s : semaphores_)
			if (s.cores.test(core))
				c.semaphores[s.id] = { true, s.value };
		place_cbs(c, l1_lowest);
		check_ring(c);
		made.cores.push_back(std::move(c));
	}
	return made;
}

} // namespace tt::tt_metal::detail
