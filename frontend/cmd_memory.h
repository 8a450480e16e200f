/*
 * Memory of a plan as files for a spreadsheet, in a folder:
 *
 *     l1_usage_summary.csv       a step: the largest free block of L1, and all that is free
 *     memory_usage_summary.csv   a step and memory: there, allocated, free, largest free block
 *     detailed_memory_usage.csv  a step and block of L1: what it is, where, of whom
 *     circular_buffers.csv       a step and circular buffer: capacity, pages, misses, waits
 *     pressure.csv               a step: score, risk, workload and what that asks for; what
 *                                was counted beside what was predicted, if it ran
 *     device.csv                 the whole: L1, code of each RISC-V, DRAM, trace region
 *
 * The first three are called and headed as those of TT-Metal's memory reports; a program
 * there is a step of the plan here, and an allocator's state is the plan's. Waits and
 * misses are predicted (passes/pressure.h says how, and what the levels mean).
 */
#ifndef FRONTEND_CMD_MEMORY_H
#define FRONTEND_CMD_MEMORY_H

#include "frontend/cmd_counted.h"

/* Compiles what is not, for the figures of code and DRAM. `ran` may be NULL. Not EXIT_OK:
 * reported. */
enum ExitCode memory_write(Session *s, const Graph *g, Compiled *c, const Counted *ran,
			   const char *dir);

/* The pressure of the whole net in a few lines of text. */
void memory_print(FILE *f, const Planned *p);

#endif
