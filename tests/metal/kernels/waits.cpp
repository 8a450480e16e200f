// Waits for a semaphore that nobody sets.
#include "api/dataflow/dataflow_api.h"

void kernel_main()
{
	noc_semaphore_wait(reinterpret_cast<volatile uint32_t *>(get_semaphore(3)), 77);
}
