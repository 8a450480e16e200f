/* Inputs, outputs and their parts. */
#include "runtime/host/error.h"
#include "runtime/host/ttb_check.h"

#define MAX_ELEMENTS ((int64_t)1 << 31)
#define BAD(...)     rt_fail(e, TESSERA_BAD_PACKAGE, __VA_ARGS__)

/* Their product; 0 if a dim is not positive or the product too large. */
static int64_t sized(uint32_t rank, const int64_t *dims)
{
	int64_t n = 1;

	for (uint32_t i = 0; i < rank; i++) {
		if (dims[i] < 1 || dims[i] > MAX_ELEMENTS / n)
			return 0;
		n *= dims[i];
	}
	return n;
}

static bool check_place(const TtbPart *p, uint32_t type, bool output, const char *name,
			TesseraError *e)
{
	if (sized(4, p->nchw) == 0)
		return BAD("%s: a part of %lldx%lldx%lldx%lld", name, (long long)p->nchw[0],
			   (long long)p->nchw[1], (long long)p->nchw[2], (long long)p->nchw[3]);
	if (p->base % 32 || p->page_bytes % 32 || p->slot_bytes % 32)
		return BAD("%s: base, page or slot are not multiples of 32 bytes", name);
	if (p->stored != type && (p->stored != TT_HOST_BF16 || (output && type == TT_HOST_U8)))
		return BAD("%s: %s, of which nothing of type %u is kept", name,
			   tessera_type_name((TesseraType)type), p->stored);
	if (p->page_bytes < p->nchw[3] * tt_host_bytes(p->stored))
		return BAD("%s: a page of %u bytes for a row of %lld", name, p->page_bytes,
			   (long long)p->nchw[3]);
	if (ttb_bank_pages(p, 0) > (int64_t)(p->slot_bytes / p->page_bytes))
		return BAD("%s: %lld pages of %u bytes for each bank, slots of %u", name,
			   (long long)ttb_bank_pages(p, 0), p->page_bytes, p->slot_bytes);
	if (p->base + (uint64_t)TTB_SLOTS * p->slot_bytes > TT_DRAM_BANK_BYTES)
		return BAD("%s: slots of %u bytes at 0x%x end past the end of DRAM", name,
			   p->slot_bytes, p->base);
	return true;
}

/* Does the view stay within the tensor? Its elements, or 0. */
static int64_t check_view(const TtbPart *p, const char *name, TesseraError *e)
{
	const int64_t n = p->rank <= TTB_MAX_RANK ? sized(p->rank, p->dims) : 0;
	int64_t low = p->offset, high = p->offset;

	if (n == 0 || p->offset < 0 || p->offset > MAX_ELEMENTS)
		return BAD("%s: a view that is none", name);
	for (uint32_t i = 0; i < p->rank; i++) {
		if (p->strides[i] > MAX_ELEMENTS || p->strides[i] < -MAX_ELEMENTS)
			return BAD("%s: a view with strides past any tensor", name);
		const int64_t reach = (p->dims[i] - 1) * p->strides[i];
		if (reach > MAX_ELEMENTS || reach < -MAX_ELEMENTS)
			return BAD("%s: a view with strides past any tensor", name);
		*(reach < 0 ? &low : &high) += reach;
	}
	if (low < 0 || high >= sized(4, p->nchw))
		return BAD("%s: a view of elements %lld to %lld, there are %lld", name,
			   (long long)low, (long long)high, (long long)sized(4, p->nchw));
	return n;
}

/* Does it stay within the caller's array of so many elements? */
static bool check_spread(const TtbPart *p, int64_t n, int64_t whole, const char *name,
			 TesseraError *e)
{
	if (p->run < 1 || p->run > n || n % p->run || p->pitch < p->run ||
	    p->pitch > MAX_ELEMENTS || p->start < 0 || p->start > MAX_ELEMENTS)
		return BAD("%s: runs of %lld elements, %lld apart, from %lld, for %lld", name,
			   (long long)p->run, (long long)p->pitch, (long long)p->start,
			   (long long)n);
	if (p->start + (n / p->run - 1) * p->pitch + p->run > whole)
		return BAD("%s: a part ends past its %lld elements", name, (long long)whole);
	return true;
}

static bool check_tensor(const Ttb *t, const TtbTensor *x, bool output, size_t *part,
			 TesseraError *e)
{
	const char *name = ttb_string(t, x->name);
	const int64_t whole = x->rank <= TTB_MAX_RANK ? sized(x->rank, x->shape) : 0;
	int64_t covered = 0;

	if (x->type >= TT_HOSTS)
		return BAD("%s: of type %u, which is not known", name, x->type);
	if (whole == 0)
		return BAD("%s: a shape that is none", name);
	if (x->first_part != *part || x->parts == 0 || x->parts > t->parts - *part)
		return BAD("%s: parts %u and the next %u, of %zu", name, x->first_part, x->parts,
			   t->parts);
	for (uint32_t i = 0; i < x->parts; i++) {
		const TtbPart *p = &t->part[(*part)++];
		const int64_t n = check_place(p, x->type, output, name, e) ?
					  check_view(p, name, e) : 0;

		if (n == 0 || !check_spread(p, n, whole, name, e))
			return false;
		covered += n;
	}
	if (output && covered != whole)
		return BAD("%s: its parts give %lld elements of %lld", name, (long long)covered,
			   (long long)whole);
	return true;
}

bool ttb_check_tensors(const Ttb *t, TesseraError *e)
{
	size_t part = 0;

	if (t->inputs > TTB_MAX_TENSORS || t->outputs > TTB_MAX_TENSORS ||
	    t->parts > TTB_MAX_TENSORS)
		return BAD("more than %d inputs, outputs or parts", TTB_MAX_TENSORS);
	if (t->outputs == 0)
		return BAD("no outputs");
	for (size_t i = 0; i < t->inputs; i++)
		if (!check_tensor(t, &t->input[i], false, &part, e))
			return false;
	for (size_t i = 0; i < t->outputs; i++)
		if (!check_tensor(t, &t->output[i], true, &part, e))
			return false;
	return part == t->parts || BAD("%zu parts that belong to nothing", t->parts - part);
}
