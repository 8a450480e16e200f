// Our own mirror: a circular buffer as a program is told of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_set>

#include <tt-metalium/buffer.hpp>
#include <tt-metalium/tt_backend_api_types.hpp>

constexpr static std::uint32_t NUM_CIRCULAR_BUFFERS = 32;
constexpr static std::uint32_t CIRCULAR_BUFFER_COMPUTE_WORD_SIZE = 16;

namespace tt::tt_metal
{

using CBHandle = uintptr_t;

class CircularBufferConfig
{
      public:
	CircularBufferConfig(uint32_t total_size,
			     const std::map<uint8_t, tt::DataFormat> &data_format_spec);
	CircularBufferConfig(uint32_t total_size);
	CircularBufferConfig(uint32_t total_size,
			     const std::map<uint8_t, tt::DataFormat> &data_format_spec,
			     const Buffer &buffer);

	CircularBufferConfig &set_page_size(uint8_t buffer_index, uint32_t page_size);
	CircularBufferConfig &set_total_size(uint32_t total_size);
	CircularBufferConfig &set_globally_allocated_address(const Buffer &buffer);
	CircularBufferConfig &set_globally_allocated_address_and_total_size(const Buffer &buffer,
									    uint32_t total_size);

	uint32_t total_size() const;
	std::optional<uint32_t> globally_allocated_address() const;
	const std::unordered_set<uint8_t> &buffer_indices() const;
	const std::array<std::optional<tt::DataFormat>, NUM_CIRCULAR_BUFFERS> &data_formats() const;
	const std::array<std::optional<uint32_t>, NUM_CIRCULAR_BUFFERS> &page_sizes() const;
	uint32_t address_offset() const;
	void set_address_offset(uint32_t offset);

	const Buffer *shadow_global_buffer{ nullptr };

      private:
	void set_config(const std::map<uint8_t, tt::DataFormat> &data_format_spec);

	uint32_t total_size_ = 0;
	std::optional<uint32_t> globally_allocated_address_;
	std::array<std::optional<tt::DataFormat>, NUM_CIRCULAR_BUFFERS> data_formats_;
	std::array<std::optional<uint32_t>, NUM_CIRCULAR_BUFFERS> page_sizes_;
	std::unordered_set<uint8_t> buffer_indices_;
	uint32_t address_offset_ = 0;
};

} // namespace tt::tt_metal
