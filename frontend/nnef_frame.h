/*
 * Between nnef_eval.c (expressions) and nnef_call.c (fragments): one run of a
 * fragment, or the graph.
 */
#ifndef FRONTEND_NNEF_FRAME_H
#define FRONTEND_NNEF_FRAME_H

#include "frontend/nnef_eval.h"

typedef struct Frame {
	const Fragment *f;
	StrMap values;     /* identifier -> Value */
	StrMap results;    /* identifier of a result -> Value: the caller's names */
	const char *path;  /* what op names start with: "" or "enc1." */
	const char *scope; /* what labels start with: "" or "enc1/" */
	bool own_labels;   /* the fragment spells its labels out */
	StrMap steps;      /* scopes already given to invocations */
	bool standard;     /* ops stand at the place of the call: */
	Loc at;
	DType generic;     /* what ? stands for */
} Frame;

/* The location of what is made at `at`. */
static inline Loc frame_place(const Frame *f, Loc at)
{
	return f->standard ? f->at : at;
}

void frame_init(Nnef *n, Frame *f);
void frame_set(Nnef *n, StrMap *map, const char *name, Value v);
Value frame_get(const StrMap *map, const char *name);

/* Runs the assignments of f->f. */
void frame_run(Nnef *n, Frame *f);

/* The value of an expression; ops it makes are named as `w` says. */
Value eval(Nnef *n, Frame *f, const Expr *e, Want w);

/* Binds the names on the left of an assignment, or of a comprehension. */
void eval_bind(Nnef *n, Frame *f, const Expr *left, Value v);

Value eval_call(Nnef *n, Frame *f, const Expr *e, Want w);

/* What the arguments of a call, or the operands of an operator, are named
 * after. */
Want want_part(Nnef *n, Want w, const char *operation);

/* A standard operation on values of any type; `arg` may be converted. */
Value call_operation(Nnef *n, Frame *f, const char *operation, Loc at, Value *arg, Want w);

#endif
