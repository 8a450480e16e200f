#include "runtime/host/ttb_check.h"

#include <string.h>

#include "runtime/host/elf32.h"
#include "runtime/host/error.h"

enum {
	MAX_RECORDS = 1 << 20,
	DRAM_ALIGN = 32,
	L1_ALIGN = 16,
	DATA_ALIGN = 64,
};

#define BAD(...) rt_fail(e, TESSERA_BAD_PACKAGE, __VA_ARGS__)

static bool check_elfs(const Ttb *t, TesseraError *e)
{
	for (int r = 0; r < TT_RISCS; r++) {
		size_t n;
		const uint8_t *elf = ttb_section(t, (TtbSectionId)r, &n);

		if (n == 0 && r != TT_BRISC)
			continue;
		if (!elf_check(elf, n, ttb_section_name((TtbSectionId)r), e))
			return false;
		if (r == TT_BRISC && elf_entry(elf) != 0)
			return BAD("brisc: the entry is 0x%x, the hardware starts at 0",
				   elf_entry(elf));
	}
	return true;
}

static bool check_string(const Ttb *t, uint32_t at, TesseraError *e)
{
	return at < t->section[TTB_STRINGS].bytes ||
	       BAD("a string at %u, there are %llu bytes of them", at,
		   (unsigned long long)t->section[TTB_STRINGS].bytes);
}

static bool check_strings(const Ttb *t, TesseraError *e)
{
	size_t n;
	const char *s = ttb_section(t, TTB_STRINGS, &n);

	if (n == 0 || s[n - 1] != '\0')
		return BAD("the strings do not end");
	if (!check_string(t, t->facts->target, e) || !check_string(t, t->facts->model, e) ||
	    !check_string(t, t->facts->compiler, e))
		return false;
	for (size_t i = 0; i < t->ops; i++)
		if (!check_string(t, t->op[i].name, e) || !check_string(t, t->op[i].kind, e) ||
		    !check_string(t, t->op[i].absorbed, e) || !check_string(t, t->op[i].source, e))
			return false;
	for (size_t i = 0; i < t->buffers; i++)
		if (!check_string(t, t->buffer[i].name, e))
			return false;
	for (size_t i = 0; i < t->inputs + t->outputs; i++) {
		const TtbTensor *x = i < t->inputs ? &t->input[i] : &t->output[i - t->inputs];

		if (!check_string(t, x->name, e))
			return false;
	}
	return true;
}

static bool check_facts(const Ttb *t, TesseraError *e)
{
	const TtbFacts *f = t->facts;

	if (t->images > MAX_RECORDS || t->buffers > MAX_RECORDS || t->ops > MAX_RECORDS)
		return BAD("more than %d images, buffers or ops", MAX_RECORDS);
	if (t->ops == 0)
		return BAD("no ops");
	if (f->block_bytes < sizeof(TtOp) || f->block_bytes > TT_MAX_BLOCK ||
	    f->block_bytes % DRAM_ALIGN)
		return BAD("parameter blocks of %u bytes: %zu to %d, in steps of %d",
			   f->block_bytes, sizeof(TtOp), TT_MAX_BLOCK, DRAM_ALIGN);
	if ((uint64_t)f->iram_from + f->iram_bytes > TT_CONTROL || f->iram_from % 16 ||
	    f->iram_bytes > TT_IRAM_BYTES)
		return BAD("%u bytes at 0x%x for IRAM: %u at most, below the control words",
			   f->iram_bytes, f->iram_from, TT_IRAM_BYTES);
	return true;
}

static bool check_cores(const Ttb *t, TesseraError *e)
{
	bool taken[TT_GRID_ROWS][TT_GRID_COLS] = { 0 };
	const uint64_t blocks = (uint64_t)t->ops * t->facts->block_bytes;

	if (t->cores == 0 || t->cores > TT_MAX_CORES)
		return BAD("%zu cores: 1 to %d", t->cores, TT_MAX_CORES);
	for (size_t i = 0; i < t->cores; i++) {
		const TtbCore *c = &t->core[i];

		if (c->col >= TT_GRID_COLS || c->row >= TT_GRID_ROWS)
			return BAD("core %zu: (%u,%u) is not one of %d by %d", i, c->col, c->row,
				   TT_GRID_COLS, TT_GRID_ROWS);
		if (taken[c->row][c->col])
			return BAD("core %zu: (%u,%u) is there twice", i, c->col, c->row);
		taken[c->row][c->col] = true;
		if (c->block_bank >= TT_DRAM_BANKS || c->block_at % DRAM_ALIGN ||
		    c->block_at + blocks > TT_DRAM_BANK_BYTES)
			return BAD("core %zu: parameter blocks at 0x%x of bank %u", i, c->block_at,
				   c->block_bank);
	}
	return true;
}

static bool check_image(const Ttb *t, const TtbImage *m, TesseraError *e)
{
	const bool dram = m->place == TTB_DRAM;
	const uint64_t data = t->section[TTB_DATA].bytes;
	const uint64_t room = dram ? TT_DRAM_BANK_BYTES : TT_L1_END;

	if (m->place != TTB_DRAM && m->place != TTB_L1)
		return BAD("an image in place %u", m->place);
	if (dram ? m->where >= TT_DRAM_BANKS : m->where >= t->cores && m->where != TTB_EVERY_CORE)
		return BAD("an image in %s %u, which is not there", dram ? "bank" : "core",
			   m->where);
	if (m->at % DATA_ALIGN || m->at > data || m->bytes > data - m->at || m->bytes == 0)
		return BAD("an image of %llu bytes at %llu of the data, which has %llu",
			   (unsigned long long)m->bytes, (unsigned long long)m->at,
			   (unsigned long long)data);
	if (m->address % (dram ? DRAM_ALIGN : L1_ALIGN) || m->bytes > room ||
	    m->address > room - m->bytes)
		return BAD("an image of %llu bytes at 0x%x in %s", (unsigned long long)m->bytes,
			   m->address, dram ? "DRAM" : "L1");
	const bool semaphores =
		m->address >= TT_SEMAPHORES && m->address + m->bytes <= TT_CB_WORDS;
	if (!dram && !semaphores && m->address < TT_CONTROL_END &&
	    m->address + m->bytes > TT_CONTROL)
		return BAD("an image at 0x%x in L1 covers the control words", m->address);
	return true;
}

static bool check_buffers(const Ttb *t, TesseraError *e)
{
	for (size_t i = 0; i < t->buffers; i++) {
		const TtbBuffer *b = &t->buffer[i];

		if (b->core >= t->cores && b->core != TTB_EVERY_CORE)
			return BAD("buffer %s: core %u is not there", ttb_string(t, b->name),
				   b->core);
		if (b->first >= b->end || b->end > TT_L1_END)
			return BAD("buffer %s: 0x%x to 0x%x is not within L1",
				   ttb_string(t, b->name), b->first, b->end);
		if (b->born > b->dies || b->dies >= t->ops)
			return BAD("buffer %s: ops %u to %u are not among %zu",
				   ttb_string(t, b->name), b->born, b->dies, t->ops);
	}
	return true;
}

/* Text without zero bytes prints as it is. */
static bool check_texts(const Ttb *t, TesseraError *e)
{
	for (TtbSectionId id = TTB_PLAN; id <= TTB_PROGRAM; id++) {
		size_t n;
		const char *text = ttb_section(t, id, &n);

		if (memchr(text, 0, n))
			return BAD("a zero byte in the text of the %s",
				   id == TTB_PLAN ? "plan" : "program");
	}
	return true;
}

bool ttb_check(const Ttb *t, TesseraError *e)
{
	if (!check_facts(t, e) || !check_strings(t, e) || !check_texts(t, e) || !check_elfs(t, e) ||
	    !check_cores(t, e) || !check_buffers(t, e))
		return false;
	for (size_t i = 0; i < t->images; i++)
		if (!check_image(t, &t->image[i], e))
			return false;
	return ttb_check_tensors(t, e) && ttb_check_overlaps(t, e);
}
