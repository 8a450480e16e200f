// Our own mirror: formats of elements.
#pragma once

#include <cstdint>

namespace tt
{

enum class DataFormat : uint8_t {
	Float32 = 0,
	Float16 = 1,
	Bfp8 = 2,
	Bfp4 = 3,
	Bfp2 = 11,
	Float16_b = 5,
	Bfp8_b = 6,
	Bfp4_b = 7,
	Bfp2_b = 15,
	Tf32 = 4,
	UInt8 = 30,
	UInt16 = 9,
	Int32 = 8,
	UInt32 = 24,
	RawUInt8 = 240,
	RawUInt16 = 241,
	RawUInt32 = 242,
	Invalid = 255
};

}
