#include "runtime/metal/tensor.hpp"

#include <algorithm>

extern "C" {
#include "runtime/host/view.h"
}

namespace tessera
{

PartSpec &PartSpec::view(int64_t offset, std::initializer_list<int64_t> dims,
			 std::initializer_list<int64_t> strides)
{
	part.offset = offset;
	part.rank = static_cast<uint32_t>(dims.size());
	std::copy(dims.begin(), dims.end(), part.dims);
	std::copy(strides.begin(), strides.end(), part.strides);
	return *this;
}

PartSpec &PartSpec::joined(int64_t start, int64_t run, int64_t pitch)
{
	part.start = start;
	part.run = run;
	part.pitch = pitch;
	return *this;
}

uint64_t PartSpec::pages() const
{
	return static_cast<uint64_t>(part.nchw[0] * part.nchw[1] * part.nchw[2]);
}

uint64_t EdgeSpec::bytes() const
{
	return static_cast<uint64_t>(
		       ttb_elements(static_cast<uint32_t>(shape.size()), shape.data())) *
	       tt_host_bytes(type);
}

TesseraTensor EdgeSpec::tensor(unsigned devices) const
{
	TesseraTensor t = {};
	t.name = name.c_str();
	t.type = type;
	t.rank = static_cast<int>(shape.size());
	std::copy(shape.begin(), shape.end(), t.shape);
	if (devices > 1 && shape.empty())
		t.shape[t.rank++] = 1;
	if (devices > 1)
		t.shape[0] *= devices;
	t.bytes = devices * bytes();
	return t;
}

void EdgeSpec::to_stage(const void *array, const std::vector<uint8_t *> &stage) const
{
	for (size_t i = 0; i < parts.size(); i++)
		view_to_stage(&parts[i].part, type, array, stage[i]);
}

void EdgeSpec::from_stage(void *array, const std::vector<uint8_t *> &stage) const
{
	for (size_t i = 0; i < parts.size(); i++)
		view_from_stage(&parts[i].part, type, array, stage[i]);
}

} // namespace tessera
