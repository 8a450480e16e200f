// Our own mirror: places of devices in a mesh.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

#include <tt_stl/span.hpp>

namespace tt::tt_metal::distributed
{

class MeshShape
{
      public:
	explicit MeshShape(uint32_t s);
	MeshShape(uint32_t s0, uint32_t s1);
	MeshShape(uint32_t s0, uint32_t s1, uint32_t s2);
	explicit MeshShape(std::initializer_list<uint32_t> ilist);

	size_t dims() const;
	size_t mesh_size() const;
	uint32_t operator[](int32_t index) const;

	friend bool operator==(const MeshShape &lhs, const MeshShape &rhs);

      private:
	std::vector<uint32_t> value_;
};

class MeshCoordinate
{
      public:
	explicit MeshCoordinate(uint32_t c);
	MeshCoordinate(uint32_t c0, uint32_t c1);
	MeshCoordinate(uint32_t c0, uint32_t c1, uint32_t c2);
	explicit MeshCoordinate(ttsl::Span<const uint32_t> coords);

	static MeshCoordinate zero_coordinate(size_t dimensions);
	size_t dims() const;
	ttsl::Span<const uint32_t> coords() const;
	uint32_t operator[](int32_t dim) const;
	uint32_t &operator[](int32_t dim);
	size_t to_linear_index(const MeshShape &shape) const;

      private:
	std::vector<uint32_t> value_;
};

bool operator==(const MeshCoordinate &lhs, const MeshCoordinate &rhs);
bool operator!=(const MeshCoordinate &lhs, const MeshCoordinate &rhs);
bool operator<(const MeshCoordinate &lhs, const MeshCoordinate &rhs);

class MeshCoordinateRange
{
      public:
	MeshCoordinateRange(const MeshCoordinate &start, const MeshCoordinate &end);
	explicit MeshCoordinateRange(const MeshShape &shape);
	explicit MeshCoordinateRange(const MeshCoordinate &coord);

	size_t dims() const;
	const MeshCoordinate &start_coord() const;
	const MeshCoordinate &end_coord() const;
	MeshShape shape() const;
	bool contains(const MeshCoordinate &coord) const;

	class Iterator
	{
	      public:
		Iterator &operator++();
		const MeshCoordinate &operator*() const;
		bool operator==(const Iterator &other) const;
		bool operator!=(const Iterator &other) const;

	      private:
		friend class MeshCoordinateRange;
		Iterator(const MeshCoordinateRange *range, const MeshCoordinate &current_coord,
			 size_t linear_index);
		const MeshCoordinateRange *range_;
		MeshCoordinate current_coord_;
		size_t linear_index_;
	};

	Iterator begin() const;
	Iterator end() const;

      private:
	MeshCoordinate start_;
	MeshCoordinate end_;
};

bool operator==(const MeshCoordinateRange &lhs, const MeshCoordinateRange &rhs);

} // namespace tt::tt_metal::distributed

namespace std
{
template <> struct hash<tt::tt_metal::distributed::MeshCoordinate> {
	size_t operator()(const tt::tt_metal::distributed::MeshCoordinate &coord) const noexcept;
};
template <> struct hash<tt::tt_metal::distributed::MeshCoordinateRange> {
	size_t
	operator()(const tt::tt_metal::distributed::MeshCoordinateRange &range) const noexcept;
};
} // namespace std
