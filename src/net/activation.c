#include "net/activation.h"

static inline float fast_tanh(float x)
{
    x = x < -SN_TANH_LIMIT ? -SN_TANH_LIMIT : x;
    x = x > SN_TANH_LIMIT ? SN_TANH_LIMIT : x;
    float z = x * x;
    float p = ((sn_tanh_p[0] * z + sn_tanh_p[1]) * z + sn_tanh_p[2]) * z + sn_tanh_p[3];
    float q = (((sn_tanh_q[0] * z + sn_tanh_q[1]) * z + sn_tanh_q[2]) * z + sn_tanh_q[3]) * z + sn_tanh_q[4];
    return x * p / q;
}

void sn_activate(sn_activation activation, int64_t count, float *values)
{
    if (activation == SN_TANH)
        for (int64_t i = 0; i < count; i++) values[i] = fast_tanh(values[i]);
    if (activation == SN_RELU)
        for (int64_t i = 0; i < count; i++) values[i] = values[i] > 0 ? values[i] : 0;
    if (activation == SN_SIGMOID)
        for (int64_t i = 0; i < count; i++) values[i] = 0.5F * fast_tanh(0.5F * values[i]) + 0.5F;
}
