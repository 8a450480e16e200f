// Our own mirror: kernels, circular buffers and semaphores that run together.
#pragma once

#include <memory>

namespace tt::tt_metal
{

namespace detail
{
class ProgramImpl;
}

class Program
{
      public:
	Program();
	~Program() noexcept;

	Program(const Program &other) = delete;
	Program &operator=(const Program &other) = delete;
	Program(Program &&other) noexcept;
	Program &operator=(Program &&other) noexcept;

	detail::ProgramImpl &impl() { return *internal_; }
	const detail::ProgramImpl &impl() const { return *internal_; }

      private:
	std::shared_ptr<detail::ProgramImpl> internal_;
};

} // namespace tt::tt_metal
