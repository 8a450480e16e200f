#include "runtime/emu/machine.h"

/* Columns 0 and 5 have no workers, nor have rows 0 and 6 (NoC/Coordinates.md). */
static const uint8_t worker_x[WORKER_COLS] = { 1, 2, 3, 4, 6, 7, 8, 9 };
static const uint8_t worker_y[WORKER_ROWS] = { 1, 2, 3, 4, 5, 7, 8, 9, 10, 11 };

/* Each channel answers at three places. */
static const uint8_t dram_at[DRAM_CHANNELS][3][2] = {
	{ { 0, 0 }, { 0, 1 }, { 0, 11 } },
	{ { 0, 5 }, { 0, 6 }, { 0, 7 } },
	{ { 5, 0 }, { 5, 1 }, { 5, 11 } },
	{ { 5, 2 }, { 5, 9 }, { 5, 10 } },
	{ { 5, 3 }, { 5, 4 }, { 5, 8 } },
	{ { 5, 5 }, { 5, 6 }, { 5, 7 } },
};

/* Virtual rows 16 and 17 are the Ethernet rows 0 and 6. NoC 1 counts from the
 * other corner; virtual coordinates are the same on both. */
bool chip_translate(int noc, uint32_t *x, uint32_t *y)
{
	if (*x >= 18 && *x < 18 + WORKER_COLS)
		*x = worker_x[*x - 18];
	else if (*x < GRID_X)
		*x = noc ? GRID_X - 1 - *x : *x;
	else
		return false;
	if (*y >= 18 && *y < 18 + WORKER_ROWS)
		*y = worker_y[*y - 18];
	else if (*y == 16 || *y == 17)
		*y = *y == 16 ? 0 : 6;
	else if (*y < GRID_Y)
		*y = noc ? GRID_Y - 1 - *y : *y;
	else
		return false;
	return true;
}

static Place dram_place(uint32_t x, uint32_t y)
{
	for (uint32_t i = 0; i < DRAM_CHANNELS; i++)
		for (int k = 0; k < 3; k++)
			if (dram_at[i][k][0] == x && dram_at[i][k][1] == y)
				return (Place){ PLACE_DRAM, i };
	return (Place){ PLACE_NONE, 0 };
}

Place chip_place(uint32_t x, uint32_t y)
{
	if (x == 0 || x == 5)
		return dram_place(x, y);
	if (x >= GRID_X || y == 0 || y == 6 || y >= GRID_Y)
		return (Place){ PLACE_NONE, 0 };
	x -= x > 5 ? 2 : 1;
	y -= y > 6 ? 2 : 1;
	return (Place){ PLACE_WORKER, x + y * WORKER_COLS };
}

void chip_worker_at(uint32_t index, uint32_t *x, uint32_t *y)
{
	*x = worker_x[index % WORKER_COLS];
	*y = worker_y[index / WORKER_COLS];
}
