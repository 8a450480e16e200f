/*
 * A plan file: the choices for every step as text, to look at, to edit, and to
 * hand back.
 *
 *     plan NAME target=T cores=64
 *     # remarks and empty lines stay where they stand
 *     op enc1.c1.conv conv cout_block=1 fidelity=hifi2 k_block=0 ... ; 74.1 us math
 *     tensor enc1.c1.conv bands=60! splits=1 type=bf16 place=l1 ; at=0x19cc0 bytes=344064
 *
 * An op line is a step of the bare plan, named after the tensor it makes; the
 * second of several that make one tensor is NAME@2. A host edge out has the name
 * of its op, and @PIECE, from 1, if there are several. A tensor line follows the op line
 * that finishes the tensor. Fields are those of choices.def: of a tensor those of
 * results, of an op all others; a step without a field does not print it. Names
 * that are not plain stand in quotes.
 *
 * `!` pins a field. `shard=height`, width or block on a tensor is a pin by itself:
 * one split, one band, or several of both. What stands behind `;` tells a reader
 * what came of it and is not read. A file may leave out lines and fields, but not
 * the first line.
 */
#ifndef IR_CHOICE_TEXT_H
#define IR_CHOICE_TEXT_H

#include "ir/choice.h"

/* Lines above a line of the file, each with its newline, and what stands behind
 * it from `#` on; NULL: none. */
typedef struct ChoiceRemark {
	const char *above, *behind;
} ChoiceRemark;

typedef struct ChoiceRemarks {
	ChoiceRemark header, end; /* end: above is what stands behind the last line */
	ChoiceRemark *op;         /* by step */
	ChoiceRemark *tensor;     /* by id */
} ChoiceRemarks;

/* Where a file says what; a Loc without file: it does not. */
typedef struct ChoicePlace {
	Loc op, tensor; /* the lines */
	Loc at[CHOICE_COUNT], shard;
} ChoicePlace;

typedef struct ChoiceText {
	int cores;           /* 0: not said */
	const char *target;  /* it was made for; NULL: not said */
	Choice *choices;     /* of each step; what is not given is 0 */
	unsigned *given;     /* bit CHOICE_x for each field */
	Pins *pins;
	ChoicePlace *where;
	ChoiceRemarks remarks;
} ChoiceText;

/* What to tell readers; all of it may be NULL. */
typedef struct ChoiceNotes {
	const Plan *placed; /* what plan_apply made, with addresses */
	const char *(*about)(void *with, int step); /* behind an op line; NULL: nothing */
	void *with;
} ChoiceNotes;

/* Every step and tensor. `pins`, `notes` and `remarks` may be NULL. */
void choice_print(FILE *f, const Plan *bare, const Choice *choices, const Pins *pins,
		  const ChoiceNotes *notes, const ChoiceRemarks *remarks);

/* NULL if the text is wrong: every reason is reported with line and field. Whether
 * values are legal is for choice_check to say. `text` must outlive `d`. */
ChoiceText *choice_parse(const Plan *bare, Diag *d, const char *file, const char *text,
			 size_t size);

/* Lines of such a file without its first; several may be about the same op or tensor. */
ChoiceText *choice_parse_lines(const Plan *bare, Diag *d, const char *name, const char *text,
			       size_t size);

/* Fields that the text does not give become those of `rest`. */
void choice_complete(const Plan *bare, ChoiceText *t, const Choice *rest);

/* Every field that the text gives is pinned, with or without `!`. */
void choice_pin_given(const Plan *bare, ChoiceText *t);

/* What a step is called: `number` is behind @, 0: none. */
typedef struct StepName {
	const char *name;
	int number;
} StepName;
StepName choice_step_name(const Plan *bare, int step);

/* The same as in a file. */
const char *choice_step_spelling(const Plan *bare, int step);

#endif
