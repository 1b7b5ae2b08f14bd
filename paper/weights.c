#include "paper/weights.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "paper/fits.h"

void layer_free(layer *self)
{
    free(self->w);
    *self = (layer){0};
}

/* W and b of the layer into one array, with b behind W. */
static stonet_status read_layer(const stonet_tensors *tensors, int number, layer *out)
{
    char w[32], b[32];
    int64_t shape[STONET_MAX_RANK];
    int rank = 0;
    snprintf(w, sizeof w, "method.w%d", number);
    snprintf(b, sizeof b, "method.b%d", number);
    stonet_status status = stonet_tensors_shape(tensors, w, shape, &rank);
    if (status != STONET_OK) return status;
    out->outputs = shape[0];
    out->inputs = shape[1];
    int64_t n_w = out->outputs * out->inputs;
    out->w = malloc((size_t)(n_w + out->outputs) * sizeof *out->w);
    if (out->w == NULL) return out_of_memory();
    out->b = out->w + n_w;
    status = stonet_tensors_get(tensors, w, out->w, n_w);
    return status == STONET_OK ? stonet_tensors_get(tensors, b, out->b, out->outputs) : status;
}

stonet_status weights_layer(const stonet_model *model, int number, layer *out)
{
    *out = (layer){0};
    stonet_tensors *tensors = NULL;
    stonet_status status = stonet_model_tensors(model, &tensors);
    if (status == STONET_OK) status = read_layer(tensors, number, out);
    if (status != STONET_OK) layer_free(out);
    stonet_tensors_free(tensors);
    return status;
}

stonet_status weights_with_variances(const stonet_model *model, const double *s, int64_t count,
                                     stonet_model **out)
{
    stonet_tensors *tensors = NULL;
    stonet_status status = stonet_model_tensors(model, &tensors);
    if (status == STONET_OK) status = stonet_tensors_set(tensors, "method.variances", s, count);
    if (status == STONET_OK) status = stonet_tensors_model(tensors, out);
    stonet_tensors_free(tensors);
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
    return wrong == 0 ? STONET_OK : stonet_fail(STONET_ERROR_FORMAT, "the model's response has no scale");
}
