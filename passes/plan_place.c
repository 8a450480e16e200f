/*
 * Room in L1: weights are streamed where buffers find no place otherwise
 * (place_buffers.c), and what cannot be is said.
 */
#include "passes/plan.h"

/* Packers find mantissas so many pixels behind their exponents, at most. */
enum { MOST_SECTION = 65535 };

/* Do packers write this buffer? */
static bool is_packed(const Plan *p, const PlanTensor *t)
{
	const Step *s = &p->steps[t->born];
	const bool moves = s->kind == STEP_REFILL || s->kind == STEP_RESHARD;
	return t->layout.place == PLACE_L1 && !moves
		&& (s->out == t || (s->slice && s->slices[s->nin] == t));
}

/* How much a core keeps of a tensor, and of what, if that is more than it may. */
static const char *too_much(const Plan *p, const PlanTensor *t, int64_t *has,
			    int64_t *most)
{
	const int64_t planes = tensor_buffer_planes(t);
	const int64_t pixels = planes * t->buffer_rows * t->layout.pitch;
	const bool blocks = t->layout.type == DEV_BFP8_B && is_packed(p, t);
	const struct {
		const char *what;
		int64_t has, most;
	} limits[] = {
		{ "rows", t->buffer_rows, MAX_BAND_ROWS },
		{ "planes of 16 channels", planes, MAX_BAND_PLANES },
		{ "pixels in bfp8_b", blocks ? pixels : 0, MOST_SECTION },
	};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
		*has = limits[i].has;
		*most = limits[i].most;
		if (*has > *most)
			return limits[i].what;
	}
	return NULL;
}

static bool buffers_fit(const Plan *p)
{
	bool ok = true;
	for (int i = 0; i < p->ntensors; i++) {
		const PlanTensor *t = p->tensors[i];
		int64_t has, most;
		const char *what = too_much(p, t, &has, &most);
		if (!what)
			continue;
		diag_error(p->graph->diag, t->op->loc,
			   "%s '%s': a core keeps %lld %s of it, %lld is the most",
			   op_info[t->op->kind].name, t->op->name, (long long)has, what,
			   (long long)most);
		ok = false;
	}
	return ok;
}

/* The end of what was placed, with less room for weights if need be. */
static int64_t place_all(Plan *p)
{
	int64_t end;
	Range life;
	while (!place_buffers(p, &end, &life) && plan_stream_more(p, life))
		;
	return end;
}

bool plan_fits(Plan *p) { return place_all(p) <= p->target->l1_end; }

bool plan_place(Plan *p)
{
	const Target *t = p->target;
	const int64_t first = (t->l1_first + ALIGN_DRAM - 1) / ALIGN_DRAM * ALIGN_DRAM;
	const int64_t end = place_all(p);
	if (end <= t->l1_end)
		return buffers_fit(p);
	const Step *s = &p->steps[p->peak_step];
	const int64_t room = t->l1_end - first;
	diag_error(p->graph->diag, s->op->loc,
		   "%s '%s': needs %lld bytes of L1 on each of %d cores%s, %s has %lld",
		   op_info[s->op->kind].name, s->op->name,
		   (long long)(p->peak > room ? p->peak : end - first), p->cores,
		   p->peak > room ? "" : " the way buffers are placed", t->name, (long long)room);
	return false;
}
