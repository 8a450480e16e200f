/* NAME.weights, mapped (weights_file.h). */
#ifndef RUNTIME_METAL_WEIGHTS_HPP
#define RUNTIME_METAL_WEIGHTS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "runtime/metal/weights_file.h"

namespace tessera
{

class Weights
{
      public:
	/* Throws if it is none. */
	explicit Weights(const std::string &path);
	~Weights();
	Weights(const Weights &) = delete;
	Weights &operator=(const Weights &) = delete;

	const void *pages() const { return bytes_ + head_.at; }
	uint64_t bytes() const { return head_.bytes; }
	uint32_t page_bytes() const { return head_.page_bytes; }

	/* Where an image starts in every bank, from the first page on. */
	uint32_t at(const std::string &name) const;

      private:
	const char *bytes_ = nullptr;
	size_t size_ = 0;
	WeightsHead head_ = {};
	std::unordered_map<std::string, uint32_t> images_;

	void map(const std::string &path);
	void read(const std::string &path);
};

} // namespace tessera

#endif
