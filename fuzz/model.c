/*
 * Model files: what loads must also describe itself, save itself and load again, and let rows through, one
 * with missing cells, with finite answers or none.
 */
#include "fuzz/common.h"

#include <ctype.h>

static void check_finite(stonet_status status, const double *values, int64_t count)
{
    for (int64_t i = 0; status == STONET_OK && i < count; i++)
        if (!isfinite(values[i])) abort();
}

static void send_rows(const stonet_model *model)
{
    enum { MOST = 4096, ROWS = 2 };
    int64_t p = stonet_model_inputs(model), q = stonet_model_dim(model),
            outputs = stonet_model_outputs(model);
    if (p < 1 || p > MOST || q > MOST || outputs > MOST) return;
    float *x = calloc((size_t)(ROWS * p), sizeof *x), *z = calloc((size_t)(ROWS * q), sizeof *z);
    double *out = calloc((size_t)(ROWS * (outputs + 1)), sizeof *out);
    double *wide = calloc((size_t)(ROWS * q), sizeof *wide);
    stonet_data *data = NULL;
    if (x == NULL || z == NULL || out == NULL || wide == NULL) abort();
    for (int64_t j = 0; j < p; j++) {
        x[j] = (float)(j % 3) - 1;
        x[p + j] = j % 3 == 1 ? NAN : 2;
    }
    if (stonet_data_wrap(x, ROWS, p, &data) == STONET_OK) {
        stonet_status status = stonet_transform(model, data, NULL, z);
        for (int64_t k = 0; k < ROWS * q; k++) wide[k] = (double)z[k];
        check_finite(status, wide, ROWS * q);
        check_finite(stonet_predict(model, data, NULL, out), out, ROWS * outputs);
    }
    stonet_data_free(data);
    free(x);
    free(z);
    free(out);
    free(wide);
}

static void use(const stonet_model *model)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    stonet_model *again = NULL;
    char *text = stonet_model_json(model);
    if (text == NULL) abort();
    stonet_string_free(text);
    if (stonet_model_save_bytes(model, &bytes, &size) != STONET_OK) abort();
    if (stonet_model_load_bytes(bytes, size, &again) != STONET_OK) abort();
    stonet_model_free(again);
    stonet_bytes_free(bytes);
    send_rows(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    stonet_model *model = NULL;
    if (stonet_model_load_bytes(bytes, size, &model) == STONET_OK)
        use(model);
    else if (model != NULL || stonet_last_error()[0] == '\0')
        abort();
    stonet_model_free(model);
    return 0;
}

/* ---- mutation by structure: header and tensors apart, the length of the header put right ---- */

static uint32_t state;

static uint32_t draw(uint32_t count)
{
    state = state * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)(state >> 8) * count >> 24);
}

/* Where the header ends, by its braces; 0 when it does not. */
static size_t header_end(const uint8_t *bytes, size_t size)
{
    size_t depth = 0;
    for (size_t at = 8; at < size; at++) {
        depth += bytes[at] == '{';
        if (bytes[at] == '}' && depth > 0 && --depth == 0) return at + 1;
    }
    return 0;
}

static void set_length(uint8_t *bytes, size_t end)
{
    uint64_t length = end - 8;
    memcpy(bytes, &length, sizeof length);
}

/* Puts `text` in the place of bytes [at, at + old). */
static size_t splice(uint8_t *bytes, size_t size, size_t most, size_t at, size_t old, const char *text)
{
    size_t length = strlen(text);
    if (size - old + length > most) return size;
    memmove(bytes + at + length, bytes + at + old, size - at - old);
    memcpy(bytes + at, text, length);
    return size - old + length;
}

/* Another number for one of those in the header: a shape, an offset, a setting. */
static size_t change_number(uint8_t *bytes, size_t size, size_t most, size_t end)
{
    static const char *const numbers[] = {"0",     "1",          "2",         "3",
                                          "7",     "-1",         "64",        "256",
                                          "65536", "4294967296", "999999999", "9223372036854775807"};
    size_t count = 0;
    for (size_t at = 9; at < end; at++) count += isdigit(bytes[at]) && !isdigit(bytes[at - 1]);
    if (count == 0) return size;
    size_t chosen = draw((uint32_t)count), at = 9;
    for (;; at++)
        if (isdigit(bytes[at]) && !isdigit(bytes[at - 1]) && chosen-- == 0) break;
    size_t old = 1;
    while (at + old < end && isdigit(bytes[at + old])) old++;
    char near[24];
    long value = old < 18 ? strtol((const char *)bytes + at, NULL, 10) : 0;
    snprintf(near, sizeof near, "%ld", value + (draw(2) == 0 ? 1 : -1) * (1L << draw(5)));
    return splice(bytes, size, most, at, old,
                  draw(2) == 0 ? near : numbers[draw(sizeof numbers / sizeof *numbers)]);
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned seed)
{
    state = seed;
    size_t end = size < most ? header_end(bytes, size) : 0;
    uint32_t way = draw(8);
    if (end == 0 || way == 0) return LLVMFuzzerMutate(bytes, size, most);
    if (way <= 3) { /* tensors alone: a valid file with strange numbers */
        uint8_t *tensors = bytes + end;
        if (size == end) return size;
        (void)LLVMFuzzerMutate(tensors, size - end, size - end);
        return size;
    }
    if (way <= 5) {
        size = change_number(bytes, size, most, end);
    } else { /* the header as text */
        uint8_t *header = malloc(end - 8 + 64);
        if (header == NULL) abort();
        memcpy(header, bytes + 8, end - 8);
        size_t length = LLVMFuzzerMutate(header, end - 8, end - 8 + 64), rest = size - end;
        if (8 + length + rest <= most) {
            memmove(bytes + 8 + length, bytes + end, rest);
            memcpy(bytes + 8, header, length);
            size = 8 + length + rest;
        }
        free(header);
    }
    end = header_end(bytes, size);
    if (end != 0) set_length(bytes, end);
    return size;
}
