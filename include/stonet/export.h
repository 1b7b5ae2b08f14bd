/*
 * What a model is made of, and models for programs that do not have this library.
 */
#ifndef STONET_EXPORT_H
#define STONET_EXPORT_H

#include <stonet/stonet.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- other formats --------------------------------------------------------------------------- */

/* Models for programs that do not have this library. */
typedef enum stonet_export_format {
    STONET_EXPORT_ONNX = 0,   /* a graph with the columns as inputs by name; outputs z, and prediction, or
                                 probabilities and label */
    STONET_EXPORT_C,          /* a file of C99 that needs nothing else */
    STONET_EXPORT_JSON,       /* for people: the columns, and every step with its numbers */
    STONET_EXPORT_ONNX_MATRIX /* as ONNX, with one matrix of float32 as input; of numbers alone */
} stonet_export_format;
STONET_API stonet_status stonet_export_format_find(const char *name, stonet_export_format *format);
/* The model as a file of another format, encoding of columns and scaling included; what comes out is Z and
   the prediction of stonet_transform and stonet_predict without options, to about 1e-6. `name` (NULL:
   "model") begins the names of a C file. Free with stonet_bytes_free. STONET_ERROR_UNSUPPORTED when the model
   is no closed formula, or has a part that the format has no place for. */
STONET_API stonet_status stonet_model_export(const stonet_model *model, stonet_export_format format,
                                             const char *name, unsigned char **bytes, size_t *size);

/* ---- the numbers inside a model ----------------------------------------------------------------- */

/* The columns as the method sees them: numbers, and one for each text of a text column. */
STONET_API int64_t stonet_model_features(const stonet_model *model);
STONET_API const char *stonet_model_feature_name(const stonet_model *model, int64_t feature);
/* The directions b of a linear reduction, features x dim, for the features in their own units:
   Z_ik = constant_k + sum_j x_ij b_jk. STONET_ERROR_UNSUPPORTED when Z is no linear function of them. */
STONET_API stonet_status stonet_model_directions(const stonet_model *model, double *directions);

/* All tensors of a model by the names they have in its file: "schema.*" (centre, factor, ..), "method.*",
   "learner.*". A copy, which lives on without the model. */
typedef struct stonet_tensors stonet_tensors;
enum { STONET_MAX_RANK = 4 };

STONET_API stonet_status stonet_model_tensors(const stonet_model *model, stonet_tensors **out);
STONET_API int64_t stonet_tensors_count(const stonet_tensors *tensors);
STONET_API const char *stonet_tensors_name(const stonet_tensors *tensors, int64_t index);
/* The extents, row-major, and how many of them there are. */
STONET_API stonet_status stonet_tensors_shape(const stonet_tensors *tensors, const char *name,
                                              int64_t shape[STONET_MAX_RANK], int *rank);
/* All `count` values as doubles (count must be the product of the extents), and others in their place, which
   must be finite and, where the tensor holds whole numbers, whole. */
STONET_API stonet_status stonet_tensors_get(const stonet_tensors *tensors, const char *name, double *values,
                                            int64_t count);
STONET_API stonet_status stonet_tensors_set(stonet_tensors *tensors, const char *name, const double *values,
                                            int64_t count);
/* The model that has these numbers; checked as one from a file is. */
STONET_API stonet_status stonet_tensors_model(const stonet_tensors *tensors, stonet_model **out);
STONET_API void stonet_tensors_free(stonet_tensors *tensors);

#ifdef __cplusplus
}
#endif
#endif
