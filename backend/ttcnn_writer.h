/*
 * Python, statement by statement: calls with their arguments, blocks and comments. It
 * indents, separates and closes; what is called and with what is said by who calls.
 *
 *     py_call(p, "self.head", "TtConv2d", PY_LINES);
 *     py_nest(p, NULL, "Conv2dConfiguration", PY_LINES);
 *     py_arg(p, "input_height", "%d", 480);
 *     py_end(p);
 *     py_arg(p, NULL, "device");
 *     py_end(p);
 */
#ifndef BACKEND_TTCNN_WRITER_H
#define BACKEND_TTCNN_WRITER_H

#include <stdbool.h>
#include <stdio.h>

/* Arguments of a call: each on its own line, or all on one. */
typedef enum PyMode { PY_LINE, PY_LINES } PyMode;

enum { PY_DEEPEST = 8 };

typedef struct Py {
	FILE *f;
	int depth;             /* of blocks and open calls on lines of their own */
	int calls;
	PyMode mode[PY_DEEPEST];
	int args[PY_DEEPEST];  /* of each open call, so far */
} Py;

/* "target = callee(", or without target if that is NULL. */
void py_call(Py *p, const char *target, const char *callee, PyMode mode);

/* The same as an argument. */
void py_nest(Py *p, const char *keyword, const char *callee, PyMode mode);
void py_end(Py *p);

/* keyword=value, or a value alone if the keyword is NULL. */
void py_arg(Py *p, const char *keyword, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void py_flag(Py *p, const char *keyword, bool value);

/* A string, quoted. */
void py_text(Py *p, const char *keyword, const char *value);

/* "head:", and what follows is in it. */
void py_block(Py *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void py_leave(Py *p);

/* A line by itself: an assignment of something simple, a return, a comment. */
void py_line(Py *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void py_blank(Py *p);

#endif
