/*
 * Maps over pixels, a row map times a column map, as the device carries them out
 * (mix_table.h): resizing, average pools, padding, slices, column phases.
 *
 *     AxisMap down = axis_map(a, 4, 2), across = axis_map(a, 8, 8);
 *     axis_term(a, &down, 0, 0, 0.5);     row 0 is half of row 0
 *     axis_term(a, &down, 0, 1, 0.5);     and half of row 1
 *     ...
 *     Mix *m = mix_make(a, &down, &across, 1);
 *
 * Coefficients become bf16, a row's and a column's multiplied first: each is off
 * by at most 2^-8 of itself. Those of 7 bits or less are exact, and so are the
 * products the device makes of them in two phases of fidelity; the others take
 * four.
 */
#ifndef IR_MIX_H
#define IR_MIX_H

#include <stdbool.h>

#include "ir/arena.h"
#include "ir/mix_table.h"

typedef struct AxisTerm {
	int in;
	double coef;
} AxisTerm;

/* One axis: index o of the output is the sum of its terms. */
typedef struct AxisMap {
	int in, out; /* indices there are */
	struct AxisSum {
		AxisTerm *terms;
		int nterms;
	} * sums; /* of each index of the output */
} AxisMap;

/* A map of zeros. */
AxisMap axis_map(Arena *a, int in, int out);
void axis_term(Arena *a, AxisMap *m, int out, int in, double coef);

/* Index o is index o. */
AxisMap axis_identity(Arena *a, int size);
bool axis_is_identity(const AxisMap *m);

typedef struct Mix {
	int in_rows, in_cols, in_phases, out_rows, out_cols;
	int col_terms, row_terms; /* of every tile, every row */
	MixCol *cols;             /* [tile][col_terms]; tile counts W tiles */
	MixRow *rows;             /* [out_rows][row_terms] */
	double *matrices;         /* [nmatrices][MIX_RUN output pixels][MIX_RUN input pixels] */
	double *coefs;
	int nmatrices, ncoefs;
	bool across; /* false: columns stay where they are, and there is no matrix */
	int phases;  /* of fidelity that are exact in the products */
} Mix;

/* The input stands in `in_phases` column phases (layout.h). Input columns are
 * read in runs that stay in the row. A row without terms repeats a row its
 * neighbours read. */
Mix *mix_make(Arena *a, const AxisMap *rows, const AxisMap *cols, int in_phases);

/* Where the parts of the page stand, and what it takes: a multiple of 32. */
uint32_t mix_rows_at(const Mix *m);
uint32_t mix_tiles_at(const Mix *m);
uint64_t mix_bytes(const Mix *m);

/* The page, mix_bytes of it. */
void mix_pack(const Mix *m, uint8_t *page);

/* Input rows that output rows first to end - 1 read: from *from to *to - 1. */
void mix_reads(const Mix *m, int first, int end, int *from, int *to);

#endif
