// Our own mirror: a view of elements.
#pragma once

#include <cstddef>
#include <span>

namespace ttsl
{

template <typename T, std::size_t Extent = std::dynamic_extent> using Span = std::span<T, Extent>;

}
