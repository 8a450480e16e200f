/*
 * The decisions of a plan, one Choice a step: all that a search may vary, a user
 * may pin and a plan file says.
 *
 *     Plan *bare = plan_steps(...);           steps and tensors, nothing decided
 *     Choice *c = ...;                        one for each step of it
 *     Plan *p = plan_apply(bare, c);          shards, moves, sizes: all that follows
 *
 * A tensor that several steps make piece by piece (row_step, column phases) is
 * cut, typed and placed by the first of them; the others repeat it. Their cout_block may
 * differ where that cuts planes at the same places.
 */
#ifndef IR_CHOICE_H
#define IR_CHOICE_H

#include "ir/plan.h"

typedef enum ChoiceField {
#define CHOICE(field, kind, key, who, what) CHOICE_##field,
#include "ir/choices.def"
	CHOICE_COUNT
} ChoiceField;

typedef struct Choice {
#define CHOICE(field, kind, key, who, what) int field;
#include "ir/choices.def"
} Choice;

/* Slices of a tensor in DRAM that a core has room for; of steps without any, double. */
enum { SLICE_DOUBLE, SLICE_SINGLE };

/* How a tensor is cut: rows alone (splits 1), planes alone (bands 1), or both. */
typedef enum ShardWord { SHARD_ANY, SHARD_HEIGHT, SHARD_WIDTH, SHARD_BLOCK, SHARD_WORDS } ShardWord;

extern const char *const shard_words[SHARD_WORDS];

/* What a cut is called; SHARD_ANY for one shard. */
ShardWord shard_word(Cut cut);

/* Fields that are fixed from outside, bit CHOICE_x for each. */
typedef struct Pins {
	unsigned fixed;
	Choice value;
	ShardWord shard; /* SHARD_ANY: not fixed */
	const struct Choice *barred; /* the result may not be cut, stored and placed so */
} Pins;

typedef enum ChoiceKind {
	CHOICE_NUMBER, CHOICE_TYPE, CHOICE_PLACE, CHOICE_FLAG, CHOICE_WORD, CHOICE_PARTS,
} ChoiceKind;

typedef enum ChoiceWho {
	CHOICE_RESULT, CHOICE_PRODUCT, CHOICE_SLICED, CHOICE_READS,
} ChoiceWho;

typedef struct ChoiceInfo {
	const char *field, *key, *what;
	ChoiceKind kind;
	ChoiceWho who;
} ChoiceInfo;

extern const ChoiceInfo choice_info[CHOICE_COUNT];

/* Field `f` of a choice, for whoever walks them all. */
int choice_get(const Choice *c, ChoiceField f);
void choice_set(Choice *c, ChoiceField f, int value);

/* A value as text, and back: false if the text is none of the field's form. */
void choice_write(FILE *to, ChoiceField f, int value);
bool choice_read(ChoiceField f, const char *text, int *value);

/* What values of the field look like, for messages: "lofi|hifi2|hifi3|hifi4". */
const char *choice_form(ChoiceField f);

/* Of a field of words: the least value that has one and is above this one; 0: none. */
int choice_word_above(ChoiceField f, int value);

/* Does the step have such a field? */
bool choice_has(const Step *s, ChoiceField f);

#endif
