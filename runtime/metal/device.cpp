#include "runtime/metal/device.hpp"

#include <stdexcept>

#include <tt-metalium/mesh_config.hpp>

#include "runtime/metal/program.hpp"

namespace tessera
{

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

namespace
{

std::string range(uint64_t first, uint64_t end)
{
	return "bytes " + std::to_string(first) + " to " + std::to_string(end);
}

/* What a trace of each slot takes: the arguments it sends, and commands for each program. */
size_t trace_region(const Network &net, const TesseraMetalOptions &o)
{
	constexpr size_t commands = 32 * 1024, least = 4 << 20;
	if (!o.trace || o.trace_bytes)
		return o.trace ? o.trace_bytes : 0;
	return static_cast<size_t>(o.slots) *
	       (2 * net.argument_bytes + net.steps.size() * commands + least);
}

void check(const Network &net, const MeshDevice &mesh)
{
	const CoreCoord grid = mesh.compute_with_storage_grid_size();
	const int banks = mesh.num_dram_channels(); /* views, two of each channel */
	if (mesh.arch() != tt::ARCH::WORMHOLE_B0)
		throw std::runtime_error("the device is no Wormhole, which these kernels are for");
	if (grid.x < net.cols || grid.y < net.rows)
		throw std::runtime_error("the net is made for " + std::to_string(net.cols) + "x" +
					 std::to_string(net.rows) + " cores, the device has " +
					 std::to_string(grid.x) + "x" + std::to_string(grid.y) +
					 ": compile it for another target");
	if (banks != TT_DRAM_BANKS)
		throw std::runtime_error("the device has " + std::to_string(banks) +
					 " banks of DRAM, the net counts on " +
					 std::to_string(TT_DRAM_BANKS));
}

} // namespace

std::shared_ptr<MeshDevice> open_device(const Network &net, const TesseraMetalOptions &o)
{
	const auto rows =
		static_cast<uint32_t>(o.mesh_rows ? o.mesh_rows : static_cast<int>(net.mesh_rows));
	const auto cols =
		static_cast<uint32_t>(o.mesh_cols ? o.mesh_cols : static_cast<int>(net.mesh_cols));
	const DispatchCoreConfig dispatch(o.ethernet_dispatch ? DispatchCoreType::ETH
							      : DispatchCoreType::WORKER);
	const size_t trace = trace_region(net, o);
	const auto queues = static_cast<size_t>(o.queues);
	std::shared_ptr<MeshDevice> mesh =
		rows * cols == 1
			? MeshDevice::create_unit_mesh(o.device, DEFAULT_L1_SMALL_SIZE, trace,
						       queues, dispatch)
			: MeshDevice::create(MeshDeviceConfig(MeshShape(rows, cols)),
					     DEFAULT_L1_SMALL_SIZE, trace, queues, dispatch);
	try {
		check(net, *mesh);
	} catch (...) {
		mesh->close();
		throw;
	}
	return mesh;
}

Device::Device(const Network &net, std::shared_ptr<MeshDevice> mesh, const Weights &weights,
	       unsigned slots)
    : mesh_(std::move(mesh)), file_(weights)
{
	reserve_l1(net);
	if (net.dram_bank_bytes)
		dram_ = in_dram(static_cast<uint64_t>(net.dram_bank_bytes) * TT_DRAM_BANKS,
				net.dram_bank_bytes);
	upload_weights();
	add_tensors(net.inputs, false, slots);
	add_tensors(net.outputs, true, slots);
}

/* Addresses of the plan hold as they are if the region ends where L1 does. */
void Device::reserve_l1(const Network &net)
{
	const uint32_t bytes = TT_L1_END - net.l1;
	const CoreRangeSet cores = core_ranges(net, { { 0, net.cores - 1 } });
	const ShardSpecBuffer shards(cores, { 1, bytes }, ShardOrientation::ROW_MAJOR, { 1, bytes },
				     { net.cores, 1 });
	DeviceLocalBufferConfig config;
	config.page_size = bytes;
	config.buffer_type = BufferType::L1;
	config.sharding_args = BufferShardingArgs(shards, TensorMemoryLayout::HEIGHT_SHARDED);
	config.bottom_up = false;
	const uint64_t all = static_cast<uint64_t>(net.cores) * bytes;
	const std::string wanted = "the net wants " + range(net.l1, TT_L1_END) + " of L1";
	try {
		arena_ = MeshBuffer::create(ReplicatedBufferConfig{ .size = all }, config,
					    mesh_.get());
	} catch (const std::exception &e) {
		throw std::runtime_error(wanted + ", which TT-Metal does not give: " + e.what());
	}
	if (arena_->address() != net.l1)
		throw std::runtime_error(wanted + ", TT-Metal gives " +
					 range(arena_->address(), arena_->address() + bytes));
	const std::vector<uint8_t> zeros(all);
	mesh_->mesh_command_queue(0).enqueue_write_mesh_buffer(arena_, zeros.data(), true);
}

/* A page in each bank in turn, the same on every device. */
MeshBuffers Device::in_dram(uint64_t bytes, uint32_t page_bytes)
{
	DeviceLocalBufferConfig config;
	config.page_size = page_bytes;
	config.buffer_type = BufferType::DRAM;
	MeshBuffers buffer =
		MeshBuffer::create(ReplicatedBufferConfig{ .size = bytes }, config, mesh_.get());
	if (buffer->get_reference_buffer()->aligned_page_size() != page_bytes)
		throw std::runtime_error("pages of " + std::to_string(page_bytes) +
					 " bytes do not follow each other in DRAM");
	return buffer;
}

void Device::upload_weights()
{
	if (!file_.bytes())
		return;
	weights_ = in_dram(file_.bytes(), file_.page_bytes());
	mesh_->mesh_command_queue(0).enqueue_write_mesh_buffer(weights_, file_.pages(), true);
}

void Device::add_tensors(const std::vector<EdgeSpec> &edges, bool output, unsigned slots)
{
	for (const EdgeSpec &edge : edges)
		for (const PartSpec &part : edge.parts) {
			std::vector<MeshBuffers> &buffers = tensors_[{ output, part.tensor }];
			while (buffers.size() < slots)
				buffers.push_back(in_dram(part.pages() * part.page_bytes(),
							  part.page_bytes()));
		}
}

const MeshBuffers &Device::buffer(bool output, const std::string &name, unsigned slot) const
{
	return tensors_.at({ output, name }).at(slot);
}

uint32_t Device::node(unsigned col, unsigned row) const
{
	const CoreCoord at = mesh_->worker_core_from_logical_core(CoreCoord(col, row));
	return TT_NODE(at.x, at.y);
}

uint32_t Device::weights(const std::string &name) const
{
	return static_cast<uint32_t>(weights_->address()) + file_.at(name);
}

uint32_t Device::dram() const
{
	return static_cast<uint32_t>(dram_->address());
}

uint32_t Device::tensor(bool output, const std::string &name, unsigned slot) const
{
	return static_cast<uint32_t>(buffer(output, name, slot)->address());
}

} // namespace tessera
