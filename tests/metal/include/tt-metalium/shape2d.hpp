// Our own mirror: rows and columns.
#pragma once

#include <cstddef>
#include <utility>

namespace tt::tt_metal
{

class Shape2D final
{
      public:
	Shape2D(std::size_t height, std::size_t width);
	Shape2D(const std::pair<std::size_t, std::size_t> &size);

	bool operator==(const Shape2D &rhs) const;
	std::size_t height() const;
	std::size_t width() const;

      private:
	std::size_t height_ = 0;
	std::size_t width_ = 0;
};

} // namespace tt::tt_metal
