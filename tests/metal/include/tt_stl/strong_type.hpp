// Our own mirror: a number that is no other kind of number.
#pragma once

#include <compare>
#include <functional>
#include <utility>

namespace ttsl
{

template <typename T, typename Tag = decltype([]() {})> class StrongType
{
      public:
	using value_type = T;
	using tag_type = Tag;

	constexpr StrongType() noexcept : value_(T{}) {}
	constexpr explicit StrongType(T v) noexcept : value_(std::move(v)) {}

	constexpr const T &operator*() const { return value_; }
	constexpr const T &get() const { return value_; }
	auto operator<=>(const StrongType &) const noexcept = default;

      private:
	T value_;
};

} // namespace ttsl

template <typename T, typename Tag> struct std::hash<ttsl::StrongType<T, Tag>> {
	std::size_t operator()(const ttsl::StrongType<T, Tag> &h) const noexcept
	{
		return std::hash<T>{}(*h);
	}
};
