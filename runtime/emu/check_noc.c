/*
 * mcast_target, semaphore_early, and which words of L1 are on their way
 * (noc_read_early, noc_source_reused). Packets themselves (noc_packet) are
 * checked always, where requests are made.
 *
 * A request has ended when a RISC-V has read a counter that says so
 * (Counters.md): responses for reads, acknowledgements for writes, or the
 * outstanding count of its transaction identifier at zero. The count of
 * requests sent moves before the source has been read and proves nothing.
 * Packets are not ordered at their destination (Ordering.md lists the few that
 * are), so a semaphore that announces data has to wait for its acknowledgement.
 */
#include <stdlib.h>

#include "runtime/emu/machine.h"
#include "runtime/emu/noc.h"
#include "runtime/emu/shadow_state.h"

enum {
	CTRL_SOURCE_INCLUDED = 1 << 17,
	SEMAPHORE_BYTES = 4, /* a write this short tells something rather than moving data */
	COUNTER_WRITE_ACKS = 1, COUNTER_READS = 2, COUNTER_OUTSTANDING = 16, COUNTER_OUTGOING = 32,
};

typedef struct Area {
	uint32_t x0, y0, x1, y1; /* NoC 0, both included */
} Area;

static Area area_of(const NocRequest *q)
{
	if (q->kind != NOC_MULTICAST)
		return (Area){ q->x, q->y, q->x, q->y };
	return q->noc ? (Area){ q->x, q->y, q->x0, q->y0 } : (Area){ q->x0, q->y0, q->x, q->y };
}

/* Translated coordinates (Coordinates.md) count workers only; of plain ones
 * every tile in the rectangle has to be one. */
static bool only_workers(const EmuCore *c, const NocRequest *q)
{
	uint32_t mid = c->noc[q->noc].command[q->command].ret_mid;
	bool translated = (mid >> 4 & 63) >= 18 && (mid >> 10 & 63) >= 18 &&
			  (mid >> 16 & 63) >= 18 && (mid >> 22 & 63) >= 18;
	Area a = area_of(q);

	for (uint32_t x = a.x0; !translated && x <= a.x1; x++)
		for (uint32_t y = a.y0; y <= a.y1; y++)
			if (chip_place(x, y).kind != PLACE_WORKER)
				return false;
	return true;
}

static void mark(Shadow *s, const OpenRequest *q, bool on)
{
	uint32_t flag = q->write ? WORD_LEAVING : WORD_LANDING;
	uint32_t end = (q->address + q->bytes + 3) / 4;

	if (q->write && !q->leaving)
		return;
	end = end < L1_BYTES / 4 ? end : L1_BYTES / 4;
	word_change(&s->word, q->address / 4, end, on ? 0 : flag, on ? flag : 0);
}

static void open_request(EmuCore *c, int risc, OpenRequest q)
{
	Shadow *s = c->shadow;

	if (s->requests == s->request_room) {
		uint32_t room = s->request_room ? 2 * s->request_room : 64;
		OpenRequest *more = realloc(s->request, room * sizeof(*more));

		if (!more) {
			emu_fault(c, risc, "noc_packet", 0, "no memory to watch what is under way");
			return;
		}
		s->request = more;
		s->request_room = room;
	}
	s->request[s->requests++] = q;
	mark(s, &q, true);
}

enum { ANY_TAG = -1 };

/* Requests that a counter has shown to be over. */
static void close_requests(Shadow *s, bool write, int noc, int tag, bool source_only)
{
	uint32_t kept = 0;

	for (uint32_t k = 0; k < s->requests; k++) {
		OpenRequest q = s->request[k];

		if (q.write == write && q.noc == noc && (tag == ANY_TAG || q.tag == tag)) {
			mark(s, &q, false);
			if (!source_only)
				continue;
			q.leaving = false;
		}
		s->request[kept++] = q;
	}
	s->requests = kept;
	for (uint32_t k = 0; k < kept; k++)
		mark(s, &s->request[k], true);
}

/* Is there a request that has not taken effect? */
static bool under_way(const EmuCore *c, int noc, bool write)
{
	for (size_t k = 0; k < c->request_count; k++) {
		const NocRequest *q = &c->requests[k];
		bool is_write = q->kind == NOC_WRITE || q->kind == NOC_MULTICAST;

		if (q->noc == noc && is_write == write && (write || q->kind == NOC_READ))
			return true;
	}
	return false;
}

void noc_counter_load(EmuCore *c, int noc, uint32_t index, uint32_t value)
{
	Shadow *s = c->shadow;

	if (index == COUNTER_READS && !under_way(c, noc, false)) {
		close_requests(s, false, noc, ANY_TAG, false);
	} else if (index == COUNTER_WRITE_ACKS && !under_way(c, noc, true)) {
		close_requests(s, true, noc, ANY_TAG, false);
	} else if (index >= COUNTER_OUTSTANDING && index < COUNTER_OUTSTANDING + 16 && !value) {
		close_requests(s, false, noc, (int)index - COUNTER_OUTSTANDING, false);
		close_requests(s, true, noc, (int)index - COUNTER_OUTSTANDING, false);
	} else if (index >= COUNTER_OUTGOING && index < COUNTER_OUTGOING + 16 && !value) {
		close_requests(s, true, noc, (int)index - COUNTER_OUTGOING, true);
	}
}

static bool but_self(const NocRequest *q)
{
	return q->kind == NOC_MULTICAST && !(q->ctrl & CTRL_SOURCE_INCLUDED);
}

/* Does a tile that the message goes to get the data too? */
static bool same_tile(const EmuCore *c, const NocRequest *message, const OpenRequest *q)
{
	Area a = area_of(message);
	uint32_t x0 = a.x0 > q->x0 ? a.x0 : q->x0, x1 = a.x1 < q->x1 ? a.x1 : q->x1;
	uint32_t y0 = a.y0 > q->y0 ? a.y0 : q->y0, y1 = a.y1 < q->y1 ? a.y1 : q->y1;
	bool self = x0 == c->x && x1 == c->x && y0 == c->y && y1 == c->y;

	return x0 <= x1 && y0 <= y1 && !(self && (q->but_self || but_self(message)));
}

/* A message that tells some tiles something; what other RISC-Vs have sent them
 * is not for this one to announce. */
static void check_semaphore(EmuCore *c, const NocRequest *message)
{
	const Shadow *s = c->shadow;

	for (uint32_t k = 0; k < s->requests; k++) {
		const OpenRequest *q = &s->request[k];

		if (q->write && q->risc == message->risc && q->bytes > SEMAPHORE_BYTES &&
		    same_tile(c, message, q)) {
			emu_fault(c, message->risc, "semaphore_early", message->there,
				  "%u bytes from 0x%x to the same tile are not acknowledged yet",
				  (unsigned)q->bytes, (unsigned)q->address);
			return;
		}
	}
}

void shadow_noc_issue(EmuCore *c, const NocRequest *q)
{
	Area to = area_of(q);
	bool data = q->kind == NOC_WRITE || q->kind == NOC_MULTICAST;
	OpenRequest open = {
		.write = data, .leaving = data, .but_self = but_self(q),
		.risc = q->risc, .noc = q->noc, .tag = q->tag >> 10 & 15,
		.x0 = (uint8_t)to.x0, .y0 = (uint8_t)to.y0, .x1 = (uint8_t)to.x1,
		.y1 = (uint8_t)to.y1, .address = q->here, .bytes = q->len,
	};

	know_join(&c->shadow->noc_know, &c->shadow->hart[q->risc].know);
	if (q->kind == NOC_MULTICAST && !only_workers(c, q))
		emu_fault(c, q->risc, "mcast_target", q->there,
			  "from %u,%u to %u,%u there are tiles that are not workers",
			  (unsigned)to.x0, (unsigned)to.y0, (unsigned)to.x1, (unsigned)to.y1);
	if (!data && q->kind != NOC_READ) {
		check_semaphore(c, q);
		return;
	}
	if (data) {
		l1_check_read(c, q->risc, "a NoC write", q->here, q->len);
		l1_check_own(c, (Risc)q->risc, "a NoC write", q->here, q->len);
		l1_check_packed(c, q->risc, &c->shadow->hart[q->risc].know, q->here, q->len);
		if (q->len <= SEMAPHORE_BYTES)
			check_semaphore(c, q);
	} else {
		l1_check_write(c, q->risc, "a NoC read", q->here, q->len);
		l1_check_unpacked(c, q->risc, &c->shadow->hart[q->risc].know, q->here, q->len);
	}
	open_request(c, q->risc, open);
}
