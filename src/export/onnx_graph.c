#include "export/onnx_graph.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* Fields of the messages, and the types of attributes. */
enum { MODEL_IR = 1, MODEL_PRODUCER = 2, MODEL_PRODUCER_VERSION = 3, MODEL_DOC = 6, MODEL_GRAPH = 7 };
enum { MODEL_OPSET = 8, MODEL_FACTS = 14, OPSET_DOMAIN = 1, OPSET_VERSION = 2, FACT_KEY = 1, FACT_VALUE = 2 };
enum { GRAPH_NODE = 1, GRAPH_NAME = 2, GRAPH_CONSTANT = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OP = 4, NODE_ATTRIBUTE = 5, NODE_DOMAIN = 7 };
enum {
    ATTRIBUTE_NAME = 1,
    ATTRIBUTE_INT = 3,
    ATTRIBUTE_INTS = 8,
    ATTRIBUTE_STRINGS = 9,
    ATTRIBUTE_TYPE = 20
};
enum { TYPE_INT = 2, TYPE_INTS = 7, TYPE_STRINGS = 8 };
enum { TENSOR_DIMS = 1, TENSOR_TYPE = 2, TENSOR_STRING = 6, TENSOR_NAME = 8, TENSOR_RAW = 9 };
enum { VALUE_NAME = 1, VALUE_TYPE = 2, TYPE_TENSOR = 1, TENSOR_ELEMENT = 1, TENSOR_SHAPE = 2 };
enum { SHAPE_DIM = 1, DIM_VALUE = 1, DIM_NAME = 2 };

enum { NAME = 32 };
static const char ML_DOMAIN[] = "ai.onnx.ml";

void sn_onnx_free(sn_onnx_graph *graph)
{
    sn_bytes_free(&graph->nodes);
    sn_bytes_free(&graph->constants);
    sn_bytes_free(&graph->inputs);
    sn_bytes_free(&graph->outputs);
    sn_interner_free(&graph->taken);
}

/* ---- messages of Protocol Buffers, as far as ONNX files need them ------------------------------------- */

enum { VARINT = 0, DELIMITED = 2 };

/* Seven bits a byte, the lowest first; the eighth says that more follow. */
static void put_varint(sn_bytes *message, uint64_t value)
{
    unsigned char bytes[10];
    size_t count = 0;
    do {
        bytes[count] = (unsigned char)(value & 0x7F);
        value >>= 7;
        if (value != 0) bytes[count] |= 0x80;
        count++;
    } while (value != 0);
    sn_bytes_put(message, bytes, count);
}

static void put_key(sn_bytes *message, int field, int wire)
{
    put_varint(message, (uint64_t)field << 3 | (uint64_t)wire);
}

static void put_int(sn_bytes *message, int field, int64_t value)
{
    put_key(message, field, VARINT);
    put_varint(message, (uint64_t)value);
}

static void put_bytes(sn_bytes *message, int field, const void *bytes, size_t size)
{
    put_key(message, field, DELIMITED);
    put_varint(message, size);
    sn_bytes_put(message, bytes, size);
}

static void put_text(sn_bytes *message, int field, const char *text)
{
    put_bytes(message, field, text, strlen(text));
}

/* Puts `part` into the message and empties it. */
static void put_message(sn_bytes *message, int field, sn_bytes *part)
{
    if (message->status == STONET_OK) message->status = part->status;
    put_bytes(message, field, part->pack.bytes, part->pack.size);
    sn_bytes_free(part);
}

/* Whole fields. */
static void join(sn_bytes *to, const sn_bytes *part)
{
    if (to->status == STONET_OK) to->status = part->status;
    sn_bytes_put(to, part->pack.bytes, part->pack.size);
}

/* ---- names, inputs and outputs ------------------------------------------------------------------------- */

static bool is_taken(const sn_onnx_graph *graph, const char *name)
{
    return sn_interner_find(&graph->taken, name, strlen(name)) >= 0;
}

/* Inside of the graph values are called v1, v2, .. but for those that columns are called. */
static sn_onnx_value fresh(sn_onnx_graph *graph)
{
    char name[NAME];
    do snprintf(name, sizeof name, "v%d", ++graph->values);
    while (is_taken(graph, name));
    return (sn_onnx_value){.number = graph->values};
}

static void put_name(sn_bytes *message, int field, sn_onnx_value value)
{
    char name[NAME];
    snprintf(name, sizeof name, "v%d", value.number);
    put_text(message, field, value.name != NULL ? value.name : name);
}

static stonet_status take(sn_onnx_graph *graph, const char *name, sn_onnx_value *out)
{
    int32_t code;
    SN_TRY(sn_interner_add(&graph->taken, name, strlen(name), &code));
    *out = (sn_onnx_value){.name = graph->taken.words.text[code]};
    return STONET_OK;
}

static void put_value_info(sn_bytes *into, int field, const char *name, int type, int64_t width)
{
    sn_bytes dim = {0}, shape = {0}, tensor = {0}, any = {0}, info = {0};
    put_text(&dim, DIM_NAME, "rows");
    put_message(&shape, SHAPE_DIM, &dim);
    if (width > 0) {
        put_int(&dim, DIM_VALUE, width);
        put_message(&shape, SHAPE_DIM, &dim);
    }
    put_int(&tensor, TENSOR_ELEMENT, type);
    put_message(&tensor, TENSOR_SHAPE, &shape);
    put_message(&any, TYPE_TENSOR, &tensor);
    put_text(&info, VALUE_NAME, name);
    put_message(&info, VALUE_TYPE, &any);
    put_message(into, field, &info);
}

stonet_status sn_onnx_input(sn_onnx_graph *graph, const char *name, int type, int64_t width,
                            sn_onnx_value *out)
{
    if (name[0] == '\0')
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "a column of the model has an empty name, which ONNX has no inputs for: name the "
                       "columns and fit again, or export to c");
    if (is_taken(graph, name))
        return sn_fail(
            STONET_ERROR_UNSUPPORTED,
            "two columns of the model are called '%.100s', which ONNX cannot tell apart: name them "
            "differently and fit again, or export to c",
            name);
    SN_TRY(take(graph, name, out));
    put_value_info(&graph->inputs, GRAPH_INPUT, name, type, width);
    return STONET_OK;
}

stonet_status sn_onnx_output(sn_onnx_graph *graph, const char *name, int type, int64_t width,
                             sn_onnx_value *out)
{
    char free_name[NAME];
    size_t length = strlen(name);
    memcpy(free_name, name, length + 1);
    while (is_taken(graph, free_name)) {
        if (length + 2 > sizeof free_name)
            return sn_fail(STONET_ERROR_UNSUPPORTED, "no name is left for the output '%s'", name);
        free_name[length++] = '_';
        free_name[length] = '\0';
    }
    SN_TRY(take(graph, free_name, out));
    put_value_info(&graph->outputs, GRAPH_OUTPUT, out->name, type, width);
    return STONET_OK;
}

/* ---- constants --------------------------------------------------------------------------------------- */

static sn_onnx_value put_tensor(sn_onnx_graph *graph, int type, int rank, const int64_t *shape,
                                const void *raw, size_t size)
{
    const sn_onnx_value value = fresh(graph);
    sn_bytes tensor = {0};
    for (int r = 0; r < rank; r++) put_int(&tensor, TENSOR_DIMS, shape[r]);
    put_int(&tensor, TENSOR_TYPE, type);
    put_name(&tensor, TENSOR_NAME, value);
    put_bytes(&tensor, TENSOR_RAW, raw, size);
    put_message(&graph->constants, GRAPH_CONSTANT, &tensor);
    return value;
}

sn_onnx_value sn_onnx_doubles(sn_onnx_graph *graph, int64_t rows, int64_t columns, const double *values)
{
    return put_tensor(graph, SN_ONNX_DOUBLE, 2, (int64_t[]){rows, columns}, values,
                      (size_t)(rows * columns) * sizeof *values);
}

sn_onnx_value sn_onnx_number(sn_onnx_graph *graph, double value)
{
    return sn_onnx_doubles(graph, 1, 1, &value);
}

sn_onnx_value sn_onnx_ints(sn_onnx_graph *graph, int64_t count, const int64_t *values)
{
    return put_tensor(graph, SN_ONNX_INT64, 1, &count, values, (size_t)count * sizeof *values);
}

sn_onnx_value sn_onnx_strings(sn_onnx_graph *graph, int64_t count, const char *const *text)
{
    const sn_onnx_value value = fresh(graph);
    sn_bytes tensor = {0};
    put_int(&tensor, TENSOR_DIMS, count);
    put_int(&tensor, TENSOR_TYPE, SN_ONNX_STRING);
    for (int64_t i = 0; i < count; i++) put_text(&tensor, TENSOR_STRING, text[i]);
    put_name(&tensor, TENSOR_NAME, value);
    put_message(&graph->constants, GRAPH_CONSTANT, &tensor);
    return value;
}

/* ---- nodes ------------------------------------------------------------------------------------------- */

void sn_onnx_attribute_int(sn_bytes *attributes, const char *name, int64_t value)
{
    sn_bytes one = {0};
    put_text(&one, ATTRIBUTE_NAME, name);
    put_int(&one, ATTRIBUTE_INT, value);
    put_int(&one, ATTRIBUTE_TYPE, TYPE_INT);
    put_message(attributes, NODE_ATTRIBUTE, &one);
}

void sn_onnx_attribute_ints(sn_bytes *attributes, const char *name, int64_t count, const int64_t *values)
{
    sn_bytes one = {0};
    put_text(&one, ATTRIBUTE_NAME, name);
    for (int64_t i = 0; i < count; i++) put_int(&one, ATTRIBUTE_INTS, values[i]);
    put_int(&one, ATTRIBUTE_TYPE, TYPE_INTS);
    put_message(attributes, NODE_ATTRIBUTE, &one);
}

void sn_onnx_attribute_strings(sn_bytes *attributes, const char *name, int64_t count, const char *const *text)
{
    sn_bytes one = {0};
    put_text(&one, ATTRIBUTE_NAME, name);
    for (int64_t i = 0; i < count; i++) put_text(&one, ATTRIBUTE_STRINGS, text[i]);
    put_int(&one, ATTRIBUTE_TYPE, TYPE_STRINGS);
    put_message(attributes, NODE_ATTRIBUTE, &one);
}

sn_onnx_value sn_onnx_node(sn_onnx_graph *graph, const sn_onnx_call *call)
{
    const sn_onnx_value value = call->into != NULL ? *call->into : fresh(graph);
    sn_bytes node = {0};
    for (int i = 0; i < call->n_inputs; i++) put_name(&node, NODE_INPUT, call->input[i]);
    put_name(&node, NODE_OUTPUT, value);
    put_text(&node, NODE_OP, call->op);
    if (call->attributes != NULL) {
        join(&node, call->attributes);
        sn_bytes_free(call->attributes);
    }
    if (call->ml) put_text(&node, NODE_DOMAIN, ML_DOMAIN);
    graph->ml = graph->ml || call->ml;
    put_message(&graph->nodes, GRAPH_NODE, &node);
    return value;
}

sn_onnx_value sn_onnx_one(sn_onnx_graph *graph, const char *op, sn_onnx_value a)
{
    return sn_onnx_node(graph, &(sn_onnx_call){.op = op, .n_inputs = 1, .input = &a});
}

sn_onnx_value sn_onnx_two(sn_onnx_graph *graph, const char *op, sn_onnx_value a, sn_onnx_value b)
{
    const sn_onnx_value both[] = {a, b};
    return sn_onnx_node(graph, &(sn_onnx_call){.op = op, .n_inputs = 2, .input = both});
}

sn_onnx_value sn_onnx_where(sn_onnx_graph *graph, sn_onnx_value condition, sn_onnx_value a, sn_onnx_value b)
{
    const sn_onnx_value parts[] = {condition, a, b};
    return sn_onnx_node(graph, &(sn_onnx_call){.op = "Where", .n_inputs = 3, .input = parts});
}

sn_onnx_value sn_onnx_with(sn_onnx_graph *graph, const char *op, int n, const sn_onnx_value *input,
                           const char *attribute, int64_t value)
{
    sn_bytes attributes = {0};
    sn_onnx_attribute_int(&attributes, attribute, value);
    return sn_onnx_node(graph,
                        &(sn_onnx_call){.op = op, .n_inputs = n, .input = input, .attributes = &attributes});
}

sn_onnx_value sn_onnx_cast(sn_onnx_graph *graph, sn_onnx_value a, int type)
{
    return sn_onnx_with(graph, "Cast", 1, &a, "to", type);
}

sn_onnx_value sn_onnx_rounded(sn_onnx_graph *graph, sn_onnx_value a)
{
    return sn_onnx_cast(graph, sn_onnx_cast(graph, a, SN_ONNX_FLOAT), SN_ONNX_DOUBLE);
}

sn_onnx_value sn_onnx_gather(sn_onnx_graph *graph, sn_onnx_value a, int64_t count, const int64_t *columns)
{
    const sn_onnx_value both[] = {a, sn_onnx_ints(graph, count, columns)};
    return sn_onnx_with(graph, "Gather", 2, both, "axis", 1);
}

sn_onnx_value sn_onnx_concat(sn_onnx_graph *graph, int n, const sn_onnx_value *parts)
{
    return n == 1 ? parts[0] : sn_onnx_with(graph, "Concat", n, parts, "axis", 1);
}

/* The axes are an input of ReduceSum since version 13, and an attribute of ReduceMax until 17. */
sn_onnx_value sn_onnx_row_sums(sn_onnx_graph *graph, sn_onnx_value a)
{
    static const int64_t AXIS = 1;
    return sn_onnx_two(graph, "ReduceSum", a, sn_onnx_ints(graph, 1, &AXIS));
}

sn_onnx_value sn_onnx_row_maxima(sn_onnx_graph *graph, sn_onnx_value a)
{
    static const int64_t AXIS = 1;
    sn_bytes attributes = {0};
    sn_onnx_attribute_ints(&attributes, "axes", 1, &AXIS);
    return sn_onnx_node(
        graph, &(sn_onnx_call){.op = "ReduceMax", .n_inputs = 1, .input = &a, .attributes = &attributes});
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static void put_opset(sn_bytes *model, const char *domain, int version)
{
    sn_bytes opset = {0};
    put_text(&opset, OPSET_DOMAIN, domain);
    put_int(&opset, OPSET_VERSION, version);
    put_message(model, MODEL_OPSET, &opset);
}

void sn_onnx_file(sn_onnx_graph *graph, const char *name, const char *about, const char *const (*facts)[2],
                  sn_bytes *out)
{
    sn_bytes body = {0};
    join(&body, &graph->nodes);
    put_text(&body, GRAPH_NAME, name);
    join(&body, &graph->constants);
    join(&body, &graph->inputs);
    join(&body, &graph->outputs);
    put_int(out, MODEL_IR, SN_ONNX_IR);
    put_text(out, MODEL_PRODUCER, "stonet");
    put_text(out, MODEL_PRODUCER_VERSION, STONET_VERSION);
    put_text(out, MODEL_DOC, about);
    put_message(out, MODEL_GRAPH, &body);
    put_opset(out, "", SN_ONNX_OPSET);
    if (graph->ml) put_opset(out, ML_DOMAIN, SN_ONNX_ML_OPSET);
    for (; (*facts)[0] != NULL; facts++) {
        sn_bytes fact = {0};
        put_text(&fact, FACT_KEY, (*facts)[0]);
        put_text(&fact, FACT_VALUE, (*facts)[1]);
        put_message(out, MODEL_FACTS, &fact);
    }
}
