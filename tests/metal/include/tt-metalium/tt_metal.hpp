// Our own mirror.
#pragma once

#include <tt-metalium/host_api.hpp>
