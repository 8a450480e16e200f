// A program that is not ours: it uses the coprocessor otherwise and leaves it, L1 and
// circular buffers as TT-Metal allows.
#pragma once

// On all cores of the first chip; opens and closes it.
void run_dirty();
