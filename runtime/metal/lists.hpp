/* The writer's lists of each core as words of arguments: TtLists and what follows it. */
#ifndef RUNTIME_METAL_LISTS_HPP
#define RUNTIME_METAL_LISTS_HPP

#include <functional>
#include <vector>

#include "runtime/metal/network.hpp"

namespace tessera
{

/* `node` is that of a core by its number. */
std::vector<Words> list_words(const ProgramSpec &program, unsigned cores,
			      const std::function<uint32_t(unsigned)> &node);

} // namespace tessera

#endif
