// More code than NCRISC has room for.
#include "api/dataflow/dataflow_api.h"

#define TWICE(x) x x
#define LONG(x)                                                                                    \
	TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(TWICE(x))))))))))))

void kernel_main()
{
	LONG(__asm__ volatile("nop"); __asm__ volatile("nop");)
}
