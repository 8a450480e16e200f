#include "ir/cost.h"
#include "runtime/emu/machine.h"
#include "runtime/emu/noc.h"

/* Registers of one NoC interface (NoC/MemoryMap.md). Command buffers stand
 * 0x400 apart and start with the first nine. */
enum {
	REG_TARG_LO = 0x0,
	REG_TARG_MID = 0x4,
	REG_RET_LO = 0xc,
	REG_RET_MID = 0x10,
	REG_TAG = 0x18,
	REG_CTRL = 0x1c,
	REG_LEN = 0x20,
	REG_DATA = 0x24,
	REG_COMMAND = 0x28,
	REG_NODE_ID = 0x2c,
	REG_CLEAR_OUTSTANDING = 0x50,
	REG_NIU_CFG = 0x100,
	REG_ROUTER_CFG = 0x104, /* four */
	REG_X_TRANSLATE = 0x118, /* four */
	REG_Y_TRANSLATE = 0x128, /* four */
	REG_ID_LOGICAL = 0x138,
	REG_ATOMIC_RESPONSES = 0x200,
	REG_WRITE_ACKS = 0x204,
	REG_READ_RESPONSES = 0x208,
	REG_POSTED_ATOMICS = 0x21c,
	REG_WRITES_SENT = 0x228,
	REG_POSTED_WRITES = 0x22c,
	REG_OUTSTANDING = 0x240, /* sixteen */
	REG_OUTGOING = 0x280,    /* sixteen */
	BUFFER_STRIDE = 0x400,
};

/* The register of a command buffer; NULL if the offset is not one's. */
static uint32_t *command_word(NocPort *p, uint32_t offset)
{
	struct NocCommand *b = &p->command[offset / BUFFER_STRIDE];

	switch (offset % BUFFER_STRIDE) {
	case REG_TARG_LO: return &b->targ_lo;
	case REG_TARG_MID: return &b->targ_mid;
	case REG_RET_LO: return &b->ret_lo;
	case REG_RET_MID: return &b->ret_mid;
	case REG_TAG: return &b->tag;
	case REG_CTRL: return &b->ctrl;
	case REG_LEN: return &b->len;
	case REG_DATA: return &b->data;
	default: return NULL;
	}
}

/* Where it is, as this NoC counts; the grid's size; which way round it goes. */
static uint32_t node_id(const EmuCore *c, int noc)
{
	uint32_t x = noc ? GRID_X - 1 - c->x : c->x, y = noc ? GRID_Y - 1 - c->y : c->y;

	return x | y << 6 | GRID_X << 12 | GRID_Y << 19 | (noc ? 0u : 1u << 28);
}

static const uint32_t *counter(const NocPort *p, uint32_t offset)
{
	switch (offset) {
	case REG_NIU_CFG: return &p->niu_cfg;
	case REG_ROUTER_CFG: return &p->router_cfg[0];
	case REG_ROUTER_CFG + 4: return &p->router_cfg[1];
	case REG_ROUTER_CFG + 8: return &p->router_cfg[2];
	case REG_ROUTER_CFG + 12: return &p->router_cfg[3];
	case REG_ATOMIC_RESPONSES: return &p->atomic_responses;
	case REG_WRITE_ACKS: return &p->write_acks;
	case REG_READ_RESPONSES: return &p->read_responses;
	case REG_POSTED_ATOMICS: return &p->posted_atomics_sent;
	case REG_WRITES_SENT: return &p->writes_sent;
	case REG_POSTED_WRITES: return &p->posted_writes_sent;
	default: return NULL;
	}
}

/* Four bits for each virtual coordinate. */
static uint32_t translation(int noc, uint32_t word, bool rows)
{
	static const uint32_t x[NOCS][4] = {
		{ 0x76543210, 0xfedcba98, 0x76432150, 0x00000098 },
		{ 0x76543210, 0xfedcba98, 0x23567849, 0x00000001 },
	};
	static const uint32_t y[NOCS][4] = {
		{ 0x76543210, 0xfedcba98, 0x75432160, 0x0000ba98 },
		{ 0x76543210, 0xfedcba98, 0x46789a5b, 0x00000123 },
	};

	return rows ? y[noc][word] : x[noc][word];
}

/* Who looks at a counter waits for what it has asked for since it last did. */
static void count_wait(EmuCore *c, uint8_t *asked)
{
	c->counters[COUNTER_noc_waits] += *asked != 0;
	c->counters[COUNTER_dram_waits] += (*asked & ASKED_DRAM) != 0;
	*asked = 0;
}

Access noc_load(EmuCore *c, int noc, uint32_t offset, uint32_t *value)
{
	NocPort *p = &c->noc[noc];
	const uint32_t *word = counter(p, offset);

	if (offset >= REG_ATOMIC_RESPONSES && offset <= REG_READ_RESPONSES)
		count_wait(c, &p->asked[(offset - REG_ATOMIC_RESPONSES) / 4]);
	if (!word && offset < NOC_COMMANDS * BUFFER_STRIDE)
		word = command_word(p, offset);
	if (word) {
		*value = *word;
		return ACCESS_DONE;
	}
	if (offset < NOC_COMMANDS * BUFFER_STRIDE && offset % BUFFER_STRIDE == REG_COMMAND)
		*value = 0; /* the buffer is free again */
	else if (offset == REG_NODE_ID)
		*value = node_id(c, noc);
	else if (offset >= REG_X_TRANSLATE && offset < REG_ID_LOGICAL)
		*value = translation(noc, (offset - REG_X_TRANSLATE) / 4 % 4,
				     offset >= REG_Y_TRANSLATE);
	else if (offset == REG_ID_LOGICAL)
		*value = (18 + c->index % WORKER_COLS) | (18 + c->index / WORKER_COLS) << 6;
	else if (offset >= REG_OUTSTANDING && offset < REG_OUTSTANDING + 4 * NOC_TAGS)
		*value = p->outstanding[(offset - REG_OUTSTANDING) / 4];
	else if (offset >= REG_OUTGOING && offset < REG_OUTGOING + 4 * NOC_TAGS)
		*value = p->outgoing[(offset - REG_OUTGOING) / 4];
	else
		return ACCESS_UNKNOWN;
	return ACCESS_DONE;
}

/* Columns and rows without workers stay masked for multicasts. */
static Access router_store(NocPort *p, uint32_t i, uint32_t value)
{
	uint32_t keep = i == 1 ? NO_WORKER_COLS : i == 3 ? NO_WORKER_ROWS : 0;

	if ((value & keep) != keep)
		return ACCESS_UNKNOWN;
	p->router_cfg[i] = value;
	return ACCESS_DONE;
}

Access noc_store(EmuCore *c, Risc r, int noc, uint32_t offset, uint32_t value)
{
	NocPort *p = &c->noc[noc];

	if (offset == REG_NIU_CFG) {
		p->niu_cfg = value;
		return ACCESS_DONE;
	}
	if (offset >= REG_ROUTER_CFG && offset < REG_ROUTER_CFG + 16)
		return router_store(p, (offset - REG_ROUTER_CFG) / 4, value);
	if (offset == REG_CLEAR_OUTSTANDING && value == 0xffff) {
		for (int i = 0; i < NOC_TAGS; i++)
			p->outstanding[i] = 0;
		return ACCESS_DONE;
	}
	if (offset >= NOC_COMMANDS * BUFFER_STRIDE)
		return ACCESS_UNKNOWN;
	if (offset % BUFFER_STRIDE == REG_COMMAND)
		return r < RISCS && value == 1 ? noc_issue(c, r, noc, offset / BUFFER_STRIDE)
					       : ACCESS_UNKNOWN;
	uint32_t *word = command_word(p, offset);

	if (!word || (offset % BUFFER_STRIDE == REG_TAG && value & ~0x3c00u))
		return ACCESS_UNKNOWN;
	*word = value;
	return ACCESS_DONE;
}
