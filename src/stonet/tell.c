#include "stonet/tell.h"

#include <math.h>

/* Standard errors by which the chosen settings must beat a constant, and may lose to the linear model,
   without a word. */
static const double CLEARLY = 2.0;
/* Columns of Z that carry this part of its effect on the output are its dimension in effect. */
static const double ALMOST_ALL = 0.99;
static const double SMALL_P = 0.001; /* to speak of residuals that depend on x */

/* Says when the network has found nothing, or less than there is. */
static void warn_of_nothing(const stonet_run *run, const sn_stonet *net)
{
    const sn_estimate *chosen = &net->held_out, *linear = &net->held_out_linear;
    const double constant = net->held_out_constant.loss;
    if (chosen->loss > constant - CLEARLY * chosen->loss_se && chosen->loss > 0.99 * constant)
        sn_message(
            run, STONET_WARNING,
            "nothing was found: on held-out rows the loss is %.3g (standard error %.2g), and %.3g for a "
            "constant guess; either the response does not depend on these columns or the fits got "
            "stuck: try restarts=10, more rows, or another method",
            chosen->loss, chosen->loss_se, constant);
    else if (net->stuck && net->settings_tried == 0 && net->linear_finds == SN_FINDS_NOTHING)
        sn_message(
            run, STONET_WARNING,
            "nothing was found: the loss of %.3g on the training rows is no better than that of a constant "
            "guess, nor is the linear model better on held-out rows; either the response does not depend "
            "on these columns or training got stuck: try restarts=10, a smaller weight_decay, or "
            "another activation",
            net->training_loss);
    else if (net->stuck)
        sn_message(
            run, STONET_WARNING,
            "training got stuck: its loss of %.3g on the training rows is %s, from every start that was "
            "tried; try restarts=10, a smaller weight_decay, or another activation",
            net->training_loss,
            net->settings_tried > 0 ? "above that of fits to a part of them"
                                    : "no better than that of a constant guess");
    else if (chosen->loss > linear->loss + CLEARLY * chosen->loss_se)
        sn_message(run, STONET_WARNING,
                   "the linear model is better: on held-out rows its loss is %.3g, that of the network %.3g "
                   "(standard error %.2g); try a larger dim, or leave more settings to be chosen",
                   linear->loss, chosen->loss, chosen->loss_se);
}

/* Says when Z is in effect of lower dimension than asked for. */
static void tell_of_dimension(const stonet_run *run, const sn_axes *axes)
{
    const int64_t carrying = sn_axes_carrying(axes, ALMOST_ALL);
    if (carrying == axes->q) return;
    double rest = 0.0;
    for (int64_t k = carrying; k < axes->q; k++) rest += axes->share[k];
    if (carrying == 1)
        sn_message(
            run, STONET_NOTE,
            "Z is in effect of dimension 1: its first column has all but %.2g%% of the effect on the output",
            100.0 * rest);
    else
        sn_message(run, STONET_NOTE,
                   "Z is in effect of dimension %lld: its first %lld columns have all but %.2g%% of the "
                   "effect on the output",
                   (long long)carrying, (long long)carrying, 100.0 * rest);
}

/* Says when there is more to see than the mean. */
static void tell_of_spread(const stonet_run *run, const sn_stonet *net)
{
    if (net->residual_p < SMALL_P)
        sn_message(
            run, STONET_NOTE,
            "the size of the held-out residuals depends on x (p = %.1g): the spread of the response may, "
            "which response=ensemble and response=location-scale see, or the mean is not found everywhere",
            net->residual_p);
}

void sn_stonet_tell(const stonet_run *run, const sn_stonet *net, const sn_train_report *report)
{
    if (report->outcome == STONET_DIVERGED)
        sn_message(
            run, STONET_WARNING,
            "training diverged after %lld iterations at lr=%g; the last good model is kept: try a smaller lr",
            (long long)report->iterations, net->lr);
    if (report->smallest_step < 1.0)
        sn_message(run, STONET_NOTE,
                   "the latent step was shrunk to %.2g of what was asked to keep the sampler stable",
                   report->smallest_step);
    if (report->outcome == STONET_DONE) warn_of_nothing(run, net);
    tell_of_dimension(run, &net->axes);
    if (report->outcome == STONET_DONE) tell_of_spread(run, net);
}
