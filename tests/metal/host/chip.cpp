#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/metal/host/mesh_impl.hpp"
#include "tests/metal/host/refuse.hpp"

namespace tt::tt_metal::metal_emu
{

enum { FIRST_STEPS = 2000, STEPS = 4000, SOFT_RESET_ALL = 0x47800, ALL_BUT_BRISC = 0x47000 };

static const uint64_t SOFT_RESET_AT = 0xffb121b0u;
static const uint64_t MOST_STEPS = 2000000000u;

Chip::Chip(const std::string &spec) : spec_(spec)
{
	char why[METAL_WHY] = "";
	chip_ = metal_chip_open(spec.c_str(), why);
	if (!chip_)
		refuse("%s: %s", spec.c_str(), why);
	start_firmware();
}

Chip::~Chip()
{
	metal_chip_close(chip_);
}

Chip &Chip::number(size_t i)
{
	static std::map<size_t, std::unique_ptr<Chip>> open;
	std::unique_ptr<Chip> &chip = open[i];
	const char *spec = getenv("TESSERA_METAL_CHIP");
	if (!chip || chip->broken_)
		chip = std::make_unique<Chip>(spec ? spec : "emu");
	return *chip;
}

void Chip::put(uint32_t core, uint32_t at, const void *from, size_t n)
{
	char why[METAL_WHY] = "";
	if (n && !metal_worker_write(chip_, core % METAL_GRID_COLS, core / METAL_GRID_COLS, at,
				     from, n, why))
		refuse("%s", why);
}

void Chip::get(uint32_t core, uint32_t at, void *to, size_t n)
{
	char why[METAL_WHY] = "";
	if (!metal_worker_read(chip_, core % METAL_GRID_COLS, core / METAL_GRID_COLS, at, to, n,
			       why))
		refuse("%s", why);
}

void Chip::start_firmware()
{
	const uint32_t hold = SOFT_RESET_ALL, release = ALL_BUT_BRISC;
	const std::vector<uint8_t> zeros(TT_USER, 0);
	for (uint32_t core = 0; core < CORES; core++) {
		char why[METAL_WHY] = "";
		const uint32_t col = core % METAL_GRID_COLS, row = core / METAL_GRID_COLS;
		if (!metal_worker_write(chip_, col, row, SOFT_RESET_AT, &hold, 4, why))
			refuse("%s", why);
		put(core, 0, zeros.data(), zeros.size());
		for (int r = 0; r < TT_RISCS; r++) {
			Source s;
			s.risc = static_cast<TtRisc>(r);
			s.file = METAL_ROOT "/tests/metal/firmware.c";
			s.firmware = true;
			const auto text = compile(s);
			put(core, text->at, text->bytes.data(), text->bytes.size());
		}
		const uint32_t done = ~0u;
		put(core, METAL_LAUNCH + offsetof(MetalLaunch, done), &done, 4);
		if (!metal_worker_write(chip_, col, row, SOFT_RESET_AT, &release, 4, why))
			refuse("%s", why);
	}
	Launch all;
	all.name = "firmware";
	for (uint32_t core = 0; core < CORES; core++) {
		all.cores.emplace_back();
		all.cores.back().core = core;
	}
	await(all);
}

// Pages that lie one behind the other in one bank at once.
template <typename Move>
void Chip::by_runs(const BufferState &b, uint64_t offset, uint64_t n, Move move)
{
	const uint64_t page = b.page_size;
	if (offset % page || n % page || offset + n > b.size)
		refuse("%llu bytes from %llu on of a buffer of %llu with pages of %llu",
		       static_cast<unsigned long long>(n), static_cast<unsigned long long>(offset),
		       static_cast<unsigned long long>(b.size),
		       static_cast<unsigned long long>(page));
	for (uint64_t done = 0; done < n; done += page)
		move(b.place(static_cast<uint32_t>((offset + done) / page)), done, page);
}

void Chip::write(const BufferState &b, const uint8_t *from, uint64_t offset, uint64_t n)
{
	by_runs(b, offset, n, [&](BufferState::Place p, uint64_t at, uint64_t bytes) {
		char why[METAL_WHY] = "";
		if (b.type == BufferType::L1)
			put(p.bank, static_cast<uint32_t>(p.address), from + at, bytes);
		else if (!metal_bank_write(chip_, p.bank, p.address, from + at, bytes, why))
			refuse("%s", why);
	});
}

void Chip::read(const BufferState &b, uint8_t *to, uint64_t offset, uint64_t n)
{
	by_runs(b, offset, n, [&](BufferState::Place p, uint64_t at, uint64_t bytes) {
		char why[METAL_WHY] = "";
		if (b.type == BufferType::L1)
			get(p.bank, static_cast<uint32_t>(p.address), to + at, bytes);
		else if (!metal_bank_read(chip_, p.bank, p.address, to + at, bytes, why))
			refuse("%s", why);
	});
}

void Chip::allow(const BufferState &b)
{
	if (b.type != BufferType::L1)
		return;
	for (uint32_t core = 0; core < CORES; core++)
		if (b.sharding.shard_spec()->grid().contains(
			    { core % METAL_GRID_COLS, core / METAL_GRID_COLS }))
			metal_chip_allow(chip_, core % METAL_GRID_COLS, core / METAL_GRID_COLS,
					 static_cast<uint32_t>(b.address),
					 static_cast<uint32_t>(b.address + b.per_bank));
}

// All but `go`.
void Chip::tell(const CoreLaunch &c)
{
	MetalLaunch l = {};
	for (uint32_t r = 0; r < TT_RISCS; r++) {
		const auto &text = c.text[r];
		if (text && loaded_[c.core][r] != text)
			put(c.core, text->at, text->bytes.data(), text->bytes.size());
		if (text)
			loaded_[c.core][r] = text;
		l.entry[r] = text ? text->entry : 0;
		l.noc[r] = c.noc[r];
		const uint32_t args = METAL_ARGS + r * METAL_ARGS_STEP;
		put(c.core, args, c.args[r].data(), 4 * c.args[r].size());
		put(c.core, args + METAL_COMMON_ARGS, c.common[r].data(), 4 * c.common[r].size());
	}
	l.ncrisc_bytes =
		c.text[TT_NCRISC] ? static_cast<uint32_t>(c.text[TT_NCRISC]->bytes.size()) : 0;
	l.cb_mask = c.cb_mask;
	l.logical = c.core % METAL_GRID_COLS | c.core / METAL_GRID_COLS << 16;
	put(c.core, METAL_CBS, c.cbs.data(), sizeof c.cbs);
	for (uint32_t i = 0; i < SEMAPHORES; i++)
		if (c.semaphores[i].first)
			put(c.core, TT_SEMAPHORES + 16 * i, &c.semaphores[i].second, 4);
	const size_t first = offsetof(MetalLaunch, entry), end = offsetof(MetalLaunch, finished);
	put(c.core, METAL_LAUNCH + static_cast<uint32_t>(first),
	    reinterpret_cast<const uint8_t *>(&l) + first, end - first);
	put(c.core, TT_OP_WORD, &launches_, 4);
	for (uint32_t i = 0; i < TT_CBS; i++)
		if (c.cb_mask >> i & 1)
			metal_chip_allow(chip_, c.core % METAL_GRID_COLS, c.core / METAL_GRID_COLS,
					 c.cbs[i].address, c.cbs[i].address + c.cbs[i].bytes);
}

void Chip::await(const Launch &l)
{
	char why[METAL_WHY] = "";
	size_t next = 0;
	broken_ = true; // until it is known to be well
	for (uint64_t steps = 0; next < l.cores.size(); steps += STEPS) {
		if (steps > MOST_STEPS)
			refuse("%s: launch %u (%s) does not end", spec_.c_str(), launches_,
			       l.name.c_str());
		if (!metal_chip_advance(chip_, steps ? STEPS : FIRST_STEPS, why))
			refuse("%s: launch %u (%s): %s", spec_.c_str(), launches_, l.name.c_str(),
			       why);
		for (uint32_t done; next < l.cores.size(); next++) {
			const uint32_t core = l.cores[next].core;
			get(core, METAL_LAUNCH + offsetof(MetalLaunch, done), &done, 4);
			if (done != count_[core])
				break;
		}
	}
	broken_ = false;
}

void Chip::run(const Launch &l)
{
	launches_++;
	for (const CoreLaunch &c : l.cores)
		tell(c);
	for (const CoreLaunch &c : l.cores) {
		count_[c.core]++;
		put(c.core, METAL_LAUNCH + offsetof(MetalLaunch, go), &count_[c.core], 4);
	}
	await(l);
}

} // namespace tt::tt_metal::metal_emu
