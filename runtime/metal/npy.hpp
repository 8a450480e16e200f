/* Arrays in .npy files, for the example program. */
#ifndef RUNTIME_METAL_NPY_HPP
#define RUNTIME_METAL_NPY_HPP

#include <string>

#include "runtime/host/tessera_rt.h"

namespace tessera
{

/* The bytes of an array of that type and shape; "" or what is wrong. bf16 is <u2. */
std::string read_npy(const std::string &path, const TesseraTensor &t, void *to);
std::string write_npy(const std::string &path, const TesseraTensor &t, const void *from);

} // namespace tessera

#endif
