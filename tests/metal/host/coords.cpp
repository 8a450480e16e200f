// Cores, rectangles of them, places in a mesh.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <stdexcept>

#include "tests/metal/host/refuse.hpp"
#include <tt-metalium/core_coord.hpp>
#include <tt-metalium/mesh_coord.hpp>
#include <tt-metalium/shape2d.hpp>

namespace tt
{

std::string xy_pair::str() const
{
	return "(" + std::to_string(x) + "," + std::to_string(y) + ")";
}

} // namespace tt

namespace tt::tt_metal
{

void metal_emu::refuse(const char *format, ...)
{
	char text[8192];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof text, format, ap);
	va_end(ap);
	throw std::runtime_error(text);
}

CoreRange::CoreRange(const CoreCoord &point) : start_coord(point), end_coord(point) {}

CoreRange::CoreRange(const CoreCoord &start_coord, const CoreCoord &end_coord)
    : start_coord(start_coord), end_coord(end_coord)
{
	if (end_coord.x < start_coord.x || end_coord.y < start_coord.y)
		metal_emu::refuse("a range of cores from %s to %s", start_coord.str().c_str(),
				  end_coord.str().c_str());
}

bool CoreRange::intersects(const CoreRange &other) const
{
	return start_coord.x <= other.end_coord.x && other.start_coord.x <= end_coord.x &&
	       start_coord.y <= other.end_coord.y && other.start_coord.y <= end_coord.y;
}

bool CoreRange::contains(const CoreCoord &other) const
{
	return start_coord.x <= other.x && other.x <= end_coord.x && start_coord.y <= other.y &&
	       other.y <= end_coord.y;
}

bool CoreRange::contains(const CoreRange &other) const
{
	return contains(other.start_coord) && contains(other.end_coord);
}

std::string CoreRange::str() const
{
	return "[" + start_coord.str() + "-" + end_coord.str() + "]";
}

CoreCoord CoreRange::grid_size() const
{
	return { end_coord.x - start_coord.x + 1, end_coord.y - start_coord.y + 1 };
}

size_t CoreRange::size() const
{
	return grid_size().x * grid_size().y;
}

CoreRangeSet::CoreRangeSet(std::vector<CoreRange> &&core_ranges) : ranges_(std::move(core_ranges))
{
	for (size_t i = 0; i < ranges_.size(); i++)
		for (size_t k = 0; k < i; k++)
			if (ranges_[i].intersects(ranges_[k]))
				metal_emu::refuse("ranges of cores %s and %s overlap",
						  ranges_[k].str().c_str(),
						  ranges_[i].str().c_str());
}

CoreRangeSet::CoreRangeSet(ttsl::Span<const CoreRange> core_ranges)
    : CoreRangeSet(std::vector<CoreRange>(core_ranges.begin(), core_ranges.end()))
{
}

CoreRangeSet::CoreRangeSet(const std::set<CoreRange> &core_ranges)
    : CoreRangeSet(std::vector<CoreRange>(core_ranges.begin(), core_ranges.end()))
{
}

CoreRangeSet::CoreRangeSet(const CoreRange &core_range) : ranges_{ core_range } {}

CoreRangeSet::CoreRangeSet(ttsl::Span<const CoreCoord> core_coords)
    : CoreRangeSet(std::vector<CoreRange>(core_coords.begin(), core_coords.end()))
{
}

bool CoreRangeSet::empty() const
{
	return ranges_.empty();
}

size_t CoreRangeSet::size() const
{
	return ranges_.size();
}

bool CoreRangeSet::contains(const CoreCoord &other) const
{
	return std::any_of(ranges_.begin(), ranges_.end(),
			   [&](const CoreRange &r) { return r.contains(other); });
}

const std::vector<CoreRange> &CoreRangeSet::ranges() const
{
	return ranges_;
}

std::string CoreRangeSet::str() const
{
	std::string all = "{";
	for (const CoreRange &r : ranges_)
		all += r.str();
	return all + "}";
}

uint32_t CoreRangeSet::num_cores() const
{
	size_t n = 0;
	for (const CoreRange &r : ranges_)
		n += r.size();
	return static_cast<uint32_t>(n);
}

CoreRange CoreRangeSet::bounding_box() const
{
	if (ranges_.empty())
		metal_emu::refuse("no cores, no box around them");
	CoreRange box = ranges_[0];
	for (const CoreRange &r : ranges_) {
		box.start_coord.x = std::min(box.start_coord.x, r.start_coord.x);
		box.start_coord.y = std::min(box.start_coord.y, r.start_coord.y);
		box.end_coord.x = std::max(box.end_coord.x, r.end_coord.x);
		box.end_coord.y = std::max(box.end_coord.y, r.end_coord.y);
	}
	return box;
}

bool operator==(const CoreRangeSet &a, const CoreRangeSet &b)
{
	return a.ranges() == b.ranges();
}

std::vector<CoreCoord> corerange_to_cores(const CoreRangeSet &crs,
					  std::optional<uint32_t> max_cores, bool row_wise)
{
	std::vector<CoreCoord> all;
	for (const CoreRange &r : crs.ranges())
		for (size_t i = 0; i < r.size(); i++) {
			const size_t w = r.grid_size().x, h = r.grid_size().y;
			const size_t x = row_wise ? i % w : i / h, y = row_wise ? i / w : i % h;
			if (!max_cores || all.size() < *max_cores)
				all.emplace_back(r.start_coord.x + x, r.start_coord.y + y);
		}
	return all;
}

Shape2D::Shape2D(std::size_t height, std::size_t width) : height_(height), width_(width) {}
Shape2D::Shape2D(const std::pair<std::size_t, std::size_t> &size) : Shape2D(size.first, size.second)
{
}

bool Shape2D::operator==(const Shape2D &rhs) const
{
	return height_ == rhs.height_ && width_ == rhs.width_;
}

std::size_t Shape2D::height() const
{
	return height_;
}

std::size_t Shape2D::width() const
{
	return width_;
}

} // namespace tt::tt_metal

namespace tt::tt_metal::distributed
{

static size_t place(int32_t index, size_t n)
{
	const int64_t at = index < 0 ? index + static_cast<int64_t>(n) : index;
	if (at < 0 || at >= static_cast<int64_t>(n))
		metal_emu::refuse("dimension %d of %zu of a mesh", index, n);
	return static_cast<size_t>(at);
}

MeshShape::MeshShape(uint32_t s) : value_{ s } {}
MeshShape::MeshShape(uint32_t s0, uint32_t s1) : value_{ s0, s1 } {}
MeshShape::MeshShape(uint32_t s0, uint32_t s1, uint32_t s2) : value_{ s0, s1, s2 } {}
MeshShape::MeshShape(std::initializer_list<uint32_t> ilist) : value_(ilist) {}

size_t MeshShape::dims() const
{
	return value_.size();
}

size_t MeshShape::mesh_size() const
{
	size_t n = 1;
	for (uint32_t v : value_)
		n *= v;
	return n;
}

uint32_t MeshShape::operator[](int32_t index) const
{
	return value_[place(index, value_.size())];
}

bool operator==(const MeshShape &lhs, const MeshShape &rhs)
{
	return lhs.value_ == rhs.value_;
}

MeshCoordinate::MeshCoordinate(uint32_t c) : value_{ c } {}
MeshCoordinate::MeshCoordinate(uint32_t c0, uint32_t c1) : value_{ c0, c1 } {}
MeshCoordinate::MeshCoordinate(uint32_t c0, uint32_t c1, uint32_t c2) : value_{ c0, c1, c2 } {}
MeshCoordinate::MeshCoordinate(ttsl::Span<const uint32_t> coords)
    : value_(coords.begin(), coords.end())
{
}

MeshCoordinate MeshCoordinate::zero_coordinate(size_t dimensions)
{
	const std::vector<uint32_t> zeros(dimensions, 0);
	return MeshCoordinate(ttsl::Span<const uint32_t>(zeros));
}

size_t MeshCoordinate::dims() const
{
	return value_.size();
}

ttsl::Span<const uint32_t> MeshCoordinate::coords() const
{
	return value_;
}

uint32_t MeshCoordinate::operator[](int32_t dim) const
{
	return value_[place(dim, value_.size())];
}

uint32_t &MeshCoordinate::operator[](int32_t dim)
{
	return value_[place(dim, value_.size())];
}

size_t MeshCoordinate::to_linear_index(const MeshShape &shape) const
{
	size_t at = 0;
	if (shape.dims() != dims())
		metal_emu::refuse("a place with %zu dimensions in a mesh of %zu", dims(),
				  shape.dims());
	for (size_t i = 0; i < dims(); i++) {
		const uint32_t n = shape[static_cast<int32_t>(i)];
		if (value_[i] >= n)
			metal_emu::refuse("place %u of %u in a mesh", value_[i], n);
		at = at * n + value_[i];
	}
	return at;
}

bool operator==(const MeshCoordinate &lhs, const MeshCoordinate &rhs)
{
	return std::ranges::equal(lhs.coords(), rhs.coords());
}

bool operator!=(const MeshCoordinate &lhs, const MeshCoordinate &rhs)
{
	return !(lhs == rhs);
}

bool operator<(const MeshCoordinate &lhs, const MeshCoordinate &rhs)
{
	return std::ranges::lexicographical_compare(lhs.coords(), rhs.coords());
}

static MeshCoordinate last_of(const MeshShape &shape)
{
	MeshCoordinate last = MeshCoordinate::zero_coordinate(shape.dims());
	for (size_t i = 0; i < shape.dims(); i++)
		last[static_cast<int32_t>(i)] = shape[static_cast<int32_t>(i)] - 1;
	return last;
}

MeshCoordinateRange::MeshCoordinateRange(const MeshCoordinate &start, const MeshCoordinate &end)
    : start_(start), end_(end)
{
	for (size_t i = 0; i < start.dims(); i++)
		if (end[static_cast<int32_t>(i)] < start[static_cast<int32_t>(i)])
			metal_emu::refuse("a range of a mesh that ends before it starts");
}
MeshCoordinateRange::MeshCoordinateRange(const MeshShape &shape)
    : MeshCoordinateRange(MeshCoordinate::zero_coordinate(shape.dims()), last_of(shape))
{
}
MeshCoordinateRange::MeshCoordinateRange(const MeshCoordinate &coord)
    : MeshCoordinateRange(coord, coord)
{
}

size_t MeshCoordinateRange::dims() const
{
	return start_.dims();
}

const MeshCoordinate &MeshCoordinateRange::start_coord() const
{
	return start_;
}

const MeshCoordinate &MeshCoordinateRange::end_coord() const
{
	return end_;
}

MeshShape MeshCoordinateRange::shape() const
{
	if (dims() == 1)
		return MeshShape(end_[0] - start_[0] + 1);
	return MeshShape(end_[0] - start_[0] + 1, end_[1] - start_[1] + 1);
}

bool MeshCoordinateRange::contains(const MeshCoordinate &coord) const
{
	for (size_t i = 0; i < dims(); i++) {
		const int32_t d = static_cast<int32_t>(i);
		if (coord[d] < start_[d] || coord[d] > end_[d])
			return false;
	}
	return coord.dims() == dims();
}

bool operator==(const MeshCoordinateRange &lhs, const MeshCoordinateRange &rhs)
{
	return lhs.start_coord() == rhs.start_coord() && lhs.end_coord() == rhs.end_coord();
}

MeshCoordinateRange::Iterator::Iterator(const MeshCoordinateRange *range,
					const MeshCoordinate &current_coord, size_t linear_index)
    : range_(range), current_coord_(current_coord), linear_index_(linear_index)
{
}

MeshCoordinateRange::Iterator &MeshCoordinateRange::Iterator::operator++()
{
	linear_index_++;
	for (int32_t d = static_cast<int32_t>(range_->dims()) - 1; d >= 0; d--) {
		if (current_coord_[d] < range_->end_[d]) {
			current_coord_[d]++;
			break;
		}
		current_coord_[d] = range_->start_[d];
	}
	return *this;
}

const MeshCoordinate &MeshCoordinateRange::Iterator::operator*() const
{
	return current_coord_;
}

bool MeshCoordinateRange::Iterator::operator==(const Iterator &other) const
{
	return linear_index_ == other.linear_index_;
}

bool MeshCoordinateRange::Iterator::operator!=(const Iterator &other) const
{
	return !(*this == other);
}

MeshCoordinateRange::Iterator MeshCoordinateRange::begin() const
{
	return Iterator(this, start_, 0);
}

MeshCoordinateRange::Iterator MeshCoordinateRange::end() const
{
	size_t n = 1;
	for (size_t i = 0; i < dims(); i++)
		n *= end_[static_cast<int32_t>(i)] - start_[static_cast<int32_t>(i)] + 1;
	return Iterator(this, start_, n);
}

} // namespace tt::tt_metal::distributed

size_t std::hash<tt::tt_metal::distributed::MeshCoordinate>::operator()(
	const tt::tt_metal::distributed::MeshCoordinate &coord) const noexcept
{
	size_t h = 0;
	for (uint32_t v : coord.coords())
		h = h * 1000003 + v;
	return h;
}

size_t std::hash<tt::tt_metal::distributed::MeshCoordinateRange>::operator()(
	const tt::tt_metal::distributed::MeshCoordinateRange &range) const noexcept
{
	const hash<tt::tt_metal::distributed::MeshCoordinate> one;
	return one(range.start_coord()) * 31 + one(range.end_coord());
}
