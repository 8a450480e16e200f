// Our own mirror: queues and buffers of a mesh as functions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include <tt-metalium/buffer.hpp>
#include <tt-metalium/mesh_buffer.hpp>
#include <tt-metalium/mesh_command_queue.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_event.hpp>
#include <tt-metalium/mesh_trace_id.hpp>
#include <tt-metalium/mesh_workload.hpp>
#include <tt_stl/optional_reference.hpp>
#include <tt_stl/span.hpp>

namespace tt::tt_metal::distributed
{

void EnqueueMeshWorkload(MeshCommandQueue &mesh_cq, MeshWorkload &mesh_workload, bool blocking);

template <typename DType>
void WriteShard(MeshCommandQueue &mesh_cq, const std::shared_ptr<MeshBuffer> &mesh_buffer,
		std::vector<DType> &src, const MeshCoordinate &coord, bool blocking = false)
{
	mesh_cq.enqueue_write_shards(
		mesh_buffer, { ShardDataTransfer{ coord }.host_data(src.data()) }, blocking);
}

template <typename DType>
void ReadShard(MeshCommandQueue &mesh_cq, std::vector<DType> &dst,
	       const std::shared_ptr<MeshBuffer> &mesh_buffer, const MeshCoordinate &coord,
	       bool blocking = true)
{
	dst.resize(mesh_buffer->device_local_size() / sizeof(DType));
	mesh_cq.enqueue_read_shards({ ShardDataTransfer{ coord }.host_data(dst.data()) },
				    mesh_buffer, blocking);
}

template <typename DType>
void EnqueueWriteMeshBuffer(MeshCommandQueue &mesh_cq, std::shared_ptr<MeshBuffer> &mesh_buffer,
			    const std::vector<DType> &src, bool blocking = false)
{
	if (src.size() * sizeof(DType) < mesh_buffer->size())
		throw std::runtime_error("a source is smaller than its mesh buffer");
	mesh_cq.enqueue_write_mesh_buffer(mesh_buffer, src.data(), blocking);
}

template <typename DType>
void EnqueueReadMeshBuffer(MeshCommandQueue &mesh_cq, std::vector<DType> &dst,
			   std::shared_ptr<MeshBuffer> &mesh_buffer, bool blocking = true)
{
	dst.resize(mesh_buffer->size() / sizeof(DType));
	mesh_cq.enqueue_read_mesh_buffer(dst.data(), mesh_buffer, blocking);
}

void EventSynchronize(const MeshEvent &event);
bool EventQuery(const MeshEvent &event);
void Synchronize(MeshDevice &device, ttsl::optional_reference<MeshCommandQueue> mesh_cq,
		 ttsl::Span<const SubDeviceId> sub_device_ids = {});
void Finish(MeshCommandQueue &mesh_cq, ttsl::Span<const SubDeviceId> sub_device_ids = {});

} // namespace tt::tt_metal::distributed
