/* Opening a net on a mesh that is open already, for C++ programs that have one. */
#ifndef RUNTIME_METAL_OPEN_HPP
#define RUNTIME_METAL_OPEN_HPP

#include <memory>

#include <tt-metalium/distributed.hpp>

#include "runtime/metal/tessera_metal.h"

namespace tessera
{

/* As tessera_metal_open, but the mesh stays the caller's, who opened it with as many queues
 * and as large a region for traces as the options want. */
TesseraMetal *open_on(std::shared_ptr<tt::tt_metal::distributed::MeshDevice> mesh,
		      const TesseraMetalNetwork *n, const TesseraMetalOptions *o, TesseraError *e);

} // namespace tessera

#endif
