/* The group penalty of the cpu engine: two passes over the panels of layer 1, after the update. */
#include "engine/cpu_kernel.h"

/* Sum of the squares of the weights on input k; the padding is 0. */
static double input_square(const sn_cpu_layer *layer, int64_t k)
{
    double sum = 0.0;
    for (int64_t unit = 0, width; unit < layer->padded; unit += width) {
        width = sn_panel_width(layer->padded, unit);
        const float *w = layer->weights + (layer->inputs + 1) * unit + k * width;
        for (int64_t a = 0; a < width; a++) sum += (double)w[a] * (double)w[a];
    }
    return sum;
}

static void scale_input(const sn_cpu_layer *layer, int64_t k, float factor)
{
    for (int64_t unit = 0, width; unit < layer->padded; unit += width) {
        width = sn_panel_width(layer->padded, unit);
        float *w = layer->weights + (layer->inputs + 1) * unit + k * width;
        for (int64_t a = 0; a < width; a++) w[a] *= factor;
    }
}

void sn_cpu_shrink(const sn_cpu_layer *layer, const sn_problem *problem, const sn_update *update, int threads,
                   double *factor)
{
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t k = 0; k < layer->inputs; k++) factor[k] = input_square(layer, k);
    sn_group_factors(problem, layer->outputs, update, factor);
#pragma omp parallel for num_threads(threads) if (threads > 1)
    for (int64_t k = 0; k < layer->inputs; k++) scale_input(layer, k, (float)factor[k]);
}
