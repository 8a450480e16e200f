/*
 * Plans as text: plan files with what came of them behind `;`, the summary of a plan,
 * and figures as people and programs read them. Cycles and bytes inside; microseconds
 * are cycles over the target's clock, to a tenth. All times are predicted.
 */
#ifndef FRONTEND_CMD_REPORT_H
#define FRONTEND_CMD_REPORT_H

#include "frontend/cmd_request.h"
#include "passes/plan_report.h"

typedef enum Format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMATS } Format;

/* As --format says; FORMATS: reported. */
Format session_format(Session *s);

/* The summary where it belongs: on standard output in the form of --format, or on
 * standard error for a terminal or for --summary. */
void session_summary(Session *s, const Planned *p, bool out);

/* That place; NULL: nobody wants to see it. */
FILE *session_summary_to(Session *s, bool out);

/* "74.1", "-0.3"; a share of `all` in percent, to a tenth. */
const char *report_us(Arena *a, const Target *t, int64_t cycles);
const char *report_percent(Arena *a, int64_t part, int64_t all);

/* "math 60.0, halo 3.1": what is not 0.0, the largest first. */
const char *report_causes(Arena *a, const Target *t, const StepTime *time);

/* A plan file that reads back to the same plan, remarks and pins kept. */
const char *report_plan_file(const Planned *p);

/* The plan in a screen of text, as an object of JSON, or op by op as CSV. */
void report_summary(FILE *f, const Planned *p, Format format);

/* A table op by op: what --format=csv and the list in JSON say of a plan. */
void report_csv(FILE *f, const Planned *p);
void report_csv_name(FILE *f, const char *name);

/* "name":{"unpack":12,...}: cycles by cause. */
void report_json_causes(FILE *f, const char *name, const StepTime *time);

/* Fields that are pinned, by whomever. */
int report_pin_count(const Planned *p);

/* Is the plan the best there is, and if that is not known, how far from it at most? */
const char *report_proof(Arena *a, const Planned *p);

#endif
