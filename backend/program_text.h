/*
 * Programs as text. What is printed parses back, and prints to the same bytes.
 *
 *     program "unet" target wormhole_n150 dram_free 0x40000
 *     cores (0,0) (1,0)
 *     variant store_a = store {out_type = 1, n = 1, hold = 1, relu = 0}
 *     variant act_sigmoid = act_sigmoid {}
 *     buffer "x" l1 at 0x19cc0 bytes 0x8000 life 0..2
 *     buffer "host" dram bank 3 at 0x0 bytes 0x100 life 0..0 core 1
 *     semaphore "credit" id 0 value 0
 *     image "w" bank 0 page 0x2000 at 0x400 bytes 36864 hash 0x84222325cbf29ce4
 *     input "x" f32[1,3,8,8] axis 0
 *         part [1,3,8,8] of [1,3,8,8] base 0x0 page 32 slot 0x40
 *     output "y" f32[64] axis 0
 *         part [64] of [1,1,8,8] base 0x80 page 32 slot 0x40 view 0 [8,8] [1,8]
 *
 *     op 0 "conv1" kind "conv" params tiles absorbed "bn1" "relu1" source "unet.nnef:12:9"
 *         trisc2 store_a
 *         act act_sigmoid
 *         cb 0 at 0x21cc0 page 2176 pages 4
 *         all {rows = 8, cols = 64, in = [0x19cc0], out = 0x29cc0}
 *         core 1 {rows = 7, in_y[0] = 2}
 *             trisc2 none
 *             arrival core 0 op 0
 *             push core 0 from 0x100 to 0x200 bytes 64 count 1 step 0 0
 *             zero at 0x300 bytes 32 count 1 step 0 planes 1 step 0
 *             move in before bank 3 at 0x400 page 64 slot 0 l1 0x300 bytes 64 count 2 step 128
 *
 * Words may be parted by any white space. The name of a target is a word if it
 * can be one, else a string. Fields that are 0 on all cores are
 * left out, as are cores without anything of their own. Images of up to 64
 * bytes come with their data in hex, others with a hash only.
 */
#ifndef BACKEND_PROGRAM_TEXT_H
#define BACKEND_PROGRAM_TEXT_H

#include <stdio.h>

#include "backend/program.h"

enum { PROGRAM_DATA_SHOWN = 64 }; /* bytes */

void program_print(const Program *p, FILE *f);

/* NULL if the text is wrong, which is reported with line and column. `text`
 * must outlive the program and the diagnostics. */
Program *program_parse(Arena *a, Diag *d, const char *file, const char *text, size_t size);

#endif
