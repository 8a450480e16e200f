/*
 * What the parts of the TT-CNN printer share: the plan, the names things have in
 * Python, and how values of the plan are spelt there.
 */
#ifndef BACKEND_TTCNN_NAMES_H
#define BACKEND_TTCNN_NAMES_H

#include "backend/ttcnn_writer.h"
#include "ir/ttnn.h"

typedef struct Ttcnn {
	Arena *arena;
	const TtnnPlan *plan;
	const char **names; /* of each op's result, an identifier nobody else has */
	Py py;
} Ttcnn;

/* Fills t->names. */
void ttcnn_name_ops(Ttcnn *t);

/* The number of an op in the plan. */
int ttcnn_number(const Ttcnn *t, const TtnnOp *o);

/* "VanillaUnet" */
const char *ttcnn_class_name(Arena *a, const char *model);

/* "ttnn.bfloat8_b", "ttnn.TILE_LAYOUT", "ttnn.UnaryWithParam(...)" */
const char *ttcnn_type(TtnnType type);
const char *ttcnn_layout(TtnnRows layout);
const char *ttcnn_act(Arena *a, Act act);

/* In as few digits as read back to it. */
const char *ttcnn_number_text(Arena *a, float v);

/* "(1, 1)", or "(top, bottom, left, right)" where sides differ. */
const char *ttcnn_padding(Arena *a, Ints pads);

/* A layer's pair of whole numbers: the i-th and the next, or `otherwise` twice. */
const char *ttcnn_pair(Arena *a, Ints v, int64_t otherwise);

/* A function of ttcnn_support.py with the shard of a tensor: "height_sharded((4800, 32),
 * 64)". */
const char *ttcnn_memory_config(Arena *a, const Op *op, const TtnnPlace *p);

/* Is a layer an object of the class, rather than a call alone? */
bool ttcnn_is_layer(const TtnnOp *o);

/* The constructor's part of a layer, and the call of any op. */
void ttcnn_layer(Ttcnn *t, const TtnnOp *o);
void ttcnn_call(Ttcnn *t, const TtnnOp *o);

/* dram_slice_config=..., if the op is sliced. */
void ttcnn_slice_config(Ttcnn *t, const TtnnOp *o);

#endif
