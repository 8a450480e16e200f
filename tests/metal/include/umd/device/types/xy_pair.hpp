// Our own mirror: a pair of coordinates.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace tt
{

struct xy_pair {
	constexpr xy_pair() = default;
	constexpr xy_pair(std::size_t x, std::size_t y) : x(x), y(y) {}

	std::size_t x = 0;
	std::size_t y = 0;

	std::string str() const;
};

constexpr bool operator==(const xy_pair &a, const xy_pair &b)
{
	return a.x == b.x && a.y == b.y;
}
constexpr bool operator!=(const xy_pair &a, const xy_pair &b)
{
	return !(a == b);
}
constexpr bool operator<(const xy_pair &left, const xy_pair &right)
{
	return left.x != right.x ? left.x < right.x : left.y < right.y;
}

} // namespace tt

using tt_xy_pair = tt::xy_pair;

namespace std
{
template <> struct hash<tt::xy_pair> {
	std::size_t operator()(tt::xy_pair const &o) const { return o.x * 1000003 ^ o.y; }
};
} // namespace std
