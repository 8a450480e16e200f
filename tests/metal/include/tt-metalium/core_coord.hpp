// Our own mirror: cores, and rectangles of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tt_stl/span.hpp>
#include <umd/device/types/xy_pair.hpp>

namespace tt::tt_metal
{

using CoreCoord = tt_xy_pair;

class CoreRangeSet;

class CoreRange
{
      public:
	CoreCoord start_coord;
	CoreCoord end_coord;

	CoreRange(const CoreCoord &point);
	CoreRange(const CoreCoord &start_coord, const CoreCoord &end_coord);

	bool intersects(const CoreRange &other) const;
	bool contains(const CoreCoord &other) const;
	bool contains(const CoreRange &other) const;
	std::string str() const;
	size_t size() const;
	CoreCoord grid_size() const;
};

constexpr bool operator==(const CoreRange &a, const CoreRange &b)
{
	return a.start_coord == b.start_coord && a.end_coord == b.end_coord;
}
constexpr bool operator<(const CoreRange &left, const CoreRange &right)
{
	return left.start_coord < right.start_coord ||
	       (left.start_coord == right.start_coord && left.end_coord < right.end_coord);
}

class CoreRangeSet
{
      public:
	CoreRangeSet(ttsl::Span<const CoreRange> core_ranges);
	CoreRangeSet(const std::set<CoreRange> &core_ranges);
	CoreRangeSet(const CoreRange &core_range);
	CoreRangeSet(ttsl::Span<const CoreCoord> core_coords);
	CoreRangeSet() = default;
	CoreRangeSet(std::vector<CoreRange> &&core_ranges);

	bool empty() const;
	size_t size() const;
	bool contains(const CoreCoord &other) const;
	const std::vector<CoreRange> &ranges() const;
	std::string str() const;
	uint32_t num_cores() const;
	CoreRange bounding_box() const;

      private:
	std::vector<CoreRange> ranges_;
};

bool operator==(const CoreRangeSet &a, const CoreRangeSet &b);

std::vector<CoreCoord> corerange_to_cores(const CoreRangeSet &crs,
					  std::optional<uint32_t> max_cores = std::nullopt,
					  bool row_wise = false);

} // namespace tt::tt_metal
