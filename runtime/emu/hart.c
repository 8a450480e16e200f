#include "runtime/emu/machine.h"

#include <string.h>

#include "ir/cost.h"
#include "runtime/emu/riscv.h"
#include "runtime/emu/shadow.h"

/* What is counted while it runs, in the order of RISC_COUNTERS. */
enum { COUNT_LOADS, COUNT_USES, COUNT_STORES, COUNT_MULS, COUNT_DIVS, COUNT_TAKEN, COUNTS };

enum {
	TURNS_FIRST = 2,    /* of a loop without effects before it is looked at */
	PERIOD_LONGEST = 256, /* instructions of a turn that can be slept through */
	SEEN_BYTES = 32 * 4,
};

/* One call of hart_run. */
typedef struct Run {
	EmuCore *c;
	Hart *h;
	Risc r;
	uint8_t *l1;
	uint32_t local_size;
	RvCode *code;         /* of the memory it executes from, */
	uint32_t base, bytes; /* which stands there */
	bool effects;         /* since the last turn of the loop: something changed */
	bool settled;         /* the loop repeats itself exactly */
	const RvCode *loop;   /* the branch back that was taken last */
	uint32_t turns, look_at;
	uint32_t *seen, seen_left, period; /* registers of an earlier turn */
	uint32_t count[COUNTS];
	const uint32_t *open_loads; /* of the strict checks: how many may not have come back */
	uint32_t op_word;     /* L1 address of the op the core is at; none if past L1 */
	bool turned;          /* it has been written: what follows is counted elsewhere */
} Run;

typedef enum Flow { FLOW_ON, FLOW_STALL, FLOW_STOP } Flow;

static uint32_t pc_of(const Run *k, const RvCode *ip)
{
	return k->base + (uint32_t)(ip - k->code) * 4;
}

static uint32_t divide(uint32_t a, uint32_t b)
{
	if (b == 0)
		return ~0u;
	return b == ~0u ? 0u - a : (uint32_t)((int32_t)a / (int32_t)b);
}

static uint32_t remainder_of(uint32_t a, uint32_t b)
{
	if (b == 0)
		return a;
	return b == ~0u ? 0 : (uint32_t)((int32_t)a % (int32_t)b);
}

/* Enters the memory a PC lies in. False, and a report, if it lies in none. */
static bool enter(Run *k, uint32_t pc)
{
	bool iram = k->r == NCRISC && pc - IRAM_BASE < IRAM_BYTES;

	if (pc % 4 || (!iram && pc >= L1_BYTES)) {
		emu_fault(k->c, k->r, "bad-pc", pc, "jump to 0x%x", pc);
		return false;
	}
	k->code = iram ? k->c->iram_code : k->c->code;
	k->base = iram ? IRAM_BASE : 0;
	k->bytes = iram ? IRAM_BYTES : L1_BYTES;
	return true;
}

static void decode_at(Run *k, const RvCode *ip)
{
	uint32_t at = (uint32_t)(ip - k->code), word, next = 0;
	const uint8_t *memory = k->base ? k->c->iram : k->l1;

	memcpy(&word, memory + at * 4, 4);
	if ((at + 1) * 4 < k->bytes)
		memcpy(&next, memory + (at + 1) * 4, 4);
	k->code[at] = riscv_decode(word, k->base + at * 4, next);
	if (!k->base)
		k->c->code_page[at * 4 >> CODE_PAGE] = 1;
}

void core_forget_code(EmuCore *c, uint32_t at, uint32_t n)
{
	uint32_t first = at / 4, end = (at + n + 3) / 4;

	for (uint32_t page = at >> CODE_PAGE; page <= (at + n - 1) >> CODE_PAGE; page++) {
		uint32_t from = page << CODE_PAGE >> 2, to = (page + 1) << CODE_PAGE >> 2;

		if (!c->code_page[page])
			continue;
		c->code_page[page] = first > from || end < to;
		from = from < first ? first : from;
		to = to > end ? end : to;
		memset(c->code + from, 0, (to - from) * sizeof(*c->code));
		c->code_epoch++;
	}
}

static Flow turn_down(Run *k, uint32_t at, uint32_t n, const char *what)
{
	if (at % n)
		emu_fault(k->c, k->r, "misaligned", at, "%s of %u bytes at 0x%x", what, n, at);
	else
		emu_fault(k->c, k->r, "unknown-address", at, "%s of %u bytes at 0x%x", what, n, at);
	return FLOW_STALL;
}

static __attribute__((noinline)) Flow load_register(Run *k, uint32_t at, uint32_t n, uint32_t *v)
{
	if (n != 4 || at % 4)
		return turn_down(k, at, n, "load");
	if (!mmio_is_steady(at))
		k->effects = true;
	switch (mmio_load(k->c, k->r, at, v)) {
	case ACCESS_DONE:
		return FLOW_ON;
	case ACCESS_UNKNOWN:
		return turn_down(k, at, n, "load");
	default:
		return FLOW_STALL;
	}
}

static __attribute__((noinline)) Flow store_register(Run *k, uint32_t at, uint32_t n, uint32_t v)
{
	k->effects = true;
	if (n != 4 || at % 4)
		return turn_down(k, at, n, "store");
	switch (mmio_store(k->c, k->r, at, v)) {
	case ACCESS_DONE:
		return k->h->on ? FLOW_ON : FLOW_STOP;
	case ACCESS_UNKNOWN:
		return turn_down(k, at, n, "store");
	default:
		return FLOW_STALL;
	}
}

/* Every load of a RISC-V comes through here, every store through the next. */
static inline Flow load(Run *k, const RvCode *ip, uint32_t at, uint32_t n, uint32_t *v)
{
	*v = 0;
	if (at < L1_BYTES && at % n == 0) {
		memcpy(v, k->l1 + at, n);
		k->count[COUNT_LOADS + ip->b]++;
		return FLOW_ON;
	}
	if (at - LOCAL_BASE < k->local_size && at % n == 0) {
		memcpy(v, k->h->local + (at - LOCAL_BASE), n);
		return FLOW_ON;
	}
	k->h->pc = pc_of(k, ip);
	return load_register(k, at, n, v);
}

static inline Flow store(Run *k, const RvCode *ip, uint32_t at, uint32_t n, uint32_t v)
{
	if (at < L1_BYTES && at % n == 0) {
		memcpy(k->l1 + at, &v, n);
		if (k->c->code_page[at >> CODE_PAGE])
			core_forget_code(k->c, at, n);
		k->effects = true;
		k->count[COUNT_STORES]++;
		k->turned |= at == k->op_word;
		return FLOW_ON;
	}
	if (at - LOCAL_BASE < k->local_size && at % n == 0) {
		k->effects |= memcmp(k->h->local + (at - LOCAL_BASE), &v, n) != 0;
		memcpy(k->h->local + (at - LOCAL_BASE), &v, n);
		return FLOW_ON;
	}
	k->h->pc = pc_of(k, ip);
	return store_register(k, at, n, v);
}

static __attribute__((noinline)) Flow push(Run *k, const RvCode *ip, uint32_t instruction)
{
	int thread = k->r == BRISC ? 0 : (int)k->r - TRISC0;

	k->h->pc = pc_of(k, ip);
	k->effects = true;
	if (k->r == NCRISC) {
		emu_fault(k->c, k->r, "unknown-instruction", instruction,
			  "NCRISC has no way to the coprocessor");
		return FLOW_STALL;
	}
	if (tensix_queued(&k->c->tensix, thread) > PUSH_LIMIT) {
		k->h->waits = "room in the queue of its Tensix thread";
		k->h->waits_at = instruction;
		return FLOW_STALL;
	}
	tensix_push(&k->c->tensix, thread, instruction, k->r != BRISC);
	return k->c->faulted ? FLOW_STOP : FLOW_ON;
}

static Flow unknown(Run *k, const RvCode *ip)
{
	k->h->pc = pc_of(k, ip);
	if (ip->op == RV_END)
		emu_fault(k->c, k->r, "bad-pc", k->h->pc, "runs past the end of memory");
	else
		emu_fault(k->c, k->r, "unknown-instruction", ip->imm,
			  "0x%08x is not an instruction of rv32im", ip->imm);
	return FLOW_STALL;
}

/* What the strict checks are shown: instructions before, loads and stores after
 * they went through. Instructions matter to them while loads are open, or if they
 * are Tensix instructions. */
static __attribute__((noinline)) void show_step(Run *k, const RvCode *ip)
{
	uint32_t word, at = (uint32_t)(ip - k->code) * 4;

	memcpy(&word, (k->base ? k->c->iram : k->l1) + at, 4);
	shadow_step(k->c, k->r, word);
}

static __attribute__((noinline)) Flow show_load(Run *k, const RvCode *ip, uint32_t at, uint32_t n,
						uint32_t value)
{
	k->h->pc = pc_of(k, ip);
	shadow_load(k->c, k->r, at, n, value, ip->rd & 31);
	return k->c->faulted ? FLOW_STOP : FLOW_ON;
}

static __attribute__((noinline)) Flow show_store(Run *k, const RvCode *ip, uint32_t at, uint32_t n,
						 uint32_t value)
{
	k->h->pc = pc_of(k, ip);
	shadow_store(k->c, k->r, at, n, value);
	return k->c->faulted ? FLOW_STOP : FLOW_ON;
}

/* A branch back was taken several times and nothing changed. Compares the
 * registers of two turns; where they differ, looks again after twice as many. */
static __attribute__((noinline)) bool look(Run *k, uint32_t left)
{
	if (k->turns == k->look_at) {
		memcpy(k->seen, k->h->x, SEEN_BYTES);
		k->seen_left = left;
		return false;
	}
	k->period = k->seen_left - left;
	k->settled = memcmp(k->seen, k->h->x, SEEN_BYTES) == 0;
	k->look_at = k->turns < 1u << 30 ? k->turns * 2 : ~0u;
	return k->settled;
}

/* True if the loop can only go on like this until somebody else acts. */
static inline bool repeats(Run *k, const RvCode *branch, uint32_t left)
{
	if (k->effects || k->loop != branch) {
		k->effects = false;
		k->loop = branch;
		k->turns = 0;
		k->look_at = TURNS_FIRST;
		return false;
	}
	return ++k->turns >= k->look_at && look(k, left);
}

#define D x[i.rd]
#define A x[i.a]
#define B x[i.b]
#define IMM i.imm
#define S(v) ((int32_t)(v))
#define PC pc_of(k, ip)
#define COUNT(what) k->count[COUNT_##what]++
#define LOAD(type) \
	if ((flow = load(k, ip, A + IMM, sizeof(type), &value)) != FLOW_ON) \
		goto out; \
	if (strict && (A + IMM) >> 16 != LOCAL_BASE >> 16 && \
	    (flow = show_load(k, ip, A + IMM, sizeof(type), value)) != FLOW_ON) \
		goto out; \
	D = (uint32_t)(type)value
#define STORE(type) \
	if ((flow = store(k, ip, A + IMM, sizeof(type), (type)B)) != FLOW_ON) \
		goto out; \
	if (strict && (flow = show_store(k, ip, A + IMM, sizeof(type), (type)B)) != FLOW_ON) \
		goto out; \
	if (k->turned) { \
		flow = FLOW_STOP; \
		goto out; \
	} \
	(void)0
#define BRANCH(condition) \
	if (condition) { \
		to = PC + IMM; \
		k->count[COUNT_TAKEN] += S(IMM) > 0; \
		goto go; \
	}
#define JUMP(target) \
	to = (target); \
	D = PC + 4; \
	COUNT(TAKEN); \
	goto go
#define PUSH \
	if ((flow = push(k, ip, IMM)) != FLOW_ON) \
	goto out
#define FAIL \
	flow = unknown(k, ip); \
	goto out

/* Executes up to `steps` instructions from the hart's PC; returns how many. */
static inline __attribute__((always_inline)) uint32_t interpret_as(Run *k, uint32_t steps,
								   const bool strict)
{
	uint32_t *const x = k->h->x;
	const RvCode *ip = k->code + (k->h->pc - k->base) / 4;
	uint32_t left = steps, to, value;
	Flow flow = FLOW_ON;

	while (left) {
		const RvCode i = *ip;

		left--;
		if (strict && (*k->open_loads || i.op == RV_TENSIX) && i.op != RV_UNDECODED)
			show_step(k, ip);
		switch (i.op) {
#define RV(name, action) \
	case RV_##name: \
		action; \
		break;
#include "runtime/emu/riscv.def"
		case RV_UNDECODED:
			decode_at(k, ip);
			left++;
			continue;
		default:
			FAIL;
		}
		ip++;
		continue;
	go:
		if (to <= PC && repeats(k, ip, left)) {
			steps -= left;
			left = 0;
		}
		if (to - k->base >= k->bytes || to % 4) {
			k->h->pc = PC;
			if (!enter(k, to))
				return steps - left;
		}
		ip = k->code + (to - k->base) / 4;
	}
out:
	if (flow == FLOW_STALL) /* it will be executed again */
		left++;
	k->h->pc = PC + (flow == FLOW_STOP ? 4 : 0);
	return steps - left;
}

static uint32_t interpret(Run *k, uint32_t steps)
{
	return k->c->shadow ? interpret_as(k, steps, true) : interpret_as(k, steps, false);
}

static uint32_t peek(EmuCore *c, Risc r, uint32_t at)
{
	uint32_t value = 0;

	if (at < L1_BYTES)
		memcpy(&value, c->l1 + at, 4);
	else if (mmio_load(c, r, at, &value) != ACCESS_DONE)
		return ~0u;
	return value;
}

static bool note(EmuCore *c, Risc r, uint32_t at)
{
	Poll *p = &c->hart[r].poll;

	if (at - LOCAL_BASE < LOCAL_BYTES)
		return true;
	for (int i = 0; i < p->count; i++)
		if (p->at[i] == at)
			return true;
	if (p->count == POLLS)
		return false;
	p->at[p->count] = at;
	p->value[p->count++] = peek(c, r, at);
	return true;
}

/* Goes through one more turn to see what the loop reads. */
static void fall_asleep(Run *k)
{
	Poll *p = &k->h->poll;
	uint32_t head = k->h->pc;

	*p = (Poll){ .asleep = k->period <= PERIOD_LONGEST, .code_epoch = k->c->code_epoch };
	for (uint32_t i = 0; p->asleep && i < k->period; i++) {
		const RvCode *ip = k->code + (k->h->pc - k->base) / 4;

		if (riscv_is_load(ip->op) && !note(k->c, k->r, (k->h->x[ip->a] + ip->imm) & ~3u))
			p->asleep = false;
		k->look_at = ~0u;
		interpret(k, 1);
	}
	if (k->h->pc != head)
		p->asleep = false;
}

static bool still_asleep(EmuCore *c, Risc r)
{
	Poll *p = &c->hart[r].poll;

	if (p->code_epoch == c->code_epoch) {
		int i = 0;

		while (i < p->count && peek(c, r, p->at[i]) == p->value[i])
			i++;
		if (i == p->count)
			return true;
	}
	p->asleep = false;
	return false;
}

/* What a call of interpret has counted goes to the op the core is at; then comes
 * the next op, if that is what it stopped at. */
static void keep_counts(Run *k, uint32_t done)
{
	static const uint8_t counters[RISCS] = {
		COUNTER_brisc_instructions, COUNTER_trisc0_instructions,
		COUNTER_trisc1_instructions, COUNTER_trisc2_instructions,
		COUNTER_ncrisc_instructions,
	};
	int64_t *to = k->c->counters + counters[k->r];

	k->h->instructions += done;
	to[0] += done;
	for (int i = 0; i < COUNTS; i++)
		to[1 + i] += k->count[i];
	memset(k->count, 0, sizeof(k->count));
	if (k->turned)
		counters_turn(k->c, peek(k->c, k->r, k->op_word));
	k->turned = false;
}

uint32_t hart_run(EmuCore *c, Risc r, uint32_t steps)
{
	Hart *h = &c->hart[r];

	if (!h->on || c->faulted || (h->poll.asleep && still_asleep(c, r)))
		return 0;
	uint32_t seen[SEEN_BYTES / 4], done = 0;
	Run k = { .seen = seen, .c = c, .h = h, .r = r, .l1 = c->l1, .local_size = local_bytes(r),
		  .look_at = TURNS_FIRST,
		  .open_loads = c->shadow ? shadow_open_loads(c, r) : NULL,
		  .op_word = c->counted_ops ? c->emu->program.op_word : L1_BYTES };
	bool turned;

	h->waits = NULL;
	if (!enter(&k, h->pc))
		return 0;
	do {
		uint32_t part = interpret(&k, steps - done);

		turned = k.turned;
		if (k.settled)
			fall_asleep(&k);
		keep_counts(&k, part);
		done += part;
	} while (turned && done < steps && !c->faulted);
	return done;
}
