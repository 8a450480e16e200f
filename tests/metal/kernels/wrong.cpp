// A warning, which is an error.
#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	uint32_t unused = 1;
}
