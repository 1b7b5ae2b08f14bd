/*
 * Building an ONNX graph: constants and nodes, each with a value under a name of its own. Fields and types
 * are those of onnx.proto3. All values are matrices, rows x something.
 */
#pragma once

#include "data/dictionary.h"
#include "export/bytes.h"

/* The operators are those of version 13 of the standard set, and 2 of ai.onnx.ml (for categories). */
enum { SN_ONNX_OPSET = 13, SN_ONNX_ML_OPSET = 2, SN_ONNX_IR = 7 };
enum { SN_ONNX_FLOAT = 1, SN_ONNX_INT64 = 7, SN_ONNX_STRING = 8, SN_ONNX_DOUBLE = 11 };

/* An input or output by its name, which the graph keeps; name NULL: what is called "v" and the number. */
typedef struct sn_onnx_value {
    const char *name;
    int number;
} sn_onnx_value;

typedef struct sn_onnx_graph {
    sn_bytes nodes, constants, inputs, outputs; /* fields of GraphProto */
    sn_interner taken;                          /* names of inputs and outputs */
    int values;                                 /* made so far */
    bool ml;                                    /* there are operators of ai.onnx.ml */
} sn_onnx_graph;

void sn_onnx_free(sn_onnx_graph *graph);

/* An input of the graph, rows x width; its name must be new and not empty. All inputs come before all else.
 */
stonet_status sn_onnx_input(sn_onnx_graph *graph, const char *name, int type, int64_t width,
                            sn_onnx_value *out);
/* An output: the name, made unique by underscores; width 0: a vector. */
stonet_status sn_onnx_output(sn_onnx_graph *graph, const char *name, int type, int64_t width,
                             sn_onnx_value *out);

/* Constants rows x columns, and of rank 1. */
sn_onnx_value sn_onnx_doubles(sn_onnx_graph *graph, int64_t rows, int64_t columns, const double *values);
sn_onnx_value sn_onnx_number(sn_onnx_graph *graph, double value); /* 1 x 1 */
sn_onnx_value sn_onnx_ints(sn_onnx_graph *graph, int64_t count, const int64_t *values);
sn_onnx_value sn_onnx_strings(sn_onnx_graph *graph, int64_t count, const char *const *text);

/* Attributes of a node, to be handed to sn_onnx_node, which empties them. */
void sn_onnx_attribute_int(sn_bytes *attributes, const char *name, int64_t value);
void sn_onnx_attribute_ints(sn_bytes *attributes, const char *name, int64_t count, const int64_t *values);
void sn_onnx_attribute_strings(sn_bytes *attributes, const char *name, int64_t count,
                               const char *const *text);

/* A node with one result, under a fresh name or `into`; attributes may be NULL. Operators of ai.onnx.ml are
   told by `ml`. */
typedef struct sn_onnx_call {
    const char *op;
    int n_inputs;
    const sn_onnx_value *input;
    sn_bytes *attributes;
    bool ml;
    const sn_onnx_value *into;
} sn_onnx_call;
sn_onnx_value sn_onnx_node(sn_onnx_graph *graph, const sn_onnx_call *call);
sn_onnx_value sn_onnx_one(sn_onnx_graph *graph, const char *op, sn_onnx_value a);
sn_onnx_value sn_onnx_two(sn_onnx_graph *graph, const char *op, sn_onnx_value a, sn_onnx_value b);
/* a where the condition holds, else b. */
sn_onnx_value sn_onnx_where(sn_onnx_graph *graph, sn_onnx_value condition, sn_onnx_value a, sn_onnx_value b);
/* A node with one attribute that is a whole number. */
sn_onnx_value sn_onnx_with(sn_onnx_graph *graph, const char *op, int n, const sn_onnx_value *input,
                           const char *attribute, int64_t value);
/* Doubles as float has them. */
sn_onnx_value sn_onnx_rounded(sn_onnx_graph *graph, sn_onnx_value a);
sn_onnx_value sn_onnx_cast(sn_onnx_graph *graph, sn_onnx_value a, int type);
/* The columns named, of rank 2 again. */
sn_onnx_value sn_onnx_gather(sn_onnx_graph *graph, sn_onnx_value a, int64_t count, const int64_t *columns);
/* One next to the other; n > 0. */
sn_onnx_value sn_onnx_concat(sn_onnx_graph *graph, int n, const sn_onnx_value *parts);
/* Sums (or, with op ReduceMax, maxima) of rows: rows x 1. */
sn_onnx_value sn_onnx_row_sums(sn_onnx_graph *graph, sn_onnx_value a);
sn_onnx_value sn_onnx_row_maxima(sn_onnx_graph *graph, sn_onnx_value a);

/* The file: graph and what is said about it, (key, value) pairs up to a NULL. */
void sn_onnx_file(sn_onnx_graph *graph, const char *name, const char *about, const char *const (*facts)[2],
                  sn_bytes *out);
