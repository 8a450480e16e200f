// Our own mirror: making programs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <variant>
#include <vector>

#include <hostdevcommon/common_values.hpp>
#include <tt-metalium/buffer.hpp>
#include <tt-metalium/circular_buffer_config.hpp>
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/device_types.hpp>
#include <tt-metalium/dispatch_core_common.hpp>
#include <tt-metalium/kernel_types.hpp>
#include <tt-metalium/program.hpp>
#include <tt-metalium/sub_device_types.hpp>
#include <tt_stl/span.hpp>

namespace tt::tt_metal
{

size_t GetNumAvailableDevices();
size_t GetNumPCIeDevices();

void SetRootDir(const std::string &root_dir);
Program CreateProgram();

KernelHandle CreateKernel(Program &program, const std::string &file_name,
			  const std::variant<CoreCoord, CoreRange, CoreRangeSet> &core_spec,
			  const std::variant<DataMovementConfig, ComputeConfig> &config);

CBHandle CreateCircularBuffer(Program &program,
			      const std::variant<CoreCoord, CoreRange, CoreRangeSet> &core_spec,
			      const CircularBufferConfig &config);

const CircularBufferConfig &GetCircularBufferConfig(Program &program, CBHandle cb_handle);

void UpdateDynamicCircularBufferAddress(Program &program, CBHandle cb_handle, const Buffer &buffer);
void UpdateDynamicCircularBufferAddress(Program &program, CBHandle cb_handle, const Buffer &buffer,
					uint32_t address_offset);

uint32_t CreateSemaphore(Program &program, const std::variant<CoreRange, CoreRangeSet> &core_spec,
			 uint32_t initial_value);

void SetRuntimeArgs(const Program &program, KernelHandle kernel,
		    const std::variant<CoreCoord, CoreRange, CoreRangeSet> &core_spec,
		    ttsl::Span<const uint32_t> runtime_args);
void SetRuntimeArgs(const Program &program, KernelHandle kernel,
		    const std::variant<CoreCoord, CoreRange, CoreRangeSet> &core_spec,
		    std::initializer_list<uint32_t> runtime_args);
void SetRuntimeArgs(const Program &program, KernelHandle kernel,
		    const std::vector<CoreCoord> &core_spec,
		    const std::vector<std::vector<uint32_t>> &runtime_args);

void SetCommonRuntimeArgs(const Program &program, KernelHandle kernel_id,
			  ttsl::Span<const uint32_t> runtime_args);
void SetCommonRuntimeArgs(const Program &program, KernelHandle kernel_id,
			  std::initializer_list<uint32_t> runtime_args);

} // namespace tt::tt_metal
