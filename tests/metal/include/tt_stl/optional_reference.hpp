// Our own mirror: a reference, or none.
#pragma once

#include <memory>
#include <optional>

namespace ttsl
{

template <typename T> class optional_reference
{
      public:
	optional_reference() : value_(nullptr) {}
	optional_reference(std::nullopt_t) : value_(nullptr) {}
	optional_reference(T &value) noexcept : value_(std::addressof(value)) {}

	bool has_value() const { return value_ != nullptr; }
	operator bool() const { return has_value(); }
	T *operator->() const { return value_; }
	T &operator*() const { return *value_; }
	T &value() const { return *value_; }

      private:
	T *value_ = nullptr;
};

} // namespace ttsl
