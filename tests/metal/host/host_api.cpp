// The functions of host_api.hpp, circular buffer configurations, programs as objects.
#include <tt-metalium/host_api.hpp>

#include "tests/metal/host/program_impl.hpp"
#include "tests/metal/host/refuse.hpp"

namespace tt::tt_metal
{

using metal_emu::cores_of;
using metal_emu::refuse;

Program::Program() : internal_(std::make_shared<detail::ProgramImpl>()) {}
Program::~Program() noexcept = default;
Program::Program(Program &&other) noexcept = default;
Program &Program::operator=(Program &&other) noexcept = default;

void SetRootDir(const std::string &)
{
}

Program CreateProgram()
{
	return {};
}

KernelHandle CreateKernel(Program &program, const std::string &file_name,
			  const std::variant<CoreCoord, CoreRange, CoreRangeSet> &core_spec,
			  const std::variant<DataMovementConfig, ComputeConfig> &config)
{
	detail::ProgramImpl::Kernel k;
	k.file = file_name;
	k.cores = cores_of(core_spec);
	k.config = config;
	return program.impl().add(std::move(k));
}

CBHandle CreateCircularBuffer(Program &program,
			      const std::variant<CoreCoord, CoreRange, CoreRangeSet> &core_spec,
			      const CircularBufferConfig &config)
{
	return program.impl().add(
		detail::ProgramImpl::CircularBuffer{ cores_of(core_spec), config });
}

const CircularBufferConfig &GetCircularBufferConfig(Program &program, CBHandle cb_handle)
{
	return program.impl().cb(cb_handle).config;
}

void UpdateDynamicCircularBufferAddress(Program &program, CBHandle cb_handle, const Buffer &buffer)
{
	UpdateDynamicCircularBufferAddress(program, cb_handle, buffer, 0);
}

void UpdateDynamicCircularBufferAddress(Program &program, CBHandle cb_handle, const Buffer &buffer,
					uint32_t address_offset)
{
	CircularBufferConfig &config = program.impl().cb(cb_handle).config;
	if (address_offset % CIRCULAR_BUFFER_COMPUTE_WORD_SIZE)
		refuse("a circular buffer %u bytes into a buffer: no multiple of 16",
		       address_offset);
	if (address_offset + config.total_size() > buffer.aligned_size_per_bank())
		refuse("a circular buffer of %u bytes, %u bytes into one of %llu",
		       config.total_size(), address_offset,
		       static_cast<unsigned long long>(buffer.aligned_size_per_bank()));
	config.set_globally_allocated_address(buffer);
	config.set_address_offset(address_offset);
}

uint32_t CreateSemaphore(Program &program, const std::variant<CoreRange, CoreRangeSet> &core_spec,
			 uint32_t initial_value)
{
	const metal_emu::CoreSpec spec =
		std::visit([](const auto &s) { return metal_emu::CoreSpec(s); }, core_spec);
	return program.impl().add_semaphore(cores_of(spec), initial_value);
}

static detail::ProgramImpl &changed(const Program &program)
{
	return const_cast<Program &>(program).impl();
}

void SetRuntimeArgs(const Program &program, KernelHandle kernel,
		    const std::variant<CoreCoord, CoreRange, CoreRangeSet> &core_spec,
		    ttsl::Span<const uint32_t> runtime_args)
{
	changed(program).set_args(kernel, cores_of(core_spec), runtime_args);
}

void SetRuntimeArgs(const Program &program, KernelHandle kernel,
		    const std::variant<CoreCoord, CoreRange, CoreRangeSet> &core_spec,
		    std::initializer_list<uint32_t> runtime_args)
{
	SetRuntimeArgs(program, kernel, core_spec,
		       ttsl::Span<const uint32_t>(runtime_args.begin(), runtime_args.size()));
}

void SetRuntimeArgs(const Program &program, KernelHandle kernel,
		    const std::vector<CoreCoord> &core_spec,
		    const std::vector<std::vector<uint32_t>> &runtime_args)
{
	if (core_spec.size() != runtime_args.size())
		refuse("arguments for %zu cores, of %zu", runtime_args.size(), core_spec.size());
	for (size_t i = 0; i < core_spec.size(); i++)
		SetRuntimeArgs(program, kernel, core_spec[i], runtime_args[i]);
}

void SetCommonRuntimeArgs(const Program &program, KernelHandle kernel_id,
			  ttsl::Span<const uint32_t> runtime_args)
{
	changed(program).set_common(kernel_id, runtime_args);
}

void SetCommonRuntimeArgs(const Program &program, KernelHandle kernel_id,
			  std::initializer_list<uint32_t> runtime_args)
{
	SetCommonRuntimeArgs(program, kernel_id,
			     ttsl::Span<const uint32_t>(runtime_args.begin(), runtime_args.size()));
}

CircularBufferConfig::CircularBufferConfig(
	uint32_t total_size, const std::map<uint8_t, tt::DataFormat> &data_format_spec)
    : total_size_(total_size)
{
	set_config(data_format_spec);
}

CircularBufferConfig::CircularBufferConfig(uint32_t total_size) : total_size_(total_size) {}

CircularBufferConfig::CircularBufferConfig(
	uint32_t total_size, const std::map<uint8_t, tt::DataFormat> &data_format_spec,
	const Buffer &buffer)
    : CircularBufferConfig(total_size, data_format_spec)
{
	set_globally_allocated_address(buffer);
}

void CircularBufferConfig::set_config(const std::map<uint8_t, tt::DataFormat> &data_format_spec)
{
	for (const auto &[index, format] : data_format_spec) {
		if (index >= NUM_CIRCULAR_BUFFERS)
			refuse("circular buffer %u of %u", index, NUM_CIRCULAR_BUFFERS);
		data_formats_[index] = format;
		buffer_indices_.insert(index);
	}
	if (total_size_ == 0)
		refuse("a circular buffer without bytes");
}

CircularBufferConfig &CircularBufferConfig::set_page_size(uint8_t buffer_index, uint32_t page_size)
{
	if (!buffer_indices_.contains(buffer_index))
		refuse("a page size for circular buffer %u, which has no format", buffer_index);
	if (page_size == 0 || total_size_ % page_size || page_size % sizeof(uint32_t))
		refuse("circular buffer %u: %u bytes are no whole pages of %u", buffer_index,
		       total_size_, page_size);
	page_sizes_[buffer_index] = page_size;
	return *this;
}

CircularBufferConfig &CircularBufferConfig::set_total_size(uint32_t total_size)
{
	total_size_ = total_size;
	return *this;
}

CircularBufferConfig &CircularBufferConfig::set_globally_allocated_address(const Buffer &buffer)
{
	return set_globally_allocated_address_and_total_size(buffer, total_size_);
}

CircularBufferConfig &
CircularBufferConfig::set_globally_allocated_address_and_total_size(const Buffer &buffer,
								    uint32_t total_size)
{
	if (!buffer.is_l1())
		refuse("a circular buffer on a buffer in DRAM");
	if (total_size > buffer.aligned_size_per_bank())
		refuse("a circular buffer of %u bytes on a buffer of %llu", total_size,
		       static_cast<unsigned long long>(buffer.aligned_size_per_bank()));
	globally_allocated_address_ = buffer.address();
	shadow_global_buffer = &buffer;
	total_size_ = total_size;
	return *this;
}

uint32_t CircularBufferConfig::total_size() const
{
	return total_size_;
}

std::optional<uint32_t> CircularBufferConfig::globally_allocated_address() const
{
	return globally_allocated_address_;
}

const std::unordered_set<uint8_t> &CircularBufferConfig::buffer_indices() const
{
	return buffer_indices_;
}

const std::array<std::optional<tt::DataFormat>, NUM_CIRCULAR_BUFFERS> &
CircularBufferConfig::data_formats() const
{
	return data_formats_;
}

const std::array<std::optional<uint32_t>, NUM_CIRCULAR_BUFFERS> &
CircularBufferConfig::page_sizes() const
{
	return page_sizes_;
}

uint32_t CircularBufferConfig::address_offset() const
{
	return address_offset_;
}

void CircularBufferConfig::set_address_offset(uint32_t offset)
{
	address_offset_ = offset;
}

} // namespace tt::tt_metal
