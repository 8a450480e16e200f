#include "tests/metal/dirty.hpp"

#include <vector>

#include <tt-metalium/distributed.hpp>
#include <tt-metalium/host_api.hpp>

using namespace tt::tt_metal;
using namespace tt::tt_metal::distributed;

enum { CORES = 64, ARENA = 1499136 - 105664, PAGE = 2048, BANKS = 12, BANK = 1 << 20 };

static void fill(MeshDevice *d, std::shared_ptr<MeshBuffer> buffer)
{
	std::vector<uint8_t> bytes(buffer->size());
	for (size_t i = 0; i < bytes.size(); i++)
		bytes[i] = static_cast<uint8_t>(i * 37 + (i >> 8) * 101 + 1);
	EnqueueWriteMeshBuffer(d->mesh_command_queue(), buffer, bytes, true);
}

// Something in every byte of L1 that programs may use.
static std::shared_ptr<MeshBuffer> filled_l1(MeshDevice *d)
{
	const ShardSpecBuffer shards(CoreRangeSet(CoreRange({ 0, 0 }, { 7, 7 })), { 1, ARENA },
				     ShardOrientation::ROW_MAJOR, { 1, ARENA }, { CORES, 1 });
	DeviceLocalBufferConfig local;
	local.page_size = ARENA;
	local.buffer_type = BufferType::L1;
	local.sharding_args = BufferShardingArgs(shards, TensorMemoryLayout::HEIGHT_SHARDED);
	auto all = MeshBuffer::create(ReplicatedBufferConfig{ .size = uint64_t(CORES) * ARENA },
				      local, d);
	fill(d, all);
	return all;
}

// And in the first bytes of each bank of DRAM.
static void fill_dram(MeshDevice *d)
{
	DeviceLocalBufferConfig local;
	local.page_size = BANK;
	local.buffer_type = BufferType::DRAM;
	fill(d, MeshBuffer::create(ReplicatedBufferConfig{ .size = uint64_t(BANKS) * BANK }, local,
				   d));
}

void run_dirty()
{
	const CoreRange cores({ 0, 0 }, { 7, 7 });
	auto d = MeshDevice::create_unit_mesh(0);
	auto l1 = filled_l1(d.get());
	fill_dram(d.get());
	Program p = CreateProgram();
	for (uint8_t cb : { 0, 1, 30, 31 }) {
		CircularBufferConfig c(2 * PAGE, { { cb, tt::DataFormat::Float16_b } });
		c.set_page_size(cb, PAGE).set_globally_allocated_address(*l1->get_backing_buffer());
		c.set_address_offset(PAGE * 2 * (cb + 1));
		CreateCircularBuffer(p, cores, c);
	}
	CreateKernel(p, METAL_ROOT "/tests/metal/kernels/dirty.cpp", cores, ComputeConfig{});
	MeshWorkload w;
	w.add_program(MeshCoordinateRange(d->shape()), std::move(p));
	EnqueueMeshWorkload(d->mesh_command_queue(), w, true);
	d->close();
}
