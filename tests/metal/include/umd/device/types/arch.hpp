// Our own mirror: which chip it is.
#pragma once

#include <cstdint>

namespace tt
{

enum class ARCH {
	WORMHOLE_B0 = 2,
	BLACKHOLE = 3,
};

}
