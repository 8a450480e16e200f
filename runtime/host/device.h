/*
 * What the loader needs of a device: memory by NoC coordinates, and time.
 *
 * An implementation puts TesseraDevice first into its own structure and fills
 * in a table of functions. The rows marked optional may be NULL.
 */
#ifndef RUNTIME_HOST_DEVICE_H
#define RUNTIME_HOST_DEVICE_H

#include "runtime/host/ttb.h"

typedef struct DeviceOps {
	/* x, y are NoC 0 coordinates, virtual for workers. */
	bool (*write)(TesseraDevice *d, uint32_t x, uint32_t y, uint64_t address, const void *from,
		      size_t n, TesseraError *e);
	bool (*read)(TesseraDevice *d, uint32_t x, uint32_t y, uint64_t address, void *to, size_t n,
		     TesseraError *e);

	/* Lets it run: an emulated one for about `steps` steps, a card for a
	 * moment. False if the program cannot go on. */
	bool (*advance)(TesseraDevice *d, uint64_t steps, TesseraError *e);
	void (*close)(TesseraDevice *d);

	/* Optional: before a program is loaded. */
	bool (*begin)(TesseraDevice *d, const Ttb *t, TesseraError *e);
	/* Optional: core 0 says that run `run` is done. */
	bool (*finished)(TesseraDevice *d, uint32_t run, TesseraError *e);
	/* Optional: appends to the detail of an error who waits for what. */
	void (*explain)(TesseraDevice *d, TesseraError *e);
	/* Optional, all five or none: an emulated device. */
	uint64_t (*steps)(const TesseraDevice *d);
	const char *(*counter_name)(const TesseraDevice *d, size_t i);
	int64_t (*counter)(const TesseraDevice *d, uint32_t x, uint32_t y, size_t i);
	bool (*counts_ops)(const TesseraDevice *d); /* one by one: op_counter */
	int64_t (*op_counter)(const TesseraDevice *d, uint32_t x, uint32_t y, uint32_t op,
			      size_t i);
	/* Optional: where its time goes; false if it was not asked to measure. */
	bool (*time)(const TesseraDevice *d, TesseraTime *t);
} DeviceOps;

struct TesseraDevice {
	const DeviceOps *ops;
	char name[256];
	TesseraLimits limits; /* of runs, unless told otherwise */
	TesseraProgram *program; /* the one it holds, or NULL */
};

/* Soft reset of a worker's RISC-Vs: a bit that is set holds one. */
#define SOFT_RESET 0xffb121b0u

enum {
	RESET_ALL = 0x47800,
	RESET_ALL_BUT_BRISC = 0x47000,
};

/* NoC 0 coordinates of a worker, and of a bank with the address of its start. */
typedef struct Place {
	uint32_t x, y;
	uint64_t start;
} Place;

Place place_worker(uint32_t col, uint32_t row);
Place place_bank(uint32_t bank);

/* Those behind the specs; `rest` is what follows the colon, or "". */
TesseraDevice *device_open_emu(const char *rest, TesseraError *e);
TesseraDevice *device_open_ttsim(const char *rest, TesseraError *e);
TesseraDevice *device_open_card(const char *rest, TesseraError *e);

/* Seconds of a clock that only goes forward. */
double device_seconds(void);

#endif
