// Queues do nothing until somebody waits for something, and then no more than that
// needs: what one queue does is late for the other unless an event says otherwise.
#include <cstring>
#include <set>

#include "tests/metal/host/mesh_impl.hpp"
#include "tests/metal/host/refuse.hpp"
#include <tt-metalium/distributed.hpp>

namespace tt::tt_metal::metal_emu
{

using namespace distributed;

void Queue::not_while_tracing(const char *what) const
{
	if (tracing_)
		refuse("%s while a trace is recorded", what);
	if (!mesh_device_->impl().open)
		refuse("%s on a device that was closed", what);
}

bool Queue::step()
{
	if (commands_.empty())
		return false;
	const std::function<void()> command = std::move(commands_.front());
	commands_.pop_front();
	command();
	return true;
}

void Queue::add(std::function<void()> command, bool blocking)
{
	commands_.push_back(std::move(command));
	if (blocking)
		finish({});
	else
		mesh_device_->impl().stir();
}

void Queue::finish(ttsl::Span<const SubDeviceId>)
{
	not_while_tracing("a wait");
	while (step())
		;
}

void Queue::reach(uint32_t event)
{
	while (reached_ < event)
		if (!step())
			refuse("event %u of queue %u is waited for before it is recorded", event,
			       id_);
}

// For each chip the program for it, as it is now.
static MeshLaunch launch_of(MeshWorkload &w, const MeshDevice &mesh)
{
	MeshLaunch l(mesh.num_devices());
	for (auto &[range, program] : w.get_programs())
		for (const MeshCoordinate &at : range) {
			std::optional<Launch> &one = l[at.to_linear_index(mesh.shape())];
			if (one)
				refuse("two programs of a workload for one device");
			one = program.impl().launch(mesh.impl().l1_lowest());
		}
	return l;
}

void Queue::enqueue_mesh_workload(MeshWorkload &mesh_workload, bool blocking)
{
	MeshDevice *mesh = mesh_device_;
	bool known = true;
	for (auto &[range, program] : mesh_workload.get_programs()) {
		known &= program.impl().sent;
		program.impl().sent = true;
	}
	auto launch = std::make_shared<MeshLaunch>(launch_of(mesh_workload, *mesh));
	if (tracing_) {
		if (blocking)
			refuse("a trace is recorded, nothing runs that could be waited for");
		if (!known)
			refuse("a program is recorded that never ran: its kernels would have to be "
			       "written");
		traced_.push_back(*launch);
		return;
	}
	add([mesh, launch] { mesh->impl().run(*launch); }, blocking);
}

// Bytes of one device, in the middle of a buffer.
struct Piece {
	MeshCoordinate at;
	uint64_t offset, bytes;
};

static Piece piece_of(const MeshBuffer &b, const ShardDataTransfer &t)
{
	const uint64_t offset = t.region() ? t.region()->offset : 0;
	return { t.shard_coord(), offset, t.region() ? t.region()->size : b.device_local_size() };
}

static const BufferState &state_of(const MeshBuffer &b)
{
	if (!b.is_allocated())
		refuse("a buffer that was given back");
	return BufferState::of(*b.get_reference_buffer());
}

void Queue::enqueue_write_shards(const std::shared_ptr<MeshBuffer> &mesh_buffer,
				 const std::vector<ShardDataTransfer> &shard_data_transfers,
				 bool blocking)
{
	not_while_tracing("a write");
	MeshDevice *mesh = mesh_device_;
	for (const ShardDataTransfer &t : shard_data_transfers) {
		const Piece p = piece_of(*mesh_buffer, t);
		const uint8_t *from = static_cast<const uint8_t *>(t.host_data());
		auto bytes = std::make_shared<std::vector<uint8_t>>(from, from + p.bytes);
		add(
			[=] {
				mesh->impl().chip(p.at).write(state_of(*mesh_buffer), bytes->data(),
							      p.offset, p.bytes);
			},
			false);
	}
	if (blocking)
		finish({});
}

void Queue::enqueue_read_shards(const std::vector<ShardDataTransfer> &shard_data_transfers,
				const std::shared_ptr<MeshBuffer> &mesh_buffer, bool blocking)
{
	not_while_tracing("a read");
	MeshDevice *mesh = mesh_device_;
	for (const ShardDataTransfer &t : shard_data_transfers) {
		const Piece p = piece_of(*mesh_buffer, t);
		uint8_t *to = static_cast<uint8_t *>(t.host_data());
		add(
			[=] {
				mesh->impl().chip(p.at).read(state_of(*mesh_buffer), to, p.offset,
							     p.bytes);
			},
			false);
	}
	if (blocking)
		finish({});
}

// What each device has of a buffer that is cut, by rows and columns of elements: whole
// rows of a shard, whose place in the whole is `at`.
template <typename Move>
static void each_shard_row(const MeshBuffer &b, const MeshCoordinate &device, Move move)
{
	const distributed::ShardedBufferConfig &s = b.global_shard_spec();
	const size_t width = s.global_buffer_shape.width(), height = s.global_buffer_shape.height();
	const size_t w = s.shard_shape.width() ? s.shard_shape.width() : width;
	const size_t h = s.shard_shape.height() ? s.shard_shape.height() : height;
	const size_t element = s.global_size / (width * height);
	const size_t across = width / w;
	const MeshShape &mesh = b.device()->shape();
	const bool by_rows = s.shard_orientation == ShardOrientation::ROW_MAJOR;
	const size_t index = device.to_linear_index(mesh);
	const size_t n = by_rows ? index : device[1] * mesh[0] + device[0];
	const size_t row = n / across * h, col = n % across * w;
	if (row + h > height)
		refuse("a device has no shard of a buffer that is cut");
	for (size_t r = 0; r < h; r++)
		move(r * w * element, ((row + r) * width + col) * element, w * element);
}

void Queue::enqueue_write_mesh_buffer(const std::shared_ptr<MeshBuffer> &buffer,
				      const void *host_data, bool blocking)
{
	const uint8_t *all = static_cast<const uint8_t *>(host_data);
	std::vector<uint8_t> part(buffer->device_local_size());
	for (const MeshCoordinate &at : MeshCoordinateRange(mesh_device_->shape())) {
		const uint8_t *from = all;
		if (buffer->global_layout() == MeshBufferLayout::SHARDED) {
			each_shard_row(*buffer, at, [&](size_t in_part, size_t in_all, size_t n) {
				memcpy(part.data() + in_part, all + in_all, n);
			});
			from = part.data();
		}
		ShardDataTransfer t(at);
		t.host_data(const_cast<uint8_t *>(from));
		enqueue_write_shards(buffer, { t }, false);
	}
	if (blocking)
		finish({});
}

void Queue::enqueue_read_mesh_buffer(void *host_data, const std::shared_ptr<MeshBuffer> &buffer,
				     bool blocking)
{
	not_while_tracing("a read");
	MeshDevice *mesh = mesh_device_;
	uint8_t *all = static_cast<uint8_t *>(host_data);
	const bool cut = buffer->global_layout() == MeshBufferLayout::SHARDED;
	if (!cut && mesh->num_devices() > 1)
		refuse("a replicated buffer of %zu devices is read as one", mesh->num_devices());
	for (const MeshCoordinate &at : MeshCoordinateRange(mesh->shape()))
		add(
			[=] {
				std::vector<uint8_t> part(buffer->device_local_size());
				mesh->impl().chip(at).read(state_of(*buffer), part.data(), 0,
							   part.size());
				if (!cut)
					memcpy(all, part.data(), part.size());
				else
					each_shard_row(
						*buffer, at,
						[&](size_t in_part, size_t in_all, size_t n) {
							memcpy(all + in_all, part.data() + in_part,
							       n);
						});
			},
			false);
	if (blocking)
		finish({});
}

MeshEvent Queue::record(bool to_host, const std::optional<MeshCoordinateRange> &range)
{
	not_while_tracing("an event");
	const uint32_t event = ++recorded_;
	if (to_host)
		for_host_.insert(event);
	add([this, event] { reached_ = event; }, false);
	return MeshEvent(event, *this, range.value_or(MeshCoordinateRange(mesh_device_->shape())));
}

MeshEvent Queue::enqueue_record_event(ttsl::Span<const SubDeviceId>,
				      const std::optional<MeshCoordinateRange> &device_range)
{
	return record(false, device_range);
}

MeshEvent
Queue::enqueue_record_event_to_host(ttsl::Span<const SubDeviceId>,
				    const std::optional<MeshCoordinateRange> &device_range)
{
	return record(true, device_range);
}

void Queue::enqueue_wait_for_event(const MeshEvent &sync_event)
{
	not_while_tracing("an event");
	Queue &other = *mesh_device_->impl().queues.at(sync_event.mesh_cq_id());
	const uint32_t event = sync_event.id();
	add([&other, event] { other.reach(event); }, false);
}

void Queue::enqueue_trace(const MeshTraceId &trace_id, bool blocking)
{
	not_while_tracing("another trace");
	MeshDevice *mesh = mesh_device_;
	const auto found = mesh->impl().traces.find(*trace_id);
	if (found == mesh->impl().traces.end())
		refuse("there is no trace %u", *trace_id);
	const std::vector<MeshLaunch> *launches = &found->second;
	add(
		[mesh, launches] {
			for (const MeshLaunch &l : *launches)
				mesh->impl().run(l);
		},
		blocking);
}

void Queue::record_begin(const MeshTraceId &id)
{
	not_while_tracing("another trace");
	tracing_ = id;
	traced_.clear();
}

std::vector<MeshLaunch> Queue::record_end()
{
	tracing_.reset();
	return std::move(traced_);
}

} // namespace tt::tt_metal::metal_emu
