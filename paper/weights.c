#include "paper/weights.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paper/fits.h"

enum { LENGTH_BYTES = 8 };

/* A model file in memory. */
typedef struct model_file {
    unsigned char *bytes;
    size_t size;
    json_t *header;
    unsigned char *tensors; /* inside bytes */
} model_file;

static void close_file(model_file *file)
{
    json_decref(file->header);
    stonet_bytes_free(file->bytes);
    *file = (model_file){0};
}

static stonet_status open_file(const stonet_model *model, model_file *file)
{
    *file = (model_file){0};
    stonet_status status = stonet_model_save_bytes(model, &file->bytes, &file->size);
    if (status != STONET_OK) return status;
    uint64_t length = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--) length = length << 8 | file->bytes[i];
    file->header = json_loadb((const char *)file->bytes + LENGTH_BYTES, (size_t)length, 0, NULL);
    file->tensors = file->bytes + LENGTH_BYTES + length;
    if (file->header != NULL) return STONET_OK;
    close_file(file);
    return sn_fail(STONET_ERROR_FORMAT, "the model file has no header");
}

/* Where a tensor lies and how many numbers it has. */
static unsigned char *find_tensor(const model_file *file, const char *name, size_t number_size,
                                  int64_t *count)
{
    char key[64];
    json_int_t from = 0, to = 0;
    snprintf(key, sizeof key, "method.%s", name);
    if (json_unpack(json_object_get(file->header, key), "{s:[I,I]}", "data_offsets", &from, &to) != 0)
        return NULL;
    *count = (to - from) / (json_int_t)number_size;
    return file->tensors + from;
}

void layer_free(layer *self)
{
    free(self->w);
    *self = (layer){0};
}

static void copy_floats(const unsigned char *from, int64_t count, double *to)
{
    for (int64_t i = 0; i < count; i++) {
        float number;
        memcpy(&number, from + (size_t)i * sizeof number, sizeof number);
        to[i] = (double)number;
    }
}

stonet_status weights_layer(const stonet_model *model, int number, layer *out)
{
    *out = (layer){0};
    model_file file;
    stonet_status status = open_file(model, &file);
    if (status != STONET_OK) return status;
    char name[2][16];
    int64_t n_w = 0, n_b = 0;
    snprintf(name[0], sizeof name[0], "w%d", number);
    snprintf(name[1], sizeof name[1], "b%d", number);
    const unsigned char *w = find_tensor(&file, name[0], sizeof(float), &n_w);
    const unsigned char *b = find_tensor(&file, name[1], sizeof(float), &n_b);
    out->w = malloc((size_t)(n_w + n_b + 1) * sizeof *out->w);
    if (w == NULL || b == NULL || n_b < 1) {
        status = sn_fail(STONET_ERROR_FORMAT, "the model has no layer %d", number);
    } else if (out->w == NULL) {
        status = out_of_memory();
    } else {
        out->outputs = n_b;
        out->inputs = n_w / n_b;
        out->b = out->w + n_w;
        copy_floats(w, n_w, out->w);
        copy_floats(b, n_b, out->b);
    }
    if (status != STONET_OK) layer_free(out);
    close_file(&file);
    return status;
}

stonet_status weights_with_variances(const stonet_model *model, const double *s, int64_t count,
                                     stonet_model **out)
{
    model_file file;
    stonet_status status = open_file(model, &file);
    if (status != STONET_OK) return status;
    int64_t held = 0;
    unsigned char *at = find_tensor(&file, "variances", sizeof(double), &held);
    if (at == NULL || held != count)
        status = sn_fail(STONET_ERROR_FORMAT, "the model has other layers than expected");
    else {
        memcpy(at, s, (size_t)count * sizeof *s);
        status = stonet_model_load_bytes(file.bytes, file.size, out);
    }
    close_file(&file);
    return status;
}

stonet_status weights_response_scale(const stonet_model *model, double *mean, double *sd)
{
    char *text = stonet_model_json(model);
    if (text == NULL) return STONET_ERROR_MEMORY;
    json_t *info = json_loads(text, 0, NULL);
    stonet_string_free(text);
    int wrong = json_unpack(json_array_get(json_object_get(info, "targets"), 0), "{s:F, s:F}", "mean", mean,
                            "sd", sd);
    json_decref(info);
    return wrong == 0 ? STONET_OK : sn_fail(STONET_ERROR_FORMAT, "the model's response has no scale");
}
