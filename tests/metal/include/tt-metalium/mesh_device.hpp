// Our own mirror: devices in rows and columns that do the same.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hostdevcommon/common_values.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/dispatch_core_common.hpp>
#include <tt-metalium/hal_types.hpp>
#include <tt-metalium/mesh_config.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/mesh_trace_id.hpp>
#include <tt-metalium/sub_device_types.hpp>
#include <tt_stl/span.hpp>
#include <umd/device/types/arch.hpp>

namespace tt::tt_metal::distributed
{

class MeshCommandQueue;
class MeshDeviceImpl;

class MeshDevice : public std::enable_shared_from_this<MeshDevice>
{
      public:
	~MeshDevice();

	MeshDevice(const MeshDevice &) = delete;
	MeshDevice &operator=(const MeshDevice &) = delete;

	tt::ARCH arch() const;
	int id() const;
	uint8_t num_hw_cqs() const;
	int num_dram_channels() const;
	uint32_t l1_size_per_core() const;
	CoreCoord compute_with_storage_grid_size() const;
	CoreCoord worker_core_from_logical_core(const CoreCoord &logical_core) const;
	CoreCoord logical_core_from_dram_channel(uint32_t dram_channel) const;

	MeshTraceId begin_mesh_trace(MeshCommandQueue &cq);
	void begin_mesh_trace(MeshCommandQueue &cq, const MeshTraceId &trace_id);
	void end_mesh_trace(MeshCommandQueue &cq, const MeshTraceId &trace_id);
	void replay_mesh_trace(MeshCommandQueue &cq, const MeshTraceId &trace_id, bool blocking);
	void release_mesh_trace(const MeshTraceId &trace_id);

	bool close();

	size_t num_devices() const;
	size_t num_rows() const;
	size_t num_cols() const;
	const MeshShape &shape() const;

	MeshCommandQueue &mesh_command_queue(std::optional<uint8_t> cq_id = std::nullopt) const;

	static std::shared_ptr<MeshDevice>
	create(const MeshDeviceConfig &config, size_t l1_small_size = DEFAULT_L1_SMALL_SIZE,
	       size_t trace_region_size = DEFAULT_TRACE_REGION_SIZE, size_t num_command_queues = 1,
	       const DispatchCoreConfig &dispatch_core_config = DispatchCoreConfig{},
	       ttsl::Span<const std::uint32_t> l1_bank_remap = {},
	       size_t worker_l1_size = DEFAULT_WORKER_L1_SIZE);
	static std::shared_ptr<MeshDevice>
	create_unit_mesh(int device_id, size_t l1_small_size = DEFAULT_L1_SMALL_SIZE,
			 size_t trace_region_size = DEFAULT_TRACE_REGION_SIZE,
			 size_t num_command_queues = 1,
			 const DispatchCoreConfig &dispatch_core_config = DispatchCoreConfig{},
			 ttsl::Span<const std::uint32_t> l1_bank_remap = {},
			 size_t worker_l1_size = DEFAULT_WORKER_L1_SIZE);

	const MeshDeviceImpl &impl() const { return *pimpl_; }
	MeshDeviceImpl &impl() { return *pimpl_; }

      private:
	MeshDevice();
	std::unique_ptr<MeshDeviceImpl> pimpl_;
};

} // namespace tt::tt_metal::distributed
