/*
 * The firmware of the small TT-Metal, one module for each RISC-V (TT_RISC as in
 * library.c): starts once and then runs kernels, launch by launch, as TT-Metal's does.
 *
 * What lasts from kernel to kernel is what lasts there: all of the Tensix
 * coprocessor but Dst and the source registers, which are cleared before a compute
 * kernel; counters of circular buffers are cleared between launches. General purpose
 * registers are cleared only here, at the start. It has no variables: private memory
 * belongs to the kernel that runs, but for the top of the stack.
 */
#include "runtime/device/tensix.h"
#include "tests/metal/machine.h"

enum {
	RESET_PC = 158, /* configuration words as in runtime/device/launch.h */
	RESET_PC_ON = 161,
	RESET_NCRISC_PC = 162,
	RESET_NCRISC_PC_ON = 163,
	INVALIDATE_CODE = 157,
	NOT_READY = -1,
	NOC0 = (int)0xffb20000,
	NO_MULTICAST_COLS = 0x108,
	NO_MULTICAST_ROWS = 0x110,
	MOVER = (int)0xffb11000,
};

int main(void);
void _start(void);

__attribute__((naked, noreturn, section(".text._start"))) void _start(void)
{
	__asm__ volatile("la sp, __stack_top\n\tcall main\n1:\tj 1b");
}

static inline volatile MetalLaunch *launch(void)
{
	return (volatile MetalLaunch *)(uintptr_t)METAL_LAUNCH;
}

static inline void tell(volatile uint32_t *word, uint32_t value)
{
	tt_l1_set((uint32_t)(uintptr_t)word, value);
}

static inline void reach(volatile uint32_t *word, uint32_t value)
{
	tt_l1_reach((uint32_t)(uintptr_t)word, value);
}

static inline void run_kernel(void)
{
	const uint32_t entry = launch()->entry[TT_RISC];

	if (entry)
		((void (*)(void))(uintptr_t)entry)();
}

#if TT_RISC == 0

static void start_others(void)
{
	for (uint32_t r = TT_NCRISC; r < TT_RISCS; r++)
		tell(&launch()->finished[r], (uint32_t)NOT_READY);
	for (uint32_t t = 0; t < 3; t++)
		TT_CFG(RESET_PC + t) = METAL_FIRMWARE + (TT_TRISC0 + t) * METAL_FIRMWARE_STEP;
	TT_CFG(RESET_PC_ON) = 7;
	TT_CFG(RESET_NCRISC_PC) = METAL_FIRMWARE + TT_NCRISC * METAL_FIRMWARE_STEP;
	TT_CFG(RESET_NCRISC_PC_ON) = 1;
	TT_CFG(TT_AT_PCK_EDGE_OFFSET_SEC0_mask) = 0xffff; /* can be read: those before are done */
	const uint32_t seen = TT_CFG(TT_AT_PCK_EDGE_OFFSET_SEC0_mask);
	__asm__ volatile("addi x0, %0, 0" : : "r"(seen) : "memory");
	TT_SOFT_RESET = 0;
	for (uint32_t r = TT_NCRISC; r < TT_RISCS; r++)
		while (launch()->finished[r] == (uint32_t)NOT_READY)
			;
}

/* Empty, and as many pages as the host said; without pages they are not watched. */
static void clear_cbs(void)
{
	const MetalCb *cb = (const MetalCb *)(uintptr_t)METAL_CBS;
	volatile TtCbWords *w = (volatile TtCbWords *)(uintptr_t)TT_CB_WORDS;

	for (uint32_t i = 0; i < TT_CBS; i++, cb++, w++) {
		w->pages = 0;
		w->received = 0;
		w->acked = 0;
		tell(&w->pages, launch()->cb_mask >> i & 1 ? cb->pages : 0);
	}
}

static void load_ncrisc(uint32_t bytes)
{
	TT_REG(MOVER + 0x0) = METAL_TEXT_NCRISC >> 4;
	TT_REG(MOVER + 0x4) = 0x4000;
	TT_REG(MOVER + 0x8) = (bytes + 15) >> 4;
	TT_REG(MOVER + 0xc) = 1;
	TT_REG(MOVER + 0x10) = 0x40;
	while (!(TT_REG(MOVER + 0x14) & 8))
		;
}

int main(void)
{
	TT_REG(NOC0 + NO_MULTICAST_COLS) |= 1u << 0 | 1u << 5;
	TT_REG(NOC0 + NO_MULTICAST_ROWS) |= 1u << 0 | 1u << 6;
	for (uint32_t i = 0; i < TT_ZERO_BYTES; i += 4)
		*tt_l1(TT_ZEROS + i) = 0;
	start_others();
	tell(&launch()->done, 0);
	for (uint32_t s = 1;; s++) {
		reach(&launch()->go, s);
		clear_cbs();
		if (launch()->ncrisc_bytes)
			load_ncrisc(launch()->ncrisc_bytes);
		TT_CFG(INVALIDATE_CODE) = 31;
		tell(&launch()->run, s);
		run_kernel();
		for (uint32_t r = TT_NCRISC; r < TT_RISCS; r++)
			reach(&launch()->finished[r], s);
		tell(&launch()->done, s);
	}
}

#else

#if TT_RISC != 1

static void start_thread(void)
{
	for (uint32_t i = 0; i < 64; i++)
		TT_GPR(i) = 0;
	TT_I(OP_SETC16(0, TT_AT_CFG_STATE_ID_StateID));
#if TT_RISC == 3
	TT_I(OP_ZEROACC(0, 0, 3));
	TT_I(OP_SFPENCC(10, 0, 3));
	TT_I(OP_SFPCONFIG(1, 11, 0));
#endif
	tt_sync();
}

/* As TT-Metal's run_kernel. */
static void clear_registers(void)
{
#if TT_RISC == 2
	TT_I(OP_ZEROSRC(3, 1, 0, 0));
#elif TT_RISC == 3
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_AB_SEC1_SrcAIncr));
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_DST_SEC1_DestIncr));
	TT_I(OP_SETC16(0, TT_AT_ADDR_MOD_BIAS_SEC1_BiasIncr));
	TT_I(OP_ZEROACC(0, 1, 3));
#endif
}

#endif

int main(void)
{
#if TT_RISC != 1
	start_thread();
#endif
	tell(&launch()->finished[TT_RISC], 0);
	for (uint32_t s = 1;; s++) {
		reach(&launch()->run, s);
		if (launch()->entry[TT_RISC]) {
#if TT_RISC != 1
			clear_registers();
#endif
			run_kernel();
#if TT_RISC != 1
			tt_sync();
#endif
		}
		tell(&launch()->finished[TT_RISC], s);
	}
}

#endif
