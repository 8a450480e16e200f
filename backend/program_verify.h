/*
 * What a program must hold to be emitted. Everything wrong is reported, op and
 * core named, so that a program made by hand or by a faulty lowering is refused
 * here and not by a device that hangs.
 *
 *   - cores are distinct and on the grid; variants have allowed constants
 *   - buffers are aligned, inside the plan's window or a bank, and no two share
 *     a byte at the same time; images and host tensors likewise; all that is in DRAM
 *     fits there
 *   - a RISC-V runs routines that are meant for it, on the op's parameters,
 *     which are within their limits
 *   - an act is an activation, TRISC1 runs something that calls it, and it is told
 *     numbers it can work with
 *   - a circular buffer an op uses is declared; what one routine of the op
 *     pushes another pops, page for page; no more than the target has
 *   - rows pushed to a core lie in a buffer that is alive on both sides, and are
 *     waited for; nobody waits for rows that are not pushed
 *   - what is moved from DRAM was written there before, once, and its writers have
 *     told the reader; who writes where something else was, or the same in the run
 *     before, knows that nobody uses that any more
 *   - who receives weights is counted by those who send them, cores of a
 *     rectangle are told the same, and one that sends for two has two semaphores
 *   - chunks, passes and sums between them fit the blocks and the positions
 *   - the routines of an op on tiles are told the same, and what they can hold
 *   - a host edge has all its parts, and room for their rows
 *
 * Code and stack are known only after linking: code.h.
 */
#ifndef BACKEND_PROGRAM_VERIFY_H
#define BACKEND_PROGRAM_VERIFY_H

#include "backend/program.h"
#include "ir/target.h"
#include "runtime/device/params.h"

/* False if something is wrong, which is reported. */
bool program_verify(const Program *p, const Target *t, Diag *d);

/* ---- its parts ---- */

typedef struct Verifier {
	const Program *p;
	const Target *t;
	Diag *d;
	Arena *a; /* for the time of the check */
} Verifier;

/* program_verify_memory.c; false if there is less DRAM than is said to be used, and
 * nothing else has been looked at. */
bool verify_memory(Verifier *v);
void verify_op(Verifier *v, int op);      /* program_verify_ops.c */
void verify_act(Verifier *v, int op);     /* program_verify_act.c */
void verify_tiles(Verifier *v, int op, int core); /* program_verify_tiles.c */
void verify_edge_op(Verifier *v, int op, int core); /* program_verify_edges.c */
void verify_rows(Verifier *v);            /* program_verify_rows.c */
void verify_moves(Verifier *v);           /* program_verify_moves.c */

/* What the routines of a product are told. */
typedef struct ProductTold {
	uint32_t n, hold, weight_type;
	bool pairs; /* store_pairs */
} ProductTold;

/* program_verify_weights.c: pages of a core, who sends them in an op, what is there
 * if they come early, and in all ops by which semaphores. */
void verify_weights(Verifier *v, int op, int core, const TtTiles *p, ProductTold told);
void verify_senders(Verifier *v, int op);
void verify_early(Verifier *v, int op);
void verify_credits(Verifier *v);

void verify_edges(Verifier *v);           /* program_verify.c */

/* Does [address, address + bytes) lie in one buffer that core has in L1 during
 * an op? */
bool verify_inside(const Verifier *v, int op, int core, uint64_t address, uint64_t bytes);

/* Likewise a part of each bank of DRAM; NULL if it is in no such buffer. */
const ProgramBuffer *verify_banks(const Verifier *v, int op, uint64_t address, uint64_t bytes);

/* Reports about an op, on one core or (-1) on all. */
void verify_wrong(Verifier *v, Loc loc, int op, int core, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

#endif
