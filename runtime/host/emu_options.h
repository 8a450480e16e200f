/* The part of an emulator's spec behind "emu:". */
#ifndef RUNTIME_HOST_EMU_OPTIONS_H
#define RUNTIME_HOST_EMU_OPTIONS_H

#include "runtime/emu/emu.h"
#include "runtime/host/tessera_rt.h"

/* fast, race, profile, counters, threads=N, quantum=N, strict=0 or 1, with commas between them. */
bool emu_options_parse(const char *text, EmuOptions *options, bool *race, TesseraError *e);

#endif
