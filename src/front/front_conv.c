#include "front/front_conv.h"

#include <omp.h>
#include <string.h>

#include "base/memory.h"

typedef struct conv_front {
    sn_front base;
    sn_image image;
    sn_conv_shape shape;
} conv_front;

static const conv_front *conv_of(const sn_front *front)
{
    return (const conv_front *)front;
}

static void free_conv(sn_front *front)
{
    sn_free(front->theta);
    sn_free(front);
}

static stonet_status apply_conv(const sn_front *front, int64_t n, const float *x, float *u)
{
    sn_conv_room *room;
    SN_TRY(sn_conv_open(&conv_of(front)->shape, 0, omp_get_max_threads(), &room));
    sn_conv_forward(room, front->theta, n, x, u);
    sn_conv_close(room);
    return STONET_OK;
}

/* |u|^2 is then that of some hundred standardised columns, behind which lr=0.02 is a good step. */
static const double SQUARE = 0.25;

stonet_status sn_front_conv_start(sn_front *front, uint64_t seed, int64_t n, const float *x)
{
    const sn_conv_shape *shape = &conv_of(front)->shape;
    sn_conv_start(shape, seed, front->theta);
    return sn_conv_scale(shape, n, x, SQUARE, front->theta);
}

/* ---- making and keeping one ---------------------------------------------------------------------- */

/* All but the parameters' values. */
static stonet_status make(const sn_image *image, int count, const int64_t *filters, sn_front **out)
{
    conv_front *front;
    SN_TRY(SN_NEW(front, 1));
    front->image = *image;
    front->base.ops = &sn_front_conv;
    stonet_status status = sn_conv_layout(image, count, filters, &front->shape);
    front->base.inputs = front->shape.inputs;
    front->base.outputs = front->shape.outputs;
    front->base.parameters = front->shape.parameters;
    if (status == STONET_OK) status = SN_NEW_RAW(front->base.theta, front->shape.parameters);
    return sn_front_hand_out(status, &front->base, out);
}

stonet_status sn_front_conv_create(const sn_image *image, int count, const int64_t *filters, uint64_t seed,
                                   sn_front **out)
{
    SN_TRY(make(image, count, filters, out));
    sn_conv_start(&conv_of(*out)->shape, seed, (*out)->theta);
    return STONET_OK;
}

const sn_conv_shape *sn_front_conv_shape(const sn_front *front)
{
    return &conv_of(front)->shape;
}

static stonet_status save_conv(const sn_front *front, sn_store *store)
{
    const conv_front *own = conv_of(front);
    int64_t filters[SN_CONV_STAGES];
    for (int l = 0; l < own->shape.stages; l++) filters[l] = own->shape.stage[l].filters;
    SN_TRY(sn_store_put_vector(store, "front_image", SN_I64, own->image.rank, own->image.extent));
    SN_TRY(sn_store_put_vector(store, "front_channels", SN_I64, own->shape.stages, filters));
    return sn_store_put_vector(store, "front_parameters", SN_F32, front->parameters, front->theta);
}

static stonet_status damaged(const char *name)
{
    return sn_fail(STONET_ERROR_FORMAT, "the model's entry %s is damaged", name);
}

static stonet_status load_image(const sn_store *store, sn_image *image)
{
    enum { MOST = 1 << 24 }; /* columns of a table */
    const sn_tensor *tensor;
    SN_TRY(sn_store_get_vector(store, "front_image", SN_I64, -1, &tensor));
    const int64_t rank = tensor->shape[0], *extent = tensor->data;
    int64_t size = 1;
    if (rank != 2 && rank != 3) return damaged("front_image");
    for (int64_t k = 0; k < rank; k++) {
        if (extent[k] < 1 || extent[k] > MOST || (size *= extent[k]) > MOST) return damaged("front_image");
        image->extent[k] = extent[k];
    }
    image->rank = (int)rank;
    return STONET_OK;
}

/* All sizes come from the file, so they are checked before any memory is reserved for them. */
static stonet_status load_conv(const sn_store *store, sn_front **out)
{
    enum { MOST = 1 << 16 };
    sn_image image = {0};
    const sn_tensor *channels, *theta;
    sn_conv_shape shape;
    SN_TRY(load_image(store, &image));
    SN_TRY(sn_store_get_vector(store, "front_channels", SN_I64, -1, &channels));
    const int64_t count = channels->shape[0], *filters = channels->data;
    if (count < 1 || count > SN_CONV_STAGES) return damaged("front_channels");
    for (int64_t l = 0; l < count; l++)
        if (filters[l] < 1 || filters[l] > MOST) return damaged("front_channels");
    if (sn_conv_layout(&image, (int)count, filters, &shape) != STONET_OK) return damaged("front_channels");
    SN_TRY(sn_store_get_vector(store, "front_parameters", SN_F32, shape.parameters, &theta));
    SN_TRY(make(&image, (int)count, filters, out));
    memcpy((*out)->theta, theta->data, (size_t)shape.parameters * sizeof(float));
    return STONET_OK;
}

const sn_front_ops sn_front_conv = {
    .name = "conv",
    .apply = apply_conv,
    .save = save_conv,
    .load = load_conv,
    .free = free_conv,
};
