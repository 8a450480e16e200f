#include "passes/search_side.h"

static int64_t less(int64_t a, int64_t b) { return a < b ? a : b; }

int64_t side_base(const Value *v)
{
	return v->place == PLACE_L1 ? (v->tensor.bytes + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM
				    : 0;
}

int side_number(const TensorSpace *x, int step)
{
	int j = 0;
	while (x->readers[j] != step)
		j++;
	return j;
}

int side_use_before(const TensorSpace *x, int j) { return j ? x->readers[j - 1] : x->last; }

bool side_may_park(const TensorSpace *x, int j)
{
	return x->parks && x->readers[j] - side_use_before(x, j) >= 2;
}

bool side_may_beside(const TensorSpace *x, int j)
{
	return x->parks && x->readers[j] - side_use_before(x, j) >= BESIDE_GAP;
}

bool side_may_be_back(const TensorSpace *x, int j)
{
	bool any = false;
	for (int i = 0; i < j; i++)
		any |= side_may_park(x, i);
	return any;
}

int64_t side_spill(Space *s, int t, int value, int j)
{
	return j ? 0 : s->cost.launch + space_spill(s, t, value);
}

int64_t side_read(Space *s, int t, int value, int j)
{
	const TensorSpace *x = &s->tensors[t];
	const int64_t base = side_base(&x->values->v[value]);
	const int use = side_use_before(x, j), step = x->readers[j];
	if (side_may_be_back(x, j) || side_may_beside(x, j))
		return 0;
	int64_t least = bound_rent(s, use + 1, step, base);
	if (s->bare->steps[step].out)
		least = less(least, bound_rent(s, use + 1, step - 1, base) + s->cost.launch);
	if (side_may_park(x, j))
		least = less(least, side_spill(s, t, value, j) + s->cost.launch);
	return least;
}

bool side_is_main(const Space *s, int step, int t)
{
	const Step *r = &s->bare->steps[step];
	return r->out && r->in[s->steps[step].main].tensor->id == t
		&& s->tensors[r->out->id].first == step;
}
