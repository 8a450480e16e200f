/*
 * Tenstorrent's simulator as a test sees it: cores and DRAM by NoC 0
 * coordinates and address, and a clock.
 *
 * The library ends the process at the first thing it dislikes, and has one chip
 * per process. So what is to run on it is a function that gets a fresh chip in a
 * child process; what it leaves in `shared` comes back.
 *
 *     struct Result { uint32_t word; } *r = ...;
 *     static void body(Ttsim *s, void *shared) { ... ttsim_read(s, x, y, at, &r->word, 4); }
 *
 *     if (!ttsim_there())
 *             skip();
 *     assert_true(ttsim_run(body, &result, sizeof(result)));
 *
 * The library's path stands in the environment: TESSERA_TTSIM.
 */
#ifndef TESTS_TTSIM_H
#define TESTS_TTSIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Ttsim Ttsim;
typedef void TtsimBody(Ttsim *s, void *shared);

/* Whether TESSERA_TTSIM names a library. */
bool ttsim_there(void);

/* False if the library ended the child: it has said why on stderr or stdout. */
bool ttsim_run(TtsimBody *body, void *shared, size_t n);

/* Coordinates are physical, or virtual from 18 on. Registers want four bytes. */
void ttsim_write(Ttsim *s, uint32_t x, uint32_t y, uint64_t address, const void *from, size_t n);
void ttsim_read(Ttsim *s, uint32_t x, uint32_t y, uint64_t address, void *to, size_t n);

/* Every RISC-V out of reset does one instruction a clock; Tensix threads, as
 * many as they can. */
void ttsim_clock(Ttsim *s, uint32_t clocks);

#endif
