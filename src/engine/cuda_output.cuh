/* Pieces of a sweep that do not depend on who does it: the residual of the output layer, the move of a unit.
 */
#pragma once

#include "engine/cuda_state.cuh"

/* From one group of four units to the next. */
static __host__ __device__ constexpr int group_floats(int rows)
{
    return rows % 2 != 0 ? 4 * rows : 4 * rows + 4;
}
template <int R> struct group_size {
    enum { value = group_floats(R) };
};

/* Over `lanes` threads side by side, a power of two. */
static __device__ __forceinline__ float sum_of(float value, int lanes)
{
    for (int mask = lanes / 2; mask > 0; mask /= 2) value += shuffle_xor(value, mask);
    return value;
}

/* The place of unit k of a row in an array of shared memory. */
template <int R> static __device__ __forceinline__ int unit_at(int k, int row)
{
    return (k >> 2) * group_size<R>::value + 4 * row + (k & 3);
}

/* The output layer of one row, for the threads that share it. */
struct output_row {
    const float *mean, *response;
    float *pull, over_s;
    int row, lane, lanes, outputs;
};

/* r of the class layer, (onehot(y) - softmax(mu)) / s; returns -log softmax(mu)_y. */
template <int R> static __device__ float class_pull(const output_row &o, int label)
{
    float most = -3.0e38F, sum = 0.0F, own = 0.0F;
    for (int k = o.lane; k < o.outputs; k += o.lanes) most = fmaxf(most, o.mean[unit_at<R>(k, o.row)]);
    for (int mask = o.lanes / 2; mask > 0; mask /= 2) most = fmaxf(most, shuffle_xor(most, mask));
    for (int k = o.lane; k < o.outputs; k += o.lanes) {
        const float mu = o.mean[unit_at<R>(k, o.row)], e = __expf(mu - most);
        o.pull[unit_at<R>(k, o.row)] = e;
        sum += e;
        own += k == label ? mu : 0.0F;
    }
    sum = sum_of(sum, o.lanes);
    const float share = o.over_s / sum;
    for (int k = o.lane; k < o.outputs; k += o.lanes) {
        const float e = o.pull[unit_at<R>(k, o.row)];
        o.pull[unit_at<R>(k, o.row)] = fmaf(-e, share, k == label ? o.over_s : 0.0F);
    }
    return fmaf(minus_two_log(sum), -0.5F, most - sum_of(own, o.lanes));
}

/* r of the numeric response, (y - mu) / s; returns |y - mu|^2 / 2. */
template <int R> static __device__ float response_pull(const output_row &o)
{
    float sum = 0.0F;
    for (int k = o.lane; k < o.outputs; k += o.lanes) {
        const float gap = o.response[unit_at<R>(k, o.row)] - o.mean[unit_at<R>(k, o.row)];
        o.pull[unit_at<R>(k, o.row)] = gap * o.over_s;
        sum = fmaf(gap, gap, sum);
    }
    return 0.5F * sum_of(sum, o.lanes);
}

/* r of location and scale (net/loss.h); returns minus the log density. */
template <int R> static __device__ float spread_pull(const output_row &o, float beta, float spread)
{
    const int targets = o.outputs / 2;
    float sum = 0.0F;
    for (int k = o.lane; k < targets; k += o.lanes) {
        const int at = unit_at<R>(k, o.row), of_eta = unit_at<R>(targets + k, o.row);
        const float eta = fminf(fmaxf(o.mean[of_eta], -8.0F), 4.0F); /* SN_ETA_LOW, SN_ETA_HIGH */
        const float gap = o.response[at] - o.mean[at], scaled = gap * __expf(-eta);
        const float ratio = fminf(gap * scaled, 16.0F); /* SN_RATIO_MOST */
        const float weight = __expf(beta * eta) * o.over_s;
        o.pull[at] = weight * scaled;
        o.pull[of_eta] = weight * (ratio - 1.0F) * (0.5F * spread);
        sum += ratio + eta;
    }
    return 0.5F * sum_of(sum, o.lanes);
}

/* Four at a time, so that one branch is taken for all: what is done for a psi that is known. */
template <typename function> static __device__ __forceinline__ auto for_psi(int psi, function what)
{
    switch (psi) {
    case SN_PSI_TANH:
        return what(SN_PSI_TANH);
    case SN_PSI_RELU:
        return what(SN_PSI_RELU);
    case SN_PSI_SIGMOID:
        return what(SN_PSI_SIGMOID);
    default:
        return what(SN_PSI_IDENTITY);
    }
}
static __device__ __forceinline__ float4 activate4(int psi, float4 y)
{
    return for_psi(psi, [&](int known) {
        return make_float4(activate(known, y.x), activate(known, y.y), activate(known, y.z),
                           activate(known, y.w));
    });
}
static __device__ __forceinline__ float4 slope4(int psi, float4 v)
{
    return for_psi(psi, [&](int known) {
        return make_float4(slope_of(known, v.x), slope_of(known, v.y), slope_of(known, v.z),
                           slope_of(known, v.w));
    });
}

/* The numbers of one layer's move. */
struct mover {
    float epsilon, keep, kick, over_s;
};

static __device__ __forceinline__ mover mover_of(const sn_cuda_dynamics &d, int i)
{
    return {d.epsilon[i], d.keep[i], d.kick[i], d.over_s[i]};
}

/* What moves a unit, or four: the force from above, psi' there, and the mean that holds it. */
template <typename number> struct unit_pull {
    number force, slope, mean;
};

/* One unit: momentum, position; and four. */
static __device__ __forceinline__ void move_unit(const mover &m, bool euler, float normal,
                                                 const unit_pull<float> &by, float *y, float *v)
{
    const float before = *v;
    const float g = fmaf(by.slope, by.force, (by.mean - *y) * m.over_s);
    *v = fmaf(g, m.epsilon, fmaf(normal, m.kick, before * m.keep));
    *y = fmaf(euler ? before : *v, m.epsilon, *y);
}
static __device__ __forceinline__ void move_four(const mover &m, bool euler, const float normal[4],
                                                 const unit_pull<float4> &by, float4 *y, float4 *v)
{
    move_unit(m, euler, normal[0], {by.force.x, by.slope.x, by.mean.x}, &y->x, &v->x);
    move_unit(m, euler, normal[1], {by.force.y, by.slope.y, by.mean.y}, &y->y, &v->y);
    move_unit(m, euler, normal[2], {by.force.z, by.slope.z, by.mean.z}, &y->z, &v->z);
    move_unit(m, euler, normal[3], {by.force.w, by.slope.w, by.mean.w}, &y->w, &v->w);
}
