/*
 * How one shard of a tensor lies in the memory of the device.
 *
 * A shard is a band of whole rows times a range of planes; a plane is 16
 * channels. Its pixels stand as
 *
 *     [phase][plane][above + rows + below][pitch][16 channels]
 *
 * with padding in place: `above` and `below` halo rows around the band,
 * `lead` zero pixels before column 0 of every row, and zeros from the last
 * column to the pitch. With p column phases, column c is pixel lead + c / p
 * of phase c mod p, so that a reader with column stride p finds its pixels
 * side by side.
 *
 * bf16 takes 32 bytes a pixel and plane, f32 64. bfp8_b takes one exponent byte and
 * 16 sign-and-mantissa bytes. An unpacker finds the mantissas behind all the
 * exponents its tile descriptor spans, so in L1 the exponents of every plane
 * come first and then every plane's mantissas: one descriptor walks all
 * channels of a tap. In DRAM each plane of each phase has pages of its own,
 * spread over the banks: one, or if it is larger than L1 one for so many rows.
 * A page has its own exponents first.
 *
 *     bf16 rows=8+8 halo=1+1 planes=0+4 cols=640 lead=0 pitch=656 phases=1 order=row at=l1:0x19cc0
 *
 * reads: rows 8 to 15, one halo row above and below, planes 0 to 3; bands and
 * plane ranges are dealt to the cores along grid rows.
 */
#ifndef IR_LAYOUT_H
#define IR_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/arena.h"
#include "ir/devtypes.h"
#include "ir/diag.h"

typedef enum CoreOrder { ORDER_ROW, ORDER_COL } CoreOrder;
typedef enum Place { PLACE_L1, PLACE_DRAM } Place;

enum {
	PLANE = 16, /* channels in a plane */

	/* A row of exponents is one byte a pixel: this keeps every row of every
	 * plane on the 16 bytes that the NoC and the packers address. */
	PITCH_STEP = 16,

	/* What the fields of an unpacker's tile descriptor hold. */
	MAX_PITCH = 4095,      /* 16 bits count channels: 16 * pitch < 65536 */
	MAX_BAND_ROWS = 255,   /* 8 bits, halo rows included */
	MAX_BAND_PLANES = 255, /* 8 bits, over all phases */

	/* Unpackers, packers and the NoC address L1 in units of 16 bytes; reads
	 * from DRAM want source and destination equal modulo 32. */
	ALIGN_L1 = 16,
	ALIGN_DRAM = 32,

	/* A page of a plane that has several in DRAM is at least as large as L1 of any
	 * core: the rows a core has of a plane lie in two of them at most. */
	LEAST_PAGE = 1536 * 1024,
};

typedef struct Layout {
	DevTypes type;    /* one of them */
	int row, rows;    /* the band: its first row in the tensor, its height */
	int above, below; /* halo rows */
	int plane, planes;
	int cols;  /* columns of the tensor */
	int lead;  /* pixels */
	int pitch; /* pixels from row to row of a phase */
	int phases;
	CoreOrder order;
	Place place;
	uint64_t address; /* in L1, or in each DRAM bank */
} Layout;

/* One line, without the newline; parsing it gives the same layout. */
void layout_print(const Layout *l, FILE *f);

/* Reads what layout_print wrote, fields in any order, each once. False if the
 * text is wrong, which is reported at `at`. Does not call layout_check. */
bool layout_parse(Layout *l, Arena *a, Diag *d, Loc at, const char *text);

/* Reports every limit of the device the layout breaks; false if there is one.
 * The functions below may be asked about layouts that pass. */
bool layout_check(const Layout *l, Diag *d, Loc at);

/* Bytes the shard takes, rounded up to the alignment of its place. */
int64_t layout_bytes(const Layout *l);

/* Rows of a plane that stand in one page in DRAM; in the last one perhaps fewer. */
int layout_page_rows(DevTypes type, int pitch, int height);

/* Pages of a shard in DRAM and the bytes of each; in L1, one and all. Those with
 * the first rows of all planes and phases come first. */
int64_t layout_pages(const Layout *l);
int64_t layout_page_bytes(const Layout *l);

/* Where the 16 channels of one pixel stand. */
typedef struct PixelAt {
	int64_t page;
	int64_t values;   /* bytes from the start of the page: dev_pixel_bytes of them */
	int64_t exponent; /* likewise, one byte; -1 but for bfp8_b */
} PixelAt;

/* Plane, row and column are the tensor's. Halo rows and padding columns have
 * places too: column -1 is the last of the lead. */
PixelAt layout_at(const Layout *l, int plane, int row, int col);

/* The least legal pitch for `cols` columns with `pad` zero pixels behind the
 * last one in each phase. */
int layout_pitch(int cols, int phases, int lead, int pad);

#endif
