// Our own mirror: the number of a chip.
#pragma once

namespace tt
{

using ChipId = int;

}
