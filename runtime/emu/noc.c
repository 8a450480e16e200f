#include "runtime/emu/noc.h"

#include <stdlib.h>
#include <string.h>

#include "ir/cost.h"
#include "runtime/emu/machine.h"
#include "runtime/emu/shadow.h"

/* NOC_CTRL (NoC/MemoryMap.md). */
enum {
	CTRL_ATOMIC = 1 << 0,
	CTRL_WRITE = 1 << 1,
	CTRL_INLINE = 1 << 3,
	CTRL_RESPONSE = 1 << 4,
	CTRL_MULTICAST = 1 << 5,
	CTRL_LINKED = 1 << 6,
	CTRL_STATIC_VC = 1 << 7,
	CTRL_PATH_RESERVE = 1 << 8,
	CTRL_VC = 7 << 13,
	CTRL_SOURCE_INCLUDED = 1 << 17,
	CTRL_KNOWN = CTRL_ATOMIC | CTRL_WRITE | CTRL_INLINE | CTRL_RESPONSE | CTRL_MULTICAST
		     | CTRL_LINKED | CTRL_STATIC_VC | CTRL_PATH_RESERVE | CTRL_VC
		     | CTRL_SOURCE_INCLUDED,
	PACKET_BYTES = 8192,
	INCREMENT_32 = 0x107c, /* the only atomic we know: add to a 32-bit word */
};

#define REGISTERS_AT 0xffb00000u

static Access bad(EmuCore *c, const NocRequest *q, const char *check, const char *what,
		  uint64_t value)
{
	static const char *const kinds[] = { "read", "write", "multicast", "atomic", "inline write" };

	emu_fault(c, q->risc, check, q->there, "NoC %u %s: %s (0x%llx)", q->noc, kinds[q->kind],
		  what, (unsigned long long)value);
	return ACCESS_FAULT;
}

static NocKind kind_of(uint32_t ctrl)
{
	if (ctrl & CTRL_MULTICAST)
		return NOC_MULTICAST;
	if (ctrl & CTRL_ATOMIC)
		return NOC_ATOMIC;
	if (ctrl & CTRL_INLINE)
		return NOC_INLINE;
	return ctrl & CTRL_WRITE ? NOC_WRITE : NOC_READ;
}

static bool ctrl_is_known(NocKind kind, uint32_t ctrl)
{
	uint32_t rest = ctrl & ~(uint32_t)(CTRL_LINKED | CTRL_STATIC_VC | CTRL_VC | CTRL_RESPONSE);

	switch (kind) {
	case NOC_MULTICAST:
		return (rest | CTRL_SOURCE_INCLUDED)
		       == (CTRL_MULTICAST | CTRL_WRITE | CTRL_PATH_RESERVE | CTRL_SOURCE_INCLUDED);
	case NOC_ATOMIC: return rest == CTRL_ATOMIC;
	case NOC_INLINE: return rest == (CTRL_INLINE | CTRL_WRITE);
	case NOC_WRITE: return rest == CTRL_WRITE;
	case NOC_READ: return rest == 0 && ctrl & CTRL_RESPONSE;
	}
	return false;
}

/* Coordinates out of an address register: bits 4 to 9 x, 10 to 15 y. */
static bool node(uint32_t mid, int noc, uint8_t *x, uint8_t *y)
{
	uint32_t px = mid >> 4 & 63, py = mid >> 10 & 63;
	bool known = chip_translate(noc, &px, &py);

	*x = (uint8_t)px;
	*y = (uint8_t)py;
	return known;
}

static uint64_t address(uint32_t lo, uint32_t mid)
{
	return (uint64_t)(mid & 15) << 32 | lo;
}

/* Splits the registers into here and there. A read, an atomic and an inline
 * write have the other side as target, what is written has it as return. */
static bool locate(EmuCore *c, NocRequest *q, const struct NocCommand *b)
{
	bool there_is_ret = q->kind == NOC_WRITE || q->kind == NOC_MULTICAST;
	uint32_t here = there_is_ret ? b->targ_mid : b->ret_mid;
	uint32_t there = there_is_ret ? b->ret_mid : b->targ_mid;
	uint8_t own_x, own_y;

	q->here = there_is_ret ? b->targ_lo : b->ret_lo;
	q->there = there_is_ret ? address(b->ret_lo, there) : address(b->targ_lo, there);
	if (here & 15 || here >> 16 || !node(here, q->noc, &own_x, &own_y) || own_x != c->x
	    || own_y != c->y)
		return bad(c, q, "noc_request", "the near side is not this core", here), false;
	if (!node(there, q->noc, &q->x, &q->y) || (q->kind != NOC_MULTICAST && there >> 16)
	    || there >> 28)
		return bad(c, q, "noc_request", "no such place", there), false;
	if (q->kind == NOC_MULTICAST && !node(there >> 12, q->noc, &q->x0, &q->y0))
		return bad(c, q, "noc_request", "no such place", there), false;
	return true;
}

static Access check_data(EmuCore *c, const NocRequest *q)
{
	uint32_t align = q->kind == NOC_READ && q->dram ? 32 : 16;
	uint64_t end = q->there + q->len;

	if (q->len < 1 || q->len > PACKET_BYTES)
		return bad(c, q, "noc_packet", "length", q->len);
	if ((uint64_t)q->here + q->len > L1_BYTES)
		return bad(c, q, "noc_request", "outside the core's L1", q->here);
	if (q->dram && end > DRAM_BYTES)
		return bad(c, q, "noc_request", "outside DRAM", q->there);
	if (!q->dram && q->there >= REGISTERS_AT) {
		if (q->len != 4 || q->there % 4)
			return bad(c, q, "noc_packet", "a register wants four bytes", q->len);
		align = q->kind == NOC_READ ? 4 : 16;
	} else if (!q->dram && end > L1_BYTES) {
		return bad(c, q, "noc_request", "outside L1", q->there);
	}
	if (q->here % align != q->there % align)
		return bad(c, q, "noc_packet", "both sides are not aligned alike", q->here);
	return ACCESS_DONE;
}

/* An inline write has a mask, a bit for each byte of 32; four in a row is what
 * we know. */
static Access check_word(EmuCore *c, const NocRequest *q)
{
	if (q->dram)
		return bad(c, q, "noc_request", "not possible in DRAM", q->there);
	if (q->kind == NOC_ATOMIC) {
		if (q->len != INCREMENT_32)
			return bad(c, q, "noc_request", "operation", q->len);
		if (q->there % 16 || q->here % 4)
			return bad(c, q, "noc_packet", "not aligned", q->here);
		if (q->here + (uint64_t)4 > L1_BYTES || q->there + 4 > L1_BYTES)
			return bad(c, q, "noc_request", "outside L1", q->here);
		return ACCESS_DONE;
	}
	if (q->there >= REGISTERS_AT)
		return q->there % 4 ? bad(c, q, "noc_packet", "not aligned", q->there) : ACCESS_DONE;
	if (q->there + 4 > L1_BYTES)
		return bad(c, q, "noc_request", "outside L1", q->there);
	uint32_t mask = 15u << q->there % 16;

	if (q->there % 4 || (q->len != mask && q->len != mask << 16))
		return bad(c, q, "noc_packet", "byte mask", q->len);
	return ACCESS_DONE;
}

static Access check(EmuCore *c, NocRequest *q)
{
	Place place = chip_place(q->x, q->y);

	if (q->kind == NOC_MULTICAST) {
		bool order = q->noc ? q->x0 >= q->x && q->y0 >= q->y
				    : q->x0 <= q->x && q->y0 <= q->y;

		return order ? check_data(c, q)
			     : bad(c, q, "noc_request", "the rectangle wraps around", q->ctrl);
	}
	if (place.kind == PLACE_NONE)
		return bad(c, q, "noc_request", "neither a worker nor DRAM there",
			   q->x | (uint64_t)q->y << 8);
	q->dram = place.kind == PLACE_DRAM;
	return q->kind == NOC_READ || q->kind == NOC_WRITE ? check_data(c, q) : check_word(c, q);
}

static bool is_write(uint8_t kind)
{
	return kind == NOC_WRITE || kind == NOC_MULTICAST || kind == NOC_INLINE;
}

static int waited_by(uint8_t kind)
{
	return kind == NOC_READ ? ANSWER_READ : kind == NOC_ATOMIC ? ANSWER_ATOMIC : ANSWER_WRITE;
}

static void count(EmuCore *c, const NocRequest *q)
{
	static const CounterId bytes[] = {
		[NOC_READ] = COUNTER_noc_read_bytes,
		[NOC_WRITE] = COUNTER_noc_write_bytes,
		[NOC_MULTICAST] = COUNTER_mcast_bytes,
	};
	uint8_t *asked = &c->noc[q->noc].asked[waited_by(q->kind)];

	c->counters[COUNTER_noc_transfers]++;
	c->counters[COUNTER_mcasts] += q->kind == NOC_MULTICAST;
	if (q->kind <= NOC_MULTICAST)
		c->counters[bytes[q->kind]] += q->len;
	if (q->dram)
		c->counters[q->kind == NOC_READ ? COUNTER_dram_read_bytes
						: COUNTER_dram_write_bytes] += q->len;
	*asked |= q->dram ? ASKED_DRAM : ASKED;
}

Access noc_issue(EmuCore *c, Risc r, int noc, uint32_t command)
{
	NocPort *p = &c->noc[noc];
	const struct NocCommand *b = &p->command[command];
	NocRequest q = { .risc = (uint8_t)r, .noc = (uint8_t)noc, .command = (uint8_t)command,
			 .kind = kind_of(b->ctrl), .tag = b->tag, .ctrl = b->ctrl, .len = b->len,
			 .data = b->data, .pc = c->hart[r].pc, .step = c->step };

	if (b->ctrl & ~(uint32_t)CTRL_KNOWN || !ctrl_is_known(q.kind, b->ctrl))
		return bad(c, &q, "noc_request", "control word", b->ctrl);
	if (!locate(c, &q, b))
		return ACCESS_FAULT;
	if (check(c, &q) != ACCESS_DONE)
		return ACCESS_FAULT;
	if (c->request_count == c->request_room) {
		size_t room = c->request_room ? 2 * c->request_room : 64;
		NocRequest *more = realloc(c->requests, room * sizeof(*more));

		if (!more)
			return bad(c, &q, "noc_request", "no memory for more requests than", room);
		c->requests = more;
		c->request_room = room;
	}
	if (c->shadow)
		shadow_noc_issue(c, &q);
	c->requests[c->request_count++] = q;
	count(c, &q);
	p->outstanding[q.tag >> 10 & 15] += (q.ctrl & CTRL_RESPONSE) != 0;
	p->outgoing[q.tag >> 10 & 15] += is_write(q.kind);
	return ACCESS_DONE;
}

/* Everything the NoC writes into a core comes through here. */
static void deliver(EmuCore *c, const NocRequest *q, EmuCore *to, const void *from, uint32_t n)
{
	uint32_t word;

	core_wake(to);
	if (q->there < L1_BYTES) {
		memmove(to->l1 + q->there, from, n);
		core_l1_written(to, (uint32_t)q->there, n);
		if (to->shadow)
			shadow_noc_write(to, c, q->risc, (uint32_t)q->there, n);
		return;
	}
	memcpy(&word, from, 4);
	if (q->there > ~0u || mmio_store(to, RISCS, (uint32_t)q->there, word) != ACCESS_DONE)
		bad(c, q, "unknown-address", "no register to write over the NoC", q->there);
}

static void apply_read(EmuCore *c, const NocRequest *q)
{
	Place place = chip_place(q->x, q->y);
	EmuCore *from = q->dram ? NULL : c->emu->core[place.index];
	uint32_t word;

	if (q->dram) {
		memcpy(c->l1 + q->here, c->emu->dram[place.index] + q->there, q->len);
	} else if (q->there < L1_BYTES) {
		if (from->shadow)
			shadow_noc_read(from, c, q->risc, (uint32_t)q->there, q->len);
		memmove(c->l1 + q->here, from->l1 + q->there, q->len);
	} else if (q->there <= ~0u
		   && mmio_load(from, RISCS, (uint32_t)q->there, &word) == ACCESS_DONE) {
		memcpy(c->l1 + q->here, &word, 4);
	} else {
		bad(c, q, "unknown-address", "no register to read over the NoC", q->there);
	}
	core_l1_written(c, q->here, q->len);
	if (c->shadow)
		shadow_noc_write(c, c, q->risc, q->here, q->len);
}

static void apply_write(EmuCore *c, const NocRequest *q)
{
	Place place = chip_place(q->x, q->y);

	if (q->dram) {
		memcpy(c->emu->dram[place.index] + q->there, c->l1 + q->here, q->len);
	} else {
		deliver(c, q, c->emu->core[place.index], c->l1 + q->here, q->len);
	}
}

/* Returns how many cores got it: each answers. */
static uint32_t apply_multicast(EmuCore *c, const NocRequest *q)
{
	NocPort *p = &c->noc[q->noc];
	uint32_t count = 0, x0 = q->noc ? q->x : q->x0, x1 = q->noc ? q->x0 : q->x;
	uint32_t y0 = q->noc ? q->y : q->y0, y1 = q->noc ? q->y0 : q->y;

	for (uint32_t y = y0; y <= y1; y++) {
		for (uint32_t x = x0; x <= x1; x++) {
			if (p->router_cfg[1] >> x & 1 || p->router_cfg[3] >> y & 1)
				continue;
			EmuCore *to = c->emu->core[chip_place(x, y).index];

			if (to == c && !(q->ctrl & CTRL_SOURCE_INCLUDED))
				continue;
			deliver(c, q, to, c->l1 + q->here, q->len);
			count++;
		}
	}
	return count;
}

static void apply_atomic(EmuCore *c, const NocRequest *q)
{
	EmuCore *to = c->emu->core[chip_place(q->x, q->y).index];
	uint32_t old, sum;

	if (to->shadow)
		shadow_noc_read(to, c, q->risc, (uint32_t)q->there, 4);
	memcpy(&old, to->l1 + q->there, 4);
	sum = old + q->data;
	deliver(c, q, to, &sum, 4);
	memcpy(c->l1 + q->here, &old, 4);
	core_l1_written(c, q->here, 4);
	if (c->shadow)
		shadow_noc_write(c, c, q->risc, q->here, 4);
}

static void apply(EmuCore *c, const NocRequest *q)
{
	NocPort *p = &c->noc[q->noc];
	uint32_t tag = q->tag >> 10 & 15, answers = 1;
	bool response = q->ctrl & CTRL_RESPONSE;

	switch ((NocKind)q->kind) {
	case NOC_READ:
		apply_read(c, q);
		p->read_responses++;
		break;
	case NOC_WRITE:
		apply_write(c, q);
		break;
	case NOC_MULTICAST:
		answers = apply_multicast(c, q);
		break;
	case NOC_INLINE:
		deliver(c, q, c->emu->core[chip_place(q->x, q->y).index], &q->data, 4);
		break;
	case NOC_ATOMIC:
		apply_atomic(c, q);
		*(response ? &p->atomic_responses : &p->posted_atomics_sent) += 1;
		break;
	}
	if (is_write(q->kind)) {
		*(response ? &p->writes_sent : &p->posted_writes_sent) += 1;
		p->write_acks += response ? answers : 0;
		p->outgoing[tag]--;
	}
	if (response)
		p->outstanding[tag] = (uint8_t)(p->outstanding[tag] - answers);
}

void noc_apply(EmuCore *c)
{
	if (!c->request_count)
		return;
	core_wake(c);
	for (size_t i = 0; i < c->request_count; i++)
		apply(c, &c->requests[i]);
	c->request_count = 0;
}
