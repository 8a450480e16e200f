/*
 * What explains the command: help of commands, topics (topics.def), and all of it as a
 * man page and as completions for shells.
 */
#ifndef FRONTEND_CMD_HELP_H
#define FRONTEND_CMD_HELP_H

#include "frontend/options.h"

typedef enum TopicId {
#define TOPIC(name, ...) TOPIC_##name,
#include "frontend/topics.def"
	TOPIC_COUNT
} TopicId;

typedef struct TopicInfo {
	const char *name, *summary, *text;
} TopicInfo;

extern const TopicInfo topic_info[TOPIC_COUNT];

/* Calls row for each line of the list that ends a topic; many have none. */
typedef void TopicRow(FILE *f, const char *word, const char *what);
void topic_rows(TopicId id, FILE *f, TopicRow *row);

/* What --help says of a command, or of the program for COMMAND_COUNT. */
void help_print(Command c, FILE *f);

/* roff for man(1), with the date of SOURCE_DATE_EPOCH, or none. */
void manual_print(FILE *f);

void completion_bash(FILE *f);
void completion_zsh(FILE *f);

#endif
