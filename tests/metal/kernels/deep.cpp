// More variables than BRISC has private memory for.
#include "api/dataflow/dataflow_api.h"

static uint32_t much[560];

void kernel_main()
{
	for (uint32_t i = 0; i < 560; i++)
		reinterpret_cast<volatile uint32_t *>(much)[i] = i;
}
