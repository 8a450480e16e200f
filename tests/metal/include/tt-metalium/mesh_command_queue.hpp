// Our own mirror: what the devices of a mesh are to do, in order.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <tt-metalium/buffer.hpp>
#include <tt-metalium/mesh_buffer.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_device.hpp>
#include <tt-metalium/mesh_event.hpp>
#include <tt-metalium/mesh_trace_id.hpp>
#include <tt-metalium/mesh_workload.hpp>
#include <tt-metalium/shard_data_transfer.hpp>
#include <tt-metalium/sub_device_types.hpp>
#include <tt_stl/span.hpp>

namespace tt::tt_metal::distributed
{

class MeshCommandQueue
{
      protected:
	MeshDevice *mesh_device_ = nullptr;
	uint32_t id_ = 0;

	MeshCommandQueue(MeshDevice *mesh_device, uint32_t id) : mesh_device_(mesh_device), id_(id)
	{
	}

      public:
	MeshCommandQueue(const MeshCommandQueue &other) = delete;
	MeshCommandQueue &operator=(const MeshCommandQueue &other) = delete;
	virtual ~MeshCommandQueue() = default;

	MeshDevice *device() const { return mesh_device_; }
	uint32_t id() const { return id_; }
	virtual std::optional<MeshTraceId> trace_id() const = 0;

	virtual void enqueue_mesh_workload(MeshWorkload &mesh_workload, bool blocking) = 0;
	virtual void enqueue_write_mesh_buffer(const std::shared_ptr<MeshBuffer> &buffer,
					       const void *host_data, bool blocking) = 0;
	virtual void
	enqueue_write_shards(const std::shared_ptr<MeshBuffer> &mesh_buffer,
			     const std::vector<ShardDataTransfer> &shard_data_transfers,
			     bool blocking) = 0;
	virtual void enqueue_read_mesh_buffer(void *host_data,
					      const std::shared_ptr<MeshBuffer> &buffer,
					      bool blocking) = 0;
	virtual void enqueue_read_shards(const std::vector<ShardDataTransfer> &shard_data_transfers,
					 const std::shared_ptr<MeshBuffer> &mesh_buffer,
					 bool blocking) = 0;

	virtual MeshEvent enqueue_record_event(
		ttsl::Span<const SubDeviceId> sub_device_ids = {},
		const std::optional<MeshCoordinateRange> &device_range = std::nullopt) = 0;
	virtual MeshEvent enqueue_record_event_to_host(
		ttsl::Span<const SubDeviceId> sub_device_ids = {},
		const std::optional<MeshCoordinateRange> &device_range = std::nullopt) = 0;
	virtual void enqueue_wait_for_event(const MeshEvent &sync_event) = 0;
	virtual void finish(ttsl::Span<const SubDeviceId> sub_device_ids = {}) = 0;
	virtual void enqueue_trace(const MeshTraceId &trace_id, bool blocking) = 0;
};

} // namespace tt::tt_metal::distributed
