// Our own mirror: a point in what a queue does.
#pragma once

#include <cstdint>

#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_device.hpp>

namespace tt::tt_metal::distributed
{

class MeshCommandQueue;

class MeshEvent
{
      public:
	MeshEvent(uint32_t id, MeshCommandQueue &cq, const MeshCoordinateRange &device_range);

	uint32_t id() const;
	MeshDevice *device() const;
	uint32_t mesh_cq_id() const;
	const MeshCoordinateRange &device_range() const;

      private:
	uint32_t id_ = 0;
	MeshDevice *device_ = nullptr;
	uint32_t mesh_cq_id_ = 0;
	MeshCoordinateRange device_range_;
};

} // namespace tt::tt_metal::distributed
