/*
 * The losses of one row, given the outputs mu of its last layer:
 *
 *     classification: -log softmax(mu)_label
 *     regression:     |y - mu|^2 / 2
 *
 * A loss that is reported anywhere is the mean of these over rows. The engines compute them in their own
 * arithmetic, and are tested against each other.
 */
#ifndef SN_NET_LOSS_H
#define SN_NET_LOSS_H

#include <stdbool.h>
#include <stdint.h>

/* Of c outputs; whether the largest is not the label's. */
double sn_class_loss(const float *mu, int64_t c, int32_t label, bool *wrong);
/* The same in float, and d loss / d mu times weight. */
double sn_class_slope(const float *mu, int64_t c, int32_t label, float weight, float *slope);
/* Of m outputs. */
double sn_square_loss(const float *mu, int64_t m, const double *y);

/* d loss / d mu of one numeric output, whose part of the loss is added to *loss. */
static inline double sn_square_slope(double mu, double y, double *loss)
{
    const double residual = mu - y;
    *loss += residual * residual / 2.0;
    return residual;
}

#endif
