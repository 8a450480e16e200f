/* Sizes of parts, for whoever has no package. */
#include "runtime/host/ttb.h"

int64_t ttb_elements(uint32_t rank, const int64_t *dims)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < rank; i++)
		n *= dims[i];
	return n;
}

int64_t ttb_bank_pages(const TtbPart *p, uint32_t bank)
{
	const int64_t pages = p->nchw[0] * p->nchw[1] * p->nchw[2];

	return (pages - bank + TT_DRAM_BANKS - 1) / TT_DRAM_BANKS;
}
