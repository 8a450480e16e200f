/* Runs: inputs to the device, a number into `go`, outputs back. */
#include <string.h>

#include "runtime/host/arrays.h"
#include "runtime/host/error.h"
#include "runtime/host/program.h"
#include "runtime/host/view.h"

static TesseraTensor describe(const Ttb *t, const TtbTensor *x)
{
	TesseraTensor d = { .name = ttb_string(t, x->name),
			    .type = (TesseraType)x->type,
			    .rank = (int)x->rank };

	memcpy(d.shape, x->shape, sizeof d.shape);
	d.bytes = (size_t)ttb_elements(x->rank, x->shape) * tt_host_bytes(x->type);
	return d;
}

size_t tessera_input_count(const TesseraPackage *p)
{
	return p->inputs;
}

size_t tessera_output_count(const TesseraPackage *p)
{
	return p->outputs;
}

TesseraTensor tessera_input(const TesseraPackage *p, size_t i)
{
	return i < p->inputs ? describe(p, &p->input[i]) : (TesseraTensor){ 0 };
}

TesseraTensor tessera_output(const TesseraPackage *p, size_t i)
{
	return i < p->outputs ? describe(p, &p->output[i]) : (TesseraTensor){ 0 };
}

static bool check_arrays(const Ttb *t, bool output, const TesseraArray *a, size_t n,
			 TesseraError *e)
{
	const size_t want = output ? t->outputs : t->inputs;

	if (n != want)
		return rt_fail(e, TESSERA_BAD_INPUT, "%s: %zu %s given, the network has %zu",
			       ttb_string(t, t->facts->model), n, output ? "outputs" : "inputs",
			       want);
	for (size_t i = 0; i < n; i++) {
		const TesseraTensor x = describe(t, output ? &t->output[i] : &t->input[i]);

		if (!array_check(&x, &a[i], e))
			return false;
	}
	return true;
}

/* The pages of a part, bank by bank, to or from one slot. */
static bool transfer(TesseraProgram *p, uint32_t part, uint32_t slot, bool to_device,
		     TesseraError *e)
{
	const TtbPart *x = &p->package->part[part];
	TesseraDevice *d = p->device;

	for (uint32_t bank = 0; bank < TT_DRAM_BANKS; bank++) {
		const Place b = place_bank(bank);
		const uint64_t at = b.start + x->base + (uint64_t)slot * x->slot_bytes;
		const size_t n = (size_t)ttb_bank_pages(x, bank) * x->page_bytes;
		uint8_t *stage = p->stage[part] + (size_t)bank * x->slot_bytes;

		if (n && !(to_device ? d->ops->write(d, b.x, b.y, at, stage, n, e)
				     : d->ops->read(d, b.x, b.y, at, stage, n, e)))
			return false;
	}
	return true;
}

/* Has an earlier part of the same tensor the same place? */
static bool seen(const TesseraProgram *p, const TtbTensor *x, uint32_t part)
{
	for (uint32_t k = x->first_part; k < part; k++)
		if (p->stage[k] == p->stage[part])
			return true;
	return false;
}

static bool send(TesseraProgram *p, const TtbTensor *x, const TesseraArray *a, uint32_t slot,
		 TesseraError *e)
{
	const uint32_t end = x->first_part + x->parts;

	for (uint32_t i = x->first_part; i < end; i++)
		view_to_stage(&p->package->part[i], x->type, a->data, p->stage[i]);
	for (uint32_t i = x->first_part; i < end; i++)
		if (!seen(p, x, i) && !transfer(p, i, slot, true, e))
			return false;
	return true;
}

static bool fetch(TesseraProgram *p, const TtbTensor *x, const TesseraArray *a, uint32_t slot,
		  TesseraError *e)
{
	for (uint32_t i = x->first_part; i < x->first_part + x->parts; i++) {
		if (!seen(p, x, i) && !transfer(p, i, slot, false, e))
			return false;
		view_from_stage(&p->package->part[i], x->type, a->data, p->stage[i]);
	}
	return true;
}

static bool usable(const TesseraProgram *p, TesseraError *e)
{
	return !p->failed || rt_fail(e, TESSERA_MISUSE, "%s: a run failed; load the program again",
				     p->device->name);
}

static uint32_t slot_of(uint32_t run)
{
	return (run - 1) % TTB_SLOTS;
}

bool tessera_submit(TesseraProgram *p, const TesseraArray *inputs, size_t n, TesseraError *e)
{
	const uint32_t run = p->submitted + 1;

	if (!usable(p, e) || !check_arrays(p->package, false, inputs, n, e))
		return false;
	if (p->runs == TTB_SLOTS)
		return rt_fail(e, TESSERA_MISUSE, "%s: %d runs are under way, wait for one",
			       p->device->name, TTB_SLOTS);
	p->failed = true; /* until it is known to be well */
	for (size_t i = 0; i < n; i++)
		if (!send(p, &p->package->input[i], &inputs[i], slot_of(run), e))
			return false;
	p->submitted = run;
	p->run[p->runs++] = (Run){ .number = run };
	if (!program_start(p, e))
		return false;
	p->failed = false;
	return true;
}

bool tessera_wait(TesseraProgram *p, const TesseraArray *outputs, size_t n, TesseraError *e)
{
	if (!usable(p, e) || !check_arrays(p->package, true, outputs, n, e))
		return false;
	if (p->runs == 0)
		return rt_fail(e, TESSERA_MISUSE, "%s: nothing was submitted", p->device->name);
	p->failed = true;
	if (!program_finish(p, e))
		return false;
	const uint32_t slot = slot_of(p->run[0].number);
	p->run[0] = p->run[1];
	p->runs--;
	if (!program_start(p, e)) /* so that it computes while outputs travel */
		return false;
	for (size_t i = 0; i < n; i++)
		if (!fetch(p, &p->package->output[i], &outputs[i], slot, e))
			return false;
	p->failed = false;
	return true;
}

bool tessera_run(TesseraProgram *p, const TesseraArray *inputs, size_t input_count,
		 const TesseraArray *outputs, size_t output_count, TesseraError *e)
{
	if (!usable(p, e))
		return false;
	if (p->runs)
		return rt_fail(e, TESSERA_MISUSE, "%s: runs are under way, wait for them",
			       p->device->name);
	return check_arrays(p->package, true, outputs, output_count, e) &&
	       tessera_submit(p, inputs, input_count, e) &&
	       tessera_wait(p, outputs, output_count, e);
}
