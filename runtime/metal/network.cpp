#include "runtime/metal/network.hpp"

namespace tessera
{

/* ---- rows of lists ---- */

ZeroRow &ZeroRow::run(uint32_t at, uint32_t bytes)
{
	zero.at = at;
	zero.bytes = bytes;
	return *this;
}

ZeroRow &ZeroRow::times(uint32_t count, uint32_t step)
{
	zero.count = count;
	zero.step = step;
	return *this;
}

ZeroRow &ZeroRow::planes(uint32_t count, uint32_t step)
{
	zero.planes = count;
	zero.plane_step = step;
	return *this;
}

PushRow &PushRow::run(uint32_t from, uint32_t to_address, uint32_t bytes)
{
	rows.from = from;
	rows.to = to_address;
	rows.bytes = bytes;
	return *this;
}

PushRow &PushRow::also(unsigned cores_behind)
{
	more = cores_behind;
	return *this;
}

PushRow &PushRow::times(uint32_t runs, uint32_t step)
{
	return times(runs, step, step);
}

PushRow &PushRow::times(uint32_t runs, uint32_t from_step, uint32_t to_step)
{
	count = runs;
	rows.from_step = from_step;
	rows.to_step = to_step;
	return *this;
}

PushRow &PushRow::values(uint32_t from, uint32_t to_address)
{
	block = true;
	rows.values_from = from;
	rows.values_to = to_address;
	return *this;
}

MoveRow &MoveRow::dram(uint32_t bank, uint32_t at, uint32_t page_bytes, uint32_t added)
{
	move.how |= bank << TT_MOVE_BANK;
	move.at = at;
	move.page_bytes = page_bytes;
	along = added;
	return *this;
}

MoveRow &MoveRow::l1(uint32_t at, uint32_t bytes)
{
	move.l1 = at;
	move.bytes = bytes;
	return *this;
}

MoveRow &MoveRow::times(uint32_t count, uint32_t step)
{
	move.count = count;
	move.step = step;
	return *this;
}

/* ---- ops ---- */

Op::Op(Network &net, const char *name) : net_(net), name_(name)
{
	net_.programs_.emplace_back();
	program().name = name_;
}

ProgramSpec &Op::program()
{
	return net_.programs_.back();
}

unsigned Op::core_count() const
{
	return net_.cores;
}

void Op::kind(const char *kind, const char *source)
{
	kind_ = kind;
	source_ = source;
	program().name = name_ + " (" + kind_ + (source_.empty() ? "" : ", " + source_) + ")";
}

void Op::next()
{
	const std::string name = program().name;
	net_.programs_.emplace_back();
	program().name = name;
}

void Op::cb(unsigned id, uint32_t address, uint32_t page_bytes, uint32_t pages)
{
	program().cbs.push_back({ id, address, page_bytes, pages });
}

void Op::ready()
{
	program().ready = true;
}

void Op::done()
{
	program().done = true;
}

void Op::semaphores(unsigned count)
{
	program().semaphores = count;
}

void Op::kernel(KernelKind kind, std::initializer_list<Cores> cores, const char *stem,
		std::vector<Words> params)
{
	program().kernels.push_back({ kind, stem, cores, std::move(params) });
}

void Op::writer(std::initializer_list<Cores> cores, const char *stem)
{
	kernel(KernelKind::writer, cores, stem, {});
}

ZeroRow &Op::zero(Cores cores)
{
	ZeroRow row;
	row.cores = cores;
	return std::get<ZeroRow>(program().rows.emplace_back(row));
}

PushRow &Op::push(Cores cores, int to, int along)
{
	PushRow row;
	row.cores = cores;
	row.to = to;
	row.along = along;
	return std::get<PushRow>(program().rows.emplace_back(row));
}

MoveRow &Op::move(Cores cores, uint32_t how)
{
	MoveRow row;
	row.cores = cores;
	row.move.how = how;
	return std::get<MoveRow>(program().rows.emplace_back(row));
}

MoveRow &Op::read(Cores cores, TtMoveWhen when)
{
	return move(cores, when);
}

MoveRow &Op::write(Cores cores, TtMoveWhen when)
{
	return move(cores, static_cast<uint32_t>(when) | TT_MOVE_OUT);
}

/* ---- the net ---- */

void Network::grid(unsigned grid_cols, unsigned grid_rows, unsigned core_count)
{
	cols = grid_cols;
	rows = grid_rows;
	cores = core_count;
}

void Network::mesh(unsigned mesh_row_count, unsigned mesh_col_count)
{
	mesh_rows = mesh_row_count;
	mesh_cols = mesh_col_count;
}

void Network::l1_from(uint32_t address)
{
	l1 = address;
}

void Network::dram_bytes(uint32_t bytes)
{
	dram_bank_bytes = bytes;
}

void Network::arguments(uint32_t bytes)
{
	argument_bytes = bytes;
}

void Network::input(const char *name, TesseraType type, std::initializer_list<int64_t> shape)
{
	edge_ = &inputs.emplace_back(EdgeSpec{ name, type, shape, {} });
}

void Network::output(const char *name, TesseraType type, std::initializer_list<int64_t> shape)
{
	edge_ = &outputs.emplace_back(EdgeSpec{ name, type, shape, {} });
}

PartSpec &Network::part(const char *tensor, TtHost stored, std::initializer_list<int64_t> nchw,
			uint32_t page_bytes)
{
	PartSpec &p = edge_->parts.emplace_back();
	size_t i = 0;
	p.tensor = tensor;
	p.part.stored = stored;
	p.part.slot_bytes = page_bytes;
	p.part.page_bytes = TT_DRAM_BANKS * page_bytes;
	for (int64_t dim : nchw)
		p.part.nchw[i++] = dim;
	return p;
}

void Network::op(void (*describe)(Network &))
{
	steps.push_back({ describe, nullptr });
}

void Network::op(void (*describe)(Network &, unsigned slot))
{
	steps.push_back({ nullptr, describe });
}

uint32_t Network::input_at(const char *name, unsigned slot) const
{
	return places_->tensor(false, name, slot);
}

uint32_t Network::output_at(const char *name, unsigned slot) const
{
	return places_->tensor(true, name, slot);
}

std::vector<ProgramSpec> Network::describe(const Step &step, unsigned slot, const Places &places)
{
	programs_.clear();
	places_ = &places;
	if (step.once)
		step.once(*this);
	else
		step.each(*this, slot);
	places_ = nullptr;
	return std::move(programs_);
}

} // namespace tessera
