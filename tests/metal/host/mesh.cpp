// Meshes of devices, their buffers, workloads, events and traces.
#include <cstdlib>

#include "tests/metal/host/mesh_impl.hpp"
#include "tests/metal/host/refuse.hpp"
#include <tt-metalium/distributed.hpp>

namespace tt::tt_metal
{

size_t GetNumAvailableDevices()
{
	const char *told = getenv("TESSERA_METAL_CHIPS");
	return told ? strtoul(told, nullptr, 10) : 8;
}

size_t GetNumPCIeDevices()
{
	return GetNumAvailableDevices();
}

} // namespace tt::tt_metal

namespace tt::tt_metal::distributed
{

using metal_emu::BufferState;
using metal_emu::refuse;

MeshDeviceImpl::MeshDeviceImpl(MeshShape shape, std::vector<int> ids, size_t n, size_t l1_small,
			       size_t trace_region)
    : shape(shape), ids(std::move(ids))
{
	const char *seed = getenv("TESSERA_METAL_ORDER");
	if (n < 1 || n > MAX_NUM_HW_CQS)
		refuse("%zu command queues", n);
	for (int id : this->ids)
		if (id < 0 || static_cast<size_t>(id) >= GetNumAvailableDevices())
			refuse("there is no device %d", id);
	memory = std::make_shared<metal_emu::Memory>(metal_emu::Memory{
		{ metal_emu::DRAM_FIRST, TT_DRAM_BANK_BYTES - trace_region / TT_DRAM_BANKS },
		{ TT_USER, TT_L1_END - l1_small } });
	if (seed)
		order_.emplace(static_cast<unsigned>(strtoul(seed, nullptr, 10)));
}

metal_emu::Chip &MeshDeviceImpl::chip(const MeshCoordinate &at) const
{
	return chip(at.to_linear_index(shape));
}

void MeshDeviceImpl::run(const metal_emu::MeshLaunch &l) const
{
	for (size_t i = 0; i < l.size(); i++)
		if (l[i])
			chip(i).run(*l[i]);
}

void MeshDeviceImpl::stir()
{
	if (!order_)
		return;
	for (auto n = (*order_)() % 3; n; n--)
		queues[(*order_)() % queues.size()]->step();
}

MeshDevice::MeshDevice() = default;
MeshDevice::~MeshDevice() = default;

static MeshShape shape_of(const MeshDeviceConfig &c)
{
	return c.mesh_shape().value_or(
		MeshShape(1, static_cast<uint32_t>(GetNumAvailableDevices())));
}

std::shared_ptr<MeshDevice> MeshDevice::create(const MeshDeviceConfig &config, size_t l1_small_size,
					       size_t trace_region_size, size_t num_command_queues,
					       const DispatchCoreConfig &,
					       ttsl::Span<const std::uint32_t>, size_t)
{
	const MeshShape shape = shape_of(config);
	std::vector<int> ids = config.physical_device_ids();
	if (shape.dims() != 2)
		refuse("a mesh of %zu dimensions", shape.dims());
	for (size_t i = ids.size(); i < shape.mesh_size(); i++)
		ids.push_back(static_cast<int>(i));
	std::shared_ptr<MeshDevice> d(new MeshDevice);
	d->pimpl_ = std::make_unique<MeshDeviceImpl>(shape, ids, num_command_queues, l1_small_size,
						     trace_region_size);
	for (size_t i = 0; i < num_command_queues; i++)
		d->pimpl_->queues.push_back(
			std::make_unique<metal_emu::Queue>(d.get(), static_cast<uint32_t>(i)));
	for (size_t i = 0; i < ids.size(); i++)
		d->pimpl_->chip(i);
	return d;
}

std::shared_ptr<MeshDevice>
MeshDevice::create_unit_mesh(int device_id, size_t l1_small_size, size_t trace_region_size,
			     size_t num_command_queues,
			     const DispatchCoreConfig &dispatch_core_config,
			     ttsl::Span<const std::uint32_t> l1_bank_remap, size_t worker_l1_size)
{
	return create(MeshDeviceConfig(MeshShape(1, 1), std::nullopt, { device_id }), l1_small_size,
		      trace_region_size, num_command_queues, dispatch_core_config, l1_bank_remap,
		      worker_l1_size);
}

tt::ARCH MeshDevice::arch() const
{
	return tt::ARCH::WORMHOLE_B0;
}

int MeshDevice::id() const
{
	return pimpl_->ids[0];
}

uint8_t MeshDevice::num_hw_cqs() const
{
	return static_cast<uint8_t>(pimpl_->queues.size());
}

int MeshDevice::num_dram_channels() const
{
	return TT_DRAM_BANKS;
}

uint32_t MeshDevice::l1_size_per_core() const
{
	return TT_L1_END;
}

CoreCoord MeshDevice::compute_with_storage_grid_size() const
{
	return { METAL_GRID_COLS, METAL_GRID_ROWS };
}

CoreCoord MeshDevice::worker_core_from_logical_core(const CoreCoord &logical_core) const
{
	if (logical_core.x >= METAL_GRID_COLS || logical_core.y >= METAL_GRID_ROWS)
		refuse("there is no core %s", logical_core.str().c_str());
	return { TT_VIRTUAL + logical_core.x, TT_VIRTUAL + logical_core.y };
}

CoreCoord MeshDevice::logical_core_from_dram_channel(uint32_t dram_channel) const
{
	return { dram_channel, 0 };
}

static metal_emu::Queue &own(MeshDeviceImpl &d, const MeshCommandQueue &cq)
{
	if (&cq.device()->impl() != &d)
		refuse("a queue of another device");
	return *d.queues.at(cq.id());
}

MeshTraceId MeshDevice::begin_mesh_trace(MeshCommandQueue &cq)
{
	const MeshTraceId id(pimpl_->next_trace++);
	begin_mesh_trace(cq, id);
	return id;
}

void MeshDevice::begin_mesh_trace(MeshCommandQueue &cq, const MeshTraceId &trace_id)
{
	if (pimpl_->traces.contains(*trace_id))
		refuse("trace %u is there already", *trace_id);
	own(*pimpl_, cq).record_begin(trace_id);
}

void MeshDevice::end_mesh_trace(MeshCommandQueue &cq, const MeshTraceId &trace_id)
{
	metal_emu::Queue &q = own(*pimpl_, cq);
	if (q.trace_id() != trace_id)
		refuse("trace %u is not being recorded", *trace_id);
	pimpl_->traces[*trace_id] = q.record_end();
}

void MeshDevice::replay_mesh_trace(MeshCommandQueue &cq, const MeshTraceId &trace_id, bool blocking)
{
	own(*pimpl_, cq).enqueue_trace(trace_id, blocking);
}

void MeshDevice::release_mesh_trace(const MeshTraceId &trace_id)
{
	for (auto &q : pimpl_->queues)
		q->finish({});
	if (!pimpl_->traces.erase(*trace_id))
		refuse("there is no trace %u", *trace_id);
}

bool MeshDevice::close()
{
	if (!pimpl_ || !pimpl_->open)
		return true;
	for (auto &q : pimpl_->queues)
		while (q->step())
			;
	pimpl_->open = false;
	return true;
}

size_t MeshDevice::num_devices() const
{
	return pimpl_->ids.size();
}

size_t MeshDevice::num_rows() const
{
	return pimpl_->shape[0];
}

size_t MeshDevice::num_cols() const
{
	return pimpl_->shape[1];
}

const MeshShape &MeshDevice::shape() const
{
	return pimpl_->shape;
}

MeshCommandQueue &MeshDevice::mesh_command_queue(std::optional<uint8_t> cq_id) const
{
	const uint8_t id = cq_id.value_or(0);
	if (id >= pimpl_->queues.size())
		refuse("there is no command queue %u", id);
	return *pimpl_->queues[id];
}

static DeviceAddr local_size(const MeshBufferConfig &config, const MeshDevice &mesh)
{
	if (const auto *all = std::get_if<ReplicatedBufferConfig>(&config))
		return all->size;
	const distributed::ShardedBufferConfig &s =
		std::get<distributed::ShardedBufferConfig>(config);
	const size_t width = s.global_buffer_shape.width(), height = s.global_buffer_shape.height();
	const size_t w = s.shard_shape.width() ? s.shard_shape.width() : width;
	const size_t h = s.shard_shape.height() ? s.shard_shape.height() : height;
	if (!width || !height || s.global_size % (width * height) || width % w || height % h)
		refuse("%llu bytes of %zux%zu elements are not cut into %zux%zu",
		       static_cast<unsigned long long>(s.global_size), height, width, h, w);
	if (width / w * (height / h) > mesh.num_devices())
		refuse("%zu shards for %zu devices", width / w * (height / h), mesh.num_devices());
	return s.global_size / (width * height) * w * h;
}

MeshBuffer::MeshBuffer(const MeshBufferConfig &config, const DeviceLocalBufferConfig &local,
		       DeviceAddr device_local_size, MeshDevice *mesh_device,
		       std::shared_ptr<Buffer> buffer)
    : config_(config), device_local_config_(local), mesh_device_(mesh_device->shared_from_this()),
      address_(buffer->address()), device_local_size_(device_local_size), buffer_(std::move(buffer))
{
}

MeshBuffer::~MeshBuffer() = default;

std::shared_ptr<MeshBuffer> MeshBuffer::create(const MeshBufferConfig &mesh_buffer_config,
					       const DeviceLocalBufferConfig &device_local_config,
					       MeshDevice *mesh_device,
					       std::optional<DeviceAddr> address)
{
	auto state = std::make_unique<BufferState>();
	state->memory = mesh_device->impl().memory;
	state->size = local_size(mesh_buffer_config, *mesh_device);
	state->page_size = device_local_config.page_size;
	state->type = device_local_config.buffer_type;
	state->sharding = device_local_config.sharding_args;
	auto buffer = BufferState::create(std::move(state), address, device_local_config.bottom_up);
	for (size_t i = 0; i < mesh_device->num_devices(); i++)
		mesh_device->impl().chip(i).allow(BufferState::of(*buffer));
	const DeviceAddr size = buffer->size();
	return std::shared_ptr<MeshBuffer>(new MeshBuffer(mesh_buffer_config, device_local_config,
							  size, mesh_device, std::move(buffer)));
}

bool MeshBuffer::is_allocated() const
{
	return buffer_->is_allocated();
}

void MeshBuffer::deallocate()
{
	BufferState::of(*buffer_).release();
}

MeshDevice *MeshBuffer::device() const
{
	const auto d = mesh_device_.lock();
	if (!d)
		refuse("a buffer of a device that is gone");
	return d.get();
}

DeviceAddr MeshBuffer::size() const
{
	if (const auto *cut = std::get_if<distributed::ShardedBufferConfig>(&config_))
		return cut->global_size;
	return device_local_size_;
}

MeshBufferLayout MeshBuffer::global_layout() const
{
	return config_.index() == 0 ? MeshBufferLayout::REPLICATED : MeshBufferLayout::SHARDED;
}

const distributed::ShardedBufferConfig &MeshBuffer::global_shard_spec() const
{
	return std::get<distributed::ShardedBufferConfig>(config_);
}

Buffer *MeshBuffer::get_device_buffer(const MeshCoordinate &) const
{
	return buffer_.get();
}

Buffer *MeshBuffer::get_reference_buffer() const
{
	return buffer_.get();
}

Buffer *MeshBuffer::get_backing_buffer() const
{
	return buffer_.get();
}

MeshEvent::MeshEvent(uint32_t id, MeshCommandQueue &cq, const MeshCoordinateRange &device_range)
    : id_(id), device_(cq.device()), mesh_cq_id_(cq.id()), device_range_(device_range)
{
}

uint32_t MeshEvent::id() const
{
	return id_;
}

MeshDevice *MeshEvent::device() const
{
	return device_;
}

uint32_t MeshEvent::mesh_cq_id() const
{
	return mesh_cq_id_;
}

const MeshCoordinateRange &MeshEvent::device_range() const
{
	return device_range_;
}

MeshWorkload::MeshWorkload() = default;
MeshWorkload::~MeshWorkload() = default;
MeshWorkload::MeshWorkload(MeshWorkload &&other) noexcept = default;
MeshWorkload &MeshWorkload::operator=(MeshWorkload &&other) noexcept = default;

void MeshWorkload::add_program(const MeshCoordinateRange &device_range, Program &&program)
{
	if (!programs_.emplace(device_range, std::move(program)).second)
		refuse("two programs of a workload for one range of devices");
}

std::unordered_map<MeshCoordinateRange, Program> &MeshWorkload::get_programs()
{
	return programs_;
}

const std::unordered_map<MeshCoordinateRange, Program> &MeshWorkload::get_programs() const
{
	return programs_;
}

void EnqueueMeshWorkload(MeshCommandQueue &mesh_cq, MeshWorkload &mesh_workload, bool blocking)
{
	mesh_cq.enqueue_mesh_workload(mesh_workload, blocking);
}

static metal_emu::Queue &queue_of(const MeshEvent &event)
{
	metal_emu::Queue &q = *event.device()->impl().queues.at(event.mesh_cq_id());
	if (!q.is_for_host(event.id()))
		refuse("event %u was not recorded for the host, which waits for it", event.id());
	return q;
}

void EventSynchronize(const MeshEvent &event)
{
	queue_of(event).reach(event.id());
}

bool EventQuery(const MeshEvent &event)
{
	metal_emu::Queue &q = queue_of(event);
	q.step(); // who polls is not to wait for ever
	return q.has_reached(event.id());
}

void Synchronize(MeshDevice &device, ttsl::optional_reference<MeshCommandQueue> mesh_cq,
		 ttsl::Span<const SubDeviceId> sub_device_ids)
{
	for (auto &q : device.impl().queues)
		if (!mesh_cq || mesh_cq->id() == q->id())
			q->finish(sub_device_ids);
}

void Finish(MeshCommandQueue &mesh_cq, ttsl::Span<const SubDeviceId> sub_device_ids)
{
	mesh_cq.finish(sub_device_ids);
}

} // namespace tt::tt_metal::distributed
