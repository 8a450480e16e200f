#include "ir/choice.h"

#include <stdlib.h>
#include <string.h>

const ChoiceInfo choice_info[CHOICE_COUNT] = {
#define CHOICE(name, k, text, w, sense) \
	[CHOICE_##name] = { .field = #name, .key = text, .what = sense, \
			    .kind = CHOICE_##k, .who = CHOICE_##w },
#include "ir/choices.def"
};

static const size_t offset[CHOICE_COUNT] = {
#define CHOICE(name, k, text, w, sense) [CHOICE_##name] = offsetof(Choice, name),
#include "ir/choices.def"
};

int choice_get(const Choice *c, ChoiceField f)
{
	int v;
	memcpy(&v, (const char *)c + offset[f], sizeof v);
	return v;
}

void choice_set(Choice *c, ChoiceField f, int value)
{
	memcpy((char *)c + offset[f], &value, sizeof value);
}

const char *const shard_words[SHARD_WORDS] = { "any", "height", "width", "block" };

ShardWord shard_word(Cut cut)
{
	if (cut.bands == 1 && cut.splits == 1)
		return SHARD_ANY;
	return cut.splits == 1 ? SHARD_HEIGHT : cut.bands == 1 ? SHARD_WIDTH : SHARD_BLOCK;
}

static const struct {
	ChoiceField field;
	const char *word;
	int value;
} words[] = {
	{ CHOICE_type, "bf16", DEV_BF16 },   { CHOICE_type, "bfp8_b", DEV_BFP8_B },
	{ CHOICE_type, "f32", DEV_F32 },
	{ CHOICE_weights, "bf16", DEV_BF16 }, { CHOICE_weights, "bfp8_b", DEV_BFP8_B },
	{ CHOICE_weights, "f32", DEV_F32 },
	{ CHOICE_place, "l1", PLACE_L1 },    { CHOICE_place, "dram", PLACE_DRAM },
	{ CHOICE_phases, "lofi", 1 },        { CHOICE_phases, "hifi2", 2 },
	{ CHOICE_phases, "hifi3", 3 },       { CHOICE_phases, "hifi4", 4 },
	{ CHOICE_ring, "all", 0 },
	{ CHOICE_ring, "single", 1 },        { CHOICE_ring, "double", 2 },
	{ CHOICE_prefetch, "no", 0 },        { CHOICE_prefetch, "yes", 1 },
	{ CHOICE_slice_buffer, "double", SLICE_DOUBLE },
	{ CHOICE_slice_buffer, "single", SLICE_SINGLE },
};

enum { WORDS = sizeof words / sizeof *words };

static void write_parts(FILE *to, unsigned set)
{
	const char *between = "";
	if (!set)
		fputs("none", to);
	for (int i = 0; set >> i; i++)
		if (set >> i & 1) {
			fprintf(to, "%s%d", between, i);
			between = ",";
		}
}

void choice_write(FILE *to, ChoiceField f, int value)
{
	if (choice_info[f].kind == CHOICE_PARTS) {
		write_parts(to, (unsigned)value);
		return;
	}
	for (int i = 0; i < WORDS; i++)
		if (words[i].field == f && words[i].value == value) {
			fputs(words[i].word, to);
			return;
		}
	fprintf(to, "%d", value);
}

/* Length of the number at `text`, which fits an int; 0 if there is none. */
static size_t read_number(const char *text, int *value)
{
	const size_t n = strspn(text, "0123456789");
	*value = n && n <= 9 ? atoi(text) : 0;
	return n <= 9 ? n : 0;
}

/* "none", or numbers of parts that grow. */
static bool read_parts(const char *text, int *value)
{
	int last = -1;
	*value = 0;
	if (strcmp(text, "none") == 0)
		return true;
	for (;; text++) {
		int part;
		const size_t n = read_number(text, &part);
		if (!n || part <= last || part >= MAX_STEP_PARTS)
			return false;
		*value |= 1 << part;
		last = part;
		text += n;
		if (*text != ',')
			return !*text;
	}
}

bool choice_read(ChoiceField f, const char *text, int *value)
{
	if (choice_info[f].kind == CHOICE_PARTS)
		return read_parts(text, value);
	if (choice_info[f].kind == CHOICE_NUMBER) {
		const size_t n = read_number(text, value);
		return n && !text[n];
	}
	for (int i = 0; i < WORDS; i++)
		if (words[i].field == f && strcmp(words[i].word, text) == 0) {
			*value = words[i].value;
			return true;
		}
	return false;
}

int choice_word_above(ChoiceField f, int value)
{
	int above = 0;
	for (int i = 0; i < WORDS; i++)
		if (words[i].field == f && words[i].value > value
		    && (!above || words[i].value < above))
			above = words[i].value;
	return above;
}

const char *choice_form(ChoiceField f)
{
	switch (f) {
	case CHOICE_type:
	case CHOICE_weights:
		return "bf16|bfp8_b|f32";
	case CHOICE_place:
		return "l1|dram";
	case CHOICE_phases:
		return "lofi|hifi2|hifi3|hifi4";
	case CHOICE_ring:
		return "all|single|double";
	case CHOICE_slice_buffer:
		return "single|double";
	case CHOICE_prefetch:
		return "no|yes";
	default:
		return choice_info[f].kind == CHOICE_PARTS ? "none or numbers of inputs as 0,2"
							   : "a number";
	}
}

bool choice_has(const Step *s, ChoiceField f)
{
	switch (choice_info[f].who) {
	case CHOICE_RESULT:
		return s->out != NULL;
	case CHOICE_PRODUCT:
		return s->kind == STEP_CONV || s->kind == STEP_DECONV2;
	case CHOICE_SLICED:
		return step_can_slice(s);
	case CHOICE_READS:
		return s->nin > 0 && s->out;
	}
	return false;
}
