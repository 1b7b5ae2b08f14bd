/* The numbers of a model by name: the store it is saved to, opened to callers. */
#include <math.h>

#include "base/memory.h"
#include "base/nearest.h"
#include "model/model.h"

_Static_assert((int)STONET_MAX_RANK == (int)SN_MAX_RANK, "the header promises room for every tensor");

struct stonet_tensors {
    sn_store *store;
};

stonet_status stonet_model_tensors(const stonet_model *model, stonet_tensors **out)
{
    if (model == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT,
                       "stonet_model_tensors needs a model and a place for the tensors");
    *out = NULL;
    SN_AUTO(stonet_tensors) *tensors = NULL;
    SN_TRY(SN_NEW(tensors, 1));
    SN_TRY(sn_store_create(&tensors->store));
    SN_TRY(sn_model_to_store(model, tensors->store));
    return SN_GIVE(tensors, out);
}

void stonet_tensors_free(stonet_tensors *tensors)
{
    if (tensors == NULL) return;
    sn_store_free(tensors->store);
    sn_free(tensors);
}

int64_t stonet_tensors_count(const stonet_tensors *tensors)
{
    return tensors != NULL ? (int64_t)sn_store_tensors(tensors->store) : 0;
}

const char *stonet_tensors_name(const stonet_tensors *tensors, int64_t index)
{
    if (index < 0 || index >= stonet_tensors_count(tensors)) return NULL;
    return sn_store_tensor(tensors->store, (size_t)index)->name;
}

static stonet_status find(const stonet_tensors *tensors, const char *name, const sn_tensor **out)
{
    if (tensors == NULL || name == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "a tensor is looked up in tensors, by its name");
    *out = sn_store_find(tensors->store, name);
    if (*out != NULL) return STONET_OK;
    sn_nearest nearest;
    sn_nearest_start(&nearest, name);
    for (int64_t i = 0; i < stonet_tensors_count(tensors); i++)
        sn_nearest_offer(&nearest, stonet_tensors_name(tensors, i));
    if (nearest.best != NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "the model has no tensor '%s': did you mean '%s'?", name,
                       nearest.best);
    return sn_fail(STONET_ERROR_ARGUMENT, "the model has no tensor '%s'", name);
}

stonet_status stonet_tensors_shape(const stonet_tensors *tensors, const char *name,
                                   int64_t shape[STONET_MAX_RANK], int *rank)
{
    const sn_tensor *tensor;
    SN_TRY(find(tensors, name, &tensor));
    if (shape == NULL || rank == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "the shape of a tensor needs a place to go");
    *rank = tensor->rank;
    for (int i = 0; i < STONET_MAX_RANK; i++) shape[i] = i < tensor->rank ? tensor->shape[i] : 1;
    return STONET_OK;
}

/* For each type of tensors: what `DO` makes of it. */
#define EACH_TYPE(DO)                                                                                        \
    DO(SN_F32, float) DO(SN_F64, double) DO(SN_I32, int32_t) DO(SN_I64, int64_t) DO(SN_U8, uint8_t)

static stonet_status find_values(const stonet_tensors *tensors, const char *name, const double *values,
                                 int64_t count, const sn_tensor **out)
{
    SN_TRY(find(tensors, name, out));
    if (values == NULL) return sn_fail(STONET_ERROR_ARGUMENT, "the values of a tensor need an array");
    if (count != sn_tensor_count(*out))
        return sn_fail(STONET_ERROR_ARGUMENT, "tensor '%s' has %lld values, not %lld", name,
                       (long long)sn_tensor_count(*out), (long long)count);
    return STONET_OK;
}

stonet_status stonet_tensors_get(const stonet_tensors *tensors, const char *name, double *values,
                                 int64_t count)
{
    const sn_tensor *tensor;
    SN_TRY(find_values(tensors, name, values, count, &tensor));
#define GET(DTYPE, TYPE)                                                                                     \
    case DTYPE:                                                                                              \
        for (int64_t i = 0; i < count; i++) values[i] = (double)((const TYPE *)tensor->data)[i];             \
        break;
    switch (tensor->dtype) {
        EACH_TYPE(GET)
    }
    return STONET_OK;
}

/* Whether the tensor's type holds the value: whole numbers as they are, up to where doubles have them all. */
static bool holds(sn_dtype dtype, double value)
{
    static const double LARGEST_WHOLE = 9007199254740992.0; /* 2^53 */
    switch (dtype) {
    case SN_F64:
        return isfinite(value);
    case SN_F32:
        return isfinite((float)value);
    case SN_I32:
        return value >= INT32_MIN && value <= INT32_MAX && value == floor(value);
    case SN_I64:
        return fabs(value) <= LARGEST_WHOLE && value == floor(value);
    case SN_U8:
        return value >= 0 && value <= UINT8_MAX && value == floor(value);
    }
    return false;
}

/* All values are checked before the first one is written, so a failed call leaves the tensor as it was. */
stonet_status stonet_tensors_set(stonet_tensors *tensors, const char *name, const double *values,
                                 int64_t count)
{
    const sn_tensor *tensor;
    SN_TRY(find_values(tensors, name, values, count, &tensor));
    for (int64_t i = 0; i < count; i++) {
        if (!holds(tensor->dtype, values[i]))
            return sn_fail(STONET_ERROR_ARGUMENT, "tensor '%s' cannot hold %g, value %lld", name, values[i],
                           (long long)i);
    }
#define SET(DTYPE, TYPE)                                                                                     \
    case DTYPE:                                                                                              \
        for (int64_t i = 0; i < count; i++) ((TYPE *)tensor->data)[i] = (TYPE)values[i];                     \
        break;
    switch (tensor->dtype) {
        EACH_TYPE(SET)
    }
    return STONET_OK;
}

stonet_status stonet_tensors_model(const stonet_tensors *tensors, stonet_model **out)
{
    if (tensors == NULL || out == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_tensors_model needs tensors and a place for the model");
    *out = NULL;
    return sn_model_from_store(tensors->store, out);
}

/* Z = ((x - centre) f - centre') B with the schema's scaling and the method's own: b_jk = f_j B_jk. */
stonet_status stonet_model_directions(const stonet_model *model, double *directions)
{
    if (model == NULL || directions == NULL)
        return sn_fail(STONET_ERROR_ARGUMENT, "stonet_model_directions needs a model and room for them");
    const int64_t p = model->schema->p, q = model->dim;
    const sn_tensor *factor, *direction;
    SN_AUTO(sn_store) *store = NULL;
    SN_TRY(sn_store_create(&store));
    SN_TRY(sn_model_to_store(model, store));
    if (sn_store_find(store, "method.direction") == NULL)
        return sn_fail(STONET_ERROR_UNSUPPORTED,
                       "method '%s' has no directions: its Z is not a linear function of the columns",
                       model->method->name);
    SN_TRY(sn_store_get_vector(store, "schema.factor", SN_F64, p, &factor));
    SN_TRY(sn_store_get_matrix(store, "method.direction", SN_F64, p, q, &direction));
    for (int64_t i = 0; i < p * q; i++)
        directions[i] = ((const double *)direction->data)[i] * ((const double *)factor->data)[i / q];
    return STONET_OK;
}
