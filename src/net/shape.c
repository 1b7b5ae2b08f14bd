#include "net/shape.h"

#include <math.h>
#include <string.h>

#include "math/noise.h"

SN_DEFINE_WORDS(sn_activation_words, "activation", SN_SIGMOID, SN_ACTIVATION_WORDS);

stonet_status sn_shape_layout(sn_shape *shape)
{
    if (shape->layers < 1 || shape->layers > SN_MAX_LAYERS)
        return sn_fail(STONET_ERROR_ARGUMENT, "a network has 1 to %d layers, not %d", SN_MAX_LAYERS,
                       shape->layers);
    int64_t at = 0;
    for (int i = 0; i <= shape->layers; i++) {
        if (shape->width[i] < 1 || shape->width[i] >= INT64_C(1) << 22)
            return sn_fail(STONET_ERROR_ARGUMENT, "a layer cannot have %lld units",
                           (long long)shape->width[i]);
        if (i == 0) continue;
        shape->weight_at[i - 1] = at;
        at += shape->width[i] * shape->width[i - 1];
        shape->bias_at[i - 1] = at;
        at += shape->width[i];
    }
    shape->parameters = at;
    return STONET_OK;
}

void sn_shape_copy_layer(const sn_shape *from, const float *theta, int i, const sn_shape *to, float *out)
{
    const int64_t units = from->width[i + 1] < to->width[i + 1] ? from->width[i + 1] : to->width[i + 1];
    const int64_t weights = units * to->width[i];
    memcpy(out + to->weight_at[i], theta + from->weight_at[i], (size_t)weights * sizeof *out);
    memcpy(out + to->bias_at[i], theta + from->bias_at[i], (size_t)units * sizeof *out);
}

sn_activation sn_shape_activation(const sn_shape *shape, int layer)
{
    if (layer == 0) return shape->input_activation;
    return layer == shape->linear_layer ? SN_IDENTITY : shape->activation;
}

void sn_shape_start(const sn_shape *shape, uint64_t seed, float *theta)
{
    for (int i = 0; i < shape->layers; i++) {
        const int64_t inputs = shape->width[i], outputs = shape->width[i + 1];
        const double gain = shape->activation == SN_RELU && i > 0 ? 2.0 : 1.0;
        const double scale = sqrt(gain / (double)inputs);
        for (int64_t out = 0; out < outputs; out++) {
            for (int64_t in = 0; in < inputs; in++) {
                double normal = sn_noise_normal(seed, SN_STREAM_WEIGHTS, (uint32_t)out, (uint32_t)i + 1,
                                                (uint32_t)in, 0, 0);
                theta[shape->weight_at[i] + out * inputs + in] = (float)(scale * normal);
            }
            theta[shape->bias_at[i] + out] = 0.0F;
        }
    }
}

double sn_activation_lipschitz(sn_activation activation)
{
    return activation == SN_SIGMOID ? 0.25 : 1.0;
}
