/*
 * Inputs and outputs: the caller's arrays, and the tensors on the device they are made of
 * (runtime/host/view.h).
 */
#ifndef RUNTIME_METAL_TENSOR_HPP
#define RUNTIME_METAL_TENSOR_HPP

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

extern "C" {
#include "runtime/host/ttb.h"
}

namespace tessera
{

/* A part of an input or output: element k is element offset + sum(index * strides) of an
 * NCHW tensor, a row of a channel in each page. */
struct PartSpec {
	std::string tensor; /* parts of the same name look at the same one */
	TtbPart part = {};  /* as in a package, but that slot_bytes is a page, and page_bytes a page
			       of every bank: pages follow each other */

	PartSpec &view(int64_t offset, std::initializer_list<int64_t> dims,
		       std::initializer_list<int64_t> strides);
	PartSpec &joined(int64_t start, int64_t run, int64_t pitch);

	uint32_t page_bytes() const { return part.slot_bytes; }
	uint64_t pages() const;
};

struct EdgeSpec {
	std::string name;
	TesseraType type;
	std::vector<int64_t> shape;
	std::vector<PartSpec> parts;

	uint64_t bytes() const; /* of the caller's array, of one device */
	TesseraTensor tensor(unsigned devices) const;

	/* The caller's array of a device to its tensors and back; `stage` has the bytes of each
	 * part's tensor. */
	void to_stage(const void *array, const std::vector<uint8_t *> &stage) const;
	void from_stage(void *array, const std::vector<uint8_t *> &stage) const;
};

} // namespace tessera

#endif
