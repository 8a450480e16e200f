/* The texts of a project for TT-Metal: what the model says, spelled. */
#ifndef BACKEND_METAL_PRINT_H
#define BACKEND_METAL_PRINT_H

#include "backend/metal_model.h"
#include "backend/metal_write.h"

/* A kernel: what is compiled of it, and all of it, with what is said on top. */
const char *metal_print_code(const MetalModel *m, const MetalCode *code);
Bytes metal_print_kernel(const MetalModel *m, const MetalKernel *k);

/* What an op is, in lines of a comment that is open. */
void metal_print_about(MetalWriter *w, const MetalModel *m, const MetalOp *op);

/* The function of an op in NAME.cpp. */
void metal_print_op(MetalWriter *w, const MetalModel *m, const MetalOp *op);

/* What the tensor of a part of an input or output is called; parts may be of the same. */
const char *metal_tensor_name(const MetalModel *m, const ProgramEdge *edges, int edge, int part);

/* NAME.cpp and NAME.h. */
Bytes metal_print_host(const MetalModel *m);
Bytes metal_print_header(const MetalModel *m);

#endif
